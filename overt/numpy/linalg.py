"""Linear algebra in NumPy's vocabulary."""

from overt.runtime.numpy.linalg import *  # noqa: F403
from overt.runtime.numpy.linalg import __all__ as __all__
