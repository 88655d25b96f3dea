"""Infinities, NaN, signed zeros, overflow: elementwise functions against NumPy and cmath."""

from __future__ import annotations

import cmath
import contextlib
import itertools
import math
import warnings

import numpy
import pytest

import overt.numpy as np

INF, NAN = math.inf, math.nan
REALS = numpy.array(
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.5, 3.0, 1e9, -1e9, 1e-9, INF, -INF, NAN],
    "float32",
)  # fmt: skip
PARTS = (0.0, -0.0, 1.0, -0.5, 2.0, INF, -INF, NAN)
ONE_REAL = (
    "abs exp exp2 expm1 log log2 log10 log1p sqrt cbrt square sign sin cos tan arcsin arccos "
    "arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil rint trunc signbit isnan isinf "
    "isfinite negative reciprocal degrees radians logical_not"
).split()
TWO_REAL = (
    "add subtract multiply divide power remainder fmod floor_divide arctan2 hypot copysign "
    "fmax fmin logaddexp less less_equal greater greater_equal equal not_equal nextafter "
    "heaviside"
).split()
COMPLEX = "exp log sqrt sinh cosh tanh asinh acosh acos asin atan atanh sin cos tan".split()


def same(x: float, y: float, sign: bool = True) -> bool:
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    if not sign:
        x, y = abs(x), abs(y)
    close = math.isclose(x, y, rel_tol=3e-6, abs_tol=1e-38)
    return close and math.copysign(1, x) == math.copysign(1, y)


def quiet(function, *args):
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args)


@pytest.mark.parametrize("name", ONE_REAL)
def test_function_of_one_real(name):
    got = numpy.asarray(getattr(np, name)(REALS))
    want = quiet(getattr(numpy, name), REALS)
    for x, a, b in zip(REALS, got, want, strict=True):
        assert same(float(a), float(b)), f"{name}({x}) gave {a}, not {b}"


@pytest.mark.parametrize("name", TWO_REAL)
def test_function_of_two_reals(name):
    x, y = numpy.array(list(itertools.product(REALS, REALS))).T
    got = numpy.asarray(getattr(np, name)(x, y))
    want = quiet(getattr(numpy, name), x, y)
    for p, q, a, b in zip(x, y, got, want, strict=True):
        assert same(float(a), float(b)), f"{name}({p}, {q}) gave {a}, not {b}"


def unspecified(name: str, z: complex, want: complex) -> tuple[bool, bool]:
    """Whether the standard leaves the sign of the (real, imaginary) part of a result open."""
    wild = not math.isfinite(z.real) or not math.isfinite(z.imag)
    either = wild and (cmath.isnan(want) or cmath.isinf(want) or cmath.isinf(z))
    return either and name not in ("asinh", "atanh"), either


def oracles(name: str, z: complex):
    """What cmath (C99) and NumPy (the C library's) give; C23 revised a few of C99's values."""
    with contextlib.suppress(ValueError, OverflowError):  # cmath refuses where IEEE answers
        yield getattr(cmath, name)(z)
    yield complex(quiet(getattr(numpy, name), numpy.complex128(z)))


@pytest.mark.parametrize("name", COMPLEX)
def test_function_of_a_complex_number(name):
    points = [complex(x, y) for x in PARTS for y in PARTS]
    got = numpy.asarray(getattr(np, name)(numpy.array(points, "complex64")))
    for z, a in zip(points, got, strict=True):
        found = []
        for want in oracles(name, z):
            open_real, open_imaginary = unspecified(name, z, want)
            real = same(a.real, want.real, not open_real)
            found.append(real and same(a.imag, want.imag, not open_imaginary))
        assert any(found), f"{name}({z}) gave {a}, not {want}"


def test_abs_and_sign_of_complex_numbers():
    z = numpy.array([complex(INF, NAN), complex(NAN, -INF), complex(-0.0, -0.0), 3 - 4j])
    assert np.array_equal(np.abs(z), [INF, INF, 0.0, 5.0])
    signs = numpy.asarray(np.sign(z[2:]))
    assert numpy.allclose(signs, [0, 0.6 - 0.8j])
    assert not numpy.signbit(signs[0].real) and not numpy.signbit(signs[0].imag)


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal"])
def test_nan_is_unordered_in_either_part(name):
    points = numpy.array([complex(x, y) for x in (0.0, 1.0, NAN) for y in (0.0, 1.0, NAN)])
    x, y = numpy.array(list(itertools.product(points, points))).T
    assert np.array_equal(getattr(np, name)(x, y), quiet(getattr(numpy, name), x, y))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_powers_of_integers_wrap_as_in_numpy(dtype):
    limits = numpy.iinfo(dtype)
    bases = numpy.array([0, 1, 2, 3, 7, 31, limits.max, limits.min], dtype)
    powers = numpy.array([0, 1, 2, 5, 63, limits.max - 1, limits.max], dtype)
    x, y = numpy.array(list(itertools.product(bases, powers)), dtype).T
    assert np.array_equal(np.power(x, y), x**y)


def test_integer_to_a_negative_power_is_the_whole_part():
    x = np.array([1, -1, -1, 2, 0])
    assert np.array_equal(np.power(x, np.array([-3, -3, -2, -1, -1])), [1, -1, 1, 0, 0])


@pytest.mark.parametrize("x", [-2.5, -0.0, 0.0, -INF, 3.0, -3.0])
def test_modf_keeps_the_sign(x):
    for a, b in zip(np.modf(x), numpy.modf(x), strict=True):
        assert same(float(a), float(b))


def test_parts_of_a_complex_result_do_not_mix():
    z = numpy.array([complex(-0.0, 0.4), complex(INF, -0.5), complex(1.0, -INF)])
    for name in ("round", "rint"):
        got, want = numpy.asarray(getattr(np, name)(z)), getattr(numpy, name)(z)
        for a, b in zip(got, want, strict=True):
            assert same(a.real, b.real) and same(a.imag, b.imag)
