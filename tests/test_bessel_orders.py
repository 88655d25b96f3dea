"""Bessel functions of all kinds and orders, and the functions that go with them, against SciPy."""

from __future__ import annotations

import numpy
import pytest
import scipy.special
import scipy.stats

import overt
import overt.numpy as np
import overt.scipy.special as special
import overt.scipy.stats as stats

POINTS = numpy.concatenate([numpy.linspace(0.001, 60, 200), [0.0, 1e-9, 1e3, 1e5, numpy.nan]])
POINTS = numpy.concatenate([POINTS, -POINTS])


pytestmark = pytest.mark.usefixtures("x64")


def off(ours, theirs, floor):
    """The largest error, relative where the value is larger than `floor`."""
    ours = numpy.asarray(ours, "float64")
    with numpy.errstate(all="ignore"):
        error = abs(ours - theirs) / numpy.maximum(abs(theirs), floor)
    same = (ours == theirs) | (numpy.isnan(ours) & numpy.isnan(theirs))
    return numpy.max(numpy.where(same, 0, error))


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_orders_zero_and_one(name):
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    assert off(ours(POINTS), theirs(POINTS), 1) < 1e-11
    single = POINTS[abs(POINTS) < 1e3].astype("float32")
    assert off(ours(single), theirs(single.astype("float64")), 1) < 1e-5


def test_integer_orders():
    orders = numpy.array([0, 1, 2, 3, 10, 30, -1, -4])[:, None]
    assert off(special.jn(orders, POINTS), scipy.special.jv(orders, POINTS), 1e-3) < 1e-10
    assert off(special.yn(orders, POINTS), scipy.special.yn(orders, POINTS), 1) < 1e-10
    with pytest.raises(TypeError, match="integer orders"):
        special.jn(0.5, 1.0)


def test_modified_of_real_order():
    orders = numpy.array([0, 0.3, 7.2, 49.7, 120, -2])[:, None]
    points = numpy.concatenate([POINTS[abs(POINTS) > 0.4], [0.0, 300, 3000, 1e4, 1e6]])
    theirs = scipy.special.iv(orders, points)
    assert off(special.iv(orders, points), theirs, 1e-290) < 1e-11
    theirs = scipy.special.ive(12.5, points)
    assert off(special.ive(12.5, points), theirs, 1e-290) < 1e-11
    assert numpy.isinf(special.iv(1.5, numpy.inf)) and special.ive(1.5, numpy.inf) == 0
    assert numpy.isnan(special.iv(-0.5, 1.0)) and numpy.isnan(special.iv(0.5, -1.0))


FUNCTIONS = {
    "j0": (special.j0, scipy.special.j0),
    "j1": (special.j1, scipy.special.j1),
    "y0": (special.y0, scipy.special.y0),
    "y1": (special.y1, scipy.special.y1),
    "jn": (lambda x: special.jn(3, x), lambda x: scipy.special.jv(3, x)),
    "yn": (lambda x: special.yn(2, x), lambda x: scipy.special.yn(2, x)),
    "iv": (lambda x: special.iv(2.5, x), lambda x: scipy.special.iv(2.5, x)),
    "by order": (lambda x: special.iv(x, 3.0), lambda x: scipy.special.iv(x, 3.0)),
    "rgamma": (special.rgamma, scipy.special.rgamma),
    "psi": (special.psi, scipy.special.psi),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    ours, theirs = FUNCTIONS[name]
    x = numpy.array([0.3, 1.0, 7.0, 40.0])
    slope = (theirs(x + 1e-6) - theirs(x - 1e-6)) / 2e-6
    bend = (theirs(x + 1e-4) + theirs(x - 1e-4) - 2 * theirs(x)) / 1e-8
    first = overt.vmap(overt.grad(lambda x: ours(x)))(x)
    second = overt.vmap(overt.jit(overt.grad(overt.grad(lambda x: ours(x)))))(x)
    forward = overt.jvp(lambda x: ours(x), (x,), (numpy.ones(4),))[1]
    assert off(first, slope, 1e-3) < 1e-5
    assert off(forward, numpy.asarray(first), 1e-6) < 1e-10
    assert off(second, bend, 1e-2) < 1e-3


def test_derivatives_at_zero_and_at_poles():
    assert overt.grad(special.j1)(0.0) == 0.5
    assert overt.grad(lambda x: special.iv(1, x))(0.0) == 0.5
    poles = [float(overt.grad(special.rgamma)(-n)) for n in (0.0, 1.0, 2.0, 3.0)]
    assert poles == pytest.approx([1, -1, 2, -6])


def test_inverse_of_the_complementary_error_function():
    y = numpy.array([0.3, 1, 1e-10, 1.999, 0, 2])
    assert off(special.erfcinv(y), scipy.special.erfcinv(y), 1) < 1e-14
    slope = (scipy.special.erfcinv(0.3 + 1e-6) - scipy.special.erfcinv(0.3 - 1e-6)) / 2e-6
    assert abs(overt.grad(special.erfcinv)(0.3) - slope) < 1e-8


def test_students_distribution():
    x = numpy.array([-50.0, -3, -1e-3, 0, 1e-9, 0.5, 2, 100])
    df = numpy.array([[0.7], [1], [3.3], [60]])
    for name in ("cdf", "logsf"):
        theirs = getattr(scipy.stats.t, name)(x, df, 0.1, 1.3)
        assert off(getattr(stats.t, name)(x, df, 0.1, 1.3), theirs, 0) < 1e-12
    f = scipy.stats.t.cdf
    shape = (f(0.7, 2.5 + 1e-6) - f(0.7, 2.5 - 1e-6)) / 2e-6
    assert abs(overt.grad(stats.t.cdf, 1)(0.7, 2.5) - shape) < 1e-8
    assert overt.grad(stats.t.cdf)(0.0, 3.0) == pytest.approx(scipy.stats.t.pdf(0, 3))
    assert overt.grad(stats.t.cdf, 1)(0.0, 3.0) == 0


def test_normal_of_several_variables():
    mean, cov = numpy.zeros(2), numpy.array([[2.0, 0.3], [0.3, 1]])
    ours, theirs = stats.multivariate_normal, scipy.stats.multivariate_normal
    assert ours.entropy(mean, cov) == pytest.approx(theirs.entropy(mean, cov))
    assert ours.entropy(None, 2.0) == pytest.approx(theirs.entropy(None, 2.0))
    given = ours.pdf(np.ones(2), mean, cov, allow_singular=False)
    assert given == pytest.approx(theirs.pdf(numpy.ones(2), mean, cov))
