"""Signs, rounding, and the parts floating-point and complex numbers are made of."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import Primitive, composite

__all__ = [
    "abs", "absolute", "angle", "around", "ceil", "conj", "conjugate", "copysign", "fabs", "fix",
    "floor", "frexp", "heaviside", "imag", "ldexp", "nan_to_num", "nextafter", "real", "rint",
    "round", "sign", "signbit", "spacing", "trunc",
]  # fmt: skip


# ---- magnitude and sign ----


def direction(x: Any) -> Any:
    """Slope of `abs`: 1 or -1, and 1 at zero; for complex numbers conj(x) / abs(x), 0 at zero.

    >>> print(direction(np.array([-2.0, 0.0, 3.0])))
    [-1.  1.  1.]
    """
    if not np.iscomplexobj(x):
        return np.astype(np.where(x >= 0, 1, -1), np.result_type(x))
    parts = np.real(x), np.imag(x)
    at_infinity = [np.where(np.isinf(part), np.copysign(1, part), 0) for part in parts]
    x = np.where(np.isinf(np.abs(x)), from_parts(*at_infinity), x)
    size = np.abs(x)
    return np.where(size == 0, 0, over(np.conj(x), np.where(size == 0, 1, size)))


def _lower_abs(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if avals[0].dtype == bool or dtypes.category(avals[0].dtype) == "u":
        return x
    size = b.elementwise("abs", (x,), out)
    if not dtypes.is_complex(avals[0].dtype):
        return size
    infinity = b.full_like(size, numpy.inf)  # also where the other part is NaN
    parts = (b.compare("EQ", b.unary("abs", part(x)), infinity) for part in (b.real, b.imag))
    return b.select(b.binary("or", *parts), infinity, size)


abs = absolute = Primitive(
    "abs",
    elementwise=True,
    lower=_lower_abs,
    result=dtypes.real_type,
    vjp=(lambda g, out, x: np.real(g) * direction(x),),  # of a complex g only that part counts
    jvp=lambda dots, out, x: np.real(dots[0] * direction(x)),
    doc="""Absolute value; the magnitude of a complex number.

    Its derivative at zero is 1, as in JAX.

    >>> print(np.abs(np.array([-2.0, 3.0])))
    [2. 3.]
    """,
)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, direction(x)),))
def fabs(x: Any) -> Any:
    """Absolute value of real numbers, as a float.

    >>> print(np.fabs(-2))
    2.0
    """
    return np.abs(np.astype(x, dtypes.to_inexact(np.result_type(x))))


def _lower_sign(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if dtypes.category(out.dtype) in "ub":
        zero = b.full_like(x, 0)
        return b.convert(b.compare("NE", x, zero), out.dtype)
    zero = b.full_like(x, 0)
    return b.select(b.compare("EQ", x, zero), zero, b.unary("sign", x))


sign = Primitive(
    "sign",
    elementwise=True,
    lower=_lower_sign,
    vjp=(None,),
    doc="""-1, 0 or 1, as `x` is negative, zero or positive; x / abs(x) for complex numbers.

    >>> print(np.sign(np.array([-2.0, 0.0, 3.0])))
    [-1.  0.  1.]
    """,
)


def _lower_signbit(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    dtype = b.dtype(x)
    if dtypes.is_float(dtype):
        dtype = numpy.dtype(f"i{dtype.itemsize}")
        x = b.bitcast(x, dtype)
    if dtypes.category(dtype) != "i":
        return b.full(b.shape(x), False, numpy.dtype(bool))
    return b.compare("LT", x, b.full_like(x, 0))


signbit = Primitive(
    "signbit",
    elementwise=True,
    lower=_lower_signbit,
    result=bool,
    vjp=(None,),
    doc="""Whether the sign is minus, also that of -0.0.

    >>> print(np.signbit(np.array([-0.0, 0.0])))
    [ True False]
    """,
)


def _lower_copysign(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
    bits = numpy.dtype(f"i{out.dtype.itemsize}")
    x, y = b.bitcast(x, bits), b.bitcast(y, bits)
    sign_bit = b.full_like(x, numpy.iinfo(bits).min)
    magnitude = b.binary("and", x, b.unary("not", sign_bit))
    return b.bitcast(b.binary("or", magnitude, b.binary("and", y, sign_bit)), out.dtype)


copysign = Primitive(
    "copysign",
    elementwise=True,
    float_only=True,
    lower=_lower_copysign,
    vjp=(lambda g, out, x, y: times(g, direction(x) * np.where(np.signbit(y), -1, 1)), None),
    doc="""The magnitude of `x` with the sign of `y`.

    >>> print(np.copysign(2.0, -0.0))
    -2.0
    """,
)


def heaviside(x: Any, y: Any) -> Any:
    """0 for negative `x`, 1 for positive `x`, `y` at zero.

    >>> print(np.heaviside(np.array([-1.0, 0.0, 1.0]), 0.5))
    [0.  0.5 1. ]
    """
    dtype = dtypes.to_inexact(np.result_type(x, y))
    if dtypes.is_complex(dtype):
        raise TypeError("heaviside is not defined for complex numbers")
    step = np.where(x == 0, y, np.where(x > 0, 1, 0))
    return np.astype(np.where(np.isnan(x), np.nan, step), dtype)


# ---- rounding ----


def _real_only(name: str) -> Any:
    def result(dtype: numpy.dtype) -> numpy.dtype:
        if dtypes.is_complex(dtype):
            raise TypeError(f"{name} is not defined for complex numbers")
        return dtype

    return result


def _rounding(name: str, operation: str, summary: str, example: str) -> Primitive:
    def lower(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
        return b.unary(operation, x) if dtypes.is_inexact(out.dtype) else x

    doc = f"{summary}\n\n>>> print(np.{name}(np.array([-1.5, 0.5, 1.7])))\n{example}\n"
    return Primitive(
        name, elementwise=True, lower=lower, result=_real_only(name), vjp=(None,), doc=doc,
        arrays=("x",),
    )  # fmt: skip


floor = _rounding("floor", "floor", "The largest integer that is not above `x`.", "[-2.  0.  1.]")
ceil = _rounding("ceil", "ceil", "The smallest integer that is not below `x`.", "[-1.  1.  2.]")


def _lower_rint(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if not dtypes.is_complex(out.dtype):
        return b.unary("round_nearest_even", x)
    return b.complex(*(b.unary("round_nearest_even", part(x)) for part in (b.real, b.imag)))


rint = Primitive(
    "rint",
    elementwise=True,
    lower=_lower_rint,
    float_only=True,
    vjp=(None,),
    doc="""The nearest integer, halves to the even one.

    >>> print(np.rint(np.array([0.5, 1.5, 1.7])))
    [0. 2. 2.]
    """,
)


def _lower_trunc(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if not dtypes.is_float(out.dtype):
        return x
    negative = b.compare("LT", x, b.full_like(x, 0))
    return b.select(negative, b.unary("ceil", x), b.unary("floor", x))


trunc = fix = Primitive(
    "trunc",
    elementwise=True,
    lower=_lower_trunc,
    result=_real_only("trunc"),
    vjp=(None,),
    doc="""The integer part, towards zero.

    >>> print(np.trunc(np.array([-1.5, 1.7])))
    [-1.  1.]
    """,
)


@array_function(zero_derivative=True)
def round(a: Any, decimals: int = 0) -> Any:
    """To so many decimals, halves to the even digit; a negative number rounds before the point.

    >>> print(np.round(np.array([0.5, 1.5, 2.25]), 1))
    [0.5 1.5 2.2]
    """
    a = np.asarray(a)
    if np.issubdtype(a.dtype, np.integer) or a.dtype == bool:
        if decimals >= 0:
            return a
        unit = 10**-decimals
        down = np.floor_divide(a, unit)
        rest, half = a - down * unit, unit // 2
        up = (rest > half) | ((rest == half) & (down % 2 == 1))
        return (down + np.astype(up, a.dtype)) * unit
    if np.iscomplexobj(a):
        return from_parts(np.round(a.real, decimals), np.round(a.imag, decimals))
    if decimals == 0:
        return np.rint(a)
    factor = 10.0 ** numpy.abs(decimals)
    scaled = np.rint(a * factor) / factor if decimals > 0 else np.rint(a / factor) * factor
    return np.where(np.isfinite(scaled), scaled, a)


around = round


# ---- the parts of floating-point numbers ----

nextafter = Primitive(
    "nextafter",
    elementwise=True,
    float_only=True,
    lower="chlo.next_after",
    vjp=(None, None),
    arrays=("x", "y"),
    doc="""The floating-point number next to `x` in the direction of `y`.

    >>> bool(np.nextafter(1.0, 2.0) > 1.0)
    True
    """,
)


@composite(arrays=("x",), zero_derivative=True)
def spacing(x: Any) -> Any:
    """Distance from `x` to the next floating-point number away from zero.

    >>> float(np.spacing(np.float32(1.0))) == 2.0**-23
    True
    """
    x = np.astype(x, dtypes.to_inexact(np.result_type(x)))
    return np.nextafter(x, np.copysign(np.inf, x)) - x


@composite(arrays=("x", "i"))
def ldexp(x: Any, i: Any) -> Any:
    """`x * 2**i`.

    >>> print(np.ldexp(0.75, 3))
    6.0
    """
    dtype = dtypes.to_inexact(np.result_type(x))
    if dtypes.is_complex(dtype) or dtypes.is_inexact(np.result_type(i)):
        raise TypeError("ldexp needs a real x, and an i of integers")
    # in two steps, since 2**i alone may not be representable where the product is
    half = np.floor_divide(i, 2)
    powers = np.exp2(np.astype(half, dtype)), np.exp2(np.astype(i - half, dtype))
    return np.astype(x, dtype) * powers[0] * powers[1]


@composite(arrays=("x",), zero_derivative=True)
def _exponent(x: Any) -> Any:
    """The power of two such that `x` over it lies in [0.5, 1)."""
    x = np.abs(x)
    plain = np.isfinite(x) & (x > 0)
    tiny = x < np.finfo(x.dtype).tiny
    scaled = np.where(plain, np.where(tiny, x * 2.0**60, x), 1)
    guess = np.floor(np.log2(scaled)) + 1
    rest = np.ldexp(scaled, -np.astype(guess, "int32"))
    guess = np.where(rest >= 1, guess + 1, np.where(rest < 0.5, guess - 1, guess))
    return np.astype(np.where(plain, np.where(tiny, guess - 60, guess), 0), "int32")


def frexp(x: Any) -> tuple[Any, Any]:
    """Mantissa in [0.5, 1) and exponent such that `x = mantissa * 2**exponent`.

    >>> print(*np.frexp(6.0))
    0.75 3
    """
    x = np.astype(x, dtypes.to_inexact(np.result_type(x)))
    if np.iscomplexobj(x):
        raise TypeError("frexp is not defined for complex numbers")
    exponent = _exponent(x)
    return np.ldexp(x, -exponent), exponent


# ---- the parts of complex numbers ----


def _of_real_or_complex(name: str, real: Any, **declared: Any) -> Primitive:
    """A function that StableHLO has for complex numbers only; `real` is what it does to others."""

    def lower(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
        if dtypes.is_complex(avals[0].dtype):
            return declared_lower(b, x, out)
        return real(b, x)

    declared_lower = declared.pop("complex")
    return Primitive(name, elementwise=True, lower=lower, **declared)


real = _of_real_or_complex(
    "real",
    lambda b, x: x,
    complex=lambda b, x, out: b.elementwise("real", (x,), out),
    result=dtypes.real_type,
    linear=True,
    vjp=(lambda g, out, z: np.real(g),),
    doc="""Real part.

    >>> print(np.real(3.0 + 4.0j))
    3.0
    """,
)

imag = _of_real_or_complex(
    "imag",
    lambda b, x: b.full_like(x, 0),
    complex=lambda b, x, out: b.elementwise("imag", (x,), out),
    result=dtypes.real_type,
    linear=True,
    vjp=(lambda g, out, z: -1j * np.real(g),),
    doc="""Imaginary part; zero for real numbers.

    >>> print(np.imag(3.0 + 4.0j))
    4.0
    """,
)


def _conjugate(b: Any, z: Any, out: Aval) -> Any:
    part = Aval(out.shape, dtypes.real_type(out.dtype))
    real_part, imaginary = b.elementwise("real", (z,), part), b.elementwise("imag", (z,), part)
    return b.elementwise("complex", (real_part, b.unary("negate", imaginary)), out)


conj = conjugate = _of_real_or_complex(
    "conj",
    lambda b, x: x,
    complex=_conjugate,
    linear=True,
    vjp=(lambda g, out, z: np.conj(g),),
    doc="""Complex conjugate.

    >>> print(np.conj(3.0 + 4.0j))
    (3-4j)
    """,
)


from_parts = Primitive(
    "from_parts",
    elementwise=True,
    float_only=True,
    linear=True,
    lower=lambda b, x, y, *, avals, out: b.complex(x, y),
    result=lambda dtype: numpy.dtype(f"c{max(8, 2 * dtype.itemsize)}"),
    vjp=(lambda g, out, x, y: np.real(g), lambda g, out, x, y: np.real(1j * g)),
    doc="""The complex number `x + 1j * y`, with the infinities and signs of zero of its parts.

    >>> print(from_parts(-0.0, np.inf))
    (-0+infj)
    """,
)


@composite(arrays=("z",))
def angle(z: Any, deg: bool = False) -> Any:
    """Angle of a complex number in the plane, in radians, or degrees if asked for.

    >>> print(np.angle(1.0j, deg=True))
    90.0
    """
    if not np.iscomplexobj(z):
        if not np.issubdtype(np.result_type(z), np.floating):
            z = np.astype(z, dtypes.float_type())
        result = np.where(np.isnan(z), z, np.where(np.signbit(z), np.pi, 0.0)).astype(z.dtype)
    else:
        result = np.arctan2(np.imag(z), np.real(z))
    return np.rad2deg(result) if deg else result


@composite(arrays=("x", "nan", "posinf", "neginf"))
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Numbers in place of NaN (0) and of infinities (the largest and smallest of the dtype).

    >>> print(np.nan_to_num(np.array([1.0, np.nan]), nan=-1.0))
    [ 1. -1.]
    """
    x = np.asarray(x)
    if np.iscomplexobj(x):
        parts = [np.nan_to_num(part, copy, nan, posinf, neginf) for part in (x.real, x.imag)]
        return from_parts(*parts)
    if not np.issubdtype(x.dtype, np.floating):
        return x
    limits = np.finfo(x.dtype)
    x = np.where(np.isnan(x), np.astype(nan, x.dtype), x)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    x = np.where(x == np.inf, np.astype(high, x.dtype), x)
    return np.where(x == -np.inf, np.astype(low, x.dtype), x)
