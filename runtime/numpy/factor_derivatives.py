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

from overt.runtime.numpy.zeros import over, times, zero_with
from overt.runtime.primitive import composite


def mT(x: Any) -> Any:
    """Transposed matrices."""
    return np.swapaxes(x, -1, -2)


def mH(x: Any) -> Any:
    """Conjugated, transposed matrices."""
    return np.conj(mT(x))


def hermitian(x: Any) -> Any:
    """The Hermitian part."""
    return 0.5 * (x + mH(x))


def mirrored(a: Any, lower: bool = True) -> Any:
    """The Hermitian matrices of which one triangle is given."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    return half + mH(half) + np.real(a * eye_like(a)).astype(a.dtype)


def on_triangle(bar: Any, lower: bool = True) -> Any:
    """Cotangent of the triangle from that of the Hermitian matrices mirrored from it."""
    triangle = np.tril if lower else np.triu
    return triangle(bar) + triangle(mH(bar), -1 if lower else 1)


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

    if not isinstance(g, tuple):
        return vjp_call(dot, np.zeros_like(a))[1](g)[0]
    return vjp_call(lambda a_dot: tuple(dot(a_dot)), np.zeros_like(a))[1](tuple(g))[0]


@composite(
    arrays=("x", "gaps"),
    vjp=(
        lambda g, out, x, gaps: over_gaps(g, gaps),
        lambda g, out, x, gaps: sum_to(-over_gaps(times(g, out), gaps), gaps),
    ),
)
def over_gaps(x: Any, gaps: Any) -> Any:
    """x / gaps, and 0 for 0 / 0: NaN where vectors of equal values would have to turn."""
    tied = gaps == 0
    return np.where(tied, np.where(x == 0, 0.0, numpy.nan), over(x, np.where(tied, 1.0, gaps)))


# Cholesky, triangular solve -----------------------------------------------------------------------


def half_lower(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return np.tril(x) * (1.0 - 0.5 * eye_like(x))


def cholesky_dot(
    a_dot: Any, factor: Any, upper: bool = False, symmetrize_input: bool = True
) -> Any:
    """Tangent of L: L @ lower(L^-1 a_dot L^-H); of its adjoint where the factor is upper.

    Without `symmetrize_input` the factor depends on one triangle of a.
    """
    if not symmetrize_input:
        a_dot = mirrored(a_dot, not upper)
    if upper:
        return mH(cholesky_dot(a_dot, mH(factor)))
    inner = triangular(factor, hermitian(a_dot))
    inner = mH(triangular(factor, mH(inner)))
    return factor @ half_lower(inner)


@zero_with
def cholesky_bar(g: Any, factor: Any, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """Cotangent of a, Hermitian: L^-T lower(L^T g) L^-1, made symmetric.

    Without `symmetrize_input` the factor depends on one triangle of a.
    """
    if not symmetrize_input:
        return on_triangle(cholesky_bar(g, factor, upper), not upper)
    if upper:
        g, factor = mH(g), mH(factor)
    middle = half_lower(mT(factor) @ np.tril(g))
    middle = triangular(factor, middle, "T")
    middle = mT(triangular(np.conj(factor), mT(middle), "T"))
    return hermitian(middle)


def real(x: Any) -> bool:
    return not dtypes.is_complex(x.dtype)


def triangular(a: Any, y: Any, transpose: str = "N", lower: bool = True) -> Any:
    """Solve with a triangular matrix on the left."""
    return solve_triangular(a, y, left=True, lower=lower, unit=False, transpose=transpose)


@zero_with
def triangular_bar_y(g: Any, a: Any, left: bool, lower: bool, unit: bool, transpose: str) -> Any:
    """Cotangent of the right-hand side: solve with the transposed matrix."""
    if transpose == "C":
        a, transpose = np.conj(a), "T"
    flipped = "T" if transpose == "N" else "N"
    return solve_triangular(a, g, left=left, lower=lower, unit=unit, transpose=flipped)


@zero_with
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


@zero_with
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
    if m < n:
        q_dot, left_dot = qr_dot(a_dot[..., :, :m], q, r[..., :, :m])
        right_dot = mH(q_dot) @ a[..., :, m:] + mH(q) @ a_dot[..., :, m:]
        return packed(out, (q_dot, np.concatenate([left_dot, right_dot], -1)))
    q_dot, r_dot = qr_dot(a_dot, q[..., :, :n], r[..., :n, :])
    if q.shape[-1] == n:
        return packed(out, (q_dot, r_dot))
    rest_dot = complement_dot(q_dot, q[..., :, :n])
    below = np.zeros_like(r[..., n:, :])
    parts = np.concatenate([q_dot, rest_dot], -1), np.concatenate([r_dot, below], -2)
    return packed(out, parts)


def complement_dot(q_dot: Any, q: Any) -> Any:
    """Tangent of the columns that complete the n of q to a square.

    Householder's reflections make them e_p + (q - e_n) z.H, for z = q_p (q_n - 1)^-1, where e_n
    and e_p are columns of the identity, q_n and q_p the first n and the other rows of q.
    """
    m, n = q.shape[-2:]
    from_eye = q - np.eye(m, n, dtype=q.dtype)
    turned = mH(from_eye[..., :n, :])
    z_adjoint = np.linalg.solve(turned, mH(q[..., n:, :]))
    z_dot = np.linalg.solve(turned, mH(q_dot[..., n:, :] - mH(z_adjoint) @ q_dot[..., :n, :]))
    return q_dot @ z_adjoint + from_eye @ z_dot


# eigenvalues and singular values ------------------------------------------------------------------


def turns(inner: Any, values: Any) -> Any:
    """How vectors turn into each other: inner over the gaps of their values, 0 on the diagonal."""
    same = numpy.eye(values.shape[-1], dtype=bool)
    gaps = np.where(same, 1.0, columns(values) - rows(values))
    return over_gaps(np.where(same, 0.0, inner), gaps)


def eigh_dot(
    a_dot: Any, out: Any, UPLO: str | None = None, symmetrize_input: bool = True
) -> tuple[Any, Any]:
    """Tangents of eigenvalues and eigenvectors of a Hermitian matrix."""
    w, v = out
    if not symmetrize_input:
        a_dot = mirrored(a_dot, UPLO != "U")
    inner = mH(v) @ hermitian(a_dot) @ v
    return packed(out, (np.real(np.diagonal(inner, 0, -2, -1)), v @ turns(inner, w)))


@zero_with
def eigh_bar(g: Any, out: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> Any:
    """Cotangent of a Hermitian matrix from those of its eigenvalues and eigenvectors."""
    if not symmetrize_input:
        return on_triangle(eigh_bar(g, out), UPLO != "U")
    (w_bar, v_bar), (w, v) = g, out
    inner = eye_like(v) * rows(w_bar) + turns(mT(v) @ v_bar, w)
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
    size = np.max(s, axis=-1, keepdims=True, initial=0.0)
    size = np.where(size == 0, 1.0, size)  # whose squares neither overflow nor vanish
    weights, squares = columns(s / size).astype(inner.dtype), (s / size) ** 2
    right, left = inner / columns(size) * weights, mH(inner) / columns(size) * weights
    u_dot = u @ turns(right + mH(right), squares)
    v_dot = v @ turns(left + mH(left), squares)
    if not real(u):  # the phase that u and v share is put on u
        phase = over_gaps(1j * np.imag(np.diagonal(inner, 0, -2, -1)), s)
        u_dot = u_dot + u * columns(phase.astype(u.dtype))
    if m > n:
        beside = a_dot @ v
        u_dot = u_dot + over_gaps(beside - u @ (mH(u) @ beside), columns(s))
    if n > m:
        beside = mH(a_dot) @ u
        v_dot = v_dot + over_gaps(beside - v @ (mH(v) @ beside), columns(s))
    return packed(out, (u_dot, np.real(np.diagonal(inner, 0, -2, -1)), mH(v_dot)))


@zero_with
def svd_bar(g: Any, out: Any, a: Any) -> Any:
    """Cotangent of a from those of u, s and vh."""
    return transposed(lambda a_dot: svd_dot(a_dot, out, a), g, a)


def singular_values_dot(a_dot: Any, a: Any) -> Any:
    """Tangent of the singular values: the diagonal in the bases of singular vectors."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.real(np.sum(np.conj(u) * (a_dot @ mH(vh)), axis=-2))


