"""Distributions of waiting times and extremes: the exponential distribution and its relatives."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.nn import log1mexp
from overt.runtime.scipy.gamma_functions import gammaln
from overt.runtime.scipy.incomplete import gammainc, gammaincc
from overt.runtime.scipy.special import expit, logit, xlogy
from overt.runtime.scipy.stats.distribution import continuous, log_of

__all__ = ["chi2", "expon", "gamma", "gumbel_l", "gumbel_r", "laplace", "logistic", "pareto"]


@continuous(0, np.inf, 1)
class expon:
    """Exponential distribution."""

    def logpdf(x: Any) -> Any:
        return -x

    def cdf(x: Any) -> Any:
        return -np.expm1(-x)

    def logcdf(x: Any) -> Any:
        return log1mexp(x)

    def sf(x: Any) -> Any:
        return np.exp(-x)

    def logsf(x: Any) -> Any:
        return -x

    def ppf(q: Any) -> Any:
        return -np.log1p(-q)


@continuous(0, np.inf, 1)
class gamma:
    """Gamma distribution."""

    def valid(a: Any) -> Any:
        return a > 0

    def logpdf(x: Any, a: Any) -> Any:
        return xlogy(a - 1, x) - x - gammaln(a)

    def cdf(x: Any, a: Any) -> Any:
        return gammainc(a, x)

    def logcdf(x: Any, a: Any) -> Any:
        return log_of(gammainc(a, x), gammaincc(a, x))

    def sf(x: Any, a: Any) -> Any:
        return gammaincc(a, x)

    def logsf(x: Any, a: Any) -> Any:
        return log_of(gammaincc(a, x), gammainc(a, x))


@continuous(0, np.inf, 1)
class chi2:
    """Chi-squared distribution."""

    def valid(df: Any) -> Any:
        return df > 0

    def logpdf(x: Any, df: Any) -> Any:
        return gamma.logpdf(x / 2, df / 2) - np.log(2)

    def cdf(x: Any, df: Any) -> Any:
        return gammainc(df / 2, x / 2)

    def logcdf(x: Any, df: Any) -> Any:
        return gamma.logcdf(x / 2, df / 2)

    def sf(x: Any, df: Any) -> Any:
        return gammaincc(df / 2, x / 2)

    def logsf(x: Any, df: Any) -> Any:
        return gamma.logsf(x / 2, df / 2)


@continuous(1, np.inf, 2)
class pareto:
    """Pareto distribution."""

    def valid(b: Any) -> Any:
        return b > 0

    def logpdf(x: Any, b: Any) -> Any:
        return np.log(b) - (b + 1) * np.log(x)

    def cdf(x: Any, b: Any) -> Any:
        return -np.expm1(-b * np.log(x))

    def logcdf(x: Any, b: Any) -> Any:
        return log1mexp(b * np.log(x))

    def sf(x: Any, b: Any) -> Any:
        return x**-b

    def logsf(x: Any, b: Any) -> Any:
        return -b * np.log(x)

    def ppf(q: Any, b: Any) -> Any:
        return np.exp(-np.log1p(-q) / b)


@continuous(-np.inf, np.inf, 0)
class laplace:
    """Laplace distribution."""

    def logpdf(x: Any) -> Any:
        return -np.abs(x) - np.log(2)

    def cdf(x: Any) -> Any:
        tail = np.exp(-np.abs(x)) / 2
        return np.where(x < 0, tail, 1 - tail)


@continuous(-np.inf, np.inf, 0)
class logistic:
    """Logistic distribution."""

    def logpdf(x: Any) -> Any:
        return -x - 2 * np.logaddexp(0, -x)

    def cdf(x: Any) -> Any:
        return expit(x)

    def sf(x: Any) -> Any:
        return expit(-x)

    def ppf(x: Any) -> Any:
        return logit(x)

    def isf(x: Any) -> Any:
        return -logit(x)


# ---- extremes ----


@continuous(-np.inf, np.inf, 0)
class gumbel_r:
    """Gumbel distribution of largest values."""

    def logpdf(x: Any) -> Any:
        return -x - np.exp(-x)

    def cdf(x: Any) -> Any:
        return np.exp(-np.exp(-x))

    def logcdf(x: Any) -> Any:
        return -np.exp(-x)

    def sf(x: Any) -> Any:
        return -np.expm1(-np.exp(-x))

    def logsf(x: Any) -> Any:
        return log1mexp(np.exp(-x))

    def ppf(p: Any) -> Any:
        return -np.log(-np.log(p))


@continuous(-np.inf, np.inf, 0)
class gumbel_l:
    """Gumbel distribution of smallest values."""

    def logpdf(x: Any) -> Any:
        return x - np.exp(x)

    def cdf(x: Any) -> Any:
        return -np.expm1(-np.exp(x))

    def logcdf(x: Any) -> Any:
        return log1mexp(np.exp(x))

    def sf(x: Any) -> Any:
        return np.exp(-np.exp(x))

    def logsf(x: Any) -> Any:
        return -np.exp(x)

    def ppf(p: Any) -> Any:
        return np.log(-np.log1p(-p))
