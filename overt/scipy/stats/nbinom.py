"""Negative binomial distribution of the failures before `n` successes.

>>> print(f"{pmf(1, 2, 0.5):.4f}")
0.2500
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_nbinom: _Any = _counts.nbinom

logpmf = _nbinom.logpmf
pmf = _nbinom.pmf
