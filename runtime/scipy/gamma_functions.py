"""The gamma function and its relatives."""

from __future__ import annotations

from fractions import Fraction
from math import comb as choose
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import (
    floating,
    floats,
    horner,
    no_derivative,
    reals,
    special,
)

__all__ = [
    "bernoulli", "beta", "betaln", "comb", "digamma", "factorial", "gamma", "gammaln", "gammasgn",
    "loggamma", "multigammaln", "poch", "polygamma", "psi", "rgamma", "zeta",
]  # fmt: skip

gammaln = loggamma = special(
    "gammaln", "chlo.lgamma",
    (lambda g, out, x: times(g, digamma(x)),),
    """Logarithm of the absolute value of the gamma function.

    >>> abs(float(gammaln(1.0))) < 1e-6
    True
    """,
)  # fmt: skip
digamma = psi = special(
    "digamma", "chlo.digamma",
    (lambda g, out, x: times(g, polygamma(1, x)),),
    """Derivative of the logarithm of the gamma function.

    >>> round(float(digamma(1.0)), 4)
    -0.5772
    """,
)  # fmt: skip


def _lower_polygamma(b: Any, n: Any, x: Any, *, avals: Any, out: Any) -> Any:
    # the series squares x, which overflows; 1 / x is exact long before
    one = b.full_like(x, 1)
    far = b.compare("GT", x, b.full_like(x, 1 / dtypes.finfo(out.dtype).eps))
    far = b.binary("and", far, b.compare("EQ", n, one))
    return b.select(far, b.binary("divide", one, x), b.binary("chlo.polygamma", n, x))


polygamma = special(
    "polygamma", _lower_polygamma,
    (
        lambda g, out, n, x: no_derivative("polygamma", "n"),
        lambda g, out, n, x: times(g, polygamma(n + 1, x)),
    ),
    """Derivative of `digamma` of order `n`.

    >>> print(np.round(polygamma(1, 1.0), 5))
    1.64493
    """,
)  # fmt: skip
hurwitz_zeta = special(
    "zeta", "chlo.zeta",
    (
        lambda g, out, x, q: no_derivative("zeta", "x"),
        lambda g, out, x, q: -times(g, x * hurwitz_zeta(x + 1, q)),
    ),
    """Hurwitz zeta function of two arguments.""",
)  # fmt: skip


@composite(arrays=("x", "q"))
def zeta(x: Any, q: Any = None) -> Any:
    """Hurwitz zeta function, Riemann's for `q` None; it has no derivative by `x` here.

    >>> print(f"{zeta(2.0):.5f}")
    1.64493
    """
    return hurwitz_zeta(x, 1.0 if q is None else q)


@composite(arrays=("x",), zero_derivative=True)
def gammasgn(x: Any) -> Any:
    """Sign of the gamma function.

    >>> print(gammasgn(-0.5))
    -1.0
    """
    x = floating(x)
    negative = np.where(x == 0, np.signbit(x), (x < 0) & (np.floor(x) % 2 == 1))
    undefined = ((x < 0) & (x == np.floor(x))) | np.isnan(x)
    return np.where(undefined, np.nan, np.where(negative, -1, 1)).astype(x.dtype)


@composite(arrays=("x",))
def gamma(x: Any) -> Any:
    """Gamma function.

    >>> print(f"{gamma(5.0):.3f}")
    24.000
    """
    return gammasgn(x) * np.exp(gammaln(x))


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, slope_of_rgamma(out, x)),))
def rgamma(x: Any) -> Any:
    """`1 / gamma(x)`, which is zero at zero and the negative integers.

    >>> round(float(rgamma(1.0)), 5), float(rgamma(-2.0))
    (1.0, 0.0)
    """
    (x,) = reals("rgamma", x)
    pole = (x <= 0) & (x == np.floor(x))
    safe = np.where(pole, 1, x)
    return np.where(pole, 0, gammasgn(safe) * np.exp(-gammaln(safe)))


