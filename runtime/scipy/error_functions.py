"""The error function and the normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import Primitive, composite

__all__ = ["erf", "erfc", "erfcinv", "erfinv", "ndtr", "ndtri"]


def floating(x: Any) -> Any:
    """`x` as an array of floating or complex numbers."""
    x = np.asarray(x)
    return np.astype(x, dtypes.to_inexact(x.dtype))


def floats(*xs: Any) -> list[Any]:
    """Arrays of one floating or complex dtype; Python numbers adapt to the others."""
    arrays = [np.asarray(x) for x in xs]
    dtype = dtypes.to_inexact(np.result_type(*arrays))
    return [x * 1.0 if x.weak_type else np.astype(x, dtype) for x in arrays]


def reals(function: str, *xs: Any) -> list[Any]:
    """Arrays of one floating dtype; complex ones are refused."""
    values = floats(*xs)
    if any(np.iscomplexobj(x) for x in values):
        raise TypeError(f"{function} takes real numbers, not complex ones")
    return values


def no_derivative(function: str, argument: str) -> Any:
    """Refuse a derivative: the rule of a function that has none for one argument."""
    raise NotImplementedError(
        f"{function} has no derivative with respect to {argument}; hold it with stop_gradient"
    )


def special(name: str, operation: Any, vjp: Any, doc: str, complex_too: bool = False) -> Primitive:
    """An elementwise function of floats; `operation` names it in StableHLO or CHLO."""

    def real(dtype: numpy.dtype) -> numpy.dtype:
        if complex_too or not dtypes.is_complex(dtype):
            return dtype
        raise TypeError(f"{name} takes real numbers, not complex ones")

    return Primitive(
        name, elementwise=True, float_only=True, result=real, lower=operation, vjp=vjp, doc=doc
    )


erf = special(
    "erf", "chlo.erf",
    (lambda g, out, x: 2 / np.sqrt(np.pi) * times(g, np.exp(-(x**2))),),
    """Error function.

    >>> print(erf(0.0))
    0.0
    """,
)  # fmt: skip
erfc = special(
    "erfc", "chlo.erfc",
    (lambda g, out, x: -2 / np.sqrt(np.pi) * times(g, np.exp(-(x**2))),),
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


@composite(
    arrays=("x",), vjp=(lambda g, out, x: times(g, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)),)
)
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

    Source: M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988.

    >>> print(ndtri(0.5))
    0.0
    """
    p = floating(p)
    middle = np.abs(p - 0.5) <= 0.425
    away = np.where(middle, p, 0.5) - 0.5
    central = away * _ratio(CENTRE, 0.425**2 - away**2)
    tail = np.where(middle, 0.05, np.minimum(p, 1 - p))
    inside = tail > 0
    depth = np.sqrt(-np.log(np.where(inside, tail, 0.05)))
    size = np.where(depth <= 5, _ratio(TAIL, depth - 1.6), _ratio(FAR_TAIL, depth - 5))
    size = np.where(inside, size, np.where(tail == 0, np.inf, np.nan))
    return np.where(middle, central, np.where(p < 0.5, -size, size))


@composite(arrays=("y",), vjp=(lambda g, out, y: times(g, -np.sqrt(np.pi) / 2 * np.exp(out**2)),))
def erfcinv(y: Any) -> Any:
    """Inverse of `erfc`.

    >>> round(float(erfcinv(0.5)), 5)
    0.47694
    """
    (y,) = reals("erfcinv", y)
    return -ndtri(y / 2) * math.sqrt(0.5)


# Numerators and denominators of `ndtri`, highest power first, by the range they serve.
# Source: M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988.
CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
     4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
     2.05319162663775882187, 1.0),
)  # fmt: skip
FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580,
     5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    """Quotient of two polynomials."""
    numerator, denominator = (horner(part, x) for part in coefficients)
    return numerator / denominator


def horner(coefficients: tuple[float, ...], x: Any) -> Any:
    """Polynomial with the highest power's coefficient first."""
    total: Any = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total
