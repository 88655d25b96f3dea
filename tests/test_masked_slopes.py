"""Reductions with `where=` and those that leave NaNs out: what a masked element is, matters to
no value and no slope, in every order; and `initial=` has slopes of its own.
"""

from __future__ import annotations

import warnings

import numpy
import pytest

import overt
import overt.nn as nn
import overt.numpy as np

X = numpy.array([[1.5, 0.7, 2.5], [0.3, 1.9, 1.1]])
MASK = numpy.array([[True, False, True], [True, True, False]])
WEIGHTS = numpy.array([[1.0, 1.37, 1.74], [2.11, 2.48, 2.85]])
ALONG = numpy.where(MASK, [[0.3, 0.2, 0.5], [0.7, -0.1, 0.9]], 0.0)


@pytest.fixture(autouse=True)
def in_64_bits():
    with overt.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of what is masked
        yield


def slopes_of(f, x):
    """By differences in NumPy, of the elements that count."""
    found = numpy.zeros_like(x)
    for i in zip(*numpy.nonzero(MASK), strict=True):
        up, down = x.copy(), x.copy()
        up[i] += 1e-6
        down[i] -= 1e-6
        found[i] = (f(up) - f(down)) / 2e-6
    return found


def check(ours, theirs, bad):
    x = numpy.where(MASK, X, bad)

    def f(x):
        out = np.asarray(ours(x))
        return np.sum(out * WEIGHTS.ravel()[: out.size].reshape(out.shape))

    def reference(x):
        out = numpy.asarray(theirs(x))
        return float(numpy.sum(out * WEIGHTS.ravel()[: out.size].reshape(out.shape)))

    numpy.testing.assert_allclose(float(f(x)), reference(x), rtol=1e-9)
    expected = slopes_of(reference, x)
    close = numpy.testing.assert_allclose
    close(overt.grad(f)(x), expected, rtol=1e-5, atol=1e-7)
    close(overt.jacfwd(f)(x), expected, rtol=1e-5, atol=1e-7)
    close(overt.jit(overt.vmap(overt.grad(f)))(np.stack([x, x]))[1], expected, rtol=1e-5, atol=1e-7)
    second = (
        slopes_of(reference, x + 1e-3 * ALONG) - slopes_of(reference, x - 1e-3 * ALONG)
    ) / 2e-3
    slope = overt.grad(f)
    close(overt.jvp(slope, (x,), (ALONG,))[1], second, rtol=2e-3, atol=2e-3)
    close(overt.grad(lambda x: np.sum(slope(x) * ALONG))(x), second, rtol=2e-3, atol=2e-3)


WITH_WHERE = [
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "nansum",
    "nanprod",
    "nanmean",
    "nanvar",
    "nanstd",
]


@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
@pytest.mark.parametrize("name", WITH_WHERE)
def test_masks(name, bad, axis):
    check(
        lambda x: getattr(np, name)(x, axis=axis, where=MASK),
        lambda x: getattr(numpy, name)(x, axis=axis, where=MASK),
        bad,
    )


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_masks_with_an_initial_value(name):
    how = {"axis": 1, "where": MASK, "initial": 0.2 if name.endswith("max") else 9.0}
    check(
        lambda x: getattr(np, name)(x, **how), lambda x: getattr(numpy, name)(x, **how), numpy.nan
    )


NANS_LEFT_OUT = ["nanmedian", "nanquantile", "nanpercentile", "nancumsum", "nancumprod"]


@pytest.mark.parametrize("name", NANS_LEFT_OUT)
def test_nans_left_out(name):
    more = {"nanquantile": (0.6,), "nanpercentile": (60.0,)}.get(name, ())
    check(
        lambda x: getattr(np, name)(x, *more, axis=1),
        lambda x: getattr(numpy, name)(x, *more, axis=1),
        numpy.nan,
    )


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logaddexp", "hypot"])
def test_masks_of_ufuncs(name):
    how = {"axis": 1, "where": MASK, "initial": 0.2}
    reduce, its = getattr(np, name).reduce, getattr(numpy, name).reduce
    check(lambda x: reduce(x, **how), lambda x: its(x, **how), numpy.nan)


def test_ufuncs_without_identity_refuse_masks():
    with pytest.raises(NotImplementedError):
        np.subtract.reduce(X, axis=1, where=MASK, initial=0.2)


def standardized(x):
    mean = numpy.mean(x, axis=1, keepdims=True, where=MASK)
    variance = numpy.var(x, axis=1, keepdims=True, where=MASK)
    return numpy.where(MASK, (x - mean) / numpy.sqrt(variance + 0.1), 0.0)


def test_masks_of_neural_networks():
    check(
        lambda x: np.where(MASK, nn.standardize(x, axis=1, where=MASK, epsilon=0.1), 0.0),
        standardized,
        numpy.nan,
    )
    powers = lambda x: numpy.where(MASK, numpy.exp(numpy.where(MASK, x, 0.0)), 0.0)
    check(
        lambda x: nn.softmax(x, axis=1, where=MASK),
        lambda x: powers(x) / powers(x).sum(axis=1, keepdims=True),
        numpy.inf,
    )


INITIAL = [
    (lambda x, y: np.max(x, initial=y), 7.0),
    (lambda x, y: np.max(x, initial=y, where=MASK), 7.0),
    (lambda x, y: np.max(x, axis=0, **{"initial": y}).sum(), 1.0),
    (lambda x, y: np.min(x, initial=y), -7.0),
    (lambda x, y: np.prod(x, initial=y), 7.0),
    (lambda x, y: np.prod(x, initial=y, where=MASK) ** 2, 7.0),
    (lambda x, y: np.nanmax(x, initial=y), 7.0),
    (lambda x, y: np.asarray(x).max(initial=y), 7.0),
    (lambda x, y: np.sum(nn.elu(x - 1.0, y)), 0.7),
    (lambda x, y: np.sum(nn.leaky_relu(x - 1.0, y)), 0.3),
    (lambda x, y: np.var(x, ddof=y), 0.5),
    (lambda x, y: np.linalg.norm(x.ravel(), ord=y), 2.5),
]


@pytest.mark.parametrize("f, y", INITIAL)
def test_parameters_have_slopes(f, y):
    """What a rule takes as a constant is none if it is being differentiated."""
    expected = (float(f(X, y + 1e-5)) - float(f(X, y - 1e-5))) / 2e-5
    close = lambda found: numpy.testing.assert_allclose(
        float(found), expected, rtol=1e-5, atol=1e-7
    )
    close(overt.grad(f, 1)(X, y))
    close(overt.jvp(lambda y: f(X, y), (y,), (1.0,))[1])


def test_parameters_have_slopes_under_jit():
    f = lambda x, y: np.max(x, initial=y) * np.prod(x, initial=y)
    expected = (float(f(X, 7.0 + 1e-5)) - float(f(X, 7.0 - 1e-5))) / 2e-5
    numpy.testing.assert_allclose(float(overt.jit(overt.grad(f, 1))(X, 7.0)), expected, rtol=1e-6)
