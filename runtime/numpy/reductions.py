"""Reductions: many elements become one, along some axes or over the whole array.

`where` leaves elements out, `initial` takes part as one more element; an empty reduction gives the
neutral element, and ValueError where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axes
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import Primitive

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod",
    "ptp", "std", "sum", "var",
]  # fmt: skip

Axes = int | tuple[int, ...] | None


# ---- the primitives: axes counted from the front, not kept ----


def _reduced(x: Aval, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(x.shape) if i not in axes)


def _batch_along_axes(primitive: Any) -> Any:
    def batch(values: Any, batch_axes: Any, size: int, *, axes: tuple[int, ...]) -> Any:
        return primitive()(values[0], axes=tuple(axis + 1 for axis in axes)), 0

    return batch


def _neutral(operation: str, dtype: numpy.dtype) -> Any:
    """What does not change the result of an operation."""
    if operation in ("add", "or"):
        return 0
    if operation in ("multiply", "and"):
        return 1
    if dtype == bool:
        return operation == "minimum"
    if dtypes.is_integer(dtype):
        limits = dtypes.iinfo(dtype)
        return limits.min if operation == "maximum" else limits.max
    return -numpy.inf if operation == "maximum" else numpy.inf


def _lower_reduction(operation: str) -> Any:
    def lower(b: Any, x: Any, *, avals: Any, out: Any, axes: tuple[int, ...]) -> Any:
        dtype = out.dtype
        if dtypes.is_complex(dtype) and operation in ("maximum", "minimum"):
            chosen = np.maximum if operation == "maximum" else np.minimum
            scalar = Aval((), dtype)
            body = lambda b, x, y: chosen.lower(b, x, y, avals=(scalar,) * 2, out=scalar)  # noqa: E731
            return b.reduce(x, complex(_neutral(operation, dtype), 0), axes, body)
        if operation == "add" and dtype.itemsize == 2 and dtypes.is_float(dtype):
            x = b.convert(x, numpy.float32)  # sums of half-width floats lose too much
            return b.convert(b.reduce(x, 0, axes, operation), dtype)
        return b.reduce(x, _neutral(operation, dtype), axes, operation)

    return lower


def _reduction(name: str, operation: str, doc: str, **declared: Any) -> Primitive:
    def shape(x: Aval, *, axes: tuple[int, ...]) -> Aval:
        return Aval(_reduced(x, axes), x.dtype, x.weak)

    made: Primitive = Primitive(
        name,
        shape=shape,
        lower=_lower_reduction(operation),
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


def _axes_of(a: Any, axis: Axes) -> tuple[int, ...]:
    ndim = np.ndim(a)
    return tuple(range(ndim)) if axis is None else normal_axes(axis, ndim)


def _kept(reduced: Any, a: Any, axis: Axes, keepdims: bool = False) -> Any:
    """`reduced` with the axes it lost put back, of length one."""
    if keepdims or np.ndim(reduced) == np.ndim(a):
        return reduced
    axes = _axes_of(a, axis)
    return np.reshape(reduced, tuple(1 if i in axes else n for i, n in enumerate(np.shape(a))))


def unreduce(g: Any, a: Any, axis: Axes = None, keepdims: bool = False, where: Any = None) -> Any:
    """The transpose of a sum: `g` repeated over what was summed; zero where `where` left it out.

    >>> print(unreduce(np.array([1.0, 2.0]), np.zeros((2, 3)), axis=1))
    [[1. 1. 1.]
     [2. 2. 2.]]
    """
    spread = np.broadcast_to(_kept(g, a, axis, keepdims), np.shape(a))
    return spread if where is None else np.where(where, spread, 0)


def count(a: Any, axis: Axes = None, keepdims: bool = False, where: Any = None) -> Any:
    """How many elements a reduction takes together.

    >>> count(np.zeros((2, 3)), axis=1)
    3
    """
    if where is not None:
        return np.sum(np.broadcast_to(where, np.shape(a)), axis, keepdims=keepdims)
    shape = np.shape(a)
    return int(numpy.prod([shape[i] for i in _axes_of(a, axis)], dtype=int))


@array_function(arrays=("a", "out", "where"), zero_derivative=True)
def ties(
    a: Any, out: Any, axis: Axes = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """Slope of `max` and `min`: 1 at the extremum, shared evenly where several elements are equal.

    >>> print(ties(np.array([1.0, 3.0, 3.0]), 3.0))
    [0.  0.5 0.5]
    """
    out = _kept(out, a, axis, keepdims)
    hits = a == out if where is None else (a == out) & where
    hits = np.astype(hits, a.dtype)
    total = np.sum(hits, axis, keepdims=True)
    return hits / (total if initial is None else total + (out == initial))


@array_function(arrays=("a", "where"))
def product_of_others(a: Any, axis: Axes = None, initial: Any = None, where: Any = None) -> Any:
    """For each element, the product of all others that `prod` takes with it.

    Pairs are multiplied up a tree and handed down again, without a division: exact at zeros, in
    every order of differentiation.

    >>> print(product_of_others(np.array([2.0, 3.0, 0.0])))
    [0. 0. 6.]
    """
    axes = _axes_of(a, axis)
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


@array_function()
def deviation(a: Any, axis: Axes = None, where: Any = None) -> Any:
    """Distance from the mean, conjugated: the slope of `var`, but for a factor.

    >>> print(deviation(np.array([1.0, 3.0])))
    [-1.  1.]
    """
    return np.conj(a - np.mean(a, axis, keepdims=True, where=where))


# ---- the public functions ----


def _prepared(a: Any, where: Any, neutral: Any, dtype: Any = None) -> Any:
    a = np.asarray(a)
    if dtype is not None:
        a = np.astype(a, dtypes.canonicalize(dtype, explicit=True))
    return a if where is None else np.where(where, a, np.astype(neutral, a.dtype))


def _finished(result: Any, a: Any, axis: Axes, keepdims: bool) -> Any:
    return _kept(result, a, axis) if keepdims else result


def _sum_dtype(a: Any) -> Any:
    """Sums of booleans and narrow integers are taken in the default integer, as in NumPy."""
    dtype = a.dtype
    default = dtypes.int_type()
    if dtype == bool or (dtypes.is_integer(dtype) and dtype.itemsize < default.itemsize):
        return default if dtypes.category(dtype) != "u" else numpy.dtype(f"u{default.itemsize}")
    return None


@array_function(
    arrays=("a", "initial", "where"),
    vjp=(
        lambda g, out, a, initial, where, *, axis, dtype, keepdims: (
            unreduce(g, a, axis, keepdims, where)
        ),
        lambda g, out, a, initial, where, *, axis, dtype, keepdims: np.sum(g),
        None,
    ),
    jvp=lambda dots, out, a, initial, where, *, axis, dtype, keepdims: (
        np.sum(dots[0], axis, keepdims=keepdims, initial=dots[1], where=where)
    ),
)
def sum(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """Sum over the whole array, or along `axis` (a number or a tuple of them).

    >>> print(np.sum(np.array([[1, 2], [3, 4]]), axis=0))
    [4 6]
    """
    a = _prepared(a, where, 0, dtype)
    if dtype is None and (wider := _sum_dtype(a)) is not None:
        a = np.astype(a, wider)
    total = reduce_sum(a, axes=_axes_of(a, axis))
    total = total if initial is None else total + initial
    return _finished(total, a, axis, keepdims)


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, dtype, keepdims, initial: (
            unreduce(g, a, axis, keepdims, where) * product_of_others(a, axis, initial, where)
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, dtype, keepdims, initial: np.sum(
        dots[0] * product_of_others(a, axis, initial, where), axis, keepdims=keepdims, where=where
    ),
)
def prod(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """Product over the whole array, or along `axis`; its derivatives are exact at zeros too.

    >>> print(np.prod(np.array([[1, 2], [3, 4]]), axis=0))
    [3 8]
    """
    a = _prepared(a, where, 1, dtype)
    if dtype is None and (wider := _sum_dtype(a)) is not None:
        a = np.astype(a, wider)
    product = reduce_prod(a, axes=_axes_of(a, axis))
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
    result = _finished(reduction(a, axes=_axes_of(a, axis)), a, axis, keepdims)
    if initial is None:
        return result
    return np.maximum(result, initial) if reduction is reduce_max else np.minimum(result, initial)


def _others(a: Any, axis: Axes) -> tuple[int, ...]:
    axes = _axes_of(a, axis)
    return tuple(i for i in range(a.ndim) if i not in axes)


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, keepdims, initial: (
            unreduce(g, a, axis, keepdims, where) * ties(a, out, axis, keepdims, initial, where)
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, keepdims, initial: np.sum(
        dots[0] * ties(a, out, axis, keepdims, initial, where), axis, keepdims=keepdims
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
        lambda g, out, a, where, *, axis, keepdims, initial: (
            unreduce(g, a, axis, keepdims, where) * ties(a, out, axis, keepdims, initial, where)
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, keepdims, initial: np.sum(
        dots[0] * ties(a, out, axis, keepdims, initial, where), axis, keepdims=keepdims
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


@array_function(arrays=("a",), vjp=(
    lambda g, out, a, *, axis, keepdims: unreduce(g, a, axis, keepdims) * (
        ties(a, np.max(a, axis, keepdims=True), axis, True)
        - ties(a, np.min(a, axis, keepdims=True), axis, True)
    ),
))
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
    return _finished(reduce_and(a, axes=_axes_of(a, axis)), a, axis, keepdims)


@array_function(arrays=("a", "where"), zero_derivative=True)
def any(a: Any, axis: Axes = None, *, keepdims: bool = False, where: Any = None) -> Any:
    """Whether any element is true (not zero).

    >>> print(np.any(np.array([[1, 0], [0, 0]]), axis=1))
    [ True False]
    """
    a = _prepared(np.astype(a, bool), where, False)
    return _finished(reduce_or(a, axes=_axes_of(a, axis)), a, axis, keepdims)


@array_function(zero_derivative=True)
def count_nonzero(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero.

    >>> print(np.count_nonzero(np.array([[1, 0], [1, 1]])))
    3
    """
    return np.sum(np.astype(a, bool), axis, keepdims=keepdims)


