"""Writes StableHLO: the `b` that lowering rules receive.

Values are MLIR values.  Operations are made with `ir.Operation.create` and explicit types, which
is three times faster than the generated classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from overt.backend import custom_calls
from overt.backend.types import CONTEXT, UNKNOWN, dense, element_type, kind, tensor

Value = ir.Value
Shape = tuple[int, ...]
_attributes: dict[Any, ir.Attribute] = {}
_create = ir.Operation.create


def ints(values: Sequence[int]) -> ir.Attribute:
    """An `array<i64>` attribute."""
    key = tuple(values)
    found = _attributes.get(key)
    if found is None:
        found = _attributes[key] = ir.DenseI64ArrayAttr.get(key, CONTEXT)
    return found


def int64(value: int) -> ir.Attribute:
    """An `i64` attribute."""
    key = ("i64", int(value))
    found = _attributes.get(key)
    if found is None:
        type_ = ir.IntegerType.get_signless(64, CONTEXT)
        found = _attributes[key] = ir.IntegerAttr.get(type_, value)
    return found


def int32(value: int) -> ir.Attribute:
    """An `i32` attribute."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, CONTEXT), value)


def parsed(text: str) -> ir.Attribute:
    """An attribute given as text, as in `#stablehlo<comparison_direction LT>`."""
    found = _attributes.get(text)
    if found is None:
        found = _attributes[text] = ir.Attribute.parse(text, CONTEXT)
    return found


def boolean(value: bool) -> ir.Attribute:
    """A boolean attribute."""
    return parsed("true" if value else "false")


