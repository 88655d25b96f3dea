"""Stores that show under other names: followed as NumPy has it, or refused; never in between."""

from __future__ import annotations

import types

import numpy
import pytest

import overt
import overt.numpy as np
from overt.rewrites.refusal import Refusal
from tests import followed_stores, refused_stores
from tests.numeric import slope

pytestmark = pytest.mark.usefixtures("quiet_x64")
X = 0.5


def in_numpy(f):
    """The function run by NumPy, whose arrays change in place; its helpers as well."""
    space = {**f.__globals__, "np": numpy}
    for name, g in f.__globals__.items():
        if isinstance(g, types.FunctionType) and g.__module__ == f.__module__:
            space[name] = types.FunctionType(g.__code__, space, name, g.__defaults__)
    return types.FunctionType(f.__code__, space, f.__name__)


@pytest.mark.parametrize("f", followed_stores.FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f):
    oracle = in_numpy(f)
    value, want = oracle(X), slope(oracle, X)
    with overt.disable_jit():
        numpy.testing.assert_allclose(overt.jit(f)(X), value, rtol=1e-12)
    numpy.testing.assert_allclose(overt.jit(f)(X), value, rtol=1e-12)
    numpy.testing.assert_allclose(overt.grad(f)(X), want, rtol=1e-6, atol=1e-8)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6, atol=1e-8)
    numpy.testing.assert_allclose(overt.vmap(f)(np.array([X, X])), [value, value], rtol=1e-12)


@pytest.mark.parametrize("f", followed_stores.FOLLOWED[::4], ids=lambda f: f.__name__)
def test_followed_through_compositions(f):
    oracle = in_numpy(f)
    xs = numpy.array([X, 0.8])
    slopes = [slope(oracle, x) for x in xs.tolist()]
    second = slope(lambda x: slope(oracle, x), X)
    numpy.testing.assert_allclose(overt.jit(overt.grad(f))(X), slopes[0], rtol=1e-6, atol=1e-8)
    numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(xs), slopes, rtol=1e-6, atol=1e-8)
    summed = overt.grad(lambda xs: np.sum(overt.vmap(f)(xs)))(xs)
    numpy.testing.assert_allclose(summed, slopes, rtol=1e-6, atol=1e-8)
    twice = overt.jvp(overt.grad(f), (X,), (1.0,))[1]
    numpy.testing.assert_allclose(twice, second, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("f", refused_stores.REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    by_fields = f in refused_stores.BY_FIELDS
    if by_fields:
        numpy.testing.assert_allclose(overt.grad(f)(X), slope(in_numpy(f), X), rtol=1e-6)
    for transformed in (overt.jit(f),) if by_fields else (overt.jit(f), overt.grad(f)):
        with pytest.raises((Refusal, NotImplementedError)) as caught:
            transformed(X)
        if isinstance(caught.value, Refusal):
            assert caught.value.file == refused_stores.__file__
        else:
            assert refused_stores.__file__ in "\n".join(caught.value.__notes__)
