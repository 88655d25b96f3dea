"""Exponential distribution: `exp(-x)` for `x >= 0`.

>>> print(f"{cdf(1.0):.4f}")
0.6321
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_expon: _Any = _exponential.expon

cdf = _expon.cdf
logcdf = _expon.logcdf
logpdf = _expon.logpdf
logsf = _expon.logsf
pdf = _expon.pdf
ppf = _expon.ppf
sf = _expon.sf
