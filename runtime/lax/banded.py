"""Tridiagonal systems of equations."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import numpy as np
from overt.runtime.aval import Aval
from overt.runtime.numpy.lapack import (
    LETTER,
    batched_in_front,
    nan_unless,
    on_gpu,
    only_on_cpu,
    solver_call,
    succeeded,
)
from overt.runtime.numpy.solving import as_inexact
from overt.runtime.primitive import Primitive

__all__ = ["tridiagonal_solve"]


def _solution_aval(dl: Aval, d: Aval, du: Aval, b: Aval, *, perturb_singular: bool) -> Aval:
    if not dl.shape == d.shape == du.shape == b.shape[:-1]:
        raise TypeError(
            "tridiagonal_solve needs three diagonals of the shape of b without its last axis, got "
            f"shapes {dl.shape}, {d.shape}, {du.shape} and {b.shape}"
        )
    if d.dtype.name not in LETTER or not dl.dtype == d.dtype == du.dtype == b.dtype:
        raise TypeError(
            "tridiagonal_solve needs operands of one dtype, of 32 or 64 bits a number, got "
            f"{dl.dtype}, {d.dtype}, {du.dtype} and {b.dtype}"
        )
    return b


def _lower_solution(
    b: Any, dl: Any, d: Any, du: Any, y: Any, *, avals: Any, out: Aval, perturb_singular: bool
) -> Any:
    if 0 in out.shape:
        return y
    line = (avals[1].shape, avals[1].dtype, 1)
    block = (out.shape, out.dtype, 2)
    ranks = [1, 1, 1, 2]
    if perturb_singular:
        if b.platform == "tpu":
            only_on_cpu(b, "tridiagonal_solve with perturb_singular")
        name = "cu_tridiagonal_solve_perturbed" if on_gpu(b) else "tridiagonal_solve_perturbed_ffi"
        return solver_call(b, name, [dl, d, du, y], [block], {}, ranks, {})[0]
    if on_gpu(b):
        if out.shape[-2] < 3:
            return _eliminated(b, dl, d, du, y)
        return solver_call(b, "cusparse_gtsv2_ffi", [dl, d, du, y], [block], {}, ranks, {3: 0})[0]
    only_on_cpu(b, "tridiagonal_solve")
    results = [line, line, line, block, (out.shape[:-2], numpy.int32, 0)]
    same = {k: k for k in range(4)}
    name = f"lapack_{LETTER[out.dtype.name]}gtsv_ffi"
    *_, x, info = solver_call(b, name, [dl, d, du, y], results, {}, ranks, same)
    return nan_unless(b, succeeded(b, info), x)


def _eliminated(b: Any, dl: Any, d: Any, du: Any, y: Any) -> Any:
    """One or two equations, by Cramer's rule: cuSparse wants three."""
    shape = b.shape(y)
    lead, n = shape[:-2], shape[-2]

    def row(x: Any, k: int) -> Any:
        size = b.shape(x)
        at = len(lead)
        start, stop = [0] * len(size), list(size)
        start[at], stop[at] = k, k + 1
        part = b.slice(x, start, stop, [1] * len(size))
        if len(size) == len(shape):
            return part
        return b.broadcast_in_dim(part, (*lead, 1, shape[-1]), range(len(size)))

    def times(u: Any, v: Any) -> Any:
        return b.binary("multiply", u, v)

    if n == 1:
        return b.binary("divide", y, row(d, 0))
    first, second, above, below = row(d, 0), row(d, 1), row(du, 0), row(dl, 1)
    whole = b.binary("subtract", times(first, second), times(above, below))
    top = b.binary("subtract", times(second, row(y, 0)), times(above, row(y, 1)))
    low = b.binary("subtract", times(first, row(y, 1)), times(below, row(y, 0)))
    ends = [b.binary("divide", x, whole) for x in (top, low)]
    return b.concatenate(ends, len(lead))


solve_tridiagonal = Primitive(
    "solve_tridiagonal",
    shape=_solution_aval,
    lower=_lower_solution,
    vjp=(
        lambda g, out, dl, d, du, b, **how: (
            -np.sum(transposed_solve(dl, d, du, g, **how) * before(out), axis=-1)
        ),
        lambda g, out, dl, d, du, b, **how: (
            -np.sum(transposed_solve(dl, d, du, g, **how) * out, axis=-1)
        ),
        lambda g, out, dl, d, du, b, **how: (
            -np.sum(transposed_solve(dl, d, du, g, **how) * behind(out), axis=-1)
        ),
        lambda g, out, dl, d, du, b, **how: transposed_solve(dl, d, du, g, **how),
    ),
    jvp=lambda dots, out, dl, d, du, b, **how: solve_tridiagonal(
        dl, d, du, dots[3] - tridiagonal_product(dots[0], dots[1], dots[2], out), **how
    ),
    batch=batched_in_front(lambda: solve_tridiagonal),
    arrays=("dl", "d", "du", "b"),
    doc="x with a @ x = b, for a given by its three diagonals.",
)


def before(x: Any) -> Any:
    """Each row replaced by the one above it, the first by zeros."""
    return np.concatenate([np.zeros_like(x[..., :1, :]), x[..., :-1, :]], axis=-2)


def behind(x: Any) -> Any:
    """Each row replaced by the one below it, the last by zeros."""
    return np.concatenate([x[..., 1:, :], np.zeros_like(x[..., :1, :])], axis=-2)


def tridiagonal_product(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """a @ x for a given by its diagonals."""
    return dl[..., None] * before(x) + d[..., None] * x + du[..., None] * behind(x)


def transposed_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """x with a.T @ x = b, for a given by its diagonals."""
    below, above = np.roll(du, 1, axis=-1), np.roll(dl, -1, axis=-1)
    return solve_tridiagonal(below, d, above, b, perturb_singular=perturb_singular)


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """x with a @ x = b for tridiagonal matrices, given below, on and above the diagonal.

    The first element of `dl` and the last of `du` do not count. With `perturb_singular` pivots too
    near to zero are moved away from it, so that singular systems have a (large) solution.

    >>> one = np.ones(2)
    >>> tridiagonal_solve(0 * one, 2 * one, 0 * one, np.ones((2, 1)))[:, 0]
    Array([0.5, 0.5], dtype=float32)
    """
    dl, d, du, b = (as_inexact(x) for x in (dl, d, du, b))
    return solve_tridiagonal(dl, d, du, b, perturb_singular=bool(perturb_singular))
