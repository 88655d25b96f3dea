"""The operations that every lowering uses: constants, dtypes, shapes, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from overt.backend.attributes import (
    int64,
    ints,
    parsed,
    splat,
)
from overt.backend.types import UNKNOWN, dense, kind, tensor

Value = ir.Value
Shape = tuple[int, ...]
_create = ir.Operation.create


class Operations:
    """Appends operations at an insertion point; every method returns the new value."""

    __slots__ = ("ip", "platform", "callbacks", "token", "effects", "location")

    def __init__(self, ip: ir.InsertionPoint, platform: str = "cpu"):
        self.ip = ip
        self.platform = platform
        self.callbacks: list[Callable] = []
        self.effects: Any = None  # holds host calls back until a run is accepted
        self.token: Value | None = None  # what ordered effects wait for and hand on
        self.location = UNKNOWN  # of the operations to come

    # ---- the general forms ----

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result_types: Sequence[Any],
        attributes: dict[str, Any] | None = None,
        regions: int = 0,
    ) -> Any:
        """Any operation; types are MLIR types or (shape, dtype) pairs or avals.

        Gives the MLIR operation when it has regions or not exactly one result, else the result.
        """
        types = [self.type(t) for t in result_types]
        made = _create(
            name, results=types, operands=operands, attributes=attributes, regions=regions,
            loc=self.location, ip=self.ip,
        )  # fmt: skip
        return made if regions or len(types) != 1 else made.result

    def type(self, t: Any) -> ir.Type:
        """The MLIR type of an aval or a (shape, dtype) pair."""
        if isinstance(t, ir.Type):
            return t
        shape, dtype = t if isinstance(t, tuple) else (t.shape, t.dtype)
        return tensor(tuple(shape), np.dtype(dtype))

    def shape(self, v: Value) -> Shape:
        return kind(v.type)[0]

    def dtype(self, v: Value) -> np.dtype:
        return kind(v.type)[1]

    def elementwise(self, name: str, values: Sequence[Value], out: Any) -> Value:
        """The operation `name` (of stablehlo, or "chlo.x") with results like the aval `out`."""
        if "." not in name:
            name = f"stablehlo.{name}"
        type_ = tensor(out.shape, out.dtype)
        return _create(name, results=[type_], operands=values, loc=self.location, ip=self.ip).result

    def unary(self, name: str, v: Value) -> Value:
        return self.op(name if "." in name else f"stablehlo.{name}", [v], [v.type])

    def binary(self, name: str, x: Value, y: Value) -> Value:
        return self.op(name if "." in name else f"stablehlo.{name}", [x, y], [x.type])

    def quotient(self, x: Value, y: Value) -> Value:
        """`x / y`, computed as it stands.

        Of `(a / b) / c` XLA makes `a / (b * c)`, and of `a / (b / c)` it makes `a * c / b`, whose
        products may overflow. Two signs change neither value, and it leaves such quotients alone.
        """
        if is_quotient(x) or is_quotient(y):
            x, y = self.unary("negate", x), self.unary("negate", y)
        return self.binary("divide", x, y)

    # ---- constants ----

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """The numbers of an array or scalar, part of the program."""
        array = np.asarray(value, dtype)
        if array.dtype.name.endswith(("int2", "int4")):  # MLIR packs them; convert instead
            return self.convert(self.constant(array.astype(np.int8)), array.dtype)
        return self.op(
            "stablehlo.constant", [], [(array.shape, array.dtype)], {"value": dense(array)}
        )

    def full(self, shape: Shape, scalar: Any, dtype: Any) -> Value:
        """An array that holds one number everywhere."""
        dtype = np.dtype(dtype)
        if dtype.name.endswith(("int2", "int4")):
            return self.convert(self.full(shape, scalar, np.int8), dtype)
        return _create(
            "stablehlo.constant", results=[tensor(tuple(shape), dtype)], operands=(),
            attributes={"value": splat(tuple(shape), scalar, dtype)}, loc=self.location, ip=self.ip,
        ).result  # fmt: skip

    def full_like(self, v: Value, scalar: Any) -> Value:
        shape, dtype = kind(v.type)
        return self.full(shape, scalar, dtype)

    def iota(self, shape: Shape, dim: int, dtype: Any) -> Value:
        if not shape:
            return self.full((), 0, dtype)
        return self.op("stablehlo.iota", [], [(shape, dtype)], {"iota_dimension": int64(dim)})

    # ---- dtypes and shapes ----

    def convert(self, v: Value, dtype: Any) -> Value:
        """To another dtype; to bool by `!= 0`, from complex to real by the real part."""
        shape, old = kind(v.type)
        dtype = np.dtype(dtype)
        if old == dtype:
            return v
        if dtype == np.bool_:
            return self.compare("NE", v, self.full(shape, 0, old))
        if old.kind == "c" and dtype.kind != "c":
            v = self.real(v)
        return self.op("stablehlo.convert", [v], [(shape, dtype)])

    def bitcast(self, v: Value, dtype: Any, shape: Shape | None = None) -> Value:
        shape = self.shape(v) if shape is None else shape
        return self.op("stablehlo.bitcast_convert", [v], [(shape, dtype)])

    def broadcast_in_dim(self, v: Value, shape: Shape, dims: Sequence[int]) -> Value:
        return self.op(
            "stablehlo.broadcast_in_dim", [v], [(shape, self.dtype(v))],
            {"broadcast_dimensions": ints(dims)},
        )  # fmt: skip

    def broadcast_to(self, v: Value, shape: Shape) -> Value:
        """NumPy's broadcasting."""
        old = self.shape(v)
        if old == tuple(shape):
            return v
        return self.broadcast_in_dim(v, shape, range(len(shape) - len(old), len(shape)))

    def reshape(self, v: Value, shape: Shape) -> Value:
        if self.shape(v) == tuple(shape):
            return v
        return self.op("stablehlo.reshape", [v], [(shape, self.dtype(v))])

    def transpose(self, v: Value, perm: Sequence[int]) -> Value:
        shape, dtype = kind(v.type)
        if list(perm) == list(range(len(shape))):
            return v
        new = tuple(shape[i] for i in perm)
        return self.op("stablehlo.transpose", [v], [(new, dtype)], {"permutation": ints(perm)})

    def reverse(self, v: Value, dims: Sequence[int]) -> Value:
        return self.op("stablehlo.reverse", [v], [v.type], {"dimensions": ints(dims)})

    def concatenate(self, vs: Sequence[Value], dim: int) -> Value:
        shapes = [self.shape(v) for v in vs]
        shape = list(shapes[0])
        shape[dim] = sum(s[dim] for s in shapes)
        return self.op(
            "stablehlo.concatenate", vs, [(tuple(shape), self.dtype(vs[0]))],
            {"dimension": int64(dim)},
        )  # fmt: skip

    def pad(
        self, v: Value, value: Any, low: Sequence[int], high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> Value:  # fmt: skip
        """Pad with `value` (an MLIR value or a number); negative amounts cut."""
        old, dtype = kind(v.type)
        interior = [0] * len(old) if interior is None else interior
        if not isinstance(value, ir.Value):
            value = self.full((), value, dtype)
        shape = tuple(
            n + lo + hi + max(n - 1, 0) * mid
            for n, lo, hi, mid in zip(old, low, high, interior, strict=True)
        )
        return self.op(
            "stablehlo.pad", [v, value], [(shape, dtype)],
            {
                "edge_padding_low": ints(low), "edge_padding_high": ints(high),
                "interior_padding": ints(interior),
            },
        )  # fmt: skip

    def slice(
        self, v: Value, start: Sequence[int], limit: Sequence[int],
        stride: Sequence[int] | None = None,
    ) -> Value:  # fmt: skip
        old, dtype = kind(v.type)
        stride = [1] * len(old) if stride is None else stride
        shape = tuple(
            max(0, -(-(hi - lo) // step)) for lo, hi, step in zip(start, limit, stride, strict=True)
        )
        return self.op(
            "stablehlo.slice", [v], [(shape, dtype)],
            {
                "start_indices": ints(start), "limit_indices": ints(limit),
                "strides": ints(stride),
            },
        )  # fmt: skip

    def dynamic_slice(self, v: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        return self.op(
            "stablehlo.dynamic_slice", [v, *self._starts(starts)],
            [(tuple(sizes), self.dtype(v))], {"slice_sizes": ints(sizes)},
        )  # fmt: skip

    def dynamic_update_slice(self, v: Value, update: Value, starts: Sequence[Value]) -> Value:
        return self.op(
            "stablehlo.dynamic_update_slice", [v, update, *self._starts(starts)], [v.type]
        )

    def _starts(self, starts: Sequence[Any]) -> list[Value]:
        made = [
            s if isinstance(s, ir.Value) else self.constant(np.asarray(s, np.int32)) for s in starts
        ]
        wide = max((self.dtype(s) for s in made), key=lambda t: t.itemsize, default=None)
        return [self.convert(s, wide) for s in made]

    # ---- choosing and comparing ----

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """EQ, NE, LT, LE, GT or GE; integers of different signedness are compared by value."""
        shape, dtype = kind(x.type)
        if dtype != (other := self.dtype(y)):
            if dtype.kind == "i" and other.kind == "u":
                flip = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
                return self._compare_mixed(flip.get(direction, direction), y, x)
            return self._compare_mixed(direction, x, y)
        attributes = {
            "comparison_direction": parsed(f"#stablehlo<comparison_direction {direction}>")
        }
        return self.op("stablehlo.compare", [x, y], [(shape, np.bool_)], attributes)

    def _compare_mixed(self, direction: str, unsigned: Value, signed: Value) -> Value:
        bits = 8 * max(self.dtype(unsigned).itemsize, self.dtype(signed).itemsize)
        negative = self.compare("LT", signed, self.full_like(signed, 0))
        wide = np.dtype(f"uint{bits}")
        plain = self.compare(direction, self.convert(unsigned, wide), self.convert(signed, wide))
        when_negative = direction in ("GT", "GE", "NE")
        return self.select(negative, self.full_like(plain, when_negative), plain)

    def select(self, p: Value, x: Value, y: Value) -> Value:
        return self.op("stablehlo.select", [p, x, y], [x.type])

    def clamp(self, low: Value, v: Value, high: Value) -> Value:
        return self.op("stablehlo.clamp", [low, v, high], [v.type])

    # ---- complex numbers ----

    def complex(self, real: Value, imag: Value) -> Value:
        shape, dtype = kind(real.type)
        return self.op("stablehlo.complex", [real, imag], [(shape, f"c{2 * dtype.itemsize}")])

    def real(self, v: Value) -> Value:
        shape, dtype = kind(v.type)
        return self.op("stablehlo.real", [v], [(shape, f"f{dtype.itemsize // 2}")])

    def imag(self, v: Value) -> Value:
        shape, dtype = kind(v.type)
        return self.op("stablehlo.imag", [v], [(shape, f"f{dtype.itemsize // 2}")])


def is_quotient(v: Value) -> bool:
    """Whether a value is a quotient, perhaps in another shape."""
    while not isinstance(v.owner, ir.Block):
        name = v.owner.name
        if name == "stablehlo.divide":
            return True
        if name not in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
            return False
        v = v.owner.operands[0]
    return False
