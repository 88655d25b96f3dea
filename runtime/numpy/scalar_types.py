"""Dtypes by name, as types that make arrays when called: `np.float32(1.5)`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes, kinds
from overt.runtime.array import Array as ndarray
from overt.runtime.primitive import Primitive as ufunc
from overt.runtime.primitive import Rule

NAMES = [
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128", "bfloat16", "int2", "int4", "uint2", "uint4",
    *(small.name for small in dtypes.SMALL_FLOATS),
]  # fmt: skip
SAME = {
    "bool": "bool_", "int_": "int64", "uint": "uint64", "float_": "float64", "double": "float64",
    "single": "float32", "half": "float16", "complex_": "complex128", "cdouble": "complex128",
    "csingle": "complex64",
}  # fmt: skip
ABSTRACT = [
    "character", "complexfloating", "flexible", "floating", "generic", "inexact", "integer",
    "number", "signedinteger", "unsignedinteger",
]  # fmt: skip

__all__ = [
    *NAMES, *SAME, *ABSTRACT, "can_cast", "dtype", "finfo", "iinfo", "isdtype", "issubdtype",
    "ndarray", "object_", "promote_types", "result_type", "ufunc",
]  # fmt: skip


class ScalarType(type):
    """A dtype that is also a constructor; it equals the NumPy type of the same name."""

    dtype: numpy.dtype
    rule: Rule

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: Any) -> bool:
        return cls is other or cls.dtype.type is other or other == cls.dtype

    def __ne__(cls, other: Any) -> bool:
        return not cls == other

    def __call__(cls, x: Any = 0) -> Any:
        return np.asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"np.{cls.__name__}"

    def __reduce__(cls) -> Any:
        return _scalar_type, (cls.__name__,)


def _scalar_type(name: str) -> ScalarType:
    return globals()[name]


for _name in NAMES:
    _type = getattr(ml_dtypes, _name, None) or getattr(numpy, _name)
    _made = ScalarType(_name, (), {"dtype": numpy.dtype(_type), "__slots__": ()})
    _made.__doc__ = f"The dtype {_name.rstrip('_')}; called, it makes an array of that dtype."
    type.__setattr__(
        _made,
        "rule",
        Rule(
            _name, ("x",), linear=True,
            vjp=(lambda g, out, x: astype_bar(g, out, x),),
            jvp=lambda dots, out, x: astype_dot(dots[0], out),
        ),
    )  # fmt: skip
    globals()[_name] = _made
for _name, _same in SAME.items():
    globals()[_name] = globals()[_same]
for _name in ABSTRACT:
    globals()[_name] = getattr(numpy, _name)

dtype = numpy.dtype
object_ = numpy.object_
finfo, iinfo = dtypes.finfo, dtypes.iinfo


def result_type(*args: Any) -> numpy.dtype:
    """The dtype that a combination of arrays, dtypes and Python numbers has.

    >>> np.result_type(np.int32, 1.5)
    dtype('float32')
    """
    return dtypes.result_type(*args)[0]


def promote_types(a: Any, b: Any) -> numpy.dtype:
    """The dtype that two dtypes promote to.

    >>> np.promote_types("int32", "float16")
    dtype('float16')
    """
    return dtypes.promote_types(a, b)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is another one, or of an abstract kind such as `np.floating`.

    >>> np.issubdtype(np.float32, np.floating)
    True
    """
    return kinds.issubdtype(arg1, arg2)


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether values of one dtype can be converted to another under a casting rule.

    >>> np.can_cast(np.int32, np.float64)
    True
    """
    return numpy.can_cast(getattr(from_, "dtype", from_), numpy.dtype(to), casting)


_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
    "real floating": "f", "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another one, or of a kind named as in the array API standard.

    >>> np.isdtype(np.float32, "real floating")
    True
    """
    if isinstance(kind, tuple):
        return any(map(lambda k: isdtype(dtype, k), kind))
    if isinstance(kind, str) and kind in _KINDS:
        return dtypes.category(dtype) in _KINDS[kind]
    return numpy.dtype(dtype) == numpy.dtype(kind)


from overt.runtime.numpy.creation import astype_bar, astype_dot  # noqa: E402  it needs the dtypes
