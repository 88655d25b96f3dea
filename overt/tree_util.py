"""Trees, nested containers of values, under the names that start with `tree_`."""

from overt.runtime.tree import *
from overt.runtime.tree import __all__ as __all__
