"""Names in loops: a value of before the loop, read in it, beside the one that the loop carries."""

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope


@pytest.fixture(autouse=True)
def wide():
    with overt.enable_x64(True):
        yield


def same_array_before_and_inside(q, zs):
    P = np.eye(2)
    for z in zs:
        P = P @ P.T * z + q * np.eye(2)
    return np.sum(P)


def same_product_before_and_inside(q, zs):
    P = q * q
    for z in zs:
        P = P * (q * q) * z + np.tanh(P)
    return P


def same_product_in_a_branch(q, zs):
    P = q * q
    n = 0
    while n < 3:
        if P > zs[n]:
            P = P * (q * q) * zs[n]
        else:
            P = P + np.exp(q * q)
        n += 1
    return P


class Filter:
    def __init__(self, noise):
        self.x = np.zeros(2)
        self.P = np.eye(2)
        self.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        self.noise = noise

    def step(self, z):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.noise * np.eye(2)
        gain = self.P[:, 0] / (self.P[0, 0] + 0.5)
        self.x = self.x + gain * (z - self.x[0])
        self.P = (np.eye(2) - np.outer(gain, [1.0, 0.0])) @ self.P


def filtered(q, zs):
    state = Filter(q)
    for z in zs:
        state.step(z)
    return state.x[1]


PROGRAMS = (
    same_array_before_and_inside,
    same_product_before_and_inside,
    same_product_in_a_branch,
    filtered,
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_value_of_before_the_loop_is_not_the_carried_one(f):
    zs = numpy.array([0.3, 0.7, 0.4])
    expected = slope(lambda q: f(q, zs), 0.8)
    for derived in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        numpy.testing.assert_allclose(derived(0.8, zs), expected, rtol=1e-7)
    pushed = lambda g: overt.jvp(lambda q: g(q, zs), (0.8,), (1.0,))[1]
    for g in (f, overt.jit(f)):
        numpy.testing.assert_allclose(pushed(g), expected, rtol=1e-7)
    lanes = numpy.array([0.8, 1.1])
    by_lane = overt.vmap(overt.grad(f), (0, None))(lanes, zs)
    other = slope(lambda q: f(q, zs), 1.1)
    numpy.testing.assert_allclose(by_lane, [expected, other], rtol=1e-7)


def test_an_array_that_is_always_the_same_is_written_again_and_not_saved():
    text = overt.source(overt.grad(same_array_before_and_inside))
    assert "sum_to(P_bar * np.eye(2), q)" in text
    assert "saved.push(P, z)" in text