def slope_of_rgamma(out: Any, x: Any) -> Any:
    """Derivative of `rgamma`.

    >>> print(np.round(slope_of_rgamma(0.0, -2.0), 5))
    2.0
    """
    pole = (x <= 0) & (x == np.floor(x))
    # By reflection, 1 / gamma(x) = sin(pi x) gamma(1 - x) / pi, so that it has its own derivative.
    above, turn = np.where(pole, 1 - x, 1), np.pi * (x - np.floor(x))
    size = np.exp(gammaln(above)) * (np.cos(turn) - np.sin(turn) / np.pi * digamma(above))
    at_pole = np.where(x % 2 == 1, -size, size)
    return np.where(pole, at_pole, -out * digamma(np.where(pole, 1, x)))


# Coefficients in 1 / x**2 of Stirling's series times x, highest power first.
STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)


def stirling(x: Any) -> Any:
    """What `gammaln(x)` is more than (x - 1/2) log(x) - x + log(2 pi) / 2, for positive `x`."""
    far = x >= 10
    small, large = np.where(far, 1, x), np.where(far, x, 10)
    near = gammaln(small) - (small - 0.5) * np.log(small) + small - np.log(2 * np.pi) / 2
    return np.where(far, horner(STIRLING, 1 / large**2) / large, near)


def log_rest(x: Any, u: Any) -> Any:
    """`log(x) - u` with `u = x - 1`, accurate near `x = 1`."""
    small = np.abs(u) < 0.1
    near, far = np.where(small, u, 0), np.where(small, 1, x)
    series = horner(tuple((-1) ** k / (k + 2) for k in range(15, -1, -1)), near)
    return np.where(small, -(near**2) * series, np.log(far) - u)


@composite(arrays=("a", "b"))
def betaln(a: Any, b: Any) -> Any:
    """Logarithm of the absolute value of the beta function.

    >>> print(f"{betaln(1.0, 2.0):.3f}")
    -0.693
    """
    a, b = _sorted(*floats(a, b))
    pole, reflected = _at_pole(a, b)
    a = np.where(reflected, 1 - a - b, np.where(pole, 1, a))  # B(a, b) = +-B(1 - a - b, b)
    a, b = _sorted(a, b)
    # Beyond 10 by Stirling's series, with what is large taken out of the differences.
    large, both = (a > 0) & (b >= 10) & (b < np.inf), (a >= 10) & (b < np.inf)
    small, top = np.where(large, a, 1), np.where(large, b, 10)
    first = gammaln(np.where(both, 1, small)) + small - small * np.log(small + top)
    base = np.where(both, small, 10)
    second = stirling(base) - base * np.log1p(top / base) - np.log(base / (2 * np.pi)) / 2
    rest = stirling(top) - stirling(small + top) - (top - 0.5) * np.log1p(small / top)
    plain_a, plain_b = np.where(large, 1, a), np.where(large, 1, b)
    plain = gammaln(plain_a) + gammaln(plain_b) - gammaln(plain_a + plain_b)
    found = np.where(large, np.where(both, second, first) + rest, plain)
    return np.where(pole & ~reflected, np.inf, found)


def _sorted(a: Any, b: Any) -> tuple[Any, Any]:
    """The smaller and the larger one; means of equal ones would have another curvature."""
    turned = b < a
    return np.where(turned, b, a), np.where(turned, a, b)


def _at_pole(a: Any, b: Any) -> tuple[Any, Any]:
    """Whether gamma(a) has a pole, for `a <= b`, and whether that of gamma(a + b) outweighs it."""
    pole = (a <= 0) & (a == np.floor(a))
    return pole, pole & (b > 0) & (b == np.floor(b)) & (a + b < 1)


@composite(arrays=("a", "b"))
def beta(a: Any, b: Any) -> Any:
    """Beta function.

    >>> print(np.round(beta(2.0, 3.0) * 12, 3))
    1.0
    """
    a, b = np.broadcast_arrays(*floats(a, b))
    low, high = _sorted(a, b)
    sign = np.where(_at_pole(low, high)[1] & (high % 2 == 1), -1, 1)
    for x in (low, high, low + high):
        sign = sign * np.where((x < 0) & (x == np.floor(x)), 1, gammasgn(x))
    total = a + b
    zero = (total <= 0) & (total == np.floor(total)) & (low != np.floor(low))
    over = np.where(zero, low, 0.5), np.where(zero, high, 0.5), np.where(zero, total, 1)
    at_zero = gamma(over[0]) * gamma(over[1]) * rgamma(over[2])
    return np.where(zero, at_zero, sign * np.exp(betaln(*(np.where(zero, 1, x) for x in (a, b)))))


