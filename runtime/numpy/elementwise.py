"""Exponentials, logarithms, roots and their relatives, element by element."""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.complex_lowerings import elementary, of_complex
from overt.runtime.numpy.zeros import over, times, times_both
from overt.runtime.primitive import Primitive, composite

__all__ = [
    "cbrt", "deg2rad", "degrees", "exp", "exp2", "expm1", "hypot", "log", "log10", "log1p", "log2",
    "logaddexp", "logaddexp2", "rad2deg", "radians", "sinc", "sqrt",
]  # fmt: skip

LN2, LN10 = 0.6931471805599453, 2.302585092994046
DEGREE = 0.017453292519943295  # in radians

exp = Primitive(
    "exp",
    elementwise=True,
    float_only=True,
    lower=elementary("exponential"),
    vjp=(lambda g, out, x: times(g, out),),
    doc="""Exponential function.

    >>> print(np.exp(0.0))
    1.0
    """,
)


def _lower_exp2(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if not dtypes.is_complex(out.dtype):
        return b.binary("power", b.full_like(x, 2), x)
    by = b.full_like(b.real(x), LN2)
    parts = (b.binary("multiply", part(x), by) for part in (b.real, b.imag))
    return of_complex(b, "exponential", b.complex(*parts))


exp2 = Primitive(
    "exp2",
    elementwise=True,
    float_only=True,
    lower=_lower_exp2,
    vjp=(lambda g, out, x: np.log(2.0) * times(g, out),),
    doc="""Two to the power `x`.

    >>> print(np.exp2(3.0))
    8.0
    """,
)

expm1 = Primitive(
    "expm1",
    elementwise=True,
    float_only=True,
    lower=elementary("exponential_minus_one"),
    vjp=(lambda g, out, x: times(g, np.exp(x)),),  # out + 1 would round to 0 where exp(x) is small
    doc="""`exp(x) - 1`, accurate near zero.

    >>> print(np.expm1(0.0))
    0.0
    """,
)

log = Primitive(
    "log",
    elementwise=True,
    float_only=True,
    lower=elementary("log"),
    vjp=(lambda g, out, x: over(g, x),),
    doc="""Natural logarithm.

    >>> print(np.log(1.0))
    0.0
    """,
)


def _lower_log_base(scale: float) -> Any:
    def lower(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
        if not dtypes.is_complex(out.dtype):
            return b.binary("divide", b.unary("log", x), b.full_like(x, scale))
        z = of_complex(b, "log", x)
        by = b.full_like(b.real(z), scale)
        parts = (b.binary("divide", part(z), by) for part in (b.real, b.imag))
        return b.complex(*parts)

    return lower


log2 = Primitive(
    "log2",
    elementwise=True,
    float_only=True,
    lower=_lower_log_base(LN2),
    vjp=(lambda g, out, x: over(g, x * np.log(2.0)),),
    doc="""Logarithm to base 2.

    >>> print(np.log2(8.0))
    3.0
    """,
)

log10 = Primitive(
    "log10",
    elementwise=True,
    float_only=True,
    lower=_lower_log_base(LN10),
    vjp=(lambda g, out, x: over(g, x * np.log(10.0)),),
    doc="""Logarithm to base 10.

    >>> print(np.log10(1.0))
    0.0
    """,
)

log1p = Primitive(
    "log1p",
    elementwise=True,
    float_only=True,
    lower=elementary("log_plus_one"),
    vjp=(lambda g, out, x: over(g, 1 + x),),
    doc="""`log(1 + x)`, accurate near zero.

    >>> print(np.log1p(0.0))
    0.0
    """,
)

sqrt = Primitive(
    "sqrt",
    elementwise=True,
    float_only=True,
    lower=elementary("sqrt"),
    vjp=(lambda g, out, x: over(0.5 * g, out),),
    doc="""Square root.

    >>> print(np.sqrt(np.array([4.0, 9.0])))
    [2. 3.]
    """,
)

rsqrt = Primitive(
    "rsqrt",
    elementwise=True,
    float_only=True,
    lower="rsqrt",
    vjp=(lambda g, out, x: -0.5 * times(g, out**3),),
    doc="""`1 / sqrt(x)`.

    >>> print(rsqrt(4.0))
    0.5
    """,
)

cbrt = Primitive(
    "cbrt",
    elementwise=True,
    float_only=True,
    lower="cbrt",
    vjp=(lambda g, out, x: over(over(g, 3 * out), out),),
    doc="""Cube root, of negative numbers too.

    >>> print(np.cbrt(-27.0))
    -3.0
    """,
)


def _lower_hypot(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
    # the larger of the two is taken out, so that squares neither overflow nor vanish
    x, y = b.unary("abs", x), b.unary("abs", y)
    large, small = b.binary("maximum", x, y), b.binary("minimum", x, y)
    infinity = b.full_like(x, float("inf"))
    infinite = b.binary("or", b.compare("EQ", x, infinity), b.compare("EQ", y, infinity))
    zero = b.compare("EQ", large, b.full_like(large, 0))
    ratio = b.binary("divide", small, b.select(zero, b.full_like(large, 1), large))
    ratio = b.binary("add", b.binary("multiply", ratio, ratio), b.full_like(ratio, 1))
    result = b.binary("multiply", large, b.unary("sqrt", ratio))
    return b.select(infinite, infinity, result)


@composite(
    arrays=("x", "size"),
    vjp=(
        lambda g, out, x, size: unit_part(g, size),
        lambda g, out, x, size: -times_both(unit_part(g, size), out),
    ),
    elementwise=True,
)
def unit_part(x: Any, size: Any) -> Any:
    """`x / size`, and zero where a vector's `size` is.

    >>> print(unit_part(3.0, 5.0), unit_part(0.0, 0.0))
    0.6 0.0
    """
    still = size == 0
    return np.where(still, 0, over(x, np.where(still, 1, size)))


hypot = Primitive(
    "hypot",
    elementwise=True,
    float_only=True,
    lower=_lower_hypot,
    vjp=(
        lambda g, out, x, y: times(g, unit_part(x, out)),
        lambda g, out, x, y: times(g, unit_part(y, out)),
    ),
    doc="""`sqrt(x**2 + y**2)` without overflow; its derivative at the origin is zero.

    >>> print(np.hypot(3.0, 4.0))
    5.0
    """,
)


def _lower_logaddexp(scale: float) -> Any:
    """max(x, y) + log(1 + base**-|x - y|): the argument of the exponential is never positive."""

    def lower(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
        if dtypes.is_complex(out.dtype):
            raise TypeError("logaddexp is not defined for complex numbers")
        largest = b.binary("maximum", x, y)
        gap = b.unary("negate", b.unary("abs", b.binary("subtract", x, y)))
        scaled = b.binary("multiply", gap, b.full_like(gap, scale))
        more = b.unary("log_plus_one", b.unary("exponential", scaled))
        total = b.binary("add", largest, b.binary("divide", more, b.full_like(more, scale)))
        # two equal infinities have no difference
        equal_infinities = b.binary(
            "and",
            b.compare("EQ", x, y),
            b.compare("EQ", b.unary("abs", x), b.full_like(x, float("inf"))),
        )
        return b.select(equal_infinities, x, total)

    return lower


@composite(
    arrays=("x", "y"),
    vjp=(
        lambda g, out, x, y: times(g, out * share(y, x)),
        lambda g, out, x, y: -times(g, out * share(y, x)),
    ),
    elementwise=True,
)
def share(x: Any, y: Any) -> Any:
    """`exp(x) / (exp(x) + exp(y))` without overflow; a half for two equal infinities.

    >>> print(share(1.0, 1.0), share(-np.inf, 1.0), share(-np.inf, -np.inf))
    0.5 0.0 0.5
    """
    return 1 / (1 + np.exp(np.where(x == y, 0, y - x)))


@composite(
    arrays=("x", "y"),
    vjp=(
        lambda g, out, x, y: np.log(2.0) * times(g, out * share2(y, x)),
        lambda g, out, x, y: -np.log(2.0) * times(g, out * share2(y, x)),
    ),
    elementwise=True,
)
def share2(x: Any, y: Any) -> Any:
    """`2**x / (2**x + 2**y)`, as `share` with powers of two.

    >>> print(share2(3.0, 3.0), share2(-np.inf, -np.inf))
    0.5 0.5
    """
    return 1 / (1 + np.exp2(np.where(x == y, 0, y - x)))


logaddexp = Primitive(
    "logaddexp",
    elementwise=True,
    float_only=True,
    lower=_lower_logaddexp(1.0),
    vjp=(
        lambda g, out, x, y: times(g, share(x, y)),
        lambda g, out, x, y: times(g, share(y, x)),
    ),
    doc="""`log(exp(x) + exp(y))` without overflow; equal infinities share its slope.

    >>> print(np.logaddexp(-np.inf, 2.0))
    2.0
    """,
)

logaddexp2 = Primitive(
    "logaddexp2",
    elementwise=True,
    float_only=True,
    lower=_lower_logaddexp(LN2),
    vjp=(
        lambda g, out, x, y: times(g, share2(x, y)),
        lambda g, out, x, y: times(g, share2(y, x)),
    ),
    doc="""`log2(2**x + 2**y)` without overflow.

    >>> print(np.logaddexp2(3.0, 3.0))
    4.0
    """,
)

deg2rad = radians = Primitive(
    "deg2rad",
    elementwise=True,
    float_only=True,
    linear=True,
    lower=lambda b, x, *, avals, out: b.binary("multiply", x, b.full_like(x, DEGREE)),
    vjp=(lambda g, out, x: np.deg2rad(g),),
    doc="""Degrees to radians.

    >>> print(np.deg2rad(0.0))
    0.0
    """,
)

rad2deg = degrees = Primitive(
    "rad2deg",
    elementwise=True,
    float_only=True,
    linear=True,
    lower=lambda b, x, *, avals, out: b.binary("divide", x, b.full_like(x, DEGREE)),
    vjp=(lambda g, out, x: np.rad2deg(g),),
    doc="""Radians to degrees.

    >>> print(np.rad2deg(0.0))
    0.0
    """,
)


# sin(t) / t = 1 - t**2 / 3! + t**4 / 5! - ..., with the quotient's cancelling derivatives left out.
_SINC_SERIES = [(-1) ** k / math.factorial(2 * k + 1) for k in range(12)]


@composite(arrays=("x",))
def sinc(x: Any) -> Any:
    """`sin(pi x) / (pi x)`, and 1 at zero, with all its derivatives there.

    >>> print(np.sinc(0.0))
    1.0
    """
    angle = np.pi * x
    small = np.abs(angle) < 1
    near, far = np.where(small, angle, 0), np.where(small, 1, angle)
    square, series = near * near, 0.0
    for coefficient in reversed(_SINC_SERIES):
        series = series * square + coefficient
    return np.where(small, series, np.sin(far) / far)
