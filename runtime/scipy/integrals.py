"""Functions that are integrals: exponential, sine and cosine integrals, dilogarithm, Owen's T."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.control import while_loop
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import erf, erfc, horner, no_derivative, reals
from overt.runtime.scipy.gamma_functions import digamma, gammaln
from overt.runtime.scipy.incomplete import _lentz

__all__ = ["exp1", "expi", "expn", "owens_t", "sici", "spence"]

EULER = 0.5772156649015329

# ---- exponential integrals ----


def slope_of_expn(out: Any, n: Any, x: Any) -> Any:
    """Derivative of `expn` by `x`: minus the integral of one order less."""
    above = np.asarray(n) > 1
    lower = over(np.exp(-x) - (n - 1) * out, x)  # from the recurrence, for orders 0 and 1
    return -np.where(above, expn(np.where(above, n - 1, 1), x), lower)


@composite(
    arrays=("n", "x"),
    vjp=(
        lambda g, out, n, x: no_derivative("expn", "n"),
        lambda g, out, n, x: times(g, slope_of_expn(out, n, x)),
    ),
    elementwise=True,
)
def expn(n: Any, x: Any) -> Any:
    """Exponential integral of order `n`: of `exp(-x * t) / t**n` from 1 to infinity.

    NaN for negative `n` or `x`, and for `n` that are no integers.  Source: W. H. Press et al.,
    Numerical Recipes, 3rd edition, section 6.3: a fraction for `x > 1`, else a power series.

    >>> print(f"{expn(1, 1.0):.4f}")
    0.2194
    """
    n, x = np.broadcast_arrays(*reals("expn", n, x))
    known = (n >= 0) & (n == np.floor(n)) & (x >= 0)
    usual = known & (n > 0) & (x > 0) & np.isfinite(x)
    large = usual & (x > 1)
    order, far = np.where(large, n, 1), np.where(large, x, 2)
    fraction = _lentz(
        lambda i: -i * (order + i - 1), lambda i: far + order + 2 * i, far + order,
        float(np.finfo(x.dtype).eps),
    )  # fmt: skip
    small = usual & (x <= 1)
    value = np.where(large, np.exp(-far) / fraction, _expn_series(n, x, small))
    at_zero = np.where(n > 1, 1 / np.where(n > 1, n - 1, 1), np.inf)
    order_zero = np.where(n == 0, np.exp(-x) / np.where(x == 0, 1, x), 0)
    limit = np.where(x == 0, at_zero, np.where(x == np.inf, 0, order_zero))
    return np.where(usual, value, np.where(known, limit, np.nan))


def _expn_series(n: Any, x: Any, small: Any) -> Any:
    n, x = np.where(small, n, 1), np.where(small, x, 0.5)
    total, term = np.zeros_like(x), np.ones_like(x)
    for m in range(20):
        skipped = n == m + 1
        total = total - np.where(skipped, 0, term / np.where(skipped, 1, m + 1 - n))
        term = -term * x / (m + 1)
    log_term = (n - 1) * np.log(x) - gammaln(n)
    sign = np.where(n % 2 == 1, 1, -1)
    return total + sign * np.exp(log_term) * (digamma(n) - np.log(x))


@composite(arrays=("x",), vjp=(lambda g, out, x: -times(g, np.exp(-x) / x),))
def exp1(x: Any) -> Any:
    """Exponential integral of order 1, of `exp(-t) / t` from `x` to infinity.

    >>> print(f"{exp1(1.0):.4f}")
    0.2194
    """
    return expn(1, *reals("exp1", x))


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, np.exp(x) / x),))
def expi(x: Any) -> Any:
    """Exponential integral Ei, of `exp(t) / t` up to `x`; its principal value for `x > 0`.

    >>> print(f"{expi(1.0):.4f}")
    1.8951
    """
    (x,) = reals("expi", x)
    eps = float(np.finfo(x.dtype).eps)
    series = (x > 0) & (x <= 40)
    near, far = np.where(series, x, 1), np.where(x > 40, x, 50)

    def unfinished(k: Any, power: Any, total: Any) -> Any:
        return np.any(power > total * eps)

    def add_one(k: Any, power: Any, total: Any) -> Any:
        power = power * near / k
        return k + 1, power, total + power / k

    # Sum of x**k / (k * k!)
    total = while_loop(unfinished, add_one, (np.array(2), near, near))[2]
    asymptotic = np.ones_like(x)
    for k in range(40, 0, -1):
        asymptotic = 1 + k / far * asymptotic
    grown = np.exp(far / 2)
    right = np.where(series, EULER + np.log(near) + total, grown / far * asymptotic * grown)
    left = -expn(1, np.where(x < 0, -x, 1))
    value = np.where(x < 0, left, np.where(x == 0, -np.inf, right))
    return np.where(np.isfinite(x), value, np.where(x > 0, np.inf, np.where(x < 0, 0, x)))


# ---- sine and cosine integrals ----

# Coefficients in x**2 of Si(x) / x and of (Ci(x) - log(x) - Euler's constant) / x**2.
SINES, COSINES = (
    tuple((-1) ** k * sign / (n(k) * math.factorial(n(k))) for k in range(16, -1, -1))
    for n, sign in ((lambda k: 2 * k + 1, 1), (lambda k: 2 * k + 2, -1))
)


@functools.cache
def _laguerre() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Nodes and weights for integrals of exp(-u) f(u) over u > 0."""
    return numpy.polynomial.laguerre.laggauss(44)