@composite(arrays=("n",))
def factorial(n: Any, exact: bool = False) -> Any:
    """`gamma(n + 1)`, zero below zero.

    >>> print(f"{factorial(4):.3f}")
    24.000
    """
    if exact:
        raise NotImplementedError("factorial with exact=True: use math.factorial on integers")
    n = floating(n)
    return np.where(n < 0, 0, np.exp(gammaln(np.where(n < 0, 0, n) + 1)))


@composite(arrays=("N", "k"))
def comb(N: Any, k: Any, exact: bool = False, repetition: bool = False) -> Any:
    """How many ways there are to choose `k` of `N` things.

    >>> print(f"{comb(4, 2):.3f}")
    6.000
    """
    if exact:
        raise NotImplementedError("comb with exact=True: use math.comb on Python integers")
    N, k = floating(N), floating(k)
    if repetition:
        N = N + k - 1
    valid = (k >= 0) & (k <= N)
    n, k = np.where(valid, N, 1), np.where(valid, k, 0)
    ways = np.exp(-betaln(n - k + 1, k + 1)) / (n + 1)
    return np.where(np.isnan(N + k), np.nan, np.where(valid, ways, 0))


@composite(arrays=("z", "m"))
def poch(z: Any, m: Any) -> Any:
    """Rising factorial `gamma(z + m) / gamma(z)`.

    >>> print(f"{poch(3.0, 2.0):.3f}")
    12.000
    """
    z, m = np.broadcast_arrays(*floats(z, m))
    total = z + m
    ends = (z <= 0) & (z == np.floor(z)), (total <= 0) & (total == np.floor(total))
    both, large = ends[0] & ends[1], (z >= 10) & (total >= 10) & np.isfinite(total)
    # Between two poles by reflection, far away by Stirling's series.
    above, below = np.where(both, 1 - z, 1), np.where(both, 1 - total, 1)
    reflected = np.where(m % 2 == 0, 1, -1) * np.exp(gammaln(above) - gammaln(below))
    base, rise = np.where(large, z, 10), np.where(large, m, 1)
    grown = (base + rise - 0.5) * np.log1p(rise / base) + rise * np.log(base) - rise
    grown = np.exp(grown + stirling(base + rise) - stirling(base))
    zero = ends[0] & ~ends[1]
    at_zero = rgamma(np.where(zero, z, 1)) * gamma(np.where(zero & (total < 170), total, 1))
    usual = ends[0] | ends[1] | large
    z, total = np.where(usual, 1, z), np.where(usual, 1, total)
    ratio = gammasgn(total) * gammasgn(z) * np.exp(gammaln(total) - gammaln(z))
    ratio = np.where(large, grown, np.where(both, reflected, ratio))
    return np.where(zero, at_zero, np.where(ends[1] & ~ends[0], np.inf, ratio))


@composite(arrays=("a",))
def multigammaln(a: Any, d: int) -> Any:
    """Logarithm of the gamma function of `d` dimensions.

    >>> print(f"{multigammaln(3.0, 1):.3f}")
    0.693
    """
    a = floating(a)
    shifts = np.arange(d, dtype=a.dtype) / 2
    return d * (d - 1) / 4 * np.log(np.pi) + np.sum(gammaln(a[..., None] - shifts), -1)


def bernoulli(n: int) -> Any:
    """The first `n + 1` Bernoulli numbers.

    >>> print(bernoulli(2))
    [ 1.         -0.5         0.16666667]
    """
    numbers: list[Fraction] = []
    for m in range(n + 1):
        total = sum((choose(m + 1, k) * numbers[k] for k in range(m)), Fraction(0))
        numbers.append((Fraction(1) if m == 0 else -total) / (Fraction(1) if m == 0 else m + 1))
    return np.array([float(x) for x in numbers])
