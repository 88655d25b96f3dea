"""What reductions and their derivatives are made of: primitives along axes, and slopes."""

from __future__ import annotations

import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.dispatch import GRAPH
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axes, with_rule
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import Primitive

__all__ = ["count", "max_bar", "min_bar", "product_of_others", "ties", "unreduce"]

Axes = int | tuple[int, ...] | None


# ---- the primitives: axes counted from the front, not kept ----


def _reduced(x: Aval, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(x.shape) if i not in axes)


def _batch_along_axes(primitive: Any) -> Any:
    def batch(values: Any, batch_axes: Any, size: int, *, axes: tuple[int, ...]) -> Any:
        return primitive()(values[0], axes=tuple(axis + 1 for axis in axes)), 0

    return batch


def neutral_element(operation: str, dtype: numpy.dtype) -> Any:
    """What does not change the result of an operation."""
    if operation in ("add", "or"):
        return 0
    if operation in ("multiply", "and"):
        return 1
    if dtypes.is_bool(dtype):
        return operation == "minimum"
    if dtypes.is_integer(dtype):
        limits = dtypes.iinfo(dtype)
        return limits.min if operation == "maximum" else limits.max
    return -numpy.inf if operation == "maximum" else numpy.inf


def lower_reduction(operation: str) -> Any:
    def lower(b: Any, x: Any, *, avals: Any, out: Any, axes: tuple[int, ...]) -> Any:
        dtype = out.dtype
        if dtypes.is_complex(dtype) and operation in ("maximum", "minimum"):
            chosen = np.maximum if operation == "maximum" else np.minimum
            scalar = Aval((), dtype)
            body = lambda b, x, y: chosen.lower(b, x, y, avals=(scalar,) * 2, out=scalar)  # noqa: E731
            return b.reduce(x, complex(neutral_element(operation, dtype), 0), axes, body)
        if operation == "add" and dtype.itemsize == 2 and dtypes.is_float(dtype):
            x = b.convert(x, numpy.float32)  # sums of half-width floats lose too much
            return b.convert(b.reduce(x, 0, axes, operation), dtype)
        return b.reduce(x, neutral_element(operation, dtype), axes, operation)

    return lower


def _reduction(name: str, operation: str, doc: str, **declared: Any) -> Primitive:
    def shape(x: Aval, *, axes: tuple[int, ...]) -> Aval:
        return Aval(_reduced(x, axes), x.dtype, x.weak)

    made: Primitive = Primitive(
        name,
        shape=shape,
        lower=lower_reduction(operation),
        batch=_batch_along_axes(lambda: made),
        arrays=("x",),
        doc=doc,
        **declared,
    )
    return made


reduce_sum = _reduction(
    "reduce_sum", "add", "Sum along axes.", linear=True,
    vjp=(lambda g, out, x, *, axes: unreduce(g, x, axes),),
)  # fmt: skip
reduce_prod = _reduction(
    "reduce_prod", "multiply", "Product along axes.",
    vjp=(lambda g, out, x, *, axes: unreduce(g, x, axes) * product_of_others(x, axes),),
    jvp=lambda dots, out, x, *, axes: reduce_sum(dots[0] * product_of_others(x, axes), axes=axes),
)  # fmt: skip
reduce_max = _reduction(
    "reduce_max", "maximum", "The largest element along axes.",
    vjp=(lambda g, out, x, *, axes: unreduce(g, x, axes) * ties(x, out, axes),),
    jvp=lambda dots, out, x, *, axes: reduce_sum(dots[0] * ties(x, out, axes), axes=axes),
)  # fmt: skip
reduce_min = _reduction(
    "reduce_min", "minimum", "The smallest element along axes.",
    vjp=(lambda g, out, x, *, axes: unreduce(g, x, axes) * ties(x, out, axes),),
    jvp=lambda dots, out, x, *, axes: reduce_sum(dots[0] * ties(x, out, axes), axes=axes),
)  # fmt: skip
reduce_and = _reduction("reduce_and", "and", "Whether all hold along axes.", vjp=(None,))
reduce_or = _reduction("reduce_or", "or", "Whether any holds along axes.", vjp=(None,))


# ---- what their derivatives are made of ----


def axes_of(a: Any, axis: Axes) -> tuple[int, ...]:
    ndim = np.ndim(a)
    return tuple(range(ndim)) if axis is None else normal_axes(axis, ndim)


def with_axes(reduced: Any, a: Any, axis: Axes, keepdims: bool = False) -> Any:
    """`reduced` with the axes it lost put back, of length one."""
    if keepdims or np.ndim(reduced) == np.ndim(a):
        return reduced
    axes = axes_of(a, axis)
    return np.reshape(reduced, tuple(1 if i in axes else n for i, n in enumerate(np.shape(a))))


