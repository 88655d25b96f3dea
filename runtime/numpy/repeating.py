"""Repeating and padding."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from overt.runtime.numpy.movement import (
    broadcast_in,
    normal_axis,
    pad_with,
    reshape_to,
    shape_of,
    with_rule,
)
from overt.runtime.primitive import composite

__all__ = ["pad", "repeat", "tile"]


# tile, repeat -------------------------------------------------------------------------------------


def tile_layout(shape: tuple[int, ...], reps: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Repetitions and shape, brought to one rank."""
    counts = (
        tuple(operator.index(n) for n in reps)
        if isinstance(reps, (tuple, list))
        else (operator.index(reps),)
    )
    rank = max(len(counts), len(shape))
    return (1,) * (rank - len(counts)) + counts, (1,) * (rank - len(shape)) + shape


@composite(arrays=("A",), linear=True, vjp=(lambda g, out, A, *, reps: tile_back(g, A, reps),))
def tile(A: Any, reps: Any) -> Any:
    """The whole array again and again along each axis.

    >>> tile(np.array([1, 2]), 2)
    Array([1, 2, 1, 2], dtype=int32)
    """
    A = np.asarray(A)
    reps = tuple(reps.tolist()) if hasattr(reps, "tolist") and shape_of(reps) else reps
    counts, shape = tile_layout(A.shape, reps)
    apart = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    spread = broadcast_in(
        reshape_to(A, shape=shape), shape=apart, axes=tuple(range(1, len(apart), 2))
    )
    return reshape_to(spread, shape=tuple(m * n for m, n in zip(counts, shape, strict=True)))


def tile_back(g: Any, A: Any, reps: Any) -> Any:
    """Transpose of `np.tile(A, reps)`: the sum over all copies."""
    counts, shape = tile_layout(shape_of(A), reps)
    apart = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    summed = np.sum(np.reshape(g, apart), axis=tuple(range(0, len(apart), 2)))
    return np.reshape(summed, shape_of(A))


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, count, axis: repeat_back(g, a, count, axis),),
)
def repeat_evenly(a: Any, count: int, axis: int) -> Any:
    """Every slice along an axis `count` times."""
    shape = a.shape
    apart = (*shape[: axis + 1], count, *shape[axis + 1 :])
    kept = tuple(k for k in range(len(apart)) if k != axis + 1)
    whole = (*shape[:axis], shape[axis] * count, *shape[axis + 1 :])
    return reshape_to(broadcast_in(a, shape=apart, axes=kept), shape=whole)


def repeat_back(g: Any, a: Any, count: Any, axis: int = 0) -> Any:
    """Transpose of `repeat_evenly`: the sum over the copies of each slice."""
    shape = shape_of(a)
    return np.sum(np.reshape(g, (*shape[: axis + 1], count, *shape[axis + 1 :])), axis=axis + 1)


