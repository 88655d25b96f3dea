"""Sorting, ordering and searching in sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.movement import broadcast_in, normal_axis, shape_of
from overt.runtime.primitive import Primitive, composite

__all__ = [
    "argpartition",
    "argsort",
    "bincount",
    "digitize",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
    "top_k",
]


# the primitive ------------------------------------------------------------------------------------


def _lower_order(
    b: Any, *keys: Any, avals: Any, out: Any, axis: int, stable: bool, descending: bool
) -> Any:
    number = b.iota(avals[0].shape, axis, numpy.int32)

    def comparator(b: Any, *pairs: Any) -> Any:
        if descending:
            pairs = tuple(p for k in range(0, len(pairs), 2) for p in (pairs[k + 1], pairs[k]))
        return b.lexicographic_less(pairs, len(keys))

    *_, order = b.sort([*keys, number], axis, len(keys), stable, comparator)
    return order


def _batch_order(values: Any, batch: Any, size: int, *, axis: int, **how: Any) -> Any:
    keys = [
        x if at == 0 else broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
        for x, at in zip(values, batch, strict=True)
    ]
    return order_of(*keys, axis=axis + 1, **how), 0


order_of = Primitive(
    "order_of",
    arrays=("keys",),
    shape=lambda *keys, axis, stable, descending: Aval(keys[0].shape, numpy.int32),
    lower=_lower_order,
    zero_derivative=True,
    batch=_batch_order,
    doc="The permutation along an axis that sorts by the first key, ties by the next; NaN last.",
)


def _lower_sorted(b: Any, x: Any, *, avals: Any, out: Any, axis: int) -> Any:
    return b.sort([x], axis, 1, False)[0]


def _batch_sorted(values: Any, batch: Any, size: int, *, axis: int) -> Any:
    return sorted_along(values[0], axis=axis + 1), 0


sorted_along = Primitive(
    "sorted_along",
    shape=lambda x, *, axis: x,
    lower=_lower_sorted,
    vjp=(lambda g, out, x, *, axis: unsort(g, np.argsort(x, axis), axis),),
    jvp=lambda dots, out, x, *, axis: np.take_along_axis(dots[0], np.argsort(x, axis), axis),
    batch=_batch_sorted,
    doc="Elements in ascending order along an axis.",
)


def unsort(g: Any, order: Any, axis: int) -> Any:
    """Undoes `np.take_along_axis(x, order, axis)` for a permutation `order`."""
    return np.take_along_axis(g, np.argsort(order, axis), axis)


# sort, argsort ------------------------------------------------------------------------------------


@composite(
    arrays=("a",),
    vjp=(
        lambda g, out, a, *, axis, kind, order, stable, descending: unsorted(
            g, a, axis, descending
        ),
    ),
    jvp=lambda dots, out, a, *, axis, kind, order, stable, descending: sorted_like(
        dots[0], a, axis, descending
    ),
)
def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: Any = None,
    order: Any = None,
    stable: bool = True,
    descending: bool = False,
) -> Any:
    """Elements in ascending order along an axis (None: all of them); NaN comes last.

    >>> sort(np.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    a = np.asarray(a)
    if axis is None:
        a, axis = np.ravel(a), -1
    axis = normal_axis(axis, a.ndim)
    if descending:
        return np.take_along_axis(a, np.argsort(a, axis, descending=True), axis)
    return sorted_along(a, axis=axis)


def sorted_like(x: Any, a: Any, axis: int | None = -1, descending: bool = False) -> Any:
    """`x` rearranged as sorting rearranges `a`."""
    if axis is None:
        x, a, axis = np.ravel(x), np.ravel(a), -1
    return np.take_along_axis(x, np.argsort(a, axis, descending=descending), axis)


def unsorted(g: Any, a: Any, axis: int | None = -1, descending: bool = False) -> Any:
    """Transpose of sorting `a`: every element of `g` back where its number came from."""
    if axis is None:
        return np.reshape(unsorted(g, np.ravel(a), -1, descending), shape_of(a))
    return unsort(g, np.argsort(a, axis, descending=descending), axis)


@composite(arrays=("a",), zero_derivative=True)
def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: Any = None,
    order: Any = None,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Any:
    """The places of the elements in ascending order, as integers; equal ones keep their order.

    >>> argsort(np.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    a = np.asarray(a)
    if axis is None:
        a, axis = np.ravel(a), -1
    axis = normal_axis(axis, a.ndim)
    order = order_of(a, axis=axis, stable=stable, descending=descending)
    return order.astype(dtypes.int_type() if dtype is None else dtypes.canonicalize(dtype))


def sort_complex(a: Any) -> Any:
    """Elements sorted by real, then by imaginary part, as complex numbers.

    >>> sort_complex(np.array([2.0, 1.0]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    a = np.sort(np.asarray(a))
    return (
        a if dtypes.is_complex(a.dtype) else a.astype(dtypes.complex_of(dtypes.to_inexact(a.dtype)))
    )


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The permutation that sorts by the last key, ties by the one before it, and so on.

    >>> lexsort((np.array([1, 0, 0]), np.array([0, 1, 0])))
    Array([2, 0, 1], dtype=int32)
    """
    keys = [np.asarray(key) for key in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if keys[0].ndim == 0:
        return np.zeros((), dtypes.int_type())
    axis = normal_axis(axis, keys[0].ndim)
    order = order_of(*reversed(keys), axis=axis, stable=True, descending=False)
    return order.astype(dtypes.int_type())


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, kth, axis: unsorted(g, a, axis, False),),
    jvp=lambda dots, out, a, *, kth, axis: sorted_like(dots[0], a, axis, False),
)
def partition(a: Any, kth: int, axis: int | None = -1) -> Any:
    """Elements rearranged: the kth in its sorted place, smaller before it (here: all sorted).

    >>> int(partition(np.array([3, 1, 2]), 1)[1])
    2
    """
    check_kth(kth, a, axis)
    return np.sort(a, axis)


@composite(arrays=("a",), zero_derivative=True)
def argpartition(a: Any, kth: int, axis: int | None = -1) -> Any:
    """The places of the elements, the kth smallest at position kth, smaller ones before it.

    >>> int(argpartition(np.array([3, 1, 2]), 1)[1])
    2
    """
    check_kth(kth, a, axis)
    return np.argsort(a, axis).astype(np.int32)


def check_kth(kth: Any, a: Any, axis: int | None) -> None:
    """Errors: ValueError where kth is out of range."""
    lengths = shape_of(a)
    n = int(numpy.prod(lengths)) if axis is None else lengths[axis]
    for k in kth if isinstance(kth, tuple) else (kth,):
        if not -n <= k < n:
            raise ValueError(f"kth(={k}) out of bounds ({n})")


def top_k(x: Any, k: int, axis: int = -1) -> tuple[Any, Any]:
    """The k largest elements along an axis in descending order, and their places.

    >>> top_k(np.array([1.0, 3.0, 2.0]), 2)
    (Array([3., 2.], dtype=float32), Array([1, 2], dtype=int32))
    """
    x = np.asarray(x)
    axis = normal_axis(axis, x.ndim)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"k must lie between 0 and {x.shape[axis]}, not {k}")
    places = np.argsort(x, axis, descending=True).astype(np.int32)
    places = places[(*(slice(None),) * axis, slice(0, k))]
    return np.take_along_axis(x, places, axis), places


# searching ----------------------------------------------------------------------------------------


@composite(arrays=("a", "v", "sorter"), zero_derivative=True)
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """Where the elements of `v` would have to go to keep the vector `a` sorted.

    With side "left" before equal elements, with "right" after them; NaN sorts last.

    >>> searchsorted(np.array([1, 2, 2, 3]), np.array([2, 5]))
    Array([1, 4], dtype=int32)
    """
    a, v = np.asarray(a), np.asarray(v)
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    if a.ndim != 1:
        raise ValueError("searchsorted needs a one-dimensional array to search in")
    if sorter is not None:
        a = a[sorter]
    dtype = np.result_type(a, v)
    a, v = a.astype(dtype), v.astype(dtype)
    n = a.shape[0]
    low = np.zeros(v.shape, np.int32)
    high = np.full(v.shape, n, np.int32)
    for _ in range(n.bit_length()):  # bisection; all searches at once
        middle = (low + high) // 2
        pivot = a[np.minimum(middle, n - 1)]
        right = pivot < v if side == "left" else pivot <= v
        if dtypes.is_inexact(dtype):
            nan = v != v
            right = right | (nan & ((pivot == pivot) | (side == "right")))
        right = right & (low < high)
        low, high = np.where(right, middle + 1, low), np.where(right, high, middle)
    return low


def digitize(x: Any, bins: Any, right: bool = False, *, method: Any = None) -> Any:
    """The number of the bin in which each element lies; bins may ascend or descend.

    >>> digitize(np.array([0.2, 6.4]), np.array([0.0, 1.0, 2.5]))
    Array([1, 3], dtype=int32)
    """
    x, bins = np.asarray(x), np.asarray(bins)
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins must be a 1-dimensional array, not shape {bins.shape}")
    side = "left" if right else "right"
    if bins.shape[0] < 2:
        return searchsorted(bins, x, side)
    ascending = bins[-1] >= bins[0]
    upwards = searchsorted(bins, x, side)
    downwards = bins.shape[0] - searchsorted(bins[::-1], x, side)
    return np.where(ascending, upwards, downwards)


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """How often each number occurs, or the sum of its weights; `length` fixes the result's size.

    Errors: StagingError without `length` where the values are known only at run time.

    >>> bincount(np.array([1, 1, 3]))
    Array([0, 2, 0, 1], dtype=int32)
    """
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError("bincount needs a one-dimensional array")
    if length is None:
        values = mask_value(x, "bincount without length=...")
        if values.size and values.min() < 0:
            raise ValueError("bincount: 'x' argument must have no negative elements")
        length = max(int(values.max()) + 1 if values.size else 0, minlength)
    weights = np.ones(x.shape, dtypes.int_type()) if weights is None else np.asarray(weights)
    # like JAX: negative numbers count as 0
    return np.zeros((length,), weights.dtype).at[np.maximum(x, 0)].add(weights)


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.numpy.index_plan import mask_value  # noqa: E402
