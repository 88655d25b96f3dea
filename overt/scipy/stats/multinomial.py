"""Multinomial distribution of the outcomes of `n` trials.

>>> import overt.numpy as np
>>> print(f"{pmf(np.array([1, 1]), 2, np.array([0.5, 0.5])):.4f}")
0.5000
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_multinomial: _Any = _counts.multinomial

logpmf = _multinomial.logpmf
pmf = _multinomial.pmf
