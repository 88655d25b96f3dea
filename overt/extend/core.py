"""Staged programs as equations, as in `overt.core`."""

from overt.core import *
from overt.core import __all__ as __all__
