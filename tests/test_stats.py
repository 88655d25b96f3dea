"""Distributions against SciPy, their derivatives against differences."""

from __future__ import annotations

import importlib

import numpy
import pytest
from numeric import assert_same, difference

import overt
import overt.numpy as np

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


@pytest.mark.parametrize("name", CONTINUOUS)
def test_derivatives_of_continuous(name):
    shapes, inside = CONTINUOUS[name]
    parts = [f for k, f in functions(name).items() if k not in ("ppf", "isf")]
    quantiles = [f for k, f in functions(name).items() if k in ("ppf", "isf")]
    held = shapes if name in ("gamma", "chi2", "gennorm", "beta") else ()
    f = lambda x, *args: np.concatenate(
        [g(x, *held, *args) for g in parts] + [g(x / 10 + 0.4, *held, *args) for g in quantiles]
    )
    check_slopes(f, numpy.array(inside), *shapes[len(held) :], 0.01, 1.1)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    shapes = DISCRETE[name]
    agree(name, COUNTS, places(shapes, False), 1e-12)
    held = tuple(s for s in shapes if isinstance(s, int))
    logpmf, k = functions(name)["logpmf"], numpy.array([0.0, 1.0])
    check_slopes(lambda *args: logpmf(k + (name == "geom"), *held, *args), *shapes[len(held) :])


def check_slopes(f, *args):
    """Compiled derivatives, forward, reverse and both, against differences."""
    rng = numpy.random.default_rng(0)
    args = [numpy.asarray(a) for a in args]
    dots = [rng.normal(size=a.shape) for a in args]
    f = overt.jit(f)
    weights = rng.normal(size=f(*args).shape)

    def both(*xs):
        bars = overt.vjp(f, *xs)[1](weights)
        reverse = sum(np.sum(bar * dot) for bar, dot in zip(bars, dots, strict=True))
        return overt.jvp(f, xs, tuple(dots))[1], reverse

    forward, reverse = overt.jit(both)(*args)
    assert_same(forward, difference(f, args, dots, 1e-4), 1e-7, "forward")
    assert_same(reverse, numpy.sum(weights * forward), 1e-9, "reverse")
