"""Unique elements and sets of numbers.

Results whose length depends on values need the values: eagerly that is no problem, in compiled
functions `size` fixes the length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from overt.runtime import dtypes
from overt.runtime.numpy.index_plan import mask_if_known, mask_value
from overt.runtime.numpy.movement import normal_axis
from overt.runtime.numpy.selected import Selected
from overt.runtime.primitive import composite

__all__ = [
    "in1d",
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


class UniqueAll(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    values: Any
    inverse_indices: Any


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The distinct elements (or slices along an axis) in ascending order.

    With `size` the result has that length: cut off, or filled with `fill_value` (default: the
    smallest). Errors: StagingError without `size` where the values are known only at run time.

    >>> unique(np.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    ar = np.asarray(ar)
    flat = axis is None
    rows = np.ravel(ar)[:, None] if flat else slices_as_rows(ar, normal_axis(axis, ar.ndim))
    n = rows.shape[0]
    order = (
        np.lexsort(tuple(rows[:, k] for k in reversed(range(rows.shape[1]))))
        if rows.shape[1]
        else (np.arange(n))
    )
    ranked = rows[order]
    is_first = first_of_run(ranked, equal_nan)
    wide = dtypes.int_type()
    if size is None and mask_if_known(is_first) is None and flat and sorted:
        if return_index or return_inverse or return_counts:
            mask_value(is_first, "unique without size=...")
        return Selected(np.ravel(ar)[order], is_first, 0, 1)
    if size is None:
        first = numpy.nonzero(mask_value(is_first, "unique without size=..."))[0]
        places = np.asarray(first.astype(wide))
        count = places.shape[0]
    else:
        places = np.nonzero(is_first, size=size, fill_value=n)[0]
        count = size
    valid = places < n
    safe = np.where(valid, places, 0)
    index = order[safe] if n else safe
    chosen = np.ravel(ar) if flat else np.moveaxis(ar, axis, 0)
    if size and not n:
        if fill_value is None:
            raise ValueError("unique: size= of no elements needs a fill_value")
        values = np.full((size, *chosen.shape[1:]), fill_value, chosen.dtype)
    else:
        values = chosen[index]
    if size is not None and fill_value is not None:
        spread = np.reshape(valid, (count,) + (1,) * (values.ndim - 1))
        values = np.where(spread, values, np.asarray(fill_value, values.dtype))
    results = [values if flat else np.moveaxis(values, 0, axis)]
    if return_index:
        results.append(index)
    if return_inverse:
        number = np.cumsum(is_first) - 1
        inverse = np.zeros((n,), wide).at[order].set(number.astype(wide))
        results.append(np.reshape(inverse, ar.shape) if flat else inverse)
    if return_counts:
        ends = np.concatenate([np.minimum(places, n)[1:], np.array([n], wide)])
        results.append(np.where(valid, ends - safe, 0).astype(wide))
    return results[0] if len(results) == 1 else tuple(results)


def slices_as_rows(ar: Any, axis: int) -> Any:
    """The slices along an axis, each flattened to a row."""
    moved = np.moveaxis(ar, axis, 0)
    return np.reshape(moved, (moved.shape[0], -1 if moved.size else 0))


def first_of_run(ranked: Any, equal_nan: bool) -> Any:
    """Where a sorted row differs from the one before it."""
    if ranked.shape[0] == 0:
        return np.zeros((0,), bool)
    before, after = ranked[:-1], ranked[1:]
    different = before != after
    if equal_nan and dtypes.is_inexact(ranked.dtype):
        different = different & ~((before != before) & (after != after))
    return np.concatenate([np.ones((1,), bool), np.any(different, axis=1)])


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The distinct elements in ascending order.

    >>> unique_values(np.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """The distinct elements and how often each occurs.

    >>> unique_counts(np.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return UniqueCounts(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """The distinct elements, and for every element the number of its value.

    >>> unique_inverse(np.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return UniqueInverse(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """The distinct elements, where each occurs first, every element's number, and counts.

    >>> unique_all(np.array([3, 1, 3])).indices
    Array([1, 0], dtype=int32)
    """
    return UniqueAll(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


@composite(arrays=("element", "test_elements"), zero_derivative=True)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    method: str = "auto",
) -> Any:  # fmt: skip
    """Whether each element occurs among the test elements.

    >>> isin(np.array([1, 2, 3]), np.array([2, 5]))
    Array([False,  True, False], dtype=bool)
    """
    element, tests = np.asarray(element), np.ravel(test_elements)
    dtype = np.result_type(element, tests)
    element, tests = element.astype(dtype), tests.astype(dtype)
    if tests.size == 0:
        found = np.zeros(element.shape, bool)
    elif tests.size < 16 or dtypes.is_complex(dtype):
        found = np.any(element[..., None] == tests, axis=-1)
    else:
        ranked = np.sort(tests)
        place = np.minimum(np.searchsorted(ranked, element), tests.size - 1)
        found = ranked[place] == element
    return ~found if invert else found


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each element of one vector occurs in another.

    >>> in1d(np.array([1, 2]), np.array([2]))
    Array([False,  True], dtype=bool)
    """
    return isin(np.ravel(ar1), ar2, assume_unique, invert)


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The distinct elements of two arrays together.

    >>> union1d(np.array([1, 2]), np.array([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    both = np.concatenate([np.ravel(ar1), np.ravel(ar2)])
    return unique(both, size=size, fill_value=fill_value)


def distinct(x: Any, size: int | None, **how: Any) -> Any:
    """The distinct elements of a vector in order; where a size is given, the last is repeated."""
    if size is None or not x.size:
        return unique(x, size=size if size is None else 0, **how)
    return unique(x, size=x.size, fill_value=np.max(x), **how)


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *,
    size: int | None = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """The distinct elements that two arrays have in common.

    >>> intersect1d(np.array([3, 1, 2]), np.array([2, 3]))
    Array([2, 3], dtype=int32)
    """
    dtype = np.result_type(ar1, ar2)
    first, second = np.ravel(ar1).astype(dtype), np.ravel(ar2).astype(dtype)
    values, index = distinct(first, size, return_index=True)
    common = isin(values, second)
    if size is not None:
        common = common & first_of_run(values[:, None], True)
    (places,) = np.nonzero(common, size=size, fill_value=values.shape[0])
    found = chosen(values, places, size, fill_value)
    if not return_indices:
        return found
    order = np.argsort(second)
    second_index = order[np.minimum(np.searchsorted(second[order], found), max(second.size - 1, 0))]
    return found, chosen(index, places, size, first.size), second_index


def chosen(values: Any, places: Any, size: int | None, fill_value: Any) -> Any:
    """Elements at places; others get the fill value, by default the smallest found, or zero."""
    if size is None:
        return values[places]
    if not (n := values.shape[0]):
        return np.full(size, 0 if fill_value is None else fill_value, values.dtype)
    inside = places < n
    if fill_value is None:
        fill_value = np.where(inside[0], values[np.minimum(places[0], n - 1)], 0) if size else 0
    return np.where(inside, values[np.where(inside, places, 0)], fill_value)


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The distinct elements of the first array that the second lacks.

    >>> setdiff1d(np.array([3, 1, 2]), np.array([2]))
    Array([1, 3], dtype=int32)
    """
    first = np.ravel(ar1)
    values = first if assume_unique else distinct(first, size)
    kept = isin(values, ar2, invert=True)
    if size is not None and not assume_unique:
        kept = kept & first_of_run(values[:, None], True)
    (places,) = np.nonzero(kept, size=size, fill_value=values.shape[0])
    return chosen(values, places, size, 0 if fill_value is None else fill_value)


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The distinct elements that occur in exactly one of two arrays.

    >>> setxor1d(np.array([1, 2]), np.array([2, 3]))
    Array([1, 3], dtype=int32)
    """
    both = np.concatenate([np.ravel(ar1), np.ravel(ar2)])
    values = distinct(both, size)
    kept = (isin(values, ar1) != isin(values, ar2)) | (values != values)  # NaN is in neither
    if size is not None:
        kept = kept & first_of_run(values[:, None], True)
    (places,) = np.nonzero(kept, size=size, fill_value=values.shape[0])
    return chosen(values, places, size, fill_value)


from overt.runtime import numpy as np  # noqa: E402
