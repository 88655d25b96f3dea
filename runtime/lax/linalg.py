"""`lax.linalg`: matrix factorizations under the names that XLA's users know."""

from __future__ import annotations

from typing import Any

from overt.runtime import numpy as np
from overt.runtime.numpy.decompositions import lower_factor
from overt.runtime.numpy.factor_derivatives import hermitian, mH, mT
from overt.runtime.numpy.factorizations import (
    cholesky_factor,
    eig_factor,
    eigh_factor,
    lu_factor,
    solve_triangular,
    svd_factor,
)
from overt.runtime.numpy.factorizations import householder_product as householder_primitive
from overt.runtime.numpy.factorizations import qr_packed as geqrf

__all__ = [
    "cholesky",
    "eig",
    "eigh",
    "geqrf",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "qr",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal_solve",
]


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Lower triangular factor of positive definite matrices.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    return lower_factor(x) if symmetrize_input else cholesky_factor(x)


def eig(
    x: Any, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True
) -> list[Any]:
    """Eigenvalues, and left and right eigenvectors as asked for.

    >>> [part.shape for part in eig(np.eye(2))]
    [(2,), (2, 2), (2, 2)]
    """
    x = np.asarray(x)
    values, right = eig_factor(x)
    result = [values]
    if compute_left_eigenvectors:
        left = mH(np.linalg.inv(right))
        result.append(left / np.linalg.norm(left, axis=-2, keepdims=True).astype(left.dtype))
    return [*result, right] if compute_right_eigenvectors else result


def eigh(
    x: Any, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True
) -> tuple[Any, Any]:
    """Eigenvectors and ascending eigenvalues of Hermitian matrices.

    >>> eigh(np.diag(np.array([2.0, 1.0])))[1]
    Array([1., 2.], dtype=float32)
    """
    x = np.asarray(x)
    x = hermitian(x) if symmetrize_input else x if lower else mH(x)
    values, vectors = eigh_factor(x)
    return vectors, values


def lu(x: Any) -> tuple[Any, Any, Any]:
    """L and U in one matrix, the row exchanges, and the permutation of rows they amount to.

    >>> factor, pivots, permutation = lu(np.array([[0.0, 1.0], [2.0, 3.0]]))
    >>> permutation
    Array([1, 0], dtype=int32)
    """
    return lu_factor(np.asarray(x))


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation that a sequence of row exchanges amounts to.

    >>> lu_pivots_to_permutation(np.array([1, 1]), 3)
    Array([1, 0, 2], dtype=int32)
    """
    pivots = np.asarray(pivots)
    order = np.broadcast_to(
        np.arange(permutation_size, dtype=np.int32), (*pivots.shape[:-1], permutation_size)
    )
    for k in range(pivots.shape[-1]):
        other = pivots[..., k : k + 1]
        here, there = order[..., k : k + 1], np.take_along_axis(order, other, -1)
        order = np.put_along_axis(order, other, here, -1)
        order = order.at[..., k].set(np.where(other[..., 0] == k, here[..., 0], there[..., 0]))
    return order


def qr(x: Any, *, pivoting: bool = False, full_matrices: bool = True) -> tuple[Any, Any]:
    """Orthonormal q and upper triangular r.

    >>> qr(np.ones((3, 2)), full_matrices=False)[0].shape
    (3, 2)
    """
    if pivoting:
        raise NotImplementedError("qr with pivoting is not supported; use pivoting=False")
    q, r = np.linalg.qr(x, "complete" if full_matrices else "reduced")
    return q, r


def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """u, s, vh; or the singular values alone.

    >>> svd(np.eye(2), compute_uv=False)
    Array([1., 1.], dtype=float32)
    """
    if not compute_uv:
        return np.linalg.svdvals(x)
    x = np.asarray(x)
    return svd_factor(x, full=full_matrices and x.shape[-1] != x.shape[-2])


def householder_product(a: Any, taus: Any) -> Any:
    """The orthogonal matrix that Householder vectors and their factors stand for.

    >>> householder_product(*geqrf(np.eye(2))).shape
    (2, 2)
    """
    return householder_primitive(np.asarray(a), np.asarray(taus))


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:  # fmt: skip
    """alpha * a @ a.T + beta * c.

    >>> symmetric_product(np.ones((2, 2)), np.zeros((2, 2)))[0]
    Array([2., 2.], dtype=float32)
    """
    return alpha * (a_matrix @ mT(np.asarray(a_matrix))) + beta * c_matrix


def triangular_solve(
    a: Any, b: Any, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False,
    conjugate_a: bool = False, unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    """x with x @ a = b, or a @ x = b (`left_side`), for triangular a.

    >>> triangular_solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.ones((2, 1)), left_side=True)
    Array([[0.5 ],
           [0.25]], dtype=float32)
    """
    a, b = np.asarray(a), np.asarray(b)
    if conjugate_a:
        a = np.conj(a)
    vector = b.ndim == a.ndim - 1
    if vector:
        b = np.expand_dims(b, -1 if left_side else -2)
    how = "T" if transpose_a else "N"
    x = solve_triangular(a, b, left=left_side, lower=lower, unit=unit_diagonal, transpose=how)
    return np.squeeze(x, -1 if left_side else -2) if vector else x


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any) -> Any:
    """x with a @ x = b for tridiagonal matrices, given below, on and above the diagonal.

    >>> one = np.ones(2)
    >>> tridiagonal_solve(0 * one, 2 * one, 0 * one, np.ones((2, 1)))[:, 0]
    Array([0.5, 0.5], dtype=float32)
    """
    dl, d, du, b = (np.asarray(x) for x in (dl, d, du, b))
    n = d.shape[-1]
    rows, columns = np.arange(n)[:, None], np.arange(n)[None, :]
    zero = np.zeros((), d.dtype)
    a = np.where(rows == columns, d[..., :, None], zero)
    a = a + np.where(rows == columns + 1, dl[..., :, None], zero)
    return np.linalg.solve(a + np.where(rows == columns - 1, du[..., :, None], zero), b)
