"""Lists, dictionaries and sets held by containers and changed under a name of their own.

What the text can follow is written back; what it cannot is refused, never lost.  The oracles are
plain Python and finite differences in float64.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import Refusal
from tests.numeric import slope


def appended_values(x):
    d = {"a": [x, 2.0], "b": [3.0, x]}
    for s in d.values():
        s.append(s[0] * s[1])
    return sum(d["a"]) + d["b"][2] * x


def appended_items(x):
    d = {"b": [x, 2.0], "a": [3.0, x]}
    for k, s in sorted(d.items()):
        s.append(len(k) * x * x)
    for _, s in d.items():
        s[0] = s[0] * s[2]
    return sum(d["a"]) + sum(d["b"]) * x


def nested_dictionaries(x):
    d = {"a": {"in": [x]}, "b": {"in": [2.0]}}
    for node in d.values():
        node["in"].append(x * x)
        node["out"] = node["in"][0] * 2.0
    return sum(d["a"]["in"]) * d["b"]["out"] + sum(d["b"]["in"])


def arrays_of_a_dictionary(x):
    d = {k: np.ones(2) * x for k in "ab"}
    for k, v in d.items():
        v[0] = x * x
        v[1] += len(k)
    for v in d.values():
        v *= 2.0
    return np.sum(d["a"]) * x + d["b"][1]


def pairs_with_lists(x):
    rows = [([x], 1.0), ([2.0], x)]
    for s, t in rows:
        s.append(x * t)
    table = {"a": ([x], 1.0), "b": ([2.0], x)}
    for _, (s, t) in table.items():
        s.append(x * t)
    return sum(rows[0][0]) + sum(rows[1][0]) * sum(table["b"][0])


def sets_that_drain(x):
    waiting = {"out": {"u", "t"}, "t": {"u"}, "u": set()}
    order = []
    while waiting:
        ready = sorted(n for n, s in waiting.items() if not s)
        for n in ready:
            del waiting[n]
            order.append(n)
            x = x * 1.5 + len(n)
        for s in waiting.values():
            s.difference_update(ready)
    return x * order.index("t")


def numbers_only_read(x):
    d = {"a": x, "b": 2.0}
    total = 0.0
    for v in d.values():
        v *= x
        total = total + v
    return total * d["a"]


def records_made_in_a_loop(x):
    rows, chunks, chunk = [], [], []
    totals = Counter()
    for i, word in enumerate(("ab", "bca", "b")):
        counts = {}
        letters = Counter()
        for c in word:
            counts[c] = counts.get(c, 0) + x
            letters[c] += 1
        rows.append(counts)
        totals.update(letters)
        chunk.append(x * i)
        if i % 2:
            chunks.append(chunk)
            chunk = []
    return rows[0]["b"] * rows[1]["c"] + totals["b"] * x + chunks[0][1] * x


def bound_methods(x):
    d = {"a": x, "b": 2.0}
    get, size = d.__getitem__, d.__len__
    d["c"] = x * x
    values = sum(map(d.__getitem__, ("a", "c"))) + sum(map(d.get, filter(d.__contains__, "xc")))
    return get("c") * size() + values


SHOWN = [
    records_made_in_a_loop,
    bound_methods,
    appended_values,
    appended_items,
    nested_dictionaries,
    pairs_with_lists,
    sets_that_drain,
    numbers_only_read,
]


@pytest.mark.parametrize("f", SHOWN)
def test_shown(f, x64):
    fast, fast_slope = overt.jit(f), overt.jit(overt.grad(f))
    for x in (0.7, 1.4):
        numpy.testing.assert_allclose(fast(x), f(x), rtol=1e-12)
        numpy.testing.assert_allclose(overt.grad(f)(x), slope(f, x), rtol=1e-6)
        numpy.testing.assert_allclose(fast_slope(x), slope(f, x), rtol=1e-6)
    lanes = overt.vmap(f)(np.array([0.7, 1.4]))
    numpy.testing.assert_allclose(lanes, [f(0.7), f(1.4)], rtol=1e-12)


def test_arrays_shown(x64):
    def expected(x):
        return 2.0 * (x * x + x + 1.0) * x + 2.0 * (x + 1.0)

    numpy.testing.assert_allclose(overt.jit(arrays_of_a_dictionary)(0.7), expected(0.7))
    numpy.testing.assert_allclose(
        overt.grad(arrays_of_a_dictionary)(0.7), slope(expected, 0.7), rtol=1e-6
    )


def of_get(x):
    d = {"a": [x]}
    s = d.get("a")
    s.append(2.0)
    return d["a"][-1] * x


def of_reversed(x):
    rows = [[x], [2.0]]
    for s in reversed(rows):
        s.append(x * x)
    return sum(rows[0]) + sum(rows[1]) * x


def of_largest(x):
    rows = [[x], [2.0]]
    longest = max(rows, key=len)
    longest.append(x * x)
    return sum(rows[0]) + sum(rows[1]) * x


def of_selected(x):
    rows = [[x], [2.0], [x, x]]
    for s in [r for r in rows if len(r) < 2]:
        s.append(x * x)
    return sum(rows[0]) + sum(rows[1]) * x


def of_a_pair(x):
    d = {"a": [x, 2.0], "b": [3.0, x]}
    for _, (s, t) in zip("ab", [(d["a"], 1.0), (d["b"], 2.0)], strict=True):
        s.append(x * t)
    return sum(d["a"]) + d["b"][-1] * x


def of_a_pair_kept(x):
    rows = []
    for _ in range(2):
        row = []
        pair = (row, 1)
        rows.append(pair)
        row.append(x * x)
    return rows[1][0][0]


def of_the_best(x):
    best = None
    for i in range(3):
        row = [x * i]
        if best is None or len(best) > 5:
            best = row
        row.append(x)
    return best[1] * x


def of_the_next(x):
    rows = [[x], [2.0]]
    current = rows[0]
    for v in (x, 2.0):
        current.append(v)
        current = rows[1]
    return sum(rows[0]) + sum(rows[1]) * x


@pytest.mark.parametrize(
    "f",
    [
        of_get,
        of_reversed,
        of_largest,
        of_selected,
        of_a_pair,
        of_a_pair_kept,
        of_the_best,
        of_the_next,
    ],
)
def test_never_lost(f):
    for transformed in (overt.jit(f), overt.grad(f)):
        with pytest.raises((Refusal, NotImplementedError), match="stands for or holds|part of"):
            transformed(0.7)


class Kept:
    def __init__(self):
        self.rows = []


def rows_of_an_object(x):
    kept = Kept()
    for i in range(2):
        row = {}
        kept.rows.append(row)
        row["a"] = x * (i + 1)
    return kept.rows[1]["a"] * x


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_rows_of_an_object(x64):
    for f in (overt.jit(rows_of_an_object), rows_of_an_object):
        numpy.testing.assert_allclose(f(0.7), 2.0 * 0.7**2, rtol=1e-12)
        numpy.testing.assert_allclose(overt.grad(f)(0.7), 2.8, rtol=1e-6)


def keep(rows, row):
    rows.append(row)


def of_a_helper(x):
    rows = []
    for _ in range(2):
        row = []
        keep(rows, row)
        row.append(x * x)
    return rows[1][0]


def of_an_inner_one(x):
    rows = []
    for _ in range(2):
        inner = {}
        row = {"in": inner}
        rows.append(row)
        inner["a"] = x * x
    return rows[1]["in"]["a"]


class Keeper:
    def __init__(self):
        self.rows = []

    def keep(self, row):
        self.rows.append(row)


def of_a_method(x):
    keeper = Keeper()
    for _ in range(2):
        row = {}
        keeper.keep(row)
        row["a"] = x * x
    return keeper.rows[1]["a"]


@pytest.mark.parametrize("f", [of_a_helper, of_an_inner_one, of_a_method])
def test_never_lost_further(f):
    for transformed in (overt.jit(f), overt.jit(overt.grad(f))):
        with pytest.raises((Refusal, NotImplementedError), match="stands for or holds|part of"):
            transformed(0.7)


def groups(x):
    values = [x, 2.0, x * x, 3.0]
    total = 0.0
    for key, group in itertools.groupby(range(4), key=lambda k: k // 2):
        total = total + (key + 1) * sum(values[k] for k in group) * x
    for _, group in itertools.groupby([0, 0, 1]):
        for k in group:
            total = total * values[k]
    return total


def groups_in_branches(x):
    tools, total = itertools, 0.0
    for k, group in itertools.groupby([1, 1, 2]):
        if x * k > 1:
            total = total + len(list(group)) * x
        else:
            total = total + sum(group)
    first = itertools.takewhile(lambda v: v > 0, [x, 2.0, -x])
    return total + sum(first) + sum(len(list(g)) * k for k, g in tools.groupby([1, 1, 2])) * x


def test_groups(x64):
    for point in (0.7, 0.4):
        for f in (overt.jit(groups_in_branches), lambda x: overt.vmap(groups_in_branches)(x[None])):
            got = f(np.asarray(point))
            numpy.testing.assert_allclose(got, groups_in_branches(point), rtol=1e-12)
    numpy.testing.assert_allclose(overt.jit(groups)(0.7), groups(0.7), rtol=1e-12)
    numpy.testing.assert_allclose(overt.grad(groups)(0.7), slope(groups, 0.7), rtol=1e-6)
    fast = overt.jit(overt.grad(groups))
    numpy.testing.assert_allclose(fast(0.7), slope(groups, 0.7), rtol=1e-6)
