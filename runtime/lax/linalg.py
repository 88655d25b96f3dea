"""`lax.linalg`: matrix factorizations under the names that XLA's users know."""

from __future__ import annotations

import enum
from typing import Any

from overt.runtime import numpy as np
from overt.runtime.lax.banded import tridiagonal_solve
from overt.runtime.lax.condensed import hessenberg, schur, tridiagonal
from overt.runtime.lax.polar import qdwh
from overt.runtime.lax.reflections import geqp3, householder_product, ormqr
from overt.runtime.lax.symmetric import cholesky_update, symmetric_product
from overt.runtime.numpy.decompositions import lower_factor, unpacked
from overt.runtime.numpy.factor_derivatives import (
    columns,
    hermitian,
    qr_tangents,
    transposed,
)
from overt.runtime.numpy.factorizations import (
    cholesky_factor,
    lu_factor,
    permutation_of,
    solve_triangular,
)
from overt.runtime.numpy.solving import as_inexact, as_matrices
from overt.runtime.numpy.spectra import eig_factor, eigh_factor, svd_factor
from overt.runtime.primitive import composite

__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_update", "eig",
    "eigh", "hessenberg", "householder_product", "lu", "lu_pivots_to_permutation", "ormqr", "qdwh",
    "qr", "schur", "svd", "symmetric_product", "triangular_solve", "tridiagonal",
    "tridiagonal_solve",
]  # fmt: skip


class EigImplementation(enum.Enum):
    """Which library computes eigenvalues of general matrices."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """Which algorithm computes eigenvalues of Hermitian matrices."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """Which algorithm computes singular values."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Lower triangular factor of positive definite matrices.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    x = as_matrices(x, "cholesky")
    return lower_factor(x) if symmetrize_input else cholesky_factor(x)


# eigenvalues and singular values ------------------------------------------------------------------


def eig(
    x: Any, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False, implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Any]:  # fmt: skip
    """Eigenvalues, and left and right eigenvectors as asked for.

    The derivative of vectors wants `enable_eigvec_derivs=True`: it is right where eigenvalues are
    distinct and each vector has one largest component.

    >>> [part.shape for part in eig(np.eye(2))]
    [(2,), (2, 2), (2, 2)]
    """
    if implementation not in (None, EigImplementation.LAPACK) or use_magma:
        raise NotImplementedError(
            f"eig: {implementation or 'MAGMA'} is not supported; leave the choice to the library"
        )
    x = as_matrices(x, "eig")
    vectors = compute_left_eigenvectors, compute_right_eigenvectors
    if not any(vectors):
        return [np.linalg.eigvals(x)]
    parts = list(eig_factor(x, left=vectors[0]))
    if not enable_eigvec_derivs:
        parts = [held_vectors(part) for part in parts]
    return parts if vectors[1] else parts[:-1]


@composite(
    arrays=("x",),
    vjp=(lambda g, out, x: no_derivative_of_vectors(),),
    jvp=lambda dots, out, x: no_derivative_of_vectors(),
)
def held_vectors(x: Any) -> Any:
    """The same, without derivative."""
    return np.positive(x)


def no_derivative_of_vectors() -> Any:
    """Errors: NotImplementedError, always."""
    raise NotImplementedError(
        "eig: the derivative of eigenvectors is valid only where eigenvalues are distinct; say "
        "enable_eigvec_derivs=True if they are, or ask for eigenvalues alone"
    )


def part_of(x: Any, subset: tuple[int, int] | None, axis: int) -> Any:
    """The components that `subset_by_index` asks for."""
    if subset is None:
        return x
    start, stop = subset
    if not 0 <= start <= stop <= x.shape[axis]:
        raise ValueError(f"subset_by_index {subset} is not within 0 and {x.shape[axis]}")
    return x[..., start:stop] if axis == -1 else x[..., start:stop, :]


