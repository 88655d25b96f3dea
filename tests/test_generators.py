"""Generators that end, as lists of what they yield."""

from __future__ import annotations

import numpy
import pytest

import overt


def powers(v, n):
    p = 1.0
    for _ in range(n):
        p = p * v
        yield p


def chained(v):
    yield v
    yield from powers(v, 2)
    yield v + 1


def summed(x):
    return sum(powers(x, 3))


def weighted(x):
    total = 0.0
    for i, p in enumerate(powers(x, 4)):
        if i == 3:
            break
        total = total + p * i
    return total


def nested(x):
    def halves(v):
        while v > 0.1:
            yield v
            v = v / 2

    total = 0.0
    for h in halves(2.0):
        total = total + h * x**2
    return total


def unpacked(x):
    a, b, *rest = chained(x)
    return a * b + rest[0] * rest[1]


def in_expressions(x):
    return sum(v * v for v in chained(x)) + max(list(powers(x, 3)))


FUNCTIONS = [summed, weighted, nested, unpacked, in_expressions]
X, H = 0.5, 1e-4


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    want = (8 * (f(X + H) - f(X - H)) - (f(X + 2 * H) - f(X - 2 * H))) / (12 * H)
    with overt.enable_x64(True):
        numpy.testing.assert_allclose(overt.jit(f)(X), f(X), rtol=1e-12)
        numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6)
        for way in (overt.grad(f), overt.jit(overt.grad(f))):
            numpy.testing.assert_allclose(way(X), want, rtol=1e-6)
        xs = numpy.array([X, 0.8])
        numpy.testing.assert_allclose(overt.vmap(f)(xs), [f(x) for x in xs.tolist()], rtol=1e-12)
