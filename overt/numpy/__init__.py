"""NumPy, differentiable, batched and compiled.

>>> import overt.numpy as np
>>> print(np.sum(np.arange(4)))
6
"""

from typing import TYPE_CHECKING

from overt.runtime.later import shown_later as _shown_later

if TYPE_CHECKING:
    from overt.runtime.numpy import *
    from overt.runtime.numpy import __all__ as __all__

_HOME = "overt.runtime.numpy"
_PLACES = dict.fromkeys(("__array_api_version__", "__array_namespace_info__", "i0"), _HOME)
_PLACES |= {name: f"{__name__}.{name}" for name in ("linalg", "fft")}
__getattr__, __dir__ = _shown_later(globals(), _HOME, _PLACES)
