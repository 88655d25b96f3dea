"""Neural networks as pairs of functions: one makes parameters, one applies the layer."""

from overt.runtime.example_libraries.stax import *
from overt.runtime.example_libraries.stax import __all__ as __all__
