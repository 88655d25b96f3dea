"""Optimizers: rules that turn gradients into better parameters."""

from overt.runtime.example_libraries.optimizers import *
from overt.runtime.example_libraries.optimizers import __all__ as __all__
