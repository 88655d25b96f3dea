"""Derivatives of functions that read a container, change it, and read it again."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.usefixtures("x64")


def helper(p, x):
    s = 0.1
    for _ in range(2):
        s = s + p["w"] * x * s + p["w"]
    return s * p["w"]


def change(p):
    p["w"] = p["w"] * p["w"]


def own(x):
    p = {"w": x, "v": 2.0}
    a = helper(p, x)
    p["w"] = a * 2
    b = helper(p, x)
    p["w"] = p["w"] + b
    return a + 1e-4 * b * p["w"]


def changed_by_another(x):
    p = {"w": x}
    y = np.sin(p["w"]) * x
    change(p)
    return np.cos(p["w"]) * y * p["w"] + helper(p, x)


def nested(x):
    p = {"w": x}

    def inner(q):
        y = np.sin(q["w"]) * q["w"]
        p["w"] = p["w"] + 1.0
        return y * p["w"]

    return inner(p) + p["w"]


def listed(x):
    def of_list(ps):
        y = ps[-1] * x * ps[-1]
        qs = ps
        qs.append(y)
        return y * ps[0] * ps[-1]

    return of_list([x])


@pytest.mark.parametrize("f", [own, changed_by_another, nested, listed])
def test_gradients(f):
    x, step = 0.7, 1e-6
    wanted = (f(x + step) - f(x - step)) / (2 * step)
    numpy.testing.assert_allclose(overt.grad(f)(x), wanted, rtol=1e-6)
    numpy.testing.assert_allclose(overt.jit(overt.grad(f))(x), wanted, rtol=1e-6)


def test_a_parameter_that_is_changed():
    def f(p, x):
        y = np.sin(p["w"]) * x
        p["w"] = p["w"] * 3.0
        return y * p["w"] * p["w"]

    step = 1e-6
    wanted = (f({"w": 0.6 + step}, 0.7) - f({"w": 0.6 - step}, 0.7)) / (2 * step)
    numpy.testing.assert_allclose(overt.grad(f)({"w": 0.6}, 0.7)["w"], wanted, rtol=1e-6)
    _, pull = overt.vjp(f, {"w": 0.6}, 0.7)
    numpy.testing.assert_allclose(pull(1.0)[0]["w"], wanted, rtol=1e-6)
