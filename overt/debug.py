"""Printing and calling back from within programs."""

from overt.transformer.callbacks import debug_callback as callback
from overt.transformer.callbacks import debug_print as print

__all__ = ["callback", "print"]
