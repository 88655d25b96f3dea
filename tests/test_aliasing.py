"""Stores that NumPy would show under another name: refused, never silently different."""

from __future__ import annotations

import pytest

import overt
import overt.numpy as np
from overt.rewrites.refusal import Refusal


def part_read_later(a):
    x = np.ones(3) * a
    rest = x[1:]
    x[1] = 5.0
    return rest


def whole_read_later(a):
    x = np.ones(3) * a
    rest = x[1:]
    rest[0] = 5.0
    return x


def in_a_nested_function(a):
    x = np.ones(3) * a

    def changed():
        rest = x[1:]
        rest[0] = 5.0
        return x

    return changed()


def row_of_a_list(a):
    rows = [np.ones(2)]
    x = np.ones(2)
    for _ in range(3):
        x[0] += a
        rows[0] = x
    x[1] = 7.0
    return rows[0]


def test_refused():
    with pytest.raises(Refusal, match="in NumPy this store changes both") as caught:
        overt.jit(in_a_nested_function)(1.0)
    assert caught.value.file == __file__


@pytest.mark.parametrize(
    ("function", "expected"), [(part_read_later, [5.0, 1.0]), (whole_read_later, [1.0, 5.0, 1.0])]
)
def test_kept_in_step(function, expected):
    assert overt.jit(function)(1.0).tolist() == expected


def test_a_list_keeps_what_is_stored():
    with pytest.raises(NotImplementedError, match="Store a copy") as caught:
        overt.jit(row_of_a_list)(1.0)
    assert "x[0] += a" in "\n".join(caught.value.__notes__)


def test_a_store_into_an_array_copies():
    def path(a):
        points = np.zeros((3, 2))
        x = np.ones(2)
        for i in range(3):
            x[0] += a
            points[i] = x
        return points

    expected = [[2.0, 1.0], [3.0, 1.0], [4.0, 1.0]]
    assert overt.jit(path)(1.0).tolist() == expected
    assert float(overt.grad(lambda a: path(a).sum())(1.0)) == 6.0


def test_numbers_put_into_a_container_that_is_changed_later():
    def f(x):
        state = {"a": x, "history": [x, x]}
        for k in range(3):
            state["a"] = state["a"] * x + k
            state["history"][k % 2] = state["a"]
        return state["history"][0] * state["history"][1] * x

    x = 0.7
    with overt.enable_x64(True):
        want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert float(overt.jit(f)(x)) == pytest.approx(f(x))
        assert float(overt.grad(f)(x)) == pytest.approx(want, rel=1e-6)
        assert float(overt.jvp(f, (x,), (1.0,))[1]) == pytest.approx(want, rel=1e-6)


def test_lists_put_into_a_container_that_is_changed_later():
    def f(x):
        values = [x, 1.0]
        state = {"values": values}
        state["values"][1] = x * x
        return values[1]

    for way in (overt.jit(f), overt.grad(f)):
        with pytest.raises(NotImplementedError, match="Put a copy into the container"):
            way(0.7)