@with_rule(
    arrays=("a", "repeats"),
    vjp=(
        lambda g, out, a, repeats, *, axis=None, total_repeat_length=None: unrepeat(
            g, a, repeats, axis, total_repeat_length
        ),
        None,
    ),
    jvp=lambda dots, out, a, repeats, *, axis=None, total_repeat_length=None: np.repeat(
        dots[0], repeats, axis, total_repeat_length=total_repeat_length
    ),
)
def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Any:
    """Every element, or slice along an axis, several times in a row.

    `repeats` is one number or one for each slice; if those are known only at run time,
    `total_repeat_length` must say how long the result is.

    >>> repeat(np.array([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    a = np.asarray(a)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normal_axis(axis, a.ndim) if a.ndim else 0
    a = np.ravel(a) if a.ndim == 0 else a
    if isinstance(repeats, (int, numpy.integer)) and total_repeat_length is None:
        return repeat_evenly(a, int(repeats), axis)
    return np.take(a, repeated_places(repeats, a.shape[axis], total_repeat_length), axis)


def repeated_places(repeats: Any, n: int, total: int | None) -> Any:
    """Which slice each slice of the result is."""
    if total is None:
        known = mask_value(repeats, "repeat without total_repeat_length")
        return numpy.repeat(numpy.arange(n, dtype=numpy.int32), known)
    ends = np.cumsum(np.broadcast_to(np.asarray(repeats), (n,)))
    places = np.searchsorted(ends, np.arange(total), side="right")
    return np.minimum(places, n - 1)


def unrepeat(
    g: Any, a: Any, repeats: Any, axis: int | None = None, total_repeat_length: int | None = None
) -> Any:
    """Transpose of `np.repeat(a, repeats, axis)`: the sum over the copies of each slice."""
    shape = shape_of(a)
    if axis is None:
        flat = unrepeat(g, np.ravel(a), repeats, 0, total_repeat_length)
        return np.reshape(flat, shape)
    axis = normal_axis(axis, len(shape))
    if isinstance(repeats, (int, numpy.integer)) and total_repeat_length is None:
        return repeat_back(g, a, int(repeats), axis)
    places = repeated_places(repeats, shape[axis], total_repeat_length)
    return np.zeros(shape, g.dtype).at[(*(slice(None),) * axis, places)].add(g)


# pad ----------------------------------------------------------------------------------------------


def pad_pairs(width: Any, rank: int) -> tuple[tuple[int, int], ...]:
    """(before, after) for every axis, from any of NumPy's shorthands."""
    if isinstance(width, dict):
        found = {normal_axis(k, rank): pad_pairs(v, 1)[0] for k, v in width.items()}
        return tuple(found.get(k, (0, 0)) for k in range(rank))
    pairs = numpy.broadcast_to(numpy.asarray(width), (rank, 2))
    if pairs.size and (pairs.dtype.kind not in "iu" or pairs.min() < 0):
        raise ValueError(f"pad widths must be non-negative integers, not {width}")
    return tuple((int(lo), int(hi)) for lo, hi in pairs)


