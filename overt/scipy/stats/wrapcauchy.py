"""Wrapped Cauchy distribution of an angle from 0 to 2 pi.

>>> print(f"{pdf(0.0, 0.5):.4f}")
0.4775
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import bounded as _bounded

_wrapcauchy: _Any = _bounded.wrapcauchy

logpdf = _wrapcauchy.logpdf
pdf = _wrapcauchy.pdf
