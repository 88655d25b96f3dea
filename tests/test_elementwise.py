"""Elementwise functions: values against NumPy, derivatives against differences, batching."""

from __future__ import annotations

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt.runtime.numpy as np
from overt.runtime.dual import jvp_call
from overt.runtime.numpy.elementwise import rsqrt
from overt.runtime.record import vjp_call

POINTS = numpy.array([-2.3, -1.2, -0.4, 0.3, 0.7, 1.6])
INSIDE = numpy.array([-0.9, -0.4, 0.2, 0.7])
POSITIVE = numpy.array([0.2, 0.9, 1.4, 3.7])
ABOVE_ONE = numpy.array([1.2, 1.9, 3.0])
INTEGERS = numpy.array([-3, -1, 0, 2, 5])
SPECIAL = numpy.array([-numpy.inf, -0.0, 0.0, 1.0, numpy.inf, numpy.nan])

ONE = {
    "negative": POINTS, "positive": POINTS, "square": POINTS, "reciprocal": POINTS, "exp": POINTS,
    "exp2": POINTS, "expm1": POINTS, "log": POSITIVE, "log2": POSITIVE, "log10": POSITIVE,
    "log1p": INSIDE, "sqrt": POSITIVE, "cbrt": POINTS, "sin": POINTS, "cos": POINTS, "tan": INSIDE,
    "arcsin": INSIDE, "arccos": INSIDE, "arctan": POINTS, "sinh": POINTS, "cosh": POINTS,
    "tanh": POINTS, "arcsinh": POINTS, "arccosh": ABOVE_ONE, "arctanh": INSIDE, "abs": POINTS,
    "fabs": POINTS, "deg2rad": POINTS, "rad2deg": POINTS, "sinc": POINTS, "real": POINTS,
    "imag": POINTS, "conj": POINTS, "angle": POINTS, "nan_to_num": POINTS,
}  # fmt: skip
STEPS = ["sign", "floor", "ceil", "rint", "round", "trunc", "spacing"]
QUESTIONS = ["isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit", "logical_not"]
TWO = [
    "add", "subtract", "multiply", "divide", "remainder", "fmod", "arctan2", "hypot", "logaddexp",
    "logaddexp2", "maximum", "minimum", "fmax", "fmin", "copysign",
]  # fmt: skip
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm"]


def scaled_rsqrt(x):
    return rsqrt(x * x + 0.5)


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


