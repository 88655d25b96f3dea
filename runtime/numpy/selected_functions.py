"""What functions and indices make of `x[mask]`, where the mask is known only at run time.

Most put the selected elements first, in their order, and know how many they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.numpy.selected import Selected, highest, lowest, same_selection

__all__ = ["FUNCTIONS", "item_of", "length", "places_where", "selected_by"]


def of_first(values: Any, count: Any) -> Selected:
    """The first `count` of some values."""
    return Selected(values, np.arange(values.shape[0]) < count, 0, 1)


def flat(x: Selected) -> tuple[Any, Any]:
    """A selection with one axis: all its values and which are selected, as rows."""
    if x.start:
        x.refuse("an index of x[mask] before its own axis")
    rows = math.prod(x.whole.shape[: x.covered])
    mask = np.broadcast_to(x.mask, (*x.whole.shape[: x.covered], *(1,) * (x.ndim - 1)))
    return np.reshape(x.whole, (rows, *x.whole.shape[x.covered :])), np.reshape(mask, (rows,))


def compact(x: Selected) -> tuple[Any, Any]:
    """The rows of a selection with the selected ones first, and how many these are."""
    values, mask = flat(x)
    return values[np.argsort(~mask, stable=True)], np.sum(mask)


def item_of(x: Selected, index: Any) -> Any:
    """`x[mask][index]`."""
    if isinstance(index, tuple):
        if not index or isinstance(index[0], slice) or index[0] is None or index[0] is Ellipsis:
            x.refuse("this index of x[mask]")
        first, rest = item_of(x, index[0]), index[1:]
        return first[rest] if rest else first
    if isinstance(index, Selected) and index.dtype == np.bool_:
        if not same_selection(x, index) or x.mask.shape != index.whole.shape:
            x.refuse("combining elements that two indices select")
        return Selected(x.whole, x.mask & index.whole, x.start, x.covered)
    if isinstance(index, slice):
        return _slice(x, index)
    if index is None or index is Ellipsis or np.asarray(index).dtype == bool:
        x.refuse("this index of x[mask]")
    values, count = compact(x)
    if isinstance(index, Selected):
        inside = np.where(index.whole < 0, index.whole + count, index.whole)
        return over_rows(values[inside], index)
    if isinstance(index, (list, tuple)):
        index = np.asarray(index)
    return values[np.where(index < 0, index + count, index)]


def _slice(x: Selected, index: slice) -> Any:
    values, count = compact(x)
    if (index.start, index.stop, index.step) == (None, None, -1):
        return Selected(values[::-1], np.arange(values.shape[0])[::-1] < count, 0, 1)
    if index.step not in (None, 1):
        x.refuse("a slice of x[mask] with a step")
    start, stop = index.start or 0, index.stop
    first = np.maximum(count + start, 0) if start < 0 else start
    if stop is None or stop < 0:  # as one number, so that w[1:] and w[:-1] are seen to be as long
        left = (
            np.maximum(count - (start - (stop or 0)), 0)
            if start >= 0
            else count - first + (stop or 0)
        )
    else:
        left = np.minimum(count, stop) - first
    places = np.minimum(np.arange(values.shape[0]) + first, values.shape[0] - 1)
    return of_first(values[places], left)


def selected_by(x: Any, index: Any) -> Any:
    """`x[index]` where positions in the index are themselves selected; None for any other."""
    parts = index if isinstance(index, tuple) else (index,)
    owner = next((p for p in parts if isinstance(p, Selected) and p.dtype != bool), None)
    if owner is None:
        return None
    if not all(isinstance(p, Selected) and same_selection(owner, p) for p in parts):
        owner.refuse("an index of several selections")
    wholes = tuple(p.whole for p in parts)
    return over_rows(x[wholes if isinstance(index, tuple) else wholes[0]], owner)


def over_rows(values: Any, index: Selected) -> Selected:
    """What an index gave that is a selection: the rows that its selected positions chose."""
    more = (1,) * (values.ndim - index.whole.ndim)
    mask = np.broadcast_to(index.mask, index.whole.shape)
    return Selected(values, np.reshape(mask, (*mask.shape, *more)), index.start, index.covered)


def places_where(hit: Any) -> tuple[Selected, ...]:
    """`np.nonzero` of an array whose values are known only at run time."""
    grids = np.indices(hit.shape, dtype=dtypes.int_type())
    return tuple(Selected(grid, hit, 0, hit.ndim) for grid in grids)


def _vector(x: Any) -> Any:
    if isinstance(x, Selected) and x.ndim != 1:
        x.refuse("this function of x[mask] with more than one axis")
    return x


def _sort(a: Any, **static: Any) -> Any:
    values, mask = flat(_vector(a))
    if static.get("descending"):
        a.refuse("np.sort(descending=True)")
    return of_first(values[np.lexsort((values, ~mask))], np.sum(mask))


def _argsort(a: Any, **static: Any) -> Any:
    values, count = compact(_vector(a))
    if static.get("descending"):
        a.refuse("np.argsort(descending=True)")
    behind = np.arange(values.shape[0]) >= count
    return of_first(np.lexsort((values, behind)), count)


def _running(function: Callable, neutral: float) -> Callable:
    def apply(a: Any, **static: Any) -> Any:
        values, mask = flat(_vector(a))
        filled = np.where(mask, values, np.asarray(neutral, values.dtype))
        return Selected(function(filled), mask, 0, 1)

    return apply


def _place_of_extreme(function: Callable, worst: Callable) -> Callable:
    def apply(a: Any, **static: Any) -> Any:
        values, count = compact(_vector(a))
        return function(np.where(np.arange(values.shape[0]) < count, values, worst(values.dtype)))

    return apply


def _product(x: Any, y: Any, **static: Any) -> Any:
    return np.sum(_vector(x) * _vector(y))


def _euclidean(a: Any, **static: Any) -> Any:
    values, mask = flat(_vector(a))
    return np.linalg.norm(np.where(mask, values, 0))


def _median(a: Any, **static: Any) -> Any:
    values, count = compact(_sort(a))
    low, high = values[np.maximum((count - 1) // 2, 0)], values[count // 2]
    return np.where(count > 0, (low + high) / 2, np.nan)


def _diff(a: Any, **static: Any) -> Any:
    values, count = compact(_vector(a))
    return of_first(values[1:] - values[:-1], count - 1)


def _concatenate(arrays: Sequence[Any], **static: Any) -> Any:
    return joined([_vector(x) for x in arrays])


def joined(parts: Sequence[Any]) -> Selected:
    """Vectors one after the other, some of them selections."""
    pairs = [flat(p) if isinstance(p, Selected) else (p, np.ones(p.shape[:1], bool)) for p in parts]
    values, masks = (np.concatenate(list(column)) for column in zip(*pairs, strict=True))
    return Selected(values, masks, 0, 1)


def length(x: Any) -> Any:
    """`len(x)`, also of what a mask selects.

    >>> length([1, 2])
    2
    """
    if hasattr(type(x), "__overt_truth__"):  # a container of some items
        return x.number()
    return compact(x)[1] if isinstance(x, Selected) else len(x)


FUNCTIONS: dict[str, Callable] = {
    "sort": _sort, "argsort": _argsort, "median": _median, "diff": _diff,
    "cumsum": _running(np.cumsum, 0.0), "cumprod": _running(np.cumprod, 1.0),
    "argmax": _place_of_extreme(np.argmax, lowest), "argmin": _place_of_extreme(np.argmin, highest),
    "matmul": _product, "dot": _product, "vdot": _product, "inner": _product,
    "euclidean": _euclidean, "concatenate": _concatenate,
}  # fmt: skip
