"""Trees, nested containers of values, under the names that start with `tree_`."""

from overt.runtime.tree import *
from overt.runtime.tree import __all__ as _functions
from overt.runtime.tree_registry import LENIENT as default_registry
from overt.runtime.tree_registry import KeyEntry, KeyPath

__all__ = [*_functions, "KeyEntry", "KeyPath", "default_registry"]