def eigh(
    x: Any, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Eigenvectors and eigenvalues of Hermitian matrices: ascending, sorted on request or not.

    >>> eigh(np.diag(np.array([2.0, 1.0])))[1]
    Array([1., 2.], dtype=float32)
    """
    x = as_matrices(x, "eigh")
    x = hermitian(x) if symmetrize_input else x
    algorithm = "" if implementation is None else implementation.value
    values, vectors = eigh_factor(x, lower=bool(lower), algorithm=algorithm)
    return part_of(vectors, subset_by_index, -1), part_of(values, subset_by_index, -1)


def svd(
    x: Any, *, full_matrices: bool = True, compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None, algorithm: SvdAlgorithm | None = None,
) -> Any:  # fmt: skip
    """u, s, vh; or the singular values alone.

    >>> svd(np.eye(2), compute_uv=False)
    Array([1., 1.], dtype=float32)
    """
    x = as_inexact(x)
    if x.ndim < 2:
        raise ValueError(f"svd needs matrices, got shape {x.shape}")
    if algorithm in (None, SvdAlgorithm.DEFAULT, SvdAlgorithm.DIVIDE_AND_CONQUER):
        if not compute_uv:
            return part_of(np.linalg.svdvals(x), subset_by_index, -1)
        how = ""
    else:
        how = algorithm.value.lower()
    full = full_matrices and x.shape[-1] != x.shape[-2] and compute_uv
    u, s, vh = svd_factor(x, full=full, algorithm=how)
    s = part_of(s, subset_by_index, -1)
    if not compute_uv:
        return s
    return part_of(u, subset_by_index, -1), s, part_of(vh, subset_by_index, -2)


# triangular factors -------------------------------------------------------------------------------


def lu(x: Any) -> tuple[Any, Any, Any]:
    """L and U in one matrix, the row exchanges, and the permutation of rows they amount to.

    >>> factor, pivots, permutation = lu(np.array([[0.0, 1.0], [2.0, 3.0]]))
    >>> permutation
    Array([1, 0], dtype=int32)
    """
    return lu_factor(as_inexact(x))


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation that a sequence of row exchanges amounts to.

    >>> lu_pivots_to_permutation(np.array([1, 1]), 3)
    Array([1, 0, 2], dtype=int32)
    """
    return permutation_of(np.asarray(pivots).astype(np.int32), rows=int(permutation_size))


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Any, ...]:
    """Orthonormal q and upper triangular r; with `pivoting` also the order of columns.

    >>> qr(np.ones((3, 2)), full_matrices=False)[0].shape
    (3, 2)
    """
    if use_magma:
        raise NotImplementedError("qr: MAGMA is not supported; leave the choice to the library")
    if pivoting:
        return pivoted_qr(x, bool(full_matrices))
    q, r = np.linalg.qr(x, "complete" if full_matrices else "reduced")
    return q, r


@composite(
    arrays=("x",),
    vjp=(lambda g, out, x, *, full: pivoted_qr_bar(g, out, x),),
    jvp=lambda dots, out, x, *, full: pivoted_qr_tangents(dots[0], out, x),
)
def pivoted_qr(x: Any, full: bool) -> tuple[Any, Any, Any]:
    """q, r and the order of columns, with q @ r = x[:, order]."""
    packed, order, factors = geqp3(x)
    return *unpacked(packed, factors, full), order - 1


def pivoted_qr_tangents(x_dot: Any, out: Any, x: Any) -> tuple[Any, Any, None]:
    """Tangents of q and r; the order stays."""
    order = columns(out[2])
    moved, moved_dot = (np.take_along_axis(a, order, -1) for a in (x, x_dot))
    return *qr_tangents(moved_dot, out[:2], moved), None


def pivoted_qr_bar(g: Any, out: Any, x: Any) -> Any:
    """Cotangent of x in a QR decomposition with pivoting."""
    return transposed(lambda x_dot: pivoted_qr_tangents(x_dot, out, x)[:2], g[:2], x)


def triangular_solve(
    a: Any, b: Any, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False,
    conjugate_a: bool = False, unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    """x with x @ a = b, or a @ x = b (`left_side`), for triangular a.

    >>> triangular_solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.ones((2, 1)), left_side=True)
    Array([[0.5 ],
           [0.25]], dtype=float32)
    """
    a, b = as_inexact(a), as_inexact(b)
    if conjugate_a:
        a = np.conj(a)
    vector = b.ndim == a.ndim - 1
    if vector:
        b = np.expand_dims(b, -1 if left_side else -2)
    if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2 if left_side else -1]:
        raise ValueError(f"triangular_solve: shapes {a.shape} and {b.shape} do not fit")
    how = "T" if transpose_a else "N"
    x = solve_triangular(a, b, left=left_side, lower=lower, unit=unit_diagonal, transpose=how)
    return np.squeeze(x, -1 if left_side else -2) if vector else x
