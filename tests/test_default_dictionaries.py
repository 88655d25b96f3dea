"""Dictionaries that make an item when a missing one is asked for, and ordered ones."""

from __future__ import annotations

from collections import OrderedDict, defaultdict

import numpy
import pytest

import overt
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


def totals_by_key(x):
    totals = defaultdict(float)
    for i, v in enumerate((x, x * x, 2.0, 3.0 * x)):
        totals[i % 3] += v
        totals["all"] += v * x
    return totals[0] * totals[1] - totals[2] * totals["all"] + len(totals)


def lists_by_key(x):
    table, seen = {}, {"b": [1.0]}
    for name, v in (("a", x), ("b", 2.0), ("a", x * x)):
        table.setdefault(name, []).append(v * x)
        seen.setdefault(name, []).extend([v, x])
        table.setdefault((name, 1), 0.5)
        table[name, 1] += v
        table.setdefault("last", {}).update({name: v})
    total = sum(table["a"]) * table["b"][0] * table["a", 1] + sum(seen["b"]) * seen["a"][-1]
    return total + sum(table["last"].values())


def keys_read_before_they_are_set(x):
    t = defaultdict(lambda: 1.5)
    t["s"] += x * x
    y = t["r"] * x
    t["r"] *= x
    for key in "abr":
        t[key] *= x
        t["r"] += t[key]
    return t["s"] * t["r"] + y + t["never set"] * x


def tables_in_a_table(x):
    t = defaultdict(lambda: defaultdict(float))
    t["s"]["u"] += x * x
    t["s"]["v"] += x
    t["r"]["u"] += x
    return t["s"]["u"] * t["s"]["v"] + sum(t["r"].values())


def set_by_a_loop(x):
    t, n = defaultdict(float), 0
    while n < 3:
        t["square"] += x * x
        t["count"] += 1.0
        n += 1
    return t["square"] * t["count"]


def set_on_one_side(x):
    t = defaultdict(float, kept=x)
    if x > 1.0:
        t["s"] += x * x
    else:
        t["s"] -= x
    return t["s"] * t["kept"]


def in_order(x):
    o = OrderedDict(b=x)
    o["a"] = x * x
    o.move_to_end("b")
    return o.popitem()[1] * o["a"]


FUNCTIONS = [
    totals_by_key, lists_by_key, keys_read_before_they_are_set, tables_in_a_table, set_by_a_loop,
    set_on_one_side, in_order,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_way(f):
    assert_every_way(f)


@pytest.mark.parametrize("kind", [lambda **items: defaultdict(float, items), OrderedDict])
def test_as_an_argument(kind):
    def f(d, x):
        d["a"] = d["a"] * x
        d["new"] = x
        return d["a"] + d["new"] * d["b"]

    for slope in (overt.grad(f), overt.jit(overt.grad(f))):
        bars = slope(kind(b=2.0, a=0.7), 0.5)
        assert type(bars) is type(kind()) and list(bars) == ["b", "a"]
        assert numpy.allclose([bars["a"], bars["b"]], [0.5, 0.5])


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_dictionaries_that_grow_in_recorded_loops():
    def grown(x, made):
        d = defaultdict(made)
        for i in range(3):
            d[i % 2] += [x * i] if made is list else x * i
        order = OrderedDict(a=x)  # its derivative is recorded
        total = sum(d[0]) + sum(d[1]) if made is list else d[0] + d[1]
        return total + order["a"]

    for made in (float, list):
        f = lambda x, made=made: grown(x, made)
        for t in (lambda g: g, overt.jit):
            assert float(t(f)(2.0)) == 8.0
            assert float(t(overt.grad(f))(2.0)) == 4.0
