"""Dtypes and how they promote: JAX's lattice with weak types, 32 bits unless 64 are asked for."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import ml_dtypes
import numpy as np

from overt.runtime import config
from overt.runtime.errors import PromotionError

bool_ = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
bfloat16 = ml_dtypes.bfloat16
int2, int4, uint2, uint4 = ml_dtypes.int2, ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.uint4
SMALL_FLOATS = tuple(
    np.dtype(getattr(ml_dtypes, name))
    for name in (
        "float4_e2m1fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e8m0fnu",
        "float8_e4m3b11fnuz",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
    )
)
for _small in SMALL_FLOATS:
    globals()[_small.name] = _small.type

# The tangent type of integers and booleans: an array without information.
float0 = np.dtype([("float0", np.void, 0)])

_FLOATS = (*SMALL_FLOATS, *map(np.dtype, (bfloat16, float16, float32, float64)))
_SIGNED = tuple(map(np.dtype, (int2, int4, int8, int16, int32, int64)))
_UNSIGNED = tuple(map(np.dtype, (uint2, uint4, uint8, uint16, uint32, uint64)))
_COMPLEX = tuple(map(np.dtype, (complex64, complex128)))
_BOOL = np.dtype(bool)
_CATEGORY: dict[np.dtype, str] = {
    _BOOL: "b",
    **dict.fromkeys(_SIGNED, "i"),
    **dict.fromkeys(_UNSIGNED, "u"),
    **dict.fromkeys(_FLOATS, "f"),
    **dict.fromkeys(_COMPLEX, "c"),
}
_NARROW = {
    np.dtype(wide): np.dtype(narrow)
    for wide, narrow in (
        (int64, int32), (uint64, uint32), (float64, float32), (complex128, complex64)
    )
}  # fmt: skip


def dtype_of(dtype: Any) -> np.dtype:
    """`dtype` as a NumPy dtype, without changing its width; Python's types are 64-bit here."""
    return dtype if type(dtype) is np.dtype else np.dtype(dtype)


def canonicalize(dtype: Any, explicit: bool = False) -> np.dtype:
    """The dtype Overt uses for `dtype`: 64 bits become 32 unless x64 is on.

    With `explicit`, a 64-bit NumPy dtype that the user asked for by name warns when it is narrowed.

    >>> canonicalize(np.float64)
    dtype('float32')
    """
    if type(dtype) is not np.dtype:
        if any(dtype is python for python in (bool, int, float, complex)):
            explicit = False
        dtype = np.dtype(dtype)
    if dtype in _NARROW and not config.current().enable_x64:
        if explicit:
            warnings.warn(
                f"Explicitly requested dtype {dtype.name} is not available, and is narrowed to "
                f"{_NARROW[dtype].name}: 64-bit dtypes are off. Turn them on with "
                "config.update('overt_enable_x64', True) or OVERT_ENABLE_X64=1.",
                UserWarning,
                stacklevel=3,
            )
        return _NARROW[dtype]
    if dtype not in _CATEGORY and dtype != float0:
        raise TypeError(f"dtype {dtype} is not a valid array type; use a numeric or boolean dtype")
    return dtype


def category(dtype: Any) -> str:
    """'b', 'i', 'u', 'f' or 'c': what kind of number a dtype holds (also for bfloat16 etc.)."""
    return _CATEGORY.get(dtype_of(dtype), "V")


def is_float(dtype: Any) -> bool:
    return category(dtype) == "f"


def is_complex(dtype: Any) -> bool:
    return category(dtype) == "c"


def is_inexact(dtype: Any) -> bool:
    return category(dtype) in "fc"


def is_integer(dtype: Any) -> bool:
    return category(dtype) in "iu"


def is_bool(dtype: Any) -> bool:
    return category(dtype) == "b"


_ABSTRACT = {
    np.generic: "biufc",
    np.number: "iufc",
    np.integer: "iu",
    np.signedinteger: "i",
    np.unsignedinteger: "u",
    np.inexact: "fc",
    np.floating: "f",
    np.complexfloating: "c",
    np.bool_: "b",
}


