"""Dtypes as users ask for them, under JAX's names."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import dtypes


class extended(numpy.generic):
    """The kind of dtypes that NumPy does not know."""


class prng_key(extended):
    """The kind of random keys, which no array has here: a key is a tree of two words."""


def is_key(x: Any) -> bool:
    """Whether a value is a random key or an array of them, which have a dtype and are no arrays."""
    return hasattr(type(x), "__overt_key__")


def canonicalize_dtype(dtype: Any) -> numpy.dtype:
    """The dtype that Overt uses for `dtype`: 64 bits become 32 unless x64 is on.

    >>> canonicalize_dtype("float64")
    dtype('float32')
    """
    return dtypes.canonicalize(dtype)


def issubdtype(a: Any, b: Any) -> bool:
    """Whether one dtype, or kind of dtypes, is among another.

    >>> issubdtype("bfloat16", numpy.floating)
    True
    """
    kind = getattr(a, "type", a)  # of random keys, whose dtype is no dtype of NumPy's
    if isinstance(kind, type) and issubclass(kind, extended):
        a = kind
        return isinstance(b, type) and issubclass(a, b)
    if isinstance(b, type) and issubclass(b, extended):
        return False
    return dtypes.issubdtype(a, b)


def result_type(*args: Any) -> numpy.dtype:
    """The dtype that values, dtypes and Python numbers promote to together.

    >>> result_type("int32", 1.0)
    dtype('float32')
    """
    return dtypes.result_type(*args)[0]


def itemsize_bits(dtype: Any) -> int:
    """How many bits one element has.

    >>> itemsize_bits("int4")
    4
    """
    if dtypes.is_integer(dtype):
        return int(dtypes.iinfo(dtype).bits)
    return 8 * dtypes.dtype_of(dtype).itemsize


def scalar_type_of(x: Any) -> type:
    """bool, int, float or complex: the Python type that stands for the kind of `x`."""
    kind = dtypes.category(dtypes.result_type(x)[0])
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[kind]
