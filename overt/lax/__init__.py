"""The vocabulary below NumPy's: strict elementwise functions, explicit axes, control flow."""

from typing import TYPE_CHECKING

from overt.runtime import lax as _lax
from overt.runtime.later import found_later as _found_later
from overt.runtime.lax import __all__ as __all__

if TYPE_CHECKING:
    from overt.runtime.lax import *

_PLACES = {name: _lax.__name__ for name in __all__} | {"linalg": f"{__name__}.linalg"}
__getattr__, __dir__ = _found_later(globals(), _PLACES)
