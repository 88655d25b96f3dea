"""Functions inside a differentiated function that hold its values: closures, under every transform.

Each function here is of one number x and equals `power * x**2` there.
"""

from __future__ import annotations

import pytest

import overt
import overt.numpy as np


def of_grad(x):
    return x * overt.grad(lambda y: x * y * y)(2.0)


def of_grad_named(x):
    def inner(y):
        return x * y * y

    derivative = overt.grad(inner)
    return x * derivative(2.0)


def wrapped(f):
    return overt.grad(f)


def of_grad_in_another_function(x):
    return x * wrapped(lambda y: x * y * y)(2.0)


def of_value_and_grad(x):
    value, slope = overt.value_and_grad(lambda y: x * y * y)(1.0)
    return value * slope * 2.0


def of_jit(x):
    return x * overt.jit(lambda y: x * y)(4.0)


def of_jitted_grad(x):
    return x * overt.jit(overt.grad(lambda y: x * y * y))(2.0)


def of_vmap(x):
    return x * np.sum(overt.vmap(lambda y: x * y)(np.full(2, 2.0)))


def of_vmapped_grad(x):
    return x * np.sum(overt.vmap(overt.grad(lambda y: x * y**2))(np.ones(2)))


def of_vjp(x):
    out, pull = overt.vjp(lambda y: x * y, 2.0)
    return out * pull(2.0)[0]


def of_jvp(x):
    return x * overt.jvp(lambda y: x * y * y, (2.0,), (1.0,))[1]


def of_hessian(x):
    return x * overt.hessian(lambda y: 2.0 * x * y * y)(3.0)


def of_jacfwd(x):
    return x * np.sum(overt.jacfwd(lambda y: x * y * y)(np.ones(2)))


def of_two_levels(x):
    return overt.grad(lambda y: overt.grad(lambda z: x * y * z**2)(y))(x)


FUNCTIONS = [
    of_grad, of_grad_named, of_grad_in_another_function, of_value_and_grad, of_jit, of_jitted_grad,
    of_vmap, of_vmapped_grad, of_vjp, of_jvp, of_hessian, of_jacfwd, of_two_levels,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_what_a_closure_holds_is_differentiated(f):
    assert float(f(1.5)) == pytest.approx(4 * 1.5**2)
    assert float(overt.grad(f)(1.5)) == pytest.approx(8 * 1.5)
    assert float(overt.jvp(f, (1.5,), (1.0,))[1]) == pytest.approx(8 * 1.5)
    assert float(overt.jit(overt.grad(f))(1.5)) == pytest.approx(8 * 1.5)
    if f is not of_two_levels:  # refused
        assert float(overt.grad(overt.grad(f))(1.5)) == pytest.approx(8)


def total(items):
    s = 0.0
    for item in items:
        s = s + item * item
    return s


def product(items):
    return items[0] * items[1]


@pytest.mark.parametrize("function", [total, product])
@pytest.mark.parametrize("make", [list, tuple])
def test_a_list_given_to_two_calls(function, make):
    def f(x):
        items = make((x, 2.0 * x))
        return function(items) + 2.0 * function(items)

    wanted = 3 * (5.0 if function is total else 2.0)
    assert float(overt.grad(f)(1.5)) == pytest.approx(2 * wanted * 1.5)
    assert float(overt.jit(overt.grad(f))(1.5)) == pytest.approx(2 * wanted * 1.5)
    assert float(overt.grad(overt.grad(f))(1.5)) == pytest.approx(2 * wanted)


def through_a_list(function, x, *rest, **keywords):
    given = [x, *rest]
    return function(*given, **keywords)


@pytest.mark.parametrize("keywords", [{}, {"scale": 3.0}])
def test_keywords_that_may_be_none(keywords):
    def product(x, y, scale=1.0):
        return x * y * scale

    scale = keywords.get("scale", 1.0)
    bars = overt.grad(through_a_list, (1, 2))(product, 2.0, 5.0, **keywords)
    assert [float(bar) for bar in bars] == [5.0 * scale, 2.0 * scale]


def pulled(x, y, g):
    return overt.vjp(lambda x, y: np.sinc(x) * y, x, y)[1](g)


def test_a_pullback_of_recorded_calls_is_differentiated():
    out, pull = overt.vjp(pulled, 1.1, 2.0, 1.0)
    bars = [float(bar) for bar in pull((1.0, 0.0))]
    h = 1e-2
    for i, bar in enumerate(bars):
        up, down = ([1.1, 2.0, 1.0] for _ in range(2))
        up[i] += h
        down[i] -= h
        slope = (float(pulled(*up)[0]) - float(pulled(*down)[0])) / (2 * h)
        assert bar == pytest.approx(slope, rel=1e-2, abs=1e-3)
