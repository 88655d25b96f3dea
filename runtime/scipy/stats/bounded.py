"""Distributions on a bounded range: an interval, a circle, a simplex."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.primitive import composite
from overt.runtime.scipy.bessel import i0e
from overt.runtime.scipy.error_functions import floats
from overt.runtime.scipy.gamma_functions import betaln, gammaln
from overt.runtime.scipy.incomplete import betainc
from overt.runtime.scipy.special import xlog1py, xlogy
from overt.runtime.scipy.stats.distribution import continuous, log_of

__all__ = ["beta", "dirichlet", "uniform", "vonmises", "wrapcauchy"]


@continuous(0, 1, 0.5)
class uniform:
    """Uniform distribution."""

    def logpdf(x: Any) -> Any:
        return 0 * x

    def cdf(x: Any) -> Any:
        return x

    def ppf(q: Any) -> Any:
        return q


@continuous(0, 1, 0.5)
class beta:
    """Beta distribution."""

    def valid(a: Any, b: Any) -> Any:
        return (a > 0) & (b > 0)

    def logpdf(x: Any, a: Any, b: Any) -> Any:
        return xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)

    def cdf(x: Any, a: Any, b: Any) -> Any:
        return betainc(a, b, x)

    def logcdf(x: Any, a: Any, b: Any) -> Any:
        return log_of(betainc(a, b, x), betainc(b, a, 1 - x))

    def sf(x: Any, a: Any, b: Any) -> Any:
        return betainc(b, a, 1 - x)

    def logsf(x: Any, a: Any, b: Any) -> Any:
        return log_of(betainc(b, a, 1 - x), betainc(a, b, x))


# ---- on a circle ----


@continuous(-np.inf, np.inf, 0)
class vonmises:
    """Von Mises distribution of an angle."""

    def valid(kappa: Any) -> Any:
        return kappa >= 0

    def logpdf(x: Any, kappa: Any) -> Any:
        # cos(x) - 1, without cancellation for small angles
        return -2 * kappa * np.sin(x / 2) ** 2 - np.log(2 * np.pi * i0e(kappa))


@continuous(0, 2 * np.pi, 1)
class wrapcauchy:
    """Wrapped Cauchy distribution of an angle."""

    def valid(c: Any) -> Any:
        return (c > 0) & (c < 1)

    def logpdf(x: Any, c: Any) -> Any:
        return np.log1p(-(c**2)) - np.log(2 * np.pi * ((1 - c) ** 2 + 4 * c * np.sin(x / 2) ** 2))


# ---- on a simplex ----


class dirichlet:
    """Dirichlet distribution of proportions."""

    @composite(arrays=("x", "alpha"))
    def logpdf(x: Any, alpha: Any) -> Any:
        """Logarithm of the density of the Dirichlet distribution; -inf outside the simplex.

        Shapes: `alpha` (d,); `x` (d, ...), or (d - 1, ...) without the last proportion.
        Errors: ValueError for other shapes.
        """
        x, alpha = floats(x, alpha)
        if alpha.ndim != 1 or x.ndim == 0 or len(alpha) - x.shape[0] not in (0, 1):
            raise ValueError(
                "dirichlet: alpha has shape (d,) and x shape (d, ...) or (d - 1, ...), "
                f"not {alpha.shape} and {x.shape}"
            )
        if x.shape[0] < len(alpha):
            x = np.concatenate([x, 1 - np.sum(x, 0, keepdims=True)])
        alpha = np.reshape(alpha, (-1, *[1] * (x.ndim - 1)))
        inside = np.all(x >= 0, 0) & (np.abs(np.sum(x, 0) - 1) < 1e-6)
        proportions = np.where(inside, x, 0.5)
        constant = np.sum(gammaln(alpha), 0) - gammaln(np.sum(alpha, 0))
        value = np.sum(xlogy(alpha - 1, proportions), 0) - constant
        value = np.where(inside, value, np.where(np.any(np.isnan(x), 0), np.nan, -np.inf))
        return np.where(np.all(alpha > 0), value, np.nan)

    @composite(arrays=("x", "alpha"))
    def pdf(x: Any, alpha: Any) -> Any:
        """Density of the Dirichlet distribution; shapes as for `logpdf`."""
        return np.exp(dirichlet.logpdf(x, alpha))
