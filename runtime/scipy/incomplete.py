"""Incomplete gamma and beta functions: a series on one side, a continued fraction on the other.

Source: W. H. Press et al., Numerical Recipes, 3rd edition, sections 6.2 and 6.4; both fractions by
Lentz's method.
"""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import while_loop
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import reals
from overt.runtime.scipy.gamma_functions import betaln, digamma, gammaln, log_rest, stirling
from overt.runtime.scipy.incomplete_slopes import igamma_grad_a
from overt.runtime.scipy.slopes import derivative
from overt.runtime.scipy.special import xlog1py, xlogy

__all__ = ["betainc", "gammainc", "gammaincc"]

ITERATIONS = 200_000  # about the square root of the largest argument is needed
# The fraction of a whole argument may end early, but that of its derivatives by it does not.
LEAST = 150


def gamma_density(a: Any, x: Any) -> Any:
    """Density of the gamma distribution of shape `a`: the slope of `gammainc`."""
    return np.where(x < 0, 0, np.exp(xlogy(a - 1, np.maximum(x, 0)) - x - gammaln(a)))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Density of the beta distribution: the slope of `betainc`."""
    inside = (x >= 0) & (x <= 1)
    x = np.where(inside, x, 0.5)
    density = np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))
    return np.where(inside, density, 0)


def _series(a: Any, x: Any, eps: float) -> Any:
    """The sum of x**n / (a (a + 1) ... (a + n))."""

    def unfinished(n: Any, term: Any, total: Any) -> Any:
        return np.any(np.abs(term) > np.abs(total) * eps) & (n < ITERATIONS)

    def add_one(n: Any, term: Any, total: Any) -> Any:
        term = term * x / (a + n)
        return n + 1, term, total + term

    _, term, total = while_loop(unfinished, add_one, (np.array(1), 1 / a, 1 / a))
    return np.where(np.abs(term) > np.abs(total) * eps, np.nan, total)


def _lentz(numerator: Any, denominator: Any, first: Any, eps: float, least: Any = 0) -> Any:
    """first + n(1) / (d(1) + n(2) / (d(2) + ...)), `first` not zero, with `least` terms or more."""
    tiny = float(np.finfo(first.dtype).tiny) * 1e3

    def unfinished(i: Any, c: Any, d: Any, h: Any, change: Any) -> Any:
        return (np.any(np.abs(change - 1) > 4 * eps) | (i < least)) & (i < ITERATIONS)

    def add_one(i: Any, c: Any, d: Any, h: Any, change: Any) -> Any:
        d = denominator(i) + numerator(i) * d
        c = denominator(i) + numerator(i) / c
        d = 1 / np.where(np.abs(d) < tiny, tiny, d)
        c = np.where(np.abs(c) < tiny, tiny, c)
        return i + 1, c, d, h * c * d, c * d

    zero = np.zeros_like(first)
    _, _, _, h, change = while_loop(unfinished, add_one, (np.array(1), first, zero, first, zero))
    return np.where(np.abs(change - 1) > 100 * eps, np.nan, h)


# ---- gamma ----


def _gamma_weight(a: Any, x: Any) -> Any:
    """`x**a * exp(-x) / gamma(a)`, without cancellation for large `a`."""
    large = a >= 10
    big, small = np.where(large, a, 10), np.where(large, 1, a)
    away = big * log_rest(x / big, (x - big) / big) - stirling(big)
    usual = small * np.log(x) - x - gammaln(small)
    return np.where(large, np.sqrt(big / (2 * np.pi)), 1) * np.exp(np.where(large, away, usual))


def _lower_and_upper(a: Any, x: Any, least: int = 0) -> tuple[Any, Any]:
    """Regularized lower and upper incomplete gamma functions."""
    a, x = np.broadcast_arrays(*reals("gammainc", a, x))
    eps = float(np.finfo(x.dtype).eps)
    inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    small = x < np.where(a < 0.5, 0.5, a + 1)
    near = inside & small
    shape, point = np.where(near, a, 1), np.where(near, x, 1)
    lower = _gamma_weight(shape, point) * _series(shape, point, eps)
    far = inside & ~small
    shape, point = np.where(far, a, 1), np.where(far, x, 3)
    fraction = _lentz(
        lambda i: -i * (i - shape),
        lambda i: point + 2 * i + 1 - shape,
        point + 1 - shape,
        eps,
        least,
    )
    upper = _gamma_weight(shape, point) / fraction
    # On the edges the distribution is in one point: at zero for a = 0, at infinity for a = inf.
    known = (a >= 0) & (x >= 0) & ~((a == x) & ((a == 0) | (a == np.inf)))
    below = np.where(known, np.where((x == np.inf) | ((a == 0) & (x > 0)), 1, 0), np.nan)
    lower, upper = np.where(small, lower, 1 - upper), np.where(small, 1 - lower, upper)
    return np.where(inside, lower, below), np.where(inside, upper, 1 - below)


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x, *, along: times(g, gammainc_along(a, x, (*along, 0))),
        lambda g, out, a, x, *, along: times(g, gammainc_along(a, x, (*along, 1))),
    ),
    elementwise=True,
)
def gammainc_along(a: Any, x: Any, along: tuple[int, ...]) -> Any:
    """Derivative of `gammainc` by the arguments at the positions `along`, one after the other."""
    lower = lambda a, x: _lower_and_upper(a, x, LEAST)[0]
    return derivative(lower, along)(*np.broadcast_arrays(*reals("gammainc", a, x)))


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: times(g, gammainc_along(a, x, (0, 0))),
        lambda g, out, a, x: times(g, gamma_density(a, x) * (np.log(x) - digamma(a))),
    ),
    elementwise=True,
)
def gammainc_by_a(a: Any, x: Any) -> Any:
    """Derivative of `gammainc` by `a`."""
    a, x = np.broadcast_arrays(*reals("gammainc", a, x))
    large = a > 500
    few = igamma_grad_a(np.where(large, 1, a), np.where(large, 1, x))
    return np.where(large, gammainc_along(np.where(large, a, 1), x, (0,)), few)


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: times(g, gammainc_by_a(a, x)),
        lambda g, out, a, x: times(g, gamma_density(a, x)),
    ),
    elementwise=True,
)
def gammainc(a: Any, x: Any) -> Any:
    """Regularized lower incomplete gamma function.

    NaN for more than some 1e10, where its sum would take too long.

    >>> print(f"{gammainc(1.0, 1.0):.5f}")
    0.63212
    """
    return _lower_and_upper(a, x)[0]


@composite(
    arrays=("a", "x"),
    vjp=(
        lambda g, out, a, x: -times(g, gammainc_by_a(a, x)),
        lambda g, out, a, x: -times(g, gamma_density(a, x)),
    ),
    elementwise=True,
)
def gammaincc(a: Any, x: Any) -> Any:
    """Regularized upper incomplete gamma function.

    >>> print(f"{gammaincc(1.0, 1.0):.5f}")
    0.36788
    """
    return _lower_and_upper(a, x)[1]


# ---- beta ----


def _beta_weight(a: Any, b: Any, x: Any, y: Any) -> Any:
    """`x**a * y**b / (a * beta(a, b))` with `y = 1 - x`, accurate for large `a` and `b` too."""
    large = (a >= 10) & (b >= 10)
    p, q = np.where(large, a, 10), np.where(large, b, 10)
    away = x * q - y * p
    log_size = p * log_rest(x * (p + q) / p, away / p) + q * log_rest(y * (p + q) / q, -away / q)
    log_size = log_size + stirling(p + q) - stirling(p) - stirling(q)
    a, b = np.where(large, 1, a), np.where(large, 1, b)
    log_x = np.where(y < 0.5, np.log1p(-np.minimum(y, 0.5)), np.log(x))
    log_y = np.where(x < 0.5, np.log1p(-np.minimum(x, 0.5)), np.log(y))
    usual = a * log_x + b * log_y - betaln(a, b) - np.log(a)
    size = np.where(large, np.sqrt(q / (2 * np.pi * p * (p + q))), 1)
    return size * np.exp(np.where(large, log_size, usual))


def _betainc(a: Any, b: Any, x: Any, least: int = 0) -> Any:
    eps = float(np.finfo(x.dtype).eps)
    finite = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf)
    inside = finite & (x > 0) & (x < 1)
    first, second, at = np.where(inside, a, 1), np.where(inside, b, 1), np.where(inside, x, 0.5)
    swap = at > (first + 1) / (first + second + 2)
    p, q = np.where(swap, second, first), np.where(swap, first, second)
    u, v = np.where(swap, 1 - at, at), np.where(swap, at, 1 - at)

    def numerator(i: Any) -> Any:
        m = np.floor_divide(i - 1, 2).astype(x.dtype)
        odd = -(p + m) * (p + q + m) * u / ((p + 2 * m) * (p + 2 * m + 1))
        k = m + 1
        even = k * (q - k) * u / ((p + 2 * k - 1) * (p + 2 * k))
        return np.where(i % 2 == 1, odd, even)

    fraction = _lentz(numerator, lambda i: np.ones_like(u), np.ones_like(u), eps, least)
    result = _beta_weight(p, q, u, v) / fraction
    result = np.where(swap, 1 - result, result)
    # On the edges the distribution is in one point, which is 0 or 1.
    low, high = (a == 0) | (b == np.inf), (b == 0) | (a == np.inf)
    known = (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1) & ~(low & high)
    edge = np.where(x == 1, 1, np.where(low & (x > 0), 1, 0))
    return np.where(inside, result, np.where(known, edge, np.nan))


@composite(
    arrays=("a", "b", "x"),
    vjp=(
        lambda g, out, a, b, x, *, along: times(g, betainc_along(a, b, x, (*along, 0))),
        lambda g, out, a, b, x, *, along: times(g, betainc_along(a, b, x, (*along, 1))),
        lambda g, out, a, b, x, *, along: times(g, betainc_along(a, b, x, (*along, 2))),
    ),
    elementwise=True,
)
def betainc_along(a: Any, b: Any, x: Any, along: tuple[int, ...]) -> Any:
    """Derivative of `betainc` by the arguments at the positions `along`, one after the other."""
    value = lambda a, b, x: _betainc(a, b, x, LEAST)
    return derivative(value, along)(*np.broadcast_arrays(*reals("betainc", a, b, x)))


@composite(
    arrays=("a", "b", "x"),
    vjp=(
        lambda g, out, a, b, x: times(g, betainc_along(a, b, x, (0,))),
        lambda g, out, a, b, x: times(g, betainc_along(a, b, x, (1,))),
        lambda g, out, a, b, x: times(g, beta_density(a, b, x)),
    ),
    elementwise=True,
)
def betainc(a: Any, b: Any, x: Any) -> Any:
    """Regularized incomplete beta function.

    NaN for more than some 1e10, where its fraction would take too long.

    >>> print(f"{betainc(1.0, 2.0, 0.5):.5f}")
    0.75000
    """
    return _betainc(*np.broadcast_arrays(*reals("betainc", a, b, x)))
