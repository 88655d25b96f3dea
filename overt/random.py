"""Random numbers from explicit keys, bit for bit those of JAX."""

from overt.runtime.random import *
from overt.runtime.random import __all__ as __all__
