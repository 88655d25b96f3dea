"""Minimization: minima that SciPy finds too, staged, over lanes, and along tangents."""

from __future__ import annotations

import numpy
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt.scipy.optimize import minimize


def rosenbrock(x, scale=100.0):
    return np.sum(scale * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


STARTS = numpy.array([[0.0, 0.0, 0.0], [-1.2, 1.0, 0.5], [2.0, -1.0, 1.0]])


def test_minima_as_scipy(x64):
    for function, start in ((rosenbrock, STARTS[1]), (himmelblau, numpy.array([1.0, 1.0]))):
        wanted = scipy.optimize.minimize(lambda x: float(function(x)), start, method="BFGS")  # noqa: B023
        found = minimize(function, start, method="BFGS", tol=1e-8)
        assert_allclose(found.x, wanted.x, rtol=1e-4)
        assert found.success and found.status == 0 and found.nit > 3
        assert abs(numpy.asarray(found.jac)).max() < 1e-8
        assert_allclose(found.fun, function(found.x))


def test_staged_and_over_lanes(x64):
    def search(x):
        found = minimize(rosenbrock, x, args=(10.0,), method="bfgs", options={"gtol": 1e-7})
        return found.x, found.nit, found.success

    x, nit, success = overt.jit(overt.vmap(search))(STARTS)
    assert_allclose(x, numpy.ones((3, 3)), rtol=1e-6)
    assert numpy.all(success)
    for i in (0, 2):
        alone = overt.jit(search)(STARTS[i])
        assert_allclose(x[i], alone[0], rtol=1e-8)
        assert nit[i] == alone[1]


def test_tangents_of_the_minimum(x64):
    def lowest(c):
        def f(x):
            return np.sum((x - c) ** 4) + np.sum((x - 2 * c) ** 2)

        return minimize(f, np.zeros(2), method="BFGS", tol=1e-10).x

    step = 1e-5
    slope = (numpy.asarray(lowest(1 + step)) - numpy.asarray(lowest(1 - step))) / (2 * step)
    assert_allclose(overt.jvp(lowest, (1.0,), (1.0,))[1], slope, rtol=1e-6)
    with pytest.raises(NotImplementedError, match="forward mode"):
        overt.grad(lambda c: lowest(c).sum())(1.0)


def test_a_limit_and_values_that_are_not_finite():
    few = minimize(rosenbrock, STARTS[0], method="BFGS", options={"maxiter": 2})
    assert few.status == 1 and not few.success and few.nit == 2
    broken = minimize(lambda x: np.sum(x) * np.nan, np.ones(2), method="BFGS")
    assert broken.status == 4 and not broken.success
    whole = minimize(lambda x: np.sum((x - 3) ** 2), [0, 5], method="BFGS")
    assert_allclose(whole.x, [3, 3], rtol=1e-6)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="BFGS"):
        minimize(rosenbrock, STARTS[0], method="newton")
    with pytest.raises(TypeError, match="tuple"):
        minimize(rosenbrock, STARTS[0], 3.0, method="BFGS")
    with pytest.raises(ValueError, match="vector"):
        minimize(rosenbrock, STARTS, method="BFGS")
    with pytest.raises(TypeError, match="unknown options"):
        minimize(rosenbrock, STARTS[0], method="BFGS", options={"ftol": 1.0})
