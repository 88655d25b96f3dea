"""Reductions: many elements become one, along some axes or over the whole array.

`where` leaves elements out, `initial` takes part as one more element; an empty reduction gives the
neutral element, and ValueError where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axes
from overt.runtime.numpy.reducing import (
    Axes,
    axes_of,
    count,
    index_of_max,
    index_of_min,
    max_bar,
    min_bar,
    product_of_others,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    ties,
    unreduce,
    with_axes,
)
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import Primitive

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "min", "prod", "ptp",
    "sum",
]  # fmt: skip


def _prepared(a: Any, where: Any, neutral: Any, dtype: Any = None) -> Any:
    a = np.asarray(a)
    if dtype is not None:
        a = np.astype(a, dtypes.canonicalize(dtype, explicit=True))
    return a if where is None else np.where(where, a, np.astype(neutral, a.dtype))


def _finished(result: Any, a: Any, axis: Axes, keepdims: bool) -> Any:
    return with_axes(result, a, axis) if keepdims else result


def sum_dtype(a: Any) -> Any:
    """Sums of booleans and narrow integers are taken in the default integer, as in NumPy."""
    dtype = a.dtype
    default = dtypes.int_type()
    if dtypes.is_bool(dtype) or (dtypes.is_integer(dtype) and dtype.itemsize < default.itemsize):
        return default if dtypes.category(dtype) != "u" else numpy.dtype(f"u{default.itemsize}")
    return None


@array_function(
    arrays=("a", "initial", "where"),
    vjp=(
        lambda g, out, a, initial, where, *, axis, dtype, keepdims, promote_integers: unreduce(
            g, a, axis, keepdims, where
        ),
        lambda g, out, a, initial, where, *, axis, dtype, keepdims, promote_integers: np.sum(g),
        None,
    ),
    jvp=lambda dots, out, a, initial, where, *, axis, dtype, keepdims, promote_integers: np.sum(
        dots[0], axis, keepdims=keepdims, initial=dots[1], where=where
    ),
)
def sum(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """Sum over the whole array, or along `axis` (a number or a tuple of them).

    Narrow integers are summed in the default one, unless `promote_integers` is false.

    >>> print(np.sum(np.array([[1, 2], [3, 4]]), axis=0))
    [4 6]
    """
    a = _prepared(a, where, 0, dtype)
    if dtype is None and promote_integers and (wider := sum_dtype(a)) is not None:
        a = np.astype(a, wider)
    total = reduce_sum(a, axes=axes_of(a, axis))
    total = total if initial is None else total + initial
    return _finished(total, a, axis, keepdims)


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, dtype, keepdims, initial, promote_integers: times(
            unreduce(g, a, axis, keepdims, where), product_of_others(a, axis, initial, where)
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, dtype, keepdims, initial, promote_integers: np.sum(
        dots[0] * product_of_others(a, axis, initial, where), axis, keepdims=keepdims, where=where
    ),
)
def prod(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """Product over the whole array, or along `axis`; its derivatives are exact at zeros too.

    Narrow integers are multiplied in the default one, unless `promote_integers` is false.

    >>> print(np.prod(np.array([[1, 2], [3, 4]]), axis=0))
    [3 8]
    """
    a = _prepared(a, where, 1, dtype)
    if dtype is None and promote_integers and (wider := sum_dtype(a)) is not None:
        a = np.astype(a, wider)
    product = reduce_prod(a, axes=axes_of(a, axis))
    product = product if initial is None else product * initial
    return _finished(product, a, axis, keepdims)


def _extremum(
    reduction: Primitive, name: str, a: Any, axis: Axes, keepdims: bool, initial: Any, where: Any
) -> Any:
    a = np.asarray(a)
    if initial is None and count(a, axis) == 0 and count(a, _others(a, axis)) > 0:
        raise ValueError(f"{name} of no elements is not defined; give an initial value")
    if where is not None:
        if initial is None:
            raise ValueError(f"{name} with a `where` mask needs an initial value")
        a = np.where(where, a, np.astype(initial, a.dtype))
    result = _finished(reduction(a, axes=axes_of(a, axis)), a, axis, keepdims)
    if initial is None:
        return result
    initial = np.astype(initial, bool) if dtypes.is_bool(a.dtype) else initial
    return np.maximum(result, initial) if reduction is reduce_max else np.minimum(result, initial)


def _others(a: Any, axis: Axes) -> tuple[int, ...]:
    axes = axes_of(a, axis)
    return tuple(i for i in range(a.ndim) if i not in axes)


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, keepdims, initial: max_bar(
            g, a, out, axis, keepdims, initial, where
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, keepdims, initial: np.sum(
        times(dots[0], ties(a, out, axis, keepdims, initial, where)), axis, keepdims=keepdims
    ),
)
def max(
    a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The largest element; NaN if there is one. Equal ones share the derivative evenly.

    Errors: ValueError for an empty array without `initial`.

    >>> print(np.max(np.array([[1, 2], [3, 0]]), axis=1))
    [2 3]
    """
    return _extremum(reduce_max, "max", a, axis, keepdims, initial, where)


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, keepdims, initial: min_bar(
            g, a, out, axis, keepdims, initial, where
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, keepdims, initial: np.sum(
        times(dots[0], ties(a, out, axis, keepdims, initial, where)), axis, keepdims=keepdims
    ),
)
def min(
    a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The smallest element; NaN if there is one. Equal ones share the derivative evenly.

    Errors: ValueError for an empty array without `initial`.

    >>> print(np.min(np.array([[1, 2], [3, 0]]), axis=1))
    [1 0]
    """
    return _extremum(reduce_min, "min", a, axis, keepdims, initial, where)


amax, amin = max, min


@array_function(
    arrays=("a",),
    vjp=(
        lambda g, out, a, *, axis, keepdims: (
            unreduce(g, a, axis, keepdims)
            * (
                ties(a, np.max(a, axis, keepdims=True), axis, True)
                - ties(a, np.min(a, axis, keepdims=True), axis, True)
            )
        ),
    ),
)
def ptp(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    """The largest element minus the smallest.

    >>> print(np.ptp(np.array([1, 5, 3])))
    4
    """
    return np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)


# ---- truth ----


@array_function(arrays=("a", "where"), zero_derivative=True)
def all(a: Any, axis: Axes = None, *, keepdims: bool = False, where: Any = None) -> Any:
    """Whether all elements are true (not zero).

    >>> print(np.all(np.array([[1, 0], [1, 1]]), axis=1))
    [False  True]
    """
    a = _prepared(np.astype(a, bool), where, True)
    return _finished(reduce_and(a, axes=axes_of(a, axis)), a, axis, keepdims)


@array_function(arrays=("a", "where"), zero_derivative=True)
def any(a: Any, axis: Axes = None, *, keepdims: bool = False, where: Any = None) -> Any:
    """Whether any element is true (not zero).

    >>> print(np.any(np.array([[1, 0], [0, 0]]), axis=1))
    [ True False]
    """
    a = _prepared(np.astype(a, bool), where, False)
    return _finished(reduce_or(a, axes=axes_of(a, axis)), a, axis, keepdims)


@array_function(zero_derivative=True)
def count_nonzero(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero.

    >>> print(np.count_nonzero(np.array([[1, 0], [1, 1]])))
    3
    """
    return np.sum(np.astype(a, bool), axis, keepdims=keepdims)


# ---- where the extremum is ----


def _find(position: Primitive, a: Any, axis: int | None, keepdims: bool) -> Any:
    a = np.asarray(a)
    flat = np.ravel(a) if axis is None else a
    (along,) = normal_axes(0 if axis is None else axis, flat.ndim)
    found = position(flat, axis=along)
    return with_axes(found, a, axis) if keepdims else found


@array_function(zero_derivative=True)
def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Index of the first of the largest elements, or the first NaN; in `ravel(a)` without `axis`.

    Errors: ValueError where there are no elements.

    >>> print(np.argmax(np.array([[1, 9], [7, 3]]), axis=1))
    [1 0]
    """
    return _find(index_of_max, a, axis, keepdims)


@array_function(zero_derivative=True)
def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Index of the first of the smallest elements, or the first NaN; in `ravel(a)` without `axis`.

    Errors: ValueError where there are no elements.

    >>> print(np.argmin(np.array([[1, 9], [7, 3]]), axis=1))
    [0 1]
    """
    return _find(index_of_min, a, axis, keepdims)
