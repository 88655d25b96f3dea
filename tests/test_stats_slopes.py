"""Derivatives of distributions against differences."""

from __future__ import annotations

import numpy
import pytest
from numeric import assert_same, difference

import overt
import overt.numpy as np
from tests.test_stats import CONTINUOUS, DISCRETE, functions


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


def check_slopes(f, *args, tangents=True):
    """Compiled gradients and tangents of `f` against differences."""
    rng = numpy.random.default_rng(0)
    args = [numpy.asarray(a) for a in args]
    dots = [rng.normal(size=a.shape) for a in args]
    f = overt.jit(f)
    expected = difference(f, args, dots, 1e-4)
    weights = rng.normal(size=expected.shape)

    bars = overt.jit(lambda *xs: overt.vjp(f, *xs)[1](weights))(*args)
    total = sum(numpy.sum(bar * dot) for bar, dot in zip(bars, dots, strict=True))
    assert_same(total, numpy.sum(weights * expected), 1e-7, "reverse")
    if tangents:
        forward = overt.jit(lambda *xs: overt.jvp(f, xs, tuple(dots))[1])(*args)
        assert_same(forward, expected, 1e-7, "forward")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    shapes, inside = CONTINUOUS[name]
    found = functions(name)
    parts = [found[k] for k in ("logpdf", "cdf") if k in found]
    quantiles = [found["ppf"]] if "ppf" in found else []
    f = lambda x, *args: np.concatenate(
        [g(x, *args) for g in parts] + [g(x / 10 + 0.4, *args) for g in quantiles]
    )
    loops = name in ("beta", "chi2", "gamma", "gennorm")  # which take long to compile
    check_slopes(f, numpy.array(inside[:2]), *shapes, 0.01, 1.1, tangents=not loops)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    shapes = DISCRETE[name]
    held = tuple(s for s in shapes if isinstance(s, int))
    logpmf, k = functions(name)["logpmf"], numpy.array([0.0, 1.0])
    check_slopes(lambda *args: logpmf(k + (name == "geom"), *held, *args), *shapes[len(held) :])


@pytest.mark.parametrize("name", ["norm", "t", "logistic", "gumbel_r"])
def test_second_derivatives_of_densities(name):
    shapes, inside = CONTINUOUS[name]
    logpdf = functions(name)["logpdf"]
    total = lambda x: np.sum(logpdf(x, *shapes, 0.1, 1.3))
    x = numpy.array(inside)
    slope, curve = overt.jit(overt.grad(total)), overt.jit(overt.hessian(total))(x)
    step = 1e-5 * numpy.eye(len(x))
    rows = [(slope(x + d) - slope(x - d)) / 2e-5 for d in step]
    assert_same(curve, numpy.array(rows), 1e-7)


def test_no_slope_outside_the_support():
    for name in ("expon", "beta", "uniform", "pareto"):
        shapes, _ = CONTINUOUS[name]
        logpdf = functions(name)["logpdf"]
        assert float(overt.grad(lambda x: logpdf(x, *shapes))(-1.0)) == 0.0  # noqa: B023
