"""Binomial distribution of the successes in `n` trials.

>>> print(f"{pmf(1, 2, 0.25):.4f}")
0.3750
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_binom: _Any = _counts.binom

logpmf = _binom.logpmf
pmf = _binom.pmf
