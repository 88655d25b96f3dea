"""Distributions of counts."""

from __future__ import annotations

from math import lgamma
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floats
from overt.runtime.scipy.gamma_functions import betaln, gammaln
from overt.runtime.scipy.incomplete import gammaincc
from overt.runtime.scipy.special import xlog1py, xlogy
from overt.runtime.scipy.stats.distribution import discrete

__all__ = ["bernoulli", "betabinom", "binom", "geom", "multinomial", "nbinom", "poisson"]


MANY = 60
# Coefficients of powers of 1 / mu in the entropy of a Poisson distribution, highest power first.
ENTROPY = (33953 / 5040, 1375 / 1008, 863 / 2520, 9 / 80, 19 / 360, 1 / 24, 1 / 12, 0.0)


def _log_choose(n: Any, k: Any) -> Any:
    """Logarithm of the number of ways to choose `k` of `n` things."""
    return -betaln(n - k + 1, k + 1) - np.log1p(n)


def _is_count(n: Any) -> Any:
    return (n >= 0) & (n == np.floor(n))


def _is_probability(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


@discrete(0, 1)
class bernoulli:
    """Bernoulli distribution of one trial."""

    def valid(p: Any) -> Any:
        return _is_probability(p)

    def logpmf(k: Any, p: Any) -> Any:
        return xlogy(k, p) + xlog1py(1 - k, -p)

    def cdf(k: Any, p: Any) -> Any:
        return np.where(k < 1, 1 - p, 1)

    def ppf(q: Any, p: Any) -> Any:
        return np.where(q <= 1 - p, 0, 1).astype(q.dtype)


@discrete(0, lambda n, p: n)
class binom:
    """Binomial distribution of the successes in `n` trials."""

    def valid(n: Any, p: Any) -> Any:
        return _is_count(n) & _is_probability(p)

    def logpmf(k: Any, n: Any, p: Any) -> Any:
        return _log_choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p)


@discrete(0, lambda n, a, b: n)
class betabinom:
    """Beta-binomial distribution: binomial, with a probability from a beta distribution."""

    def valid(n: Any, a: Any, b: Any) -> Any:
        return _is_count(n) & (a > 0) & (b > 0)

    def logpmf(k: Any, n: Any, a: Any, b: Any) -> Any:
        return _log_choose(n, k) + betaln(k + a, n - k + b) - betaln(a, b)


@discrete(0)
class nbinom:
    """Negative binomial distribution of the failures before `n` successes."""

    def valid(n: Any, p: Any) -> Any:
        return (n > 0) & (p > 0) & (p <= 1)

    def logpmf(k: Any, n: Any, p: Any) -> Any:
        ways = -betaln(n, k + 1) - np.log(n + k)
        return ways + xlogy(n, p) + xlog1py(k, -p)


@discrete(1)
class geom:
    """Geometric distribution of the trials until the first success."""

    def valid(p: Any) -> Any:
        return (p > 0) & (p <= 1)

    def logpmf(k: Any, p: Any) -> Any:
        return xlog1py(k - 1, -p) + np.log(p)


@discrete(0)
class poisson:
    """Poisson distribution."""

    def valid(mu: Any) -> Any:
        return mu >= 0

    def logpmf(k: Any, mu: Any) -> Any:
        return xlogy(k, mu) - gammaln(k + 1) - mu

    def cdf(k: Any, mu: Any) -> Any:
        return np.where(mu > 0, gammaincc(k + 1, np.where(mu > 0, mu, 1)), 1)

    @composite(arrays=("mu", "loc"))
    def entropy(mu: Any, loc: Any = 0) -> Any:
        """Entropy of the Poisson distribution.

        Source: R. J. Evans et al., The entropy of a Poisson distribution, SIAM Review 30, 1988.
        """
        mu, loc = floats(mu, loc)
        small = mu < MANY
        rare, often = np.where(small, np.maximum(mu, 0), 1), np.where(small, MANY, mu)
        counts = np.arange(2 * MANY + 50, dtype=rare.dtype)
        log_factorials = np.array([lgamma(k + 1) for k in range(len(counts))], rare.dtype)
        weights = np.exp(xlogy(counts, rare[..., None]) - rare[..., None] - log_factorials)
        value = rare - xlogy(rare, rare) + np.sum(weights * log_factorials, -1)
        series = np.polyval(np.array(ENTROPY, often.dtype), 1 / often)
        value = np.where(small, value, np.log(2 * np.pi * np.e * often) / 2 - series)
        return np.where(mu >= 0, value + 0 * loc, np.nan)


class multinomial:
    """Multinomial distribution of the outcomes of `n` trials."""

    @composite(arrays=("x", "n", "p"))
    def logpmf(x: Any, n: Any, p: Any) -> Any:
        """Logarithm of the probability of the counts `x`; -inf where they do not add up to `n`.

        Shapes: `x` and `p` (..., k), `n` (...).
        """
        x, n, p = floats(x, n, p)
        possible = (np.sum(x, -1) == n) & np.all(_is_count(x), -1)
        counts = np.where(possible[..., None], x, 0)
        ways = gammaln(n + 1) - np.sum(gammaln(counts + 1), -1)
        value = np.where(possible, ways + np.sum(xlogy(counts, p), -1), -np.inf)
        valid = _is_count(n) & np.all(_is_probability(p), -1)
        return np.where(valid & ~np.any(np.isnan(x), -1), value, np.nan)

    @composite(arrays=("x", "n", "p"))
    def pmf(x: Any, n: Any, p: Any) -> Any:
        """Probability of the counts `x`; shapes as for `logpmf`."""
        return np.exp(multinomial.logpmf(x, n, p))
