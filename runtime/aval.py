"""Abstract values: shape, dtype and weakness of an array, without its numbers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from overt.runtime import dtypes
from overt.runtime.errors import KeyIsNoNumber

_table: dict[tuple, Aval] = {}


class Aval:
    """Shape, dtype and weakness; equal ones are one object, so they hash and compare fast.

    >>> Aval((2, 3), np.dtype("float32"))
    float32[2,3]
    >>> Aval((2,), "int32") is Aval((2,), np.dtype("int32"))
    True
    """

    __slots__ = ("shape", "dtype", "weak")
    shape: tuple[int, ...]
    dtype: np.dtype
    weak: bool

    def __new__(cls, shape: tuple[int, ...], dtype: Any, weak: bool = False) -> Aval:
        key = (shape, dtype, weak)
        found = _table.get(key)
        return found if found is not None else _intern(shape, dtype, weak)

    @property
    def weak_type(self) -> bool:  # the name under which jaxlib asks for it
        return self.weak

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def update(self, shape: Any = None, dtype: Any = None, weak: bool | None = None) -> Aval:
        """The same with some parts replaced."""
        return Aval(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.weak if weak is None else weak,
        )

    def strong(self) -> Aval:
        """The same, not weak."""
        return Aval(self.shape, self.dtype) if self.weak else self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an Aval cannot be changed; use .update(...)")

    def __reduce__(self) -> tuple:
        return Aval, (self.shape, self.dtype, self.weak)

    def __copy__(self) -> Aval:
        return self

    def __deepcopy__(self, memo: dict) -> Aval:
        return self

    def __repr__(self) -> str:
        dims = ",".join(map(str, self.shape))
        return f"{self.dtype.name}[{dims}]" + ("~" if self.weak else "")


def length(n: Any) -> Any:
    """A size as a plain whole number; one that is not known yet (`dimensions`) as it is.

    >>> length(np.int64(3))
    3
    """
    return n if hasattr(n, "symbolic") else operator.index(n)


def is_known_size(shape: Any) -> bool:
    """Whether all of a shape's sizes are numbers."""
    return not any(hasattr(n, "symbolic") for n in shape)


def _intern(shape: Any, dtype: Any, weak: bool) -> Aval:
    shape = tuple(map(length, shape))
    dtype = np.dtype(dtype)
    key = (shape, dtype, bool(weak))
    if (found := _table.get(key)) is None:
        found = object.__new__(Aval)
        object.__setattr__(found, "shape", shape)
        object.__setattr__(found, "dtype", dtype)
        object.__setattr__(found, "weak", key[2])
        found = _table.setdefault(key, found)
    return found


_SCALARS = (bool, int, float, complex)


def aval_of(x: Any) -> Aval:
    """The aval of an array, a NumPy array or scalar, or a Python number (which is weak)."""
    aval = getattr(x, "aval", None)
    if type(aval) is Aval:
        return aval
    if isinstance(x, (np.ndarray, np.generic)):
        return Aval(x.shape, dtypes.canonicalize(x.dtype))
    if isinstance(x, _SCALARS):
        return Aval((), *dtypes.kind_of(x))
    if hasattr(type(x), "__overt_key__"):
        raise KeyIsNoNumber("a random key is no number; random.key_data(key) shows its words")
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return Aval(tuple(x.shape), dtypes.canonicalize(x.dtype), bool(getattr(x, "weak", False)))
    kind = repr(x) if hasattr(type(x), "__overt_truth__") else type(x).__name__
    raise TypeError(f"expected an array or a number, got {kind}; convert it with np.array(...)")