@with_rule(
    arrays=("g", "a", "where"),
    vjp=(
        lambda h, out, g, a, where, *, axis, keepdims: np.sum(
            h, axis, keepdims=keepdims, where=where
        ),
        None,
        None,
    ),
    jvp=lambda dots, out, g, a, where, *, axis, keepdims: unreduce(
        dots[0], a, axis, keepdims, where
    ),
)
def unreduce(g: Any, a: Any, axis: Axes = None, keepdims: bool = False, where: Any = None) -> Any:
    """The transpose of a sum: `g` repeated over what was summed; zero where `where` left it out.

    >>> print(unreduce(np.array([1.0, 2.0]), np.zeros((2, 3)), axis=1))
    [[1. 1. 1.]
     [2. 2. 2.]]
    """
    spread = np.broadcast_to(with_axes(g, a, axis, keepdims), np.shape(a))
    return spread if where is None else np.where(where, spread, 0)


@with_rule(arrays=("a", "where"))
def count(a: Any, axis: Axes = None, keepdims: bool = False, where: Any = None) -> Any:
    """How many elements a reduction takes together.

    >>> count(np.zeros((2, 3)), axis=1)
    3
    """
    if where is not None:
        return np.sum(np.broadcast_to(where, np.shape(a)), axis, keepdims=keepdims)
    shape = np.shape(a)
    return math.prod(shape[i] for i in axes_of(a, axis))


def wide(a: Any) -> Any:
    """Floats in single precision at least: those of 8 and 16 bits cannot count to 100 000.

    >>> wide(np.ones(2, np.float16)).dtype, wide(np.arange(2)).dtype
    (dtype('float32'), dtype('int32'))
    """
    a = np.asarray(a)
    short = dtypes.is_inexact(a.dtype) and a.dtype.itemsize < 4
    return np.astype(a, np.float32) if short else a


def narrow(a: Any, dtype: Any) -> Any:
    """What was computed by way of `wide`, as it should come out.

    >>> narrow(wide(np.ones(2, np.float16)), np.float16).dtype
    dtype('float16')
    """
    return a if a.dtype == dtype else np.astype(a, dtype)


def divided(a: Any, n: Any) -> Any:
    """`a / n` for a count, by way of single precision.

    >>> print(divided(np.array(1.0, np.float16), 70000))
    1.43e-05
    """
    a = np.asarray(a)
    return narrow(wide(a) / n, a.dtype)


