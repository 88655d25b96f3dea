"""Beta distribution, its density proportional to `x**(a - 1) * (1 - x)**(b - 1)`.

>>> print(f"{pdf(0.5, 2.0, 2.0):.4f}")
1.5000
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import bounded as _bounded

_beta: _Any = _bounded.beta

cdf = _beta.cdf
logcdf = _beta.logcdf
logpdf = _beta.logpdf
logsf = _beta.logsf
pdf = _beta.pdf
sf = _beta.sf
