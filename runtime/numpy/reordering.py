"""Axes and elements in another order."""

from __future__ import annotations

import math
from typing import Any

import numpy

from overt.runtime.numpy.movement import (
    join,
    known_integers,
    normal_axes,
    normal_axis,
    permute,
    reverse,
    shape_of,
    with_rule,
)
from overt.runtime.primitive import composite

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "resize",
    "roll",
    "rollaxis",
    "rot90",
    "swapaxes",
    "transpose",
]


@with_rule(arrays=("a",))
def ndim(a: Any) -> int:
    """Number of axes."""
    return len(shape_of(a))


def permute_backwards(a: Any) -> Any:
    """All axes in the opposite order."""
    return permute(a, axes=tuple(range(len(a.shape)))[::-1]) if len(a.shape) > 1 else a


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, axes: transpose_back(g, axes),),
)
def transpose(a: Any, axes: Any = None) -> Any:
    """Axes in another order, by default the opposite one.

    >>> transpose(np.ones((2, 3))).shape
    (3, 2)
    """
    a = np.asarray(a)
    if axes is None:
        return permute_backwards(a)
    order = normal_axes(axes, a.ndim)
    if len(order) != a.ndim:
        raise ValueError(f"axes {axes} don't match an array with {a.ndim} axes")
    return permute(a, axes=order)


def transpose_back(g: Any, axes: Any = None) -> Any:
    """Undoes `np.transpose(x, axes)`."""
    return np.transpose(
        g,
        None
        if axes is None
        else tuple(int(k) for k in numpy.argsort(normal_axes(axes, len(axes)))),
    )


@composite(arrays=("a",), linear=True, vjp=(lambda g, out, a, *, axes: transpose_back(g, axes),))
def permute_dims(a: Any, axes: Any) -> Any:
    """Axes in the given order (the array API's name of `transpose`).

    >>> permute_dims(np.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return np.transpose(a, axes)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, axis1, axis2: np.swapaxes(g, axis1, axis2),),
)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    >>> swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = np.asarray(a)
    order = list(range(a.ndim))
    first, second = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    order[first], order[second] = second, first
    return permute(a, axes=tuple(order))


@composite(arrays=("x",), linear=True, vjp=(lambda g, out, x: np.matrix_transpose(g),))
def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged.

    >>> matrix_transpose(np.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    if ndim(x) < 2:
        raise ValueError(f"matrix_transpose needs at least two axes, not shape {shape_of(x)}")
    return np.swapaxes(x, -1, -2)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, source, destination: np.moveaxis(g, destination, source),),
)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other positions, the rest kept in order.

    >>> moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = np.asarray(a)
    old, new = normal_axes(source, a.ndim), normal_axes(destination, a.ndim)
    if len(old) != len(new):
        raise ValueError("source and destination must have the same number of axes")
    order = [k for k in range(a.ndim) if k not in old]
    for position, axis in sorted(zip(new, old, strict=True)):
        order.insert(position, axis)
    return permute(a, axes=tuple(order))


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, axis, start: rollaxis_back(g, axis, start),),
)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis moved back until it lies before position `start`.

    >>> rollaxis(np.ones((3, 4, 5, 6)), 3, 1).shape
    (3, 6, 4, 5)
    """
    axis, position = rollaxis_move(axis, start, ndim(a))
    return np.moveaxis(a, axis, position)


def rollaxis_move(axis: int, start: int, n: int) -> tuple[int, int]:
    """The pair (source, destination) that `rollaxis` means."""
    axis = normal_axis(axis, n)
    if not -n <= start <= n:
        raise numpy.exceptions.AxisError(start, n)
    start = start + n if start < 0 else start
    return axis, start - 1 if axis < start else start


def rollaxis_back(g: Any, axis: int, start: int = 0) -> Any:
    """Undoes `np.rollaxis(x, axis, start)`."""
    axis, position = rollaxis_move(axis, start, ndim(g))
    return np.moveaxis(g, position, axis)


# order of elements ------------------------------------------------------------------------------


