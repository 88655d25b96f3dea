"""Comprehensions that take items from what they run over, or change containers of the function.

Oracles: the functions themselves in plain Python, and differences of them.
"""

from __future__ import annotations

import pytest

import overt
import overt.numpy as np
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_way


def advanced_by_its_own_steps(x):
    it = iter([x, 2 * x, x * x, 3.0 * x])
    return sum(v * next(it) for v in it)


def with_a_default(x):
    it = iter([x, 2 * x, x * x])
    ys = [v * next(it, 1.5) for v in it]
    return ys[0] + ys[1] ** 2


def in_pairs_and_what_is_left(x):
    it = iter([x, 2 * x, x * x, 3.0 * x])
    return sum([a * b for a, b in zip(it, it, strict=True)]) + len(list(it))


def read_lazily(x):
    it = iter([x, 2 * x, x * x, 3.0 * x])
    doubled = (v * 2 for v in it)
    first = next(it)
    numbered = enumerate(it)
    second = next(it)
    return sum(doubled) * first + second + len(list(numbered))


def taken_in_a_dictionary(x):
    it = iter([x, 2 * x, x * x])
    d = {k: next(it) for k in "ab"}
    return d["a"] * d["b"] + next(it)


def taken_from_a_list(x):
    xs = [x, 2 * x, x * x, 0.5 * x]
    d = [xs.pop(0) for _ in range(2)]
    return d[0] * d[1] + sum(xs.pop() * k for k in (1.0, 2.0))


def appended_by_steps(x):
    acc = [x]
    [acc.append(acc[-1] * v) for v in (x, 2.0 * x)]
    return acc[0] + acc[1] * acc[2]


def set_once(x):
    seen = {}
    ys = [seen.setdefault(k, x**k) for k in (1, 2, 1)]
    again = seen.setdefault(2, x * x * x)
    return sum(ys) * again * len(seen)


@pytest.mark.parametrize(
    "f",
    [
        advanced_by_its_own_steps, with_a_default, in_pairs_and_what_is_left, read_lazily,
        taken_in_a_dictionary, taken_from_a_list, appended_by_steps, set_once,
    ],
)  # fmt: skip
def test_every_way(f):
    assert_every_way(f)


def test_a_comprehension_that_changes_what_it_runs_over_is_refused():
    def f(x):
        grid = [[x], [2 * x]]
        [row.append(x * x) for row in grid]
        return grid[0][1] * grid[1][0]

    for transformed in (overt.jit(f), overt.vmap(f)):
        with pytest.raises(Refusal, match="as a loop"):
            transformed(np.ones(2))
