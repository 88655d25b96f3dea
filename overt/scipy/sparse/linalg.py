"""Solutions of linear equations by iteration, from products with the matrix alone."""

from overt.runtime.scipy.krylov import *
from overt.runtime.scipy.krylov import __all__ as __all__