@composite(arrays=("m",), linear=True, vjp=(lambda g, out, m, *, axis: np.flip(g, axis),))
def flip(m: Any, axis: Any = None) -> Any:
    """Elements in the opposite order along an axis, several, or all.

    >>> flip(np.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    m = np.asarray(m)
    axes = tuple(range(m.ndim)) if axis is None else normal_axes(axis, m.ndim)
    return reverse(m, axes=axes) if axes else m


@composite(arrays=("m",), linear=True, vjp=(lambda g, out, m: np.fliplr(g),))
def fliplr(m: Any) -> Any:
    """Columns in the opposite order.

    >>> fliplr(np.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return np.flip(m, 1)


@composite(arrays=("m",), linear=True, vjp=(lambda g, out, m: np.flipud(g),))
def flipud(m: Any) -> Any:
    """Rows in the opposite order.

    >>> flipud(np.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return np.flip(m, 0)


@composite(
    arrays=("m",),
    linear=True,
    vjp=(lambda g, out, m, *, k, axes: np.rot90(g, -k, axes),),
)
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """The plane of two axes turned by k quarter turns, from the first axis to the second.

    >>> rot90(np.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    first, second = normal_axes(axes, ndim(m))
    if k % 4 == 0:
        return np.asarray(m)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    if k % 4 == 2:
        return np.flip(m, (first, second))
    return np.flip(np.swapaxes(m, first, second), second)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, shift, axis: shifted(g, negated(shift), axis),),
)
def shifted(a: Any, shift: Any, axis: Any) -> Any:
    """`roll` by integers known beforehand: slices, joined the other way round."""
    axes, shifts = roll_axes(a, shift, axis)
    for k, by in zip(axes, shifts, strict=True):
        n = a.shape[k]
        cut = -by % n if n else 0
        if cut:
            before = (slice(None),) * k
            a = join(a[(*before, slice(cut, None))], a[(*before, slice(0, cut))], axis=k)
    return a


def negated(shift: Any) -> Any:
    """The opposite shift, or shifts."""
    return tuple(-by for by in shift) if isinstance(shift, tuple) else -shift


def roll_axes(a: Any, shift: Any, axis: Any) -> tuple[tuple[int, ...], Any]:
    """Axes to roll along, and the shift of each; an axis may occur twice."""
    several = isinstance(axis, (tuple, list))
    axes = tuple(normal_axis(k, ndim(a)) for k in (axis if several else (axis,)))
    shifts = shift if isinstance(shift, (tuple, list)) or ndim(shift) else (shift,) * len(axes)
    if len(axes) == 1 and len(shifts) > 1:
        axes = axes * len(shifts)
    if len(shifts) == 1 and len(axes) > 1:
        shifts = (shifts[0],) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    return axes, shifts


@with_rule(
    arrays=("a", "shift"),
    vjp=(lambda g, out, a, shift, *, axis: np.roll(g, -np.asarray(shift), axis), None),
    jvp=lambda dots, out, a, shift, *, axis: np.roll(dots[0], shift, axis),
)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along an axis, those pushed off one end coming in at the other.

    >>> roll(np.arange(5), 2)
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    a = np.asarray(a)
    if axis is None:
        return np.reshape(np.roll(np.ravel(a), shift, 0), a.shape)
    if (known := known_integers(shift)) is not None:
        return shifted(a, known, tuple(axis) if isinstance(axis, list) else axis)
    axes, shifts = roll_axes(a, shift, axis)
    for k, by in zip(axes, shifts, strict=True):
        n = a.shape[k]
        a = np.take(a, (np.arange(n) - by) % n, axis=k) if n else a
    return a


def resize(a: Any, new_shape: Any) -> Any:
    """The elements in row-major order, repeated or cut off to fill a new shape.

    >>> resize(np.array([1, 2, 3]), (2, 2))
    Array([[1, 2],
           [3, 1]], dtype=int32)
    """
    new = tuple(new_shape) if isinstance(new_shape, (tuple, list)) else (new_shape,)
    flat = np.ravel(a)
    count = math.prod(new)
    if count == 0 or flat.size == 0:
        return np.zeros(new, flat.dtype)
    copies = -(-count // flat.size)
    return np.reshape(np.concatenate([flat] * copies)[:count], new)


from overt.runtime import numpy as np  # noqa: E402