def issubdtype(a: Any, b: Any) -> bool:
    """Like `numpy.issubdtype`, and knows bfloat16 and the other small types.

    >>> issubdtype(bfloat16, np.floating)
    True
    """
    b_abstract = b if isinstance(b, type) and b in _ABSTRACT else None
    if isinstance(a, type) and a in _ABSTRACT and a is not np.bool_:
        return b_abstract is not None and set(_ABSTRACT[a]) <= set(_ABSTRACT[b])
    kind = _CATEGORY.get(np.dtype(a))
    if kind is None:
        return bool(np.issubdtype(a, b))
    if b_abstract is not None:
        return kind in _ABSTRACT[b]
    return np.dtype(a) == np.dtype(b)


def _dtype_in(x: Any) -> Any:
    """A dtype, or that of an array."""
    return x if isinstance(x, type) else getattr(x, "dtype", x)


class finfo:  # noqa: N801
    """Limits of a floating dtype (of a complex one's parts), bfloat16 and other small ones too.

    The numbers are Python's.

    >>> finfo(np.float16).max
    65504.0
    """

    def __init__(self, dtype: Any):
        self._info = ml_dtypes.finfo(canonicalize(_dtype_in(dtype)))
        self.dtype: np.dtype = np.dtype(self._info.dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._info, name)
        return found.item() if isinstance(found, (np.generic, np.ndarray)) else found

    def __repr__(self) -> str:
        return f"finfo(min={self.min}, max={self.max}, eps={self.eps}, dtype={self.dtype.name})"


def iinfo(dtype: Any) -> Any:
    """Limits of an integer dtype."""
    return ml_dtypes.iinfo(canonicalize(_dtype_in(dtype)))


def float_type() -> np.dtype:
    """The dtype of a Python float: float32, or float64 when x64 is on."""
    return canonicalize(np.dtype(float64))


def int_type() -> np.dtype:
    """The dtype of a Python int: int32, or int64 when x64 is on."""
    return canonicalize(np.dtype(int64))


def complex_type() -> np.dtype:
    """The dtype of a Python complex number."""
    return canonicalize(np.dtype(complex128))


def to_inexact(dtype: Any) -> np.dtype:
    """`dtype` itself when it is floating or complex, else the float that integers promote to."""
    dtype = dtype_of(dtype)
    if is_inexact(dtype):
        return dtype
    return canonicalize(np.dtype(float64 if dtype.itemsize == 8 else float32))


def real_type(dtype: Any) -> np.dtype:
    """The dtype of the real part of a value of `dtype`."""
    dtype = dtype_of(dtype)
    return np.dtype(f"f{dtype.itemsize // 2}") if is_complex(dtype) else dtype


def complex_of(dtype: Any) -> np.dtype:
    """The complex dtype that holds values of `dtype`."""
    dtype = dtype_of(dtype)
    if is_complex(dtype):
        return dtype
    return canonicalize(np.dtype(complex128 if dtype == np.float64 else complex64))


# ---- the promotion lattice: each node and what is directly above it ----


def _lattice(x64: bool) -> dict[Any, set]:
    d = np.dtype
    above: dict[Any, tuple] = {
        _BOOL: ("int",),
        "int": (d(uint8), d(uint2), d(uint4), d(int8), d(int2), d(int4)),
        d(uint8): (d(int16), d(uint16)),
        d(uint16): (d(int32), d(uint32)),
        d(uint32): (d(int64) if x64 else d(int32), d(uint64)),
        d(uint64): ("float",),
        d(int8): (d(int16),),
        d(int16): (d(int32),),
        d(int32): (d(int64),),
        d(int64): ("float",),
        "float": (*SMALL_FLOATS, d(bfloat16), d(float16), "complex"),
        d(bfloat16): (d(float32),),
        d(float16): (d(float32),),
        d(float32): (d(float64), d(complex64)),
        d(float64): (d(complex128),),
        "complex": (d(complex64),),
        d(complex64): (d(complex128),),
    }
    bounds: dict[Any, set] = {}

    def bound(node: Any) -> set:
        if node not in bounds:
            bounds[node] = {node}.union(*(bound(up) for up in above.get(node, ())))
        return bounds[node]

    for node in (*above, *_CATEGORY):
        bound(node)
    return bounds


