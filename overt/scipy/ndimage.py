"""Values of arrays between their elements."""

from overt.runtime.scipy.ndimage import *
from overt.runtime.scipy.ndimage import __all__ as __all__
