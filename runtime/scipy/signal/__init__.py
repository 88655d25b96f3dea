"""Signals: convolution, spectra, and what prepares them."""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later, places_of

if TYPE_CHECKING:
    from overt.runtime.scipy.signal.convolution import *
    from overt.runtime.scipy.signal.spectra import *
    from overt.runtime.scipy.signal.trends import *

_PLACES = places_of(
    __name__,
    {
        "convolution": "convolve convolve2d correlate correlate2d fftconvolve",
        "spectra": "csd istft stft welch",
        "trends": "detrend",
    },
)
__all__ = list(_PLACES)
__getattr__, __dir__ = found_later(globals(), _PLACES)
