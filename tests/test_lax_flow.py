"""Control flow as functions under every transformation, against plain Python and differences."""

from __future__ import annotations

import numpy as onp
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np
from overt import lax, random


def inc(y):
    return y + 1


def cube(y):
    return y * y * y


def double(y):
    return 2 * y


def branch(x):
    return lax.cond(x > 2, cube, double, x)


def numbered(x):
    return lax.switch((x > 2) + (x > 3).astype(int), [inc, cube, double], x)


def power(x):
    def test(v):
        return v < 100.0

    def body(v):
        return v * x

    return lax.while_loop(test, body, x)


def repeated(x):
    def body(i, v):
        return v * x + i

    return lax.fori_loop(0, 4, body, 1.0)


def scanned(x):
    def body(carry, row):
        return carry * x + row["a"], {"y": carry * row["b"], "one": 1.0}

    rows = {"a": np.arange(5.0), "b": x * np.ones(5)}
    carry, ys = lax.scan(body, 0.5, rows, reverse=True)
    return carry + (ys["y"] * np.arange(5.0)).sum() + ys["one"].sum()


def counted(x):
    def body(carry, _):
        return carry * x, carry

    carry, ys = lax.scan(body, x, None, length=3)
    return carry + ys[1]


def mapped(x):
    return lax.map(cube, x * np.arange(3.0)).sum()


def associated(x):
    return lax.associative_scan(np.multiply, x + np.arange(5.0), reverse=True).sum()


FUNCTIONS = [branch, numbered, power, repeated, scanned, counted, mapped, associated]
POINTS = [1.7, 2.6]


def slope(f, x):
    return (float(f(np.asarray(x + 1e-5))) - float(f(np.asarray(x - 1e-5)))) / 2e-5


def chained(w, xs):
    def step(h, x):
        h = np.tanh(w @ h + x)
        return h, h * x

    h, hs = lax.scan(step, np.ones(3), xs)
    return np.sum(hs**2) + np.sum(h)


@pytest.mark.parametrize("argnum", [0, 1])
def test_the_gradient_of_a_gradient_of_a_scan(argnum, x64):
    args = [onp.linspace(-0.6, 0.8, 9).reshape(3, 3), onp.linspace(-0.5, 0.7, 12).reshape(4, 3)]
    v = onp.cos(onp.arange(args[argnum].size)).reshape(args[argnum].shape)
    grad = overt.grad(chained, argnums=argnum)

    def along(w, xs):
        return np.sum(grad(w, xs) * v)

    upper, lower = ([*args], [*args])
    upper[argnum] = args[argnum] + 1e-5 * v
    lower[argnum] = args[argnum] - 1e-5 * v
    wanted = (onp.asarray(grad(*upper)) - onp.asarray(grad(*lower))) / 2e-5
    assert_allclose(overt.grad(along, argnums=argnum)(*args), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f, x64):
    grad = overt.grad(f)
    for x in POINTS:
        wanted = slope(grad, x)
        assert_allclose(overt.grad(grad)(x), wanted, rtol=1e-6)
        assert_allclose(overt.jvp(grad, (x,), (1.0,))[1], wanted, rtol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_all_transformations(f, x64):
    values = [float(f(np.asarray(x))) for x in POINTS]
    slopes = [slope(f, x) for x in POINTS]
    jitted, grad = overt.jit(f), overt.grad(f)
    staged_grad = overt.jit(grad)
    for x, value, wanted in zip(POINTS, values, slopes, strict=True):
        assert_allclose(jitted(x), value, rtol=1e-12)
        assert_allclose(grad(x), wanted, rtol=1e-6)
        assert_allclose(staged_grad(x), wanted, rtol=1e-6)
        assert_allclose(overt.jvp(f, (x,), (1.0,))[1], wanted, rtol=1e-6)
    assert_allclose(overt.vmap(f)(np.array(POINTS)), values, rtol=1e-12)
    assert_allclose(overt.vmap(grad)(np.array(POINTS)), slopes, rtol=1e-6)


def test_a_staged_scan_stays_a_loop():
    def body(carry, row):
        return np.cos(carry + row), carry

    def f(xs):
        return lax.scan(body, 0.0, xs)

    def g(xs):
        return lax.scan(body, 0.0, xs)[0]

    lengths = [len(overt.jit(f).lower(np.zeros(n)).as_text().splitlines()) for n in (5, 5000)]
    assert lengths[0] == lengths[1] < 80
    lengths = [
        len(overt.jit(overt.grad(g)).lower(np.zeros(n)).as_text().splitlines()) for n in (5, 5000)
    ]
    assert lengths[0] == lengths[1] < 200


def test_keys_in_loops():
    def walk(key):
        def body(carry, _):
            key, x = carry
            key, subkey = random.split(key)
            return (key, x + random.normal(subkey)), x

        return lax.scan(body, (key, 0.0), None, length=4)[1]

    walked = onp.asarray(walk(random.key(3)))
    assert_allclose(overt.jit(walk)(random.key(3)), walked, rtol=1e-6)
    keys = random.split(random.key(3), 2)
    several = overt.vmap(walk)(keys)
    assert_allclose(several[1], walk(keys[1]), rtol=1e-6)


def test_scans_in_scans_that_close_over_values(x64):
    xs = onp.linspace(-0.5, 0.7, 12).reshape(4, 3)
    ws = onp.linspace(-0.6, 0.8, 18).reshape(2, 3, 3)

    def f(w, xs):
        def outer(c, x):
            v = w * np.sum(x)

            def inner(d, y):
                d = np.tanh(v @ d + y + w[0])
                return d, d * c[0]

            d, e = lax.scan(inner, c, xs)
            return d, e.sum(0) * v[0]

        c, es = lax.scan(outer, np.ones(3), xs)
        return np.sum(c * c) + np.sum(es)

    grad = overt.grad(f, argnums=(0, 1))
    plain = [grad(w, xs) for w in ws]
    for k, w in enumerate(ws):
        for bar, x in zip(plain[k], (w, xs), strict=True):
            e = onp.zeros_like(x)
            e[0, 1] = 1e-6
            lower, upper = ((f(w - s, xs) if x is w else f(w, xs - s)) for s in (e, -e))
            assert_allclose(bar[0, 1], (upper - lower) / 2e-6, rtol=1e-6)
    staged = overt.jit(grad)(ws[0], xs)
    several = overt.jit(overt.vmap(grad, in_axes=(0, None)))(ws, xs)
    for i in (0, 1):
        assert_allclose(staged[i], plain[0][i], rtol=1e-9)
        assert_allclose(several[i], [plain[0][i], plain[1][i]], rtol=1e-9)


def test_records_do_not_copy_what_comes_from_outside():
    def f(w, xs):
        def step(h, x):
            return np.tanh(w @ h + x), h

        h, hs = lax.scan(step, np.zeros(8), xs)
        return np.sum(h) + np.sum(hs)

    text = overt.jit(overt.grad(f)).lower(np.ones((8, 8)), np.ones((5, 8))).as_text()
    assert "5x8xf" in text
    assert "5x8x8xf" not in text