def _sine_and_cosine_integral(x: Any) -> tuple[Any, Any]:
    """Si and Ci: power series near zero, else their auxiliary functions by quadrature.

    Source: M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 5.2.8 to 5.2.16.
    """
    (x,) = reals("sici", x)
    size = np.abs(x)
    small = size <= 4
    near = np.where(small & (size > 0), size, 1)
    sine, cosine = near * horner(SINES, near**2), near**2 * horner(COSINES, near**2)
    far = np.where(small | np.isinf(size), 5, size)
    nodes, weights = (np.array(v, x.dtype) for v in _laguerre())
    kernel = weights / (far[..., None] + nodes**2 / far[..., None])
    f, g = np.sum(kernel, -1), np.sum(kernel * (nodes / far[..., None]), -1)
    c, s = np.cos(far), np.sin(far)
    sine = np.where(small, sine, math.pi / 2 - f * c - g * s)
    cosine = np.where(small, EULER + np.log(near) + cosine, f * s - g * c)
    sine = np.where(size == 0, 0, np.where(np.isinf(size), math.pi / 2, sine))
    cosine = np.where(size == 0, -np.inf, np.where(np.isinf(size), 0, cosine))
    sine = np.where(np.isnan(x), x, np.sign(x) * sine)
    return sine, np.where(np.isnan(x) | (x == -np.inf), np.nan, cosine)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, np.sinc(x / np.pi)),))
def sine_integral(x: Any) -> Any:
    """Integral of `sin(t) / t` from 0 to `x`."""
    return _sine_and_cosine_integral(x)[0]


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, np.cos(x) / x),))
def cosine_integral(x: Any) -> Any:
    """Integral of `cos(t) / t` from infinity to `abs(x)`."""
    return _sine_and_cosine_integral(x)[1]


@composite(arrays=("x",))
def sici(x: Any) -> tuple[Any, Any]:
    """The sine integral and the cosine integral.

    >>> sine, cosine = sici(1.0)
    >>> print(f"{sine:.4f} {cosine:.4f}")
    0.9461 0.3374
    """
    return sine_integral(x), cosine_integral(x)


# ---- dilogarithm ----

# Coefficients in u**2, from Bernoulli numbers, of (spence(exp(-u)) - u + u**2 / 4) / u**3.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
DILOGARITHM = tuple(b / math.factorial(2 * k + 3) for k, b in enumerate(BERNOULLI))[::-1]


