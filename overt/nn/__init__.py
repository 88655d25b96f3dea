"""Functions of neural networks: activations, softmax, attention, and what goes with them."""

from typing import TYPE_CHECKING

from overt.runtime import nn as _nn
from overt.runtime.later import found_later as _found_later
from overt.runtime.nn import __all__ as _activations

if TYPE_CHECKING:
    from overt.runtime.attention import dot_product_attention
    from overt.runtime.lax.ragged import scaled_matmul
    from overt.runtime.nn import *

_PLACES = dict.fromkeys(_activations, _nn.__name__)
_PLACES["dot_product_attention"] = "overt.runtime.attention"
_PLACES["scaled_matmul"] = "overt.runtime.lax.ragged"
__all__ = list(_PLACES)
__getattr__, __dir__ = _found_later(
    globals(), _PLACES | {"initializers": f"{__name__}.initializers"}
)
