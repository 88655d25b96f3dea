"""Slices at static and dynamic places; dynamic ones are moved until they fit, as XLA does."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.kinds import is_key
from overt.runtime.lax.strict import check_same_dtypes
from overt.runtime.numpy.gather_scatter import pick
from overt.runtime.numpy.index_plan import told, wide_index
from overt.runtime.numpy.movement import broadcast_in
from overt.runtime.primitive import Primitive


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Any = None
) -> Any:
    """The part of an array between static starts and limits.

    >>> print(slice(np.arange(6), (1,), (6,), (2,)))
    [1 3 5]
    """
    operand = np.asarray(operand)
    strides = (1,) * operand.ndim if strides is None else tuple(strides)
    starts, limits = tuple(start_indices), tuple(limit_indices)
    if not len(starts) == len(limits) == len(strides) == operand.ndim:
        raise TypeError(f"slice needs a start, limit and stride for each axis of {operand.shape}")
    spec = []
    for start, limit, stride, n in zip(starts, limits, strides, operand.shape, strict=True):
        if not 0 <= start <= limit <= n or stride < 1:
            raise TypeError(f"slice {start}:{limit}:{stride} does not fit an axis of length {n}")
        spec.append((start, -(-(limit - start) // stride), stride))
    return pick(operand, spec=tuple(spec))


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Any:
    """A static slice along one axis.

    >>> print(slice_in_dim(np.arange(5), 1, -1))
    [1 2 3]
    """
    chosen = builtins.slice(start_index, limit_index, stride)
    return np.asarray(operand)[_along(operand, axis, chosen)]


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The slice at a static index along one axis.

    >>> print(index_in_dim(np.arange(6).reshape(2, 3), 1))
    [[3 4 5]]
    """
    row = np.asarray(operand)[_along(operand, axis, index)]
    return np.expand_dims(row, axis) if keepdims else row


def _along(operand: Any, axis: int, chosen: Any) -> tuple[Any, ...]:
    return (builtins.slice(None),) * (axis % np.ndim(operand)) + (chosen,)


# dynamic slices -----------------------------------------------------------------------------------


def _start_values(b: Any, starts: Any, count: int) -> list[Any]:
    return [b.reshape(b.slice(starts, (k,), (k + 1,), (1,)), ()) for k in range(count)]


def _lower_slice_at(b: Any, x: Any, starts: Any, *, avals: Any, out: Any, sizes: Any) -> Any:
    return b.dynamic_slice(x, _start_values(b, starts, len(sizes)), sizes)


def _lower_store_at(b: Any, x: Any, update: Any, starts: Any, *, avals: Any, out: Any) -> Any:
    return b.dynamic_update_slice(x, update, _start_values(b, starts, len(out.shape)))


def _places(starts: Any, shape: tuple[int, ...], sizes: tuple[int, ...]) -> list[Any]:
    """Index arrays (lanes, *sizes) of the elements of one slice a lane; the lane's number first."""
    ndim = len(sizes)
    lanes = np.arange(starts.shape[0]).reshape(-1, *(1,) * ndim)
    places = [lanes]
    for k, (n, size) in enumerate(zip(shape, sizes, strict=True)):
        start = np.clip(starts[:, k], 0, n - size).reshape(-1, *(1,) * ndim)
        steps = np.arange(size, dtype=start.dtype).reshape(
            *(-1 if i == k else 1 for i in range(ndim))
        )
        places.append(start + steps)
    return places


def _lanes(value: Any, axis: int | None, size: int) -> Any:
    if axis is not None:
        return value
    return broadcast_in(value, shape=(size, *value.shape), axes=tuple(range(1, value.ndim + 1)))


def _batch_slice_at(values: Any, axes: Any, size: int, *, sizes: tuple[int, ...]) -> Any:
    x, starts = values
    if axes[1] is None:
        starts = np.concatenate([np.zeros(1, starts.dtype), starts])
        return slice_at(x, starts, sizes=(size, *sizes)), 0
    lanes, *places = _places(starts, x.shape[-len(sizes) :] if sizes else (), sizes)
    index = tuple(places) if axes[0] is None else (lanes, *places)
    if not index:
        return _lanes(x, axes[0], size), 0
    return x[index], 0


def _batch_store_at(values: Any, axes: Any, size: int) -> Any:
    x, update = (_lanes(v, axis, size) for v, axis in zip(values[:2], axes[:2], strict=True))
    starts = values[2]
    if axes[2] is None:
        return store_at(x, update, np.concatenate([np.zeros(1, starts.dtype), starts])), 0
    return x.at[tuple(_places(starts, x.shape[1:], update.shape[1:]))].set(update), 0


slice_at = Primitive(
    "slice_at",
    shape=lambda x, starts, *, sizes: Aval(sizes, x.dtype, x.weak),
    lower=_lower_slice_at,
    vjp=(lambda g, out, x, starts, *, sizes: store_at(np.zeros_like(x), g, starts), None),
    jvp=lambda dots, out, x, starts, *, sizes: slice_at(dots[0], starts, sizes=sizes),
    batch=_batch_slice_at,
    doc="The slice of the given sizes whose first element is at `starts`, an integer vector.",
)

