"""Numbers with a name."""

from __future__ import annotations

import math

__all__ = ["e", "euler_gamma", "inf", "nan", "newaxis", "pi"]

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
euler_gamma = 0.57721566490153286060651209008240243
newaxis = None
