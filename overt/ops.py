"""Reductions of rows that belong to the same segment."""

from overt.runtime.segments import *
from overt.runtime.segments import __all__ as __all__
