"""Results that are lists and tuples with starred parts, and what is said of a dict's structure."""

from __future__ import annotations

import pytest

import overt
from overt.tree_util import tree_leaves


def rescaled(xs):
    first, *rest = xs
    return [first, *[r * first for r in rest]]


def doubled(xs):
    return (xs[0] * 3.0, *xs)


def twice(xs):
    ys = [x * x for x in xs]
    return [*ys, *ys]


def within(xs):
    return {"all": [*xs, xs[0] * xs[1]], "last": (xs[-1],)}


def generated(xs):
    return [v * xs[1] for v in xs], *(x * x for x in xs[:2])


WANT = {
    rescaled: [1.0 + 2.0 + 3.0, 1.0, 1.0],
    doubled: [4.0, 1.0, 1.0],
    twice: [4.0, 8.0, 12.0],
    within: [3.0, 2.0, 2.0],
    generated: [2.0 + 2.0, 6.0 + 2.0 + 4.0, 2.0],
}


@pytest.mark.parametrize("function", WANT)
def test_slopes_through_starred_results(function):
    total = lambda xs: sum(tree_leaves(function(xs)))
    xs = [1.0, 2.0, 3.0]
    assert type(overt.jit(function)(xs)) is type(function(xs))
    for grad in (overt.grad(total), overt.jit(overt.grad(total))):
        assert [float(g) for g in grad(xs)] == WANT[function]
    out, pullback = overt.vjp(function, xs)
    ones = overt.tree.map(lambda _: 1.0, out)
    assert [float(g) for g in pullback(ones)[0]] == WANT[function]
    slope = sum(map(float, tree_leaves(overt.jvp(function, (xs,), ([1.0, 1.0, 1.0],))[1])))
    assert slope == sum(WANT[function])


def test_keys_of_a_dict_stand_in_the_order_of_its_children():
    tree = {"b": 1, "a": (2, 3)}
    definition = overt.tree.structure(tree)
    kind, keys = definition.node_data()
    assert kind is dict and keys == ["a", "b"]
    assert [child.num_leaves for child in definition.children()] == [2, 1]
    assert overt.tree.structure([1]).node_data()[0] is list
    assert overt.tree.structure(1).node_data() is None
