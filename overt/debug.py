"""Printing, calling back and stopping from within programs."""

from overt.transformer.callbacks import debug_callback as callback
from overt.transformer.callbacks import debug_log as log
from overt.transformer.callbacks import debug_print as print
from overt.transformer.stopping import debug_breakpoint as breakpoint

__all__ = ["breakpoint", "callback", "log", "print"]
