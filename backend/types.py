"""MLIR's context, and the translation of shapes and dtypes to its types and back.

The dialects' classes of operations are not loaded: it takes longer than to write a small program.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _stablehlo
from jaxlib.mlir.dialects import sdy  # by its extension alone it would stay incomplete


def _make_context() -> ir.Context:
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (_chlo, _stablehlo, sdy):
        dialect.register_dialect(context)
    return context


CONTEXT = _make_context()
with CONTEXT:
    UNKNOWN = ir.Location.unknown()


def _integer(bits: int, signed: bool) -> ir.Type:
    make = ir.IntegerType.get_signless if signed else ir.IntegerType.get_unsigned
    return make(bits, CONTEXT)


@functools.cache
def element_type(dtype: np.dtype) -> ir.Type:
    """The MLIR type of one element."""
    if dtype == np.bool_:
        return _integer(1, True)
    if dtype.kind in "iu" and dtype.isbuiltin == 1:
        return _integer(8 * dtype.itemsize, dtype.kind == "i")
    name = dtype.name
    if name in ("int2", "int4", "uint2", "uint4"):
        return _integer(int(name[-1]), not name.startswith("u"))
    with CONTEXT, UNKNOWN:
        if dtype.kind == "c":
            return ir.ComplexType.get(element_type(np.dtype(f"f{dtype.itemsize // 2}")))
        if name == "bfloat16":
            return ir.BF16Type.get()
        if dtype.kind == "f" and name.startswith("float") and "_" not in name:
            return {16: ir.F16Type, 32: ir.F32Type, 64: ir.F64Type}[8 * dtype.itemsize].get()
        if name.startswith("float"):
            return getattr(ir, f"Float{name[5:].replace('_', '').upper()}Type").get()
    raise TypeError(f"arrays of dtype {dtype} cannot be part of a compiled program")


_types: dict[tuple[tuple[int, ...], np.dtype], ir.Type] = {}
_kinds: dict[ir.Type, tuple[tuple[int, ...], np.dtype]] = {}


def tensor(shape: tuple[int, ...], dtype: np.dtype) -> ir.Type:
    """The MLIR type of an array."""
    key = (shape, dtype)
    found = _types.get(key)
    if found is None:
        dtype = np.dtype(dtype)
        found = ir.RankedTensorType.get(shape, element_type(dtype), loc=UNKNOWN)
        _types[key] = found
        _kinds[found] = (tuple(shape), dtype)
    return found


@functools.cache
def _element_dtypes() -> dict[ir.Type, np.dtype]:
    names = (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
        "complex64 complex128"
    )
    small = "bfloat16 int2 int4 uint2 uint4 float8_e3m4 float8_e4m3 float8_e8m0fnu " + (
        "float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float4_e2m1fn"
    )
    known = [np.dtype(n) for n in names.split()]
    known += [np.dtype(getattr(ml_dtypes, n)) for n in small.split()]
    return {element_type(dtype): dtype for dtype in known}


def kind(type_: ir.Type) -> tuple[tuple[int, ...], np.dtype]:
    """(shape, dtype) of an MLIR array type."""
    found = _kinds.get(type_)
    if found is None:
        ranked: Any = ir.RankedTensorType(type_)
        found = (tuple(ranked.shape), _element_dtypes()[ranked.element_type])
        _kinds[type_] = found
    return found


def dense(array: np.ndarray) -> ir.Attribute:
    """The attribute that holds an array's numbers; one number when they are all the same."""
    array = np.asarray(array)
    dtype, shape = array.dtype, array.shape
    if array.size > 1 and all(s == 0 for s in array.strides):
        array = array[(slice(0, 1),) * array.ndim]
    one = array.size == 1 and shape != ()
    if one:
        array = array.reshape(())
    numbers: Any = np.ascontiguousarray(array).reshape(() if one else shape)
    with CONTEXT, UNKNOWN:
        type_ = element_type(dtype)
        return ir.DenseElementsAttr.get(numbers, type=type_, shape=shape)
