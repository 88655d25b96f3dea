"""Slopes of functions whose operands are broadcast together: summed to each operand's own shape.

The oracle is the quotient of differences in float64; the mean between argument and operand makes
a missing sum a wrong number, not a wrong shape.
"""

from __future__ import annotations

import numpy as onp
import pytest

import overt
import overt.nn as nn
import overt.numpy as np
import overt.scipy.special as special

CASES = {
    "clip": (np.clip, (0.5, 0.3, 0.7), (0, 1, 2)),
    "clip below": (lambda x, low: np.clip(x, low), (0.5, 0.51), (0, 1)),
    "elu": (nn.elu, (-0.3, 1.2), (0, 1)),
    "leaky_relu": (nn.leaky_relu, (-0.3, 0.2), (0, 1)),
    "celu": (nn.celu, (-0.3, 1.2), (0, 1)),
    "xlogy": (special.xlogy, (0.5, 0.7), (0, 1)),
    "xlog1py": (special.xlog1py, (0.5, 0.7), (0, 1)),
    "gammainc": (special.gammainc, (1.5, 0.7), (1,)),
    "betainc": (special.betainc, (1.5, 2.0, 0.3), (2,)),
    "rel_entr": (special.rel_entr, (0.5, 0.7), (0, 1)),
    "maximum": (np.maximum, (0.5, 0.51), (0, 1)),
    "power": (np.power, (0.5, 0.7), (0, 1)),
}


@pytest.fixture(autouse=True)
def doubles():
    with overt.enable_x64(True):
        yield


def near(value: float, shape: tuple[int, ...], seed: int) -> onp.ndarray:
    return value * onp.random.default_rng(seed).uniform(0.9, 1.1, shape)


def differences(f, x: onp.ndarray) -> onp.ndarray:
    slopes = onp.zeros(x.shape)
    for at in onp.ndindex(*x.shape):
        step = onp.zeros(x.shape)
        step[at] = 1e-6
        slopes[at] = (float(f(np.asarray(x + step))) - float(f(np.asarray(x - step)))) / 2e-6
    return slopes


@pytest.mark.parametrize("name", CASES)
def test_slopes_of_operands_that_are_repeated(name):
    function, values, places = CASES[name]
    rows = [np.asarray(near(v, (3,), k)) for k, v in enumerate(values)]
    for place in places:

        def by_mean(x, place=place):
            operands = [np.mean(x) if k == place else row for k, row in enumerate(rows)]
            return np.sum(np.sin(3.0 * function(*operands)))

        def by_column(x, place=place):
            operands = [x if k == place else row for k, row in enumerate(rows)]
            return np.sum(np.sin(3.0 * function(*operands)))

        for f, shape in ((by_mean, (3,)), (by_column, (2, 1))):
            x = near(values[place], shape, 9)
            want = differences(f, x)
            got = overt.grad(f)(np.asarray(x))
            assert got.shape == shape
            assert np.allclose(got, want, rtol=1e-5, atol=1e-6), (name, place, shape)
            dot = np.ones(shape)
            forward = overt.jvp(f, (np.asarray(x),), (dot,))[1]
            assert np.allclose(forward, want.sum(), rtol=1e-5, atol=1e-6), (name, place, shape)


def test_slopes_of_bounds_under_other_transformations():
    x = np.arange(4.0)

    def f(low, high):
        return np.sum(np.clip(x, low, high) * np.array([1.0, 2.0, 3.0, 4.0]))

    grad = overt.grad(f, argnums=(0, 1))
    assert [float(g) for g in grad(0.5, 2.5)] == [1.0, 4.0]
    assert [float(g) for g in overt.jit(grad)(1.5, 2.5)] == [3.0, 4.0]
    lows, highs = np.array([0.5, 1.5]), np.array([2.5, 1.7])
    by_lane = overt.vmap(grad)(lows, highs)
    assert by_lane[0].tolist() == [1.0, 3.0] and by_lane[1].tolist() == [4.0, 7.0]
    hessian = overt.hessian(lambda low: f(low**2, 2.5))(np.asarray(0.8))
    assert float(hessian) == 2.0
    assert overt.grad(lambda a: np.clip(a, x, 3.0).sum())(1.5).shape == ()
    assert float(overt.grad(lambda a: np.clip(a, x, 3.0).sum())(1.5)) == 2.0
    assert overt.grad(lambda a: np.clip(x, min=None, max=a).sum())(1.5) == 2.0
