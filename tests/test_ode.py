"""Differential equations: solutions as SciPy's, derivatives by differences of them."""

from __future__ import annotations

import numpy
import pytest
import scipy.integrate
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt.experimental.ode import odeint

TS = numpy.array([0.0, 0.7, 1.5, 2.0])


def pendulum(y, t, friction, pull):
    return {"angle": y["speed"], "speed": -friction * y["speed"] - pull * np.sin(y["angle"]) + t}


def swing(friction, pull, speed, ts, **how):
    start = {"angle": 3.0, "speed": speed}
    return odeint(pendulum, start, ts, friction, pull, **{"rtol": 1e-9, "atol": 1e-9, **how})


def energy(friction, pull, speed, ts):
    return np.sum(swing(friction, pull, speed, ts)["angle"] ** 2)


ARGUMENTS = (0.25, 5.0, 0.1, TS)
DIRECTIONS = (1.0, -0.5, 2.0, numpy.array([0.3, -0.2, 0.1, 0.4]))


def along(f, step=1e-4):
    ends = [
        numpy.asarray(f(*(x + s * d for x, d in zip(ARGUMENTS, DIRECTIONS, strict=True))))
        for s in (step, -step)
    ]
    return (ends[0] - ends[1]) / (2 * step)


def test_solutions_as_scipy(x64):
    def theirs(t, y):
        return [y[1], -0.25 * y[1] - 5 * numpy.sin(y[0]) + t]

    for ts in (TS, TS[::-1]):
        wanted = scipy.integrate.solve_ivp(
            theirs, (ts[0], ts[-1]), [3.0, 0.1], t_eval=ts, rtol=1e-11, atol=1e-11
        ).y
        found = overt.jit(swing)(*ARGUMENTS[:3], ts)
        assert_allclose(found["angle"], wanted[0], rtol=1e-7)
        assert_allclose(found["speed"], wanted[1], rtol=1e-7)


def test_derivatives_by_differences(x64):
    wanted = along(overt.jit(energy))
    slopes = overt.jit(overt.grad(energy, (0, 1, 2, 3)))(*ARGUMENTS)
    total = sum(numpy.sum(numpy.asarray(g) * d) for g, d in zip(slopes, DIRECTIONS, strict=True))
    assert_allclose(total, wanted, rtol=1e-6)
    tangent = overt.jit(lambda *dots: overt.jvp(energy, ARGUMENTS, dots)[1])(*DIRECTIONS)
    assert_allclose(tangent, wanted, rtol=1e-6)


def decayed(rate):
    def flow(y, t):
        if rate > 0:
            return -rate * y
        return y - y

    return odeint(flow, np.array([2.0]), np.array([0.0, 1.0]), rtol=1e-9, atol=1e-9)[1, 0]


def test_a_flow_that_captures_and_branches(x64):
    rates = numpy.array([0.5, 0.9, -1.0])
    wanted = numpy.where(rates > 0, -2 * numpy.exp(-rates), 0)
    assert_allclose(overt.jit(overt.vmap(overt.grad(decayed)))(rates), wanted, rtol=1e-6)
    assert_allclose(overt.grad(decayed)(0.5), wanted[0], rtol=1e-6)


def test_second_derivatives(x64):
    wanted = 2 * numpy.exp(-0.5)
    assert_allclose(overt.jit(overt.grad(overt.grad(decayed)))(0.5), wanted, rtol=1e-5)


def test_single_precision_and_limits():
    decay = overt.jit(lambda y, ts, **how: odeint(lambda y, t: -y, y, ts, **how))
    found = decay(np.ones(2), np.array([0.0, 1.0, 2.0]))
    assert found.dtype == np.float32 and found.shape == (3, 2)
    assert_allclose(found[:, 0], numpy.exp([0.0, -1, -2]), rtol=1e-5)
    few = odeint(lambda y, t: -y, np.ones(()), np.array([0.0, 1.0, 50.0]), rtol=1e-3, mxstep=4)
    assert numpy.isfinite(few[1]) and numpy.isnan(few[2])
    steps = []

    def counted(y, t):
        steps.append(float(t))
        return -y

    odeint(counted, np.ones(()), np.array([0.0, 1.0]), rtol=1e-2, atol=1e-2, hmax=0.1)
    assert len(steps) >= 60
    assert odeint(lambda y, t: -y, np.ones(3), np.array([0.0])).shape == (1, 3)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="vector of times"):
        odeint(lambda y, t: -y, 1.0, 2.0)
    with pytest.raises(TypeError, match="structure"):
        odeint(lambda y, t: (y, y), 1.0, TS)
