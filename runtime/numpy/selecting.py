"""Choosing elements by index, by mask or by condition."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.array import Array
from overt.runtime.errors import StagingError
from overt.runtime.kinds import is_key
from overt.runtime.numpy.index_plan import host_value, mask_if_known, wide_index
from overt.runtime.numpy.indexing import read
from overt.runtime.numpy.movement import normal_axis, shape_of, with_rule
from overt.runtime.numpy.selected import Selected
from overt.runtime.primitive import composite

__all__ = [
    "argwhere",
    "choose",
    "compress",
    "delete",
    "extract",
    "flatnonzero",
    "insert",
    "nonzero",
    "place",
    "put",
    "put_along_axis",
    "take",
    "take_along_axis",
]

TAKE_MODES = {None: "clip", "clip": "clip", "raise": "clip", "fill": "fill", "wrap": "clip"}


@with_rule(
    arrays=("a", "indices"),
    vjp=(
        lambda g, out, a, indices, *, axis=None, mode=None, **_: take_back(
            g, a, indices, axis, mode
        ),
        None,
    ),
    jvp=lambda dots, out, a, indices, *, axis=None, mode=None, **_: np.take(
        dots[0], indices, axis, mode=mode, fill_value=0
    ),
)
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: Any = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """Elements, or slices along an axis, at the given places; without an axis, of all elements.

    Errors: IndexError for a known index out of range, unless mode is "clip", "wrap" or "fill".

    >>> take(np.array([10, 20, 30]), np.array([2, 0]))
    Array([30, 10], dtype=int32)
    """
    if out is not None:
        raise TypeError("take() does not take out=: arrays are immutable; use the result")
    a = np.asarray(a)
    if is_key(a):
        return a.take(indices, axis, mode=mode)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normal_axis(axis, a.ndim)
    if mode not in TAKE_MODES:
        raise ValueError(f"unknown mode {mode!r}; known: raise, clip, wrap, fill")
    if mode == "wrap":
        indices = np.remainder(wide_index(indices), a.shape[axis])
    elif mode == "clip":
        indices = np.clip(wide_index(indices), 0, a.shape[axis] - 1)
    elif not isinstance(indices, int):
        indices = indices if hasattr(indices, "dtype") else numpy.asarray(indices)
    return read(
        a,
        (*(slice(None),) * axis, indices),
        mode=TAKE_MODES[mode],
        fill=fill_value,
        check=mode in (None, "raise"),
        tell=mode in (None, "raise"),
        sorted=indices_are_sorted,
        unique=unique_indices,
    )


def take_back(
    g: Any, a: Any, indices: Any, axis: int | None = None, mode: Any = None, **_: Any
) -> Any:
    """Transpose of `np.take(a, indices, axis)`: zeros like `a` with `g` added at those places."""
    lengths = shape_of(a)
    n = math.prod(lengths) if axis is None else lengths[axis]
    if mode == "wrap":
        indices = np.remainder(wide_index(indices), n)
    elif mode == "clip":
        indices = np.clip(wide_index(indices), 0, n - 1)
    g = np.asarray(g)
    flat = np.zeros((n,) if axis is None else lengths, g.dtype)
    before = (slice(None),) * (0 if axis is None else normal_axis(axis, len(lengths)))
    how = {"mode": "drop" if mode == "fill" else "clip"}
    return np.reshape(flat.at[(*before, indices)].add(g, **how), lengths)


def aligned_index(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """The full index of `take_along_axis`: `indices` on one axis, its own number on the others."""
    rank = len(shape)
    lengths = shape_of(indices)
    if len(lengths) != rank:
        raise ValueError(f"indices must have {rank} axes like the array, not shape {lengths}")
    return tuple(
        indices
        if k == axis
        else 0
        if shape[k] == 1 and lengths[k] != 1
        else np.reshape(
            np.arange(shape[k], dtype=np.int32), [-1 if j == k else 1 for j in range(rank)]
        )
        for k in range(rank)
    )


@composite(
    arrays=("arr", "indices"),
    vjp=(
        lambda g, out, arr, indices, *, axis, mode, fill_value: along_axis_back(
            g, arr, indices, axis, mode
        ),
        None,
    ),
    jvp=lambda dots, out, arr, indices, *, axis, mode, fill_value: np.take_along_axis(
        dots[0], indices, axis, mode, 0
    ),
    open=True,
)
def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1, mode: str | None = None, fill_value: Any = None
) -> Any:
    """Elements picked along one axis, separately for every place on the others.

    >>> x = np.array([[3, 1, 2]])
    >>> take_along_axis(x, np.argsort(x, axis=1), axis=1)
    Array([[1, 2, 3]], dtype=int32)
    """
    arr, indices = np.asarray(arr), np.asarray(indices)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = normal_axis(axis, arr.ndim)
    index = aligned_index(arr.shape, indices, axis)
    how = {None: "clip", "clip": "clip", "fill": "fill", "promise_in_bounds": "promise"}[mode]
    return read(arr, index, mode=how, fill=fill_value, check=False, tell=mode is None)


def along_axis_back(
    g: Any, arr: Any, indices: Any, axis: int | None, mode: str | None = None
) -> Any:
    """Transpose of `np.take_along_axis`: zeros like `arr` with `g` added where it was read."""
    if axis is None:
        flat = along_axis_back(g, np.ravel(arr), indices, 0, mode)
        return np.reshape(flat, shape_of(arr))
    index = aligned_index(shape_of(arr), indices, normal_axis(axis, len(shape_of(arr))))
    return np.zeros_like(arr).at[index].add(g, mode="drop" if mode == "fill" else "clip")


def changed_in_place(function: Any, a: Any, *args: Any) -> None:
    """What NumPy's function does to a NumPy array; arrays of ours are immutable."""
    if type(a) is not numpy.ndarray:
        name = function.__name__
        raise TypeError(
            f"{name}: arrays are immutable; use the result of {name}(..., inplace=False), "
            f"or call it as a statement of a transformed function, on a variable of that function"
        )
    function(a, *args)


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: Any = None,
) -> Any:
    """An array with `values` stored where `take_along_axis` would read.

    >>> put_along_axis(np.array([[3, 1, 2]]), np.array([[1]]), 9, axis=1, inplace=False)
    Array([[3, 9, 2]], dtype=int32)
    """
    if inplace:
        return changed_in_place(numpy.put_along_axis, arr, indices, values, axis)
    arr = np.asarray(arr)
    if axis is None:
        flat = np.put_along_axis(np.ravel(arr), indices, values, 0, inplace=False)
        return np.reshape(flat, arr.shape)
    index = aligned_index(arr.shape, np.asarray(indices), normal_axis(axis, arr.ndim))
    return arr.at[index].set(values, mode=mode)


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """An array with values, repeated as needed, at places counted over all elements.

    >>> put(np.zeros(3), np.array([0, 2]), np.array([5.0]), inplace=False)
    Array([5., 0., 5.], dtype=float32)
    """
    if inplace:
        return changed_in_place(numpy.put, a, ind, v, mode or "raise")
    a, ind, v = np.asarray(a), np.ravel(ind), np.ravel(v)
    if v.size == 0 or ind.size == 0:
        return a
    if mode == "wrap":
        ind = np.remainder(ind, a.size)
    mode = {None: "drop", "raise": "drop", "clip": "clip", "wrap": "drop", "drop": "drop"}[mode]
    stored = np.ravel(a).at[ind].set(np.resize(v, ind.shape), mode=mode)
    return np.reshape(stored, a.shape)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """An array with `vals`, in order and repeated as needed, where a mask holds (numpy's `place`).

    >>> place(np.zeros(4), np.array([True, False, True, True]), np.array([1.0, 2.0]), inplace=False)
    Array([1., 0., 2., 1.], dtype=float32)
    """
    if inplace:
        return changed_in_place(numpy.place, arr, mask, vals)
    arr, mask, vals = np.asarray(arr), np.ravel(mask), np.ravel(vals)
    order = np.cumsum(mask.astype(np.int32)) - 1
    return np.reshape(np.where(mask, np.take(vals, order % vals.size), np.ravel(arr)), arr.shape)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For every place, the element of `choices[k]` where k is the element of `a`.

    >>> choose(np.array([1, 0]), [np.array([10, 20]), np.array([30, 40])])
    Array([30, 20], dtype=int32)
    """
    choices = list(choices) if isinstance(choices, (list, tuple)) else list(np.asarray(choices))
    n = len(choices)
    a, *choices = np.broadcast_arrays(a, *choices)
    if mode == "wrap":
        a = np.remainder(a, n)
    elif mode == "clip":
        a = np.clip(a, 0, n - 1)
    elif (known := host_value(a)) is not None and ((known < 0) | (known >= n)).any():
        raise ValueError("invalid entry in choice array")
    return np.take_along_axis(np.stack(choices), a[None].astype(np.int32), 0)[0]


def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None, fill_value: Any = 0
) -> Any:
    """The slices along an axis for which the condition holds; `size` fixes their number.

    >>> compress(np.array([True, False, True]), np.array([1, 2, 3]))
    Array([1, 3], dtype=int32)
    """
    a = np.asarray(a)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = normal_axis(axis, a.ndim)
    (kept,) = nonzero(condition, size=size, fill_value=a.shape[axis])
    mode = {"mode": "fill", "fill_value": fill_value} if size is not None else {}
    return np.take(a, kept, axis, **mode)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """All elements at which the condition holds, in row-major order.

    >>> extract(np.array([[True, False], [False, True]]), np.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return compress(np.ravel(condition), np.ravel(arr), size=size, fill_value=fill_value)


# where a condition holds --------------------------------------------------------------------------


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """For every axis, where the nonzero elements are.

    With `size` the result has that length: cut off, or filled with `fill_value` (default 0).

    Errors: ValueError for an array without axes; StagingError without `size` where the values
    are known only at run time.

    >>> nonzero(np.array([0.0, 3.0, 4.0]))
    (Array([1, 2], dtype=int32),)
    """
    a = np.asarray(a)
    if not a.ndim:
        raise ValueError("nonzero needs an array with axes; give it np.atleast_1d of a number")
    hit = a if a.dtype == bool else a != 0
    if size is None:
        known = mask_if_known(hit) if isinstance(hit, Array) else numpy.asarray(hit)
        if known is None:
            from overt.runtime.numpy.selected_functions import places_where

            return places_where(hit)
        return tuple(np.asarray(place.astype(dtypes.int_type())) for place in numpy.nonzero(known))
    size = operator.index(size)
    if isinstance(fill_value, tuple):
        fills = list(fill_value)
    else:
        fills = [0 if fill_value is None else fill_value] * a.ndim
    count = math.prod(a.shape)
    flat = np.ravel(hit).astype(np.int32)
    # the k-th nonzero element stores its place at k; the rest store out of range
    order = np.where(flat == 1, np.cumsum(flat) - 1, size)
    numbers = np.arange(count, dtype=np.int32)
    places = np.zeros((size,), np.int32).at[order].set(numbers, mode="drop", unique_indices=False)
    valid = np.arange(size) < np.sum(flat)
    result = []
    stride = count
    for n, fill in zip(a.shape, fills, strict=True):
        stride = stride // n if n else 1
        place = np.where(valid, places // max(stride, 1) % max(n, 1), fill)
        result.append(place.astype(dtypes.int_type()))
    return tuple(result)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Where the nonzero elements are, counted over all elements.

    >>> flatnonzero(np.array([0, 1, 1]))
    Array([1, 2], dtype=int32)
    """
    return nonzero(np.ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The indices of the nonzero elements, one a row.

    >>> argwhere(np.array([[0, 1], [1, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    places = nonzero(a, size=size, fill_value=fill_value)
    if not shape_of(a):
        return np.zeros((len(places[0]), 0), np.int32)
    if isinstance(places[0], Selected):
        whole = np.stack([place.whole for place in places], axis=-1)
        return Selected(whole, places[0].mask[..., None], 0, len(places))
    return np.stack(places, axis=1)


# leaving out, putting in --------------------------------------------------------------------------


def known_index(obj: Any, name: str) -> Any:
    """A static index for `delete` and `insert`. Errors: StagingError where it is not known."""
    if isinstance(obj, (int, slice, list, tuple, range)):
        return list(obj) if isinstance(obj, (tuple, range)) else obj
    try:
        return numpy.asarray(obj)
    except (StagingError, TypeError) as error:
        raise StagingError(
            f"{name}: the places must be known when the program is compiled, because they decide "
            "the shape of the result"
        ) from error


def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Any:
    """An array without some of the slices along an axis.

    >>> delete(np.arange(4), [0, 2])
    Array([1, 3], dtype=int32)
    """
    arr = np.asarray(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = normal_axis(axis, arr.ndim)
    n = arr.shape[axis]
    if assume_unique_indices and host_value(obj) is None and hasattr(obj, "dtype"):
        gone = np.zeros((n,), bool).at[obj].set(True)
        kept = nonzero(~gone, size=n - obj.size)[0]
    else:
        kept = numpy.delete(numpy.arange(n, dtype=numpy.int32), known_index(obj, "delete"))
    return np.take(arr, kept, axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """An array with new slices before the given places along an axis.

    >>> insert(np.array([1, 2]), 1, 9)
    Array([1, 9, 2], dtype=int32)
    """
    arr = np.asarray(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = normal_axis(axis, arr.ndim)
    n = arr.shape[axis]
    index = known_index(obj, "insert")
    values = np.asarray(values, arr.dtype)
    single = isinstance(index, int) or (hasattr(index, "ndim") and index.ndim == 0)
    if single:
        values = np.moveaxis(values, 0, axis) if values.ndim == arr.ndim else values
        count = values.shape[axis] if values.ndim == arr.ndim else 1
        if values.ndim == 1 == arr.ndim:
            count = values.shape[0]
        index = [int(index)] * count
    places = numpy.arange(n)[index] if isinstance(index, slice) else numpy.asarray(index)
    places = numpy.nonzero(places)[0] if places.dtype == bool else places
    # the old slices are 0 .. n-1 and the new ones n, n+1, ...: let NumPy arrange the numbers
    numbers = numpy.insert(numpy.arange(n), places, n + numpy.arange(len(places)))
    shape = (*arr.shape[:axis], len(places), *arr.shape[axis + 1 :])
    both = np.concatenate([arr, np.broadcast_to(values, shape)], axis)
    return np.take(both, numbers.astype(numpy.int32), axis)


from overt.runtime import numpy as np  # noqa: E402
