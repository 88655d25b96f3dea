"""Solving linear systems by the factors of their matrices."""

from __future__ import annotations

from typing import Any

from overt.runtime import numpy as np
from overt.runtime.numpy.factor_derivatives import mH, mT
from overt.runtime.numpy.factorizations import cholesky_factor, permutation_of
from overt.runtime.numpy.factorizations import lu_factor as factors_of
from overt.runtime.numpy.factorizations import solve_triangular as solve_by_triangle
from overt.runtime.numpy.solving import as_inexact, as_matrices
from overt.runtime.numpy.solving import lu_solve as solve_by_factors

__all__ = [
    "cho_factor", "cho_solve", "cholesky", "det", "inv", "lu", "lu_factor", "lu_solve", "solve",
    "solve_triangular",
]  # fmt: skip

FORMS: dict[Any, str] = {0: "N", 1: "T", 2: "C", "N": "N", "T": "T", "C": "C"}


def fitting(a: Any, b: Any, name: str) -> tuple[Any, Any, bool]:
    """Square matrices and right-hand sides of one dtype and batch, and whether b was vectors."""
    a, b = as_matrices(a, name), as_inexact(b)
    dtype = np.result_type(a, b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"{name}: shapes {a.shape} and {b.shape} do not fit")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a.astype(dtype), lead + a.shape[-2:])
    return a, np.broadcast_to(b.astype(dtype), lead + b.shape[-2:]), vector


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant. The options have no effect.

    >>> print(det(np.array([[1.0, 2.0], [3.0, 4.0]])))
    -2.0
    """
    return np.linalg.det(a)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse matrix. The options have no effect.

    >>> print(inv(np.array([[2.0, 0.0], [0.0, 4.0]])))
    [[0.5  0.  ]
     [0.   0.25]]
    """
    return np.linalg.inv(a)


# Cholesky -----------------------------------------------------------------------------------------


def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The triangular factor of positive definite matrices, from that triangle of them alone.

    >>> print(cholesky(np.array([[4.0, 2.0], [2.0, 2.0]])))
    [[2. 1.]
     [0. 1.]]
    """
    a = as_matrices(a, "cholesky")
    return cholesky_factor(a) if lower else mH(cholesky_factor(mH(a)))


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """Cholesky's factor, and which triangle it is, for `cho_solve`.

    >>> cho_factor(np.array([[4.0]]))
    (Array([[2.]], dtype=float32), False)
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """x with a @ x = b, from `cho_factor(a)`.

    >>> print(cho_solve(cho_factor(np.array([[4.0]])), np.array([8.0])))
    [2.]
    """
    factor, lower = c_and_lower
    factor, x, vector = fitting(factor, b, "cho_solve")
    for transpose in ("N", "C") if lower else ("C", "N"):
        x = solve_by_triangle(
            factor, x, left=True, lower=bool(lower), unit=False, transpose=transpose
        )
    return x[..., 0] if vector else x


# LU -----------------------------------------------------------------------------------------------


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, ...]:
    """p, l and u with p @ l @ u = a; with `permute_l` p @ l and u.

    >>> p, l, u = lu(np.array([[0.0, 1.0], [2.0, 3.0]]))
    >>> print(u)
    [[2. 3.]
     [0. 1.]]
    """
    a = as_inexact(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    factor, _, order = factors_of(a)
    left = np.tril(factor[..., :, :k], -1) + np.eye(m, k, dtype=a.dtype)
    right = np.triu(factor[..., :k, :])
    if permute_l:
        return np.take_along_axis(left, np.argsort(order, -1)[..., None], -2), right
    exchange = order[..., None, :] == np.arange(m, dtype=order.dtype)[:, None]
    return exchange.astype(np.real(a[..., :0]).dtype), left, right


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """L and U in one matrix, and the row exchanges, for `lu_solve`.

    >>> lu_factor(np.array([[4.0]]))
    (Array([[4.]], dtype=float32), Array([0], dtype=int32))
    """
    return factors_of(as_inexact(a))[:2]


def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """x with a @ x = b from `lu_factor(a)`; trans 1: a.T @ x = b, trans 2: a.T.conj() @ x = b.

    >>> print(lu_solve(lu_factor(np.array([[4.0]])), np.array([8.0])))
    [2.]
    """
    factor, pivots = lu_and_piv
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, not {trans!r}")
    factor, b, vector = fitting(factor, b, "lu_solve")
    order = permutation_of(np.asarray(pivots).astype(np.int32), rows=factor.shape[-1])
    order = np.broadcast_to(order, (*factor.shape[:-2], order.shape[-1]))
    if trans == 2:
        x = np.conj(solve_by_factors((factor, None, order), np.conj(b), True))
    else:
        x = solve_by_factors((factor, None, order), b, trans == 1)
    return x[..., 0] if vector else x


# systems ------------------------------------------------------------------------------------------


def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    debug: bool = False, check_finite: bool = True, assume_a: str = "gen",
) -> Any:  # fmt: skip
    """x with a @ x = b, for matrices a: general, "sym"metric, "her"mitian or "pos"itive definite.

    Of the last three only the lower or upper triangle counts. The other options have no effect.

    >>> print(solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0])))
    [1.  0.5]
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError(f"solve: assume_a must be 'gen', 'sym', 'her' or 'pos', not {assume_a!r}")
    if assume_a == "pos":
        return cho_solve(cho_factor(a, lower), b)
    if assume_a != "gen":
        a = as_matrices(a, "solve")
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        on = np.eye(a.shape[-1], dtype=a.dtype) * a
        a = half + on + (mT(half) if assume_a == "sym" else mH(half))
    return np.linalg.solve(a, b)


def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, debug: Any = None, check_finite: bool = True,
) -> Any:  # fmt: skip
    """x with a @ x = b for triangular a; trans 1 or "T": a.T @ x = b, 2 or "C": its conjugate.

    >>> print(solve_triangular(np.array([[2.0, 9.0], [0.0, 4.0]]), np.array([0.0, 4.0])))
    [-4.5  1. ]
    """
    if trans not in FORMS:
        raise ValueError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    a, b, vector = fitting(a, b, "solve_triangular")
    x = solve_by_triangle(
        a, b, left=True, lower=bool(lower), unit=bool(unit_diagonal), transpose=FORMS[trans]
    )
    return x[..., 0] if vector else x
