"""Derivatives of matrix factorizations.

Source: M. Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008); I. Murray, "Differentiation of the Cholesky decomposition"
(2016); F. Walter, "Structured higher-order algorithmic differentiation" (2010) for QR.

Cotangents are bilinear partners of tangents, without conjugation, as in JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy


def mT(x: Any) -> Any:
    """Transposed matrices."""
    return np.swapaxes(x, -1, -2)


def mH(x: Any) -> Any:
    """Conjugated, transposed matrices."""
    return np.conj(mT(x))


def hermitian(x: Any) -> Any:
    """The Hermitian part."""
    return 0.5 * (x + mH(x))


def columns(s: Any) -> Any:
    """Vectors laid out so that they scale columns."""
    return np.expand_dims(s, -2)


def rows(s: Any) -> Any:
    """Vectors laid out so that they scale rows."""
    return np.expand_dims(s, -1)


def eye_like(x: Any) -> Any:
    """The identity matrix of the last axis of `x`."""
    return np.eye(x.shape[-1], dtype=x.dtype)


def transposed(dot: Callable[[Any], Any], g: Any, a: Any) -> Any:
    """The cotangent of `a`, given the function from its tangent to that of the result."""
    from overt.runtime.record import vjp_call

    _, pullback = vjp_call(dot, np.zeros_like(a))
    return pullback(tuple(g) if isinstance(g, tuple) else g)[0]


def inverse_gaps(s: Any) -> Any:
    """1 / (s_j - s_i), and 0 where two are equal: tied vectors do not turn."""
    gaps = columns(s) - rows(s)
    tied = gaps == 0
    return np.where(tied, 0.0, 1.0 / np.where(tied, 1.0, gaps))


# Cholesky, triangular solve -----------------------------------------------------------------------


def half_lower(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return np.tril(x) * (1.0 - 0.5 * eye_like(x))


def cholesky_dot(a_dot: Any, factor: Any) -> Any:
    """Tangent of L: L @ lower(L^-1 a_dot L^-H)."""
    inner = triangular(factor, hermitian(a_dot))
    inner = mH(triangular(factor, mH(inner)))
    return factor @ half_lower(inner)


def cholesky_bar(g: Any, factor: Any) -> Any:
    """Cotangent of a, Hermitian: L^-T lower(L^T g) L^-1, made symmetric."""
    middle = half_lower(mT(factor) @ np.tril(g))
    middle = triangular(factor, middle, "T")
    middle = mT(triangular(np.conj(factor), mT(middle), "T"))
    return hermitian(middle)


def real(x: Any) -> bool:
    return not dtypes.is_complex(x.dtype)


def triangular(a: Any, y: Any, transpose: str = "N", lower: bool = True) -> Any:
    """Solve with a triangular matrix on the left."""
    return solve_triangular(a, y, left=True, lower=lower, unit=False, transpose=transpose)


def triangular_bar_y(g: Any, a: Any, left: bool, lower: bool, unit: bool, transpose: str) -> Any:
    """Cotangent of the right-hand side: solve with the transposed matrix."""
    if transpose == "C":
        a, transpose = np.conj(a), "T"
    flipped = "T" if transpose == "N" else "N"
    return solve_triangular(a, g, left=left, lower=lower, unit=unit, transpose=flipped)


def triangular_bar_a(
    g: Any, out: Any, a: Any, left: bool, lower: bool, unit: bool, transpose: str
) -> Any:
    """Cotangent of the matrix: minus the outer product of the solution and its cotangent."""
    y_bar = triangular_bar_y(g, a, left, lower, unit, transpose)
    a_bar = -(y_bar @ mT(out)) if left else -(mT(out) @ y_bar)
    if transpose != "N":
        a_bar = mH(a_bar) if transpose == "C" else mT(a_bar)
    a_bar = np.tril(a_bar, -1 if unit else 0) if lower else np.triu(a_bar, 1 if unit else 0)
    return a_bar


# LU -----------------------------------------------------------------------------------------------


def lu_parts(factor: Any) -> tuple[Any, Any]:
    """L and U, each square, the surplus rows or columns filled from the identity."""
    m, n = factor.shape[-2:]
    k = min(m, n)
    lower = np.tril(factor[..., :, :k], -1)
    upper = np.triu(factor[..., :k, :])
    left = np.concatenate([lower, np.zeros((*lower.shape[:-1], m - k), lower.dtype)], -1)
    left = left + np.eye(m, dtype=factor.dtype)
    below = np.zeros((*upper.shape[:-2], n - k, n), upper.dtype)
    right = np.concatenate([upper, below], -2)
    filled = numpy.diag((numpy.arange(n) >= k).astype(factor.dtype))
    return left, right + filled


def lu_dot(a_dot: Any, out: Any, a: Any) -> Any:
    """Tangent of the packed factors: L lower(L^-1 Pa' U^-1) + upper(L^-1 Pa' U^-1) U."""
    factor, _, order = out
    left, right = lu_parts(factor)
    moved = np.take_along_axis(a_dot, rows(order), -2)
    inner = solve_triangular(left, moved, left=True, lower=True, unit=True, transpose="N")
    inner = solve_triangular(right, inner, left=False, lower=False, unit=False, transpose="N")
    return left @ np.tril(inner, -1) + np.triu(inner) @ right


def lu_bar(g: Any, out: Any, a: Any) -> Any:
    """Cotangent of a from that of the packed factors."""
    return transposed(lambda a_dot: lu_dot(a_dot, out, a), g, a)


# QR -----------------------------------------------------------------------------------------------


def qr_dot(a_dot: Any, q: Any, r: Any) -> tuple[Any, Any]:
    """Tangents of the reduced factors of matrices with at least as many rows as columns."""
    scaled = solve_triangular(r, a_dot, left=False, lower=False, unit=False, transpose="N")
    inner = mH(q) @ scaled
    below = np.tril(inner, -1)
    turn = below - mH(below)
    if not real(q):
        diagonal = np.imag(np.diagonal(inner, 0, -2, -1))
        turn = turn + eye_like(turn) * columns(1j * diagonal.astype(turn.dtype))
    return q @ (turn - inner) + scaled, (inner - turn) @ r


def qr_tangents(a_dot: Any, out: Any, a: Any) -> tuple[Any, Any]:
    """Tangents of q and r; wide matrices: the left square decides q, the rest follows."""
    q, r = out
    m, n = a.shape[-2:]
    if m >= n:
        return qr_dot(a_dot, q, r)
    q_dot, left_dot = qr_dot(a_dot[..., :, :m], q, r[..., :, :m])
    right_dot = mH(q_dot) @ a[..., :, m:] + mH(q) @ a_dot[..., :, m:]
    return q_dot, np.concatenate([left_dot, right_dot], -1)


# eigenvalues and singular values ------------------------------------------------------------------


def eigh_bar(g: Any, out: Any) -> Any:
    """Cotangent of a Hermitian matrix from those of its eigenvalues and eigenvectors."""
    (w_bar, v_bar), (w, v) = g, out
    inner = eye_like(v) * rows(w_bar) + inverse_gaps(w) * (mT(v) @ v_bar)
    return hermitian(np.conj(v) @ inner @ mT(v))


def svd_dot(a_dot: Any, out: Any, a: Any) -> tuple[Any, Any, Any]:
    """Tangents of the reduced factors u, s, vh."""
    u, s, vh = out
    m, n = a.shape[-2:]
    if u.shape[-1] != vh.shape[-2] and m != n:
        raise NotImplementedError(
            "the derivative of svd with full_matrices=True is not determined for matrices that are "
            "not square; use full_matrices=False"
        )
    v = mH(vh)
    inner = mH(u) @ a_dot @ v
    gaps = columns(s) ** 2 - rows(s) ** 2
    tied = gaps == 0
    turn = np.where(tied, 0.0, 1.0 / np.where(tied, 1.0, gaps))
    right = inner * columns(s).astype(inner.dtype)
    left = mH(inner) * columns(s).astype(inner.dtype)
    u_dot = u @ (turn * (right + mH(right)))
    v_dot = v @ (turn * (left + mH(left)))
    zero = s == 0
    inverse = np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, s))
    if not real(u):  # the phase that u and v share is put on u
        phase = 1j * np.imag(np.diagonal(inner, 0, -2, -1)) * inverse
        u_dot = u_dot + u * columns(phase.astype(u.dtype))
    if m > n:
        beside = a_dot @ v
        u_dot = u_dot + (beside - u @ (mH(u) @ beside)) * columns(inverse)
    if n > m:
        beside = mH(a_dot) @ u
        v_dot = v_dot + (beside - v @ (mH(v) @ beside)) * columns(inverse)
    return u_dot, np.real(np.diagonal(inner, 0, -2, -1)), mH(v_dot)


def svd_bar(g: Any, out: Any, a: Any) -> Any:
    """Cotangent of a from those of u, s and vh."""
    return transposed(lambda a_dot: svd_dot(a_dot, out, a), g, a)


def singular_values_bar(g: Any, a: Any) -> Any:
    """Cotangent of a from that of its singular values: finite, whether some are equal or not."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj(u) * columns(g).astype(a.dtype) @ np.conj(vh)


def eig_dot(a_dot: Any, out: Any) -> tuple[Any, Any]:
    """Tangents of eigenvalues and eigenvectors; the vectors keep length 1."""
    w, v = out
    inner = np.linalg.solve(v, a_dot.astype(v.dtype) @ v)
    v_dot = v @ (inverse_gaps(w) * inner)
    along = np.real(np.sum(np.conj(v) * v_dot, axis=-2, keepdims=True))
    return np.diagonal(inner, 0, -2, -1), v_dot - v * along.astype(v.dtype)


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime import dtypes  # noqa: E402
from overt.runtime.numpy.factorizations import solve_triangular  # noqa: E402
