"""Solutions of linear equations by iteration, from products with the matrix alone.

Source: Hestenes and Stiefel, 1952 (cg); van der Vorst, 1992 (bicgstab); Saad and Schultz, 1986
(gmres).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.called import call
from overt.runtime.control import for_loop, loop_range, while_loop
from overt.runtime.lax.linear_solves import custom_linear_solve
from overt.runtime.record import vjp_call
from overt.runtime.tree import tree_leaves, tree_map, tree_structure
from overt.runtime.vectors_of_trees import ravel_pytree

__all__ = ["bicgstab", "cg", "gmres"]

Product = Callable[[Any], Any]


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0,
    maxiter: int | None = None, M: Any = None,
) -> tuple[Any, None]:  # fmt: skip
    """The x with A x = b for a positive definite A, by conjugate gradients; and None.

    `A` and the preconditioner `M`, an estimate of its inverse, are matrices or linear functions;
    `b` and `x0` arrays or trees of them. It stops where the residual is at most `tol * norm(b)` or
    `atol`, or after `maxiter` steps (10 a variable). Derivatives are those of the exact solution.

    Errors: ValueError where structures or shapes do not fit.

    >>> x, _ = cg(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([5.0, 4.0]))
    >>> print(np.round(x, 3))
    [1. 1.]
    """
    return _solved("cg", _conjugate_gradients, A, b, x0, tol, atol, maxiter, M, True)


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0,
    maxiter: int | None = None, M: Any = None,
) -> tuple[Any, None]:  # fmt: skip
    """The x with A x = b, by stabilized biconjugate gradients; and None. As `cg` otherwise.

    >>> x, _ = bicgstab(np.array([[4.0, 1.0], [0.0, 3.0]]), np.array([5.0, 3.0]))
    >>> print(np.round(x, 3))
    [1. 1.]
    """
    return _solved("bicgstab", _stabilized, A, b, x0, tol, atol, maxiter, M, False)


def gmres(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0, restart: int = 20,
    maxiter: int | None = None, M: Any = None, solve_method: str = "batched",
) -> tuple[Any, None]:  # fmt: skip
    """The x with A x = b, by least residuals over spaces of `restart` dimensions; and None.

    As `cg` otherwise; `maxiter` counts the spaces. `solve_method` is "batched" or "incremental":
    both give the same.

    >>> x, _ = gmres(np.array([[4.0, 1.0], [0.0, 3.0]]), np.array([5.0, 3.0]))
    >>> print(np.round(x, 3))
    [1. 1.]
    """
    if solve_method not in ("batched", "incremental"):
        raise ValueError(f"gmres: solve_method is 'batched' or 'incremental', not {solve_method!r}")

    def spaces(product: Product, inverse: Product, b: Any, x: Any, least: Any, limit: int) -> Any:
        return _least_residuals(product, inverse, b, x, least, limit, min(restart, b.shape[0]))

    return _solved("gmres", spaces, A, b, x0, tol, atol, maxiter, M, False)


def _solved(
    name: str, iterate: Callable, A: Any, b: Any, x0: Any, tol: Any, atol: Any,
    maxiter: int | None, M: Any, hermitian: bool,
) -> tuple[Any, None]:  # fmt: skip
    b = tree_map(_floats, b)
    x0 = tree_map(np.zeros_like, b) if x0 is None else tree_map(_floats, x0)
    shapes = [[np.shape(leaf) for leaf in tree_leaves(tree)] for tree in (x0, b)]
    if tree_structure(x0) != tree_structure(b) or shapes[0] != shapes[1]:
        raise ValueError(f"{name}: x0 must have the structure and shapes of b")
    if not callable(A) and (np.ndim(A) != 2 or np.shape(A)[0] != np.shape(A)[1]):
        raise ValueError(
            f"{name}: A must be a square matrix or a function, got shape {np.shape(A)}"
        )
    matvec, inverse = _function(A), _function(M)
    size = sum(np.size(leaf) for leaf in tree_leaves(b))
    limit = 10 * size if maxiter is None else maxiter

    def solver(start: Any, transposed: bool) -> Callable:
        def solve(matvec: Product, b: Any) -> Any:
            vector, tree_of = ravel_pytree(b)

            def product(v: Any) -> Any:
                out = matvec(tree_of(v))
                if tree_structure(out) != tree_structure(b):
                    raise ValueError(f"{name}: A must give what has the structure of b")
                return ravel_pytree(out)[0].astype(vector.dtype)

            def improve(v: Any) -> Any:
                return ravel_pytree(call(inverse, tree_of(v)))[0].astype(vector.dtype)

            first = np.zeros_like(vector) if start is None else ravel_pytree(start)[0]
            near = np.maximum(tol * _norm(vector), atol)

            def improve_back(v: Any) -> Any:
                return vjp_call(improve, np.zeros_like(v))[1](v)[0]

            better = (lambda v: v) if M is None else improve_back if transposed else improve
            return tree_of(iterate(product, better, vector, first, near, limit))

        return solve

    is_real = all(not dtypes.is_complex(leaf.dtype) for leaf in tree_leaves(b))
    symmetric = hermitian and is_real
    x = custom_linear_solve(matvec, b, solver(x0, False), solver(None, not symmetric), symmetric)
    return x, None


def _floats(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(dtypes.to_inexact(x.dtype))


def _function(A: Any) -> Callable:
    if A is None:
        return lambda x: x
    if callable(A):
        return A
    A = np.asarray(A)
    return lambda x: A @ x


def _norm(x: Any) -> Any:
    return np.sqrt(np.real(np.vdot(x, x)))


def _conjugate_gradients(
    product: Product, inverse: Product, b: Any, x: Any, least: Any, limit: int
) -> Any:
    def test(x: Any, r: Any, p: Any, gamma: Any, k: Any) -> Any:
        return (_norm(r) > least) & (k < limit)

    def body(x: Any, r: Any, p: Any, gamma: Any, k: Any) -> Any:
        q = product(p)
        alpha = gamma / np.vdot(p, q)
        x, r = x + alpha * p, r - alpha * q
        z = inverse(r)
        new = np.vdot(r, z)
        return x, r, z + new / gamma * p, new, k + 1

    r = b - product(x)
    z = inverse(r)
    return while_loop(test, body, (x, r, z, np.vdot(r, z), np.asarray(0)))[0]


def _stabilized(product: Product, inverse: Product, b: Any, x: Any, least: Any, limit: int) -> Any:
    def test(x: Any, r: Any, p: Any, q: Any, alpha: Any, omega: Any, rho: Any, k: Any) -> Any:
        return (_norm(r) > least) & (k < limit) & (k >= 0)

    def body(x: Any, r: Any, p: Any, q: Any, alpha: Any, omega: Any, rho: Any, k: Any) -> Any:
        new = np.vdot(shadow, r)
        p = r + new / rho * alpha / omega * (p - omega * q)
        improved = inverse(p)
        q = product(improved)
        alpha = new / np.vdot(shadow, q)
        s = r - alpha * q
        done = _norm(s) <= least  # half a step was enough, and t may be 0
        t_of = inverse(s)
        t = product(t_of)
        square = np.vdot(t, t)
        omega = np.where(done | (square == 0), 0, np.vdot(t, s) / np.where(square == 0, 1, square))
        x = x + alpha * improved + omega * t_of
        stuck = ~done & ((omega == 0) | (alpha == 0) | (new == 0))
        return x, s - omega * t, p, q, alpha, omega, new, np.where(stuck, -1, k + 1)

    r = shadow = b - product(x)
    one = np.ones((), b.dtype)
    zero = np.zeros_like(r)
    return while_loop(test, body, (x, r, zero, zero, one, one, one, np.asarray(0)))[0]


def _least_residuals(
    product: Product, inverse: Product, b: Any, x: Any, least: Any, limit: int, m: int
) -> Any:
    n = b.shape[0]
    scale = _norm(b)
    least = least * np.where(scale > 0, _norm(inverse(b)) / np.where(scale > 0, scale, 1), 1)

    def residual(x: Any) -> Any:
        return inverse(b - product(x))

    def test(x: Any, r: Any, k: Any) -> Any:
        return (_norm(r) > least) & (k < limit)

    def body(x: Any, r: Any, k: Any) -> Any:
        length = _norm(r)
        basis = np.zeros((m + 1, n), b.dtype).at[0].set(r / np.where(length > 0, length, 1))

        def widen(j: Any, basis: Any, h: Any) -> Any:
            w = inverse(product(basis[j]))
            size = _norm(w)
            along = np.conj(basis) @ w
            w = w - along @ basis
            again = np.conj(basis) @ w  # a second time, for what rounding left
            w = w - again @ basis
            rest = _norm(w)
            ended = rest <= float(dtypes.finfo(b.dtype).eps) * size
            basis = basis.at[j + 1].set(np.where(ended, 0, w / np.where(ended, 1, rest)))
            column = (along + again).at[j + 1].add(np.where(ended, 0, rest).astype(b.dtype))
            # After the space has ended its further columns are those of the unit matrix.
            outside = _norm(basis[j]) == 0
            unit = np.zeros(m + 1, b.dtype).at[j].set(1)
            return basis, h.at[:, j].set(np.where(outside, unit, column))

        start = (basis, np.zeros((m + 1, m), b.dtype))
        basis, h = for_loop(loop_range(0, m, 1), widen, start)
        q, upper = np.linalg.qr(h)
        y = np.linalg.solve(upper, np.conj(q[0]) * length)
        x = x + y @ basis[:m]
        return x, residual(x), k + 1

    return while_loop(test, body, (x, residual(x), np.asarray(0)))[0]
