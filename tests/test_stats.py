"""Distributions against SciPy, their derivatives against differences."""

from __future__ import annotations

import importlib

import numpy
import pytest
from numeric import assert_same

import overt
from overt.scipy import stats

theirs = pytest.importorskip("scipy.stats")
INF, NAN = numpy.inf, numpy.nan
LINE = numpy.array([-INF, -30.0, -1.5, -0.2, 0.0, 0.7, 1.0, 2.0, 5.0, 40.0, INF, NAN])
LEVELS = numpy.array([-0.1, 0.0, 1e-12, 0.1, 0.5, 0.9, 1.0, 1.1, NAN])
COUNTS = numpy.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 20.0, NAN])

# Shape parameters of each, points inside the support, and a wrong shape parameter.
CONTINUOUS = {
    "norm": ((), (-1.0, 0.3, 2.0)),
    "truncnorm": ((-0.5, 3.0), (-0.2, 0.9, 2.5)),
    "expon": ((), (0.2, 3.0)),
    "gamma": ((1.7,), (0.2, 3.0)),
    "chi2": ((3.5,), (0.2, 3.0)),
    "pareto": ((1.5,), (1.2, 3.0)),
    "laplace": ((), (-1.0, 0.5)),
    "logistic": ((), (-1.0, 0.5)),
    "gumbel_r": ((), (-1.0, 0.5)),
    "gumbel_l": ((), (-1.0, 0.5)),
    "cauchy": ((), (-3.0, 0.5)),
    "t": ((2.5,), (-3.0, 0.5)),
    "gennorm": ((1.4,), (-1.0, 0.5)),
    "uniform": ((), (0.2, 0.8)),
    "beta": ((1.5, 2.5), (0.2, 0.8)),
    "vonmises": ((1.3,), (-1.0, 2.0)),
    "wrapcauchy": ((0.4,), (1.0, 4.0)),
}
DISCRETE = {
    "bernoulli": (0.3,),
    "binom": (7, 0.3),
    "betabinom": (7, 1.5, 2.5),
    "nbinom": (2.5, 0.3),
    "geom": (0.3,),
    "poisson": (3.5,),
}
FUNCTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


def functions(name):
    module = importlib.import_module(f"overt.scipy.stats.{name}")
    return {k: getattr(module, k) for k in FUNCTIONS if hasattr(module, k)}


def their(name, function, x, *args):
    with numpy.errstate(all="ignore"):
        return getattr(getattr(theirs, name), function)(x, *args)


def places(shapes, scales):
    """Shape parameters, loc and scale in rows: standard, moved, a wrong scale, wrong shapes."""
    rows = [[*shapes, 0.0, 1.0], [*shapes, 0.5, 2.0], [*shapes, 0.0, -1.0]][: 3 if scales else 2]
    wrong = [[-1 * s for s in shapes] + [0.0, 1.0]] if shapes else []
    return numpy.array(rows + wrong).T[: None if scales else -1, :, None]


def agree(name, x, args, rtol):
    """All functions of a distribution on a grid, in one compiled function."""
    given = {k: LEVELS if k in ("ppf", "isf") else x for k in functions(name)}
    ours = overt.jit(
        lambda given, args: {k: f(given[k], *args) for k, f in functions(name).items()}
    )(given, args)
    for k, found in ours.items():
        expected = their(name, k, given[k], *args)
        if k in ("pdf", "logpdf"):  # SciPy has NaN for some densities at infinity
            limit = 0.0 if k == "pdf" else -INF
            valid = ~numpy.isnan(their(name, k, 0.7, *args))
            expected = numpy.where(numpy.isinf(x) & valid, limit, expected)
        if (name, k) == ("bernoulli", "ppf"):  # the smallest value, where SciPy has the one below
            expected = numpy.where((given[k] == 0) & (expected < 0.5 * args[1]), args[1], expected)
        assert_same(found, expected, rtol, f"{name}.{k}")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    agree(name, LINE, places(CONTINUOUS[name][0], True), 1e-12)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    agree(name, COUNTS, places(DISCRETE[name], False), 1e-12)


def test_entropy_of_counts():
    mu = numpy.array([0.0, 0.01, 1.0, 30.0, 59.9, 60.1, 500.0])
    expected = [theirs.entropy(theirs.poisson.pmf(numpy.arange(2000), m)) for m in mu]
    assert_same(stats.poisson.entropy(mu), expected, 1e-11)
    assert numpy.isnan(stats.poisson.entropy(-1.0))


def test_many_degrees_of_freedom():
    assert_same(stats.t.logpdf(0.7, 1e12), theirs.norm.logpdf(0.7), 1e-11)
    halves = numpy.log(2 / numpy.pi / 1e6) / 2 - 2.5e-7  # Wallis' product
    assert_same(stats.binom.logpmf(500_000, 1_000_000, 0.5), halves, 1e-11)
