"""NumPy, differentiable, batched and compiled.

>>> import overt.numpy as np
>>> print(np.sum(np.arange(4)))
6
"""

from typing import TYPE_CHECKING

from overt.runtime import numpy as _numpy
from overt.runtime.later import found_later as _found_later
from overt.runtime.numpy import __all__ as __all__

if TYPE_CHECKING:
    from overt.runtime.numpy import *  # noqa: F403

_OF_ITSELF = ["__array_api_version__", "__array_namespace_info__"]
_PLACES = {name: _numpy.__name__ for name in [*__all__, *_OF_ITSELF, "i0"]}
_PLACES |= {name: f"{__name__}.{name}" for name in ("linalg", "fft")}
__getattr__, __dir__ = _found_later(globals(), _PLACES)
