"""Arithmetic: sums, products, quotients, remainders and powers, element by element."""

from __future__ import annotations

import operator
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import Primitive, composite

__all__ = [
    "add", "divide", "divmod", "float_power", "floor_divide", "fmod", "mod",
    "modf", "multiply", "negative", "positive", "pow", "power", "reciprocal",
    "remainder", "square", "subtract", "true_divide",
]  # fmt: skip

add = Primitive(
    "add",
    elementwise=True,
    lower="add",
    linear=True,
    vjp=(lambda g, out, x, y: g, lambda g, out, x, y: g),
    doc="""Sum, element by element; booleans are combined by `or`, as in NumPy.

    >>> print(np.add(1.0, np.array([1.0, 2.0])))
    [2. 3.]
    """,
)


def _refuse_booleans(name: str) -> Any:
    def result(dtype: numpy.dtype) -> numpy.dtype:
        if dtypes.is_bool(dtype):
            raise TypeError(
                f"{name} of booleans is not defined; use ^ or logical_xor, or convert with .astype"
            )
        return dtype

    return result


subtract = Primitive(
    "subtract",
    elementwise=True,
    lower="subtract",
    linear=True,
    result=_refuse_booleans("subtract"),
    vjp=(lambda g, out, x, y: g, lambda g, out, x, y: -g),
    doc="""Difference, element by element.

    Errors: TypeError for two booleans.

    >>> print(np.subtract(np.array([3, 4]), 1))
    [2 3]
    """,
)

multiply = Primitive(
    "multiply",
    elementwise=True,
    lower="multiply",
    vjp=(lambda g, out, x, y: times(g, y), lambda g, out, x, y: times(g, x)),
    doc="""Product, element by element.

    >>> print(np.multiply(2.0, np.array([1.0, 2.0])))
    [2. 4.]
    """,
)

divide = true_divide = Primitive(
    "divide",
    elementwise=True,
    lower=lambda b, x, y, *, avals, out: b.quotient(x, y),
    float_only=True,
    vjp=(lambda g, out, x, y: over(g, y), lambda g, out, x, y: -times(g, out / y)),
    doc="""Quotient, element by element; integers become floats.

    >>> print(np.divide(np.array([1, 2]), 2))
    [0.5 1. ]
    """,
)

negative = Primitive(
    "negative",
    elementwise=True,
    lower="negate",
    linear=True,
    result=_refuse_booleans("negative"),
    vjp=(lambda g, out, x: -g,),
    doc="""Minus `x`.

    >>> print(np.negative(np.array([1.0, -2.0])))
    [-1.  2.]
    """,
)


@composite(arrays=("x",), linear=True, vjp=(lambda g, out, x: g,))
def positive(x: Any) -> Any:
    """`x` itself, as an array.

    >>> print(np.positive(np.array([1.0, -2.0])))
    [ 1. -2.]
    """
    return np.asarray(x)


square = Primitive(
    "square",
    elementwise=True,
    result=lambda dtype: numpy.dtype("int32") if dtypes.is_bool(dtype) else dtype,
    lower=lambda b, x, *, avals, out: b.binary("multiply", *[b.convert(x, out.dtype)] * 2),
    vjp=(lambda g, out, x: times(g, 2 * x),),
    doc="""`x * x`.

    >>> print(np.square(np.array([1.0, -2.0])))
    [1. 4.]
    """,
)

reciprocal = Primitive(
    "reciprocal",
    elementwise=True,
    lower=lambda b, x, *, avals, out: b.quotient(b.full_like(x, 1), x),
    float_only=True,
    vjp=(lambda g, out, x: -times(g, out / x),),
    doc="""`1 / x`; integers become floats.

    >>> print(np.reciprocal(np.array([2.0, 4.0])))
    [0.5  0.25]
    """,
)


# Quotients rounded down, and what they leave. The sign of a remainder is that of the divisor, the
# sign of fmod that of the dividend. Integers divided by zero give zero, as in NumPy.


def _is_zero(b: Any, v: Any) -> Any:
    return b.compare("EQ", v, b.full_like(v, 0))


def _signs_differ(b: Any, x: Any, y: Any) -> Any:
    zero = b.full_like(x, 0)
    return b.compare("NE", b.compare("LT", x, zero), b.compare("LT", y, zero))


def _lower_fmod(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
    x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)  # booleans count as integers
    if not dtypes.is_integer(out.dtype):
        return b.binary("remainder", x, y)
    by_zero = _is_zero(b, y)
    rest = b.binary("remainder", x, b.select(by_zero, b.full_like(y, 1), y))
    return b.select(by_zero, b.full_like(y, 0), rest)


