"""Shape and axis manipulation in NumPy's vocabulary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from overt.runtime.aval import is_known_size, length
from overt.runtime.kinds import is_key
from overt.runtime.numpy.movement import (
    broadcast_in,
    normal_axes,
    reshape_to,
    shape_of,
    with_rule,
)
from overt.runtime.numpy.reordering import (  # noqa: F401
    flip,
    fliplr,
    flipud,
    matrix_transpose,
    moveaxis,
    negated,
    permute_backwards,
    permute_dims,
    resize,
    roll,
    rollaxis,
    rollaxis_back,
    rot90,
    shifted,
    swapaxes,
    transpose,
    transpose_back,
)
from overt.runtime.primitive import broadcast_shapes as common_shape
from overt.runtime.primitive import composite

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "reshape",
    "resize",
    "roll",
    "rollaxis",
    "rot90",
    "shape",
    "size",
    "squeeze",
    "swapaxes",
    "transpose",
]


@with_rule(arrays=("a",))
def shape(a: Any) -> tuple[int, ...]:
    """Shape of an array as a tuple of Python integers.

    >>> shape([[1, 2, 3], [4, 5, 6]])
    (2, 3)
    """
    return shape_of(a)


def ndim(a: Any) -> int:
    """Number of axes of an array.

    >>> ndim([[1, 2, 3]])
    2
    """
    return len(shape_of(a))


@with_rule(arrays=("a",))
def size(a: Any, axis: Any = None) -> int:
    """Number of elements, in all or along an axis (or several).

    >>> size([[1, 2, 3], [4, 5, 6]], 1)
    3
    """
    lengths = shape_of(a)
    if axis is None:
        return math.prod(lengths)
    return math.prod(lengths[k] for k in normal_axes(axis, len(lengths)))


# reshape ------------------------------------------------------------------------------------------


def resolved_shape(wanted: Any, count: int, old: tuple[int, ...]) -> tuple[int, ...]:
    """The wanted shape as a tuple of integers, with one -1 worked out."""
    if isinstance(wanted, (tuple, list)) or (hasattr(wanted, "shape") and len(wanted.shape) == 1):
        lengths = [length(n) for n in wanted]
    else:
        lengths = [length(wanted)]
    if lengths.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in lengths:
        known = math.prod(n for n in lengths if n != -1)
        if known == 0 or count % known:
            raise ValueError(f"cannot reshape array of shape {old} into shape {tuple(lengths)}")
        lengths[lengths.index(-1)] = count // known
    if math.prod(lengths) != count or any(n < 0 for n in lengths):
        raise ValueError(f"cannot reshape array of shape {old} into shape {tuple(lengths)}")
    return tuple(lengths)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, shape, order, copy: np.reshape(g, np.shape(a), order),),
)
def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The same elements under another shape; one length may be -1, meaning "whatever remains".

    Errors: ValueError where the number of elements differs.

    >>> reshape(np.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    a = np.asarray(a)
    if order == "A":
        order = "C"
    new = resolved_shape(shape, a.size, a.shape)
    if order == "C":
        return reshape_to(a, shape=new)
    if order != "F":
        raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
    backwards = reshape_to(permute_backwards(a), shape=new[::-1])
    return permute_backwards(backwards)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, order: np.reshape(g, np.shape(a), order),),
)
def ravel(a: Any, order: str = "C") -> Any:
    """All elements in one axis.

    >>> ravel(np.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    a = np.asarray(a)
    return np.reshape(a, (a.size,), order)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, axis: np.reshape(g, np.shape(a)),),
)
def expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
    """A new axis of length 1 (or several) at the given position in the result.

    >>> expand_dims(np.arange(3), 0).shape
    (1, 3)
    """
    a = np.asarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = normal_axes(axes, a.ndim + len(axes))
    lengths = iter(a.shape)
    return reshape_to(
        a, shape=tuple(1 if k in places else next(lengths) for k in range(a.ndim + len(axes)))
    )


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, axis: np.reshape(g, np.shape(a)),),
)
def squeeze(a: Any, axis: int | Sequence[int] | None = None) -> Any:
    """Without the axes of length 1, all of them or those named.

    Errors: ValueError where a named axis is longer than 1.

    >>> squeeze(np.ones((1, 3, 1))).shape
    (3,)
    """
    a = np.asarray(a)
    if axis is None:
        dropped = [k for k, n in enumerate(a.shape) if n == 1]
    else:
        dropped = list(normal_axes(axis, a.ndim))
        for k in dropped:
            if a.shape[k] != 1:
                raise ValueError(
                    f"cannot squeeze axis {k} of length {a.shape[k]}: only axes of length 1 can go"
                )
    return reshape_to(a, shape=tuple(n for k, n in enumerate(a.shape) if k not in dropped))


# broadcasting -------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Shape that arrays of the given shapes broadcast to.

    Errors: ValueError where they do not fit.

    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    if all(is_known_size(s) for s in shapes if isinstance(s, tuple)):
        return numpy.broadcast_shapes(*shapes)
    return common_shape(*shapes)


@with_rule(
    arrays=("array",),
    linear=True,
    vjp=(lambda g, out, array, *, shape: sum_to(g, array),),
    jvp=lambda dots, out, array, *, shape: np.broadcast_to(dots[0], shape),
)
def broadcast_to(array: Any, shape: Any) -> Any:
    """The array repeated along new or length-1 axes to reach `shape`.

    >>> broadcast_to(np.array([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    target = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if any(isinstance(n, Length) for n in target):
        return spread_over(array, target)
    array = np.asarray(array)
    if is_key(array):
        return array.moved(lambda words: np.broadcast_to(words, target))
    target = tuple(map(length, target))
    if array.shape == target:
        return array
    if len(array.shape) > len(target) or broadcast_shapes(array.shape, target) != target:
        raise ValueError(f"cannot broadcast shape {array.shape} to {target}")
    offset = len(target) - array.ndim
    return broadcast_in(array, shape=target, axes=tuple(range(offset, len(target))))


def broadcast_arrays(*args: Any) -> list[Any]:
    """All arguments broadcast to their common shape.

    >>> [a.shape for a in broadcast_arrays(np.ones((3, 1)), np.ones(4))]
    [(3, 4), (3, 4)]
    """
    target = broadcast_shapes(*(shape(a) for a in args))
    return [np.broadcast_to(a, target) for a in args]


def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one axis.

    >>> atleast_1d(3.0).shape
    (1,)
    """
    results = [np.reshape(a, shape(a) or (1,)) for a in arys]
    return results[0] if len(results) == 1 else results


def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two axes; new ones come first.

    >>> atleast_2d(np.arange(3)).shape
    (1, 3)
    """
    results = [np.reshape(a, (1,) * (2 - ndim(a)) + shape(a)) for a in arys]
    return results[0] if len(results) == 1 else results


def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three axes: a vector becomes (1, n, 1), a matrix (m, n, 1).

    >>> atleast_3d(np.arange(3)).shape
    (1, 3, 1)
    """
    ways = {0: (1, 1, 1), 1: (1, -1, 1)}
    results = []
    for a in arys:
        lengths = shape(a)
        wanted = (*lengths, 1) if len(lengths) == 2 else ways.get(len(lengths), lengths)
        results.append(np.reshape(a, wanted))
    return results[0] if len(results) == 1 else results


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
from overt.runtime.numpy.selected import Length, spread_over  # noqa: E402
