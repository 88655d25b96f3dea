"""Functions of matrices, and the equation of Sylvester that their derivatives lead to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.control import for_loop, loop_range
from overt.runtime.derivatives import sum_to
from overt.runtime.lax.condensed import schur_form
from overt.runtime.numpy.factor_derivatives import columns, mH, mT, rows
from overt.runtime.numpy.factorizations import solve_triangular
from overt.runtime.numpy.solving import as_inexact, as_matrices
from overt.runtime.primitive import composite

__all__ = ["expm", "expm_frechet", "funm", "solve_sylvester", "sqrtm"]


# the exponential ----------------------------------------------------------------------------------


@composite(
    arrays=("A",),
    vjp=(
        lambda g, out, A, *, upper_triangular, max_squarings: expm_along(mT(A), g, max_squarings),
    ),
    jvp=lambda dots, out, A, *, upper_triangular, max_squarings: expm_along(
        A, dots[0], max_squarings
    ),
)
def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """The exponential of square matrices; NaN where it would take more squarings than allowed.

    `upper_triangular` is taken as a promise that is not needed.

    Source: N. Higham, "The scaling and squaring method for the matrix exponential revisited"
    (2005).

    >>> print(expm(np.array([[0.0, 1.0], [0.0, 0.0]])))
    [[1. 1.]
     [0. 1.]]
    """
    a = as_matrices(A, "expm")
    double = a.dtype in ("float64", "complex128")
    degree, reach = (13, 5.371920351148152) if double else (7, 3.925724783138660)
    size = np.linalg.norm(a, 1, axis=(-2, -1), keepdims=True)
    squarings = np.ceil(np.log2(np.maximum(size / reach, 1.0)))
    result = pade(a * np.exp2(-np.minimum(squarings, max_squarings)).astype(a.dtype), degree)

    def squared(k: Any, x: Any) -> Any:
        return np.where(k < squarings, x @ x, x)

    result = for_loop(loop_range(max_squarings), squared, result)
    return np.where(squarings > max_squarings, np.nan, result)


def pade(a: Any, degree: int) -> Any:
    """The diagonal Padé approximant of exp(a), for small a."""
    weights = [
        math.factorial(2 * degree - k) * math.comb(degree, k) / math.factorial(degree)
        for k in range(degree + 1)
    ]
    square = a @ a
    power = np.eye(a.shape[-1], dtype=a.dtype)
    odd, even = weights[1] / weights[0] * power, power
    for k in range(2, degree, 2):
        power = square if k == 2 else power @ square
        even = even + weights[k] / weights[0] * power
        odd = odd + weights[k + 1] / weights[0] * power
    odd = a @ odd
    return np.linalg.solve(even - odd, even + odd)


def expm_along(A: Any, E: Any, max_squarings: int = 16) -> Any:
    """The derivative of expm at A along E: a corner of the exponential of a block matrix."""
    n = A.shape[-1]
    lead = np.broadcast_shapes(A.shape[:-2], E.shape[:-2])
    A, E = (np.broadcast_to(x, (*lead, n, n)) for x in (A, E))
    top, bottom = np.concatenate([A, E], -1), np.concatenate([np.zeros_like(A), A], -1)
    whole = np.concatenate([top, bottom], -2)
    return expm(whole, max_squarings=max_squarings)[..., :n, n:]


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The exponential of A, and its derivative along E; without `compute_expm` the latter alone.

    `method` "SPS" or "blockEnlarge": both are computed by the latter.

    >>> print(expm_frechet(np.zeros((1, 1)), np.ones((1, 1)), compute_expm=False))
    [[1.]]
    """
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"expm_frechet: method must be 'SPS' or 'blockEnlarge', not {method!r}")
    A, E = as_matrices(A, "expm_frechet"), as_matrices(E, "expm_frechet")
    dtype = np.result_type(A, E)
    A, E = A.astype(dtype), E.astype(dtype)
    if A.shape[-1] != E.shape[-1]:
        raise ValueError(f"expm_frechet: shapes {A.shape} and {E.shape} do not fit")
    along = expm_along(A, E)
    return (expm(A), along) if compute_expm else along


