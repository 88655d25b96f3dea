"""Reductions, running sums and statistics: values, derivatives, batching, edges."""

from __future__ import annotations

import numpy
import pytest
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.runtime.numpy as np
from overt.runtime.numpy.cumulative import cummax, cummin, pulled_to_records
from overt.runtime.numpy.reducing import max_bar
from overt.runtime.record import vjp_call

rng = numpy.random.default_rng(1)
X = rng.normal(size=(2, 3, 4))
MASK = rng.random(size=(2, 3, 4)) > 0.4
ZEROS = numpy.array([[1.5, 0.0, -2.0], [0.0, 0.0, 3.0], [2.0, 0.5, -1.0]])
INTEGERS = rng.integers(-5, 9, size=(2, 3))
WITH_NAN = numpy.where(rng.random(size=X.shape) > 0.7, numpy.nan, X)
WITH_NAN[:, :2] = X[:, :2]  # NumPy warns where all are NaN
AXES = [None, -1, (0, 2)]


@pytest.fixture(autouse=True)
def wide(x64):
    """All tests of this file compute in 64 bits."""


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "ptp"])
@pytest.mark.parametrize("axis", AXES)
def test_values_and_derivatives(name, axis):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    assert_same(ours(X, axis), theirs(X, axis), 1e-12)
    check_derivatives(lambda x: ours(x, axis, keepdims=True), X, order=2 if axis == -1 else 1)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all", "argmax"])
def test_other_dtypes(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for x in (INTEGERS, INTEGERS > 2, numpy.uint8(numpy.abs(INTEGERS)), X[0].astype("float32")):
        assert_same(ours(x, 1), theirs(x, 1), 1e-5, f"{name} of {x.dtype}")


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_masks(name):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    mask = MASK | (numpy.arange(3)[:, None] < 2)
    assert_same(ours(X, 1, where=mask), theirs(X, 1, where=mask), 1e-12)
    check_derivatives(lambda x: ours(x, 1, where=mask), X, order=2)


def test_initial_values():
    assert_same(np.sum(X, 1, initial=2.0), numpy.sum(X, 1, initial=2.0))
    assert_same(np.prod(X, 1, initial=2.0), numpy.prod(X, 1, initial=2.0))
    assert_same(np.max(X, 1, initial=0.1, where=MASK), numpy.max(X, 1, initial=0.1, where=MASK))
    check_derivatives(lambda x, i: np.sum(x, 1, initial=i), X, numpy.array(2.0))
    check_derivatives(lambda x: np.prod(x, 1, initial=2.0), X, order=2)
    check_derivatives(lambda x: np.max(x, 1, initial=0.1, where=MASK), X)
    assert_same(np.max(numpy.zeros((0,)), initial=-1.0), -1.0)
    assert_same(np.sum(numpy.zeros((0, 3)), 0), numpy.zeros(3))


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "mean", "std", "argmax", "any", "cumsum", "cumprod", "median"]
)
def test_batches(name):
    f = getattr(np, name)
    check_batch(lambda x: f(x, 0), X)
    check_batch(lambda x: f(x, -1), X)
    check_batch(f, X)


def test_lists_are_accepted():
    assert int(np.sum([1, 2, 3])) == 6
    assert_same(np.max([[1, 5], [7, 2]], axis=0), numpy.array([7, 5]))
    assert_same(np.mean([1, 2]), 1.5)


# ---- edges ----


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extrema_of_nothing_are_refused(name):
    with pytest.raises(ValueError, match="no elements"):
        getattr(np, name)(numpy.zeros((0,)))
    with pytest.raises(ValueError, match="no elements"):
        getattr(np, name)(numpy.zeros((2, 0)), axis=1)
    assert getattr(np, name)(numpy.zeros((0, 2)), axis=1).shape == (0,)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_nan_wins(name, axis):
    x = numpy.array([[1.0, numpy.nan, 3.0], [5.0, 2.0, numpy.nan]])
    assert_same(getattr(np, name)(x, axis), getattr(numpy, name)(x, axis))
    ties = numpy.array([[2, 7, 7], [7, 2, 2]])
    assert_same(getattr(np, name)(ties, axis), getattr(numpy, name)(ties, axis))


def gradient_of(f, x):
    return numpy.asarray(vjp_call(f, np.asarray(x))[1](np.asarray(1.0))[0])


def test_ties_share_the_derivative():
    assert_same(gradient_of(np.max, numpy.array([1.0, 3.0, 3.0])), numpy.array([0, 0.5, 0.5]))
    assert_same(gradient_of(np.min, numpy.array([3.0, 3.0, 3.0])), numpy.full(3, 1 / 3))


