"""Shallow and deep copies of lists and dictionaries, of which what they hold is changed later."""

from __future__ import annotations

import copy
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_way


def of_a_dictionary(x: Any) -> Any:
    config = {"gains": [x, x * x], "name": "base", "nested": {"k": x * 3.0}}
    shallow, deep = copy.copy(config), copy.deepcopy(config)
    config["gains"][0] = 10.0
    config["nested"] = {"k": 0.0}
    return deep["gains"][0] + shallow["gains"][0] * x + shallow["nested"]["k"] + len(config)


def of_rows(x: Any) -> Any:
    grid = [[x, 1.0], [x * 2.0, 3.0]]
    flat, deep, other = list(grid), [row[:] for row in grid], grid.copy()
    grid[0][1] = x * x
    other.append([x])
    flat[1][0] += 1.0
    return flat[0][1] * deep[0][1] + len(other) * len(grid) + grid[1][0] * other[1][0]


def by_slices_and_stars(x: Any) -> Any:
    rows = [[x], [2.0]]
    part, joined = rows[:1], [*rows, [5.0]]
    rows[0].append(x * x)
    joined[1][0] = x
    return sum(part[0]) * sum(joined[0]) + rows[1][0]


def merged(x: Any) -> Any:
    base = {"a": [x, 1.0], "b": {"c": x * x}}
    one, two = dict(base), {**base, "d": x}
    base["a"].append(3.0)
    base["b"]["c"] = x
    one["a"][0] = x * 4.0
    return sum(two["a"]) * two["b"]["c"] + sum(base["a"]) + two["d"]


def in_a_branch(x: Any) -> Any:
    table = {"a": [x, 1.0], "b": [2.0, x]}
    twin = table.copy()
    if x > 1.0:
        table["a"][1] = x * x
    else:
        twin["b"][0] = x
    return twin["a"][1] * table["b"][0] + x * twin["b"][1]


def in_a_loop(x: Any) -> Any:
    state = {"sums": [0.0, 1.0], "seen": [0.0]}
    view = dict(state)
    for k in range(4):
        state["sums"][0] += x * k
        view["sums"][1] *= x
    return view["sums"][0] * state["sums"][1]


def overwritten_by_numbers(x: Any) -> Any:
    rows = [[x, x], [x, 2.0]]
    twin = rows.copy()
    value = twin[0][0] * x
    rows[0][0] = 1.0
    return value * twin[0][0] + rows[0][1]


@pytest.mark.parametrize(
    "f",
    [
        of_a_dictionary, of_rows, by_slices_and_stars, merged, in_a_branch, in_a_loop,
        overwritten_by_numbers,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_every_way(f: Any) -> None:
    assert_every_way(f)


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_arrays_in_copies_are_not_changed_unseen() -> None:
    def f(x: Any) -> Any:
        held = {"w": np.array([1.0, 2.0]) * x, "k": [1.0]}
        twin = dict(held)
        held["w"][0] = 5.0
        return twin["w"][0] + held["w"][0]

    for run in (overt.jit(f), overt.grad(f), lambda x: overt.vmap(f)(numpy.array([x]))):
        with pytest.raises((TypeError, NotImplementedError), match=r"at\[|Copy|copy"):
            run(2.0)


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def put(self, x: Any) -> None:
        self.a[1] = x


def deep_of_one_list_twice(x: Any) -> Any:
    row = [x, 1.0]
    rows = copy.deepcopy([row] * 2)
    rows[0][1] = x * x
    return rows[1][1] + row[1]


def deep_of_one_array_twice(x: Any) -> Any:
    row = numpy.ones(2) * x
    a, b = copy.deepcopy((row, row))
    a *= x
    return b[1] + row[1]


def deep_of_an_object(x: Any) -> Any:
    row = numpy.ones(2) * x
    pair = Pair(row, row)
    other = copy.deepcopy(pair)
    other.put(x * x)
    return other.b[1] + row[1]


def given_copies(rows: Any) -> Any:
    return copy.deepcopy(rows)


def deep_by_a_helper(x: Any) -> Any:
    row = numpy.ones(2) * x
    rows = given_copies([row, row])
    rows[0][1] = x * x
    return rows[1][1]


def deep_of_an_object_that_is_not_changed(x: Any) -> Any:
    row = numpy.ones(2) * x
    rows, pair = copy.deepcopy([row, row]), Pair(numpy.ones(2) * x, row)
    other = copy.deepcopy(pair)
    other.put(x * x)
    return rows[0][0] * rows[1][1] + other.a.sum() + pair.a.sum() * other.b[0]


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize(
    "f",
    (deep_of_one_list_twice, deep_of_one_array_twice, deep_of_an_object, deep_by_a_helper),
    ids=lambda f: f.__name__,
)
def test_a_deep_copy_keeps_what_is_shared_or_is_refused(f: Any) -> None:
    for way in (overt.jit, overt.grad):
        with pytest.raises(NotImplementedError, match="several places"):
            way(f)(2.0)


def test_a_deep_copy_of_what_is_apart() -> None:
    assert_every_way(deep_of_an_object_that_is_not_changed)
