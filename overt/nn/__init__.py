"""Functions of neural networks: activations, softmax, attention, and what goes with them."""

from typing import TYPE_CHECKING

from overt.runtime.later import shown_later as _shown_later

if TYPE_CHECKING:
    from overt.runtime.nn import *
    from overt.runtime.nn import __all__ as __all__

_PLACES = {"initializers": f"{__name__}.initializers"}
__getattr__, __dir__ = _shown_later(globals(), "overt.runtime.nn", _PLACES)
