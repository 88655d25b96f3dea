"""The normal distribution: whole, truncated and of several variables."""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.lax.linalg import triangular_solve
from overt.runtime.nn import log1mexp
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floats, ndtr, ndtri
from overt.runtime.scipy.faddeeva import log_ndtr
from overt.runtime.scipy.stats.distribution import continuous

__all__ = ["multivariate_normal", "norm", "truncnorm"]

LOG_2PI = math.log(2 * math.pi)


@continuous(-np.inf, np.inf, 0)
class norm:
    """Normal distribution."""

    def logpdf(x: Any) -> Any:
        return -(x**2 + LOG_2PI) / 2

    def cdf(x: Any) -> Any:
        return ndtr(x)

    def logcdf(x: Any) -> Any:
        return log_ndtr(x)

    def sf(x: Any) -> Any:
        return ndtr(-x)

    def logsf(x: Any) -> Any:
        return log_ndtr(-x)

    def ppf(q: Any) -> Any:
        return ndtri(q)

    def isf(q: Any) -> Any:
        return -ndtri(q)


def _log_mass(a: Any, b: Any) -> Any:
    """Logarithm of the normal probability between `a` and `b`, which are finite or infinite."""
    # Both tails are taken on the left, where their logarithms are accurate.
    a, b = np.where(a > 0, -b, a), np.where(a > 0, -a, b)
    left = b <= 0
    low, high = log_ndtr(a), log_ndtr(np.where(left, b, -b))
    tail = high + log1mexp(np.where(left, high - low, 1))
    both = np.exp(low) + np.exp(high)
    return np.where(left, tail, np.log1p(-np.where(left, 0.5, both)))


@continuous(lambda a, b: a, lambda a, b: b, lambda a, b: np.clip(0, a, b))
class truncnorm:
    """Normal distribution between `a` and `b`, which are in units of `scale` from `loc`."""

    def valid(a: Any, b: Any) -> Any:
        return a < b

    def logpdf(x: Any, a: Any, b: Any) -> Any:
        return -(x**2 + LOG_2PI) / 2 - _log_mass(a, b)

    def logcdf(x: Any, a: Any, b: Any) -> Any:
        return _log_mass(a, x) - _log_mass(a, b)

    def cdf(x: Any, a: Any, b: Any) -> Any:
        return np.exp(_log_mass(a, x) - _log_mass(a, b))

    def logsf(x: Any, a: Any, b: Any) -> Any:
        return _log_mass(x, b) - _log_mass(a, b)

    def sf(x: Any, a: Any, b: Any) -> Any:
        return np.exp(_log_mass(x, b) - _log_mass(a, b))


class multivariate_normal:
    """Normal distribution of several variables."""

    @composite(arrays=("x", "mean", "cov"))
    def logpdf(x: Any, mean: Any, cov: Any, allow_singular: bool | None = None) -> Any:
        """Logarithm of the density of the normal distribution of several variables.

        Shapes: `x` (..., d), `mean` (..., d), `cov` (..., d, d) or (); the result has the leading
        axes of all.  A scalar `mean` is that of one variable.
        Errors: NotImplementedError for a true `allow_singular`.
        """
        if allow_singular:
            raise NotImplementedError(
                "multivariate_normal.logpdf with allow_singular: a singular covariance has no "
                "density; add a small multiple of the identity to it"
            )
        x, mean, cov = floats(x, mean, cov)
        if mean.ndim == 0:
            return -((x - mean) ** 2 / cov + np.log(cov) + LOG_2PI) / 2
        d = mean.shape[-1]
        if cov.ndim == 0:
            return -(np.sum((x - mean) ** 2, -1) / cov + d * (np.log(cov) + LOG_2PI)) / 2
        if cov.shape[-2:] != (d, d):
            raise ValueError(
                f"multivariate_normal.logpdf: the covariance of {d} variables has shape "
                f"(..., {d}, {d}), not {cov.shape}"
            )
        factor = np.linalg.cholesky(cov)
        shape = np.broadcast_shapes(np.shape(x)[:-1], mean.shape[:-1], cov.shape[:-2])
        away = np.broadcast_to(x - mean, (*shape, d))[..., None]
        factor = np.broadcast_to(factor, (*shape, d, d))
        scaled = triangular_solve(factor, away, left_side=True, lower=True)[..., 0]
        log_determinant = 2 * np.sum(np.log(np.diagonal(factor, 0, -2, -1)), -1)
        return -(np.sum(scaled**2, -1) + log_determinant + d * LOG_2PI) / 2

    @composite(arrays=("x", "mean", "cov"))
    def pdf(x: Any, mean: Any, cov: Any, allow_singular: bool | None = None) -> Any:
        """Density of the normal distribution of several variables; shapes as for `logpdf`."""
        return np.exp(multivariate_normal.logpdf(x, mean, cov, allow_singular))

    @composite(arrays=("mean", "cov"))
    def entropy(mean: Any = None, cov: Any = 1.0) -> Any:
        """Differential entropy; shapes as for `logpdf`, and the mean has no part in it."""
        mean, cov = floats(0.0 if mean is None else mean, cov)
        if cov.ndim == 0:
            return (mean.shape[-1] if mean.ndim else 1) * (np.log(cov) + LOG_2PI + 1) / 2
        return (np.linalg.slogdet(cov)[1] + cov.shape[-1] * (LOG_2PI + 1)) / 2
