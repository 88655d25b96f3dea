"""Normal distribution: `exp(-x**2 / 2) / sqrt(2 * pi)`.

>>> print(f"{cdf(1.0):.4f}")
0.8413
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import normal as _normal

_norm: _Any = _normal.norm

cdf = _norm.cdf
isf = _norm.isf
logcdf = _norm.logcdf
logpdf = _norm.logpdf
logsf = _norm.logsf
pdf = _norm.pdf
ppf = _norm.ppf
sf = _norm.sf
