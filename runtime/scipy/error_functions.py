"""The error function and the normal distribution."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import Primitive, composite

__all__ = ["erf", "erfc", "erfinv", "log_ndtr", "ndtr", "ndtri"]


def floating(x: Any) -> Any:
    """`x` as an array of floating or complex numbers."""
    x = np.asarray(x)
    return np.astype(x, dtypes.to_inexact(x.dtype))


def no_derivative(function: str, argument: str) -> Any:
    """Refuse a derivative: the rule of a function that has none for one argument."""
    raise NotImplementedError(
        f"{function} has no derivative with respect to {argument}; hold it with stop_gradient"
    )


def special(name: str, operation: Any, vjp: Any, doc: str) -> Primitive:
    """An elementwise function of floats; `operation` names it in StableHLO or CHLO."""
    return Primitive(name, elementwise=True, float_only=True, lower=operation, vjp=vjp, doc=doc)


erf = special(
    "erf", "chlo.erf",
    (lambda g, out, x: 2 / np.sqrt(np.pi) * g * np.exp(-(x**2)),),
    """Error function.

    >>> print(erf(0.0))
    0.0
    """,
)  # fmt: skip
erfc = special(
    "erfc", "chlo.erfc",
    (lambda g, out, x: -2 / np.sqrt(np.pi) * g * np.exp(-(x**2)),),
    """`1 - erf(x)`, accurate for large `x`.

    >>> print(erfc(0.0))
    1.0
    """,
)  # fmt: skip
erfinv = special(
    "erfinv", "chlo.erf_inv",
    (lambda g, out, x: times(g, np.sqrt(np.pi) / 2 * np.exp(out**2)),),
    """Inverse of the error function.

    >>> print(erfinv(0.0))
    0.0
    """,
)  # fmt: skip


@composite(arrays=("x",), vjp=(lambda g, out, x: g * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi),))
def ndtr(x: Any) -> Any:
    """Cumulative distribution of the standard normal.

    >>> print(ndtr(0.0))
    0.5
    """
    x = floating(x)
    return 0.5 * erfc(-x * np.sqrt(0.5).astype(x.dtype))


@composite(
    arrays=("p",), vjp=(lambda g, out, p: times(g, np.sqrt(2 * np.pi) * np.exp(out**2 / 2)),)
)
def ndtri(p: Any) -> Any:
    """Inverse of the cumulative distribution of the standard normal.

    >>> print(ndtri(0.5))
    0.0
    """
    p = floating(p)
    return np.sqrt(2.0).astype(p.dtype) * erfinv(2 * p - 1)


@composite(
    arrays=("x",), vjp=(lambda g, out, x: g * np.exp(-(x**2) / 2 - out) / np.sqrt(2 * np.pi),)
)
def log_ndtr(x: Any) -> Any:
    """`log(ndtr(x))`, also far below zero, where the distribution underflows.

    Source: the asymptotic series of Mills' ratio, Abramowitz and Stegun 26.2.12.

    >>> print(np.round(log_ndtr(-100.0), 2))
    -5005.52
    """
    x = floating(x)
    far = -10.0 if x.dtype.itemsize < 8 else -25.0
    tail = np.minimum(x, far)
    terms, series = 1.0, 1.0
    for k in range(1, 4):
        terms = -terms * (2 * k - 1) / tail**2
        series = series + terms
    below = -(tail**2) / 2 - np.log(-tail) - 0.5 * np.log(2 * np.pi) + np.log(series)
    near = np.maximum(x, far)
    near = np.where(near > 1, np.log1p(-ndtr(-near)), np.log(ndtr(near)))
    return np.where(x < far, below, near)