@pytest.mark.parametrize("axis", [None, -1, (0, 2)])
def test_extremes_of_what_a_program_computed_otherwise(axis):
    """A program may compute twice what it takes the largest of, and round it otherwise."""
    largest = numpy.max(X, axis)
    slope = numpy.asarray(X == numpy.max(X, axis, keepdims=True), float)
    for near in (numpy.nextafter(largest, 9.0), numpy.nextafter(largest, -9.0), largest):
        spread = overt.jit(lambda x, out: max_bar(np.ones_like(out), x, out, axis))
        assert_same(spread(X, near), slope)
    masked = overt.jit(lambda x, out: max_bar(1.0, x, out, where=MASK))
    near = numpy.nextafter(numpy.max(X[MASK]), 9.0)
    assert_same(masked(X, near), numpy.asarray((numpy.max(X[MASK]) == X) & MASK, float))
    starts = overt.jit(lambda x, out: max_bar(1.0, x, out, initial=9.0))
    assert_same(starts(X, 9.0), numpy.zeros(X.shape))


@pytest.mark.parametrize("reverse", [False, True])
def test_records_of_what_a_program_computed_otherwise(reverse):
    x = numpy.array([1.0, 3.0, 2.0, 4.0, 3.5])
    out = numpy.maximum.accumulate(x[::-1])[::-1] if reverse else numpy.maximum.accumulate(x)
    pulled = overt.jit(lambda x, out: pulled_to_records(np.ones(5), x, out, 0, reverse))
    expected = [0.0, 0.0, 0.0, 4.0, 1.0] if reverse else [1.0, 2.0, 0.0, 2.0, 0.0]
    for near in (numpy.nextafter(out, 9.0), numpy.nextafter(out, -9.0), out):
        assert_same(pulled(x, near), numpy.array(expected))


def test_constant_input_has_finite_slopes():
    assert_same(gradient_of(np.var, numpy.full(3, 2.0)), numpy.zeros(3))
    assert_same(gradient_of(np.std, numpy.full(3, 2.0)), numpy.zeros(3))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_products_with_zeros(axis):
    check_derivatives(lambda x: np.prod(x, axis), ZEROS, order=3 if axis == 0 else 2, step=1e-3)
    check_derivatives(lambda x: np.cumprod(x, axis), ZEROS, order=2, step=1e-3)
    check_batch(lambda x: np.prod(x, 0), ZEROS)


def test_unsigned_sums_stay_exact():
    assert_same(np.sum(numpy.uint8([200, 100])), numpy.sum(numpy.uint8([200, 100])))
    assert_same(np.sum(numpy.array([True, True])), numpy.array(2))
    assert float(np.sum(numpy.full(3000, 1.0, "float16"))) == 3000.0


def test_complex_reductions():
    z = X + 1j * X[::-1]
    for name in ("sum", "prod", "mean", "var", "std", "max"):
        assert_same(getattr(np, name)(z, 1), getattr(numpy, name)(z, 1), 1e-10, name)
    check_derivatives(lambda x, y: np.var(x + 1j * y, 1), X, X[::-1], order=2)
    check_derivatives(lambda x, y: np.abs(np.prod(x + 1j * y, 1)), X, X[::-1])


# ---- running ----


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running(name, axis):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    assert_same(ours(X, axis), theirs(X, axis), 1e-12)
    assert_same(ours(INTEGERS, None), theirs(INTEGERS, None))
    check_derivatives(lambda x: ours(x, axis), X, order=2 if axis == 0 else 1)


@pytest.mark.parametrize("n", [0, 1, 64, 65, 300, 5000])
def test_running_over_many_elements(n):
    x = rng.normal(size=(n, 2))
    assert_same(np.cumsum(x, 0), numpy.cumsum(x, 0), 1e-10)
    assert_same(cummax(x, 0), numpy.maximum.accumulate(x, 0) if n else x)
    assert_same(np.flip(np.cumsum(np.flip(x, 0), 0), 0), numpy.cumsum(x[::-1], 0)[::-1], 1e-10)
    total = vjp_call(lambda x: np.cumsum(x, 0), np.asarray(x))[1](np.ones((n, 2)))[0]
    assert_same(total, numpy.arange(n, 0, -1.0)[:, None] + numpy.zeros((n, 2)))


@pytest.mark.parametrize("f, numpy_f", [(cummax, numpy.maximum), (cummin, numpy.minimum)])
def test_running_extrema(f, numpy_f):
    assert_same(f(X, 1), numpy_f.accumulate(X, 1))
    check_derivatives(lambda x: f(x, 1), X)
    check_batch(lambda x: f(x, 0), X)


def test_cumulative_sum_and_prod():
    assert_same(
        np.cumulative_sum(X, axis=1, include_initial=True),
        numpy.cumulative_sum(X, axis=1, include_initial=True),
    )
    assert_same(np.nancumsum(WITH_NAN, 1), numpy.nancumsum(WITH_NAN, 1))
    assert_same(np.nancumprod(WITH_NAN, 1), numpy.nancumprod(WITH_NAN, 1))


# ---- statistics ----