# ---- moments ----


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, dtype, keepdims: unreduce(
            g / count(a, axis, keepdims, where), a, axis, keepdims, where
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, dtype, keepdims: (
        np.mean(dots[0], axis, keepdims=keepdims, where=where)
    ),
)
def mean(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
) -> Any:
    """Mean over the whole array, or along `axis`; integers give a float.

    >>> print(np.mean(np.array([[1, 2], [3, 4]]), axis=0))
    [2. 3.]
    """
    a = _floating(a, dtype)
    return np.sum(a, axis, keepdims=keepdims, where=where) / count(a, axis, keepdims, where)


def _floating(a: Any, dtype: Any = None) -> Any:
    a = np.asarray(a)
    if dtype is not None:
        return np.astype(a, dtypes.canonicalize(dtype, explicit=True))
    return np.astype(a, dtypes.to_inexact(a.dtype))


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, dtype, ddof, keepdims: (
            2 * deviation(a, axis, where)
            * unreduce(g / (count(a, axis, keepdims, where) - ddof), a, axis, keepdims, where)
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, dtype, ddof, keepdims: (
        2 * np.sum(np.real(deviation(a, axis, where) * dots[0]), axis, keepdims=keepdims, where=where)
        / (count(a, axis, keepdims, where) - ddof)
    ),
)
def var(
    a: Any, axis: Axes = None, dtype: Any = None, ddof: float = 0, *, keepdims: bool = False,
    where: Any = None,
) -> Any:  # fmt: skip
    """Variance: the mean squared distance from the mean, over `count - ddof`.

    >>> print(np.var(np.array([1.0, 3.0])))
    1.0
    """
    a = _floating(a, dtype)
    distance = a - np.mean(a, axis, keepdims=True, where=where)
    squares = np.square(np.abs(distance)) if np.iscomplexobj(a) else np.square(distance)
    total = np.sum(squares, axis, keepdims=keepdims, where=where)
    divisor = count(a, axis, keepdims, where) - ddof
    if where is None and divisor <= 0:
        return total * np.nan
    return total / divisor


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, dtype, ddof, keepdims: times(
            deviation(a, axis, where),
            unreduce(
                g / (out * (count(a, axis, keepdims, where) - ddof)), a, axis, keepdims, where
            ),
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, dtype, ddof, keepdims: over(
        np.sum(np.real(deviation(a, axis, where) * dots[0]), axis, keepdims=keepdims, where=where),
        out * (count(a, axis, keepdims, where) - ddof),
    ),
)
def std(
    a: Any, axis: Axes = None, dtype: Any = None, ddof: float = 0, *, keepdims: bool = False,
    where: Any = None,
) -> Any:  # fmt: skip
    """Standard deviation, the square root of `var`; its derivative is zero where all are equal.

    >>> print(np.std(np.array([1.0, 3.0])))
    1.0
    """
    return np.sqrt(np.var(a, axis, dtype, ddof, keepdims=keepdims, where=where))


