"""Arrays as text and in files, by NumPy; and what has nothing to do with devices."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime.numpy.creation import constant

__all__ = [
    "ComplexWarning", "array_repr", "array_str", "errstate", "get_printoptions", "index_exp",
    "iterable", "load", "printoptions", "save", "savez", "set_printoptions",
]  # fmt: skip

ComplexWarning = numpy.exceptions.ComplexWarning
index_exp = numpy.index_exp
get_printoptions, set_printoptions = numpy.get_printoptions, numpy.set_printoptions
printoptions = numpy.printoptions
errstate = numpy.errstate  # for functions written for NumPy; arrays of ours warn of nothing


def array_repr(
    arr: Any, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:  # fmt: skip
    """The text that `repr` gives for NumPy's array of the same numbers.

    >>> np.array_repr(np.array([1, 2]))
    'array([1, 2], dtype=int32)'
    """
    return numpy.array_repr(numpy.asarray(arr), max_line_width, precision, suppress_small)


def array_str(
    a: Any, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:  # fmt: skip
    """The numbers as text.

    >>> np.array_str(np.array([1, 2]))
    '[1 2]'
    """
    return numpy.array_str(numpy.asarray(a), max_line_width, precision, suppress_small)


def iterable(y: Any) -> bool:
    """Whether `y` can be iterated over.

    >>> np.iterable([1, 2]), np.iterable(2)
    (True, False)
    """
    return bool(getattr(y, "ndim", 1)) and numpy.iterable(y)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write one array to a file in NumPy's format `.npy`."""
    numpy.save(file, numpy.asarray(arr), allow_pickle)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to one file in NumPy's format `.npz`."""
    arrays = {name: numpy.asarray(x) for name, x in kwds.items()}
    numpy.savez(file, *map(numpy.asarray, args), **arrays)  # type: ignore[arg-type]


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Read what `save` (an array) or `savez` (a mapping of NumPy arrays) wrote."""
    found = numpy.load(file, *args, **kwargs)
    return constant(found) if isinstance(found, numpy.ndarray) else found


import overt.runtime.numpy as np  # noqa: E402, F401  (for the examples)
