"""Slopes of the incomplete gamma function along its first argument.

With P the regularized lower function and w its weight x**a exp(-x) / gamma(a), the series and the
continued fraction of `incomplete` are differentiated term by term.  Source: R. J. Moore, "Algorithm
AS 187: Derivatives of the incomplete gamma integral", 1982.
"""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import while_loop
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floating, no_derivative
from overt.runtime.scipy.gamma_functions import digamma, gammaln

__all__ = ["igamma_grad_a", "random_gamma_grad"]

ITERATIONS = 200_000


def _series_slope(a: Any, x: Any, eps: float) -> Any:
    """(dP/da) / w, from P / w = (1/a) (1 + x/(a+1) + x**2/((a+1)(a+2)) + ...)."""

    def unfinished(n: Any, term: Any, term_dot: Any, total: Any, total_dot: Any) -> Any:
        return np.any(np.abs(term_dot) > np.abs(total_dot) * eps) & (n < ITERATIONS)

    def add_one(n: Any, term: Any, term_dot: Any, total: Any, total_dot: Any) -> Any:
        term = term * x / (a + n)
        term_dot = (term_dot * x - term) / (a + n)
        return n + 1, term, term_dot, total + term, total_dot + term_dot

    one = np.ones_like(x)
    first = x / (a + 1)
    carry = (np.array(2), first, -first / (a + 1), one + first, -first / (a + 1))
    *_, total, total_dot = while_loop(unfinished, add_one, carry)
    return (total * (np.log(x) - digamma(a + 1)) + total_dot) / a


def _fraction_slope(a: Any, x: Any, eps: float) -> Any:
    """(dP/da) / w, from (1 - P) / w = 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...)))."""

    def unfinished(i: Any, c: Any, c_dot: Any, d: Any, d_dot: Any, h: Any, slope: Any, step: Any):
        return np.any(np.abs(step) > eps * np.abs(slope)) & (i < ITERATIONS)

    # Lentz's method; `slope` is the derivative of log(h).
    def add_one(i: Any, c: Any, c_dot: Any, d: Any, d_dot: Any, h: Any, slope: Any, step: Any):
        n, below = -i * (i - a), x + 2 * i + 1 - a
        c_dot = -1 + i / c - n * c_dot / (c * c)
        c = below + n / c
        d_dot = -1 + i * d + n * d_dot
        d = 1 / (below + n * d)
        d_dot = -d * d * d_dot
        step = c_dot / c + d_dot / d
        return i + 1, c, c_dot, d, d_dot, h * c * d, slope + step, step

    c, zero, minus = x + 1 - a, np.zeros_like(x), -np.ones_like(x)
    carry = (np.array(1), c, minus, zero, zero, c, minus / c, minus / c)
    *_, h, slope, _ = while_loop(unfinished, add_one, carry)
    return -(np.log(x) - digamma(a) - slope) / h


def _scaled_slope(a: Any, x: Any) -> Any:
    """(dP/da) / w where a > 0 and 0 < x < inf."""
    eps = float(np.finfo(x.dtype).eps)
    far = (x > 1) & (x > a)
    near = _series_slope(np.where(far, 1, a), np.where(far, 0.5, x), eps)
    return np.where(far, _fraction_slope(np.where(far, a, 1), np.where(far, x, 2), eps), near)


def _prepared(a: Any, x: Any) -> tuple[Any, ...]:
    a, x = floating(a), floating(x)
    dtype = np.result_type(a, x)
    wide = np.promote_types(dtype, "float32")
    a, x = np.broadcast_arrays(np.astype(a, wide), np.astype(x, wide))
    valid, inside = (a > 0) & (x >= 0), (x > 0) & (x < np.inf)
    ready = valid & inside
    return np.where(ready, a, 1), np.where(ready, x, 1), valid, ready, dtype


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: no_derivative("igamma_grad_a", "a"),
        lambda g, out, a, x: no_derivative("igamma_grad_a", "x"),
    ),
    elementwise=True,
)
def igamma_grad_a(a: Any, x: Any) -> Any:
    """The derivative of the regularized lower incomplete gamma function by `a`.

    >>> print(np.round(igamma_grad_a(1.0, 1.0), 4))
    -0.4317
    """
    a, x, valid, ready, dtype = _prepared(a, x)
    slope = np.exp(a * np.log(x) - x - gammaln(a)) * _scaled_slope(a, x)
    return np.astype(np.where(ready, slope, np.where(valid, 0, np.nan)), dtype)


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: no_derivative("random_gamma_grad", "a"),
        lambda g, out, a, x: no_derivative("random_gamma_grad", "x"),
    ),
    elementwise=True,
)
def random_gamma_grad(a: Any, x: Any) -> Any:
    """How a gamma-distributed sample `x` moves with its shape `a`: -(dP/da) / (dP/dx).

    Source: M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", 2018.

    >>> print(f"{random_gamma_grad(1.0, 1.0):.3f}")
    1.174
    """
    a, x, valid, ready, dtype = _prepared(a, x)
    slope = -x * _scaled_slope(a, x)
    return np.astype(np.where(ready, slope, np.where(valid, 0, np.nan)), dtype)
