"""`numpy.linalg`: solving, factorizing and measuring matrices, with any number of batch axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.numpy.decompositions import (  # noqa: F401
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    eigvalsh_bar,
    eigvalsh_dot,
    qr,
    qr_bar,
    qr_tangent,
    svd,
    svd_back,
    svdvals,
)
from overt.runtime.numpy.movement import with_rule
from overt.runtime.numpy.solving import (  # noqa: F401
    as_inexact,
    cofactors,
    det,
    inv,
    lstsq,
    pinv,
    pinv_bar,
    pinv_dot,
    slogdet,
    slogdet_bar,
    slogdet_dot,
    solve,
    solve_bar_a,
    solve_bar_b,
    solve_dot,
)

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


@with_rule(arrays=("a",), vjp=(lambda g, out, a, *, n: matrix_power_bar(g, a, n),))
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


def matrix_power_bar(g: Any, a: Any, n: int) -> Any:
    """Cotangent of a in `matrix_power(a, n)`."""
    from overt.runtime.record import vjp_call

    _, pullback = vjp_call(lambda a: matrix_power(a, n), a)
    return pullback(g)[0]


def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Any:
    """The number of singular values above a tolerance: `tol`, or `rtol` times the largest.

    `hermitian` says that the matrices are, so that their eigenvalues do.

    >>> int(matrix_rank(np.array([[1.0, 1.0], [1.0, 1.0]])))
    1
    """
    if rtol is not None and tol is not None:
        raise ValueError("matrix_rank: give rtol or tol, not both")
    M = as_inexact(M)
    if M.ndim < 2:
        return np.any(M != 0).astype(int)
    s = np.abs(np.linalg.eigvalsh(M)) if hermitian else np.linalg.svdvals(M)
    if tol is None:
        if rtol is None:
            rtol = max(M.shape[-2:]) * float(dtypes.finfo(M.dtype).eps)
        tol = np.max(s, axis=-1, initial=0) * rtol
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


@with_rule(
    arrays=("x1", "x2"),
    vjp=(
        lambda g, out, x1, x2, *, axis: cross_bar_x(g, x1, x2, axis, axis, axis),
        lambda g, out, x1, x2, *, axis: cross_bar_y(g, x1, x2, axis, axis, axis),
    ),
)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of length 3.

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    shapes = np.shape(x1), np.shape(x2)
    if any(shape[axis] != 3 for shape in shapes):
        raise ValueError(f"linalg.cross needs vectors of length 3, got shapes {shapes}")
    return np.cross(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> Any:
    """All products of the elements of two vectors.

    >>> outer(np.array([1, 2]), np.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError(
            f"linalg.outer needs two vectors, got shapes {np.shape(x1)} and {np.shape(x2)}; "
            "numpy.outer flattens its arguments"
        )
    return np.outer(x1, x2)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of the last two axes.

    >>> diagonal(np.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return np.diagonal(x, offset, -2, -1)


@with_rule(
    arrays=("x",),
    linear=True,
    vjp=(lambda g, out, x, *, offset, dtype: on_trace(g, x, offset, -2, -1),),
)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of the diagonal of the last two axes.

    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return np.trace(x, offset, -2, -1, dtype)


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.numpy.diagonals import on_trace  # noqa: E402
from overt.runtime.numpy.norms import matrix_norm, norm, vector_norm  # noqa: E402
from overt.runtime.numpy.products import matmul, tensordot  # noqa: E402
from overt.runtime.numpy.shaping import matrix_transpose  # noqa: E402
from overt.runtime.numpy.vector_products import cross_bar_x, cross_bar_y, vecdot  # noqa: E402
