"""Generalized normal distribution, its density proportional to `exp(-abs(x)**beta)`.

>>> print(f"{cdf(1.0, 2.0):.4f}")
0.9214
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import heavy_tails as _heavy_tails

_gennorm: _Any = _heavy_tails.gennorm

cdf = _gennorm.cdf
logpdf = _gennorm.logpdf
pdf = _gennorm.pdf
