"""Laplace distribution: `exp(-abs(x)) / 2`.

>>> print(f"{cdf(1.0):.4f}")
0.8161
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_laplace: _Any = _exponential.laplace

cdf = _laplace.cdf
logpdf = _laplace.logpdf
pdf = _laplace.pdf
