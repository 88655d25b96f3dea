"""Incomplete gamma and beta functions: a series on one side, a continued fraction on the other.

Source: W. H. Press et al., Numerical Recipes, 3rd edition, sections 6.2 and 6.4; both fractions by
Lentz's method.
"""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import while_loop
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floating, no_derivative
from overt.runtime.scipy.gamma_functions import gammaln
from overt.runtime.scipy.incomplete_slopes import igamma_grad_a

__all__ = ["betainc", "gammainc", "gammaincc"]

ITERATIONS = 2000


def gamma_density(a: Any, x: Any) -> Any:
    """Density of the gamma distribution of shape `a`: the slope of `gammainc`."""
    safe = np.where(x > 0, x, 1)
    inside = np.exp((a - 1) * np.log(safe) - safe - gammaln(a))
    return np.where(x > 0, inside, np.where((x == 0) & (a == 1), 1, 0))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Density of the beta distribution: the slope of `betainc`."""
    logarithm = gammaln(a + b) - gammaln(a) - gammaln(b)
    return np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) + logarithm)


def _series(a: Any, x: Any, eps: float) -> Any:
    """The sum of x**n / (a (a + 1) ... (a + n))."""

    def unfinished(n: Any, term: Any, total: Any) -> Any:
        return np.any(np.abs(term) > np.abs(total) * eps) & (n < ITERATIONS)

    def add_one(n: Any, term: Any, total: Any) -> Any:
        term = term * x / (a + n)
        return n + 1, term, total + term

    return while_loop(unfinished, add_one, (np.array(1), 1 / a, 1 / a))[2]


def _lentz(numerator: Any, denominator: Any, first: Any, eps: float) -> Any:
    """first + n(1) / (d(1) + n(2) / (d(2) + ...)), `first` not zero."""
    tiny = float(np.finfo(first.dtype).tiny) * 1e3

    def unfinished(i: Any, c: Any, d: Any, h: Any, change: Any) -> Any:
        return np.any(np.abs(change - 1) > eps) & (i < ITERATIONS)

    def add_one(i: Any, c: Any, d: Any, h: Any, change: Any) -> Any:
        d = denominator(i) + numerator(i) * d
        c = denominator(i) + numerator(i) / c
        d = 1 / np.where(np.abs(d) < tiny, tiny, d)
        c = np.where(np.abs(c) < tiny, tiny, c)
        return i + 1, c, d, h * c * d, c * d

    zero = np.zeros_like(first)
    return while_loop(unfinished, add_one, (np.array(1), first, zero, first, zero))[3]


def _lower_and_upper(a: Any, x: Any) -> tuple[Any, Any]:
    """Regularized lower and upper incomplete gamma functions."""
    a, x = floating(a), floating(x)
    dtype = np.result_type(a, x)
    a, x = np.broadcast_arrays(np.astype(a, dtype), np.astype(x, dtype))
    eps = float(np.finfo(dtype).eps)
    valid, infinite = (a > 0) & (x >= 0), x == np.inf
    small = x < a + 1
    shape = np.where(valid, a, 1)
    near, far = np.where(valid & small, x, 0), np.where(valid & ~small & ~infinite, x, shape + 2)
    near_positive = np.where(near > 0, near, 1)
    weight = np.exp(shape * np.log(near_positive) - near - gammaln(shape))
    lower = np.where(near > 0, weight * _series(shape, near, eps), 0)
    weight = np.exp(shape * np.log(far) - far - gammaln(shape))
    fraction = _lentz(
        lambda i: -i * (i - shape), lambda i: far + 2 * i + 1 - shape, far + 1 - shape, eps
    )
    upper = np.where(infinite, 0, weight / fraction)
    outside = lambda p: np.where(valid, p, np.nan)
    return outside(np.where(small, lower, 1 - upper)), outside(np.where(small, 1 - lower, upper))


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: g * igamma_grad_a(a, x),
        lambda g, out, a, x: g * gamma_density(a, x),
    ),
)
def gammainc(a: Any, x: Any) -> Any:
    """Regularized lower incomplete gamma function.

    >>> print(np.round(gammainc(1.0, 1.0), 5))
    0.63212
    """
    return _lower_and_upper(a, x)[0]


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: -g * igamma_grad_a(a, x),
        lambda g, out, a, x: -g * gamma_density(a, x),
    ),
)
def gammaincc(a: Any, x: Any) -> Any:
    """Regularized upper incomplete gamma function.

    >>> print(np.round(gammaincc(1.0, 1.0), 5))
    0.36788
    """
    return _lower_and_upper(a, x)[1]


@composite(
    arrays=("a", "b", "x"),
    vjp=(
        lambda g, out, a, b, x: no_derivative("betainc", "a"),
        lambda g, out, a, b, x: no_derivative("betainc", "b"),
        lambda g, out, a, b, x: g * beta_density(a, b, x),
    ),
)
def betainc(a: Any, b: Any, x: Any) -> Any:
    """Regularized incomplete beta function.

    >>> print(np.round(betainc(1.0, 2.0, 0.5), 5))
    0.75
    """
    dtype = np.result_type(floating(a), floating(b), floating(x))
    a, b, x = np.broadcast_arrays(*(np.astype(v, dtype) for v in (a, b, x)))
    eps = float(np.finfo(dtype).eps)
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    a, b, x = np.where(valid, a, 1), np.where(valid, b, 1), np.where(valid, x, 0.5)
    swap = x > (a + 1) / (a + b + 2)
    a, b, x = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, 1 - x, x)

    def numerator(i: Any) -> Any:
        m = np.floor_divide(i - 1, 2).astype(dtype)
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        k = m + 1
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        return np.where(i % 2 == 1, odd, even)

    fraction = 1 / _lentz(numerator, lambda i: np.ones_like(x), np.ones_like(x), eps)
    inner = (x > 0) & (x < 1)
    safe = np.where(inner, x, 0.5)
    log_weight = a * np.log(safe) + b * np.log1p(-safe) - np.log(a)
    weight = np.exp(log_weight + gammaln(a + b) - gammaln(a) - gammaln(b))
    result = np.where(inner, weight * fraction, np.where(x > 0, 1, 0))
    return np.where(valid, np.where(swap, 1 - result, result), np.nan)
