"""`truncated_normal` far from zero, where erf has no values left between itself and one."""

import numpy
import pytest
import scipy.stats

import overt
import overt.numpy as np


@pytest.mark.parametrize(
    "low, high", [(4.5, 5.0), (6.0, numpy.inf), (12.0, 1e6), (-numpy.inf, -7.0)]
)
def test_draws_follow_the_distribution(low: float, high: float) -> None:
    x = overt.random.truncated_normal(overt.random.key(1), low, high, (5000,))
    law = scipy.stats.truncnorm(low, high)
    assert scipy.stats.kstest(numpy.asarray(x, numpy.float64), law.cdf).pvalue > 0.01
    assert bool(np.all((x >= low) & (x <= high)))


def test_tails_and_ordinary_bounds_side_by_side() -> None:
    key, lows = overt.random.key(2), np.array([-1.0, 3.0, 5.5, 30.0])

    def draw(low):
        return overt.random.truncated_normal(key, low, 1e6)

    alone = [float(draw(float(low))) for low in lows]
    assert numpy.allclose(overt.jit(overt.vmap(draw))(lows), alone, rtol=1e-5)
    slopes = overt.vmap(overt.grad(draw))(lows)
    h = 0.01
    for low, slope in zip(lows, slopes, strict=True):
        steps = (float(draw(float(low) + h)) - float(draw(float(low) - h))) / (2 * h)
        assert abs(float(slope) - steps) < 5e-3
