"""Bernoulli distribution of one trial that succeeds with probability `p`.

>>> print(f"{pmf(1, 0.25):.4f}")
0.2500
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_bernoulli: _Any = _counts.bernoulli

cdf = _bernoulli.cdf
logpmf = _bernoulli.logpmf
pmf = _bernoulli.pmf
ppf = _bernoulli.ppf
