"""Gumbel distribution of smallest values: `exp(x - exp(x))`.

>>> print(f"{cdf(0.0):.4f}")
0.6321
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_gumbel_l: _Any = _exponential.gumbel_l

cdf = _gumbel_l.cdf
logcdf = _gumbel_l.logcdf
logpdf = _gumbel_l.logpdf
logsf = _gumbel_l.logsf
pdf = _gumbel_l.pdf
ppf = _gumbel_l.ppf
sf = _gumbel_l.sf
