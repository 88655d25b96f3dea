"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.index_plan import mask_if_known

__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval",
    "roots", "vander",
]  # fmt: skip


def _coefficients(p: Any) -> Any:
    return np.atleast_1d(np.asarray(p))


@array_function(arrays=("p", "x"))
def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
    """Value of a polynomial, by Horner's rule; its steps are always written out (`unroll`).

    >>> print(np.polyval(np.array([1.0, 0.0, 2.0]), 3.0))
    11.0
    """
    p, x = np.asarray(p), np.asarray(x)
    if not p.ndim:
        raise ValueError("polyval needs an array of coefficients, not one number")
    value = np.zeros(x.shape, np.result_type(p, x))
    for k in range(p.shape[0]):
        value = value * x + p[k]
    return value


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    a, b = _coefficients(a), _coefficients(b)
    n = max(a.shape[0], b.shape[0])
    return np.pad(a, (n - a.shape[0], 0)), np.pad(b, (n - b.shape[0], 0))


@array_function(arrays=("a1", "a2"))
def polyadd(a1: Any, a2: Any) -> Any:
    """Sum of two polynomials.

    >>> print(np.polyadd(np.array([1, 2]), np.array([3])))
    [1 5]
    """
    a1, a2 = _aligned(a1, a2)
    return a1 + a2


@array_function(arrays=("a1", "a2"))
def polysub(a1: Any, a2: Any) -> Any:
    """Difference of two polynomials.

    >>> print(np.polysub(np.array([1, 2]), np.array([3])))
    [ 1 -1]
    """
    a1, a2 = _aligned(a1, a2)
    return a1 - a2


@array_function(arrays=("a1", "a2"))
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Product of two polynomials; zeros in front may be left out first, as NumPy does.

    >>> print(np.polymul(np.array([1.0, 1.0]), np.array([1.0, -1.0])))
    [ 1.  0. -1.]
    """
    a1, a2 = _trimmed(_coefficients(a1), _coefficients(a2), trim_leading_zeros)
    return np.convolve(a1, a2)


def _trimmed(a: Any, b: Any, leading: bool) -> tuple[Any, Any]:
    """Both without the zeros in front, but for the last coefficient."""
    if not leading:
        return a, b
    a, b = np.trim_zeros(a, "f"), np.trim_zeros(b, "f")
    return (a if a.size else np.zeros(1, a.dtype)), (b if b.size else np.zeros(1, b.dtype))


@array_function(arrays=("u", "v"))
def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Quotient and remainder of two polynomials; zeros in front may be left out, as NumPy does.

    >>> q, r = np.polydiv(np.array([1.0, 0.0, -1.0]), np.array([1.0, 1.0]))
    >>> print(q, r)
    [ 1. -1.] [0. 0. 0.]
    """
    u, v = _coefficients(u), _coefficients(v)
    if u.ndim > 1 or v.ndim > 1:
        raise ValueError(f"polydiv needs one-dimensional arrays, got {u.shape} and {v.shape}")
    u, v = _trimmed(u, v, trim_leading_zeros)
    dtype = dtypes.to_inexact(np.result_type(u, v))
    rest, v = np.astype(u, dtype), np.astype(v, dtype)
    n, m = u.shape[0], v.shape[0]
    if n < m:
        return np.zeros((1,), dtype), rest
    quotient = []
    for k in range(n - m + 1):
        factor = rest[k] / v[0]
        quotient.append(factor)
        rest = rest - np.pad(factor * v, (k, n - m - k))
    rest = _trimmed(rest, rest, trim_leading_zeros)[0]
    return np.stack(quotient), rest


@array_function(arrays=("p",))
def polyder(p: Any, m: int = 1) -> Any:
    """Derivative of a polynomial, `m` times over.

    >>> print(np.polyder(np.array([1, 0, 2])))
    [2 0]
    """
    if m < 0:
        raise ValueError(f"polyder: order must not be negative, got {m}")
    p = _coefficients(p)
    for _ in range(m):
        p = p[:-1] * numpy.arange(p.shape[0] - 1, 0, -1).astype(p.dtype)
    return p


