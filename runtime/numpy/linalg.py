"""`numpy.linalg`: solving, factorizing and measuring matrices, with any number of batch axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from overt.runtime import dtypes
from overt.runtime.numpy.factor_derivatives import (
    eig_dot,
    eigh_bar,
    hermitian,
    mH,
    mT,
    qr_tangents,
    singular_values_bar,
    svd_bar,
    transposed,
)
from overt.runtime.numpy.factorizations import (
    cholesky_factor,
    eig_factor,
    eigh_factor,
    householder_product,
    lu_factor,
    qr_packed,
    solve_triangular,
    svd_factor,
)
from overt.runtime.primitive import composite

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

LinAlgError = numpy.linalg.LinAlgError


class EigResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


def as_inexact(a: Any) -> Any:
    """An array of floats or complex numbers."""
    a = np.asarray(a)
    return a if dtypes.is_inexact(a.dtype) else a.astype(dtypes.to_inexact(a.dtype))


def as_matrices(a: Any, name: str) -> Any:
    """Square matrices of floats. Errors: ValueError for other shapes."""
    a = as_inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"{name} needs square matrices in the last two axes, got shape {a.shape}")
    return a


# solving ------------------------------------------------------------------------------------------


def lu_solve(factors: Any, b: Any, trans: bool = False) -> Any:
    """Solve a @ x = b, or a.T @ x = b, from the LU factors of a."""
    factor, _, order = factors
    how = {"left": True}
    if trans:
        b = solve_triangular(factor, b, lower=False, unit=False, transpose="T", **how)
        b = solve_triangular(factor, b, lower=True, unit=True, transpose="T", **how)
        return np.take_along_axis(b, np.argsort(order, -1)[..., None], -2)
    b = np.take_along_axis(b, order[..., None], -2)
    b = solve_triangular(factor, b, lower=True, unit=True, transpose="N", **how)
    return solve_triangular(factor, b, lower=False, unit=False, transpose="N", **how)


@composite(
    arrays=("a", "b"),
    vjp=(
        lambda g, out, a, b: solve_bar_a(g, out, a, b),
        lambda g, out, a, b: solve_bar_b(g, out, a, b),
    ),
    jvp=lambda dots, out, a, b: solve_dot(dots[0], dots[1], out, a),
)
def solve(a: Any, b: Any) -> Any:
    """x with a @ x = b; b holds vectors if it has one axis, else matrices.

    Errors: ValueError for matrices that are not square. A singular matrix gives inf or NaN.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    a, b = as_matrices(a, "solve"), as_inexact(b)
    dtype = np.result_type(a, b)
    a, b = a.astype(dtype), b.astype(dtype)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"solve: shapes {a.shape} and {b.shape} do not fit")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, lead + a.shape[-2:])
    b = np.broadcast_to(b, lead + b.shape[-2:])
    x = lu_solve(lu_factor(a), b)
    return x[..., 0] if vector else x


def solve_bar_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    """Cotangent of b in `solve(a, b)`: solve with the transposed matrix."""
    if np.ndim(b) == 1:
        return sum_to(np.linalg.solve(mT(a), np.expand_dims(g, -1))[..., 0], b)
    return sum_to(np.linalg.solve(mT(a), g), b)


def solve_bar_a(g: Any, out: Any, a: Any, b: Any) -> Any:
    """Cotangent of a in `solve(a, b)`: minus the outer product of b's cotangent and x."""
    if np.ndim(b) == 1:
        g, out = np.expand_dims(g, -1), np.expand_dims(out, -1)
    return sum_to(-(np.linalg.solve(mT(a), g) @ mT(out)), a)


