"""The hypergeometric functions of Kummer and of Gauss, for real numbers.

Each is summed from its power series where that does not cancel; else the solution of its
differential equation is followed along the axis, by Taylor series from point to point, which is
stable where the function is not small beside the equation's other solutions.
Source: A. Erdelyi et al., Higher Transcendental Functions, volume 1, 1953, chapters 2 and 6.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import for_loop, while_loop
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import reals
from overt.runtime.scipy.gamma_functions import gammaln, gammasgn
from overt.runtime.scipy.slopes import derivative

__all__ = ["hyp1f1", "hyp2f1"]

TERMS = 48
SHARE = 0.4  # of the radius of convergence, that a step goes; SHARE**TERMS is below rounding
MOST = 4000  # terms of a power series


def _power_series(ratio: Callable, x: Any) -> tuple[Any, Any]:
    """The sum of terms, each `ratio(k)` of the one before, and the size of the largest."""
    eps = float(np.finfo(x.dtype).eps)

    def unfinished(k: Any, term: Any, total: Any, largest: Any) -> Any:
        return np.any(np.abs(term) > eps * np.abs(total)) & (k < MOST)

    def add_one(k: Any, term: Any, total: Any, largest: Any) -> Any:
        term = np.where(term == 0, 0, term * ratio(k))  # a sum that has ended stays so
        return k + 1, term, total + term, np.maximum(largest, np.abs(term))

    one = np.ones_like(x)
    _, term, total, largest = while_loop(
        unfinished, add_one, (np.array(0.0, x.dtype), one, one, one)
    )
    return total, np.where(np.abs(term) > 1e3 * eps * np.abs(total), np.inf, largest)


def _follow(next_term: Callable, radius: Callable, start: Any, end: Any, y: Any, slope: Any) -> Any:
    """The solution of a linear equation at `end`, from its value and slope at `start`.

    `next_term(p, k, u, t, s)` is the Taylor term k + 2 at `p` for a step `u`, from terms k and
    k + 1; `radius(p)` limits the steps.
    """

    def unfinished(p: Any, y: Any, slope: Any, count: Any) -> Any:
        return np.any(p != end) & (count < MOST)

    def step(p: Any, y: Any, slope: Any, count: Any) -> Any:
        longest = SHARE * radius(p)
        last = np.abs(end - p) <= longest
        u = np.where(last, end - p, np.sign(end - p) * longest)

        def add_term(k: Any, t: Any, s: Any, total: Any, derivative: Any) -> Any:
            new = next_term(p, k, u, t, s)
            return s, new, total + new, derivative + (k + 2) * new

        rise = u * slope
        _, _, total, derivative = for_loop(range(TERMS), add_term, (y, rise, y + rise, rise))
        still = u == 0
        slope = np.where(still, slope, derivative / np.where(still, 1, u))
        return np.where(last, end, p + u), np.where(still, y, total), slope, count + 1

    return while_loop(unfinished, step, (start, y, slope, np.array(0)))[1]


def _is_pole(x: Any) -> Any:
    """Whether the gamma function is infinite at `x`: whether a series with (x)_k ends."""
    return (x <= 0) & (x == np.floor(x))


def _ends_first(below: Any, *above: Any) -> Any:
    """Whether a series ends before its terms' denominators become zero."""
    return ~_is_pole(below) | _any([_is_pole(x) & (x >= below) for x in above])


def _any(conditions: list) -> Any:
    return functools.reduce(np.logical_or, conditions)


def _gamma_ratio(above: tuple, below: tuple) -> tuple[Any, Any]:
    """Product of gamma functions over a product of others, zero at the poles of these.

    It is given by its sign and the logarithm of its size.
    """
    poles = [_is_pole(x) for x in below]
    safe = [np.where(pole, 0.5, x) for x, pole in zip(below, poles, strict=True)]
    size: Any = 0.0
    sign: Any = 1.0
    for x in above:
        size, sign = size + gammaln(x), sign * gammasgn(x)
    for x in safe:
        size, sign = size - gammaln(x), sign * gammasgn(x)
    for pole in poles:
        sign = np.where(pole, 0, sign)
    return sign, size


def _slope(f: Callable, along: tuple[int, ...], args: list, ends: Any, moved: int) -> Any:
    """The derivative of `f` by the arguments at the positions `along`.

    Where a series `ends`, that by its parameters goes on with terms that are zero: there it is the
    mean of those on both sides, with the first `moved` arguments moved.
    """
    step = np.where(ends, float(np.finfo(args[0].dtype).eps) ** (1 / 3), 0)
    sides = [[x + shift if i < moved else x for i, x in enumerate(args)] for shift in (step, -step)]
    above, below = (derivative(f, along)(*side) for side in sides)
    return (above + below) / 2


