"""Gumbel distribution of largest values: `exp(-x - exp(-x))`.

>>> print(f"{cdf(0.0):.4f}")
0.3679
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_gumbel_r: _Any = _exponential.gumbel_r

cdf = _gumbel_r.cdf
logcdf = _gumbel_r.logcdf
logpdf = _gumbel_r.logpdf
logsf = _gumbel_r.logsf
pdf = _gumbel_r.pdf
ppf = _gumbel_r.ppf
sf = _gumbel_r.sf