def solve_dot(a_dot: Any, b_dot: Any, x: Any, a: Any) -> Any:
    """Tangent of x = solve(a, b)."""
    if np.ndim(x) > 1 and np.ndim(a_dot) > 2 and np.ndim(b_dot) == 1:  # one vector, many matrices
        b_dot, x = np.expand_dims(b_dot, -1), np.expand_dims(x, -1)
        return np.linalg.solve(a, b_dot - a_dot @ x)[..., 0]
    return np.linalg.solve(a, b_dot - a_dot @ x)


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a: -out.mT @ g @ out.mT,),
    jvp=lambda dots, out, a: -out @ dots[0] @ out,
)
def inv(a: Any) -> Any:
    """The inverse matrix.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    a = as_matrices(a, "inv")
    return lu_solve(lu_factor(a), np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape))


def sign_of_order(order: Any) -> Any:
    """-1 for every odd permutation, 1 for even ones, from the row exchanges of an LU."""
    moved = order != np.arange(order.shape[-1], dtype=order.dtype)
    return np.where(np.sum(moved, axis=-1) % 2 == 1, -1, 1)


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a: np.expand_dims(g, (-1, -2)) * cofactors(a),),
    jvp=lambda dots, out, a: np.sum(cofactors(a) * dots[0], axis=(-1, -2)),
)
def det(a: Any) -> Any:
    """The determinant.

    >>> det(np.array([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    a = as_matrices(a, "det")
    n = a.shape[-1]
    if n == 2:
        return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
    factor, pivots, _ = lu_factor(a)
    diagonal = np.diagonal(factor, 0, -2, -1)
    return np.prod(diagonal, axis=-1) * sign_of_order(pivots).astype(a.dtype)


@composite(arrays=("a",))
def cofactors(a: Any) -> Any:
    """The derivative of the determinant by each element, also of singular matrices.

    >>> cofactors(np.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[ 4., -3.],
           [-2.,  1.]], dtype=float32)
    """
    n = a.shape[-1]
    if n == 1:
        return np.ones_like(a)
    if n == 2:
        swapped = np.stack([a[..., 1, 1], -a[..., 1, 0], -a[..., 0, 1], a[..., 0, 0]], -1)
        return np.reshape(swapped, a.shape)
    singular = np.expand_dims(np.linalg.det(a) == 0, (-1, -2))
    eye = np.eye(n, dtype=a.dtype)
    regular = np.where(singular, eye, a)
    usual = np.expand_dims(np.linalg.det(regular), (-1, -2)) * mT(np.linalg.inv(regular))
    return np.where(
        singular, cofactors_by_svd(np.where(singular, a, eye * spread(n, a.dtype))), usual
    )


def spread(n: int, dtype: Any) -> Any:
    """Distinct numbers, for a matrix whose singular values must not be tied."""
    return numpy.linspace(1.0, 2.0, n).astype(dtype)


def cofactors_by_svd(a: Any) -> Any:
    """Cofactors of matrices of any rank: det(u vh) u diag(products of the other values) vh."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    n = s.shape[-1]
    others = np.where(numpy.eye(n, dtype=bool), 1.0, s[..., None, :])
    turn = np.linalg.det(u) * np.linalg.det(vh)
    scaled = (
        np.prod(others, axis=-1).astype(a.dtype) * np.conj(turn)[..., None]
        if dtypes.is_complex(a.dtype)
        else np.prod(others, axis=-1) * turn[..., None]
    )
    return np.conj(u * scaled[..., None, :] @ vh)


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a: slogdet_bar(g, out, a),),
    jvp=lambda dots, out, a: slogdet_dot(dots[0], out, a),
)
def slogdet(a: Any) -> Any:
    """Sign (or phase) and logarithm of the absolute value of the determinant.

    >>> sign, logdet = slogdet(np.array([[2.0, 0.0], [0.0, -3.0]]))
    >>> float(sign), round(float(logdet), 4)
    (-1.0, 1.7918)
    """
    a = as_matrices(a, "slogdet")
    factor, pivots, _ = lu_factor(a)
    diagonal = np.diagonal(factor, 0, -2, -1)
    size = np.abs(diagonal)
    if dtypes.is_complex(a.dtype):
        signs = np.where(size == 0, 0, diagonal / np.where(size == 0, 1, size))
    else:
        signs = np.sign(diagonal)
    sign = np.prod(signs, axis=-1) * sign_of_order(pivots).astype(a.dtype)
    return SlogdetResult(sign, np.sum(np.log(size), axis=-1))


def slogdet_bar(g: Any, out: Any, a: Any) -> Any:
    """Cotangent of a in `slogdet(a)`: that of the logarithm times the inverse, transposed."""
    sign_bar, log_bar = g
    if dtypes.is_complex(a.dtype):
        return transposed(lambda a_dot: slogdet_dot(a_dot, out, a), g, a)
    return np.expand_dims(log_bar, (-1, -2)) * mT(np.linalg.inv(a))


def slogdet_dot(a_dot: Any, out: Any, a: Any) -> Any:
    """Tangents of sign and logarithm."""
    relative = np.trace(np.linalg.solve(a, a_dot), axis1=-1, axis2=-2)
    if dtypes.is_complex(a.dtype):
        return out[0] * 1j * np.imag(relative).astype(a.dtype), np.real(relative)
    return np.zeros_like(relative), relative


# factorizations -----------------------------------------------------------------------------------


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """Lower triangular L with L @ L.T equal to the (symmetrized) matrix; `upper`: its transpose.

    NaN where the matrix is not positive definite.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    a = as_matrices(a, "cholesky")
    if not symmetrize_input:
        a = np.tril(a) + mH(np.tril(a, -1)) if not upper else np.triu(a) + mH(np.triu(a, 1))
    factor = lower_factor(a)
    return mH(factor) if upper else factor


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a: cholesky_bar(g, out),),
    jvp=lambda dots, out, a: cholesky_dot(dots[0], out),
)
def lower_factor(a: Any) -> Any:
    """Cholesky factor of the Hermitian part."""
    return cholesky_factor(hermitian(a))


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, mode: qr_bar(g, out, a, mode),),
    jvp=lambda dots, out, a, *, mode: qr_tangent(dots[0], out, a, mode),
)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns q and upper triangular r with q @ r = a.

    Modes: "reduced", "complete" (square q), "r" (r alone).

    >>> q, r = qr(np.array([[3.0, 0.0], [4.0, 5.0]]))
    >>> np.allclose(q @ r, np.array([[3.0, 0.0], [4.0, 5.0]]), atol=1e-5)
    Array(True, dtype=bool)
    """
    a = as_inexact(a)
    if a.ndim < 2:
        raise ValueError(f"qr needs matrices, got shape {a.shape}")
    if mode not in ("reduced", "complete", "r", "full"):
        raise ValueError(f"qr: unknown mode {mode!r}; known: reduced, complete, r")
    m, n = a.shape[-2:]
    k = min(m, n)
    packed, factors = qr_packed(a)
    width = m if mode in ("complete", "full") else k
    r = np.triu(packed[..., :width, :])
    if mode == "r":
        return r
    vectors = packed[..., :, :k]
    if width > k:
        vectors = np.concatenate([vectors, np.zeros((*vectors.shape[:-1], m - k), a.dtype)], -1)
    return QRResult(householder_product(vectors, factors), r)


def qr_tangent(a_dot: Any, out: Any, a: Any, mode: str) -> Any:
    """Tangents of the results of `qr(a, mode)`."""
    if mode in ("complete", "full") and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError(
            "the derivative of qr with mode='complete' is not determined for tall matrices; use "
            "mode='reduced'"
        )
    if mode == "r":
        return qr_tangents(a_dot, np.linalg.qr(a), a)[1]
    return qr_tangents(a_dot, out, a)


def qr_bar(g: Any, out: Any, a: Any, mode: str = "reduced") -> Any:
    """Cotangent of a in `qr(a, mode)`."""
    return transposed(lambda a_dot: qr_tangent(a_dot, out, a, mode), g, a)


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, UPLO, symmetrize_input: eigh_bar(g, out),),
)
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> Any:
    """Ascending eigenvalues, and eigenvectors in the columns, of the Hermitian part of a matrix.

    With UPLO "L" or "U" and symmetrize_input=False that triangle alone counts.

    Source: derivatives as in Giles (2008); vectors of equal eigenvalues are taken not to turn.

    >>> values, vectors = eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> values
    Array([1., 2.], dtype=float32)
    """
    a = as_matrices(a, "eigh")
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be 'L' or 'U', not {UPLO!r}")
    a = hermitian(a) if symmetrize_input else mH(a) if UPLO == "U" else a
    return EighResult(*eigh_factor(a))


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, UPLO, symmetrize_input: eigvalsh_bar(g, a),),
)
def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Any:
    """Ascending eigenvalues of the Hermitian part of a matrix.

    >>> eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    Array([1., 2.], dtype=float32)
    """
    return np.linalg.eigh(a, UPLO, symmetrize_input)[0]


def eigvalsh_bar(g: Any, a: Any) -> Any:
    """Cotangent of a in `eigvalsh(a)`: finite, whether some eigenvalues are equal or not."""
    _, v = np.linalg.eigh(a)
    return np.conj(v) * np.expand_dims(g, -2) @ mT(v)


@composite(arrays=("a",), jvp=lambda dots, out, a: eig_dot(dots[0], out))
def eig(a: Any) -> Any:
    """Eigenvalues, and right eigenvectors in the columns, of general square matrices: complex.

    >>> values, vectors = eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    >>> sorted(np.imag(values).tolist())
    [-1.0, 1.0]
    """
    return EigResult(*eig_factor(as_matrices(a, "eig")))


def eigvals(a: Any) -> Any:
    """Eigenvalues of general square matrices: complex.

    >>> sorted(np.real(eigvals(np.array([[2.0, 1.0], [0.0, 3.0]]))).tolist())
    [2.0, 3.0]
    """
    return np.linalg.eig(a)[0]


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, full_matrices: svd_bar(g, out, a),),
)
def factors_of_svd(a: Any, full_matrices: bool) -> Any:
    """All three factors of the singular value decomposition."""
    return SVDResult(*svd_factor(a, full=full_matrices))


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
    subset_by_index: Any = None,
) -> Any:  # fmt: skip
    """u, s, vh with a = u * s @ vh, singular values descending; or s alone.

    The derivative of the values exists also where some are equal; vectors of equal values are taken
    not to turn.

    >>> svd(np.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    a = as_inexact(a)
    if a.ndim < 2:
        raise ValueError(f"svd needs matrices, got shape {a.shape}")
    if not compute_uv:
        return svdvals(a)
    full_matrices = full_matrices and a.shape[-1] != a.shape[-2]
    return factors_of_svd(a, full_matrices)


@composite(arrays=("x",), vjp=(lambda g, out, x: singular_values_bar(g, x),))
def svdvals(x: Any) -> Any:
    """Singular values, descending.

    >>> svdvals(np.array([[0.0, 2.0], [1.0, 0.0]]))
    Array([2., 1.], dtype=float32)
    """
    return svd_factor(as_inexact(x), full=False)[1]


# functions of matrices ----------------------------------------------------------------------------


def matrix_power(a: Any, n: int) -> Any:
    """The product of n copies of a matrix; of its inverse for negative n.

    >>> matrix_power(np.array([[1, 1], [0, 1]]), 3)
    Array([[1, 3],
           [0, 1]], dtype=int32)
    """
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"matrix_power needs square matrices, got shape {a.shape}")
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    if n < 0:
        a, n = np.linalg.inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else result @ a
        n >>= 1
        a = a @ a if n else a
    return result


