"""Dirichlet distribution of proportions.

>>> import overt.numpy as np
>>> print(f"{pdf(np.array([0.5, 0.5]), np.array([2.0, 2.0])):.4f}")
1.5000
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import bounded as _bounded

_dirichlet: _Any = _bounded.dirichlet

logpdf = _dirichlet.logpdf
pdf = _dirichlet.pdf
