"""Distributions of several variables, density estimates and summaries of samples."""

from __future__ import annotations

import pickle

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.numpy as np
from overt.scipy import stats

theirs = pytest.importorskip("scipy.stats")
rng = numpy.random.default_rng(5)
NAN = numpy.nan


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


def positive_definite(*shape):
    a = rng.normal(size=(*shape, shape[-1]))
    return a @ numpy.swapaxes(a, -1, -2) + numpy.eye(shape[-1])


def test_multivariate_normal():
    normal = stats.multivariate_normal
    x, mean, cov = rng.normal(size=(4, 3)), rng.normal(size=3), positive_definite(3)
    for k in ("logpdf", "pdf"):
        ours, expected = getattr(normal, k), getattr(theirs.multivariate_normal, k)
        assert_same(ours(x, mean, cov), expected(x, mean, cov), 1e-12)
        assert_same(ours(x, mean, 2.0), expected(x, mean, 2.0), 1e-12)
        assert_same(ours(0.3, 0.1, 2.0), expected(0.3, 0.1, 2.0), 1e-12)
    many = normal.logpdf(x, x[::-1], positive_definite(4, 3))
    assert many.shape == (4,)
    check_derivatives(lambda x, m, c: normal.logpdf(x, m, c @ c.T), x, mean, cov)
    together = overt.vmap(normal.logpdf)(x, x[::-1], numpy.stack([cov] * 4))
    assert_same(together, normal.logpdf(x, x[::-1], cov), 1e-12)
    with pytest.raises(NotImplementedError, match="allow_singular"):
        normal.logpdf(x, mean, cov, allow_singular=True)
    with pytest.raises(ValueError, match="covariance of 3 variables"):
        normal.logpdf(x, mean, cov[:2, :2])


def test_dirichlet():
    alpha = numpy.array([0.7, 2.0, 3.0])
    x = rng.dirichlet(alpha, 5).T
    for k in ("logpdf", "pdf"):
        ours, expected = getattr(stats.dirichlet, k), getattr(theirs.dirichlet, k)
        assert_same(ours(x, alpha), expected(x, alpha), 1e-11)
        assert_same(ours(x[:2], alpha), expected(x, alpha), 1e-11)
        assert_same(ours(x[:, 0], alpha), expected(x[:, 0], alpha), 1e-11)
    assert stats.dirichlet.logpdf([0.5, 0.6, 0.1], alpha) == -numpy.inf
    assert stats.dirichlet.pdf([-0.5, 0.5, 1.0], alpha) == 0
    assert numpy.isnan(stats.dirichlet.pdf([0.5, 0.5], [1.0, -1.0]))
    check_derivatives(stats.dirichlet.logpdf, x[:2, 0], alpha)
    with pytest.raises(ValueError, match="alpha has shape"):
        stats.dirichlet.logpdf(x, alpha[:1])


def test_multinomial():
    p = numpy.array([0.2, 0.3, 0.5])
    x = numpy.array([[1, 2, 2], [0, 0, 5], [1, 1, 1], [-1, 1, 5]])
    for k in ("logpmf", "pmf"):
        ours, expected = getattr(stats.multinomial, k), getattr(theirs.multinomial, k)
        assert_same(ours(x, 5, p), expected(x, 5, p), 1e-11)
    check_derivatives(lambda p: stats.multinomial.logpmf(x[:2], 5, p), p)


@pytest.mark.parametrize("bw_method", [None, "silverman", 0.3, lambda estimate: 0.5])
def test_density_estimate(bw_method):
    data, weights = rng.normal(size=(2, 30)), rng.uniform(size=30)
    ours = stats.gaussian_kde(data, bw_method, weights)
    expected = theirs.gaussian_kde(data, bw_method, weights)
    points = rng.normal(size=(2, 5))
    for k in ("evaluate", "pdf", "logpdf", "__call__"):
        assert_same(getattr(ours, k)(points), getattr(expected, k)(points), 1e-10, k)
    mean, cov = numpy.ones(2), positive_definite(2)
    assert_same(ours.integrate_gaussian(mean, cov), expected.integrate_gaussian(mean, cov))
    assert_same(ours.integrate_kde(ours), expected.integrate_kde(expected))
    line, their_line = stats.gaussian_kde(data[0]), theirs.gaussian_kde(data[0])
    assert_same(line.integrate_box_1d(-1.0, 0.5), their_line.integrate_box_1d(-1.0, 0.5))
    assert_same(line(points[0]), their_line(points[0]))
    assert_same(ours.neff, expected.neff)
    assert (ours.d, ours.n) == (2, 30)


