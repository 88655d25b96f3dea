"""Parameters of the user's that are called as helpers of generated code are."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.usefixtures("quiet_x64")

PLACES = numpy.array([3, 2, 1, 0])


def read_at(x, at):
    x[0:2] = x[at[0]] * x[1:3]
    return np.sum(x * x)


def nested(x, at):
    def inner(y, set_item):
        y[1:3] = y[at[1]] * set_item
        return y

    return np.sum(inner(x * 1.0, 2.0) ** 2)


def branched(x, cond):
    while x[0] < 2.2:
        x[0] += 0.5
    if x[1] > cond[3]:
        x[1] = x[2] * 3.0
    return x[0] * x[1] + cond[0]


@pytest.mark.parametrize("f", [read_at, nested, branched])
def test_parameters(f):
    x = numpy.array([0.5, 1.5, -0.7, 1.2])
    wanted = [
        (f(x + d, PLACES) - f(x - d, PLACES)) / 2e-6 for d in numpy.eye(4) * 1e-6
    ]  # of NumPy's arrays, changed in place
    value, derivative = overt.jit(overt.value_and_grad(f))(x, PLACES)
    numpy.testing.assert_allclose(value, f(x.copy(), PLACES), rtol=1e-9)
    numpy.testing.assert_allclose(derivative, wanted, rtol=1e-6, atol=1e-7)
    lanes = overt.vmap(f, in_axes=(0, None))(numpy.stack([x, x[::-1]]), PLACES)
    numpy.testing.assert_allclose(
        lanes, [f(x.copy(), PLACES), f(x[::-1].copy(), PLACES)], rtol=1e-9
    )
