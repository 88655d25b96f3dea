"""Normal distribution between `loc + a * scale` and `loc + b * scale`.

>>> print(f"{cdf(1.0, 0.0, 2.0):.4f}")
0.7152
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import normal as _normal

_truncnorm: _Any = _normal.truncnorm

cdf = _truncnorm.cdf
logcdf = _truncnorm.logcdf
logpdf = _truncnorm.logpdf
logsf = _truncnorm.logsf
pdf = _truncnorm.pdf
sf = _truncnorm.sf
