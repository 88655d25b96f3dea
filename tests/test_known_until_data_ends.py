"""Loops that data ends, whose bodies need what Python knows as long as they go on."""

import numpy
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np

pytestmark = [
    pytest.mark.usefixtures("quiet_x64"),
    pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning"),
]
WEIGHTS = {1: (1.0,), 2: (1.5, -0.5), 3: (23 / 12, -16 / 12, 5 / 12)}


def midpoints(x, h):
    n = int(round(1.0 / h))
    return h * sum((x + (k + 0.5) * h) ** 1.5 for k in range(n))


def until_two_agree(x):
    h = 0.5
    old = midpoints(x, h)
    for _ in range(3):
        h *= 0.5
        new = midpoints(x, h)
        if abs(new - old) < 1e-2 * x:
            return new
        old = new
    return old + 1.0


def steps_with_a_history(y):
    past, t = [], 0
    for t in range(4):  # noqa: B007
        past = [1.3 * y * (1.0 - y / 2.0), *past[:2]]
        if y > 1.0:
            break
        y = y + 0.3 * sum(w * d for w, d in zip(WEIGHTS[len(past)], past, strict=True))
    return y * (1.0 + 0.1 * t)


@pytest.mark.parametrize("f", [until_two_agree, steps_with_a_history])
def test_loops(f):
    points, h = (0.3, 0.8), 1e-6
    values = [f(x) for x in points]
    slopes = [(f(x + h) - f(x - h)) / (2 * h) for x in points]
    xs = np.array(points)
    for got, want in (
        ([overt.jit(f)(x) for x in points], values),
        (overt.vmap(f)(xs), values),
        ([overt.grad(f)(x) for x in points], slopes),
        ([overt.jit(overt.grad(f))(x) for x in points], slopes),
        (overt.vmap(overt.grad(f))(xs), slopes),
        (overt.jvp(f, (xs[0],), (1.0,))[1], slopes[0]),
    ):
        assert_allclose(numpy.asarray(got, float), want, rtol=1e-6)
