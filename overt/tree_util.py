"""Trees, nested containers of values, under the names that start with `tree_`."""

from overt.runtime.tree import *  # noqa: F403
from overt.runtime.tree import __all__ as __all__
