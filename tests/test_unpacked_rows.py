"""Loops that unpack what they run over: rows of arrays, lists, parts of unequal length."""

from __future__ import annotations

import itertools

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope, slopes_of_both_orders

X = 0.7
M = numpy.arange(8.0).reshape(4, 2) / 4.0
CUBE = numpy.arange(8.0).reshape(2, 2, 2) / 4.0


pytestmark = pytest.mark.usefixtures("quiet_x64")


def pairs(x):
    t = 0.0
    for a, b in M * x:
        t = t + a * b * x
    return t


def one_of_a_pair(x):
    t = 0.0
    for a, _ in M * x:
        t = t + a * a
    return t + sum(b * b for _, b in M * x)


def nested(x):
    t = 0.0
    for k, ((a, b), c) in enumerate(CUBE * x):
        t = t + (k + 1.0) * a * b * np.sum(c)
    return t


def left_early(x):
    t = 0.0
    for k, (a, b) in enumerate(M * x):
        t = t + k * a * b
        if t > 1.0:
            break
    return t


def side_by_side(x):
    m = M * x
    t = 0.0
    for (a, b), (c, d) in zip(m, m[1:]):  # noqa: B905
        t = t + a * d - b * c * x
    for a, b in reversed(m):
        t = t * x + a * b
    return t


def rest_of_rows(x):
    t = 0.0
    for a, *r in CUBE[0] * x:
        t = t + a * sum(r)
    return t * x


def rest_of_lists(x):
    t = 0.0
    for a, *r in [[x, 2.0, x], [x * x, 3.0], [1.0]]:
        t = t + a * sum(r) + len(r)
    for *r, a in [(x, 2.0), (x * x, x)]:
        t = t + a * r[0]
    return t


def of_a_dictionary(x):
    t = 0.0
    for _, (a, *r) in {"u": [x, x * x, 2.0], "v": [3 * x]}.items():
        t = t + a * len(r) + sum(r)
    return t


def iterators(x):
    first, second = itertools.tee([x, x * x])
    joined = itertools.chain.from_iterable([[x], [x * x, 2.0]])
    return sum(first) * sum(second) + sum(joined)


def some_deleted(x):
    values = [x * k for k in range(5)]
    del values[1:3]
    return sum(k * v for k, v in enumerate(values)) * x


@pytest.mark.parametrize(
    "f",
    [
        pairs, one_of_a_pair, nested, left_early, side_by_side, rest_of_rows, rest_of_lists,
        of_a_dictionary, iterators, some_deleted,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_derivatives(f):
    once, twice = slopes_of_both_orders(f, X)
    numpy.testing.assert_allclose(overt.jit(f)(X), float(f(X)), rtol=1e-12)
    for way in (overt.grad(f), overt.jit(overt.grad(f))):
        numpy.testing.assert_allclose(way(X), once, rtol=1e-7)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], once, rtol=1e-7)
    lanes = overt.vmap(overt.grad(f))(numpy.array([X, X]))
    numpy.testing.assert_allclose(lanes, once, rtol=1e-7)
    numpy.testing.assert_allclose(overt.jvp(overt.grad(f), (X,), (1.0,))[1], twice, rtol=1e-5)


def product_of_pairs(items):
    t = 0.0
    for a, b in items:
        t = t + a * b
    return t


@pytest.mark.parametrize("way", [overt.grad, lambda f: overt.jit(overt.grad(f))])
def test_cotangents_have_the_containers_of_their_items(way):
    slopes = way(product_of_pairs)
    assert slopes([[1.0, 2.0], (3.0, 4.0)]) == [[2.0, 1.0], (4.0, 3.0)]
    assert slopes(((1.0, 2.0),)) == ((2.0, 1.0),)
    mixed = slopes([numpy.array([1.0, 2.0])])
    numpy.testing.assert_array_equal(mixed[0], [2.0, 1.0])
    numpy.testing.assert_array_equal(slopes(M), M[:, ::-1])


class Total:
    def __init__(self, value):
        self.value = value

    def __iadd__(self, other):
        self.value = self.value + other
        return self


def shared_total(x):
    total = Total(x)
    other = total
    total += x * x
    return other.value


def shared_default(x):
    def running(v, seen=[]):  # noqa: B006
        seen.append(v)
        return sum(seen)

    return running(x) + running(x * x)


def test_what_calls_share_is_refused():
    f = shared_default
    for way in (overt.jit(f), overt.grad(f), lambda x: overt.jvp(f, (x,), (1.0,))):
        with pytest.raises(NotImplementedError, match="all calls"):
            way(X)


def test_what_two_names_share():
    f = shared_total
    assert float(overt.jit(f)(X)) == pytest.approx(X + X * X)
    for slope_now in (overt.grad(f)(X), overt.jit(overt.grad(f))(X), overt.jvp(f, (X,), (1.0,))[1]):
        assert float(slope_now) == pytest.approx(1.0 + 2.0 * X)


def test_global_arrays_are_no_modules():
    f = lambda x: np.sum(M * x)
    numpy.testing.assert_allclose(overt.grad(f)(X), M.sum())


class Complex:
    def __init__(self, re, im):
        self.re, self.im = re, im

    def __mul__(self, other):
        re, im = self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        return Complex(re, im)

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __eq__(self, other):
        return isinstance(other, Complex)

    __hash__ = None


def test_objects_made_anew_in_a_loop():
    def orbit(x, n=3):
        z, c = Complex(0.1, x), Complex(x, 0.5)
        for _ in range(n):
            z = z * z + c
        return z.re * z.im

    want = slope(lambda x: float(orbit(x)), X, 1e-4)
    numpy.testing.assert_allclose(overt.jit(orbit)(X), float(orbit(X)), rtol=1e-12)
    for way in (overt.grad(orbit), overt.jit(overt.grad(orbit))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-7)


def test_lists_of_lists_stored_into_by_a_loop():
    def squared(x):
        a = [[x, 1.0], [x * x, 2.0 * x]]
        b = [row[:] for row in a]
        for i in range(2):
            for j in range(2):
                b[i][j] = sum(a[i][k] * a[k][j] for k in range(2))
        return b[0][1] * b[1][0]

    want = slope(lambda x: float(squared(x)), X, 1e-4)
    for way in (overt.grad(squared), overt.jit(overt.grad(squared))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-7)


def test_values_that_are_set_on_one_path_are_no_iterators():
    def f(x):
        if x < 0.2:
            y = x * x
        elif x < 0.9:
            y = np.sin(x) * x
        else:
            y = x - 1.0
        return y * y

    want = slope(lambda x: slope(lambda y: float(f(y)), x, 1e-3), X, 1e-3)
    assert float(overt.jvp(overt.grad(f), (X,), (1.0,))[1]) == pytest.approx(want, rel=1e-5)
    g = overt.grad(lambda x: overt.lax.cond(x > 0.2, lambda a, b: np.sin(a) * b, np.add, x, x))
    want = 2 * numpy.cos(X) - X * numpy.sin(X)
    assert float(overt.jvp(g, (X,), (1.0,))[1]) == pytest.approx(want)
