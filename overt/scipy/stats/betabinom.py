"""Beta-binomial distribution: successes in `n` trials of a random probability.

>>> print(f"{pmf(1, 2, 1.0, 1.0):.4f}")
0.3333
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_betabinom: _Any = _counts.betabinom

logpmf = _betabinom.logpmf
pmf = _betabinom.pmf
