"""Running sums, products and extrema along an axis."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axis
from overt.runtime.numpy.reducing import neutral_element
from overt.runtime.numpy.reductions import sum_dtype
from overt.runtime.numpy.selecting import along_axis_back
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import Primitive

__all__ = [
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "nancumprod",
    "nancumsum",
]  # fmt: skip

BLOCK = 64


def _lower_scan(operation: str) -> Any:
    """Prefixes of blocks, then prefixes of the blocks' totals: a window over all would be n**2."""

    def prefixes(b: Any, x: Any, axis: int, reverse: bool) -> Any:
        shape, dtype = b.shape(x), b.dtype(x)
        n, neutral = shape[axis], neutral_element(operation, dtype)
        if n <= BLOCK:
            window = [n if i == axis else 1 for i in range(len(shape))]
            low, high = (0, n - 1) if reverse else (n - 1, 0)
            padding = [(low, high) if i == axis else (0, 0) for i in range(len(shape))]
            return b.reduce_window(x, neutral, window, operation, None, padding)
        blocks = -(-n // BLOCK)
        extra = [blocks * BLOCK - n if i == axis else 0 for i in range(len(shape))]
        none = [0] * len(shape)
        x = b.pad(x, neutral, none, extra)
        folded = (*shape[:axis], blocks, BLOCK, *shape[axis + 1 :])
        inner = prefixes(b, b.reshape(x, folded), axis + 1, reverse)
        totals = b.reduce(b.reshape(x, folded), neutral, (axis + 1,), operation)
        before = prefixes(b, totals, axis, reverse)
        # each block continues from the totals of the blocks before it (after it, in reverse)
        cut = [1 if i == axis else 0 for i in range(len(shape))]
        back = [-n for n in cut]
        before = b.pad(before, neutral, *((back, cut) if reverse else (cut, back)))
        kept = [i for i in range(len(folded)) if i != axis + 1]
        joined = b.binary(operation, b.broadcast_in_dim(before, folded, kept), inner)
        joined = b.reshape(joined, (*shape[:axis], blocks * BLOCK, *shape[axis + 1 :]))
        return b.slice(joined, none, shape)

    def lower(b: Any, x: Any, *, avals: Any, out: Any, axis: int, reverse: bool) -> Any:
        return prefixes(b, x, axis, reverse) if b.shape(x)[axis] else x

    return lower


def _scan(name: str, operation: str, doc: str, **declared: Any) -> Primitive:
    def shape(x: Aval, *, axis: int, reverse: bool) -> Aval:
        if operation in ("maximum", "minimum") and dtypes.is_complex(x.dtype):
            raise TypeError(f"{name} is not defined for complex numbers")
        return Aval(x.shape, x.dtype, x.weak)

    made: Primitive = Primitive(
        name,
        shape=shape,
        lower=_lower_scan(operation),
        batch=lambda values, axes, size, *, axis, reverse: (
            made(values[0], axis=axis + 1, reverse=reverse), 0
        ),
        arrays=("x",),
        doc=doc,
        **declared,
    )  # fmt: skip
    return made


running_sum = _scan(
    "running_sum", "add", "Sums of all elements up to each one; from the end if `reverse`.",
    linear=True,
    vjp=(lambda g, out, x, *, axis, reverse: running_sum(g, axis=axis, reverse=not reverse),),
)  # fmt: skip
running_product = _scan(
    "running_product", "multiply", "Products of all elements up to each one.",
    vjp=(lambda g, out, x, *, axis, reverse: pulled_through_products(g, x, axis, reverse),),
    jvp=lambda dots, out, x, *, axis, reverse: pushed_through_products(dots[0], x, axis, reverse),
)  # fmt: skip
running_max = _scan(
    "running_max", "maximum", "The largest of the elements up to each one.",
    vjp=(lambda g, out, x, *, axis, reverse: pulled_to_records(g, x, out, axis, reverse),),
    jvp=lambda dots, out, x, *, axis, reverse: carried_from_records(dots[0], x, out, axis, reverse),
)  # fmt: skip
running_min = _scan(
    "running_min", "minimum", "The smallest of the elements up to each one.",
    vjp=(lambda g, out, x, *, axis, reverse: pulled_to_records(g, x, out, axis, reverse),),
    jvp=lambda dots, out, x, *, axis, reverse: carried_from_records(dots[0], x, out, axis, reverse),
)  # fmt: skip


# ---- derivatives ----
#
# y[i] = x[0] ... x[i] has the tangent y_dot[i] = x[i] y_dot[i-1] + y[i-1] x_dot[i]: a linear
# recurrence, and so has its transpose. Recurrences are composed in log(n) steps by products and
# sums alone, never a quotient, so zeros in x are exact in every order.


def _shifted(x: Any, by: int, axis: int, value: Any) -> Any:
    """Elements moved towards the end (or the front, for a negative `by`), `value` moved in."""
    n = x.shape[axis]
    shape = [min(abs(by), n) if i == axis else k for i, k in enumerate(x.shape)]
    moved_in = np.full(tuple(shape), value, x.dtype)
    kept = [slice(None)] * x.ndim
    kept[axis] = slice(0, max(n - by, 0)) if by > 0 else slice(min(-by, n), n)
    parts = [moved_in, x[tuple(kept)]] if by > 0 else [x[tuple(kept)], moved_in]
    return np.concatenate(parts, axis=axis)


def recurrence(factors: Any, terms: Any, axis: int, reverse: bool) -> Any:
    """y with y[i] = factors[i] * y[i-1] + terms[i], from the end if `reverse`.

    >>> print(recurrence(np.array([0.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]), 0, False))
    [ 1.  3. 10.]
    """
    step = 1
    while step < factors.shape[axis]:
        by = -step if reverse else step
        terms = terms + times(_shifted(terms, by, axis, 0), factors)
        factors = factors * _shifted(factors, by, axis, 1)
        step *= 2
    return terms


@array_function(arrays=("x_dot", "x"))
def pushed_through_products(x_dot: Any, x: Any, axis: int | None, reverse: bool = False) -> Any:
    """Tangent of running products."""
    if axis is None:
        x_dot, x, axis = np.ravel(x_dot), np.ravel(x), 0
    axis = normal_axis(axis, x.ndim)
    before = _shifted(running_product(x, axis=axis, reverse=reverse), -1 if reverse else 1, axis, 1)
    return recurrence(x, times(x_dot, before), axis, reverse)


@array_function(arrays=("g", "x"))
def pulled_through_products(g: Any, x: Any, axis: int | None, reverse: bool = False) -> Any:
    """Cotangent of running products: the transposed recurrence runs the other way."""
    if axis is None:
        return np.reshape(pulled_through_products(g, np.ravel(x), 0, reverse), x.shape)
    axis = normal_axis(axis, x.ndim)
    before = _shifted(running_product(x, axis=axis, reverse=reverse), -1 if reverse else 1, axis, 1)
    factors = _shifted(x, 1 if reverse else -1, axis, 0)
    return times(recurrence(factors, g, axis, not reverse), before)


@array_function(arrays=("x", "out"), zero_derivative=True)
def _record_positions(x: Any, out: Any, axis: int, reverse: bool) -> Any:
    """For each place, where the running extremum was last reached."""
    n = x.shape[axis]
    places = np.arange(n).reshape([n if i == axis else 1 for i in range(x.ndim)])
    # A new record shows in `out` alone: a program may compute `x` twice, rounded otherwise.
    reached = (x == out) | (out != _shifted(out, -1 if reverse else 1, axis, 0))
    hits = np.where(reached, places, n if reverse else -1)
    scan = running_min if reverse else running_max
    return np.clip(scan(hits, axis=axis, reverse=reverse), 0, n - 1)


@array_function(arrays=("x_dot", "x", "out"))
def carried_from_records(x_dot: Any, x: Any, out: Any, axis: int, reverse: bool) -> Any:
    """Tangent of running extrema: that of the element which holds the record."""
    return np.take_along_axis(x_dot, _record_positions(x, out, axis, reverse), axis)


@array_function(arrays=("g", "x", "out"))
def pulled_to_records(g: Any, x: Any, out: Any, axis: int, reverse: bool) -> Any:
    """Cotangent of running extrema: summed onto the elements that hold the records."""
    return along_axis_back(g, x, _record_positions(x, out, axis, reverse), axis)


# ---- the public functions ----


def _along(scan: Primitive, a: Any, axis: int | None, dtype: Any = None) -> Any:
    a = np.asarray(a)
    if dtype is not None:
        a = np.astype(a, dtype)
    elif scan in (running_sum, running_product) and (wider := sum_dtype(a)) is not None:
        a = np.astype(a, wider)
    if axis is None:
        a, axis = np.ravel(a), 0
    return scan(a, axis=normal_axis(axis, a.ndim), reverse=False)


@array_function(
    linear=True,
    vjp=(
        lambda g, out, a, *, axis, dtype: np.reshape(
            np.flip(np.cumsum(np.flip(g, axis), axis), axis), np.shape(a)
        ),
    ),
)
def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Sum of all elements up to each one, along `axis` or over the flattened array.

    >>> print(np.cumsum(np.array([1, 2, 3])))
    [1 3 6]
    """
    return _along(running_sum, a, axis, dtype)


@array_function(
    vjp=(lambda g, out, a, *, axis, dtype: pulled_through_products(g, a, axis),),
    jvp=lambda dots, out, a, *, axis, dtype: pushed_through_products(dots[0], a, axis),
)
def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Product of all elements up to each one; its derivatives are exact at zeros too.

    >>> print(np.cumprod(np.array([1, 2, 3])))
    [1 2 6]
    """
    return _along(running_product, a, axis, dtype)


@array_function()
def cummax(a: Any, axis: int | None = None) -> Any:
    """The largest of the elements up to each one.

    >>> print(cummax(np.array([1, 3, 2])))
    [1 3 3]
    """
    return _along(running_max, a, axis)


@array_function()
def cummin(a: Any, axis: int | None = None) -> Any:
    """The smallest of the elements up to each one.

    >>> print(cummin(np.array([3, 1, 2])))
    [3 1 1]
    """
    return _along(running_min, a, axis)


def _with_start(result: Any, x: Any, axis: int, value: Any, include_initial: bool) -> Any:
    if not include_initial:
        return result
    shape = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
    return np.concatenate([np.full(shape, value, result.dtype), result], axis=axis)


def _sole_axis(x: Any, axis: int | None, name: str) -> int:
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: give an axis for an array of {x.ndim} dimensions")
    return normal_axis(0 if axis is None else axis, x.ndim)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Sum of all elements up to each one; starts with zero if `include_initial`.

    >>> print(np.cumulative_sum(np.array([1, 2, 3]), include_initial=True))
    [0 1 3 6]
    """
    x = np.asarray(x)
    axis = _sole_axis(x, axis, "cumulative_sum")
    return _with_start(np.cumsum(x, axis, dtype), x, axis, 0, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Product of all elements up to each one; starts with one if `include_initial`.

    >>> print(np.cumulative_prod(np.array([2, 3]), include_initial=True))
    [1 2 6]
    """
    x = np.asarray(x)
    axis = _sole_axis(x, axis, "cumulative_prod")
    return _with_start(np.cumprod(x, axis, dtype), x, axis, 1, include_initial)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """`cumsum` with NaN taken as zero.

    >>> print(np.nancumsum(np.array([1.0, np.nan, 2.0])))
    [1. 1. 3.]
    """
    return np.cumsum(np.where(np.isnan(a), 0, a), axis, dtype)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """`cumprod` with NaN taken as one.

    >>> print(np.nancumprod(np.array([2.0, np.nan, 2.0])))
    [2. 2. 4.]
    """
    return np.cumprod(np.where(np.isnan(a), 1, a), axis, dtype)
