"""NumPy, differentiable, batched and compiled.

>>> import overt.numpy as np
>>> print(np.sum(np.arange(4)))
6
"""

import importlib
from typing import Any

from overt.runtime import numpy as _numpy
from overt.runtime.numpy import *  # noqa: F403
from overt.runtime.numpy import __all__ as __all__


def __getattr__(name: str) -> Any:
    if name in ("linalg", "fft"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "i0":
        return _numpy.i0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
