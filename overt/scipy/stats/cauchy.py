"""Cauchy distribution: `1 / (pi * (1 + x**2))`.

>>> print(f"{cdf(1.0):.4f}")
0.7500
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import heavy_tails as _heavy_tails

_cauchy: _Any = _heavy_tails.cauchy

cdf = _cauchy.cdf
isf = _cauchy.isf
logcdf = _cauchy.logcdf
logpdf = _cauchy.logpdf
logsf = _cauchy.logsf
pdf = _cauchy.pdf
ppf = _cauchy.ppf
sf = _cauchy.sf
