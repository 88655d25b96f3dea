"""The hypergeometric functions against SciPy, their derivatives against differences."""

from __future__ import annotations

import numpy
import pytest
from numeric import assert_same

import overt
import overt.numpy as np
from overt.scipy import special

theirs = pytest.importorskip("scipy.special")
rng = numpy.random.default_rng(11)
INF, NAN = numpy.inf, numpy.nan


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


def test_kummer():
    a, b, x = rng.uniform(-12, 12, 400), rng.uniform(0.1, 12, 400), rng.uniform(-60, 60, 400)
    found = special.hyp1f1(a, b, x)
    assert_same(found / theirs.hyp1f1(a, b, x), numpy.ones(400), 1e-10)
    whole = numpy.round(a / 2)  # SciPy gives NaN for some of degree 11
    assert_same(special.hyp1f1(whole, b, x) / theirs.hyp1f1(whole, b, x), numpy.ones(400), 1e-10)
    narrow = special.hyp1f1(*(v.astype("f") for v in (a / 4, b, x / 4)))
    expected = theirs.hyp1f1(*(v.astype("f").astype("d") for v in (a / 4, b, x / 4)))
    assert narrow.dtype == numpy.float32
    assert_same(numpy.asarray(narrow, "d") / expected, numpy.ones(400), 1e-3)


KUMMER_EDGES = [
    (1, 2, 0), (1, 2, INF), (1, 2, -INF), (1, 2, NAN), (0, 2, 3), (-2, 3, 4), (2, -3, 1),
    (-2, -3, 1), (2, 2, -50), (2, 0, 1), (2, 2, -500), (1, 3, -1000), (3, 1, -1000), (5, 2, 650),
]  # fmt: skip


def test_kummer_at_the_edges():
    args = numpy.array(KUMMER_EDGES, float).T
    assert_same(special.hyp1f1(*args), theirs.hyp1f1(*args), 1e-11)


def test_gauss():
    a, b = rng.uniform(-5, 5, (2, 300))
    c = rng.uniform(0.1, 8, 300)
    x = numpy.concatenate([
        rng.uniform(-1, 1, 100), -(10 ** rng.uniform(-3, 6, 100)), 1 - 10 ** rng.uniform(-9, 0, 100)
    ])  # fmt: skip
    expected = theirs.hyp2f1(a, b, c, x)
    assert_same(special.hyp2f1(a, b, c, x) / expected, numpy.ones(300), 1e-9)
    whole = numpy.round(b), numpy.ceil(c)
    x = numpy.where(x > 0.9, x - 0.9, numpy.maximum(x, -20))
    expected = theirs.hyp2f1(a, *whole, x)
    assert_same(special.hyp2f1(a, *whole, x), expected, 1e-9)


GAUSS_EDGES = [
    (1, 2, 3, 0), (1, 2, 3, 1), (1, 1, 3, 1), (1, 1, 3, 1.5), (-2, 1, 3, 1.5), (-2, 1, 3, -100),
    (1, 2, 3, NAN), (1, 2, -3, 0.5), (-2, 2, -3, 0.5), (0, 1, 2, 0.3), (1, 2, 2, 0.3),
    (0.5, 0.5, 1.5, 1), (-2, 1, 3, 1), (1, 2, 0, 0.5), (6, 0, 2, 1 - 1e-9), (-20, 21, 1, 0.9),
    (6, -2, 1, 1 - 1e-9), (3, -3, 3, 0.999),
]  # fmt: skip


def test_gauss_at_the_edges():
    args = numpy.array(GAUSS_EDGES, float).T
    assert_same(special.hyp2f1(*args), theirs.hyp2f1(*args), 1e-11)


def check_gradient(f, *args):
    """The gradient of a sum of `f`, compiled, agrees with differences."""
    total = lambda *xs: np.sum(f(*xs))
    places = [k for k in range(len(args)) if k != 1 or f is special.hyp1f1]  # b is as a
    slopes = overt.jit(overt.grad(total, argnums=tuple(places)))(*args)
    for k, slope in zip(places, slopes, strict=True):
        for i in range(len(args[0])):
            step = [1e-4 * (numpy.arange(len(x)) == i) * (j == k) for j, x in enumerate(args)]
            near = [total(*(x + n * d for x, d in zip(args, step, strict=True))) for n in (1, -1)]
            assert_same(slope[i], (near[0] - near[1]) / 2e-4, 1e-6)


def test_batches():
    a, b, x = numpy.array([1.3, -8.3]), numpy.array([2.2, 0.7]), numpy.array([9.0, -11.0])
    assert_same(overt.vmap(special.hyp1f1)(a, b, x), special.hyp1f1(a, b, x), 1e-12)
    found = overt.jit(overt.vmap(special.hyp2f1, (0, None, 0, 0)))(a, 0.6, b, x / 11 - 0.1)
    assert_same(found, special.hyp2f1(a, 0.6, b, x / 11 - 0.1), 1e-12)


def test_derivatives():
    a, b = numpy.array([1.3, -8.3, 1.3]), numpy.array([2.2, 2.2, 0.7])
    check_gradient(special.hyp1f1, a, b, numpy.array([1.7, 9.0, -11.0]))
    b, c = numpy.array([0.6, 0.6, -1.4]), numpy.array([2.2, 2.2, 2.2])
    check_gradient(special.hyp2f1, a[[0, 0, 0]], b, c, numpy.array([0.3, 0.93, -4.0]))


def test_second_derivatives():
    at, step = numpy.array([1.3, 2.2, 1.7]), 1e-5
    slope = overt.jit(overt.grad(special.hyp1f1))
    curve = overt.jit(lambda *x: overt.jvp(overt.grad(special.hyp1f1), x, (1.0, 0.0, 0.0))[1])
    ahead, behind = (slope(*(at + [delta, 0, 0])) for delta in (step, -step))
    assert_same(curve(*at), (ahead - behind) / (2 * step), 1e-6)
