"""Shape functions of `lax`: explicit about every axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.lax.strict import check_same_dtypes
from overt.runtime.numpy.movement import broadcast_in, pad_with
from overt.runtime.primitive import broadcast_shapes as joint_shape


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """The operand repeated along new leading axes of the given sizes.

    >>> broadcast(np.arange(3), (2,)).shape
    (2, 3)
    """
    return np.broadcast_to(operand, (*sizes, *np.shape(operand)))


def broadcast_in_dim(operand: Any, shape: Sequence[int], broadcast_dimensions: Any) -> Any:
    """The operand repeated to `shape`; its axis k becomes axis `broadcast_dimensions[k]`.

    >>> broadcast_in_dim(np.arange(3), (3, 2), (0,)).shape
    (3, 2)
    """
    shape, axes = tuple(shape), tuple(broadcast_dimensions)
    old = np.shape(operand)
    if len(axes) != len(old) or any(
        n not in (1, shape[axis]) for n, axis in zip(old, axes, strict=True)
    ):
        raise TypeError(f"cannot broadcast shape {old} to {shape} along the axes {axes}")
    return broadcast_in(np.asarray(operand), shape=shape, axes=axes)


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """The array repeated to the shape of another one.

    >>> broadcast_like(np.arange(3), np.zeros((2, 3))).shape
    (2, 3)
    """
    return np.broadcast_to(arr, np.shape(like_arr))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of the given shapes broadcast to.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return joint_shape(*map(tuple, shapes))


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """`x` with leading axes of length 1 until it has `rank` axes.

    >>> print(broadcast_to_rank(np.ones(3), 3).shape)
    (1, 1, 3)
    """
    return np.reshape(x, (1,) * (rank - np.ndim(x)) + np.shape(x))


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Any = None) -> Any:
    """The same elements under another shape; `dimensions` is the order their axes are read in.

    >>> reshape(np.arange(6), (2, 3)).shape
    (2, 3)
    """
    if dimensions is not None:
        operand = np.transpose(operand, tuple(dimensions))
    return np.reshape(operand, _sizes(new_sizes))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """The axes in another order.

    >>> print(transpose(np.ones((2, 3, 4)), (2, 0, 1)).shape)
    (4, 2, 3)
    """
    return np.transpose(operand, tuple(permutation))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """The elements in the opposite order along some axes.

    >>> print(rev(np.arange(4).reshape(2, 2), (1,)))
    [[1 0]
     [3 2]]
    """
    return np.flip(operand, tuple(dimensions))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """New axes of length 1 at the given positions of the result.

    >>> print(expand_dims(np.ones(3), (0, 2)).shape)
    (1, 3, 1)
    """
    return np.expand_dims(array, tuple(dimensions))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """The array without the given axes, which have length 1.

    >>> print(squeeze(np.ones((1, 3, 1)), (0,)).shape)
    (3, 1)
    """
    return np.squeeze(array, tuple(dimensions))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """The axes from start to stop joined into one.

    >>> collapse(np.ones((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    shape = np.shape(operand)
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if start >= stop:
        raise ValueError(f"collapse needs at least one axis, got {start}:{stop} of {len(shape)}")
    return np.reshape(operand, (*shape[:start], math.prod(shape[start:stop]), *shape[stop:]))


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """The operand side by side, `reps` times along every axis.

    >>> print(tile(np.arange(2), (3,)))
    [0 1 0 1 0 1]
    """
    return np.tile(operand, tuple(reps))


def concatenate(operands: Any, dimension: int) -> Any:
    """Arrays of one dtype one after the other along an axis.

    >>> print(concatenate([np.arange(2), np.arange(3)], 0))
    [0 1 0 1 2]
    """
    check_same_dtypes("concatenate", tuple(operands))
    return np.concatenate(operands, dimension)


def stack(operands: Any, axis: int = 0) -> Any:
    """Arrays of one dtype and shape along a new axis.

    >>> print(stack([np.arange(2), np.ones(2, "int32")], 1))
    [[0 1]
     [1 1]]
    """
    check_same_dtypes("stack", tuple(operands))
    return np.stack(operands, axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The slices of an array along an axis, without that axis.

    >>> [part.tolist() for part in unstack(np.array([[1, 2], [3, 4]]), 1)]
    [[1, 3], [2, 4]]
    """
    return tuple(np.moveaxis(np.asarray(x), axis, 0))


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Parts of the given sizes along an axis.

    >>> [part.shape for part in split(np.arange(5), (2, 3))]
    [(2,), (3,)]
    """
    if sum(sizes) != np.shape(operand)[axis]:
        raise ValueError(f"sizes {sizes} do not add up to axis {axis} of {np.shape(operand)}")
    return np.split(operand, numpy.cumsum(sizes)[:-1].tolist(), axis)


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
    """The operand with `padding_value` before, after and between its elements.

    `padding_config` holds a triple (low, high, interior) for every axis; negative numbers cut.

    >>> print(pad(np.array([1, 2]), 0, [(1, 0, 1)]))
    [0 1 0 2]
    """
    check_same_dtypes("pad", (operand, padding_value))
    low, high, interior = (tuple(side) for side in zip(*padding_config, strict=True))
    operand = np.asarray(operand)
    value = np.asarray(padding_value).astype(operand.dtype)
    return pad_with(operand, value, low=low, high=high, interior=interior)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one value.

    >>> print(full((2,), 7))
    [7 7]
    """
    return np.full(_sizes(shape), fill_value, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """An array of one value with the shape and dtype of `x`.

    >>> print(full_like(np.ones(2), 7))
    [7. 7.]
    """
    return np.full_like(x, fill_value, dtype=dtype, shape=shape)


def empty(shape: Any, dtype: Any = None) -> Any:
    """An array whose values do not matter: zeros.

    >>> print(empty((2,), "float32"))
    [0. 0.]
    """
    return np.zeros(_sizes(shape), dtype)


def iota(dtype: Any, size: int) -> Any:
    """0, 1, ... size - 1.

    >>> print(iota("float32", 3))
    [0. 1. 2.]
    """
    return np.arange(size, dtype=dtypes.canonicalize(dtype))


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """An array that holds each element's index along one axis.

    >>> print(broadcasted_iota("int32", (2, 3), 1))
    [[0 1 2]
     [0 1 2]]
    """
    return broadcast_in_dim(iota(dtype, shape[dimension]), shape, (dimension,))
