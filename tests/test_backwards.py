"""Loops that run over something from its end, beside something else or not: every derivative."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slopes_of_both_orders

X = 0.7


pytestmark = pytest.mark.usefixtures("quiet_x64")


def beside_itself(x):
    p = [x, 2.0, x * x]
    t = 0.0
    for a, b in zip(p, reversed(p)):  # noqa: B905
        t = t * x + a + x * b
    return t


def in_a_comprehension(x):
    p = [x, 2.0]
    q = [a * b + b for a, b in zip(p, reversed(p), strict=True)]
    return q[0] * q[1]


def counted(x):
    t = 0.0
    for i, v in enumerate(reversed([x, 2.0, x * x])):
        t = t + v * i * v
    return t


def left_early(x):
    t = 0.0
    for v in reversed([x, 2.0 * x, x * x]):
        t = t + v * x
        if t > 1.0:
            break
    return t


def rows_left_early(x):
    t = 0.0
    for v in reversed(np.array([x, 2.0 * x, x * x])):
        t = t + v * x * v
        if t > 1.0:
            break
    return t


def longer_than_its_neighbour(x):
    p = np.array([x, 2.0 * x, x * x])
    t = 0.0
    for v, w in zip(reversed(p), p[:2]):  # noqa: B905
        t = t + v * x * v * w
    for _, v in zip(range(1), reversed([np.array([x, x]), x * x])):  # noqa: B905
        t = t + v * x * v
    return t


def of_a_dictionary(x):
    d = {"a": x, "b": x * x}
    t = 0.0
    for k, v in reversed(d.items()):
        t = t * x + v + d[k]
    for v, w in zip(d.values(), reversed(d.values()), strict=True):
        t = t * x + v * v * w
    return t


def within_a_loop(x):
    a = [1.0]
    for _ in range(3):
        padded = a + [0.0]
        a = [p + x * q for p, q in zip(padded, reversed(padded), strict=True)]
    return a[1] * a[2]


@pytest.mark.parametrize(
    "f",
    [
        beside_itself, in_a_comprehension, counted, left_early, rows_left_early,
        longer_than_its_neighbour, of_a_dictionary, within_a_loop,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_loops_from_the_end(f):
    once, twice = slopes_of_both_orders(f, X)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], once, rtol=1e-7)
    numpy.testing.assert_allclose(overt.grad(f)(X), once, rtol=1e-7)
    numpy.testing.assert_allclose(overt.jit(overt.grad(f))(X), once, rtol=1e-7)
    lanes = overt.vmap(overt.grad(f))(numpy.array([X, X]))
    numpy.testing.assert_allclose(lanes, once, rtol=1e-7)
    numpy.testing.assert_allclose(overt.grad(overt.grad(f))(X), twice, rtol=1e-5)
    numpy.testing.assert_allclose(overt.jvp(overt.grad(f), (X,), (1.0,))[1], twice, rtol=1e-5)
