"""Von Mises distribution of an angle, its density proportional to `exp(kappa * cos(x))`.

>>> print(f"{pdf(0.0, 1.0):.4f}")
0.3417
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import bounded as _bounded

_vonmises: _Any = _bounded.vonmises

logpdf = _vonmises.logpdf
pdf = _vonmises.pdf