class Builder:
    """Appends operations at an insertion point; every method returns the new value."""

    __slots__ = ("ip", "platform", "callbacks", "token", "effects")

    def __init__(self, ip: ir.InsertionPoint, platform: str = "cpu"):
        self.ip = ip
        self.platform = platform
        self.callbacks: list[Callable] = []
        self.effects: Any = None  # holds host calls back until a run is accepted
        self.token: Value | None = None  # what ordered effects wait for and hand on

    location = UNKNOWN

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
            loc=UNKNOWN, ip=self.ip,
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
        return _create(name, results=[type_], operands=values, loc=UNKNOWN, ip=self.ip).result

    def unary(self, name: str, v: Value) -> Value:
        return self.op(name if "." in name else f"stablehlo.{name}", [v], [v.type])

    def binary(self, name: str, x: Value, y: Value) -> Value:
        return self.op(name if "." in name else f"stablehlo.{name}", [x, y], [x.type])

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
        key = (tuple(shape), dtype, type(scalar), scalar if scalar else repr(scalar))
        found = _attributes.get(key)
        if found is None:
            found = dense(np.broadcast_to(np.asarray(scalar).astype(dtype), key[0]))
            if len(_attributes) < 100_000:
                _attributes[key] = found
        return _create(
            "stablehlo.constant", results=[tensor(key[0], dtype)], operands=(),
            attributes={"value": found}, loc=UNKNOWN, ip=self.ip,
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

    # ---- regions ----

    @contextmanager
    def at(self, block: ir.Block) -> Iterator[None]:
        """Append to `block` inside the `with` statement."""
        before, self.ip = self.ip, ir.InsertionPoint(block)
        try:
            yield
        finally:
            self.ip = before

    @contextmanager
    def before(self, operation: Any) -> Iterator[None]:
        """Put operations directly before `operation` inside the `with` statement."""
        before, self.ip = self.ip, ir.InsertionPoint(operation)
        try:
            yield
        finally:
            self.ip = before

    def region(self, region: ir.Region, types: Sequence[Any], body: Callable) -> None:
        """Fill a region: `body(b, *arguments)` gives the value or values it returns."""
        types = [self.type(t) for t in types]
        block = region.blocks.append(*types, arg_locs=[UNKNOWN] * len(types))
        with self.at(block):
            result = body(self, *block.arguments)
            returned = list(result) if isinstance(result, (list, tuple)) else [result]
            _create("stablehlo.return", results=[], operands=returned, loc=UNKNOWN, ip=self.ip)

    def _combine(self, body: Callable | str) -> Callable:
        if callable(body):
            return body
        return lambda b, x, y: b.binary(body, x, y)

    def while_(self, inits: Sequence[Value], test: Callable, body: Callable) -> list[Value]:
        """`test(b, *carry)` gives a boolean, `body(b, *carry)` the next carry."""
        types = [v.type for v in inits]
        made = self.op("stablehlo.while", inits, types, regions=2)
        self.region(made.regions[0], types, test)
        self.region(made.regions[1], types, body)
        return list(made.results)

    def case(self, index: Value, branches: Sequence[Callable], types: Sequence[Any]) -> list[Value]:
        """The results of `branches[index](b)`; the index is clamped."""
        made = self.op("stablehlo.case", [index], types, regions=len(branches))
        for region, branch in zip(made.regions, branches, strict=True):
            self.region(region, [], branch)
        return list(made.results)

    def if_(self, p: Value, then: Callable, orelse: Callable, types: Sequence[Any]) -> list[Value]:
        """The results of `then(b)` or `orelse(b)`."""
        made = self.op("stablehlo.if", [p], types, regions=2)
        self.region(made.regions[0], [], then)
        self.region(made.regions[1], [], orelse)
        return list(made.results)

    # ---- reductions, sorting ----

    def reduce_many(
        self, vs: Sequence[Value], inits: Sequence[Any], dims: Sequence[int], body: Callable | str
    ) -> list[Value]:
        """Reduce several arrays together; `body(b, *left, *right)` gives the combined values."""
        dims = tuple(dims)
        kinds = [kind(v.type) for v in vs]
        starts = [
            i if isinstance(i, ir.Value) else self.full((), i, k[1])
            for i, k in zip(inits, kinds, strict=True)
        ]
        kept = [(tuple(n for i, n in enumerate(s) if i not in dims), t) for s, t in kinds]
        made = self.op("stablehlo.reduce", [*vs, *starts], kept, {"dimensions": ints(dims)}, 1)
        scalars = [((), t) for _, t in kinds]
        self.region(made.regions[0], scalars * 2, self._combine(body))
        return list(made.results)

    def reduce(self, v: Value, init: Any, dims: Sequence[int], body: Callable | str) -> Value:
        """Reduce over `dims` with an operation name ("add") or `body(b, x, y)`."""
        return self.reduce_many([v], [init], dims, body)[0] if len(tuple(dims)) else v

    def reduce_window(
        self, v: Value, init: Any, window: Sequence[int], body: Callable | str,
        strides: Sequence[int] | None = None, padding: Sequence[tuple[int, int]] | None = None,
        base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None,
    ) -> Value:  # fmt: skip
        return self.reduce_window_many(
            [v], [init], window, body, strides, padding, base_dilation, window_dilation
        )[0]

    def reduce_window_many(
        self, vs: Sequence[Value], inits: Sequence[Any], window: Sequence[int],
        body: Callable | str, strides: Sequence[int] | None = None,
        padding: Sequence[tuple[int, int]] | None = None,
        base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None,
    ) -> list[Value]:  # fmt: skip
        """Reduce over sliding windows; padding is (low, high) a dimension."""
        n = len(window)
        strides, base, dilation = (x or [1] * n for x in (strides, base_dilation, window_dilation))
        padding = padding or [(0, 0)] * n
        kinds = [kind(v.type) for v in vs]
        starts = [
            i if isinstance(i, ir.Value) else self.full((), i, k[1])
            for i, k in zip(inits, kinds, strict=True)
        ]
        shape = windowed_shape(kinds[0][0], window, strides, padding, base, dilation)
        attributes = {
            "window_dimensions": ints(window), "window_strides": ints(strides),
            "base_dilations": ints(base), "window_dilations": ints(dilation),
            "padding": dense(np.asarray(padding, np.int64).reshape(n, 2)),
        }  # fmt: skip
        types = [(shape, t) for _, t in kinds]
        made = self.op("stablehlo.reduce_window", [*vs, *starts], types, attributes, 1)
        self.region(made.regions[0], [((), t) for _, t in kinds] * 2, self._combine(body))
        return list(made.results)

    def select_and_scatter(
        self, v: Value, source: Value, init: Any, window: Sequence[int], select: Callable,
        scatter: Callable | str = "add", strides: Sequence[int] | None = None,
        padding: Sequence[tuple[int, int]] | None = None,
    ) -> Value:  # fmt: skip
        n, dtype = len(window), self.dtype(v)
        init = init if isinstance(init, ir.Value) else self.full((), init, dtype)
        attributes = {
            "window_dimensions": ints(window), "window_strides": ints(strides or [1] * n),
            "padding": dense(np.asarray(padding or [(0, 0)] * n, np.int64).reshape(n, 2)),
        }  # fmt: skip
        made = self.op("stablehlo.select_and_scatter", [v, source, init], [v.type], attributes, 2)
        self.region(made.regions[0], [((), dtype)] * 2, select)
        self.region(made.regions[1], [((), dtype)] * 2, self._combine(scatter))
        return made.results[0]

    def sort(
        self, vs: Sequence[Value], dim: int, keys: int = 1, stable: bool = True,
        comparator: Callable | None = None,
    ) -> list[Value]:  # fmt: skip
        """Sort arrays together along `dim`; `comparator(b, x0, y0, x1, y1, ...)` says x < y.

        Without a comparator: by the first `keys` arrays, ascending, floats in total order with
        NaN last and both zeros and all NaNs equal.
        """
        types = [v.type for v in vs]
        attributes = {"dimension": int64(dim), "is_stable": boolean(stable)}
        made = self.op("stablehlo.sort", vs, types, attributes, 1)
        scalars = [((), kind(t)[1]) for t in types for _ in range(2)]
        less = comparator or (lambda b, *args: b.lexicographic_less(args, keys))
        self.region(made.regions[0], scalars, less)
        return list(made.results)

    def lexicographic_less(self, args: Sequence[Value], keys: int) -> Value:
        """x0, y0, x1, y1, ... compared by the first `keys` pairs."""
        pairs: list[tuple[Value, Value]] = []
        for x, y in zip(args[0 : 2 * keys : 2], args[1 : 2 * keys : 2], strict=True):
            if self.dtype(x).kind == "c":
                pairs += [(self.real(x), self.real(y)), (self.imag(x), self.imag(y))]
            else:
                pairs.append((x, y))
        result = None
        for x, y in reversed(pairs):
            x, y = self._orderable(x), self._orderable(y)
            less = self._total_less("LT", x, y)
            if result is not None:
                equal = self._total_less("EQ", x, y)
                result = self.binary("or", less, self.binary("and", equal, result))
            else:
                result = less
        return result

    def _is_floating(self, dtype: np.dtype) -> bool:
        return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))

    def _orderable(self, v: Value) -> Value:
        """Floats with -0 and NaN made canonical, so that a total order treats them as equal."""
        dtype = self.dtype(v)
        if not self._is_floating(dtype):
            return v
        zero = self.full((), 0, dtype)
        v = self.select(self.compare("EQ", v, zero), zero, v)
        return self.select(self.compare("NE", v, v), self.full((), np.nan, dtype), v)

    def _total_less(self, direction: str, x: Value, y: Value) -> Value:
        if not self._is_floating(self.dtype(x)):
            return self.compare(direction, x, y)
        attributes = {
            "comparison_direction": parsed(f"#stablehlo<comparison_direction {direction}>"),
            "compare_type": parsed("#stablehlo<comparison_type TOTALORDER>"),
        }
        return self.op("stablehlo.compare", [x, y], [(self.shape(x), np.bool_)], attributes)

    # ---- products ----

    def dot_general(
        self, x: Value, y: Value, batch: tuple = ((), ()), contract: tuple = ((), ()),
        out_dtype: Any = None, precision: Any = None,
    ) -> Value:  # fmt: skip
        """Batch dimensions first, then the rest of x, then the rest of y."""
        (xs, xt), (ys, _) = kind(x.type), kind(y.type)
        (xb, yb), (xc, yc) = batch, contract
        shape = (
            *(xs[i] for i in xb),
            *(n for i, n in enumerate(xs) if i not in (*xb, *xc)),
            *(n for i, n in enumerate(ys) if i not in (*yb, *yc)),
        )
        attributes = {
            "dot_dimension_numbers": hlo.DotDimensionNumbers.get(
                list(xb), list(yb), list(xc), list(yc), CONTEXT
            ),
            "precision_config": precision_config(precision),
        }
        return self.op("stablehlo.dot_general", [x, y], [(shape, out_dtype or xt)], attributes)

    def conv(
        self, x: Value, w: Value, out_shape: Shape, dimension_numbers: tuple,
        strides: Sequence[int], padding: Sequence[tuple[int, int]],
        lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
        feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None,
        out_dtype: Any = None, window_reversal: Sequence[bool] | None = None,
    ) -> Value:  # fmt: skip
        """Convolution; `dimension_numbers` are three tuples (batch, feature, *spatial),
        (out feature, in feature, *spatial) and (batch, feature, *spatial) of positions."""
        n = len(strides)
        xd, wd, od = (tuple(d) for d in dimension_numbers)
        numbers = hlo.ConvDimensionNumbers.get(
            xd[0], xd[1], list(xd[2:]), wd[1], wd[0], list(wd[2:]), od[0], od[1], list(od[2:]),
            CONTEXT,
        )  # fmt: skip
        reversal = ", ".join("true" if r else "false" for r in window_reversal or [False] * n)
        attributes = {
            "dimension_numbers": numbers, "window_strides": ints(strides),
            "padding": dense(np.asarray(padding, np.int64).reshape(n, 2)),
            "lhs_dilation": ints(lhs_dilation or [1] * n),
            "rhs_dilation": ints(rhs_dilation or [1] * n),
            "window_reversal": parsed(f"array<i1: {reversal}>" if n else "array<i1>"),
            "feature_group_count": int64(feature_group_count),
            "batch_group_count": int64(batch_group_count),
            "precision_config": precision_config(precision),
        }  # fmt: skip
        out = (out_shape, out_dtype or self.dtype(x))
        return self.op("stablehlo.convolution", [x, w], [out], attributes)

    # ---- gather and scatter ----

    def gather(
        self, v: Value, indices: Value, out_shape: Shape, slice_sizes: Sequence[int],
        offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int],
        start_index_map: Sequence[int], index_vector_dim: int,
        operand_batching_dims: Sequence[int] = (), start_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
    ) -> Value:  # fmt: skip
        """StableHLO's gather; indices out of range are clamped."""
        numbers = hlo.GatherDimensionNumbers.get(
            list(offset_dims), list(collapsed_slice_dims), list(operand_batching_dims),
            list(start_indices_batching_dims), list(start_index_map), index_vector_dim, CONTEXT,
        )  # fmt: skip
        attributes = {
            "dimension_numbers": numbers, "slice_sizes": ints(slice_sizes),
            "indices_are_sorted": boolean(indices_are_sorted),
        }  # fmt: skip
        return self.op("stablehlo.gather", [v, indices], [(out_shape, self.dtype(v))], attributes)

    def scatter(
        self, v: Value, indices: Value, updates: Value, update: Callable | str | None,
        update_window_dims: Sequence[int], inserted_window_dims: Sequence[int],
        scattered_dims_to_operand_dims: Sequence[int], index_vector_dim: int,
        input_batching_dims: Sequence[int] = (), scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False, unique_indices: bool = False,
    ) -> Value:  # fmt: skip
        """StableHLO's scatter; `update` combines old and new (None: new); out of range drops."""
        numbers = hlo.ScatterDimensionNumbers.get(
            list(update_window_dims), list(inserted_window_dims), list(input_batching_dims),
            list(scatter_indices_batching_dims), list(scattered_dims_to_operand_dims),
            index_vector_dim, CONTEXT,
        )  # fmt: skip
        attributes = {
            "scatter_dimension_numbers": numbers,
            "indices_are_sorted": boolean(indices_are_sorted),
            "unique_indices": boolean(unique_indices),
        }
        made = self.op("stablehlo.scatter", [v, indices, updates], [v.type], attributes, 1)
        body = self._combine(update) if update is not None else (lambda b, old, new: new)
        self.region(made.regions[0], [((), self.dtype(v))] * 2, body)
        return made.results[0]

    # ---- linear algebra and signals ----

    def fft(self, v: Value, kind_: str, length: Sequence[int]) -> Value:
        """`kind_` is FFT, IFFT, RFFT or IRFFT, over the last len(length) dimensions."""
        shape, dtype = kind(v.type)
        if kind_ == "RFFT":
            shape = (*shape[:-1], length[-1] // 2 + 1)
            dtype = np.dtype(f"c{2 * dtype.itemsize}")
        elif kind_ == "IRFFT":
            shape, dtype = (*shape[:-1], length[-1]), np.dtype(f"f{dtype.itemsize // 2}")
        attributes = {
            "fft_type": parsed(f"#stablehlo<fft_type {kind_}>"), "fft_length": ints(length)
        }  # fmt: skip
        return self.op("stablehlo.fft", [v], [(shape, dtype)], attributes)

    def cholesky(self, v: Value, lower: bool = True) -> Value:
        return self.op("stablehlo.cholesky", [v], [v.type], {"lower": boolean(lower)})

    def triangular_solve(
        self, a: Value, b: Value, left_side: bool = True, lower: bool = True,
        unit_diagonal: bool = False, transpose: str = "NO_TRANSPOSE",
    ) -> Value:  # fmt: skip
        """`transpose` is NO_TRANSPOSE, TRANSPOSE or ADJOINT."""
        attributes = {
            "left_side": boolean(left_side), "lower": boolean(lower),
            "unit_diagonal": boolean(unit_diagonal),
            "transpose_a": parsed(f"#stablehlo<transpose {transpose}>"),
        }  # fmt: skip
        return self.op("stablehlo.triangular_solve", [a, b], [b.type], attributes)

    # ---- calls out of the program ----

    def custom_call(
        self, target: str, operands: Sequence[Value], out_types: Sequence[Any],
        attributes: dict[str, ir.Attribute] | None = None,
        operand_layouts: Sequence[Sequence[int]] | None = None,
        result_layouts: Sequence[Sequence[int]] | None = None,
        has_side_effect: bool = False, aliases: dict[int, int] | None = None,
    ) -> list[Value]:  # fmt: skip
        """A call of a registered function (typed FFI); layouts are minor-to-major."""
        custom_calls.ensure(target)
        made: dict[str, Any] = {
            "call_target_name": ir.StringAttr.get(target, CONTEXT),
            "api_version": int32(4),
            "has_side_effect": boolean(has_side_effect),
            "backend_config": ir.DictAttr.get(attributes or {}, CONTEXT),
        }
        if operand_layouts is not None:
            made["operand_layouts"] = layouts(operand_layouts)
        if result_layouts is not None:
            made["result_layouts"] = layouts(result_layouts)
        if aliases:
            many = len(out_types) > 1
            made["output_operand_aliases"] = ir.ArrayAttr.get(
                [
                    hlo.OutputOperandAlias.get([o] if many else [], i, [], CONTEXT)
                    for i, o in aliases.items()
                ],
                CONTEXT,
            )
        result = self.op("stablehlo.custom_call", operands, out_types, made)
        return [result] if len(out_types) == 1 else list(result.results)

    def callback(self, fn: Callable, operands: Sequence[Value], out_types: Sequence[Any]) -> list:
        """Call `fn(*ndarrays) -> tuple of ndarrays` on the host when the program gets here."""
        self.callbacks.append(fn)
        name = "gpu" if self.platform in ("gpu", "cuda", "rocm") else "cpu"
        index = ir.IntegerAttr.get(
            ir.IntegerType.get_unsigned(64, CONTEXT), len(self.callbacks) - 1
        )
        kinds = [kind(v.type) for v in operands], [kind(self.type(t)) for t in out_types]
        column = [[tuple(reversed(range(len(s)))) for s, _ in side] for side in kinds]
        return self.custom_call(
            f"xla_ffi_python_{name}_callback", operands, out_types, {"index": index},
            column[0], column[1], has_side_effect=True,
        )  # fmt: skip

    def ui8(self, value: int | str) -> ir.Attribute:
        """The `ui8` attribute LAPACK calls take; a letter stands for its code."""
        code = ord(value) if isinstance(value, str) else value
        return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(8, CONTEXT), code)

    # ---- the rest ----

    def reduce_precision(self, v: Value, exponent_bits: int, mantissa_bits: int) -> Value:
        attributes = {"exponent_bits": int32(exponent_bits), "mantissa_bits": int32(mantissa_bits)}
        return self.op("stablehlo.reduce_precision", [v], [v.type], attributes)

    def rng_bit_generator(self, state: Value, shape: Shape, dtype: Any, algorithm: str) -> Any:
        attributes = {"rng_algorithm": parsed(f"#stablehlo<rng_algorithm {algorithm}>")}
        made = self.op(
            "stablehlo.rng_bit_generator", [state], [state.type, (shape, dtype)], attributes
        )
        return list(made.results)

    def optimization_barrier(self, vs: Sequence[Value]) -> list[Value]:
        made = self.op("stablehlo.optimization_barrier", vs, [v.type for v in vs])
        return [made] if len(vs) == 1 else list(made.results)


