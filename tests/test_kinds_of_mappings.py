"""Tangents and cotangents given as mappings of other kinds: the same kind and keys, or refused."""

from __future__ import annotations

import collections
import types

import pytest

import overt

X = {"a": 2.0, "b": 5.0}  # the slopes of f at X are 8 and 2


def f(d):
    return d["a"] * d["b"] + 3.0 * d["a"]


def default(**items):
    made = collections.defaultdict(lambda: 7.0)
    made.update(items)
    return made


ALIKE = [
    (dict(X), {"b": 2.0, "a": 1.0}),
    (collections.OrderedDict(X), collections.OrderedDict(a=1.0, b=2.0)),
    (collections.Counter(X), collections.Counter(a=1.0, b=2.0)),
]
UNLIKE = [
    (dict(X), default(a=1.0)),
    (dict(X), default(a=1.0, b=2.0)),
    (dict(X), collections.OrderedDict(a=1.0, b=2.0)),
    (dict(X), collections.Counter(a=1.0)),
    (dict(X), collections.ChainMap({"a": 1.0}, {"b": 2.0})),
    (dict(X), types.MappingProxyType({"a": 1.0, "b": 2.0})),
    (default(**X), default(a=1.0)),
    (collections.Counter(X), collections.Counter(a=1.0)),
    # These are no containers of arrays.
    (collections.ChainMap({"a": 2.0}, {"b": 5.0}), collections.ChainMap({"a": 1.0, "b": 2.0})),
    (types.MappingProxyType(X), types.MappingProxyType({"a": 1.0, "b": 2.0})),
    (collections.UserDict(X), collections.UserDict(a=1.0, b=2.0)),
]


@pytest.mark.parametrize("x, dot", ALIKE)
def test_mappings_of_the_same_kind(x, dot):
    assert float(overt.jvp(f, (x,), (dot,))[1]) == 12.0
    assert float(overt.linearize(f, x)[1](dot)) == 12.0
    bars = overt.grad(f)(x)
    assert type(bars) is type(x) and dict(bars) == {"a": 8.0, "b": 2.0}


@pytest.mark.parametrize("x, dot", UNLIKE)
def test_mappings_of_other_kinds_are_refused(x, dot):
    with pytest.raises(TypeError):
        overt.jvp(f, (x,), (dot,))
    with pytest.raises(TypeError):
        overt.linearize(f, x)[1](dot)


@pytest.mark.parametrize("dot", [d for x, d in UNLIKE if type(x) is dict])
def test_cotangents_of_other_kinds_are_refused(dot):
    _, pull = overt.vjp(lambda y: {"a": y * 2.0, "b": y * 5.0}, 2.0)
    with pytest.raises(ValueError):
        pull(dot)


RULES = {
    "default": lambda t: default(a=t * 2.0),
    "other default": lambda t: default(a=t * 2.0, b=t * 5.0),
    "chain": lambda t: collections.ChainMap({"a": t * 2.0, "b": t * 5.0}),
    "too few": lambda t: {"a": t * 2.0},
}


@pytest.mark.parametrize("name", RULES)
def test_rules_that_give_other_kinds_are_refused(name):
    @overt.custom_jvp
    def g(x):
        return {"a": x * 2.0, "b": x * 5.0}

    g.defjvp(lambda p, t: ({"a": p[0] * 2.0, "b": p[0] * 5.0}, RULES[name](t[0])))

    @overt.custom_vjp
    def h(d):
        return d["a"] * d["b"]

    h.defvjp(lambda d: (d["a"] * d["b"], d), lambda d, bar: (RULES[name](bar),))

    def made(x):
        held = g(x)
        return held["a"] + held["b"] * held["a"]

    for derivative in (overt.grad, overt.jacfwd, lambda f: overt.jit(overt.grad(f))):
        with pytest.raises(ValueError):
            derivative(made)(2.0)
    with pytest.raises(ValueError):
        overt.grad(h)(X)


class Point:
    def __init__(self, x):
        self.x = x


def test_objects_whose_parts_would_have_no_tangent_are_refused():
    with pytest.raises(TypeError, match="Point"):
        overt.jvp(lambda p, y: p.x * y, (Point(2.0), 3.0), (Point(1.0), 1.0))
    out_dot = overt.jvp(lambda p, y: p.x * y, (Point(2.0), 3.0), (None, 1.0))[1]
    assert float(out_dot) == 2.0
