"""XLA's gather and scatter: slices at many places at once, described by dimension numbers."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.index_plan import told


class GatherDimensionNumbers(NamedTuple):
    """Which axes of the result, the operand and the indices belong together in `gather`."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of the updates, the operand and the indices belong together in `scatter`."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


class GatherScatterMode(enum.Enum):
    """What happens at places outside the operand."""

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"


def _mode(mode: Any) -> str:
    name = mode.value if isinstance(mode, GatherScatterMode) else mode
    return {None: "fill", "drop": "fill", "promise_in_bounds": "clip"}.get(name, name)


def _places(
    shape: tuple[int, ...],
    indices: Any,
    sizes: Sequence[int],
    window_dims: Sequence[int],
    dropped: Sequence[int],
    index_map: Sequence[int],
    batching: Sequence[tuple[int, int]],
    mode: Any,
) -> tuple[list[Any], Any]:
    """An index array for every axis of the operand, and which places are inside it.

    All broadcast to the shape of the result: window axes at `window_dims`, the indices' elsewhere.
    """
    rank = len(window_dims) + indices.ndim - 1
    outer = [axis for axis in range(rank) if axis not in window_dims]
    kept = iter(window_dims)
    places, inside = [], np.asarray(True)
    batch_axis = dict(batching)
    for axis, (n, size) in enumerate(zip(shape, sizes, strict=True)):
        place = np.zeros((), numpy.int32)
        if axis in index_map:
            start = indices[..., list(index_map).index(axis)]
            if mode is None:
                told(start, shape, axis, size, wraps=False)
            if _mode(mode) == "fill":
                fits = (start >= 0) & (start <= n - size)
                inside = inside & _spread(fits, outer, rank)
            place = _spread(np.clip(start, 0, n - size), outer, rank)
        elif axis in batch_axis:
            place = _ramp(n, outer[batch_axis[axis]], rank)
        if axis not in dropped and axis not in batch_axis:
            place = place + _ramp(size, next(kept), rank)
        places.append(place)
    return places, inside


def _spread(x: Any, axes: Sequence[int], rank: int) -> Any:
    lengths = iter(x.shape)
    return np.reshape(x, tuple(next(lengths) if axis in axes else 1 for axis in range(rank)))


def _ramp(n: int, axis: int, rank: int) -> Any:
    return _spread(np.arange(n, dtype=numpy.int32), (axis,), rank)


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Slices of the operand at many places.

    Source: https://openxla.org/xla/operation_semantics#gather

    >>> how = GatherDimensionNumbers((), (0,), (0,))
    >>> print(gather(np.arange(5) * 10, np.array([[3], [1]]), how, (1,)))
    [30 10]
    """
    operand, indices, d = np.asarray(operand), np.asarray(start_indices), dimension_numbers
    batching = list(zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True))
    places, inside = _places(
        operand.shape, indices, slice_sizes, sorted(d.offset_dims), d.collapsed_slice_dims,
        d.start_index_map, batching, mode,
    )  # fmt: skip
    found = operand[tuple(places)]
    if mode is None or _mode(mode) != "fill":
        return found
    if fill_value is None:
        fill_value = _default_fill(operand.dtype)
    return np.where(inside, found, numpy.array(fill_value, operand.dtype))


def _default_fill(dtype: Any) -> Any:
    """NaN, the most negative integer, the largest unsigned one or True."""
    kind = dtypes.category(dtype)
    if kind in "fc":
        return numpy.nan
    if kind == "b":
        return True
    return dtypes.iinfo(dtype).min if kind == "i" else dtypes.iinfo(dtype).max


def _updated_places(
    operand: Any, scatter_indices: Any, update_shape: Sequence[int], d: Any, mode: Any
) -> tuple[Any, ...]:
    """An index array for every axis of the operand, in the shape of the updates."""
    windows = iter(sorted(d.update_window_dims))
    missing = (*d.inserted_window_dims, *d.operand_batching_dims)
    sizes = [1 if k in missing else update_shape[next(windows)] for k in range(operand.ndim)]
    batching = list(zip(d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True))
    places, inside = _places(
        operand.shape, np.asarray(scatter_indices), sizes, sorted(d.update_window_dims),
        d.inserted_window_dims, d.scatter_dims_to_operand_dims, batching, _mode(mode),
    )  # fmt: skip
    places[0] = np.where(inside, places[0], operand.shape[0])
    return tuple(places)


def _scatter(name: str, method: str, doc: str) -> Any:
    def scatter(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Any:
        operand, updates = np.asarray(operand), np.asarray(updates)
        places = _updated_places(operand, scatter_indices, updates.shape, dimension_numbers, mode)
        return getattr(operand.at[places], method)(updates, mode="drop")

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = doc + "\n\n    Source: https://openxla.org/xla/operation_semantics#scatter"
    return scatter


scatter = _scatter("scatter", "set", "The operand with slices at many places replaced.")
scatter_add = _scatter("scatter_add", "add", "The operand with slices added at many places.")
scatter_mul = _scatter("scatter_mul", "multiply", "Slices of the operand multiplied.")
scatter_min = _scatter("scatter_min", "min", "Slices of the operand lowered to the updates.")
scatter_max = _scatter("scatter_max", "max", "Slices of the operand raised to the updates.")
scatter_sub = _scatter("scatter_sub", "subtract", "Slices of the operand lessened by the updates.")


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """A function applied to slices of the operand at many places, as often as they are named.

    `update_shape` is the shape that updates of `scatter` would have.

    >>> how = ScatterDimensionNumbers((), (0,), (0,))
    >>> x = np.arange(3.0)
    >>> print(scatter_apply(x, np.array([[1], [2]]), np.square, how, update_shape=(2,)))
    [0. 1. 4.]
    """
    operand = np.asarray(operand)
    places = _updated_places(operand, scatter_indices, tuple(update_shape), dimension_numbers, mode)
    return operand.at[places].apply(func, mode="drop")
