"""Comparisons, logic, bits, and questions about values; none of them has a derivative."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.array_function import array_function
from overt.runtime.primitive import Primitive

__all__ = [
    "allclose", "array_equal", "array_equiv", "bitwise_and", "bitwise_count", "bitwise_invert",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "equal", "gcd", "greater", "greater_equal", "invert", "isclose", "iscomplex", "iscomplexobj",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "lcm",
    "left_shift", "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor",
    "not_equal", "right_shift",
]  # fmt: skip


# ---- comparisons ----


class Comparison(Primitive):
    """Takes values as they are: an integer that the array's dtype cannot hold is not wrapped."""

    def __call__(self, x: Any, y: Any, /) -> Any:
        if type(y) is int:
            y = _in_a_dtype_that_holds(y, x)
        elif type(x) is int:
            x = _in_a_dtype_that_holds(x, y)
        return super().__call__(x, y)


def _in_a_dtype_that_holds(number: int, other: Any) -> Any:
    dtype = getattr(other, "dtype", None)
    if dtype is None or not dtypes.is_integer(dtype):
        return number
    limits = dtypes.iinfo(dtype)
    if limits.min <= number <= limits.max:
        return number
    for wide in (numpy.int32, numpy.uint32, dtypes.int_type().type):
        limits = dtypes.iinfo(wide)
        if limits.min <= number <= limits.max:
            return wide(number)
    return float(number)


