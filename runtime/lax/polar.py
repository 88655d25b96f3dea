"""The polar decomposition: a matrix with orthonormal columns times a positive Hermitian one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.numpy.factor_derivatives import columns, hermitian, mH, rows, transposed
from overt.runtime.numpy.solving import as_inexact
from overt.runtime.primitive import composite

__all__ = ["qdwh"]


def qdwh(
    x: Any, *, is_hermitian: bool = False, max_iterations: int | None = None,
    eps: float | None = None, dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """u and h with x = u @ h, how many steps it took, and whether they converged.

    For matrices of full rank with at least as many rows as columns: u has orthonormal columns, h is
    Hermitian and positive. `dynamic_shape` says which rows and columns of a padded matrix count.
    `is_hermitian` is taken as a promise that is not needed.

    Source: Nakatsukasa, Bai, Gygi, "Optimizing Halley's iteration for computing the matrix polar
    decomposition" (2010).

    >>> u, h, steps, converged = qdwh(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> print(np.round(h, 4))
    [[1. 0.]
     [0. 2.]]
    """
    x = as_inexact(x)
    if x.ndim != 2 or x.shape[0] < x.shape[1]:
        raise ValueError(f"qdwh needs a matrix with as many rows as columns or more: {x.shape}")
    if dynamic_shape is not None:
        m, n = dynamic_shape
        counts = (np.arange(x.shape[0])[:, None] < m) & (np.arange(x.shape[1]) < n)
        x = np.where(counts, x, 0)
    return polar_factors(x, 10 if max_iterations is None else int(max_iterations), eps)


@composite(
    arrays=("x",),
    vjp=(lambda g, out, x, **how: transposed(lambda x_dot: polar_dot(x_dot, *out[:2]), g[:2], x),),
    jvp=lambda dots, out, x, **how: (*polar_dot(dots[0], *out[:2]), None, None),
)
def polar_factors(x: Any, max_iterations: int, eps: float | None) -> tuple[Any, ...]:
    """Both factors, the number of steps and whether the last one changed little."""
    precision = float(dtypes.finfo(x.dtype).eps)
    eps = precision if eps is None else float(eps)
    both: Any = {"axis": (-2, -1), "keepdims": True}
    size = np.sqrt(np.linalg.norm(x, 1, **both) * np.linalg.norm(x, np.inf, **both))
    u = before = x / np.where(size == 0, 1, size).astype(x.dtype)
    steps = 0
    for a, b, c in weights(precision, max_iterations):
        before, u = u, halley_step(u, a, b, c)
        steps += 1
    change, reach = np.linalg.norm(u - before, axis=(-2, -1)), np.linalg.norm(u, axis=(-2, -1))
    converged = np.all(change <= reach * (4 * eps) ** (1 / 3))
    return u, hermitian(mH(u) @ x), np.asarray(steps), converged


def weights(precision: float, most: int) -> Iterator[tuple[float, float, float]]:
    """The weights of every step: they follow from the least singular value that is presumed."""
    least = precision
    for _ in range(most):
        square = least * least
        d = (4 * (1 - square) / square**2) ** (1 / 3)
        root = math.sqrt(1 + d)
        a = root + 0.5 * math.sqrt(8 - 4 * d + 8 * (2 - square) / (square * root))
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        yield a, b, c
        least = min(least * (a + b * square) / (1 + c * square), 1.0)
        if 1 - least < precision:
            yield 3.0, 1.0, 3.0
            return


def halley_step(u: Any, a: float, b: float, c: float) -> Any:
    """u (a + b u.H u) (1 + c u.H u)^-1, by QR where the weights are large, else by Cholesky."""
    n = u.shape[-1]
    eye = np.broadcast_to(np.eye(n, dtype=u.dtype), (*u.shape[:-2], n, n))
    if c > 100:
        q = np.linalg.qr(np.concatenate([math.sqrt(c) * u, eye], -2))[0]
        rest = (a - b / c) / math.sqrt(c) * (q[..., :-n, :] @ mH(q[..., -n:, :]))
    else:
        rest = (a - b / c) * mH(np.linalg.solve(eye + c * (mH(u) @ u), mH(u)))
    return b / c * u + rest


def polar_dot(x_dot: Any, u: Any, h: Any) -> tuple[Any, Any]:
    """Tangents of both factors, from h @ turn + turn @ h = u.H x_dot - x_dot.H u."""
    s, v = np.linalg.eigh(h)
    inner = mH(u) @ x_dot
    turn = mH(v) @ (inner - mH(inner)) @ v / (columns(s) + rows(s))
    turn = v @ turn @ mH(v)
    u_dot = u @ turn
    if u.shape[-2] > u.shape[-1]:
        beside = x_dot - u @ inner
        u_dot = u_dot + mH(np.linalg.solve(h, mH(beside)))
    return u_dot, inner - turn @ h