# functions by Schur's form ------------------------------------------------------------------------


def complex_schur(a: Any) -> tuple[Any, Any]:
    """Triangular t and unitary z with a = z @ t @ z.H."""
    return schur_form(a.astype(dtypes.complex_of(a.dtype)))


def by_superdiagonals(first: Any, rest: Callable[[Any], Any]) -> Any:
    """A triangular matrix with the diagonal `first`, each further one computed from those before.

    `rest(x)` gives all elements from the diagonals known so far; those of the next are taken.
    """
    n = first.shape[-1]
    place = np.arange(n)
    distance = place[None, :] - place[:, None]

    def extended(k: Any, x: Any) -> Any:
        return np.where(distance == k + 1, rest(x), x)

    return for_loop(loop_range(max(n - 1, 0)), extended, columns(first) * np.eye(n))


def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """The function of a matrix that a function of numbers stands for, complex.

    `func` takes arrays of eigenvalues, which should be well apart. Without `disp` also an estimate
    of the error in the 1-norm. It has no derivative.

    Source: the recurrence of Parlett; Golub and Van Loan, "Matrix Computations", 9.1.

    >>> print(np.round(np.real(funm(np.array([[4.0, 0.0], [0.0, 9.0]]), np.sqrt))))
    [[2. 0.]
     [0. 3.]]
    """
    a = as_matrices(A, "funm")
    t, z = complex_schur(a)
    values = np.diagonal(t, 0, -2, -1)
    gaps = columns(values) - rows(values)
    safe = np.where(gaps == 0, 1.0, gaps)
    images = np.asarray(func(values)).astype(t.dtype)
    f = by_superdiagonals(images, lambda x: (t @ x - x @ t) / safe)
    result = z @ f @ mH(z)
    if disp:
        return result
    eps = float(dtypes.finfo(t.dtype).eps)
    n = t.shape[-1]
    apart = np.where(np.tri(n, n, dtype=bool), np.inf, np.abs(gaps))
    least = np.min(apart, axis=(-2, -1), initial=1.0)
    least = np.where(least == 0, eps, least)
    spread = np.linalg.norm(np.triu(t, 1), 1, axis=(-2, -1))
    error = np.clip(eps / least * spread, eps, 1.0)
    return result, np.where(np.all(np.isfinite(f), axis=(-2, -1)), error, np.inf)


@composite(
    arrays=("A",),
    vjp=(lambda g, out, A, **how: real_as(A, solve_sylvester(mT(out), mT(out), g)),),
    jvp=lambda dots, out, A, **how: solve_sylvester(out, out, dots[0]),
)
def sqrtm(A: Any, blocksize: int = 1) -> Any:
    """The matrix whose square is A and whose eigenvalues have no negative real part, complex.

    `blocksize` has no effect.

    Source: Björck and Hammarling, "A Schur method for the square root of a matrix" (1983).

    >>> print(np.real(sqrtm(np.array([[4.0, 0.0], [0.0, 9.0]]))))
    [[2. 0.]
     [0. 3.]]
    """
    t, z = complex_schur(as_matrices(A, "sqrtm"))
    roots = np.sqrt(np.diagonal(t, 0, -2, -1))
    sums = columns(roots) + rows(roots)
    safe = np.where(sums == 0, 1.0, sums)
    return z @ by_superdiagonals(roots, lambda x: (t - x @ x) / safe) @ mH(z)


def real_as(like: Any, x: Any) -> Any:
    """The real part where `like` is real."""
    return x if dtypes.is_complex(like.dtype) else np.real(x)


# Sylvester's equation -----------------------------------------------------------------------------


