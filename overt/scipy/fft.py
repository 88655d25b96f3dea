"""Discrete cosine transforms."""

from overt.runtime.scipy.fft import *
from overt.runtime.scipy.fft import __all__ as __all__
