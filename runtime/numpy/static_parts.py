"""Reading and writing the part of an array that integers and slices name.

A specification holds, for every axis of the array, an integer or a triple (start, size, step), and
None for a new axis.
"""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.numpy.movement import broadcast_in, retyped
from overt.runtime.primitive import Primitive

__all__ = ["pick", "store"]

Spec = tuple[Any, ...]


def picked_shape(spec: Spec) -> tuple[int, ...]:
    """Shape of what `spec` selects."""
    kept = [part for part in spec if part is None or type(part) is tuple]
    return tuple(1 if part is None else part[1] for part in kept)


def axis_ranges(spec: Spec) -> tuple[list[int], list[int], list[int], tuple[int, ...]]:
    """Starts, sizes, positive steps of every axis of the operand, and the axes to be reversed."""
    starts: list[int] = []
    sizes: list[int] = []
    steps: list[int] = []
    backwards: list[int] = []
    for part in spec:
        if part is None:
            continue
        start, size, step = (part, 1, 1) if type(part) is int else part
        if size == 0:
            start, step = 0, 1
        if step < 0:
            backwards.append(len(starts))
            start, step = start + (size - 1) * step, -step
        starts.append(start)
        sizes.append(size)
        steps.append(step if size > 1 else 1)
    return starts, sizes, steps, tuple(backwards)


def _lower_pick(b: Any, x: Any, *, avals: Any, out: Aval, spec: Spec) -> Any:
    starts, sizes, steps, backwards = axis_ranges(spec)
    if sizes != list(avals[0].shape) or any(starts):
        limits = [
            start + (size - 1) * step + 1 if size else start
            for start, size, step in zip(starts, sizes, steps, strict=True)
        ]
        x = b.slice(x, starts, limits, steps)
    if backwards:
        x = b.reverse(x, backwards)
    return b.reshape(x, out.shape) if tuple(sizes) != out.shape else x


def _batch_pick(values: Any, axes: Any, size: int, *, spec: Spec) -> Any:
    return pick(values[0], spec=((0, size, 1), *spec)), 0


pick = Primitive(
    "pick",
    shape=lambda x, *, spec: retyped(x, picked_shape(spec)),
    lower=_lower_pick,
    linear=True,
    vjp=(lambda g, out, x, *, spec: store(np.zeros_like(x), g, spec=spec),),
    batch=_batch_pick,
    doc="The part of an array that integers, slices and new axes select.",
)


def _lower_store(b: Any, x: Any, v: Any, *, avals: Any, out: Aval, spec: Spec) -> Any:
    starts, sizes, steps, backwards = axis_ranges(spec)
    if 0 in sizes or 0 in out.shape:
        return x
    v = b.broadcast_to(b.convert(v, out.dtype), picked_shape(spec))
    v = b.reshape(v, sizes)
    if backwards:
        v = b.reverse(v, backwards)
    cut = [k for k, n in enumerate(out.shape) if sizes[k] != n]
    if not cut:
        return v
    if all(type(part) is int for part in spec):  # one element: in place, also inside loops
        return b.dynamic_update_slice(x, v, [b.constant(k, numpy.int32) for k in starts])
    # A slice is never stored by dynamic-update-slice: XLA:CPU then computes overlapping shifted
    # stores wrongly (openxla/xla#49176).
    if len(cut) == 1 and steps[cut[0]] == 1:
        return _spliced(b, x, v, cut[0], starts[cut[0]])
    high = [
        n - start - (size - 1) * step - 1
        for n, start, size, step in zip(out.shape, starts, sizes, steps, strict=True)
    ]
    interior = [step - 1 for step in steps]
    inside = b.pad(b.full(sizes, True, bool), b.constant(False, bool), starts, high, interior)
    spread = b.pad(v, b.constant(0, out.dtype), starts, high, interior)
    return b.select(inside, spread, x)


def _spliced(b: Any, x: Any, v: Any, axis: int, start: int) -> Any:
    """`x` with `v` in place of the part that begins at `start` along one axis."""
    shape = b.shape(x)
    ones, lows, limits = [1] * len(shape), [0] * len(shape), list(shape)
    end = start + b.shape(v)[axis]
    pieces = []
    if start:
        pieces.append(b.slice(x, lows, [*limits[:axis], start, *limits[axis + 1 :]], ones))
    pieces.append(v)
    if end < shape[axis]:
        pieces.append(b.slice(x, [*lows[:axis], end, *lows[axis + 1 :]], limits, ones))
    return b.concatenate(pieces, axis)


def _store_aval(x: Aval, v: Aval, *, spec: Spec) -> Aval:
    check_fits(v.shape, picked_shape(spec))
    return x


def check_fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Errors: ValueError where a value of `shape` does not broadcast to `wanted`."""
    offset = len(wanted) - len(shape)
    if offset < 0 or any(n not in (1, wanted[offset + k]) for k, n in enumerate(shape)):
        raise ValueError(f"cannot store a value of shape {shape} in a part of shape {wanted}")


def lanes_first(v: Any, rank: int) -> Any:
    """A batched value with axes of length 1 after the batch, so that it broadcasts by lane."""
    return np.reshape(v, (v.shape[0], *(1,) * (rank + 1 - v.ndim), *v.shape[1:]))


def _batch_store(values: Any, axes: Any, size: int, *, spec: Spec) -> Any:
    x, v = values
    if axes[0] is None:
        x = broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
    if axes[1] is not None:
        v = lanes_first(v, len(picked_shape(spec)))
    return store(x, v, spec=((0, size, 1), *spec)), 0


store = Primitive(
    "store",
    shape=_store_aval,
    lower=_lower_store,
    linear=True,
    vjp=(
        lambda g, out, x, v, *, spec: store(g, 0, spec=spec),
        lambda g, out, x, v, *, spec: sum_to(pick(g, spec=spec), v),
    ),
    batch=_batch_store,
    doc="An array with a new value in the part that integers, slices and new axes select.",
)


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
