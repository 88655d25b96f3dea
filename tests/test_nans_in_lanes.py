"""`debug_nans` under `vmap`: a NaN in a lane that is not on the path is none of the user's."""

import numpy
import pytest

import overt
import overt.numpy as np


def normalized(x):
    square = np.sum(x**2)
    if square < 1e-12:
        return np.zeros_like(x)
    return x / np.sqrt(square)


def shifted_log(x):
    if x > 0:
        return np.log(x - 1.0)
    return x


def shrunk(x):
    while x > 0:
        x = x - np.sqrt(x) - 0.1
    return x


@pytest.mark.parametrize("jit", [False, True])
def test_lanes_that_are_not_on_the_path_are_not_looked_at(jit: bool) -> None:
    t = overt.jit if jit else lambda f: f
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    numbers = np.array([1.0, 4.0, -1.0])
    with overt.debug_nans(True):
        assert numpy.allclose(t(overt.vmap(normalized))(rows), [[0.0, 0.0], [0.6, 0.8]])
        slopes = t(overt.vmap(overt.grad(lambda x: np.sum(normalized(x)))))(rows)
        assert numpy.allclose(slopes, [[0.0, 0.0], [4 / 125, -3 / 125]], atol=1e-6)
        assert numpy.allclose(
            t(overt.vmap(overt.grad(shifted_log)))(np.array([-1.0, 3.0])), [1, 0.5]
        )
        ends = t(overt.vmap(shrunk))(numbers)
        alone = [float(overt.jit(shrunk)(float(x))) for x in numbers]
        assert numpy.allclose(ends, alone)
        slopes = t(overt.vmap(overt.grad(shrunk)))(numbers)
        assert numpy.allclose(slopes, [float(overt.grad(shrunk)(float(x))) for x in numbers])


@pytest.mark.parametrize("jit", [False, True])
def test_lanes_on_the_path_are(jit: bool) -> None:
    t = overt.jit if jit else lambda f: f
    with overt.debug_nans(True):
        for f, x in (
            (overt.vmap(shifted_log), np.array([0.5, 2.0, -1.0])),
            (overt.vmap(overt.vmap(shifted_log)), np.array([[2.0, -1.0], [-3.0, 0.5]])),
            (overt.vmap(overt.value_and_grad(shifted_log)), np.array([-2.0, 0.5, 3.0])),
        ):
            with pytest.raises(FloatingPointError):
                overt.block_until_ready(t(f)(x))
