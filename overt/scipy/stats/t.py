"""Student's distribution of `df` degrees of freedom.

>>> print(f"{pdf(0.0, 1.0):.4f}")
0.3183
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import heavy_tails as _heavy_tails

_t: _Any = _heavy_tails.t

cdf = _t.cdf
logcdf = _t.logcdf
logpdf = _t.logpdf
logsf = _t.logsf
pdf = _t.pdf
sf = _t.sf