store_at = Primitive(
    "store_at",
    shape=lambda x, update, starts: x,
    lower=_lower_store_at,
    vjp=(
        lambda g, out, x, update, starts: store_at(g, np.zeros_like(update), starts),
        lambda g, out, x, update, starts: slice_at(g, starts, sizes=np.shape(update)),
        None,
    ),
    jvp=lambda dots, out, x, update, starts: store_at(dots[0], dots[1], starts),
    batch=_batch_store_at,
    doc="The array with a slice replaced whose first element is at `starts`.",
)


def _start_vector(shape: tuple[int, ...], start_indices: Any, sizes: Sequence[int]) -> Any:
    """One integer vector of starts; negative ones count from the end."""
    starts = list(start_indices)
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=False)):
        told(start, shape, axis, size)
    if len(starts) != len(shape):
        raise TypeError(f"needs one start index for each axis of {shape}, got {len(starts)}")
    if all(isinstance(start, (int, numpy.integer)) for start in starts):
        counted = [i + n if i < 0 else i for i, n in zip(starts, shape, strict=True)]
        return np.asarray(numpy.array(counted, numpy.int32))
    if not starts:
        return np.zeros(0, numpy.int32)
    if wrong := [t for t in map(np.result_type, starts) if not dtypes.is_integer(t)]:
        raise TypeError(f"start indices must be integers, got {wrong[0]}")
    vector = np.stack([wide_index(start) for start in starts])
    return np.where(vector < 0, vector + numpy.array(shape, vector.dtype), vector)


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """The slice of static sizes at a dynamic place, moved back where it would stick out.

    >>> print(dynamic_slice(np.arange(5), (3,), (3,)))
    [2 3 4]
    """
    operand = np.asarray(operand)
    if is_key(operand):
        return operand.moved(lambda words: dynamic_slice(words, start_indices, slice_sizes))
    sizes = tuple(slice_sizes)
    if len(sizes) != operand.ndim or any(
        not 0 <= size <= n for size, n in zip(sizes, operand.shape, strict=True)
    ):
        raise TypeError(f"slice sizes {sizes} do not fit an operand of shape {operand.shape}")
    return slice_at(operand, _start_vector(operand.shape, start_indices, sizes), sizes=sizes)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """The operand with a slice replaced by `update` at a dynamic place.

    >>> print(dynamic_update_slice(np.zeros(4), np.ones(2), (1,)))
    [0. 1. 1. 0.]
    """
    check_same_dtypes("dynamic_update_slice", (operand, update))
    operand = np.asarray(operand)
    update = np.asarray(update).astype(operand.dtype)
    if update.ndim != operand.ndim or any(
        m > n for m, n in zip(update.shape, operand.shape, strict=True)
    ):
        raise TypeError(
            f"an update of shape {update.shape} does not fit an operand of shape {operand.shape}"
        )
    return store_at(operand, update, _start_vector(operand.shape, start_indices, update.shape))


def _starts_along(operand: Any, axis: int, start: Any) -> list[Any]:
    starts: list[Any] = [0] * np.ndim(operand)
    starts[axis] = start
    return starts


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """A slice at a dynamic place along one axis.

    >>> print(dynamic_slice_in_dim(np.arange(5), 3, 2))
    [3 4]
    """
    sizes = list(np.shape(operand))
    sizes[axis] = slice_size
    return dynamic_slice(operand, _starts_along(operand, axis, start_index), sizes)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """The slice at a dynamic index along one axis.

    >>> print(dynamic_index_in_dim(np.arange(6).reshape(2, 3), 1, keepdims=False))
    [3 4 5]
    """
    row = dynamic_slice_in_dim(operand, index, 1, axis)
    return row if keepdims else np.squeeze(row, axis)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """The operand with a slice along one axis replaced.

    >>> print(dynamic_update_slice_in_dim(np.zeros(4), np.ones(2), 1, 0))
    [0. 1. 1. 0.]
    """
    return dynamic_update_slice(operand, update, _starts_along(operand, axis, start_index))


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Any:
    """The operand with the slice at one index along an axis replaced.

    >>> print(dynamic_update_index_in_dim(np.zeros(3), 5.0, 1, 0))
    [0. 5. 0.]
    """
    if np.ndim(update) != np.ndim(operand):
        update = np.expand_dims(update, axis)
    return dynamic_update_slice_in_dim(operand, update, index, axis)


def index_take(src: Any, idxs: Any, axes: Sequence[int]) -> Any:
    """The slices at the places that index arrays, one for each of `axes`, name together.

    >>> print(index_take(np.arange(6).reshape(2, 3), (np.array([0, 1]), np.array([2, 0])), (0, 1)))
    [2 3]
    """
    index: list[Any] = [builtins.slice(None)] * np.ndim(src)
    for axis, places in zip(axes, idxs, strict=True):
        index[axis] = places
    return np.asarray(src)[tuple(index)]
