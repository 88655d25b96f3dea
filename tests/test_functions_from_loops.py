"""Functions that a loop makes: of the last round's function, or holding values of the loop."""

import math

import numpy
import pytest

import overt
import overt.numpy as np


@pytest.fixture(autouse=True)
def wide():
    with overt.enable_x64(True):
        yield


def taylor(x, h):
    f, total, factor = np.sin, 0.0, 1.0
    for k in range(4):
        total = total + factor * f(x)
        factor = factor * h / (k + 1)
        f = overt.grad(f)
    return total


def mapped_more_and_more(x):
    f = np.cos
    for _ in range(3):
        f = overt.vmap(f)
    return f(x)


def test_a_transformation_applied_once_more_in_each_round():
    slopes = math.sin, math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x), math.sin
    terms = lambda x, h: [f(x) * h**k / math.factorial(k) for k, f in enumerate(slopes)]
    expected = sum(terms(0.8, 0.3)[:4])
    assert numpy.allclose(overt.jit(taylor)(0.8, 0.3), expected, rtol=1e-12)
    by_lane = overt.jit(overt.vmap(taylor, (0, None)))(numpy.array([0.8, 0.1]), 0.3)
    assert numpy.allclose(by_lane, [expected, sum(terms(0.1, 0.3)[:4])], rtol=1e-12)
    slope = sum(f(0.8) * 0.3**k / math.factorial(k) for k, f in enumerate(slopes[1:]))
    for derived in (overt.grad(taylor), overt.jit(overt.grad(taylor))):
        assert numpy.allclose(derived(0.8, 0.3), slope, rtol=1e-12)


def test_vmap_of_vmap_of_vmap():
    x = numpy.linspace(0.0, 1.0, 8).reshape(2, 2, 2)
    assert numpy.allclose(overt.jit(mapped_more_and_more)(x), numpy.cos(x), rtol=1e-12)


def late_and_early(x, y):
    late = [lambda v: v * k + x for k in range(3)]  # noqa: B023
    early = [lambda v, k=k: v * k + y for k in range(3)]
    return sum(f(x) for f in late) * sum(f(y) for f in early)


def last_one_made(x, y):
    late = [lambda v: v * k + x for k in range(3)]  # noqa: B023
    made, i = (lambda v: x), 0
    while i < 3:
        made = lambda v, k=i: v * k + y
        i += 1
    return late[0](x) * made(y)


@pytest.mark.parametrize("f", [late_and_early, last_one_made])
@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_closures_over_what_is_differentiated(f):
    at, h = numpy.array([0.5, 1.5]), 1e-5
    expected = [(f(*(at + h * e)) - f(*(at - h * e))) / (2 * h) for e in numpy.eye(2)]
    for slope in (overt.grad(f, (0, 1)), overt.grad(overt.jit(f), (0, 1))):
        assert numpy.allclose(slope(*at), expected, rtol=1e-8)
    assert numpy.allclose(overt.jit(overt.grad(f, (0, 1)))(*at), expected, rtol=1e-8)