@with_rule(
    arrays=("array",),
    vjp=(
        lambda g, out, array, *, pad_width, mode, stat_length, reflect_type, **_: pad_back(
            g, array, pad_width, mode, stat_length, reflect_type
        ),
    ),
    jvp=lambda dots, out, array, *, pad_width, mode, stat_length, reflect_type, **_: pad_of_tangent(
        dots[0], array, pad_width, mode, stat_length, reflect_type
    ),
)
def pad(
    array: Any,
    pad_width: Any,
    mode: str | Callable = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Any:
    """More elements before and after those along each axis.

    Modes: constant, edge, reflect, symmetric, wrap, linear_ramp, maximum, minimum, mean, median,
    empty; or a function as in NumPy.

    >>> pad(np.array([1, 2]), (1, 2))
    Array([0, 1, 2, 0, 0], dtype=int32)
    """
    array = np.asarray(array)
    pairs = pad_pairs(pad_width, array.ndim)
    if callable(mode):
        raise NotImplementedError("pad with a function changes arrays in place; use another mode")
    if mode in ("constant", "empty"):
        values = constant_values if mode == "constant" else 0
        return pad_constant(array, values, pairs)
    if mode not in PADDERS:
        raise ValueError(
            f"pad: unknown mode {mode!r}; known: constant, empty, {', '.join(PADDERS)}"
        )
    for axis, pair in enumerate(pairs):
        if pair != (0, 0):
            how = {
                "end_values": end_values,
                "stat_length": stat_length,
                "reflect_type": reflect_type,
            }
            array = PADDERS[mode](array, axis, pair, mode, how)
    return array


def pad_constant(array: Any, values: Any, pairs: tuple[tuple[int, int], ...]) -> Any:
    """Constants around an array: one, or one for each side of each axis."""
    rank = array.ndim
    if not shape_of(values) and not isinstance(values, (tuple, list)):
        low, high = (tuple(side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
        return pad_with(
            array, np.asarray(values).astype(array.dtype), low=low, high=high, interior=(0,) * rank
        )
    sides = np.broadcast_to(np.asarray(values), (rank, 2))
    for axis, pair in enumerate(pairs):
        for side in (0, 1):
            width = tuple(pair[side] if k == axis else 0 for k in range(rank))
            none = (0,) * rank
            low, high = (width, none) if side == 0 else (none, width)
            value = sides[axis, side].astype(array.dtype)
            array = pad_with(array, value, low=low, high=high, interior=none)
    return array


def pad_by_index(x: Any, axis: int, pair: tuple[int, int], mode: str, how: dict[str, Any]) -> Any:
    """Modes that repeat elements of the array: NumPy pads the elements' numbers."""
    n = x.shape[axis]
    if mode in ("reflect", "symmetric") and how["reflect_type"] == "odd":
        # mirrored at the edge also in value: a linear map, which NumPy works out on unit vectors
        ways = numpy.pad(  # type: ignore[call-overload]
            numpy.eye(n), (pair, (0, 0)), mode, reflect_type="odd"
        )
        return apply_along(ways, x, axis)
    places = numpy.pad(numpy.arange(n), pair, mode)  # type: ignore[call-overload]
    return np.take(x, places, axis)


def apply_along(matrix: Any, x: Any, axis: int) -> Any:
    """A matrix times the vectors along an axis."""
    moved = np.tensordot(np.asarray(matrix.astype(x.dtype)), x, ((1,), (axis,)))
    return np.moveaxis(moved, 0, axis)


def pad_by_ramp(x: Any, axis: int, pair: tuple[int, int], mode: str, how: dict[str, Any]) -> Any:
    """From the edge in equal steps to an end value."""
    ends = np.broadcast_to(np.asarray(how["end_values"]), (x.ndim, 2))
    pieces = [x]
    for side, count in enumerate(pair):
        place = 0 if side == 0 else x.shape[axis] - 1
        edge = np.take(x, numpy.array([place]), axis)
        steps = (
            numpy.arange(count) / max(count, 1)
            if side == 0
            else numpy.arange(1, count + 1) / max(count, 1)
        )
        weights = np.reshape(np.asarray(steps), [count if k == axis else 1 for k in range(x.ndim)])
        end = ends[axis, side]
        share = weights if side == 0 else 1 - weights
        ramp = end + (edge - end) * share
        if not numpy.issubdtype(x.dtype, numpy.inexact):
            ramp = np.trunc(ramp)
        pieces.insert(0 if side == 0 else len(pieces), ramp.astype(x.dtype))
    return np.concatenate(pieces, axis)


def pad_by_statistic(
    x: Any, axis: int, pair: tuple[int, int], mode: str, how: dict[str, Any]
) -> Any:
    """The mean, median, maximum or minimum of the elements near each end."""
    n = x.shape[axis]
    lengths = how["stat_length"]
    pairs = [(n, n)] * x.ndim if lengths is None else pad_pairs(lengths, x.ndim)
    function = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}[mode]
    before = (slice(None),) * axis
    pieces = [x]
    for side, count in enumerate(pair):
        length = min(pairs[axis][side], n)
        near = x[(*before, slice(0, length) if side == 0 else slice(n - length, n))]
        value = function(near, axis=axis, keepdims=True)
        if not numpy.issubdtype(x.dtype, numpy.inexact):
            value = np.rint(value)
        shape = [count if k == axis else m for k, m in enumerate(x.shape)]
        pieces.insert(
            0 if side == 0 else len(pieces), np.broadcast_to(value.astype(x.dtype), shape)
        )
    return np.concatenate(pieces, axis)


PADDERS: dict[str, Callable] = {
    **dict.fromkeys(("edge", "reflect", "symmetric", "wrap"), pad_by_index),
    "linear_ramp": pad_by_ramp,
    **dict.fromkeys(("maximum", "minimum", "mean", "median"), pad_by_statistic),
}


def pad_back(
    g: Any, array: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None,
    reflect_type: str = "even",
) -> Any:  # fmt: skip
    """Cotangent of the padded array."""
    shape = shape_of(array)
    if mode in ("constant", "empty"):
        pairs = pad_pairs(pad_width, len(shape))
        return g[tuple(slice(lo, lo + n) for n, (lo, _) in zip(shape, pairs, strict=True))]
    from overt.runtime.record import vjp_call

    how = {"stat_length": stat_length, "reflect_type": reflect_type}
    _, pullback = vjp_call(lambda x: pad(x, pad_width, mode, **how), array)
    return pullback(g)[0]


def pad_of_tangent(
    dot: Any, array: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None,
    reflect_type: str = "even",
) -> Any:  # fmt: skip
    """Tangent of the result: the constants around it do not move."""
    if mode in ("constant", "empty"):
        return pad(dot, pad_width)
    from overt.runtime.dual import jvp_call

    how = {"stat_length": stat_length, "reflect_type": reflect_type}
    return jvp_call(lambda x: pad(x, pad_width, mode, **how), [array], [dot])[1]


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.numpy.index_plan import mask_value  # noqa: E402
