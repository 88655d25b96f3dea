"""Sparse arrays from dense ones and from nothing, and back."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.errors import StagingError
from overt.runtime.sparse.coordinates import BCOO
from overt.runtime.sparse.rows import BCSR
from overt.runtime.staging import is_known

__all__ = ["bcoo_fromdense", "bcoo_todense", "empty", "eye", "sparsify", "todense"]


def bcoo_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
    index_dtype: Any = numpy.int32,
) -> BCOO:  # fmt: skip
    """The numbers of an array that are not zero, or the dense parts that are not all zero.

    `nse` is how many each batch has room for, as many as the fullest one needs unless given.

    Errors: StagingError without `nse` for an array that is not known.

    >>> print(bcoo_fromdense(np.array([[0.0, 5.0], [0.0, 0.0]])).indices)
    [[0 1]]
    """
    mat = np.asarray(mat)
    n_sparse = mat.ndim - n_batch - n_dense
    if min(n_batch, n_dense, n_sparse) < 0:
        raise ValueError(f"{mat.ndim} axes cannot have {n_batch} of batches and {n_dense} dense")
    lead, sizes = mat.shape[:n_batch], mat.shape[n_batch : n_batch + n_sparse]
    dense = mat.shape[n_batch + n_sparse :]
    rows = np.reshape(mat, (*lead, math.prod(sizes), *dense))
    used = rows != 0
    if n_dense:
        used = np.any(used, tuple(range(n_batch + 1, n_batch + 1 + n_dense)))
    if nse is None:
        if not is_known(mat):
            raise StagingError(
                "bcoo_fromdense needs to know how many numbers are not zero, but the array is "
                "unknown while a program is staged or batched; give nse="
            )
        counts = numpy.sum(numpy.asarray(used), -1)
        nse = int(counts.max()) if counts.size else 0
    nse = min(int(nse), math.prod(sizes)) if math.prod(sizes) else 0
    order = np.argsort(~used, axis=-1, stable=True)[..., :nse]
    good = np.take_along_axis(used, order, -1)
    wide = (*order.shape, *(1,) * n_dense)
    picked = np.broadcast_to(np.reshape(order, wide), (*order.shape, *dense))
    data = np.take_along_axis(rows, picked, n_batch)
    data = np.where(np.reshape(good, wide), data, np.zeros((), mat.dtype))
    places, columns = order, []
    for k, size in enumerate(sizes):
        step = math.prod(sizes[k + 1 :])
        columns.append(np.where(good, places // step, size))
        places = places % step
    indices = np.stack(columns, -1) if columns else np.zeros((*order.shape, 0))
    return BCOO(
        (data, indices.astype(index_dtype)), shape=mat.shape, indices_sorted=True,
        unique_indices=True,
    )  # fmt: skip


def bcoo_todense(mat: BCOO) -> Any:
    """The array that a BCOO stands for."""
    return mat.todense()


def todense(arr: Any) -> Any:
    """The array that a sparse one stands for; an array itself as it is.

    >>> print(todense(eye(2)))
    [[1. 0.]
     [0. 1.]]
    """
    return arr.todense() if isinstance(arr, (BCOO, BCSR)) else np.asarray(arr)


def _formatted(m: BCOO, sparse_format: str) -> Any:
    if sparse_format == "bcoo":
        return m
    if sparse_format == "bcsr":
        return BCSR.from_bcoo(m)
    raise ValueError(f"sparse_format is 'bcoo' or 'bcsr', not {sparse_format!r}")


def empty(
    shape: Sequence[int], dtype: Any = None, index_dtype: Any = "int32",
    sparse_format: str = "bcoo", **kwds: Any,
) -> Any:  # fmt: skip
    """A sparse array of zeros; `nse=`, `n_batch=` and `n_dense=` as of `bcoo_fromdense`.

    >>> empty((2, 3))
    BCOO(float32[2,3], nse=0)
    """
    nse, n_batch, n_dense = (kwds.pop(k, 0) for k in ("nse", "n_batch", "n_dense"))
    if kwds:
        raise TypeError(f"empty got unexpected arguments {sorted(kwds)}")
    shape = tuple(shape)
    lead, dense = shape[:n_batch], shape[len(shape) - n_dense :]
    sizes = numpy.array(shape[n_batch : len(shape) - n_dense], index_dtype)
    data = np.zeros((*lead, nse, *dense), float if dtype is None else dtype)
    indices = np.asarray(numpy.broadcast_to(sizes, (*lead, nse, len(sizes))))
    m = BCOO((data, indices), shape=shape, indices_sorted=True, unique_indices=True)
    return _formatted(m, sparse_format)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, index_dtype: Any = "int32",
    sparse_format: str = "bcoo", **kwds: Any,
) -> Any:  # fmt: skip
    """A sparse matrix with ones on its k-th diagonal.

    >>> print(eye(2, 3, 1).todense())
    [[0. 1. 0.]
     [0. 0. 1.]]
    """
    if kwds:
        raise NotImplementedError(f"eye does not take {sorted(kwds)}")
    M = N if M is None else M
    rows = numpy.arange(max(0, -k), max(0, min(N, M - k), max(0, -k)))
    indices = numpy.stack([rows, rows + k], 1).astype(index_dtype)
    data = np.ones(len(rows), dtypes.canonicalize(float if dtype is None else dtype))
    m = BCOO((data, indices), shape=(N, M), indices_sorted=True, unique_indices=True)
    return _formatted(m, sparse_format)


def sparsify(f: Callable, use_tracer: bool = False) -> Callable:
    """`f` for sparse arguments: whose operators `@ + - * /` and methods are those of `BCOO`.

    All of them are differentiated in it, in reverse too. A function of arrays that has no sparse
    form raises a TypeError for them. `use_tracer` has no effect.

    >>> f = sparsify(lambda m, v: 2 * m.T @ v)
    >>> print(f(eye(2), np.array([1.0, 2.0])))
    [2. 4.]
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from overt.runtime.called import call

        return call(f, *args, **kwargs)

    return wrapped
