"""Chi-squared distribution of `df` degrees of freedom.

>>> print(f"{cdf(1.0, 2.0):.4f}")
0.3935
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_chi2: _Any = _exponential.chi2

cdf = _chi2.cdf
logcdf = _chi2.logcdf
logpdf = _chi2.logpdf
logsf = _chi2.logsf
pdf = _chi2.pdf
sf = _chi2.sf