@composite(
    arrays=("A", "B", "C"),
    vjp=(
        lambda g, out, A, B, C, *, method, tol: sum_to(
            -sylvester_back(g, A, B, method, tol) @ mT(out), A
        ),
        lambda g, out, A, B, C, *, method, tol: sum_to(
            -mT(out) @ sylvester_back(g, A, B, method, tol), B
        ),
        lambda g, out, A, B, C, *, method, tol: sum_to(sylvester_back(g, A, B, method, tol), C),
    ),
    jvp=lambda dots, out, A, B, C, *, method, tol: solve_sylvester(
        A, B, dots[2] - dots[0] @ out - out @ dots[1], method=method, tol=tol
    ),
)
def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Any:
    """X with A @ X + X @ B = C; NaN where eigenvalues of A and -B are closer than `tol`.

    Methods: "schur" (Bartels and Stewart 1972; on CPU), "eigen" (wants diagonalizable matrices).

    >>> print(solve_sylvester(np.array([[1.0]]), np.array([[2.0]]), np.array([[6.0]])))
    [[2.]]
    """
    if method not in ("schur", "eigen"):
        raise ValueError(f"solve_sylvester: method must be 'schur' or 'eigen', not {method!r}")
    A, B, C = as_matrices(A, "solve_sylvester"), as_matrices(B, "solve_sylvester"), as_inexact(C)
    if C.ndim < 2 or C.shape[-2:] != (A.shape[-1], B.shape[-1]):
        raise ValueError(f"solve_sylvester: shapes {A.shape}, {B.shape}, {C.shape} do not fit")
    dtype = np.result_type(A, B, C)
    full = dtypes.complex_of(dtype)
    lead = np.broadcast_shapes(A.shape[:-2], B.shape[:-2], C.shape[:-2])
    A, B, C = (np.broadcast_to(x.astype(full), lead + x.shape[-2:]) for x in (A, B, C))
    X = by_schur(A, B, C, tol) if method == "schur" else by_eigenvectors(A, B, C, tol)
    return X if dtypes.is_complex(dtype) else np.real(X)


def sylvester_back(g: Any, A: Any, B: Any, method: str = "schur", tol: float = 1e-8) -> Any:
    """Cotangent of C: the equation of the transposed matrices."""
    return solve_sylvester(mT(A), mT(B), g, method=method, tol=tol)


def nan_where_singular(x: Any, left: Any, right: Any, tol: float) -> Any:
    """NaN where two eigenvalues add up to nothing."""
    nearest = np.min(np.abs(rows(left) + columns(right)), axis=(-2, -1), initial=np.inf)
    return np.where(nearest[..., None, None] < tol, np.nan, x)


def by_schur(A: Any, B: Any, C: Any, tol: float) -> Any:
    """Column by column, in the bases where both matrices are triangular."""
    r, u = schur_form(A)
    s, v = schur_form(B)
    f = mH(u) @ C @ v
    eye = np.eye(r.shape[-1], dtype=r.dtype)

    def next_column(k: Any, y: Any) -> Any:
        known = f[..., :, k] - (y @ s[..., :, k, None])[..., 0]
        shifted = r + s[..., k, k][..., None, None] * eye
        column = solve_triangular(
            shifted, known[..., None], left=True, lower=False, unit=False, transpose="N"
        )
        return y.at[..., :, k].set(column[..., 0])

    y = for_loop(loop_range(s.shape[-1]), next_column, np.zeros_like(f))
    values = [np.diagonal(t, 0, -2, -1) for t in (r, s)]
    return nan_where_singular(u @ y @ mH(v), values[0], values[1], tol)


def by_eigenvectors(A: Any, B: Any, C: Any, tol: float) -> Any:
    """Element by element, in the bases of eigenvectors."""
    (left, u), (right, v) = np.linalg.eig(A), np.linalg.eig(B)
    f = np.linalg.solve(u, C @ v)
    x = mT(np.linalg.solve(mT(v), mT(u @ (f / (rows(left) + columns(right))))))
    return nan_where_singular(x, left, right, tol)