def _lower_remainder(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
    x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
    rest = _lower_fmod(b, x, y, avals=avals, out=out)
    inexact = b.compare("NE", rest, b.full_like(rest, 0))
    shifted = b.binary("and", inexact, _signs_differ(b, rest, y))
    rest = b.select(shifted, b.binary("add", rest, y), rest)
    if dtypes.is_float(out.dtype):  # a zero takes the sign of the divisor too
        zero = b.select(
            b.compare("LT", y, b.full_like(y, 0)), b.full_like(y, -0.0), b.full_like(y, 0)
        )
        rest = b.select(_is_zero(b, rest), zero, rest)
    return rest


def _lower_floor_divide(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
    x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
    if dtypes.is_integer(out.dtype):
        by_zero = _is_zero(b, y)
        y = b.select(by_zero, b.full_like(y, 1), y)
        quotient, rest = b.binary("divide", x, y), b.binary("remainder", x, y)
        inexact = b.compare("NE", rest, b.full_like(rest, 0))
        down = b.binary("and", inexact, _signs_differ(b, rest, y))
        quotient = b.select(down, b.binary("subtract", quotient, b.full_like(y, 1)), quotient)
        return b.select(by_zero, b.full_like(y, 0), quotient)
    # floor(x / y) may round up to a quotient that y does not reach, so divide what is a multiple
    rest = b.binary("remainder", x, y)
    quotient = b.unary("round_nearest_even", b.binary("divide", b.binary("subtract", x, rest), y))
    down = b.binary("and", b.compare("NE", rest, b.full_like(rest, 0)), _signs_differ(b, rest, y))
    quotient = b.select(down, b.binary("subtract", quotient, b.full_like(y, 1)), quotient)
    signed_zero = b.binary("multiply", b.full_like(x, 0), b.binary("divide", x, y))
    quotient = b.select(_is_zero(b, quotient), signed_zero, quotient)
    return b.select(_is_zero(b, y), b.binary("divide", x, y), quotient)


def _refuse_complex(name: str) -> Any:
    def result(dtype: numpy.dtype) -> numpy.dtype:
        if dtypes.is_complex(dtype):
            raise TypeError(f"{name} is not defined for complex numbers")
        return dtypes.int_type() if dtypes.is_bool(dtype) else dtype

    return result


floor_divide = Primitive(
    "floor_divide",
    elementwise=True,
    lower=_lower_floor_divide,
    result=_refuse_complex("floor_divide"),
    vjp=(None, None),
    doc="""Quotient rounded down; an integer divided by zero gives zero, as in NumPy.

    >>> print(np.floor_divide(np.array([7, -7, 7]), np.array([2, 2, 0])))
    [ 3 -4  0]
    """,
)

remainder = mod = Primitive(
    "remainder",
    elementwise=True,
    lower=_lower_remainder,
    result=_refuse_complex("remainder"),
    vjp=(lambda g, out, x, y: g, lambda g, out, x, y: -times(g, np.floor_divide(x, y))),
    doc="""What `x // y` leaves, with the sign of `y`.

    >>> print(np.remainder(np.array([7, -7]), 3))
    [1 2]
    """,
)

fmod = Primitive(
    "fmod",
    elementwise=True,
    lower=_lower_fmod,
    result=_refuse_complex("fmod"),
    vjp=(lambda g, out, x, y: g, lambda g, out, x, y: -times(g, np.trunc(x / y))),
    doc="""What division rounded towards zero leaves, with the sign of `x`, as in C.

    >>> print(np.fmod(np.array([7.0, -7.0]), 3.0))
    [ 1. -1.]
    """,
)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """The pair `x // y`, `x % y`.

    >>> print(*np.divmod(-7, 3))
    -3 2
    """
    return np.floor_divide(x, y), np.remainder(x, y)


def modf(x: Any) -> tuple[Any, Any]:
    """Fractional and integral parts, both with the sign of `x`.

    >>> print(*np.modf(-2.5))
    -0.5 -2.0
    """
    x = np.astype(x, dtypes.to_inexact(np.result_type(x)))
    whole = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), 0, x - whole), x), whole


# Powers. An integer exponent that is known is a product, exact and with exact derivatives of every
# order at zero; otherwise x**y is a primitive of two arrays.


