"""Items of lists that one side of a branch changes, under another name: slopes of both sides."""

from __future__ import annotations

import dataclasses
import warnings

import pytest

import overt


def stored_in_one_item(x, p):
    rows = [[x, x * 2], [x * 3, x]]
    r = rows[0]
    if p > 0:
        rows[0][1] = x * x
    else:
        rows[1][0] = x * 5
    return r[0] * r[1] + sum(rows[1])


def in_a_dictionary(x, p):
    d = {"a": [x, 2 * x], "b": x}
    r = d["a"]
    if p > 0:
        d["a"][0] = x * x
        s = r[0]
    else:
        s = d["b"]
    return s * r[1] + d["a"][0]


@pytest.mark.parametrize("f", [stored_in_one_item, in_a_dictionary])
@pytest.mark.parametrize("p", [2.0, -1.0])
def test_slopes_of_both_sides(f, p):
    x, h = 3.0, 1e-3
    first = (f(x + h, p) - f(x - h, p)) / (2 * h)
    second = (f(x + h, p) - 2 * f(x, p) + f(x - h, p)) / h**2
    assert float(overt.grad(f)(x, p)) == pytest.approx(first, rel=1e-3)
    assert float(overt.jit(overt.grad(f))(x, p)) == pytest.approx(first, rel=1e-3)
    slope = overt.grad(overt.grad(f))
    assert float(overt.jit(slope)(x, p)) == pytest.approx(second, rel=1e-2, abs=1e-2)


@dataclasses.dataclass
class Place:
    v: float = 1.0
    n: int = 0


class Node:
    def __init__(self, i):
        self.held = (i, [i])


NODES: list = [Node(i) for i in range(21_000)]


def behind_many_objects(x):
    a, b = NODES[-2], NODES[-1]
    c = a if x > 0 else b
    c.v = c.v + x
    c.n += 1
    return a.v * 10 + b.v + c.v


def test_chosen_objects_behind_many_others():
    def started():
        NODES[21_000:] = [Place(5.0), Place(7.0)]

    started()
    expected = behind_many_objects(2.0), NODES[-2].v, NODES[-1].v, NODES[-2].n
    started()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(overt.jit(behind_many_objects)(2.0))
    assert (value, float(NODES[-2].v), float(NODES[-1].v), int(NODES[-2].n)) == expected
