"""`BCSR`: matrices with their numbers row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.sparse.coordinates import BCOO, NOT_DIFFERENTIATED
from overt.runtime.tree import register_pytree_node

__all__ = ["BCSR"]


class BCSR:
    """A sparse matrix: row i has `data` in columns `indices`, both from indptr[i] to indptr[i + 1].

    Shapes: `data` and `indices` (nse,), `indptr` (rows + 1,).
    Errors: NotImplementedError for batches of matrices and dense axes: use BCOO.

    >>> m = BCSR((np.array([5.0, 7.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    >>> print(m.todense())
    [[0. 5.]
     [7. 0.]]
    """

    __overt_sparse__ = True
    __array_ufunc__ = None
    n_batch, n_sparse, n_dense = 0, 2, 0

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = (np.asarray(x) for x in args)
        self.shape = tuple(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        if len(self.shape) != 2 or self.data.ndim != 1 or self.indptr.shape != (self.shape[0] + 1,):
            raise NotImplementedError(
                f"BCSR is of single matrices, not of shape {self.shape} with data of shape "
                f"{self.data.shape} and indptr {self.indptr.shape}; use BCOO"
            )

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = numpy.int32) -> BCSR:
        """The numbers of a matrix that are not zero."""
        return cls.from_bcoo(BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype))

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """From a matrix with coordinates."""
        if arr.n_batch or arr.n_dense or arr.ndim != 2:
            raise NotImplementedError(f"BCSR is of single matrices, not of {arr!r}")
        m = arr if arr.indices_sorted else arr.sort_indices()
        rows, columns = m.columns()
        indptr = np.searchsorted(rows, np.arange(arr.shape[0] + 1, dtype=rows.dtype))
        return cls(
            (m.data, columns, indptr.astype(rows.dtype)), shape=arr.shape, indices_sorted=True,
            unique_indices=m.unique_indices,
        )  # fmt: skip

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None) -> BCSR:
        """From a matrix of SciPy's."""
        csr = mat.tocsr()
        kind = index_dtype or numpy.int32
        return cls(
            (csr.data, csr.indices.astype(kind), csr.indptr.astype(kind)), shape=mat.shape
        )  # fmt: skip

    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    nse = property(lambda self: self.indices.shape[-1])

    def __repr__(self) -> str:
        return f"BCSR({self.dtype}[{self.shape[0]},{self.shape[1]}], nse={self.nse})"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"a BCSR is no array; use its todense(). Or: {NOT_DIFFERENTIATED}")

    def with_data(self, data: Any) -> BCSR:
        """Other numbers at the same places."""
        return _rebuilt(
            (data, self.indices, self.indptr), self.shape, self.indices_sorted, self.unique_indices
        )  # fmt: skip

    def to_bcoo(self) -> BCOO:
        """The same with coordinates."""
        rows = np.searchsorted(self.indptr, np.arange(self.nse), side="right") - 1
        beyond = np.arange(self.nse) >= self.indptr[-1]
        rows = np.where(beyond, self.shape[0], rows).astype(self.indices.dtype)
        return BCOO(
            (self.data, np.stack([rows, self.indices], -1)), shape=self.shape,
            indices_sorted=self.indices_sorted, unique_indices=self.unique_indices,
        )  # fmt: skip

    def todense(self) -> Any:
        """The array."""
        return self.to_bcoo().todense()

    def __matmul__(self, other: Any) -> Any:
        return self.to_bcoo() @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.to_bcoo()


register_pytree_node(
    BCSR,
    lambda m: (
        (m.data, m.indices, m.indptr), (m.shape, m.indices_sorted, m.unique_indices)
    ),
    lambda form, children: _rebuilt(children, *form),
)  # fmt: skip


def _rebuilt(children: Any, shape: tuple[int, ...], in_order: bool, unique: bool) -> BCSR:
    made = object.__new__(BCSR)
    made.data, made.indices, made.indptr = children
    made.shape, made.indices_sorted, made.unique_indices = shape, in_order, unique
    return made