_BOUNDS = {x64: _lattice(x64) for x64 in (False, True)}
_WEAK = {"b": _BOOL, "i": "int", "u": "int", "f": "float", "c": "complex"}
_WEAK_TYPE = {"int": int_type, "float": float_type, "complex": complex_type}


def _join(nodes: frozenset, x64: bool) -> Any:
    bounds = _BOUNDS[x64]
    common = set.intersection(*(bounds[n] for n in nodes))
    least = [n for n in common if common <= bounds[n]]
    if not least:
        names = ", ".join(sorted(str(n) for n in nodes))
        raise PromotionError(
            f"dtypes {names} have no implicit common dtype; convert one of them with .astype(...)"
        )
    return least[0]


@functools.lru_cache(maxsize=4096)
def promote(kinds: tuple[tuple[np.dtype, bool], ...], x64: bool, strict: bool = False) -> tuple:
    """(dtype, weak) of the combination of several (dtype, weak) pairs."""
    distinct = {dtype for dtype, _ in kinds}
    all_weak = all(weak for _, weak in kinds)
    if len(kinds) == 1:
        dtype, weak = kinds[0]
    elif len(distinct) == 1 and not all_weak:
        dtype, weak = kinds[0][0], False
    elif all_weak:
        dtype, weak = _join(frozenset(distinct), x64), True
    else:
        nodes = frozenset(_WEAK[_CATEGORY[t]] if weak else t for t, weak in kinds)
        if strict and len({t for t, weak in kinds if not weak}) > 1:
            raise PromotionError(
                f"dtypes {', '.join(sorted(t.name for t in distinct))} differ, and "
                "numpy_dtype_promotion is 'strict'; convert with .astype(...)"
            )
        dtype, weak = _join(nodes, x64), False
    if isinstance(dtype, str):
        dtype, weak = _WEAK_TYPE[dtype](), True
    if not x64:
        dtype = _NARROW.get(dtype, dtype)
    return dtype, weak and dtype != _BOOL


def result_kind(*kinds: tuple[np.dtype, bool]) -> tuple[np.dtype, bool]:
    """(dtype, weak) of a combination of (dtype, weak) pairs, under the settings in force."""
    settings = config.current()
    strict = settings.numpy_dtype_promotion == "strict"
    return promote(kinds, settings.enable_x64, strict)


def kind_of(x: Any) -> tuple[np.dtype, bool]:
    """(dtype, weak) of a value, an aval, a dtype or a Python scalar or its type."""
    aval = getattr(x, "aval", None)
    if aval is not None:
        return aval.dtype, aval.weak
    weak = getattr(x, "weak", None)
    if weak is not None:
        return x.dtype, weak
    scalar = x if isinstance(x, type) else type(x)
    if scalar is bool:
        return _BOOL, False
    if scalar is int:
        return int_type(), True
    if scalar is float:
        return float_type(), True
    if scalar is complex:
        return complex_type(), True
    if hasattr(x, "dtype") and not isinstance(x, type):
        if hasattr(type(x), "__overt_key__"):
            return x.dtype, False
        return canonicalize(x.dtype), False
    if isinstance(x, (int, float, complex)):  # an enum's member, say
        return kind_of(next(t for t in (int, float, complex) if isinstance(x, t)))
    if isinstance(x, (list, tuple)):
        return canonicalize(np.asarray(x).dtype), False
    return canonicalize(x), False


def result_type(*values: Any) -> tuple[np.dtype, bool]:
    """(dtype, weak) of the combination of values, avals, dtypes and Python scalars.

    >>> result_type(np.float32, 1)
    (dtype('float32'), False)
    """
    if not values:
        raise ValueError("result_type needs at least one value or dtype")
    return result_kind(*(kind_of(x) for x in values))


def promote_types(a: Any, b: Any) -> np.dtype:
    """The dtype two dtypes promote to.

    >>> promote_types(np.int32, np.float16)
    dtype('float16')
    """
    return result_type(a, b)[0]
