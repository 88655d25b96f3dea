"""The gamma function and its relatives."""

from __future__ import annotations

from fractions import Fraction
from math import comb as choose
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floating, no_derivative, special

__all__ = [
    "bernoulli", "beta", "betaln", "comb", "digamma", "factorial", "gamma", "gammaln", "gammasgn",
    "loggamma", "multigammaln", "poch", "polygamma", "zeta",
]  # fmt: skip

gammaln = loggamma = special(
    "gammaln", "chlo.lgamma",
    (lambda g, out, x: g * digamma(x),),
    """Logarithm of the absolute value of the gamma function.

    >>> abs(float(gammaln(1.0))) < 1e-6
    True
    """,
)  # fmt: skip
digamma = special(
    "digamma", "chlo.digamma",
    (lambda g, out, x: g * polygamma(1, x),),
    """Derivative of the logarithm of the gamma function.

    >>> round(float(digamma(1.0)), 4)
    -0.5772
    """,
)  # fmt: skip
polygamma = special(
    "polygamma", "chlo.polygamma",
    (
        lambda g, out, n, x: no_derivative("polygamma", "n"),
        lambda g, out, n, x: g * polygamma(n + 1, x),
    ),
    """Derivative of `digamma` of order `n`.

    >>> print(np.round(polygamma(1, 1.0), 5))
    1.64493
    """,
)  # fmt: skip
zeta = special(
    "zeta", "chlo.zeta",
    (
        lambda g, out, x, q: no_derivative("zeta", "x"),
        lambda g, out, x, q: -g * x * zeta(x + 1, q),
    ),
    """Hurwitz zeta function; it has no derivative with respect to `x` here.

    >>> print(np.round(zeta(2.0, 1.0), 5))
    1.64493
    """,
)  # fmt: skip


@composite(arrays=("x",), zero_derivative=True)
def gammasgn(x: Any) -> Any:
    """Sign of the gamma function.

    >>> print(gammasgn(-0.5))
    -1.0
    """
    x = floating(x)
    negative = (x < 0) & (np.floor(x) % 2 == 1)
    pole = (x < 0) & (x == np.floor(x))
    return np.where(pole, np.nan, np.where(negative, -1, 1)).astype(x.dtype)


@composite(arrays=("x",))
def gamma(x: Any) -> Any:
    """Gamma function.

    >>> print(f"{gamma(5.0):.3f}")
    24.000
    """
    return gammasgn(x) * np.exp(gammaln(x))


@composite(arrays=("a", "b"))
def betaln(a: Any, b: Any) -> Any:
    """Logarithm of the absolute value of the beta function.

    >>> print(f"{betaln(1.0, 2.0):.3f}")
    -0.693
    """
    return gammaln(a) + gammaln(b) - gammaln(np.add(a, b))


@composite(arrays=("a", "b"))
def beta(a: Any, b: Any) -> Any:
    """Beta function.

    >>> print(np.round(beta(2.0, 3.0) * 12, 3))
    1.0
    """
    sign = gammasgn(a) * gammasgn(b) * gammasgn(np.add(a, b))
    return sign * np.exp(betaln(a, b))


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
    return np.where(valid, np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)), 0)


@composite(arrays=("z", "m"))
def poch(z: Any, m: Any) -> Any:
    """Rising factorial `gamma(z + m) / gamma(z)`.

    >>> print(f"{poch(3.0, 2.0):.3f}")
    12.000
    """
    total = np.add(z, m)
    ratio = gammasgn(total) * gammasgn(z) * np.exp(gammaln(total) - gammaln(z))
    return np.where(np.equal(m, 0), 1, ratio)


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
