"""Geometric distribution of the trials until the first success.

>>> print(f"{pmf(2, 0.25):.4f}")
0.1875
"""

from typing import Any as _Any

from overt.runtime.scipy.stats import counts as _counts

_geom: _Any = _counts.geom

logpmf = _geom.logpmf
pmf = _geom.pmf
