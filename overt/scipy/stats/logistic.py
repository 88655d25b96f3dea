"""Logistic distribution: `exp(-x) / (1 + exp(-x))**2`.

>>> print(f"{cdf(1.0):.4f}")
0.7311
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import exponential as _exponential

_logistic: _Any = _exponential.logistic

cdf = _logistic.cdf
isf = _logistic.isf
logpdf = _logistic.logpdf
pdf = _logistic.pdf
ppf = _logistic.ppf
sf = _logistic.sf