def _comparison(name: str, direction: str, summary: str, example: str) -> Comparison:
    def lower(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
        if dtypes.is_complex(b.dtype(x)) and direction not in ("EQ", "NE"):
            return _compare_complex(b, direction, x, y)
        return b.compare(direction, x, y)

    doc = f"{summary}\n\n>>> print(np.{name}(np.array([1, 2, 3]), 2))\n{example}\n"
    return Comparison(
        name, elementwise=True, lower=lower, result=bool, vjp=(None, None), doc=doc,
        arrays=("x", "y"),
    )  # fmt: skip


def _compare_complex(b: Any, direction: str, x: Any, y: Any) -> Any:
    """By the real parts, then by the imaginary ones, as NumPy orders complex numbers."""
    x_real, y_real = b.real(x), b.real(y)
    later = b.binary(
        "and", b.compare("EQ", x_real, y_real), b.compare(direction, b.imag(x), b.imag(y))
    )
    result = b.binary("or", b.compare(direction[:1] + "T", x_real, y_real), later)
    for part in (b.imag(x), b.imag(y)):  # the real parts may decide, and NaN is still unordered
        result = b.binary("and", result, b.compare("EQ", part, part))
    return result


equal = _comparison("equal", "EQ", "Whether `x == y`.", "[False  True False]")
not_equal = _comparison("not_equal", "NE", "Whether `x != y`.", "[ True False  True]")
less = _comparison("less", "LT", "Whether `x < y`.", "[ True False False]")
less_equal = _comparison("less_equal", "LE", "Whether `x <= y`.", "[ True  True False]")
greater = _comparison("greater", "GT", "Whether `x > y`.", "[False False  True]")
greater_equal = _comparison("greater_equal", "GE", "Whether `x >= y`.", "[False  True  True]")


# ---- logic on truth values: anything but zero is true ----


def _logical(name: str, operation: str, example: str) -> Primitive:
    def lower(b: Any, x: Any, y: Any, *, avals: Any, out: Any) -> Any:
        return b.binary(operation, b.convert(x, bool), b.convert(y, bool))

    doc = (
        f"Logical {operation} of truth values; numbers other than zero are true.\n\n"
        f">>> print(np.{name}(np.array([True, False]), True))\n{example}\n"
    )
    return Comparison(
        name, elementwise=True, lower=lower, result=bool, vjp=(None, None), doc=doc,
        arrays=("x", "y"),
    )  # fmt: skip


logical_and = _logical("logical_and", "and", "[ True False]")
logical_or = _logical("logical_or", "or", "[ True  True]")
logical_xor = _logical("logical_xor", "xor", "[False  True]")
logical_not = Primitive(
    "logical_not",
    elementwise=True,
    lower=lambda b, x, *, avals, out: b.unary("not", b.convert(x, bool)),
    result=bool,
    vjp=(None,),
    doc="""Whether `x` is false, or zero.

    >>> print(np.logical_not(np.array([True, False])))
    [False  True]
    """,
)


# ---- bits ----


def _bits_of(name: str) -> Any:
    def result(dtype: numpy.dtype) -> numpy.dtype:
        if dtypes.is_inexact(dtype):
            raise TypeError(f"{name} needs integers or booleans, got {dtype.name}")
        return dtype

    return result


def _bitwise(name: str, operation: str, example: str) -> Primitive:
    doc = (
        f"Bitwise {operation} of integers; of booleans, the logical one.\n\n"
        f">>> print(np.{name}(np.array([1, 2, 3]), 2))\n{example}\n"
    )
    return Primitive(
        name, elementwise=True, lower=operation, result=_bits_of(name), vjp=(None, None), doc=doc,
        arrays=("x", "y"),
    )  # fmt: skip


bitwise_and = _bitwise("bitwise_and", "and", "[0 2 2]")
bitwise_or = _bitwise("bitwise_or", "or", "[3 2 3]")
bitwise_xor = _bitwise("bitwise_xor", "xor", "[3 0 1]")

invert = bitwise_not = bitwise_invert = Primitive(
    "invert",
    elementwise=True,
    lower="not",
    result=_bits_of("invert"),
    vjp=(None,),
    doc="""Every bit flipped; for booleans, `not`.

    >>> print(np.invert(np.array([0, 5])))
    [-1 -6]
    """,
)


def _shift_result(name: str) -> Any:
    def result(dtype: numpy.dtype) -> numpy.dtype:
        dtype = _bits_of(name)(dtype)
        return dtypes.int_type() if dtypes.is_bool(dtype) else dtype

    return result


def _lower_shift(operation: str) -> Any:
    def lower(b: Any, x: Any, n: Any, *, avals: Any, out: Any) -> Any:
        x, n = b.convert(x, out.dtype), b.convert(n, out.dtype)
        signed = dtypes.category(out.dtype) == "i"
        if operation == "right":
            kind = "shift_right_arithmetic" if signed else "shift_right_logical"
            return b.binary(kind, x, n)
        return b.binary("shift_left", x, n)

    return lower


left_shift = bitwise_left_shift = Primitive(
    "left_shift",
    elementwise=True,
    lower=_lower_shift("left"),
    result=_shift_result("left_shift"),
    vjp=(None, None),
    arrays=("x", "n"),
    doc="""`x << n`: bits moved to the left.

    >>> print(np.left_shift(np.array([1, 2]), 3))
    [ 8 16]
    """,
)

right_shift = bitwise_right_shift = Primitive(
    "right_shift",
    elementwise=True,
    lower=_lower_shift("right"),
    result=_shift_result("right_shift"),
    vjp=(None, None),
    arrays=("x", "n"),
    doc="""`x >> n`: bits moved to the right, keeping the sign.

    >>> print(np.right_shift(np.array([16, -16]), 3))
    [ 2 -2]
    """,
)


def _lower_bitwise_count(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    kind = dtypes.category(avals[0].dtype)
    if kind != "b":
        x = b.unary("popcnt", b.unary("abs", x) if kind == "i" else x)
    return b.convert(x, out.dtype)


bitwise_count = Primitive(
    "bitwise_count",
    elementwise=True,
    lower=_lower_bitwise_count,
    result=lambda dtype: numpy.dtype("uint8") if _bits_of("bitwise_count")(dtype) else None,
    vjp=(None,),
    doc="""How many bits of the magnitude are set.

    >>> print(np.bitwise_count(np.array([0, 5, -7])))
    [0 2 3]
    """,
)


def _integers_only(*arrays: Any) -> Any:
    dtype = np.result_type(*arrays)
    if not dtypes.is_integer(dtype):
        raise TypeError(f"gcd and lcm need integers, got {dtype.name}")
    return np.broadcast_arrays(*(np.astype(x, dtype) for x in arrays))


def gcd(x: Any, y: Any, /) -> Any:
    """Greatest common divisor.

    >>> print(np.gcd(12, 18))
    6
    """
    from overt.runtime.control import while_loop

    x, y = _integers_only(x, y)

    def step(x: Any, y: Any) -> Any:
        return np.where(y == 0, x, y), np.where(y == 0, 0, np.remainder(x, y))

    return while_loop(lambda x, y: np.any(y != 0), step, (np.abs(x), np.abs(y)))[0]


def lcm(x: Any, y: Any, /) -> Any:
    """Least common multiple.

    >>> print(np.lcm(4, 6))
    12
    """
    x, y = _integers_only(x, y)
    x, y = np.abs(x), np.abs(y)
    return np.floor_divide(x, np.maximum(np.gcd(x, y), 1)) * y


# ---- questions about every element ----


def _of_parts(b: Any, x: Any, test: Any, combine: str) -> Any:
    """A test of real numbers, applied to both parts of complex ones."""
    if dtypes.is_complex(b.dtype(x)):
        return b.binary(combine, test(b.real(x)), test(b.imag(x)))
    return test(x)


def lower_isfinite(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if not dtypes.is_inexact(b.dtype(x)):
        return b.full(out.shape, True, bool)
    return _of_parts(b, x, lambda v: b.elementwise("is_finite", (v,), out), "and")


def _lower_isinf(b: Any, x: Any, *, avals: Any, out: Any) -> Any:
    if not dtypes.is_inexact(b.dtype(x)):
        return b.full(out.shape, False, bool)
    infinite = lambda v: b.compare("EQ", b.unary("abs", v), b.full_like(v, numpy.inf))  # noqa: E731
    return _of_parts(b, x, infinite, "or")


def _question(name: str, lower: Any, summary: str, example: str) -> Primitive:
    doc = f"{summary}\n\n>>> print(np.{name}(np.array([0.0, np.inf, np.nan])))\n{example}\n"
    return Primitive(
        name, elementwise=True, lower=lower, result=bool, vjp=(None,), doc=doc, arrays=("x",)
    )


isnan = _question(
    "isnan",
    lambda b, x, *, avals, out: b.compare("NE", x, x),
    "Whether `x` is not a number.",
    "[False False  True]",
)
isinf = _question("isinf", _lower_isinf, "Whether `x` is infinite.", "[False  True False]")
isfinite = _question(
    "isfinite", lower_isfinite, "Whether `x` is neither infinite nor NaN.", "[ True False False]"
)


def _ordered(name: str, x: Any) -> Any:
    if dtypes.is_complex(np.result_type(x)):
        raise TypeError(f"{name} is not defined for complex numbers, which have no order")
    return x


def isposinf(x: Any, /) -> Any:
    """Whether `x` is positive infinity.

    >>> print(np.isposinf(np.array([-np.inf, np.inf])))
    [False  True]
    """
    return np.equal(_ordered("isposinf", x), np.inf)


def isneginf(x: Any, /) -> Any:
    """Whether `x` is negative infinity.

    >>> print(np.isneginf(np.array([-np.inf, np.inf])))
    [ True False]
    """
    return np.equal(_ordered("isneginf", x), -np.inf)


def iscomplex(x: Any) -> Any:
    """Whether the imaginary part is not zero.

    >>> print(np.iscomplex(np.array([1.0, 1.0j])))
    [False  True]
    """
    return np.not_equal(np.imag(np.asarray(x)), 0)


def isreal(x: Any) -> Any:
    """Whether the imaginary part is zero.

    >>> print(np.isreal(np.array([1.0, 1.0j])))
    [ True False]
    """
    return np.equal(np.imag(np.asarray(x)), 0)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of `x` is complex.

    >>> np.iscomplexobj(1j)
    True
    """
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        return dtypes.is_complex(dtype)
    if isinstance(x, (list, tuple)):
        return any(map(np.iscomplexobj, x))
    return isinstance(x, complex)


def isrealobj(x: Any) -> bool:
    """Whether the dtype of `x` is not complex.

    >>> np.isrealobj(1j)
    False
    """
    return not np.iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether `element` is a number, a string, or an array without axes.

    >>> np.isscalar(1.0), np.isscalar(np.array([1.0]))
    (True, False)
    """
    return numpy.isscalar(element) or (hasattr(element, "aval") and element.ndim == 0)


@array_function(arrays=("a", "b"), zero_derivative=True)
def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether `|a - b| <= atol + rtol * |b|`.

    >>> print(np.isclose(1.0, np.array([1.0, 1.1])))
    [ True False]
    """
    a, b = np.asarray(a), np.asarray(b)
    dtype = dtypes.to_inexact(np.result_type(a, b))
    a, b = np.astype(a, dtype), np.astype(b, dtype)
    near = np.abs(a - b) <= atol + rtol * np.abs(b)
    result = np.where(np.isfinite(a) & np.isfinite(b), near, a == b)
    return result | (np.isnan(a) & np.isnan(b)) if equal_nan else result


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether all elements are close, in the sense of `isclose`.

    >>> bool(np.allclose(np.array([1.0, 2.0]), 1.0))
    False
    """
    return np.all(np.isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have the same shape and elements.

    >>> bool(np.array_equal([1, 2], np.array([1, 2])))
    True
    """
    a1, a2 = np.asarray(a1), np.asarray(a2)
    if a1.shape != a2.shape:
        return np.array(False)
    same = a1 == a2
    return np.all(same | (np.isnan(a1) & np.isnan(a2)) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays are equal after broadcasting.

    >>> bool(np.array_equiv([2, 2], 2))
    True
    """
    a1, a2 = np.asarray(a1), np.asarray(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return np.array(False)
    return np.all(a1 == a2)