def windowed_shape(
    shape: Shape, window: Sequence[int], strides: Sequence[int],
    padding: Sequence[tuple[int, int]], base: Sequence[int], dilation: Sequence[int],
) -> Shape:  # fmt: skip
    """The shape of a reduction over sliding windows."""
    result = []
    for n, w, s, (lo, hi), bd, wd in zip(
        shape, window, strides, padding, base, dilation, strict=True
    ):
        spread = (n - 1) * bd + 1 + lo + hi if n else lo + hi
        reach = (w - 1) * wd + 1 if w else 0
        result.append((spread - reach) // s + 1 if spread >= reach and spread else 0)
    return tuple(result)


def layouts(orders: Sequence[Sequence[int]]) -> ir.Attribute:
    """Minor-to-major layouts, one a value, as an attribute."""
    index = ir.IndexType.get(CONTEXT)
    return ir.ArrayAttr.get(
        [
            ir.DenseIntElementsAttr.get(np.asarray(order, np.int64), type=index, context=CONTEXT)
            for order in orders
        ],
        CONTEXT,
    )


_PRECISIONS = {
    None: "DEFAULT", "default": "DEFAULT", "fastest": "DEFAULT", "bfloat16": "DEFAULT",
    "high": "HIGH", "bfloat16_3x": "HIGH", "tensorfloat32": "HIGH",
    "highest": "HIGHEST", "float32": "HIGHEST",
}  # fmt: skip


def precision_config(precision: Any) -> ir.Attribute:
    """One precision for both operands, or a pair; names as in `default_matmul_precision`."""
    if not isinstance(precision, (list, tuple)):
        precision = (precision, precision)
    names = [_PRECISIONS[p.lower() if isinstance(p, str) else p] for p in precision]
    return parsed("[" + ", ".join(f"#stablehlo<precision {n}>" for n in names) + "]")


__all__ = ["Builder", "Value", "boolean", "element_type", "int32", "int64", "ints", "parsed"]
