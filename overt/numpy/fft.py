"""Discrete Fourier transforms in NumPy's vocabulary."""

from overt.runtime.numpy.fft import *  # noqa: F403
from overt.runtime.numpy.fft import __all__ as __all__
