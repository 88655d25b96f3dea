"""Distributions symmetric about `loc` whose tails may be heavy: Cauchy's, Student's and others."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.gamma_functions import betaln, gammaln
from overt.runtime.scipy.incomplete import betainc, gammainc
from overt.runtime.scipy.slopes import derivative
from overt.runtime.scipy.stats.distribution import continuous, log_of

__all__ = ["cauchy", "gennorm", "t"]


@continuous(-np.inf, np.inf, 0)
class cauchy:
    """Cauchy distribution."""

    def logpdf(x: Any) -> Any:
        return -np.log(np.pi) - np.log1p(x**2)

    def cdf(x: Any) -> Any:
        return np.arctan2(1, -x) / np.pi

    def logcdf(x: Any) -> Any:
        return log_of(np.arctan2(1, -x) / np.pi, np.arctan2(1, x) / np.pi)

    def sf(x: Any) -> Any:
        return np.arctan2(1, x) / np.pi

    def logsf(x: Any) -> Any:
        return log_of(np.arctan2(1, x) / np.pi, np.arctan2(1, -x) / np.pi)

    def ppf(q: Any) -> Any:
        # The tails by the cotangent of the probability that is left, which is small there.
        middle = np.abs(q - 0.5) < 0.25
        rest = np.where(middle, 0.25, np.minimum(q, 1 - q))
        tail = np.sign(q - 0.5) / np.tan(np.pi * rest)
        return np.where(middle, np.tan(np.pi * (np.where(middle, q, 0.5) - 0.5)), tail)

    def isf(q: Any) -> Any:
        return -cauchy.ppf(q)


def _beyond(size: Any, df: Any) -> Any:
    """Student's probability beyond `size`, which is positive."""
    return betainc(df / 2, 0.5, df / (df + size**2)) / 2


def student_density(x: Any, df: Any) -> Any:
    """Student's density in standard form.

    >>> print(np.round(student_density(0.0, 1.0), 5))
    0.31831
    """
    return t.pdf(x, df)


def student_by_df(x: Any, df: Any) -> Any:
    """Derivative of Student's survival function by `df`.

    >>> print(student_by_df(0.0, 1.0))
    0.0
    """
    size = np.where(x == 0, 1, np.abs(x))
    return np.where(x == 0, 0, np.sign(x) * derivative(_beyond, (1,))(size, df))


@composite(
    arrays=("x", "df"),
    vjp=(
        lambda g, out, x, df: (
            -times(g, student_density(x, df))
        ),  # that of `betainc` has no limit at zero
        lambda g, out, x, df: times(g, student_by_df(x, df)),
    ),
    elementwise=True,
)
def _student_tail(x: Any, df: Any) -> Any:
    x, df = np.broadcast_arrays(x, df)
    beyond = _beyond(np.abs(x), df)
    return np.where(x < 0, 1 - beyond, beyond)


@continuous(-np.inf, np.inf, 0)
class t:
    """Student's distribution."""

    def valid(df: Any) -> Any:
        return df > 0

    def logpdf(x: Any, df: Any) -> Any:
        return -betaln(0.5, df / 2) - (np.log(df) + (df + 1) * np.log1p(x**2 / df)) / 2

    def cdf(x: Any, df: Any) -> Any:
        return _student_tail(-x, df)

    def logcdf(x: Any, df: Any) -> Any:
        return log_of(_student_tail(-x, df), _student_tail(x, df))

    def sf(x: Any, df: Any) -> Any:
        return _student_tail(x, df)

    def logsf(x: Any, df: Any) -> Any:
        return log_of(_student_tail(x, df), _student_tail(-x, df))


@continuous(-np.inf, np.inf, 1)
class gennorm:
    """Generalized normal distribution, with density proportional to `exp(-abs(x)**beta)`."""

    def valid(beta: Any) -> Any:
        return beta > 0

    def logpdf(x: Any, beta: Any) -> Any:
        return np.log(beta / 2) - gammaln(1 / beta) - np.abs(x) ** beta

    def cdf(x: Any, beta: Any) -> Any:
        return (1 + np.sign(x) * gammainc(1 / beta, np.abs(x) ** beta)) / 2
