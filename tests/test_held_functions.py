"""Transformations of functions that hold values under differentiation, inside other ones."""

from __future__ import annotations

import functools
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope

pytestmark = pytest.mark.usefixtures("quiet_x64")


def over_lanes(x):
    return overt.vmap(lambda k: k * x * x)(np.arange(2.0)).sum()


def of_gradient(x):
    return overt.grad(lambda k: k * k * np.sin(x))(3.0)


def of_compiled(x):
    return overt.jit(lambda k: k * x * x)(2.0)


def along_tangent(x):
    return overt.jvp(lambda k: k * k * x**3, (3.0,), (1.0,))[1]


def of_partial(x):
    return overt.grad(functools.partial(lambda a, k: k * k * a * a, x))(3.0)


def checkpointed(x):
    return overt.checkpoint(lambda k: np.sin(k * x))(2.0)


def of_pullback(x):
    y = x * x
    v, pull = overt.vjp(lambda k: k * k * y, 3.0)
    return pull(1.0)[0] * v


def of_second_derivative(x):
    return overt.hessian(lambda k: k**3 * x * x)(3.0)


def in_dictionary(x):
    settings = {"gain": x}
    return overt.grad(lambda k: k * k * settings["gain"] ** 2)(3.0)


def of_columns(x):
    return np.sum(overt.jacfwd(lambda k: k**3 * x * x)(np.ones(2)))


def nested(x):
    return overt.vmap(overt.grad(lambda k: np.sin(k * x)))(np.arange(3.0)).sum()


def descent(x):
    def loss(w):
        return np.sum((w * x - 1.0) ** 2)

    w = np.ones(2)
    for _ in range(2):
        w = w - 0.1 * overt.grad(loss)(w)
    return loss(w)


def linearized(x):
    return overt.linearize(lambda k: k * k * x * x, 3.0)[1](1.0)


class Gain:
    def __init__(self, x: Any) -> None:
        self.x = x

    def of(self, k: Any) -> Any:
        return k * k * self.x**2


def of_method(x):
    return overt.grad(Gain(x).of)(3.0)


FUNCTIONS = [
    over_lanes, of_gradient, of_compiled, along_tangent, of_partial, checkpointed, of_pullback,
    of_second_derivative, in_dictionary, of_columns, nested, descent, linearized, of_method,
]  # fmt: skip
X = 0.5


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_first_derivatives(f):
    want = slope(f, X)
    for way in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    want = slope(lambda x: slope(f, x), X)
    numpy.testing.assert_allclose(overt.grad(overt.grad(f))(X), want, rtol=1e-4)
    numpy.testing.assert_allclose(overt.jvp(overt.grad(f), (X,), (1.0,))[1], want, rtol=1e-4)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_lanes(f):
    xs = numpy.array([0.5, 0.8])
    numpy.testing.assert_allclose(overt.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)
    slopes = [slope(f, x) for x in xs]
    numpy.testing.assert_allclose(overt.jit(overt.vmap(overt.grad(f)))(xs), slopes, rtol=1e-6)
    got = overt.grad(lambda xs: overt.vmap(f)(xs).sum())(xs)
    numpy.testing.assert_allclose(got, slopes, rtol=1e-6)
