"""Third derivatives of loops, lists, dictionaries and of what changes around a function."""

from __future__ import annotations

import math

import numpy
import pytest

import overt
import overt.numpy as np

level = 1.0


def spliced_list(x):
    xs = [x, x * x]
    xs[1:1] = [x * 3.0, x * x * x]
    xs += [0.5 * xs[2]]
    xs[1:] = [x * xs[0], xs[3] * x]
    return sum(v * i for i, v in enumerate(xs)) * xs[1]


def deleted_items(x):
    xs = [x, x * x, 3.0 * x, x * x * x]
    del xs[1]
    del xs[1:]
    xs += [x]
    d = {"a": x * xs[0], "b": x}
    del d["b"]
    return xs[0] * xs[1] * d["a"]


def chosen_items(x):
    ys = [w * x for w in (x, 2.0 * x)]
    fs = [lambda t, s=s: t * s * x for s in (1.0, 2.0, x)]
    for f in fs:
        ys[0] = f(ys[0])
    return sum(ys) * ys[0]


def grown_dictionary(x):
    d = {}
    for i, k in enumerate("abc"):
        d[k] = d.get(k, 0.0) + x * i
        d.setdefault(k, 1.0)
        d[k] **= 2
    d = {k: v * x for k, v in d.items()}
    d.popitem()
    return sum(d[k] for k in sorted(d))


def merged_dictionary(x):
    d = {"p": x, "q": 0.5 * x * x}
    d |= {"q": x * x * x}
    return d["p"] * d["q"]


def matched(x):
    match {"k": x * x, "l": [x, 2.0 * x, x * x]}:
        case {"k": a, "l": [b, *c]} if a > 0.0:
            return a * b * c[1]
        case _:
            return x


def lists_in_lists(x):
    xs = [[x, x], [x * x]]
    xs[0].append(x * xs[1][0])
    xs[1] += [xs[0][2]]
    xs[0][1:] = []
    return sum(sum(r) for r in xs) * xs[1][1]


def changed_global(x):
    global level
    before = level
    level = 2.0
    y = x * level * x
    level = before
    return y * x


def raise_level():
    global level
    level += 1.0


def changed_by_another(x):
    global level
    level = 1.0
    y = x * level
    raise_level()
    z = y * level * x
    raise_level()
    level = 1.0
    return z


class Layer:
    def __init__(self, weight):
        self.weight = weight

    def run(self, x, turns=2):
        y = x
        for _ in range(turns):
            y = self.weight * y + self.bent(y)
        return y

    def bent(self, x):
        return np.sin(x) if x > 0.5 else x * x


layer = Layer(1.3)


def of_methods(x):
    return layer.run(x) * layer.run(x * x, turns=1)


def checkpointed(x):
    return overt.checkpoint(lambda t: np.sin(t) * np.exp(t) * x)(x)


def inner_gradient(x):
    def cube(y):
        return y**3 * x

    return overt.grad(cube)(x * x) * x


def inner_gradient_of_a_batch(x):
    inner = overt.jit(overt.vmap(overt.grad(lambda t: t**4 * x)))
    return inner(np.stack([x, x * x]))[1]


def inner_value_and_gradient(x):
    def cube(t, d):
        return t**3 * d["k"], {"z": t * t * x}

    (value, aux), slope = overt.value_and_grad(cube, has_aux=True)(x, {"k": x})
    return value * slope * aux["z"]


def called_in_a_condition(x):
    xs = [x, x * x]
    a = (lambda u, w=xs[1]: u * w)(x) if x > 0.37 else x
    return a + (x > 0.0 and (lambda *, w=xs[0]: w * w * w)())


FUNCTIONS = [
    spliced_list, deleted_items, chosen_items, grown_dictionary, merged_dictionary, matched,
    lists_in_lists, changed_global, changed_by_another, of_methods, checkpointed, inner_gradient,
    inner_gradient_of_a_batch, inner_value_and_gradient, called_in_a_condition,
]  # fmt: skip


def slopes(f, x, step=2e-3):
    """The first three derivatives by differences of tenth order."""
    k = numpy.arange(-5, 6)
    values = numpy.array([f(x + i * step) for i in k])
    weights = numpy.linalg.inv(numpy.vander(k * 1.0, 11, increasing=True).T)
    return [math.factorial(m) * weights[:, m] @ values / step**m for m in (1, 2, 3)]