# ---- Kummer's function ----


def _kummer(a: Any, b: Any, x: Any) -> Any:
    """Kummer's function."""
    left = x < 0
    first, size = np.where(left, b - a, a), np.abs(x)
    limit = 600 if x.dtype.itemsize >= 8 else 70
    ends = _is_pole(first)
    summed = (size <= limit) | ends
    near = np.where(summed & np.isfinite(size), size, 1)
    total, largest = _power_series(lambda k: (first + k) / ((b + k) * (k + 1)) * near, near)
    good = summed & (largest < 100 * np.abs(total))

    follows = ~good & (size <= limit)
    end = np.where(follows, size, 1)
    start = np.where(follows, np.minimum(end, 1 / (1 + np.abs(first))), 1)
    y = _power_series(lambda k: (first + k) / ((b + k) * (k + 1)) * start, start)[0]
    slope = _power_series(lambda k: (first + 1 + k) / ((b + 1 + k) * (k + 1)) * start, start)[0]

    def next_term(p: Any, k: Any, u: Any, t: Any, s: Any) -> Any:
        return ((first + k) * u**2 * t - (k + 1) * (k + b - p) * u * s) / (p * (k + 1) * (k + 2))

    followed = _follow(next_term, lambda p: np.minimum(p, 5), start, end, y, first / b * slope)
    far = np.where(size > limit, size, 1)
    series = np.ones_like(x)
    for k in range(12, -1, -1):
        series = 1 + (b - first + k) * (1 - first + k) / ((k + 1) * far) * series
    sign, logarithm = _gamma_ratio((b,), (first,))
    reach = np.where(left, far, np.minimum(far, 1e6))  # exp(1e6) is infinite
    logarithm = logarithm + (first - b) * np.log(reach) + np.where(left, 0, reach)
    beyond = sign * series * np.exp(logarithm)
    value = np.where(good, total, np.where(follows, followed, 0))
    value = np.where(left, np.exp(-near), 1) * value
    value = np.where(good | follows, value, beyond)
    value = np.where(_ends_first(b, a), value, np.inf)
    return np.where(np.isnan(x), x, np.where(x == 0, 1, value))


@composite(
    arrays=("a", "b", "x"),
    vjp=(
        lambda g, out, a, b, x, *, along: times(g, hyp1f1_along(a, b, x, (*along, 0))),
        lambda g, out, a, b, x, *, along: times(g, hyp1f1_along(a, b, x, (*along, 1))),
        lambda g, out, a, b, x, *, along: times(g, hyp1f1_along(a, b, x, (*along, 2))),
    ),
    elementwise=True,
)
def hyp1f1_along(a: Any, b: Any, x: Any, along: tuple[int, ...]) -> Any:
    """Derivative of `hyp1f1` by the arguments at the positions `along`, one after the other."""
    a, b, x = np.broadcast_arrays(*reals("hyp1f1", a, b, x))
    ends = (_is_pole(a) | _is_pole(b - a)) & ~_is_pole(b)
    return _slope(_kummer, along, [a, b, x], ends, 1)


