"""Changing what numbers an array holds, or what its bits mean; holding gradients back."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval, aval_of
from overt.runtime.primitive import Primitive, Rule, composite
from overt.runtime.tree import tree_map


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The same numbers in another dtype.

    >>> convert_element_type(np.arange(3), "float32").dtype.name
    'float32'
    """
    return np.asarray(operand).astype(dtypes.canonicalize(new_dtype, explicit=True))


def _bitcast_shape(x: Aval, *, dtype: numpy.dtype) -> Aval:
    old, new = x.dtype.itemsize, dtype.itemsize
    if old == new:
        return Aval(x.shape, dtype)
    if old > new:
        return Aval((*x.shape, old // new), dtype)
    if x.shape[-1:] != (new // old,):
        raise ValueError(
            f"bitcast from {x.dtype} to {dtype} joins {new // old} elements along the last axis, "
            f"got shape {x.shape}"
        )
    return Aval(x.shape[:-1], dtype)


_bitcast = Primitive(
    "bitcast",
    shape=_bitcast_shape,
    lower=lambda b, x, *, avals, out, dtype: b.bitcast(x, dtype, out.shape),
    vjp=(None,),
    batch=lambda values, axes, size, *, dtype: (_bitcast(values[0], dtype=dtype), 0),
    doc="The same bits read as another dtype.",
)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The same bits read as another dtype.

    Shapes: an axis is added or dropped at the end where the widths differ.

    >>> hex(bitcast_convert_type(numpy.float32(1), "uint32"))
    '0x3f800000'
    """
    return _bitcast(operand, dtype=dtypes.canonicalize(new_dtype))


@composite(arrays=("x",), zero_derivative=True)
def _stopped(x: Any) -> Any:
    return np.asarray(x)


def stop_gradient(x: Any) -> Any:
    """The same values, or tree of values, which derivatives regard as constant.

    >>> stop_gradient({"w": 1.0})
    {'w': 1.0}
    """
    return tree_map(lambda leaf: _stopped(leaf) if getattr(leaf, "level", 0) else leaf, x)


stop_gradient.rule = Rule("stop_gradient", ("x",), zero=True)  # type: ignore[attr-defined]


_rounded = Primitive(
    "reduce_precision",
    elementwise=True,
    lower=lambda b, x, *, avals, out, exponent_bits, mantissa_bits: b.reduce_precision(
        x, exponent_bits, mantissa_bits
    ),
    linear=True,
    vjp=(
        lambda g, out, x, *, exponent_bits, mantissa_bits: reduce_precision(
            g, exponent_bits, mantissa_bits
        ),
    ),
    doc="Rounded to fewer bits.",
)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Numbers rounded to a float of so many bits, in their old dtype.

    >>> print(reduce_precision(np.float32(1.23456), exponent_bits=8, mantissa_bits=7))
    1.234375
    """
    return _rounded(operand, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)


def dtype(x: Any) -> numpy.dtype:
    """The dtype of an array or number.

    >>> dtype(1.0)
    dtype('float32')
    """
    return aval_of(x).dtype