@composite(
    arrays=("a",),
    vjp=(
        lambda g, out, a, *, rcond, hermitian, rtol: transposed(
            lambda a_dot: pinv_dot(a_dot, out, a), g, a
        ),
    ),
    jvp=lambda dots, out, a, *, rcond, hermitian, rtol: pinv_dot(dots[0], out, a),
)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The Moore-Penrose inverse; singular values below rcond times the largest count as zero.

    Source: derivative by Golub and Pereyra (1973), for matrices of locally constant rank.

    >>> pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    a = as_inexact(a)
    m, n = a.shape[-2:]
    if rcond is None:
        rcond = rtol
    if rcond is None:
        rcond = 10.0 * max(m, n) * float(dtypes.finfo(a.dtype).eps)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    cutoff = np.asarray(rcond)[..., None] * s[..., :1]
    small = s <= cutoff
    inverse = np.where(small, 0.0, 1.0 / np.where(small, 1.0, s)).astype(a.dtype)
    return mH(vh) @ (inverse[..., None] * mH(u))


def pinv_dot(a_dot: Any, p: Any, a: Any) -> Any:
    """Tangent of the pseudo-inverse p of a."""
    m, n = a.shape[-2:]
    left = np.eye(m, dtype=a.dtype) - a @ p
    right = np.eye(n, dtype=a.dtype) - p @ a
    return -p @ a_dot @ p + p @ mH(p) @ mH(a_dot) @ left + right @ mH(a_dot) @ mH(p) @ p


