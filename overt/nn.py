"""Functions of neural networks: activations, softmax and what goes with them."""

from overt.runtime.nn import *
from overt.runtime.nn import __all__ as __all__
