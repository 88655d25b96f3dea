"""Diagonals, triangles, and arrays of indices."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.numpy.movement import normal_axes, shape_of, with_rule
from overt.runtime.numpy.selecting import changed_in_place
from overt.runtime.primitive import composite

__all__ = [
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "fill_diagonal",
    "indices",
    "ix_",
    "mask_indices",
    "ravel_multi_index",
    "trace",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]


# diagonals ----------------------------------------------------------------------------------------


def diagonal_length(rows: int, columns: int, offset: int) -> int:
    """Number of elements on a diagonal."""
    return max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, offset, axis1, axis2: on_diagonal(g, a, offset, axis1, axis2),),
)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as the last axis.

    >>> diagonal(np.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    a = np.asarray(a)
    if a.ndim < 2:
        raise ValueError("diagonal needs an array of at least two dimensions")
    a = np.moveaxis(a, normal_axes((axis1, axis2), a.ndim), (-2, -1))
    rows, columns = a.shape[-2:]
    count = diagonal_length(rows, columns, offset)
    # in row-major order the elements of a diagonal are columns + 1 apart
    flat = np.reshape(a, (*a.shape[:-2], rows * columns))
    start = offset if offset >= 0 else -offset * columns
    return flat[..., start : start + (count - 1) * (columns + 1) + 1 : columns + 1][..., :count]


def on_diagonal(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Transpose of `np.diagonal(a)`: zeros like `a` with `g` on the diagonal."""
    lengths = shape_of(a)
    axes = normal_axes((axis1, axis2), len(lengths))
    rows, columns = lengths[axes[0]], lengths[axes[1]]
    rest = tuple(n for k, n in enumerate(lengths) if k not in axes)
    count = diagonal_length(rows, columns, offset)
    start = offset if offset >= 0 else -offset * columns
    flat = np.zeros((*rest, rows * columns), g.dtype)
    if count:
        flat = flat.at[..., start : start + (count - 1) * (columns + 1) + 1 : columns + 1].set(g)
    return np.moveaxis(np.reshape(flat, (*rest, rows, columns)), (-2, -1), axes)