def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False) -> Any:
    """Least squares solution of a @ x = b: (x, residuals, rank, singular values).

    >>> x, *_ = lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    >>> round(float(x[0]), 4)
    2.0
    """
    a, b = as_inexact(a), as_inexact(b)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    m, n = a.shape
    s = np.linalg.svdvals(a)
    if rcond is None:
        rcond = float(dtypes.finfo(a.dtype).eps) * max(m, n)
    elif rcond < 0:
        rcond = float(dtypes.finfo(a.dtype).eps)
    rank = np.sum(s > rcond * s[0])
    x = np.linalg.pinv(a, rcond) @ columns
    residuals = np.sum(np.abs(columns - a @ x) ** 2, axis=0)
    if numpy_resid and m <= n:
        residuals = residuals[:0]
    return (x[:, 0] if vector else x), residuals, rank, s


def matrix_rank(M: Any, rtol: Any = None, *, tol: Any = None) -> Any:
    """The number of singular values above a tolerance.

    >>> int(matrix_rank(np.array([[1.0, 1.0], [1.0, 1.0]])))
    1
    """
    M = as_inexact(M)
    if M.ndim < 2:
        return np.any(M != 0).astype(int)
    s = np.linalg.svdvals(M)
    if tol is None:
        if rtol is None:
            rtol = max(M.shape[-2:]) * float(dtypes.finfo(M.dtype).eps)
        tol = s.max(axis=-1) * rtol
    return np.sum(s > np.expand_dims(tol, -1), axis=-1)


