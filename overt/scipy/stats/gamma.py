"""Gamma distribution: `x**(a - 1) * exp(-x) / gamma(a)` for `x >= 0`.

>>> print(f"{pdf(1.0, 2.0):.4f}")
0.3679
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_gamma: _Any = _exponential.gamma

cdf = _gamma.cdf
logcdf = _gamma.logcdf
logpdf = _gamma.logpdf
logsf = _gamma.logsf
pdf = _gamma.pdf
sf = _gamma.sf
