"""Products and updates of symmetric matrices."""

from __future__ import annotations

from typing import Any

from overt.runtime import dtypes
from overt.runtime import numpy as np
from overt.runtime.control import for_loop, loop_range
from overt.runtime.numpy.factor_derivatives import cholesky_dot, mT, transposed
from overt.runtime.numpy.solving import as_inexact
from overt.runtime.primitive import composite

__all__ = ["cholesky_update", "symmetric_product"]


@composite(
    arrays=("r_matrix", "w_vector"),
    vjp=(
        lambda g, out, r_matrix, w_vector: transposed(
            lambda dot: update_dot(dot, np.zeros_like(w_vector), out, r_matrix, w_vector),
            g, r_matrix,
        ),
        lambda g, out, r_matrix, w_vector: transposed(
            lambda dot: update_dot(np.zeros_like(r_matrix), dot, out, r_matrix, w_vector),
            g, w_vector,
        ),
    ),
    jvp=lambda dots, out, r_matrix, w_vector: update_dot(
        dots[0], dots[1], out, r_matrix, w_vector
    ),
)  # fmt: skip
def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper triangular factor of r.T @ r + outer(w, w), from that of r.T @ r.

    >>> cholesky_update(np.eye(2) * 3.0, np.array([4.0, 0.0]))
    Array([[5., 0.],
           [0., 3.]], dtype=float32)
    """
    r, w = as_inexact(r_matrix), as_inexact(w_vector)
    if r.ndim != 2 or r.shape[0] != r.shape[1] or w.shape != r.shape[:1]:
        raise ValueError(
            "cholesky_update needs a square matrix and a vector of its size, got shapes "
            f"{r.shape} and {w.shape}"
        )
    if dtypes.is_complex(r.dtype) or dtypes.is_complex(w.dtype):
        raise TypeError("cholesky_update takes real matrices; update a complex one by cholesky")
    r, w = np.promote_types(r.dtype, w.dtype).type(0) + np.triu(r), w.astype(r.dtype)

    def rotated(k: Any, r: Any, w: Any) -> tuple[Any, Any]:
        """Rotate row k and w so that w[k] becomes zero (Givens)."""
        row = r[k]
        x, y = row[k], w[k]
        length = np.hypot(x, y)
        none = length == 0
        cosine = np.where(none, 1.0, x / np.where(none, 1.0, length))
        sine = np.where(none, 0.0, y / np.where(none, 1.0, length))
        return r.at[k].set(cosine * row + sine * w), cosine * w - sine * row

    return for_loop(loop_range(r.shape[0]), rotated, (r, w))[0]


def update_dot(r_dot: Any, w_dot: Any, out: Any, r: Any, w: Any) -> Any:
    """Tangent of the updated factor: that of a Cholesky factor of the updated matrix."""
    r, r_dot = np.triu(r), np.triu(r_dot)
    half = mT(r_dot) @ r + w_dot[:, None] * w
    return mT(cholesky_dot(half + mT(half), mT(out)))


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:  # fmt: skip
    """alpha * a @ a.T + beta * c, for symmetric c.

    With `symmetrize_output` the lower triangle of the result is copied to the upper one.

    >>> symmetric_product(np.ones((2, 2)), np.zeros((2, 2)))[0]
    Array([2., 2.], dtype=float32)
    """
    a, c = as_inexact(a_matrix), as_inexact(c_matrix)
    if a.ndim < 2 or c.shape[-2:] != (a.shape[-2], a.shape[-2]):
        raise ValueError(
            "symmetric_product needs matrices of m rows and square ones of m rows, got shapes "
            f"{a.shape} and {c.shape}"
        )
    result = alpha * np.matmul(a, mT(a), precision="highest") + beta * c
    return np.tril(result) + mT(np.tril(result, -1)) if symmetrize_output else result
