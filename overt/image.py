"""Resampling of images."""

from overt.runtime.image import *
from overt.runtime.image import __all__ as __all__
