"""Functions as default values of parameters, in every transformation."""

import pytest

import overt.numpy as np
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


def captured(x):
    e = np.sin(x)

    def harmonic(n, *, amplitude=lambda k: e**k / k):
        return amplitude(n) * np.cos(n * x)

    return harmonic(2) + harmonic(1, amplitude=lambda k: k * e)


def called_by_another(x):
    def harmonic(n, amplitude=lambda k: x**k / k, scale=2.0 * x):
        return scale * amplitude(n) * np.cos(n * x)

    def total(upto, first=1):
        return sum(harmonic(n) for n in range(first, upto))

    return total(3) * total(4, 2)


def of_a_lambda(x):
    return (lambda y, f=lambda z: z * x: f(y) * y)(x)


def at_the_top(x, act=lambda v: v * v, *, shift=lambda w: w + 1.0):
    return act(x) * shift(x)


@pytest.mark.parametrize("f", [captured, called_by_another, of_a_lambda, at_the_top])
def test_defaults_that_are_functions(f):
    assert_every_way(f)