@array_function(arrays=("a", "out", "where"), zero_derivative=True)
def ties(
    a: Any, out: Any, axis: Axes = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """Slope of `max` and `min`: 1 at the extremum, shared evenly where several elements are equal.

    Where the extremum is NaN, so is every slope that counts.

    >>> print(ties(np.array([1.0, 3.0, 3.0]), 3.0))
    [0.  0.5 0.5]
    """
    out = with_axes(out, a, axis, keepdims)
    hits = a == out if where is None else (a == out) & where
    hits = np.astype(hits, a.dtype)
    total = np.sum(hits, axis, keepdims=True)
    if initial is not None:
        total = total + (out == initial)
    missed = (total == 0) & (out == out)
    known = out == out if where is None else (out == out) | np.logical_not(where)
    hits = np.where(known, hits / np.where(missed, 1, total), out)
    if GRAPH.get() is None or 0 in np.shape(a):
        return hits
    # A program may compute `a` twice, with other roundings than those `out` was chosen among.
    return np.where(missed, nearest(a, out, axis, where, np.any(missed)), hits)


def nearest(a: Any, out: Any, axis: Axes, where: Any, asked: Any) -> Any:
    """Which element along the axes is nearest to `out`: the first one of those, if `asked`."""
    from overt.runtime.branches import cond

    axes = axes_of(a, axis)
    ends = tuple(range(a.ndim - len(axes), a.ndim))

    def at_the_end(x: Any) -> Any:
        return np.moveaxis(np.broadcast_to(x, np.shape(a)), axes, ends)

    def place(a: Any) -> Any:
        gap = abs(at_the_end(a) - at_the_end(out))
        gap = gap if where is None else np.where(at_the_end(where), gap, numpy.inf)
        return np.argmin(np.reshape(gap, (*gap.shape[: ends[0]], count)), -1)

    shape = at_the_end(a).shape
    count = math.prod(shape[ends[0] :])
    found = cond(asked, place, lambda a: np.zeros(shape[: ends[0]], int), (a,))
    places = np.reshape(np.arange(count), shape[ends[0] :])
    chosen = places == np.reshape(found, (*shape[: ends[0]], *(1 for _ in ends)))
    return np.moveaxis(chosen, ends, axes)


@with_rule(
    arrays=("g", "a", "out", "where"),
    vjp=(
        lambda h, _, g, a, out, where, *, axis, keepdims, initial: np.sum(
            times(h, ties(a, out, axis, keepdims, initial, where)), axis, keepdims=keepdims
        ),
        None,
        None,
        None,
    ),
    jvp=lambda dots, _, g, a, out, where, *, axis, keepdims, initial: max_bar(
        dots[0], a, out, axis, keepdims, initial, where
    ),
)
def max_bar(
    g: Any, a: Any, out: Any, axis: Axes = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """Cotangent of `a` in `np.max(a, axis)`, and as `min_bar` in `np.min`: `g` at the extremum.

    >>> print(max_bar(2.0, np.array([1.0, 3.0, 3.0]), 3.0))
    [0. 1. 1.]
    """
    spread = unreduce(g, a, axis, keepdims, where)
    return times(spread, ties(a, out, axis, keepdims, initial, where))


min_bar = max_bar


@array_function(arrays=("a", "where"))
def product_of_others(a: Any, axis: Axes = None, initial: Any = None, where: Any = None) -> Any:
    """For each element, the product of all others that `prod` takes with it.

    Pairs are multiplied up a tree and handed down again, without a division: exact at zeros, in
    every order of differentiation.

    >>> print(product_of_others(np.array([2.0, 3.0, 0.0])))
    [0. 0. 6.]
    """
    axes = axes_of(a, axis)
    if where is not None:
        a = np.where(where, a, 1)
    kept = tuple(i for i in range(a.ndim) if i not in axes)
    order = kept + axes
    rows = np.transpose(a, order).reshape(*(a.shape[i] for i in kept), -1)
    others = _others_in_last_axis(rows) if rows.shape[-1] else rows
    others = np.transpose(
        others.reshape([a.shape[i] for i in order]), [order.index(i) for i in range(a.ndim)]
    )
    return others if initial is None else others * initial


def _others_in_last_axis(a: Any) -> Any:
    n = a.shape[-1]
    lead = a.shape[:-1]
    levels, level = [], a
    while level.shape[-1] > 1:
        if level.shape[-1] % 2:
            level = np.concatenate([level, np.ones((*lead, 1), a.dtype)], axis=-1)
        levels.append(level)
        level = level[..., 0::2] * level[..., 1::2]
    others = np.ones((*lead, 1), a.dtype)
    for level in reversed(levels):
        others = others[..., : level.shape[-1] // 2]
        pairs = [others * level[..., 1::2], others * level[..., 0::2]]
        others = np.stack(pairs, axis=-1).reshape(level.shape)
    return others[..., :n]


# ---- where the extremum is ----


def _lower_position(largest: bool) -> Any:
    def lower(b: Any, x: Any, *, avals: Any, out: Any, axis: int) -> Any:
        """The first index at which the extremum, or a NaN, stands."""
        if dtypes.is_bool(b.dtype(x)):
            x = b.convert(x, numpy.dtype("int32"))
        operation = "maximum" if largest else "minimum"
        shape, dtype = b.shape(x), b.dtype(x)
        reduction = lower_reduction(operation)
        small = Aval(out.shape, dtype)
        extremum = reduction(b, x, avals=avals, out=small, axes=(axis,))
        kept = tuple(i for i in range(len(shape)) if i != axis)
        hits = b.compare("EQ", x, b.broadcast_in_dim(extremum, shape, kept))
        if dtypes.is_inexact(dtype):
            hits = b.binary("or", hits, b.compare("NE", x, x))
        places = b.iota(shape, axis, out.dtype)
        places = b.select(hits, places, b.full_like(places, shape[axis]))
        return b.reduce(places, shape[axis], (axis,), "minimum")

    return lower


def _position_aval(x: Aval, *, axis: int) -> Aval:
    if x.shape[axis] == 0:
        raise ValueError("the position of the extremum of no elements is not defined")
    return Aval(_reduced(x, (axis,)), dtypes.int_type())


def _position(name: str, largest: bool) -> Primitive:
    made: Primitive = Primitive(
        name,
        shape=_position_aval,
        lower=_lower_position(largest),
        batch=lambda values, axes, size, *, axis: (made(values[0], axis=axis + 1), 0),
        vjp=(None,),
        arrays=("x",),
        doc="The first index along an axis at which the extremum, or a NaN, stands.",
    )
    return made


index_of_max, index_of_min = _position("index_of_max", True), _position("index_of_min", False)