@pytest.mark.parametrize("name", [*ONE, *STEPS, *QUESTIONS])
def test_values_of_one(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    with numpy.errstate(all="ignore"):
        x = numpy.concatenate([ONE.get(name, POINTS), SPECIAL])
        assert_same(ours(x), theirs(x), 1e-12, name)
        if name not in ("spacing", "reciprocal"):
            assert_same(ours(INTEGERS), theirs(INTEGERS), 1e-12, f"{name} of integers")


@pytest.mark.parametrize("name", ONE)
def test_derivatives_of_one(name):
    check_derivatives(getattr(np, name), ONE[name], order=2)


def test_derivatives_of_rsqrt():
    check_derivatives(rsqrt, POSITIVE, order=2)


@pytest.mark.parametrize("name", [*ONE, "floor"])
def test_batches_of_one(name):
    points = ONE.get(name, POINTS)
    check_batch(getattr(np, name), numpy.stack([points, points[::-1]]))


@pytest.mark.parametrize("name", [*TWO, "floor_divide", "heaviside", "nextafter"])
def test_values_of_two(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    x = numpy.concatenate([POINTS, SPECIAL])
    with numpy.errstate(all="ignore"):
        assert_same(ours(x[:, None], x), theirs(x[:, None], x), 1e-12, name)
        assert_same(ours(INTEGERS[:, None], INTEGERS), theirs(INTEGERS[:, None], INTEGERS), 1e-12)
        assert_same(ours(2.5, x), theirs(2.5, x), 1e-12)


@pytest.mark.parametrize("name", TWO)
def test_derivatives_of_two(name):
    y = numpy.array([[1.17], [-0.63]])
    check_derivatives(getattr(np, name), POINTS, y, order=2)


@pytest.mark.parametrize("name", [*TWO, "power", "less"])
def test_batches_of_two(name):
    x = numpy.array([[0.3, 0.7, 1.6], [1.2, 0.4, 2.3]])
    check_batch(getattr(np, name), x, numpy.array([1.1, 0.6]))


@pytest.mark.parametrize("name", [*COMPARISONS, "logical_and", "logical_or", "logical_xor"])
def test_comparisons(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    x = numpy.concatenate([POINTS, SPECIAL])
    assert_same(ours(x[:, None], x), theirs(x[:, None], x))
    z = numpy.array([1 + 2j, 1 - 2j, 2 + 0j])
    assert_same(ours(z[:, None], z), theirs(z[:, None], z))


@pytest.mark.parametrize("name", COMPARISONS)
def test_integers_are_compared_by_value(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for left, right in [
        (numpy.uint32([1, 4294967295]), numpy.int32([-1, -1])),
        (numpy.uint8([1, 255]), 300),
        (numpy.uint8([1, 255]), -1),
        (-1, numpy.uint32([1, 4294967295])),
    ]:
        assert_same(ours(left, right), theirs(left, right))


@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    x, y = numpy.array([12, 7, -5, 0, 1]), numpy.array([2, 3, 1, 0, 4])
    assert_same(getattr(np, name)(x, y), getattr(numpy, name)(x, y))
    assert_same(np.invert(x), ~x)
    assert_same(np.bitwise_count(x), numpy.bitwise_count(x))


def test_arithmetic_of_booleans():
    x, y = numpy.array([True, True, False]), numpy.array([True, False, True])
    for name in ("floor_divide", "remainder", "fmod", "power", "left_shift"):
        found = getattr(np, name)(x, y)
        assert found.dtype == "int64", name
        with numpy.errstate(all="ignore"):
            expected = getattr(numpy, name)(x.astype(int), y.astype(int))
        assert found.tolist() == expected.tolist(), name
    assert_same(np.add(x, y), x + y)
    with pytest.raises(TypeError, match="complex"):
        np.floor(1j)


def test_bits_of_floats_are_refused():
    with pytest.raises(TypeError, match="bitwise_and"):
        np.bitwise_and(numpy.ones(2), 1)
    with pytest.raises(TypeError, match="logical_xor"):
        np.subtract(numpy.array([True]), numpy.array([False]))


# ---- powers ----


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 7])
def test_integer_powers(n):
    assert_same(np.power(POINTS, n), numpy.power(POINTS, n), 1e-12)
    check_derivatives(lambda x: np.power(x, n), POINTS, order=2)


def test_powers_of_arrays():
    x, y = numpy.array([0.4, 1.3, 2.2]), numpy.array([1.5, -0.7, 2.0])
    assert_same(np.power(x, y), x**y, 1e-12)
    check_derivatives(np.power, x, y, order=2)
    assert_same(np.power(numpy.array([2, 3]), numpy.array([3, 2])), numpy.array([8, 9]))
    assert_same(np.float_power(2, -1), 0.5)
    with pytest.raises(ValueError, match="negative integer powers"):
        np.power(numpy.array([2, 3]), -1)


def slope(f, x, order=1):
    """Derivative of a function of one number, in reverse mode."""
    if order > 1:
        return slope(lambda t: slope(f, t), x, order - 1)
    return vjp_call(f, np.asarray(x))[1](np.asarray(1.0))[0]


def test_slopes_at_zero_are_exact():
    assert float(slope(lambda x: x**2, 0.0)) == 0.0
    assert float(slope(lambda x: x**2, 0.0, 2)) == 2.0
    assert float(slope(lambda x: x**3, 0.0, 3)) == 6.0
    assert float(slope(lambda x: x**0, 0.0)) == 0.0
    assert float(slope(lambda x: np.power(x, 0.0), 0.0)) == 0.0
    assert float(slope(lambda x: np.power(x, 2.0), 0.0, 2)) == 2.0
    assert float(slope(lambda y: np.power(0.0, y), 2.0)) == 0.0
    assert float(slope(np.sinc, 0.0, 2)) == pytest.approx(-(numpy.pi**2) / 3)
    assert float(slope(lambda x: np.hypot(x, 0.0), 0.0)) == 0.0


# ---- kinks ----


def test_slopes_at_kinks_are_those_of_jax():
    assert float(slope(np.abs, 0.0)) == 1.0
    assert float(slope(np.abs, -0.0)) == 1.0
    assert float(jvp_call(np.abs, (np.array(0.0),), (np.array(1.0),))[1]) == 1.0
    assert float(slope(lambda x: np.maximum(x, 2.0), 2.0)) == 0.5
    assert float(slope(lambda x: np.minimum(x, 2.0), 2.0)) == 0.5
    assert float(slope(lambda x: np.maximum(x, 0), 0.0)) == 0.5
    assert float(slope(lambda x: np.clip(x, 0.0, 1.0), 1.0)) == 0.5
    assert float(slope(np.sign, 0.3)) == 0.0


# ---- selection ----


@pytest.mark.parametrize(
    "f",
    [
        np.log,
        np.sqrt,
        lambda x: 1 / x,
        lambda x: x**0.5,
        lambda x: np.power(x, -1),
        np.cbrt,
        lambda x: np.log(x) ** 2,
        lambda x: np.sqrt(np.sqrt(x)),
        lambda x: np.arctan2(x, x),
        rsqrt,
        np.log2,
        np.log10,
        lambda x: x * np.log(x),
        lambda x: np.exp(1 / x),
        lambda x: np.sin(x) / x,
        lambda x: np.arccos(1 - x / 4),
        lambda x: np.hypot(x, x) / x,
        lambda x: x**x,
    ],
)
def test_the_side_that_is_not_taken_contributes_zero(f):
    x = numpy.array([0.0, 2.0])
    masked = lambda x: np.where(x > 0, f(x), 0.0)
    for order in (1, 2):
        slopes = slopes_of(masked, x, order)
        assert float(slopes[0]) == 0.0
        assert numpy.isfinite(float(slopes[1]))
    dots = jvp_call(masked, (np.asarray(x),), (np.ones(2),))[1]
    assert float(dots[0]) == 0.0


def slopes_of(f, x, order):
    if order > 1:
        return slopes_of(lambda t: slopes_of(f, t, 1), x, order - 1)
    return vjp_call(f, np.asarray(x))[1](np.ones(len(x)))[0]


def test_where():
    condition = numpy.array([[True], [False]])
    x, y = numpy.array([1.0, 2.0, 3.0]), numpy.array([[4.0], [5.0]])
    assert_same(np.where(condition, x, y), numpy.where(condition, x, y))
    assert_same(np.where(numpy.array([2, 0]), 1, 0), numpy.array([1, 0]))
    check_derivatives(lambda x, y: np.where(condition, x, y), x, y)
    check_batch(np.where, numpy.array([True, False]), x[:2], y)
    with pytest.raises(ValueError, match="where"):
        np.where(condition, x)


def test_select_and_piecewise():
    x = numpy.linspace(-2.0, 2.0, 9)
    conditions = [x < -1, x > 1]
    assert_same(np.select(conditions, [x, x * 2], -1), numpy.select(conditions, [x, x * 2], -1))
    functions = [lambda t: t * 2, lambda t: t**2, 7.0]
    assert_same(
        np.piecewise(x, conditions, functions), numpy.piecewise(x.copy(), conditions, functions)
    )
    with pytest.raises(ValueError, match="piecewise"):
        np.piecewise(x, conditions, functions * 2)


def test_clip():
    x = numpy.linspace(-2.0, 2.0, 6)
    assert_same(np.clip(x, -1, 1), numpy.clip(x, -1, 1))
    assert_same(np.clip(x, None, 1.0), numpy.clip(x, None, 1.0))
    assert_same(np.clip(x, min=0.5), numpy.clip(x, 0.5, None))
    low, high = numpy.full(6, -0.5), numpy.array(1.1)
    check_derivatives(np.clip, x, low, high)
    check_derivatives(lambda x, low: np.clip(x, min=low), x, low)
    check_derivatives(lambda x, high: np.clip(x, max=high), x, high)


# ---- the parts of numbers ----


def test_rounding_to_decimals():
    x = numpy.array([0.5, 1.25, -2.345, 1234.5678])
    for decimals in (-2, 0, 1, 3):
        assert_same(np.round(x, decimals), numpy.round(x, decimals), 1e-12)
    assert_same(np.round(numpy.array([15, 25, -149]), -1), numpy.round([15, 25, -149], -1))


def test_frexp_ldexp_modf_divmod():
    x = numpy.array([0.0, 1.0, -6.5, 1e-310, 3e300, numpy.inf])
    assert_same(np.frexp(x[[0, 1, 2, 4, 5]]), numpy.frexp(x[[0, 1, 2, 4, 5]]))
    assert_same(np.ldexp(x[:3], numpy.array([3, -2, 5])), numpy.ldexp(x[:3], [3, -2, 5]))
    assert_same(np.modf(x), numpy.modf(x))
    assert_same(np.divmod(-7.5, 2.0), numpy.divmod(-7.5, 2.0))


def test_questions_about_arrays():
    x = numpy.array([1.0, numpy.nan, 3.0])
    assert_same(np.isclose(x, x, equal_nan=True), numpy.isclose(x, x, equal_nan=True))
    assert bool(np.allclose(x[:1], x[:1] + 1e-9)) and not bool(np.allclose(x, x))
    assert bool(np.array_equal(x, x, equal_nan=True)) and not bool(np.array_equal(x, x[:2]))
    assert bool(np.array_equiv(numpy.ones((2, 3)), 1.0))
    assert np.isscalar(2.0) and not np.isscalar(x) and np.iscomplexobj(1j)
    assert_same(np.isreal(numpy.array([1 + 0j, 1j])), numpy.array([True, False]))


def test_unwrap():
    p = numpy.array([0.0, 1.0, 3.5, 6.2, 0.4, -3.0, 2.9])
    assert_same(np.unwrap(p), numpy.unwrap(p))
    assert_same(np.unwrap(p, period=4.0), numpy.unwrap(p, period=4.0))
    assert_same(np.unwrap(numpy.array([0, 5, 2]), period=4), numpy.unwrap([0, 5, 2], period=4))


# ---- complex numbers ----

Z = numpy.array([0.3 + 0.4j, -1.2 + 0.5j, 0.7 - 2.0j])


@pytest.mark.parametrize(
    "name",
    "exp log sqrt sin cos tan sinh cosh tanh abs sign square reciprocal log1p expm1 "
    "conj real imag angle isfinite".split(),
)
def test_complex_values(name):
    assert_same(getattr(np, name)(Z), getattr(numpy, name)(Z), 1e-10)


def test_complex_derivatives_follow_jax():
    bar = vjp_call(np.abs, np.asarray(1j))[1](np.asarray(1.0))[0]
    assert complex(bar) == -1j
    real_of = lambda x, y: np.real(np.exp((x + 1j * y) * 2j) * np.conj(x + 1j * y))
    check_derivatives(real_of, POINTS, POINTS[::-1], order=2)
    check_derivatives(lambda x, y: np.abs(x + 1j * y) * np.angle(x + 1j * y), INSIDE, POSITIVE)
    check_derivatives(lambda x: np.imag(np.sqrt(x + 1j)) ** 2, INSIDE, order=2)
