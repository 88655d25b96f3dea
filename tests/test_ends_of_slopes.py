"""Slopes at the ends of the range, where squares overflow and differences cancel."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

import overt
import overt.nn as nn
import overt.numpy as np
import overt.scipy.special as special

# Functions, points and slopes there, exact but for the last digits of a float32.
CASES: list[tuple[Any, float, float]] = [
    (np.arcsinh, 3e19, 1 / 3e19), (np.arcsinh, -1e30, 1e-30), (np.arcsinh, 0.75, 0.8),
    (np.arccosh, 3e19, 1 / 3e19), (np.arccosh, 1.25, 1 / 0.75), (np.arccosh, 1e30, 1e-30),
    (np.arctan, 1e30, 0.0), (np.hypot, 1e30, 0.0), (special.digamma, 1e30, 1e-30),
    (special.digamma, 1.0, numpy.pi**2 / 6), (special.i1, 1e-30, 0.5), (special.i1, 1e-38, 0.5),
    (special.spence, 2.0, -numpy.log(2.0)), (nn.log_sigmoid, 20.0, 2.0611537e-9),
    (nn.log_sigmoid, -20.0, 1.0), (nn.silu, 20.0, 1.0 + 20 * 2.0611537e-9),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wanted"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_slopes(f: Any, x: float, wanted: float) -> None:
    if f is np.hypot:
        f, wanted = (lambda x: np.hypot(x, 2e30)), 1 / 5**0.5
    slope = overt.grad(f)
    for found in (slope(x), overt.jit(slope)(x), overt.jvp(f, (x,), (1.0,))[1]):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=0)


def test_complex_arccosh_on_the_left() -> None:
    z = np.asarray(-2.0 - 0.5j)
    found = overt.grad(np.arccosh, holomorphic=True)(z)
    h = 1e-6
    z = complex(z)
    numpy.testing.assert_allclose(
        found, (numpy.arccosh(z + h) - numpy.arccosh(z - h)) / (2 * h), rtol=1e-4
    )


def test_dilogarithm_of_the_smallest_number() -> None:
    numpy.testing.assert_allclose(special.spence(np.float32(3e-45)), numpy.pi**2 / 6, rtol=1e-6)


def at_the_origin(x: Any, y: Any) -> Any:
    return np.hypot(x, y) * 2.0


def test_hypot_has_no_slope_at_the_origin() -> None:
    for f in (at_the_origin, lambda x, y: 2.0 * math.hypot(x, y)):
        for grad in (overt.grad(f, (0, 1)), overt.jit(overt.grad(f, (0, 1)))):
            assert [float(v) for v in grad(0.0, 0.0)] == [0.0, 0.0]
            numpy.testing.assert_allclose(grad(3.0, -4.0), [1.2, -1.6], rtol=1e-6)
        assert float(overt.jvp(f, (0.0, 0.0), (1.0, 1.0))[1]) == 0.0
        numpy.testing.assert_allclose(overt.grad(overt.grad(f))(3.0, 4.0), 0.256, rtol=1e-5)


@pytest.mark.parametrize("name", ["max", "min"])
def test_parts_no_larger_or_smaller_than_a_number(name: str) -> None:
    weights = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        part = x.at[1:]
        return np.sum(getattr(x.at[0], name)(0.5) * weights) + np.sum(
            (part.max(0.5) if name == "max" else part.min(0.5)) * weights
        )

    x = numpy.array([0.1, 0.9, 0.3], "float32")
    kept = x > 0.5 if name == "max" else x < 0.5
    wanted = numpy.array([1.0, 2.0, 3.0]) * [kept[0], 1, 1] + [1.0, 2.0 * kept[1], 3.0 * kept[2]]
    for found in (overt.grad(f)(x), overt.jit(overt.grad(f))(x), overt.jacfwd(f)(x)):
        numpy.testing.assert_allclose(found, wanted)


def scaled(x: Any, a: Any, b: Any) -> Any:
    return x * a + b * x


def test_iterators_spread_into_calls() -> None:
    def f(x: Any) -> Any:
        return scaled(x, *map(lambda c: c * 2.0, [1.0, 2.0]))

    for found in (overt.grad(f)(3.0), overt.jvp(f, (3.0,), (1.0,))[1], overt.jacfwd(f)(3.0)):
        assert float(found) == 6.0


def quotient(x: Any, y: Any) -> Any:
    return x / y


def angle(y: Any, x: Any) -> Any:
    return np.arctan2(y, x)


def turned(y: float, x: float) -> tuple[float, float]:
    """Slopes of the angle with respect to y: the first and the second."""
    size = numpy.hypot(x, y)
    return x / size / size, -2 * (x / size / size) * (y / size / size)


# Functions, numbers of a dtype, and the first and second slope of the last argument but for
# arctan2, whose first one moves.
FAR: list[tuple[Any, str, float, float]] = [
    (quotient, "float16", 6e4, 300.0), (quotient, "float16", 1e-6, 1e-4),
    (quotient, "float32", 1e38, 3e19), (quotient, "float32", 1e-25, 1e-20),
    (quotient, "float32", 0.0, 1e-25), (angle, "float16", 200.0, 300.0),
    (angle, "float32", 2e19, 3e19), (angle, "float32", 1e-21, 2e-21),
]  # fmt: skip


@pytest.mark.parametrize(("f", "dtype", "x", "y"), FAR)
def test_squares_of_divisors_are_not_taken(f: Any, dtype: str, x: float, y: float) -> None:
    args = [numpy.array(v, dtype) for v in (x, y)]
    x, y = (float(v) for v in args)
    if f is quotient:
        wanted, place = (-x / y / y, 2 * x / y / y / y), 1
    else:
        wanted, place = turned(x, y), 0
    slope = overt.grad(f, place)
    dots = [numpy.array(float(k == place), dtype) for k in range(2)]
    rtol = 3e-3 if dtype == "float16" else 1e-5
    for found in (slope(*args), overt.jit(slope)(*args), overt.jvp(f, args, dots)[1]):
        numpy.testing.assert_allclose(found, wanted[0], rtol=rtol, atol=0)
    second = overt.jit(overt.grad(slope, place))(*args)
    limits = numpy.finfo(dtype)
    largest, smallest = float(limits.max), 100 * float(limits.tiny)
    if abs(wanted[1]) < largest and not 0 < abs(wanted[1]) < smallest:
        numpy.testing.assert_allclose(second, wanted[1], rtol=3 * rtol, atol=0)


def test_compiled_quotients_of_quotients_are_computed_as_they_stand() -> None:
    x, y = numpy.array(3e4, "float16"), numpy.array(300.0, "float16")
    for f in (lambda x, y: x / y / y, lambda x, y: y / (x / y), lambda x, y: x / np.stack([y]) / y):
        wanted = f(float(x), float(y))
        numpy.testing.assert_allclose(overt.jit(f)(x, y), wanted, rtol=3e-3)


def chained(x: Any) -> Any:
    first = np.logaddexp(x[0], x[1])
    return first + np.logaddexp(np.logaddexp(x[2], x[3]), x[0])


def test_sums_of_exponentials_that_are_all_zero() -> None:
    x = numpy.array([0.5, -numpy.inf, -numpy.inf, -numpy.inf], "float32")
    for f in (chained, lambda x: np.sum(chained(x))):
        for slope in (overt.grad(f), overt.jit(overt.grad(f)), overt.jacfwd(f)):
            numpy.testing.assert_allclose(slope(x), [2.0, 0.0, 0.0, 0.0])
    for f, rate in ((np.logaddexp, 1.0), (np.logaddexp2, numpy.log(2.0))):
        assert float(overt.grad(f)(numpy.inf, 0.0)) == 1.0
        for level in (-numpy.inf, -2.0, 1e8, numpy.inf):  # f(x, x) is x and a constant
            assert overt.grad(f, (0, 1))(level, level) == (0.5, 0.5)
        share = 1 / (1 + numpy.exp(-rate))
        numpy.testing.assert_allclose(overt.grad(f)(2.0, 1.0), share, rtol=1e-6)
        second = overt.grad(overt.grad(f))(2.0, 1.0)
        numpy.testing.assert_allclose(second, rate * share * (1 - share), rtol=1e-5)


INF, NAN = numpy.inf, numpy.nan
MASK = numpy.array([True, True, False])


@pytest.mark.parametrize(
    ("f", "x", "wanted"),
    [
        (special.logsumexp, [INF, 1.0, 0.0], [1.0, 0.0, 0.0]),
        (special.logsumexp, [INF, INF, 0.0], [0.5, 0.5, 0.0]),
        (special.logsumexp, [-INF, -INF, -INF], [1 / 3, 1 / 3, 1 / 3]),
        (special.logsumexp, [-INF, 0.0, -INF], [0.0, 1.0, 0.0]),
        (special.logsumexp, [NAN, 0.0, 1.0], [NAN, NAN, NAN]),
        (np.max, [NAN, 1.0, 5.0], [NAN, NAN, NAN]),
        (lambda x: np.min(x, where=MASK, initial=INF), [NAN, 1.0, 5.0], [NAN, NAN, 0.0]),
        (lambda x: np.max(x, where=MASK, initial=-INF), [1.0, 1.0, NAN], [0.5, 0.5, 0.0]),
    ],
)
def test_slopes_that_infinities_and_nan_leave(f: Any, x: list[float], wanted: list[float]) -> None:
    point = numpy.array(x, "float32")
    for slope in (overt.grad(f), overt.jit(overt.grad(f)), overt.jacfwd(f)):
        numpy.testing.assert_allclose(slope(point), wanted, rtol=1e-6)


def test_slopes_of_roots_at_their_ends() -> None:
    slopes = overt.grad(np.arccosh), overt.grad(overt.grad(np.arccosh))
    assert [float(s(1.0)) for s in slopes] == [INF, -INF]
    assert [float(s(INF)) for s in slopes] == [0.0, 0.0]
    assert float(special.logsumexp(numpy.full(3, -INF), return_sign=True)[1]) == 0.0


def test_second_slopes_where_definitions_meet() -> None:
    second = overt.grad(overt.grad(special.log_ndtr))
    numpy.testing.assert_allclose(second(0.0), -2 / numpy.pi, rtol=1e-6)
    for x in (0.0, 1e-19, 1e-9, -1e-6, 1e-3):
        slopes = [overt.grad(special.i1)]
        slopes += [overt.grad(slopes[0])]
        slopes += [overt.grad(slopes[1])]
        wanted = [0.5 + 3 * x**2 / 16, 3 * x / 8, 3 / 8 + 5 * x**2 / 32]
        found = [float(d(x)) for d in slopes]
        numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-30)
        scaled = overt.grad(overt.grad(special.i1e))(x)  # of exp(-abs(x)) * (x / 2 + x**3 / 16)
        numpy.testing.assert_allclose(scaled, -numpy.sign(x) + 15 * x / 8, rtol=1e-5, atol=1e-5)
    third = overt.grad(overt.grad(overt.grad(special.i0)))
    assert float(third(0.0)) == 0.0
    assert float(overt.grad(overt.grad(np.cbrt))(numpy.inf)) == 0.0


@pytest.mark.parametrize(("p", "q"), [(5.5, 1e4), (0.001, 6e4), (6e4, 0.001), (2.0, 3.0)])
def test_relative_entropy_of_far_numbers(p: float, q: float) -> None:
    args = [numpy.array(v, "float16") for v in (p, q)]
    p, q = (float(v) for v in args)
    slopes = overt.jit(overt.grad(special.rel_entr, (0, 1)))(*args)
    numpy.testing.assert_allclose(slopes[0], numpy.log(p / q) + 1, rtol=2e-3)
    if p / q < 6e4:
        numpy.testing.assert_allclose(slopes[1], -p / q, rtol=2e-3, atol=1e-7)


def test_gelu_where_cubes_overflow() -> None:
    x = numpy.array([-100.0, -25.0, 25.0, 100.0, 6e4], "float16")
    for k, f in enumerate((nn.gelu, overt.grad(nn.gelu), overt.grad(overt.grad(nn.gelu)))):
        found = numpy.asarray(overt.vmap(f)(x), "float64")
        wanted = (numpy.maximum(x, 0), x > 0, 0 * x)[k]
        numpy.testing.assert_allclose(found, wanted)