# ---- where the extremum is ----


def _lower_position(largest: bool) -> Any:
    def lower(b: Any, x: Any, *, avals: Any, out: Any, axis: int) -> Any:
        """The first index at which the extremum, or a NaN, stands."""
        if b.dtype(x) == bool:
            x = b.convert(x, numpy.dtype("int32"))
        operation = "maximum" if largest else "minimum"
        shape, dtype = b.shape(x), b.dtype(x)
        reduction = _lower_reduction(operation)
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


def _find(position: Primitive, a: Any, axis: int | None, keepdims: bool) -> Any:
    a = np.asarray(a)
    flat = np.ravel(a) if axis is None else a
    (along,) = normal_axes(0 if axis is None else axis, flat.ndim)
    found = position(flat, axis=along)
    return _kept(found, a, axis) if keepdims else found


@array_function(zero_derivative=True)
def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Index of the first of the largest elements, or of the first NaN; without `axis`, in `ravel(a)`.

    Errors: ValueError where there are no elements.

    >>> print(np.argmax(np.array([[1, 9], [7, 3]]), axis=1))
    [1 0]
    """
    return _find(index_of_max, a, axis, keepdims)


@array_function(zero_derivative=True)
def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Index of the first of the smallest elements, or of the first NaN; without `axis`, in `ravel(a)`.

    Errors: ValueError where there are no elements.

    >>> print(np.argmin(np.array([[1, 9], [7, 3]]), axis=1))
    [0 1]
    """
    return _find(index_of_min, a, axis, keepdims)
