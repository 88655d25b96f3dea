"""The vocabulary below NumPy's: strict elementwise functions, explicit axes, control flow."""

from overt.runtime.lax import *
from overt.runtime.lax import __all__ as __all__
from overt.runtime.lax import linalg as linalg
