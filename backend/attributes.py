"""MLIR attributes, made once each."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from overt.backend.types import CONTEXT, dense

_made: dict[Any, ir.Attribute] = {}


def ints(values: Sequence[int]) -> ir.Attribute:
    """An `array<i64>` attribute."""
    key = tuple(values)
    found = _made.get(key)
    if found is None:
        found = _made[key] = ir.DenseI64ArrayAttr.get(key, CONTEXT)
    return found


def int64(value: int) -> ir.Attribute:
    """An `i64` attribute."""
    key = ("i64", int(value))
    found = _made.get(key)
    if found is None:
        type_ = ir.IntegerType.get_signless(64, CONTEXT)
        found = _made[key] = ir.IntegerAttr.get(type_, value)
    return found


def int32(value: int) -> ir.Attribute:
    """An `i32` attribute."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, CONTEXT), value)


def parsed(text: str) -> ir.Attribute:
    """An attribute given as text, as in `#stablehlo<comparison_direction LT>`."""
    found = _made.get(text)
    if found is None:
        found = _made[text] = ir.Attribute.parse(text, CONTEXT)
    return found


def boolean(value: bool) -> ir.Attribute:
    """A boolean attribute."""
    return parsed("true" if value else "false")


def splat(shape: tuple[int, ...], scalar: Any, dtype: np.dtype) -> ir.Attribute:
    """The numbers of an array that holds one number everywhere."""
    key = (shape, dtype, type(scalar), scalar if scalar else repr(scalar))
    found = _made.get(key)
    if found is None:
        found = dense(np.broadcast_to(np.asarray(scalar).astype(dtype), shape))
        if len(_made) < 100_000:
            _made[key] = found
    return found


def layouts(orders: Sequence[Sequence[int]]) -> ir.Attribute:
    """Minor-to-major layouts, one a value, as an attribute."""
    index: Any = ir.IndexType.get(CONTEXT)
    make: Any = ir.DenseIntElementsAttr.get
    return ir.ArrayAttr.get(
        [make(np.asarray(order, np.int64), type=index, context=CONTEXT) for order in orders],
        CONTEXT,
    )


_PRECISIONS = {
    None: "DEFAULT", "default": "DEFAULT", "fastest": "DEFAULT", "bfloat16": "DEFAULT",
    "high": "HIGH", "bfloat16_3x": "HIGH", "tensorfloat32": "HIGH",
    "highest": "HIGHEST", "float32": "HIGHEST",
}  # fmt: skip


def _plain(precision: Any) -> Any:
    """A precision by its name in small letters, also a member of an enumeration."""
    name = precision.value if isinstance(precision, enum.Enum) else precision
    name = name.lower() if isinstance(name, str) else name
    if name not in _PRECISIONS:
        known = ", ".join(sorted(filter(None, _PRECISIONS)))
        raise ValueError(f"precision {precision!r} is none of {known}")
    return name


def precision_config(precision: Any) -> ir.Attribute:
    """One precision for both operands, or a pair; names as in `default_matmul_precision`."""
    if not isinstance(precision, (list, tuple)):
        precision = (precision, precision)
    names = [_PRECISIONS[_plain(p)] for p in precision]
    return parsed("[" + ", ".join(f"#stablehlo<precision {n}>" for n in names) + "]")