@composite(arrays=("v",), linear=True, vjp=(lambda g, out, v, *, k: diag_back(g, v, k),))
def diag(v: Any, k: int = 0) -> Any:
    """The k-th diagonal of a matrix, or the matrix with a vector on that diagonal.

    >>> diag(np.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    v = np.asarray(v)
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"diag needs a vector or a matrix, not shape {v.shape}")
    n = v.shape[0] + abs(k)
    return on_diagonal(v, np.zeros((n, n), v.dtype), k, 0, 1)


@with_rule(
    arrays=("g", "v"),
    vjp=(lambda h, out, g, v, *, k: np.diag(h, k), None),
    jvp=lambda dots, out, g, v, *, k: diag_back(dots[0], v, k),
)
def diag_back(g: Any, v: Any, k: int = 0) -> Any:
    """Transpose of `np.diag(v, k)`."""
    return np.diagonal(g, k) if len(shape_of(v)) == 1 else on_diagonal(g, v, k, 0, 1)


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with all elements of `v` on its k-th diagonal.

    >>> diagflat(np.array([[1, 2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return np.diag(np.ravel(v), k)


@composite(
    arrays=("a",),
    linear=True,
    vjp=(lambda g, out, a, *, offset, axis1, axis2, dtype: on_trace(g, a, offset, axis1, axis2),),
)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum of a diagonal.

    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def on_trace(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Transpose of `np.trace(a)`: zeros like `a` with `g` all along the diagonal."""
    g = np.asarray(g)
    lengths = shape_of(a)
    first, second = normal_axes((axis1, axis2), len(lengths))
    count = diagonal_length(lengths[first], lengths[second], offset)
    repeated = np.broadcast_to(g[..., None], (*g.shape, count))
    return on_diagonal(repeated, a, offset, axis1, axis2)


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """An array with `val` on its main diagonal (repeated as needed).

    Arrays are immutable, so this is a new array, and `inplace=False` must be said; in a transformed
    function `np.fill_diagonal(a, val)` changes what `a` stands for.

    >>> fill_diagonal(np.zeros((2, 2)), 5.0, inplace=False)
    Array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    if inplace:
        return changed_in_place(numpy.fill_diagonal, a, val, wrap)
    a = np.asarray(a)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        step = a.shape[1] + 1
        end = None if wrap else min(a.shape[1] * a.shape[1], a.size)
    else:
        if len(set(a.shape)) > 1:
            raise ValueError("all dimensions of the array must be of equal length")
        step = 1 + sum(a.shape[0] ** k for k in range(1, a.ndim))
        end = a.size
    places = numpy.arange(0, a.size, step)[: None if end is None else -(-end // step)]
    values = np.resize(np.ravel(val), (len(places),))
    return np.reshape(np.ravel(a).at[places].set(values), a.shape)


# triangles ----------------------------------------------------------------------------------------


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones at and below the k-th diagonal, zeros above.

    >>> tri(2)
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    M = N if M is None else M
    rows = np.arange(N, dtype=np.int32)[:, None]
    below = rows + k >= np.arange(M, dtype=np.int32)[None, :]
    return below.astype(float if dtype is None else dtype)


@composite(arrays=("m",), linear=True, vjp=(lambda g, out, m, *, k: np.tril(g, k),))
def tril(m: Any, k: int = 0) -> Any:
    """The elements at and below the k-th diagonal of the last two axes, zeros above.

    >>> tril(np.array([[1, 2], [3, 4]]))
    Array([[1, 0],
           [3, 4]], dtype=int32)
    """
    m = np.asarray(m)
    if m.ndim < 2:
        raise ValueError(f"tril needs at least two axes, not shape {m.shape}")
    rows, columns = m.shape[-2:]
    return np.where(tri(rows, columns, k, bool), m, np.zeros((), m.dtype))


@composite(arrays=("m",), linear=True, vjp=(lambda g, out, m, *, k: np.triu(g, k),))
def triu(m: Any, k: int = 0) -> Any:
    """The elements at and above the k-th diagonal of the last two axes, zeros below.

    >>> triu(np.array([[1, 2], [3, 4]]))
    Array([[1, 2],
           [0, 4]], dtype=int32)
    """
    m = np.asarray(m)
    if m.ndim < 2:
        raise ValueError(f"triu needs at least two axes, not shape {m.shape}")
    rows, columns = m.shape[-2:]
    return np.where(tri(rows, columns, k - 1, bool), np.zeros((), m.dtype), m)


def known(arrays: Any) -> tuple[Any, ...]:
    """Index arrays that NumPy worked out, as ours."""
    return tuple(np.asarray(a.astype(dtypes.int_type())) for a in arrays)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Rows and columns of the lower triangle of an n by m matrix.

    >>> tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    return known(numpy.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Rows and columns of the upper triangle of an n by m matrix.

    >>> triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return known(numpy.triu_indices(n, k, m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Rows and columns of the lower triangle of a matrix like `arr`.

    >>> tril_indices_from(np.ones((1, 2)), 1)
    (Array([0, 0], dtype=int32), Array([0, 1], dtype=int32))
    """
    rows, columns = shape_of(arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Rows and columns of the upper triangle of a matrix like `arr`.

    >>> triu_indices_from(np.ones((1, 2)), 1)
    (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    rows, columns = shape_of(arr)
    return triu_indices(rows, k, columns)


def mask_indices(n: int, mask_func: Any, k: Any = 0, *, size: int | None = None) -> tuple[Any, Any]:
    """Rows and columns at which `mask_func(ones, k)` is nonzero in an n by n matrix.

    >>> mask_indices(2, np.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return np.nonzero(mask_func(np.ones((n, n)), k), size=size)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The index of the main diagonal.

    >>> diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    return (np.arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The index of the main diagonal of an array whose axes are equally long.

    >>> len(diag_indices_from(np.ones((2, 2, 2))))
    3
    """
    lengths = shape_of(arr)
    if len(lengths) < 2 or len(set(lengths)) > 1:
        raise ValueError("diag_indices_from needs two or more axes of equal length")
    return diag_indices(lengths[0], len(lengths))


# arrays of indices --------------------------------------------------------------------------------


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """For every axis of a grid, each place's number along that axis.

    >>> indices((2, 2))[0]
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    n = len(dimensions)
    lines = [
        np.reshape(np.arange(m, dtype=dtype), (1,) * k + (m,) + (1,) * (n - k - 1))
        for k, m in enumerate(dimensions)
    ]
    if sparse:
        return tuple(lines)
    return (
        np.stack([np.broadcast_to(line, tuple(dimensions)) for line in lines])
        if lines
        else np.zeros((0,), dtype)
    )


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors of indices laid out so that together they select a block.

    >>> np.arange(6).reshape(2, 3)[ix_([0, 1], [0, 2])]
    Array([[0, 2],
           [3, 5]], dtype=int32)
    """
    result = []
    for k, a in enumerate(args):
        a = np.asarray(a)
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if a.dtype == bool:
            (a,) = np.nonzero(a)
        elif a.size == 0:
            a = a.astype(np.int32)
        result.append(np.reshape(a, (1,) * k + (a.size,) + (1,) * (len(args) - k - 1)))
    return tuple(result)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """From numbers in row-major order to one index an axis; out of range ones are clamped.

    >>> unravel_index(5, (2, 3))
    (Array(1, dtype=int32), Array(2, dtype=int32))
    """
    lengths = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    total = int(numpy.prod(lengths, dtype=int))
    number = np.asarray(indices, dtype=None if shape_of(indices) else int)
    number = np.clip(np.where(number < 0, number + total, number), 0, max(total - 1, 0))
    result = []
    for n in reversed(lengths):
        result.append(number % n if n else number)
        number = number // n if n else number
    return tuple(reversed(result))


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str = "raise", order: str = "C", *, dtype: Any = None
) -> Any:
    """From one index an axis to numbers in row-major (or "F": column-major) order.

    >>> ravel_multi_index((1, 2), (2, 3))
    Array(5, dtype=int32)
    """
    parts = [np.asarray(part, dtype=None if shape_of(part) else int) for part in multi_index]
    if len(parts) != len(dims):
        raise ValueError(f"got {len(parts)} index arrays for {len(dims)} dimensions")
    if mode == "wrap":
        parts = [np.remainder(part, n) for part, n in zip(parts, dims, strict=True)]
    elif mode == "clip":
        parts = [np.clip(part, 0, n - 1) for part, n in zip(parts, dims, strict=True)]
    else:
        for part, n in zip(parts, dims, strict=True):
            values = host_value(part)
            if values is not None and values.size and (values.min() < 0 or values.max() >= n):
                raise ValueError("invalid entry in coordinates array")
    result: Any = 0
    pairs = list(zip(parts, dims, strict=True))
    for part, n in pairs if order == "C" else reversed(pairs):
        result = result * n + part
    return np.asarray(result, dtype)


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.numpy.index_plan import host_value  # noqa: E402
