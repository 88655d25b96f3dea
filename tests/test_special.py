"""Special functions against SciPy, their derivatives against differences."""

from __future__ import annotations

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.numpy as np
from overt.scipy import special

theirs = pytest.importorskip("scipy.special")
rng = numpy.random.default_rng(3)
A, B = rng.uniform(0.1, 20.0, 200), rng.uniform(0.1, 20.0, 200)
X, P = rng.uniform(-20.0, 20.0, 200), rng.uniform(0.01, 0.99, 200)
ORDERS = rng.integers(1, 5, 200)

ARGUMENTS = {
    "erf": (X,), "erfc": (X,), "erfinv": (P,), "ndtr": (X / 4,), "ndtri": (P,),
    "log_ndtr": (X * 3,),
    "gammaln": (A,), "digamma": (A,), "polygamma": (ORDERS, B), "zeta": (A + 1.1, B),
    "gammasgn": (X,), "gamma": (X / 4,), "betaln": (A, B), "beta": (A, B), "factorial": (A,),
    "comb": (A + 20, B), "poch": (A, B), "gammainc": (A, A * B / 10), "gammaincc": (A, A * B / 10),
    "betainc": (A, B, P), "i0": (X,), "i0e": (X,), "i1": (X,), "i1e": (X,), "expit": (X,),
    "logit": (P,), "xlogy": (A, B), "xlog1py": (A, B), "entr": (A,), "rel_entr": (A, B),
    "kl_div": (A, B), "boxcox": (A, B / 5), "boxcox1p": (A, B / 5),
}  # fmt: skip
HELD = {"polygamma": 1, "zeta": 1}  # arguments held
FLAT = {"gammasgn"}


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


@pytest.mark.parametrize("name", ARGUMENTS)
def test_values(name):
    args = ARGUMENTS[name]
    assert_same(getattr(special, name)(*args), getattr(theirs, name)(*args), 1e-10, name)


@pytest.mark.parametrize("name", [n for n in ARGUMENTS if n not in FLAT])
def test_derivatives(name):
    args = [x[:4] / (3 if x is X else 1) for x in ARGUMENTS[name]]
    held = HELD.get(name, 0)
    f = lambda *xs: getattr(special, name)(*held_arrays(args, held), *xs)
    check_derivatives(f, *args[held:], rtol=1e-5)


def held_arrays(args, held):
    return [numpy.asarray(x) for x in args[:held]]


def test_undefined_derivatives_are_refused():
    with pytest.raises(NotImplementedError, match="zeta"):
        check_derivatives(special.zeta, A[:2] + 1.1, B[:2])


def test_sums_of_exponentials():
    x = rng.normal(size=(3, 4)) * 300
    b = numpy.array([1.0, 0.0, 2.0, 1.0])
    for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"axis": 1, "b": b}):
        assert_same(special.logsumexp(x, **options), theirs.logsumexp(x, **options))
    assert_same(
        special.logsumexp(x, 1, b=-b, return_sign=True),
        list(theirs.logsumexp(x, 1, b=-b, return_sign=True)),
    )
    assert float(special.logsumexp(numpy.full(3, -numpy.inf))) == -numpy.inf
    x = x / 300
    check_derivatives(lambda x: special.logsumexp(x, 1), x, order=2)
    check_batch(lambda x: special.logsumexp(x, 0), x)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name):
    x, f = rng.normal(size=(3, 4)), getattr(special, name)
    assert_same(f(x, axis=0), getattr(theirs, name)(x, axis=0))
    check_derivatives(lambda x: f(x, axis=0), x, order=2)


EDGES = numpy.array(
    [-numpy.inf, -50.5, -3.0, -2.5, -0.5, -1e-300, 0.0, 1e-9, 0.3, 1.0, 2.0, 171.0, 1e10, numpy.inf,
     numpy.nan]
)  # fmt: skip
SPLIT = numpy.array([0.0, 1e-9, 0.5, 1.0, 3.5, 50.0, 1e6, numpy.inf, numpy.nan])


def test_edges():
    with numpy.errstate(all="ignore"):
        for name in ("erf", "erfc", "erfinv", "ndtr", "ndtri", "log_ndtr", "gamma", "i0", "i1e",
                     "gammasgn", "expit", "logit", "entr", "factorial"):  # fmt: skip
            found, expected = getattr(special, name)(EDGES), getattr(theirs, name)(EDGES)
            assert_same(found, expected.astype(float), 1e-10, name)
        rows = SPLIT[:, None]
        for name in ("gammainc", "xlogy", "xlog1py", "rel_entr", "boxcox"):
            found, expected = (
                getattr(special, name)(rows, SPLIT),
                getattr(theirs, name)(rows, SPLIT),
            )
            assert_same(found, expected, 1e-8, name)
        args = rows[:, None], rows, numpy.array([-1.0, 0.0, 0.3, 0.5, 1.0, numpy.nan])
        assert_same(special.betainc(*args), theirs.betainc(*args), 1e-8)
    z, m = numpy.array([-2.0, 0, -2, 1, -3, 1e6, 5]), numpy.array([-2.0, -2, 1, -2, 2, -0.5, 0])
    assert_same(special.poch(z, m), theirs.poch(z, m), 1e-12)
    assert_same(special.zeta(3.0), theirs.zeta(3.0), 1e-12)
    assert_same(special.ndtri(10.0 ** -numpy.arange(1, 300, 7)),
                theirs.ndtri(10.0 ** -numpy.arange(1, 300, 7)), 1e-13)  # fmt: skip


def test_slopes_at_the_edges():
    slope = lambda name, *args: float(overt.grad(getattr(special, name))(*args))
    assert_same(slope("xlogy", 0.0, 0.5), numpy.log(0.5))
    assert_same(slope("xlog1py", 0.0, 0.5), numpy.log(1.5))
    assert slope("i0", 0.0) == 0.0 and slope("entr", 0.0) == numpy.inf
    assert_same(overt.grad(special.boxcox, 1)(2.0, 0.0), numpy.log(2) ** 2 / 2)
    assert_same(overt.grad(special.poch, 1)(1.0, 0.0), theirs.digamma(1.0))
    assert_same(overt.grad(special.comb, 1)(5.0, 0.0), theirs.digamma(6) - theirs.digamma(1))
    assert_same(slope("log_ndtr", -1e5), 1e5, 1e-9)


def test_large_arguments():
    a = numpy.array([1e4, 1e6, 1e8])
    for shift in (-3.0, 0.0, 2.0):
        x = a + shift * numpy.sqrt(a)
        assert_same(special.gammainc(a, x), theirs.gammainc(a, x), 1e-7)
        p = (a + shift * numpy.sqrt(a)) / (2 * a)
        assert_same(special.betainc(a, a, p), theirs.betainc(a, a, p), 1e-7)
    slope = float(overt.grad(special.gammainc)(1e6, 1e6))
    assert_same(slope, (theirs.gammainc(1e6 + 1, 1e6) - theirs.gammainc(1e6 - 1, 1e6)) / 2, 1e-6)


def test_entropy_at_zero():
    assert float(special.xlogy(0.0, 0.0)) == 0.0 and float(special.entr(0.0)) == 0.0
    assert_same(special.bernoulli(4), theirs.bernoulli(4))
    assert_same(special.multigammaln(5.0, 3), theirs.multigammaln(5.0, 3))
    assert_same(np.i0(X), theirs.i0(X), 1e-10)