def forward(f):
    return lambda x: overt.jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_three_orders(f, quiet_x64):
    x = 1.27
    first, second, third = slopes(f, x)
    grad, close = overt.grad, numpy.testing.assert_allclose
    close(grad(f)(x), first, rtol=1e-6)
    close(grad(grad(f))(x), second, rtol=1e-6)
    close(forward(grad(f))(x), second, rtol=1e-6)
    close(grad(forward(f))(x), second, rtol=1e-6)
    close(grad(grad(grad(f)))(x), third, rtol=1e-4, atol=1e-4)
    close(forward(forward(forward(f)))(x), third, rtol=1e-4, atol=1e-4)
    close(grad(overt.hessian(f))(x), third, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("f", [spliced_list, matched, merged_dictionary], ids=lambda f: f.__name__)
def test_compiled_and_in_a_batch(f, quiet_x64):
    x = 1.27
    third = slopes(f, x)[2]
    ggg = overt.grad(overt.grad(overt.grad(f)))
    numpy.testing.assert_allclose(overt.jit(ggg)(x), third, rtol=1e-4)
    lanes = overt.vmap(ggg)(np.array([x, 0.9]))
    numpy.testing.assert_allclose(lanes, [third, slopes(f, 0.9)[2]], rtol=1e-4)


def test_one_item_read_twice_beside_a_wider_value(x64):
    """The cotangents of an item that meets a vector are summed before they meet others."""

    def of_list(a, v):
        xs = [a, 0.7 * a]
        v[:2] += xs[-1]
        return xs[-1] + np.sum(v)

    def of_dictionary(a, v):
        d = {"p": a, "q": a * a}
        v[1:] = v[:2] * d["q"]
        return np.sum(v) + d["q"]

    def filtered(a, v):
        xs = [a, 0.7, v[1]]
        v = v + xs[0]
        v[0] = sum([u for u in xs if u < a])
        return np.sum(v * v)

    v = np.array([0.4, -0.2, 1.1])
    assert abs(float(overt.grad(of_list)(0.5, v)) - 2.1) < 1e-12
    assert abs(float(overt.grad(of_dictionary)(0.5, v)) - (0.4 - 0.2 + 1.0)) < 1e-12
    assert abs(float(overt.grad(overt.grad(filtered))(0.5, v)) - 4.0) < 1e-12


def test_rows_that_are_lists(x64):
    def stacked(x):
        return np.sum(np.stack([[x, x * x], [x, 1.0]]) ** 2)

    assert abs(float(overt.grad(stacked)(1.2)) - (4 * 1.2 + 4 * 1.2**3)) < 1e-12


def test_a_sum_of_nothing_that_is_divided(x64):
    """The cotangent of a sum without items has no part in the second derivative."""

    def f(x):
        xs = [x, 0.7 * x]
        return sum([u for u in xs if u < 0.0]) / (2.0 + x * x) + x**3

    assert abs(float(overt.grad(overt.grad(f))(1.2)) - 7.2) < 1e-12


def scanned_values(x):
    carry, ys = overt.lax.scan(lambda c, t: (np.sin(c) * x + t, c * c), x, np.arange(3.0))
    return carry + np.sum(ys)


def counted_powers(x):
    return overt.lax.fori_loop(0, 3, lambda i, c: c * x, 1.0)


def repeated_sine(x):
    return overt.lax.fori_loop(0, 3, lambda i, c: np.sin(c), x)


def while_below(x):
    step = lambda s: (s[0] + 1, np.sin(s[1]) * x)
    return overt.lax.while_loop(lambda s: s[0] < 3, step, (0, x))[1]


@pytest.mark.parametrize("f", [scanned_values, counted_powers, repeated_sine, while_below])
def test_loops_of_lax(f):
    x = numpy.float64(1.3)
    second = overt.grad(overt.grad(f))
    with overt.enable_x64(True):
        wanted = (second(x + 1e-5) - second(x - 1e-5)) / 2e-5
        for third in (
            overt.grad(second)(x),
            overt.jit(overt.grad(second))(x),
            overt.jvp(second, (x,), (1.0,))[1],
            overt.jit(lambda x: overt.jvp(second, (x,), (1.0,))[1])(x),
        ):
            numpy.testing.assert_allclose(third, wanted, rtol=1e-6)


def test_a_gradient_by_a_pair():
    def squares(x):
        a, b = overt.grad(lambda y: y[0] * y[1] * y[0])((x, x))  # 2 x², x²
        return a * b

    third = overt.jvp(overt.grad(overt.grad(squares)), (5.0,), (1.0,))[1]
    numpy.testing.assert_allclose(third, 48.0 * 5.0, rtol=1e-6)