@composite(
    arrays=("a", "b", "x"),
    vjp=(
        lambda g, out, a, b, x: times(g, hyp1f1_along(a, b, x, (0,))),
        lambda g, out, a, b, x: times(g, hyp1f1_along(a, b, x, (1,))),
        lambda g, out, a, b, x: times(g, (a / b) * hyp1f1(a + 1, b + 1, x)),
    ),
    elementwise=True,
)
def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Kummer's confluent hypergeometric function, the sum of `(a)_k / (b)_k * x**k / k!`.

    >>> print(f"{hyp1f1(1.0, 1.0, 1.0):.4f}")
    2.7183
    """
    return _kummer(*np.broadcast_arrays(*reals("hyp1f1", a, b, x)))


# ---- Gauss's function ----


def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Gauss's function for `x < 1`, and beyond where it is a polynomial."""
    # Euler's transformation, where it leaves a polynomial.
    turned = (_degree(c - a, c - b) < _degree(a, b)) & (x < 1) & ~_is_pole(c)
    factor = np.where(turned, np.where(turned, 1 - x, 1) ** (c - a - b), 1)
    a, b = np.where(turned, c - a, a), np.where(turned, c - b, b)
    polynomial = _is_pole(a) | _is_pole(b)
    # To the left by Pfaff's transformation, with the distance from 1 for what follows.
    left = (x < 0) & ~polynomial
    second = np.where(left, c - b, b)
    z = np.where(left, x / np.where(left, x - 1, 1), x)
    rest = np.where(left, 1 / np.where(left, 1 - x, 1), 1 - x)
    direct = polynomial | (z <= 0.5)
    total, largest = _sum(a, second, c, np.where(direct, z, 0.5))
    begin = np.minimum(0.5, 1 / (1 + np.abs(a * second / c)))  # where the series does not cancel
    direct = direct & ~((z > begin) & (z < 1) & (largest > 100 * np.abs(total)))

    inside = ~direct & (rest > 0)
    end = np.where(inside, rest, 1 - begin)
    start = _sum(a, second, c, begin)[0]
    rise = -a * second / c * _sum(a + 1, second + 1, c + 1, begin)[0]
    third = a + second + 1 - c

    def next_term(p: Any, k: Any, u: Any, t: Any, s: Any) -> Any:
        fall = (1 - 2 * p) * k + third - (a + second + 1) * p
        above = (k + a) * (k + second) * u**2 * t - (k + 1) * fall * u * s
        return above / (p * (1 - p) * (k + 1) * (k + 2))

    followed = _follow(next_term, lambda p: np.minimum(p, 1 - p), 1 - begin, end, start, rise)
    beyond = c - a - b
    at_one = np.where(beyond > 0, beyond, 1)
    sign, logarithm = _gamma_ratio((c, at_one), (c - a, c - b))
    at_one = sign * np.exp(logarithm)
    edge = np.where(x == 1, np.where(beyond > 0, at_one, np.inf), np.where(x > 1, np.inf, x))
    value = np.where(direct, total, np.where(inside, followed, edge))
    value = factor * np.where(left, np.where(left, 1 - x, 1) ** -a, 1) * value
    return np.where(_ends_first(c, a, b), value, np.inf)


def _degree(*a: Any) -> Any:
    """Degree of the polynomial that a series with these parameters is; infinite for none."""
    return functools.reduce(np.minimum, [np.where(_is_pole(x), -x, np.inf) for x in a])


def _sum(a: Any, b: Any, c: Any, x: Any) -> tuple[Any, Any]:
    return _power_series(lambda k: (a + k) * (b + k) / ((c + k) * (k + 1)) * x, x)


@composite(
    arrays=("a", "b", "c", "x"),
    vjp=(
        lambda g, out, a, b, c, x, *, along: times(g, hyp2f1_along(a, b, c, x, (*along, 0))),
        lambda g, out, a, b, c, x, *, along: times(g, hyp2f1_along(a, b, c, x, (*along, 1))),
        lambda g, out, a, b, c, x, *, along: times(g, hyp2f1_along(a, b, c, x, (*along, 2))),
        lambda g, out, a, b, c, x, *, along: times(g, hyp2f1_along(a, b, c, x, (*along, 3))),
    ),
    elementwise=True,
)
def hyp2f1_along(a: Any, b: Any, c: Any, x: Any, along: tuple[int, ...]) -> Any:
    """Derivative of `hyp2f1` by the arguments at the positions `along`, one after the other."""
    a, b, c, x = np.broadcast_arrays(*reals("hyp2f1", a, b, c, x))
    ends = _any([_is_pole(p) for p in (a, b, c - a, c - b)]) & ~_is_pole(c)
    return _slope(_gauss, along, [a, b, c, x], ends, 2)


@composite(
    arrays=("a", "b", "c", "x"),
    vjp=(
        lambda g, out, a, b, c, x: times(g, hyp2f1_along(a, b, c, x, (0,))),
        lambda g, out, a, b, c, x: times(g, hyp2f1_along(a, b, c, x, (1,))),
        lambda g, out, a, b, c, x: times(g, hyp2f1_along(a, b, c, x, (2,))),
        lambda g, out, a, b, c, x: times(g, (a * b / c) * hyp2f1(a + 1, b + 1, c + 1, x)),
    ),
    elementwise=True,
)
def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Gauss's hypergeometric function, the sum of `(a)_k * (b)_k / (c)_k * x**k / k!`.

    Infinite for `x > 1`, where the function is complex, unless it is a polynomial.

    >>> print(f"{hyp2f1(1.0, 1.0, 2.0, 0.5):.4f}")
    1.3863
    """
    return _gauss(*np.broadcast_arrays(*reals("hyp2f1", a, b, c, x)))