@zero_with
def singular_values_bar(g: Any, a: Any) -> Any:
    """Cotangent of a from that of its singular values: finite, whether some are equal or not."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj(u) * columns(g).astype(a.dtype) @ np.conj(vh)


def eig_dot(a_dot: Any, out: Any) -> tuple[Any, ...]:
    """Tangents of eigenvalues, of left vectors if there are any, and of right ones."""
    w, *left, right = out
    w_dot, right_dot = eigenvectors_dot(a_dot, w, right)
    if not left:
        return packed(out, (w_dot, right_dot))
    return w_dot, eigenvectors_dot(mH(a_dot), np.conj(w), left[0])[1], right_dot


@zero_with
def eig_bar(g: Any, out: Any, a: Any) -> Any:
    """Cotangent of a from those of eigenvalues and eigenvectors."""
    return transposed(lambda a_dot: eig_dot(a_dot, out), g, a)


def eigenvectors_dot(a_dot: Any, w: Any, v: Any) -> tuple[Any, Any]:
    """Tangents of eigenvalues and right vectors that stay as LAPACK gives them.

    Each keeps length 1, and its largest component stays real.
    """
    inner = np.linalg.solve(v, a_dot.astype(v.dtype) @ v)
    v_dot = v @ turns(inner, w)
    along = np.real(np.sum(np.conj(v) * v_dot, axis=-2, keepdims=True))
    largest = np.argmax(np.abs(v), axis=-2, keepdims=True)
    there, there_dot = (np.take_along_axis(x, largest, -2) for x in (v, v_dot))
    turn = np.imag(there_dot) / np.real(there)
    return np.diagonal(inner, 0, -2, -1), v_dot - v * (along + 1j * turn)


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime import dtypes  # noqa: E402
from overt.runtime.cotangents import packed  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
from overt.runtime.numpy.factorizations import solve_triangular  # noqa: E402
