"""Pareto distribution: `b / x**(b + 1)` for `x >= 1`.

>>> print(f"{cdf(2.0, 1.0):.4f}")
0.5000
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_pareto: _Any = _exponential.pareto

cdf = _pareto.cdf
logcdf = _pareto.logcdf
logpdf = _pareto.logpdf
logsf = _pareto.logsf
pdf = _pareto.pdf
ppf = _pareto.ppf
sf = _pareto.sf
