"""NumPy's vocabulary over primitives; `overt.numpy` shows the public part of it, `__all__`."""

import importlib  # noqa: I001  (the modules are imported in the order they need each other)
import sys
from typing import Any

from overt.runtime.numpy.zeros import *  # noqa: F403
from overt.runtime.numpy.movement import *  # noqa: F403
from overt.runtime.numpy.array_function import *  # noqa: F403
from overt.runtime.numpy.constants import *  # noqa: F403
from overt.runtime.numpy.scalar_types import *  # noqa: F403
from overt.runtime.numpy.creation import *  # noqa: F403
from overt.runtime.numpy.arithmetic import *  # noqa: F403
from overt.runtime.numpy.arithmetic import integer_power, power_slope  # noqa: F401
from overt.runtime.numpy.elementwise import *  # noqa: F403
from overt.runtime.numpy.elementwise import rsqrt  # noqa: F401
from overt.runtime.numpy.trigonometry import *  # noqa: F403
from overt.runtime.numpy.rounding import *  # noqa: F403
from overt.runtime.numpy.logic import *  # noqa: F403
from overt.runtime.numpy.selection import *  # noqa: F403
from overt.runtime.numpy.reducing import *  # noqa: F403
from overt.runtime.numpy.reductions import *  # noqa: F403
from overt.runtime.numpy.moments import *  # noqa: F403
from overt.runtime.numpy.shaping import *  # noqa: F403
from overt.runtime.numpy.joining import *  # noqa: F403
from overt.runtime.numpy.indexing import *  # noqa: F403
from overt.runtime.numpy.selecting import *  # noqa: F403
from overt.runtime.numpy.diagonals import *  # noqa: F403
from overt.runtime.numpy.sorting import *  # noqa: F403
from overt.runtime.numpy.sets import *  # noqa: F403
from overt.runtime.numpy.repeating import *  # noqa: F403
from overt.runtime.numpy.convolution import *  # noqa: F403
from overt.runtime.numpy.products import *  # noqa: F403
from overt.runtime.numpy.einsum import *  # noqa: F403
from overt.runtime.numpy.repeating import *  # noqa: F403
from overt.runtime.numpy.convolution import *  # noqa: F403
from overt.runtime.numpy.sets import *  # noqa: F403
from overt.runtime.numpy.cumulative import *  # noqa: F403
from overt.runtime.numpy.cumulative import cummax, cummin  # noqa: F401
from overt.runtime.numpy.sequences import *  # noqa: F403
from overt.runtime.numpy.calculus import *  # noqa: F403
from overt.runtime.numpy.statistics import *  # noqa: F403
from overt.runtime.numpy.polynomial import *  # noqa: F403
from overt.runtime.numpy.histograms import *  # noqa: F403
from overt.runtime.numpy.functional import *  # noqa: F403
from overt.runtime.numpy.windows import *  # noqa: F403
from overt.runtime.numpy.text_and_files import *  # noqa: F403
from overt.runtime.numpy.packing import *  # noqa: F403

# What a user of `overt.numpy` sees; the other modules serve rules and other functions.
_PUBLIC = [
    "constants", "scalar_types", "creation", "arithmetic", "elementwise", "trigonometry",
    "rounding", "logic", "selection", "reductions", "moments", "shaping", "joining", "selecting",
    "diagonals", "sorting", "sets", "repeating", "convolution", "products", "einsum", "cumulative",
    "sequences", "calculus", "statistics", "polynomial", "histograms", "functional", "windows",
    "text_and_files", "packing",
]  # fmt: skip
__all__: list[str] = []
for _name in _PUBLIC:
    __all__ += sys.modules[f"{__name__}.{_name}"].__all__


def __getattr__(name: str) -> Any:
    if name in ("linalg", "fft"):  # imported when first used: their libraries take a while
        return importlib.import_module(f"{__name__}.{name}")
    if name == "i0":
        return importlib.import_module("overt.runtime.scipy.bessel").i0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
