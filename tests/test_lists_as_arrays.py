"""Derivatives of functions of arrays that are given lists, and of functions of a passed module."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

FUNCTIONS = {
    "sort": lambda m, l: m.sort(l),
    "flip": lambda m, l: m.flip(l),
    "dot": lambda m, l: m.dot(l, l),
    "outer": lambda m, l: m.outer(l, l),
    "inner": lambda m, l: m.inner(l, l),
    "tile": lambda m, l: m.tile(l, 2),
    "repeat": lambda m, l: m.repeat(l, 2),
    "take": lambda m, l: m.take(l, 1),
    "clip": lambda m, l: m.clip(l, 0.0, 1.0),
    "reshape": lambda m, l: m.reshape(l, (3, 1)),
    "append": lambda m, l: m.append(l, 4.0),
    "norm": lambda m, l: m.linalg.norm(l),
    "convolve": lambda m, l: m.convolve(l, l),
    "triu": lambda m, l: m.triu([l, l]),
    "cumsum": lambda m, l: m.cumsum(l),
    "swapaxes": lambda m, l: m.swapaxes([l, l], 0, 1),
}


pytestmark = pytest.mark.usefixtures("x64")


def weighed(m, f, items):
    y = m.ravel(f(m, items))
    return m.sum(y * numpy.linspace(1, 2, 500)[: y.size])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_list_of_numbers(name):
    f = FUNCTIONS[name]

    def of_number(x):
        return weighed(np, f, [x, 2 * x, x * x])

    def plainly(x):
        return weighed(numpy, f, [x, 2 * x, x * x])

    want = (plainly(0.7 + 1e-6) - plainly(0.7 - 1e-6)) / 2e-6
    assert overt.grad(of_number)(0.7) == pytest.approx(want, rel=1e-6)
    assert overt.jvp(of_number, (0.7,), (1.0,))[1] == pytest.approx(want, rel=1e-6)
    by_item = overt.grad(lambda items: weighed(np, f, items))([0.7, 1.4, 0.49])
    assert type(by_item) is list
    assert sum(a * b for a, b in zip(by_item, (1, 2, 1.4), strict=True)) == pytest.approx(want)


def test_second_derivatives_by_a_list():
    def cubes(items):
        return np.sum(np.append(items, 4.0) ** 3) + np.sum(np.append([items], [items], axis=0) ** 2)

    first = overt.grad(lambda items: cubes(items))([1.0, 2.0])
    assert numpy.allclose(first, [3 + 4, 12 + 8])
    second = overt.grad(lambda x: overt.grad(lambda items: cubes(items))([x, 2.0])[0])(1.0)
    assert second == pytest.approx(6 + 4)
    tangent = overt.jvp(overt.grad(cubes), ([1.0, 2.0],), ([1.0, 0.0],))[1]
    assert numpy.allclose(tangent, [10, 0])


def of_module(m, x):
    pair = m.stack([x, x * x])
    return m.take(pair, 1) + m.sum(m.repeat(pair, 2)) + m.sum(m.clip(pair, 0.5, 9.0))


def test_a_module_as_argument():
    # x**2 + 2 (x + x**2) + the larger of each and 1/2
    assert overt.grad(of_module, 1)(np, 0.8) == pytest.approx(1.6 + 2 + 3.2 + 1 + 1.6)
    assert overt.grad(lambda x: of_module(np, x))(0.6) == pytest.approx(1.2 + 2 + 2.4 + 1)
    assert overt.jvp(lambda x: of_module(np, x), (0.6,), (1.0,))[1] == pytest.approx(6.6)
    assert overt.grad(overt.grad(lambda x: of_module(np, x)))(0.8) == pytest.approx(8.0)


def test_one_list_differentiated_several_times():
    def of_product(y):
        return y[0] * y[1]

    def twice(x):
        return np.sum(np.sin(np.array(overt.grad(of_product)((x, x)))))

    assert overt.grad(twice)(1.0) == pytest.approx(2 * numpy.cos(1.0))
    assert overt.grad(overt.grad(twice))(1.0) == pytest.approx(-2 * numpy.sin(1.0))
    third = overt.grad(overt.grad(overt.grad(twice)))(1.0)
    assert third == pytest.approx(-2 * numpy.cos(1.0))
