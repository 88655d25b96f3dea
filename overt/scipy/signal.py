"""Signals: convolution, spectra, and what prepares them."""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later as _found_later
from overt.runtime.scipy import signal as _signal
from overt.runtime.scipy.signal import __all__ as __all__

if TYPE_CHECKING:
    from overt.runtime.scipy.signal import *

__getattr__, __dir__ = _found_later(globals(), dict.fromkeys(__all__, _signal.__name__))
