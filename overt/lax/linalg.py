"""Matrix factorizations, as LAPACK and its kin give them."""

from overt.runtime.lax.linalg import *  # noqa: F403
from overt.runtime.lax.linalg import __all__ as __all__
