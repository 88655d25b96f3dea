"""Minima of functions."""

from overt.runtime.scipy.optimize import *
from overt.runtime.scipy.optimize import __all__ as __all__