def cond(x: Any, p: Any = None) -> Any:
    """Condition number: in the 2-norm the ratio of extreme singular values.

    >>> cond(np.array([[2.0, 0.0], [0.0, 4.0]]))
    Array(2., dtype=float32)
    """
    x = as_inexact(x)
    if p in (None, 2):
        s = np.linalg.svdvals(x)
        return s[..., 0] / s[..., -1]
    if p == -2:
        s = np.linalg.svdvals(x)
        return s[..., -1] / s[..., 0]
    axes = (-2, -1)
    return np.linalg.norm(x, p, axes) * np.linalg.norm(np.linalg.inv(x), p, axes)


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Any:
    """The product of several matrices, multiplied in the order that takes fewest operations.

    >>> multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)]).shape
    (2,)
    """
    parts = [np.asarray(a) for a in arrays]
    if len(parts) < 2:
        raise ValueError("multi_dot needs at least two arrays")
    first_is_row, last_is_column = parts[0].ndim == 1, parts[-1].ndim == 1
    if first_is_row:
        parts[0] = parts[0][None, :]
    if last_is_column:
        parts[-1] = parts[-1][:, None]
    sizes = [part.shape[0] for part in parts] + [parts[-1].shape[1]]
    result = in_best_order(parts, cheapest_splits(sizes), 0, len(parts) - 1)
    result = result[0] if first_is_row else result
    return result[..., 0] if last_is_column else result


def cheapest_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each stretch of a chain of products (dynamic programming)."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            choices = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], split[i, j] = min(choices)
    return split


def in_best_order(parts: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    """The product of parts i to j."""
    if i == j:
        return parts[i]
    k = split[i, j]
    return in_best_order(parts, split, i, k) @ in_best_order(parts, split, k + 1, j)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of `tensordot(a, x, ind)` as a function of x.

    >>> tensorinv(np.eye(4).reshape(2, 2, 2, 2)).shape
    (2, 2, 2, 2)
    """
    a = np.asarray(a)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind must be positive, not {ind}")
    rest, first = a.shape[ind:], a.shape[:ind]
    return np.reshape(np.linalg.inv(np.reshape(a, (math.prod(first), -1))), (*rest, *first))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """x with tensordot(a, x, x.ndim) equal to b.

    >>> tensorsolve(np.eye(4).reshape(2, 2, 2, 2), np.ones((2, 2))).shape
    (2, 2)
    """
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        a = np.moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    shape = a.shape[b.ndim :]
    return np.reshape(np.linalg.solve(np.reshape(a, (b.size, -1)), np.ravel(b)), shape)


# names that the array API repeats here ------------------------------------------------------------


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of length 3.

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    return np.cross(x1, x2, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of the last two axes.

    >>> diagonal(np.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return np.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of the diagonal of the last two axes.

    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return np.trace(x, offset, -2, -1, dtype)


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
from overt.runtime.numpy.factor_derivatives import cholesky_bar, cholesky_dot  # noqa: E402
from overt.runtime.numpy.norms import matrix_norm, norm, vector_norm  # noqa: E402
from overt.runtime.numpy.products import matmul, outer, tensordot, vecdot  # noqa: E402
from overt.runtime.numpy.shaping import matrix_transpose  # noqa: E402
