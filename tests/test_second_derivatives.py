"""Second derivatives of loops that call functions, eagerly, compiled and over lanes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from overt import lax

RANDOM = numpy.random.default_rng(0)
W, V = (RANDOM.normal(size=(3, 3)) * 0.4 for _ in range(2))
XS = RANDOM.normal(size=(4, 3)) * 0.4
H = 1e-4


pytestmark = pytest.mark.usefixtures("quiet_x64")


def scanned(w, xs):
    def step(h, x):
        h = np.tanh(w @ h + x)
        return h, (h, w.sum() * h[0])

    h, (hs, c) = lax.scan(step, np.zeros(3), xs)
    return np.sum(hs**2) + np.sum(c)


def scan_in_scan(w, xs):
    def outer(c, x):
        v = w * np.sum(x)

        def inner(d, y):
            d = np.tanh(v @ d + y + w[0])
            return d, d * c[0]

        d, e = lax.scan(inner, c, xs)
        return d, e.sum(0) * v[0]

    c, es = lax.scan(outer, np.ones(3), xs)
    return np.sum(c * c) + np.sum(es)


def carried(w, xs):
    def step(c, x):
        k, h = c
        return (k, np.tanh(k @ h + x)), h

    (k, h), hs = lax.scan(step, (w, np.ones(3)), xs)
    return np.sum(hs**3) + np.sum(k**2 * h)


def counted(w, xs):
    return np.sum(lax.fori_loop(0, 3, lambda i, h: np.tanh(w @ h + xs[i]), np.ones(3)) ** 2)


def stopped_by_test(w, xs):
    def body(s):
        return s[0] + 1, np.tanh(w @ s[1] + xs[s[0]])

    return np.sum(lax.while_loop(lambda s: s[0] < 3, body, (0, np.ones(3)))[1] ** 2)


def mapped(w, xs):
    return np.sum(lax.map(lambda x: np.tanh(w @ x) ** 2, xs))


def branching(w, xs):
    def step(h, x):
        h = lax.cond(x[0] > 0, lambda h: np.tanh(w @ h + x), lambda h: h * w[0, 0], h)
        return h, h

    return np.sum(lax.scan(step, np.ones(3), xs)[1] ** 2)


def associative(w, xs):
    return np.sum(lax.associative_scan(lambda a, b: a * b + w[0], xs) ** 2)


def applied(step, h, xs):
    total = 0.0
    for x in xs:
        h = step(h, x)
        total = total + np.sum(h**2)
    return total


def passed(w, xs):
    return applied(lambda h, x: np.tanh(w @ h + x), np.ones(3), xs)


FUNCTIONS = [
    scanned, scan_in_scan, carried, counted, stopped_by_test, mapped, branching, associative,
    passed,
]  # fmt: skip


def product(f, w):
    """The Hessian times V, by differences of the compiled gradient."""
    g = overt.jit(overt.grad(f))
    return (numpy.asarray(g(w + H * V, XS)) - numpy.asarray(g(w - H * V, XS))) / (2 * H)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessian_products(f):
    want = product(f, W)
    ways = {
        "grad of grad": overt.grad(lambda w: np.sum(overt.grad(f)(w, XS) * V)),
        "jvp of grad": lambda w: overt.jvp(lambda w: overt.grad(f)(w, XS), (w,), (V,))[1],
        "grad of jvp": overt.grad(lambda w: overt.jvp(lambda w: f(w, XS), (w,), (V,))[1]),
    }
    for name, way in ways.items():
        for run in (way, overt.jit(way)):
            numpy.testing.assert_allclose(run(W), want, rtol=1e-5, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_over_lanes(f):
    ws = numpy.stack([W, W.T])
    want = [numpy.asarray(overt.grad(f)(w, XS)) for w in ws]
    over_lanes = overt.vmap(overt.grad(f), in_axes=(0, None))
    through_lanes = overt.grad(lambda ws: np.sum(overt.vmap(f, in_axes=(0, None))(ws, XS)))
    numpy.testing.assert_allclose(overt.jit(over_lanes)(ws, XS), want, rtol=1e-8)
    numpy.testing.assert_allclose(overt.jit(through_lanes)(ws), want, rtol=1e-8)
    second = overt.vmap(overt.grad(lambda w: np.sum(overt.grad(f)(w, XS) * V)))
    products = [product(f, w) for w in ws]
    numpy.testing.assert_allclose(overt.jit(second)(ws), products, rtol=1e-5, atol=1e-7)


class Spring(NamedTuple):
    stiffness: Any
    length: Any

    @property
    def energy(self):
        return self.stiffness**3 * self.length


def test_a_computed_field():
    def slope_of(x):
        return overt.grad(lambda spring: spring.energy)(Spring(x, x)).stiffness  # 3 x ** 3

    want = pytest.approx(9 * 0.7**2)
    assert float(overt.jvp(slope_of, (0.7,), (1.0,))[1]) == want
    assert float(overt.grad(slope_of)(0.7)) == want
    assert float(overt.jit(lambda x: overt.jvp(slope_of, (x,), (1.0,))[1])(0.7)) == want
    over_lanes = overt.vmap(lambda x: overt.jvp(slope_of, (x,), (1.0,))[1])
    numpy.testing.assert_allclose(over_lanes(numpy.array([0.7, 1.0])), [9 * 0.7**2, 9], rtol=1e-12)


def test_a_branch_beside_a_variable_that_is_set_on_some_paths():
    def f(x):
        if x > 0.6:
            v = x
            y = v * v
        elif x > 0.3:
            v = x
            y = v * 3.0
        else:
            y = x
        return y

    g = overt.jit(overt.grad(f))
    assert [float(g(x)) for x in (0.7, 0.4, 0.1)] == pytest.approx([1.4, 3.0, 1.0])


def cholesky(x):
    a = numpy.array([[2.0, x], [x, 3.0]])
    lower = numpy.zeros((2, 2))
    for i in range(2):
        for j in range(i + 1):
            s = a[i, j] - sum(lower[i, k] * lower[j, k] for k in range(j))
            lower[i, j] = numpy.sqrt(s) if i == j else s / lower[j, j]
    return lower[1, 1] + lower[1, 0]


def powers(x):
    total = 0.0
    for i in range(4):
        for j in range(4):
            if j > i:
                break
            total += sum(x ** (i - k) for k in range(j)) * x ** (i * j - 2 * j)
    return total


@pytest.mark.parametrize("f", [cholesky, powers])
def test_counters_and_sums_of_nothing(f):
    low, here, high = (float(f(x)) for x in (0.7 - H, 0.7, 0.7 + H))
    want = (high - 2 * here + low) / H**2
    numpy.testing.assert_allclose(overt.grad(overt.grad(f))(0.7), want, rtol=1e-5)
