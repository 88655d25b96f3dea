"""Normal distribution of several variables.

>>> import overt.numpy as np
>>> print(f"{logpdf(np.zeros(2), np.zeros(2), np.eye(2)):.4f}")
-1.8379
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import normal as _normal

_multivariate_normal: _Any = _normal.multivariate_normal

entropy = _multivariate_normal.entropy
logpdf = _multivariate_normal.logpdf
pdf = _multivariate_normal.pdf
