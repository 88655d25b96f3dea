"""`BCOO`: batches of numbers with their coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.errors import StagingError
from overt.runtime.interop import block_until_ready
from overt.runtime.numpy.movement import normal_axes
from overt.runtime.segments import segment_sum
from overt.runtime.staging import is_known
from overt.runtime.tree import register_pytree_node

__all__ = ["BCOO"]

NOT_DIFFERENTIATED = (
    "this operator of a sparse array is not differentiated as it stands: put it into a function "
    "and sparsify that"
)


class BCOO:
    """A sparse array: `data` at `indices`, zero elsewhere. Repeated indices mean the sum.

    Axes of batches come first, then the sparse ones, then dense ones. Indices beyond the shape are
    padding. The operators are `@`, `+`, `-`, `*` and `/`; whatever else takes arrays takes
    `todense()`.

    Shapes: `data` (*batch, nse, *dense), `indices` (*batch, nse, n_sparse).

    >>> m = BCOO((np.array([5.0, 7.0]), np.array([[0, 1], [1, 0]])), shape=(2, 2))
    >>> print(m @ np.array([1.0, 10.0]))
    [50.  7.]
    """

    __overt_sparse__ = True
    __array_ufunc__ = None  # so that `numpy_array @ m` comes here

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices = (np.asarray(x) for x in args)
        self.shape = tuple(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices

    @classmethod
    def fromdense(
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = numpy.int32, n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:  # fmt: skip
        """The numbers of an array that are not zero; `nse` says how many to keep room for."""
        from overt.runtime.sparse.making import bcoo_fromdense

        return bcoo_fromdense(
            mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype
        )  # fmt: skip

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """From a matrix of SciPy's."""
        if n_dense or n_batch:
            raise NotImplementedError("BCOO.from_scipy_sparse with n_dense or n_batch")
        coo = mat.tocoo()
        indices = numpy.stack([coo.row, coo.col], 1).astype(index_dtype or numpy.int32)
        return cls((coo.data, indices), shape=mat.shape)

    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    nse = property(lambda self: self.indices.shape[-2])
    n_batch = property(lambda self: self.indices.ndim - 2)
    n_sparse = property(lambda self: self.indices.shape[-1])
    n_dense = property(lambda self: self.data.ndim - 1 - self.n_batch)
    T = property(lambda self: self.transpose())

    def __repr__(self) -> str:
        extra = [f"{k}={v}" for k in ("n_batch", "n_dense") if (v := getattr(self, k))]
        lengths = ",".join(map(str, self.shape))
        return f"BCOO({', '.join([f'{self.dtype}[{lengths}]', f'nse={self.nse}', *extra])})"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"a BCOO is no array; use its todense(). Or: {NOT_DIFFERENTIATED}")

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError("a BCOO is neither true nor false; use its todense()")

    def with_data(self, data: Any) -> BCOO:
        """Other numbers at the same places."""
        return BCOO(
            (data, self.indices), shape=self.shape, indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )  # fmt: skip

    def astype(self, *args: Any, **kwargs: Any) -> BCOO:
        """The numbers in another dtype."""
        return self.with_data(self.data.astype(*args, **kwargs))

    def block_until_ready(self) -> BCOO:
        """Wait until all numbers are there."""
        block_until_ready([self.data, self.indices])
        return self

    # coordinates ----------------------------------------------------------------------------------

    def flattened(self) -> BCOO:
        """The same without axes of batches and dense ones: all axes are sparse."""
        if self.indices is None or not dtypes.is_integer(self.indices.dtype):
            raise TypeError(NOT_DIFFERENTIATED)
        b, n, d = self.n_batch, self.n_sparse, self.n_dense
        if not b and not d:
            return self
        lead, dense = self.shape[:b], self.shape[b + n :]
        whole = (*lead, self.nse, *dense)
        data = np.broadcast_to(self.data, whole)
        indices = np.broadcast_to(self.indices, (*lead, self.nse, n))
        parts = [np.arange(size, dtype=indices.dtype) for size in lead]
        columns = [
            np.reshape(x, [-1 if axis == k else 1 for axis in range(len(whole))])
            for k, x in enumerate(parts)
        ]
        columns += [np.reshape(indices[..., k], (*indices.shape[:-1], *(1,) * d)) for k in range(n)]
        for k, size in enumerate(dense):
            places = np.arange(size, dtype=indices.dtype)
            axis = b + 1 + k
            columns.append(np.reshape(places, [-1 if i == axis else 1 for i in range(len(whole))]))
        coordinates = np.stack([np.ravel(np.broadcast_to(c, whole)) for c in columns], -1)
        return BCOO(
            (np.ravel(data), coordinates), shape=self.shape, unique_indices=self.unique_indices
        )  # fmt: skip

    def columns(self, padding: int | None = None) -> tuple[Any, ...]:
        """The coordinates of all numbers along each axis, without batches; those of padding as
        they are, or all `padding`."""
        indices = self.indices
        if padding is not None:
            indices = np.where(self.inside()[:, None], indices, padding)
        return tuple(indices[:, k] for k in range(self.n_sparse))

    def inside(self) -> Any:
        """Which indices are within the shape, and no padding."""
        sparse = self.shape[self.n_batch : self.n_batch + self.n_sparse]
        good = np.ones(self.indices.shape[:-1], bool)
        for k, size in enumerate(sparse):
            good = good & (self.indices[..., k] < size)
        return good

    def todense(self) -> Any:
        """The array."""
        flat = self.flattened()
        data = np.where(flat.inside(), flat.data, np.zeros((), flat.dtype))
        if flat.dtype == bool:
            return np.zeros(self.shape, bool).at[flat.columns()].max(data, mode="drop")
        if not self.shape:
            return np.sum(data).astype(self.dtype)
        return np.zeros(self.shape, self.dtype).at[flat.columns()].add(data, mode="drop")

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """Other axes first; axes of batches and dense ones become sparse."""
        axes = range(self.ndim)[::-1] if axes is None else axes
        order = normal_axes(axes, self.ndim)
        flat = self.flattened()
        indices = flat.indices[:, numpy.array(order, int)]
        return BCOO(
            (flat.data, indices), shape=[self.shape[axis] for axis in order],
            unique_indices=flat.unique_indices,
        )  # fmt: skip

    def reshape(self, *shape: Any) -> BCOO:
        """Another shape with the numbers in the same order; all axes become sparse."""
        wanted = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if -1 in wanted:
            known = math.prod(size for size in wanted if size != -1)
            wanted[wanted.index(-1)] = self.size // known if known else 0
        if math.prod(wanted) != self.size:
            raise ValueError(f"cannot reshape {self.shape} into {tuple(wanted)}")
        flat = self.flattened()
        place = _linear(flat)
        columns = [
            place // math.prod(wanted[k + 1 :]) % size if size else place
            for k, size in enumerate(wanted)
        ]
        sizes = numpy.array(wanted, flat.indices.dtype)
        indices = np.where(flat.inside()[:, None], np.stack(columns, -1), sizes)
        return BCOO((flat.data, indices), shape=wanted, unique_indices=flat.unique_indices)

    def sum(self, axis: Any = None) -> BCOO:
        """The sum along some axes, all unless given."""
        flat = self.flattened()
        gone = normal_axes(range(self.ndim) if axis is None else axis, self.ndim)
        kept = [k for k in range(self.ndim) if k not in gone]
        good = flat.inside()
        sizes = numpy.array([self.shape[k] for k in kept], flat.indices.dtype)
        indices = np.where(good[:, None], flat.indices[:, numpy.array(kept, int)], sizes)
        data = np.where(good, flat.data, np.zeros((), self.dtype))
        return BCOO((data, indices), shape=[self.shape[k] for k in kept])

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """Each place once, in order; `nse` says how many to keep room for.

        With `remove_zeros` padding is left out.

        Errors: StagingError without `nse` where indices are not known.
        """
        flat = self.flattened()
        if nse is None and not is_known(flat.indices):
            raise StagingError(
                "sum_duplicates needs to know how many places there are, but indices are unknown "
                "while a program is staged or batched; give nse="
            )
        good = flat.inside()
        place = np.where(good, _linear(flat), self.size)
        if nse is None:
            known = numpy.unique(numpy.asarray(place))
            nse = int((known < self.size).sum()) if remove_zeros else known.size
        ids, inverse = np.unique(place, return_inverse=True, size=nse, fill_value=self.size)
        data = segment_sum(np.where(good, flat.data, np.zeros((), self.dtype)), inverse, nse)
        columns, rest = [], ids
        for k, size in enumerate(self.shape):
            step = math.prod(self.shape[k + 1 :])
            columns.append(np.where(ids < self.size, rest // step if step else rest, size))
            rest = rest % step if step else rest
        indices = np.stack(columns, -1).astype(flat.indices.dtype)
        return BCOO((data, indices), shape=self.shape, indices_sorted=True, unique_indices=True)

    def sort_indices(self) -> BCOO:
        """The numbers in the order of their places."""
        flat = self.flattened()
        order = np.argsort(np.where(flat.inside(), _linear(flat), self.size))
        return BCOO(
            (flat.data[order], flat.indices[order]), shape=self.shape, indices_sorted=True,
            unique_indices=flat.unique_indices,
        )  # fmt: skip

    # arithmetic -----------------------------------------------------------------------------------

    def __neg__(self) -> BCOO:
        return self.with_data(-self.data)

    def __mul__(self, other: Any) -> BCOO:
        if isinstance(other, BCOO):
            other = other.todense()
        if np.ndim(other) == 0:
            return self.with_data(self.data * other)
        if np.broadcast_shapes(self.shape, np.shape(other)) != self.shape:
            raise ValueError(
                f"a BCOO of shape {self.shape} can be multiplied by what broadcasts to that, not "
                f"by shape {np.shape(other)}"
            )
        flat = self.flattened()
        factors = np.broadcast_to(other, self.shape)[flat.columns(padding=0)]
        return flat.with_data(flat.data * factors)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> BCOO:
        if isinstance(other, BCOO):
            raise TypeError("dividing by a BCOO would divide by its zeros; use todense()")
        return self * (1 / other)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, BCOO):
            return self.todense() + other
        if self.shape != other.shape:
            raise ValueError(f"BCOO of shapes {self.shape} and {other.shape} cannot be added")
        a, b = self.flattened(), other.flattened()
        indices = np.concatenate([a.indices, b.indices.astype(a.indices.dtype)])
        return BCOO((np.concatenate([a.data, b.data]), indices), shape=self.shape)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __matmul__(self, other: Any) -> Any:
        from overt.runtime.sparse.products import matmul

        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from overt.runtime.sparse.products import matmul

        return matmul(other, self)


def _linear(flat: BCOO) -> Any:
    """The place of every number in the flattened array."""
    if flat.size > dtypes.iinfo(flat.indices.dtype).max:
        raise NotImplementedError(
            f"{flat!r} has more places than its indices of {flat.indices.dtype} can count"
        )
    place = np.zeros(flat.indices.shape[0], flat.indices.dtype)
    for column, size in zip(flat.columns(), flat.shape, strict=True):
        place = place * size + column
    return place


register_pytree_node(
    BCOO,
    lambda m: ((m.data, m.indices), (m.shape, m.indices_sorted, m.unique_indices)),
    lambda form, children: _rebuilt(children, *form),
)


def _rebuilt(children: Any, shape: tuple[int, ...], in_order: bool, unique: bool) -> BCOO:
    made = object.__new__(BCOO)
    made.data, made.indices = children  # whatever takes their places in a tree
    made.shape, made.indices_sorted, made.unique_indices = shape, in_order, unique
    return made