@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"]
)
@pytest.mark.parametrize("axis", [None, 1])
def test_without_nan(name, axis):
    ours, theirs = getattr(np, name), getattr(numpy, name)
    assert_same(ours(WITH_NAN, axis), theirs(WITH_NAN, axis), 1e-12)
    assert_same(ours(INTEGERS, axis), theirs(INTEGERS, axis), 1e-12)
    missing = numpy.isnan(WITH_NAN)
    check_derivatives(lambda x: ours(np.where(missing, np.nan, x), axis), X)


def test_positions_without_nan():
    x = numpy.array([[numpy.nan, 2.0, 1.0], [3.0, numpy.nan, 0.0]])
    assert_same(np.nanargmax(x, 1), numpy.nanargmax(x, 1))
    assert_same(np.nanargmin(x), numpy.nanargmin(x))


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("axis", [None, 1, (0, 2)])
def test_quantiles(method, axis):
    for q in (0.3, numpy.array([0.0, 0.45, 1.0])):
        expected = numpy.quantile(X, q, axis, method=method)
        assert_same(np.quantile(X, q, axis, method=method), expected, 1e-12)
    expected = numpy.percentile(X, 40.0, axis, method=method, keepdims=True)
    assert_same(np.percentile(X, 40.0, axis, method=method, keepdims=True), expected, 1e-12)
    expected = numpy.nanquantile(WITH_NAN, 0.6, axis, method=method)
    assert_same(np.nanquantile(WITH_NAN, 0.6, axis, method=method), expected, 1e-12)


def test_medians():
    assert_same(np.median(X, 1), numpy.median(X, 1))
    assert_same(np.median(WITH_NAN), numpy.median(WITH_NAN))
    assert_same(np.nanmedian(WITH_NAN, 2), numpy.nanmedian(WITH_NAN, 2))
    check_derivatives(lambda x: np.median(x, 1), X)
    check_derivatives(lambda x, q: np.quantile(x, q, 1), X, numpy.array([0.2, 0.7]))


def test_averages_and_covariances():
    weights = rng.random(size=(3,))
    assert_same(np.average(X, 1, weights), numpy.average(X, 1, weights))
    assert_same(np.average(X, returned=True), numpy.average(X, returned=True))
    m, y = X[0], X[1]
    assert_same(np.cov(m), numpy.cov(m))
    assert_same(np.cov(m, y, rowvar=False, bias=True), numpy.cov(m, y, rowvar=False, bias=True))
    counts, reliable = numpy.array([1, 2, 3, 1]), rng.random(size=4)
    assert_same(
        np.cov(m, fweights=counts, aweights=reliable),
        numpy.cov(m, fweights=counts, aweights=reliable),
    )
    assert_same(np.corrcoef(m, y), numpy.corrcoef(m, y))
    check_derivatives(lambda x, w: np.average(x, 1, w), X, weights)
    check_derivatives(np.cov, m, order=2)


# ---- differences and interpolation ----


def test_differences():
    assert_same(np.diff(X, 2, 1), numpy.diff(X, 2, 1))
    assert_same(np.diff(X[0], prepend=0.0, append=X[0]), numpy.diff(X[0], prepend=0.0, append=X[0]))
    assert_same(np.ediff1d(X, to_end=1.0, to_begin=[2.0]), numpy.ediff1d(X, 1.0, [2.0]))
    check_derivatives(lambda x: np.diff(x, axis=0), X)


def test_gradients_and_integrals():
    assert_same(np.gradient(X), list(numpy.gradient(X)))
    at = numpy.array([0.0, 0.5, 1.5, 4.0])
    assert_same(np.gradient(X, at, axis=2), numpy.gradient(X, at, axis=2))
    assert_same(np.gradient(X, 0.5, axis=1), numpy.gradient(X, 0.5, axis=1))
    assert_same(np.trapezoid(X, at), numpy.trapezoid(X, at))
    assert_same(np.trapezoid(X, dx=0.5, axis=1), numpy.trapezoid(X, dx=0.5, axis=1))
    check_derivatives(lambda y, x: np.trapezoid(y, x), X, at)
    check_derivatives(lambda f: np.gradient(f, at, axis=2), X)


def test_interpolation():
    x = numpy.array([[-1.0, 0.0, 0.35], [1.0, 2.5, 7.0]])
    xp, fp = numpy.array([0.0, 1.0, 2.0, 4.0]), numpy.array([0.0, 1.0, -0.5, 2.0])
    assert_same(np.interp(x, xp, fp), numpy.interp(x, xp, fp))
    assert_same(np.interp(x, xp, fp, -5.0, 9.0), numpy.interp(x, xp, fp, -5.0, 9.0))
    assert_same(np.interp(x, xp, fp, period=5.0), numpy.interp(x, xp, fp, period=5.0))
    check_derivatives(np.interp, numpy.array([-0.7, 0.35, 1.6, 2.2, 5.1]), xp, fp, order=2)
    check_batch(lambda t: np.interp(t, xp, fp), x)