@array_function(arrays=("p", "k"))
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Integral of a polynomial, `m` times over, with constants `k`.

    >>> print(np.polyint(np.array([2.0, 0.0])))
    [1. 0. 0.]
    """
    if m < 0:
        raise ValueError(f"polyint: order must not be negative, got {m}")
    p = _coefficients(p)
    p = np.astype(p, dtypes.to_inexact(p.dtype))
    constants = np.zeros(m) if k is None else np.broadcast_to(np.asarray(k), (m,))
    for i in range(m):
        p = p / numpy.arange(p.shape[0], 0, -1).astype(p.dtype)
        p = np.concatenate([p, np.astype(constants[i : i + 1], p.dtype)])
    return p


@array_function(arrays=("seq_of_zeros",))
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with given roots, or the characteristic polynomial of a matrix.

    >>> print(np.poly(np.array([1.0, -1.0])))
    [ 1.  0. -1.]
    """
    zeros = np.asarray(seq_of_zeros)
    if zeros.ndim == 2:
        zeros = np.linalg.eigvals(zeros)
    zeros = np.atleast_1d(np.astype(zeros, dtypes.to_inexact(zeros.dtype)))
    p = np.ones((1,), zeros.dtype)
    for k in range(zeros.shape[0]):
        p = np.pad(p, (0, 1)) - zeros[k] * np.pad(p, (1, 0))
    return p


def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """Roots of a polynomial: the eigenvalues of its companion matrix.

    Zeros before the first coefficient are left out, and zeros behind the last one are roots at
    zero, where the values are known.  In a compiled program, or without `strip_zeros`, the first
    coefficient must not be zero: the result is NaN if it is.

    >>> print(np.round(np.sort(np.real(np.roots(np.array([1.0, 0.0, -4.0])))), 3))
    [-2.  2.]
    """
    p = _coefficients(p)
    places = mask_if_known(p != 0) if strip_zeros else None
    if places is None:
        return _eigenvalues_of_companion(p)
    (places,) = numpy.nonzero(places)
    if not places.size:
        return _eigenvalues_of_companion(p[:0])
    found = _eigenvalues_of_companion(p[int(places[0]) : int(places[-1]) + 1])
    return np.pad(found, (0, p.shape[0] - 1 - int(places[-1])))


@array_function(arrays=("p",))
def _eigenvalues_of_companion(p: Any) -> Any:
    p = np.astype(p, dtypes.to_inexact(p.dtype))
    n = p.shape[0] - 1
    if n < 1:
        return np.zeros((0,), dtypes.complex_of(p.dtype))
    companion = np.concatenate([-p[None, 1:] / p[0], np.eye(n - 1, n, dtype=p.dtype)])
    return np.linalg.eigvals(companion)


@array_function(arrays=("x",))
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of every element of `x`, a column each.

    >>> print(np.vander(np.array([1, 2, 3]), 3))
    [[1 1 1]
     [4 2 1]
     [9 3 1]]
    """
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError(f"vander needs an array of one dimension, got {x.ndim}")
    n = x.shape[0] if N is None else N
    powers = range(n) if increasing else range(n - 1, -1, -1)
    if n == 0:
        return np.zeros((x.shape[0], 0), x.dtype)
    return np.stack([np.power(x, k) for k in powers], axis=-1)


@array_function(arrays=("x", "y", "w"))
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None,
    cov: bool | str = False,
) -> Any:  # fmt: skip
    """The polynomial of degree `deg` that fits points best, in the sense of least squares.

    `full` adds squared residuals, rank, singular values and `rcond`; `cov` adds the covariance of
    the coefficients, from the residuals or, for "unscaled", from the weights alone.

    >>> print(np.round(np.polyfit(np.arange(4.0), np.arange(4.0) * 2 + 1, 1), 3))
    [2. 1.]
    """
    x, y = np.asarray(x), np.asarray(y)
    dtype = dtypes.to_inexact(np.result_type(x, y))
    columns = np.vander(np.astype(x, dtype), deg + 1)
    y = np.astype(y, dtype)
    if w is not None:
        columns, y = columns * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    scale = np.sqrt(np.sum(columns * columns, 0))
    if rcond is None:
        rcond = x.shape[0] * float(dtypes.finfo(dtype).eps)
    columns = columns / scale
    solution, residuals, rank, singular = np.linalg.lstsq(columns, y, rcond)
    coefficients = (solution.T / scale).T
    if full:
        return coefficients, residuals, rank, singular, rcond
    if not cov:
        return coefficients
    spread = np.linalg.inv(columns.T @ columns) / np.outer(scale, scale)
    spread = spread if y.ndim == 1 else spread[:, :, None]
    if cov != "unscaled":
        if x.shape[0] <= deg + 1:
            raise ValueError("polyfit: cov=True needs more points than there are coefficients")
        spread = spread * (residuals / (x.shape[0] - deg - 1))
    return coefficients, spread