def power_slope(x: Any, y: Any) -> Any:
    """Derivative of `x**y` with respect to `x`; zero at `x == y == 0`, where `x**0` is constant.

    >>> print(power_slope(3.0, 2), power_slope(0.0, 0.0))
    6.0 0.0
    """
    if type(y) is int:
        return y * x ** (y - 1) if y else np.zeros_like(x)
    return y * x ** np.where((x == 0) & (y == 0), 1, y - 1)


def _lower_integer_power(b: Any, x: Any, *, avals: Any, out: Any, n: int) -> Any:
    result, factor, rest = None, x, abs(n)
    while rest:
        if rest & 1:
            result = factor if result is None else b.binary("multiply", result, factor)
        rest >>= 1
        if rest:
            factor = b.binary("multiply", factor, factor)
    one = b.full_like(x, 1)
    if result is None:
        return one
    return b.binary("divide", one, result) if n < 0 else result


integer_power = Primitive(
    "integer_power",
    elementwise=True,
    lower=_lower_integer_power,
    vjp=(lambda g, out, x, *, n: times(g, power_slope(x, n)),),
    doc="""`x**n` for an integer `n` that is known: a product of `x` and its squares.

    >>> print(integer_power(np.array([2.0, -3.0]), n=3))
    [  8. -27.]
    """,
)


def _power_of_integers(b: Any, x: Any, y: Any) -> Any:
    """Squares and products, one for each bit of `y`; XLA reads unsigned exponents as signed."""
    one, zero = b.full_like(x, 1), b.full_like(x, 0)
    minus = b.compare("LT", y, zero)
    odd = b.compare("NE", b.binary("and", y, one), zero)
    is_one, is_minus_one = (b.compare("EQ", x, b.full_like(x, n)) for n in (1, -1))
    # the whole part of 1 / x**-y
    turned = b.select(is_minus_one, b.select(odd, x, one), b.select(is_one, one, zero))
    result, rest = one, y
    for _ in range(8 * b.dtype(x).itemsize):
        chosen = b.compare("NE", b.binary("and", rest, one), zero)
        result = b.select(chosen, b.binary("multiply", result, x), result)
        x, rest = b.binary("multiply", x, x), b.binary("shift_right_logical", rest, one)
    return b.select(minus, turned, result)


def _lower_power(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
    x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
    if dtypes.is_integer(out.dtype):
        return _power_of_integers(b, x, y)
    result = b.binary("power", x, y)
    if dtypes.is_complex(out.dtype):  # XLA's 0**y is NaN
        real = b.real(y)
        vanishes = b.binary("and", _is_zero(b, x), b.compare("GT", real, b.full_like(real, 0)))
        result = b.select(vanishes, b.full_like(x, 0), result)
        return b.select(_is_zero(b, y), b.full_like(x, 1), result)
    return result


class Power(Primitive):
    """`x**y`, which looks at `y` first: a known integer makes a product."""

    def __call__(self, x: Any, y: Any, /) -> Any:
        if type(y) is int or isinstance(y, numpy.integer):
            return _power_of_known_integer(x, operator.index(y))
        return super().__call__(x, y)


def _power_of_known_integer(x: Any, n: int) -> Any:
    dtype = np.result_type(x)
    if n < 0 and dtypes.is_integer(dtype):
        raise ValueError(
            "integers to negative integer powers are not allowed: use float(x) or x.astype(float)"
        )
    return integer_power(np.astype(x, dtypes.int_type()) if dtypes.is_bool(dtype) else x, n=n)


power = pow = Power(
    "power",
    elementwise=True,
    lower=_lower_power,
    result=lambda dtype: dtypes.int_type() if dtypes.is_bool(dtype) else dtype,
    vjp=(
        lambda g, out, x, y: times(g, power_slope(x, y)),
        lambda g, out, x, y: times(g, out * np.log(np.where(x == 0, 1, x))),
    ),
    doc="""`x` to the power `y`.

    An integer `y` that is known when this runs is computed as a product, so that derivatives at
    zero are exact: `x**2` has slope 0 there, and `x**0` is constant.

    Errors: ValueError for an integer to a negative integer power.

    >>> print(np.power(np.array([2.0, 3.0]), 2))
    [4. 9.]
    """,
)


@composite(arrays=("x", "y"))
def float_power(x: Any, y: Any) -> Any:
    """`x` to the power `y`, computed in floating point.

    >>> print(np.float_power(2, -1))
    0.5
    """
    dtype = dtypes.to_inexact(np.result_type(x, y))
    return np.power(np.astype(x, dtype), np.astype(y, dtype))
