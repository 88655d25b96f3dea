"""Reductions, whole and windowed, and sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from overt.backend.attributes import (
    boolean,
    int64,
    ints,
    parsed,
)
from overt.backend.control import Regions
from overt.backend.operations import Shape, Value
from overt.backend.types import dense, kind


class Reductions(Regions):
    """Operations that combine elements along dimensions."""

    __slots__ = ()

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
        result: Any = None
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
