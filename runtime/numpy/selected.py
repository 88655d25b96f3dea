"""`x[mask]` where the mask is known only at run time: how many elements there are is not known.

Such a selection keeps the whole array and the mask.  It can be computed with element by element,
reduced, and stored where it came from, which is what `x[mask] = f(x[mask])` and `np.sum(x[mask])`
need; anything that would need its length is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy

from overt.runtime.array import Array, DeviceArray
from overt.runtime.errors import NonConcreteBooleanIndexError
from overt.runtime.numpy.lengths import Length
from overt.runtime.primitive import Composite, Primitive, static_key

__all__ = ["Selected"]

WAY_OUT = (
    "write np.where(mask, x, other) instead, or give nonzero, argwhere, where and unique a size=..."
)

SLICED = (
    "take lax.dynamic_slice_in_dim(x, start, size) for a size that is known, or write "
    "np.where(np.arange(len(x)) < stop, x, other) instead"
)

# Composites that work on each element by itself, given arrays of one shape.
ELEMENTWISE = frozenset(
    (
        "abs", "angle", "astype", "clip", "copy", "fabs", "float_power", "full_like", "isclose",
        "nan_to_num", "ones_like", "positive", "round", "sinc", "square", "ties", "where",
        "zeros_like",
    )
)  # fmt: skip
REDUCTIONS = frozenset(("sum", "prod", "mean", "var", "std", "any", "all", "max", "min"))


class Selected(Array):
    """The elements of `whole` for which `mask`, of the same rank, holds.

    `start` is the axis at which the mask's own axes begin, `covered` how many they are; `sliced`,
    whether a slice says so whose ends are known only at run time.
    """

    __slots__ = ("whole", "mask", "start", "covered", "sliced")
    level = 1 << 40  # above all transformations: it only hands on to them

    def __init__(self, whole: Any, mask: Any, start: int, covered: int, sliced: bool = False):
        self.whole, self.mask, self.start, self.covered = whole, mask, start, covered
        self.sliced = sliced

    @property
    def shape(self) -> Any:
        lengths = self.whole.shape
        end = self.start + self.covered
        return (*lengths[: self.start], Length(self), *lengths[end:])

    @property
    def dtype(self) -> Any:
        return self.whole.dtype

    @property
    def ndim(self) -> int:
        return len(self.whole.shape) - self.covered + 1

    @property
    def size(self) -> Any:
        from overt.runtime import numpy as np

        return np.sum(np.broadcast_to(self.mask, self.whole.shape))

    @property
    def aval(self) -> Any:  # type: ignore[override]
        """That of the whole array: its dtype and weakness hold here, its shape does not."""
        return self.whole.aval

    def __len__(self) -> int:
        return operator.index(Length(self))

    def __iter__(self) -> NoReturn:
        self.refuse("iterating in Python (`list`, `tuple`, `*x`, a comprehension)")

    def compacted(self) -> tuple[Any, Any]:
        """The rows with the selected ones first, and how many these are."""
        from overt.runtime.numpy.selected_functions import compact

        return compact(self)

    def refuse(self, what: str) -> NoReturn:
        index, way_out = ("a slice", SLICED) if self.sliced else ("a boolean index", WAY_OUT)
        raise NonConcreteBooleanIndexError(
            f"{what} needs to know how many elements {index} selects, which is known only "
            f"at run time; {way_out}"
        )

    def concrete(self, purpose: str) -> NoReturn:
        self.refuse(purpose)

    def alike(self, whole: Any) -> Selected:
        """Other numbers for the same elements."""
        return Selected(whole, self.mask, self.start, self.covered, self.sliced)

    def handle(self, primitive: Primitive, operands: Sequence[Any], params: dict) -> Any:
        """Apply an elementwise primitive to all elements; only the selected ones will count."""
        if not primitive.elementwise:
            self.refuse(f"np.{primitive.name}")
        return self.alike(primitive(*(self.inner(x) for x in operands), **params))

    def handle_composite(self, function: Composite, operands: Sequence[Any], static: dict) -> Any:
        name = function.__name__
        bound = dict(zip(function.arrays, operands, strict=True))
        if name in REDUCTIONS and bound.get("where", self) is None:
            return self.reduced(function, bound, dict(static))
        if name == "ties":
            axis = self.reduced_axes(static["axis"], name)
            static = {**static, "axis": axis}
            bound["where"] = self.mask
            out = function(**{**bound, "a": self.whole}, **static)
            return self.alike(out)
        if name not in ELEMENTWISE:
            from overt.runtime.numpy.selected_functions import FUNCTIONS

            known = {key: x for key, x in bound.items() if x is not None}
            if name in FUNCTIONS and len(known) <= 2 and static.get("axis") in (None, -1, 0):
                return FUNCTIONS[name](*known.values(), **static)
            self.refuse(f"np.{name}")
        inner = {key: self.inner(x) for key, x in bound.items()}
        return self.alike(function(**inner, **static))

    def inner(self, x: Any) -> Any:
        """An operand as one for the whole array."""
        if isinstance(x, Selected):
            if not same_selection(self, x):
                self.refuse("combining elements that two indices select")
            return x.whole
        if len(getattr(x, "shape", ())) > self.ndim - 1 - self.start:
            self.refuse("combining x[mask] with an array of more axes")
        return x

    def reduced(self, function: Composite, bound: dict[str, Any], static: dict[str, Any]) -> Any:
        """A reduction over the selected elements."""
        from overt.runtime import numpy as np

        static["axis"] = self.reduced_axes(static["axis"], function.__name__)
        if static.get("keepdims") and self.covered > 1:
            self.refuse(f"np.{function.__name__} with keepdims")
        mask = np.broadcast_to(self.mask, self.whole.shape)
        if function.__name__ in ("max", "min"):
            extreme = lowest(self.dtype) if function.__name__ == "max" else highest(self.dtype)
            return function(**{**bound, "a": np.where(mask, self.whole, extreme)}, **static)
        return function(**{**bound, "a": self.whole, "where": mask}, **static)

    def reduced_axes(self, axis: Any, name: str) -> Any:
        """Axes of the whole array that a reduction over `axis` of the selection takes together."""
        if axis is None:
            return None
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = {k % self.ndim for k in axes}
        if self.start not in places:
            self.refuse(f"np.{name} along an axis of x[mask] that the mask does not cover")
        wide: list[int] = []
        for k in sorted(places):
            if k == self.start:
                wide += range(self.start, self.start + self.covered)
            else:
                wide.append(k if k < self.start else k + self.covered - 1)
        return tuple(wide)

    def stored_from(self, plan: Any) -> Any:
        """The whole array to choose from when this is stored where a mask says."""
        if not same_value(plan.mask, self.mask):
            self.refuse("storing elements that another index selects")
        return self.whole

    def __repr__(self) -> str:
        return f"Selected({self.whole!r}, {self.mask!r})"


def spread_over(x: Any, shape: Sequence[Any]) -> Selected:
    """`x` broadcast to the shape of a selection."""
    from overt.runtime import numpy as np

    owner = next(n.owner for n in shape if isinstance(n, Length))
    return owner.alike(np.broadcast_to(owner.inner(x), owner.whole.shape))


def lowest(dtype: Any) -> Any:
    """What no element is smaller than."""
    from overt.runtime import dtypes

    return -float("inf") if dtypes.is_inexact(dtype) else dtype.type(dtypes.iinfo(dtype).min)


def highest(dtype: Any) -> Any:
    """What no element is larger than."""
    from overt.runtime import dtypes

    return float("inf") if dtypes.is_inexact(dtype) else dtype.type(dtypes.iinfo(dtype).max)


def same_selection(a: Selected, b: Selected) -> bool:
    """Whether two selections surely take the same elements of arrays of one shape."""
    return (
        a.whole.shape == b.whole.shape
        and (a.start, a.covered) == (b.start, b.covered)
        and same_value(a.mask, b.mask)
    )


def same_value(a: Any, b: Any, depth: int = 40) -> bool:
    """Whether two values are surely equal: one object, or computed alike from the same objects."""
    if a is b:
        return True
    if depth == 0 or type(a) is not type(b):
        return False
    if isinstance(a, (bool, int, float, complex)):
        return static_key(a) == static_key(b)
    if isinstance(a, DeviceArray):
        return a.aval is b.aval and numpy.array_equal(numpy.asarray(a), numpy.asarray(b))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(
            same_value(x, y, depth - 1) for x, y in zip(a, b, strict=True)
        )
    for inner in ("value", "primal"):  # lanes; values under differentiation
        if hasattr(a, inner) and getattr(a, "level", None) and a.level == b.level:
            return same_value(getattr(a, inner), getattr(b, inner), depth - 1)
    first, second = getattr(a, "node", None), getattr(b, "node", None)
    if first is None or second is None or a.index != b.index:
        return False
    if first is second:
        return True
    return (
        first.primitive is second.primitive
        and first.primitive is not None
        and not (first.effect or second.effect or first.regions or second.regions)
        and static_key(first.params) == static_key(second.params)
        and len(first.inputs) == len(second.inputs)
        and all(
            same_value(x, y, depth - 1) for x, y in zip(first.inputs, second.inputs, strict=True)
        )
    )