def test_density_estimate_in_transformations():
    jax = pytest.importorskip("jax")
    data, points = rng.normal(size=(2, 8)), rng.normal(size=(2, 3))
    ours = overt.jit(stats.gaussian_kde)(data)
    total = lambda data: np.sum(stats.gaussian_kde(data).logpdf(points))
    check_derivatives(total, data, rtol=1e-5)
    assert overt.grad(total)(data).shape == (2, 8)
    with jax.enable_x64(True), jax.threefry_partitionable(False):
        expected = jax.scipy.stats.gaussian_kde(data)
        drawn = expected.resample(jax.random.key(3), (4,))
    assert_same(ours.resample(overt.random.key(3), (4,)), drawn, 1e-6)
    for refused in (ours.set_bandwidth, lambda: ours.integrate_box([0, 0], [1, 1])):
        with pytest.raises(NotImplementedError, match="gaussian_kde"):
            refused()
    with pytest.raises(ValueError, match="points of 2 variables"):
        ours(numpy.ones(3))


TIES = numpy.array([[3.0, 1.0, 3.0, 2.0], [2.0, 2.0, 1.0, 1.0], [1.0, NAN, 1.0, 1.0]])


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": None}, {"axis": 1, "keepdims": 1}])
def test_mode(options):
    assert_same(stats.mode(TIES[:2], **options), theirs.mode(TIES[:2], **options))
    counts = numpy.array(TIES[:2], int)
    assert_same(stats.mode(counts, **options), theirs.mode(counts, **options))


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method):
    for axis in (None, 0, 1):
        expected = theirs.rankdata(TIES, method, axis=axis).astype(float)
        assert_same(stats.rankdata(TIES, method, axis=axis), expected)
        assert_same(stats.rankdata([], method), numpy.zeros(0))
    check_batch(lambda a: stats.rankdata(a, method), TIES)


def test_standard_error():
    for options in ({}, {"axis": 1}, {"axis": None}, {"ddof": 0}, {"axis": 1, "keepdims": True}):
        assert_same(stats.sem(TIES[:2], **options), theirs.sem(TIES[:2], **options))
    assert_same(stats.sem(TIES, 1, nan_policy="omit"), theirs.sem(TIES, 1, nan_policy="omit"))
    check_derivatives(lambda a: stats.sem(a, 1), TIES[:2])


def test_policies_that_depend_on_values_are_refused():
    for f in (stats.mode, stats.rankdata, stats.sem):
        with pytest.raises(NotImplementedError, match="raise"):
            f(TIES, nan_policy="raise")
        with pytest.raises(ValueError, match="nan_policy"):
            f(TIES, nan_policy="ignore")


def test_names_and_numbers():
    import overt.scipy.stats.norm
    from overt.scipy.stats import norm

    assert norm is overt.scipy.stats.norm
    assert set(stats.__all__) <= set(dir(stats))
    assert pickle.loads(pickle.dumps(norm.logpdf)) is norm.logpdf
    assert norm.logpdf(0.5).weak_type and norm.pdf(np.float32(1)).dtype == numpy.float32
    assert norm.pdf(numpy.zeros((0, 2))).shape == (0, 2)
    assert norm.cdf(x=1, loc=1, scale=2) == 0.5
    with pytest.raises(TypeError, match="norm.pdf takes real numbers"):
        norm.pdf(1j)
    assert "of the normal distribution" in norm.logsf.__doc__
    check_batch(lambda x, s: norm.logpdf(x, 0.5, s), rng.normal(size=3), numpy.ones(3))
