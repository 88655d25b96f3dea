"""Solving linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from overt.runtime import dtypes
from overt.runtime.numpy.factor_derivatives import mH, mT, transposed
from overt.runtime.numpy.factorizations import lu_factor, qr_packed, solve_triangular
from overt.runtime.numpy.zeros import times, unless_zero, zero_with
from overt.runtime.primitive import composite

__all__ = ["det", "inv", "lstsq", "pinv", "slogdet", "solve"]


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


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


@zero_with
def solve_bar_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    """Cotangent of b in `solve(a, b)`: solve with the transposed matrix."""
    if np.ndim(b) == 1:
        return sum_to(np.linalg.solve(mT(a), np.expand_dims(g, -1))[..., 0], b)
    return sum_to(np.linalg.solve(mT(a), g), b)


@zero_with
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
    vjp=(lambda g, out, a: unless_zero(g, -out.mT @ g @ out.mT),),
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
    vjp=(lambda g, out, a: times(np.expand_dims(g, (-1, -2)), cofactors(a)),),
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
    vjp=(lambda g, out, a, *, method: slogdet_bar(g, out, a),),
    jvp=lambda dots, out, a, *, method: slogdet_dot(dots[0], out, a),
)
def slogdet(a: Any, *, method: str | None = None) -> Any:
    """Sign (or phase) and logarithm of the absolute value of the determinant.

    Methods: "lu" (default), "qr".

    >>> sign, logdet = slogdet(np.array([[2.0, 0.0], [0.0, -3.0]]))
    >>> float(sign), round(float(logdet), 4)
    (-1.0, 1.7918)
    """
    if method not in (None, "lu", "qr"):
        raise ValueError(f"slogdet: method must be 'lu' or 'qr', not {method!r}")
    a = as_matrices(a, "slogdet")
    if method == "qr":
        packed, factors = qr_packed(a)
        # each reflection 1 - tau v v.H has the determinant 1 - tau |v|^2
        below = np.tril(packed, -1)
        lengths = 1 + np.sum(np.abs(below) ** 2, axis=-2)
        turn = np.prod(1 - factors * lengths.astype(a.dtype), axis=-1)
        diagonal = np.diagonal(packed, 0, -2, -1)
    else:
        factor, pivots, _ = lu_factor(a)
        turn = sign_of_order(pivots).astype(a.dtype)
        diagonal = np.diagonal(factor, 0, -2, -1)
    size = np.abs(diagonal)
    if dtypes.is_complex(a.dtype):
        signs = np.where(size == 0, 0, diagonal / np.where(size == 0, 1, size))
    else:
        signs = np.sign(diagonal)
    sign = np.prod(signs, axis=-1) * turn
    return SlogdetResult(sign, np.sum(np.log(size), axis=-1))


@zero_with
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
        turn = out[0] * 1j * np.imag(relative).astype(a.dtype)
        return packed(out, (turn, np.real(relative)))
    return packed(out, (np.zeros_like(relative), relative))


@composite(
    arrays=("a",),
    vjp=(lambda g, out, a, *, rtol, hermitian, rcond: pinv_bar(g, out, a),),
    jvp=lambda dots, out, a, *, rtol, hermitian, rcond: pinv_dot(dots[0], out, a),
)
def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Any:
    """The Moore-Penrose inverse; singular values below rtol times the largest count as zero.

    `hermitian` says that the matrices are; `rcond` is another name of `rtol`.

    Source: derivative by Golub and Pereyra (1973), for matrices of locally constant rank.

    >>> pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    if rtol is not None and rcond is not None:
        raise ValueError("pinv: give rtol or rcond, not both")
    a = as_inexact(a)
    if a.ndim < 2:
        raise ValueError(f"pinv needs matrices, got shape {a.shape}")
    m, n = a.shape[-2:]
    rtol = rcond if rtol is None else rtol
    if rtol is None:
        rtol = 10.0 * max(m, n) * float(dtypes.finfo(a.dtype).eps)
    u, s, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    small = s <= np.asarray(rtol)[..., None] * s[..., :1]
    inverse = np.where(small, 0.0, 1.0 / np.where(small, 1.0, s)).astype(a.dtype)
    return mH(vh) @ (inverse[..., None] * mH(u))


@zero_with
def pinv_bar(g: Any, p: Any, a: Any) -> Any:
    """Cotangent of a in its pseudo-inverse p."""
    left = np.eye(a.shape[-2], dtype=a.dtype) - a @ p
    right = np.eye(a.shape[-1], dtype=a.dtype) - p @ a
    beside = mT(p @ mH(p)) @ g @ mT(left) + mT(right) @ g @ mT(mH(p) @ p)
    return mH(beside) - mT(p) @ g @ mT(p)


def pinv_dot(a_dot: Any, p: Any, a: Any) -> Any:
    """Tangent of the pseudo-inverse p of a."""
    m, n = a.shape[-2:]
    left = np.eye(m, dtype=a.dtype) - a @ p
    right = np.eye(n, dtype=a.dtype) - p @ a
    return -p @ a_dot @ p + p @ mH(p) @ mH(a_dot) @ left + right @ mH(a_dot) @ mH(p) @ p


def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False) -> Any:
    """Least squares solution of a @ x = b: (x, residuals, rank, singular values).

    Singular values below rcond times the largest count as zero. With `numpy_resid` there are no
    residuals, as in NumPy, where the solution is not unique or fits; not in a staged program.

    >>> x, *_ = lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    >>> round(float(x[0]), 4)
    2.0
    """
    a, b = as_inexact(a), as_inexact(b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"lstsq: shapes {a.shape} and {b.shape} do not fit")
    dtype = np.result_type(a, b)
    a, b = a.astype(dtype), b.astype(dtype)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    m, n = a.shape
    s = np.linalg.svdvals(a)
    if rcond is None:
        rcond = float(dtypes.finfo(a.dtype).eps) * max(m, n)
    elif rcond < 0:
        rcond = float(dtypes.finfo(a.dtype).eps)
    rank = np.sum(s > rcond * s[:1])
    x = np.linalg.pinv(a, rcond) @ columns
    residuals = np.sum(np.abs(columns - a @ x) ** 2, axis=0)
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = residuals[:0]
    return (x[:, 0] if vector else x), residuals, rank, s


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.cotangents import packed  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
