"""Minimization by the method of Broyden, Fletcher, Goldfarb and Shanno.

Source: Nocedal and Wright, "Numerical optimization", 2006: algorithms 6.1 (BFGS), 3.5 and 3.6 (a
step that satisfies the strong Wolfe conditions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime import dtypes, vjp_of
from overt.runtime.numpy.movement import with_rule
from overt.runtime.plain import plain

__all__ = ["OptimizeResults", "minimize"]

# How much a step must gain, and how flat its end must be, as shares of the slope at its start.
GAIN, FLATNESS = 1e-4, 0.9
CONVERGED, TOO_MANY_STEPS, NO_STEP_FOUND, NOT_FINITE = 0, 1, 5, 4


class OptimizeResults(NamedTuple):
    """Where a minimization ended.

    `status` is 0 where the gradient got small enough, 1 after too many steps, 4 at values that are
    not finite, 5 where no step along the last direction was good enough; `success` is status == 0.
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


def minimize(
    fun: Callable,
    x0: Any,
    args: tuple = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of `fun(x, *args)`, searched from `x0` with gradients of `fun`.

    `method` is "BFGS". Options: `gtol` (or `tol`, 1e-5), how small the gradient is to get in the
    norm `norm` (inf); `maxiter` (200 steps a variable), `line_search_maxiter` (10).

    Shapes: `x0` (n,); `fun` returns a scalar.
    Errors: ValueError for another method or shape, TypeError for unknown options.

    >>> found = minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(2), method="BFGS")
    >>> print(np.round(found.x), found.success)
    [3. 3.] True
    """
    checked(args, method, np.shape(x0))
    given = options_of(options, tol)
    x = as_floats(x0)
    limit = given["maxiter"]
    if limit is None:
        limit = 200 * x.shape[0]
    return bfgs(
        fun, x, args, given["gtol"], given["norm"], limit, given["line_search_maxiter"]
    )  # fmt: skip


def checked(args: Any, method: Any, shape: tuple[int, ...]) -> None:
    """Errors: TypeError and ValueError for arguments that `minimize` cannot use."""
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args must be a tuple of arguments of fun, not {args!r}")
    if not isinstance(method, str) or method.lower() != "bfgs":
        raise ValueError(f'minimize: the only method is "BFGS", not {method!r}')
    if len(shape) != 1:
        raise ValueError(
            f"minimize: x0 must be a vector, but its shape is {shape}; flatten_util.ravel_pytree "
            "makes a vector of anything"
        )


def options_of(options: Mapping[str, Any] | None, tol: float | None) -> dict[str, Any]:
    """All options, those not given at their usual values. Errors: TypeError for unknown ones."""
    usual = {
        "gtol": 1e-5 if tol is None else tol,
        "norm": float("inf"),
        "maxiter": None,
        "line_search_maxiter": 10,
    }
    if unknown := set(options or ()) - set(usual):
        raise TypeError(f"minimize: unknown options {sorted(unknown)}; known are {list(usual)}")
    return {**usual, **(options or {})}


def as_floats(x: Any) -> Any:
    """`x` as an array of floats."""
    x = np.asarray(x)
    return x.astype(dtypes.to_inexact(x.dtype))


@plain
def bfgs(
    fun: Callable, x: Any, args: tuple, gtol: Any, norm: Any, limit: int, trials: int
) -> OptimizeResults:
    """Steps along -H g, with H an estimate of the inverse Hessian that every step improves."""
    eye = np.eye(x.shape[0], dtype=x.dtype)
    h = eye
    f, g = value_and_slope(fun, x, args)
    earlier = f + np.linalg.norm(g) / 2  # a guess of what a first step gains
    nit, nfev = 0, 1
    status = NOT_FINITE
    if np.isfinite(f):
        status = TOO_MANY_STEPS
    if np.linalg.norm(g, norm) < gtol:
        status = CONVERGED
    while status == TOO_MANY_STEPS and nit < limit:
        p = -h @ g
        slope = np.dot(g, p)
        start = first_trial(f, earlier, slope)
        a, f_new, g_new, found, count = line_search(fun, x, args, p, f, slope, start, trials)
        nit, nfev = nit + 1, nfev + count
        if found:
            s, y = a * p, g_new - g
            h = improved(h, s, y, eye)
            earlier = f
            x, f, g = x + s, f_new, g_new
            if np.linalg.norm(g, norm) < gtol:
                status = CONVERGED
        elif np.isfinite(f_new):
            status = NO_STEP_FOUND
        else:
            status = NOT_FINITE
    success = np.asarray(status == CONVERGED)
    status, nfev, nit = np.asarray(status), np.asarray(nfev), np.asarray(nit)
    x, f, g, h = forward_only(x), forward_only(f), forward_only(g), forward_only(h)
    return OptimizeResults(x, success, status, f, g, h, nfev, nfev, nit)


@with_rule(
    ("x",),
    vjp=(lambda g, out, x: refused_in_reverse(g),),
    jvp=lambda dots, out, x: dots[0],
)
def forward_only(x: Any) -> Any:
    """`x`, which has a derivative in forward mode only."""
    return x


def refused_in_reverse(g: Any) -> Any:
    """Errors: NotImplementedError, always."""
    raise NotImplementedError(
        "minimize cannot be differentiated in reverse: its search would have to be undone step by "
        "step. Use forward mode (jvp, jacfwd); or, at a minimum, give the derivative with "
        "custom_vjp: that of the solution of grad(fun)(x) = 0"
    )


@plain
def value_and_slope(fun: Callable, x: Any, args: tuple) -> tuple[Any, Any]:
    """`fun` and its gradient."""
    f, pull = vjp_of(fun, x, *args)
    return f, pull(np.ones_like(f))[1]


def first_trial(f: Any, earlier: Any, slope: Any) -> Any:
    """A step that would gain as much as the last one did, at most 1."""
    length = 2.02 * (f - earlier) / slope
    return np.where((length > 0) & (length < 1), length, 1)


def improved(h: Any, s: Any, y: Any, eye: Any) -> Any:
    """The estimate of the inverse Hessian after a step `s` changed the gradient by `y`."""
    curvature = np.dot(s, y)
    usable = curvature > 0
    rho = np.where(usable, 1 / np.where(usable, curvature, 1), 0)
    v = eye - rho * np.outer(s, y)
    return np.where(usable, v @ h @ v.T + rho * np.outer(s, s), h)


@plain
def line_search(
    fun: Callable, x: Any, args: tuple, p: Any, f0: Any, slope0: Any, start: Any, trials: int
) -> tuple:
    """A step along `p` that satisfies the strong Wolfe conditions.

    Gives the step, `fun` and its gradient at its end, whether it was found, how many were tried.
    """
    low, f_low, slope_low = np.zeros_like(start), f0, slope0
    high, f_high = np.zeros_like(start), f0
    between, found = False, False
    a, tried = start, 0
    f, g = f0, p
    while not found and tried < trials:
        f, g = value_and_slope(fun, x + a * p, args)
        slope = np.dot(g, p)
        tried = tried + 1
        if not (f <= f0 + GAIN * a * slope0) or (tried > 1 and f >= f_low):
            high, f_high, between = a, f, True
        elif np.abs(slope) <= -FLATNESS * slope0:
            found = True
        else:
            if slope * (high - low if between else 1.0) >= 0:
                high, f_high, between = low, f_low, True
            low, f_low, slope_low = a, f, slope
        if not found:
            a = next_trial(low, f_low, slope_low, high, f_high, between)
    return a, f, g, found, tried


def next_trial(low: Any, f_low: Any, slope: Any, high: Any, f_high: Any, between: Any) -> Any:
    """The minimum of a parabola between two ends, kept off them; twice as far without an end."""
    width = high - low
    bend = 2 * (f_high - f_low - slope * width)
    share = np.where(bend > 0, -slope * width / np.where(bend > 0, bend, 1), 0.5)
    inside = low + np.clip(share, 0.1, 0.9) * width
    return np.where(between, inside, 2 * low)


plain(minimize)
