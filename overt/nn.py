"""Functions of neural networks: activations, softmax and what goes with them."""

from overt.runtime.nn import *  # noqa: F403
from overt.runtime.nn import __all__ as __all__
