"""Poisson distribution: `mu**k * exp(-mu) / k!`.

>>> print(f"{pmf(1, 2.0):.4f}")
0.2707
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_poisson: _Any = _counts.poisson

cdf = _poisson.cdf
entropy = _poisson.entropy
logpmf = _poisson.logpmf
pmf = _poisson.pmf
