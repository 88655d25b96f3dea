"""The vocabulary below NumPy's: strict elementwise functions, explicit axes, control flow."""

from typing import TYPE_CHECKING

from overt.runtime.later import shown_later as _shown_later

if TYPE_CHECKING:
    from overt.runtime.lax import *
    from overt.runtime.lax import __all__ as __all__

_PLACES = {"linalg": f"{__name__}.linalg"}
__getattr__, __dir__ = _shown_later(globals(), "overt.runtime.lax", _PLACES)