def slope_of_spence(x: Any) -> Any:
    """Derivative of `spence`, `log(x) / (1 - x)`."""
    away = x - 1
    close = np.abs(away) < 0.02
    near, far = np.where(close, away, 0), np.where(close, 1, away)
    series = horner(tuple((-1) ** (k + 1) / (k + 1) for k in range(10, -1, -1)), near)
    return np.where(close, series, -np.log(np.where(close, 2, x)) / far)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, slope_of_spence(x)),))
def spence(x: Any) -> Any:
    """Dilogarithm, the integral of `log(t) / (1 - t)` from 1 to `x`; NaN for negative `x`.

    Source: L. Lewin, Polylogarithms and Associated Functions, 1981, sections 1.2 to 1.4.

    >>> print(f"{spence(0.0):.4f}")
    1.6449
    """
    (x,) = reals("spence", x)
    inside = (x > 0) & (x < np.inf)
    given = np.where(inside, x, 1)
    logarithm = np.log(given)
    # Inversion takes what is above 2 below 1/2, reflection that to between 1/2 and 1.
    large = given > 2
    below = np.where(large, 1 / given, given)
    reflected = below < 0.5
    base = np.where(reflected, 1 - below, below)
    u = -np.log(base)
    value = u - u**2 / 4 + u**3 * horner(DILOGARITHM, u**2)
    log_below = np.where(large, -logarithm, logarithm)
    value = np.where(reflected, math.pi**2 / 6 + times(u, log_below) - value, value)
    value = np.where(large, -(logarithm**2) / 2 - value, value)
    return np.where(inside, value, np.where(x == 0, math.pi**2 / 6, np.nan))


# ---- Owen's T ----


@functools.cache
def _legendre() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Nodes and weights for integrals over 0 < t < 1."""
    nodes, weights = numpy.polynomial.legendre.leggauss(32)
    return (nodes + 1) / 2, weights / 2


@composite(
    arrays=("h", "a"),
    vjp=(
        lambda g, out, h, a: times(g, slope_of_owens_t(h, a)),
        lambda g, out, h, a: times(g, np.exp(-(h**2) * (1 + a**2) / 2) / (2 * np.pi * (1 + a**2))),
    ),
    elementwise=True,
)
def owens_t(h: Any, a: Any) -> Any:
    """Owen's T: of two independent standard normals, P(X > h and 0 < Y < a * X).

    Source: D. B. Owen, Tables for computing bivariate normal probabilities, 1956; the integral by
    Gauss and Legendre's rule for `abs(a) <= 1`, else from that of `1 / a`.

    >>> print(f"{owens_t(0.0, 1.0):.4f}")
    0.1250
    """
    h, a = np.broadcast_arrays(*reals("owens_t", h, a))
    height, ratio = np.abs(h), np.abs(a)
    steep, vertical = ratio > 1, np.isinf(ratio)
    usual = np.where(steep & ~vertical, ratio, 2)
    moved = np.where(steep, height * usual, height)
    width = np.where(steep, np.where(vertical, 0, 1 / usual), ratio)
    # Beyond 9 standard deviations there is nothing.
    reach = np.minimum(width, 9 / np.maximum(moved, 1))
    nodes, weights = (np.array(v, h.dtype) for v in _legendre())
    points = reach[..., None] * nodes
    inner = np.exp(-((moved[..., None] * points) ** 2) / 2) / (1 + points**2)
    value = reach / (2 * math.pi) * np.exp(-(moved**2) / 2) * np.sum(weights * inner, -1)
    near = erfc(height / math.sqrt(2)) / 4
    far = np.where(vertical, 0, erfc(moved / math.sqrt(2)))
    value = np.where(steep, near + far / 4 - near * far - value, value)
    value = np.where(vertical, near, np.where(np.isinf(height), 0, value))
    return np.where(np.isnan(h) | np.isnan(a), np.nan, np.sign(a) * value)


def slope_of_owens_t(h: Any, a: Any) -> Any:
    """Derivative of `owens_t` by `h`."""
    return -np.exp(-(h**2) / 2) * erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi)
