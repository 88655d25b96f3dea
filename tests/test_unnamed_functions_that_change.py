"""Functions that change a list they are given, and that the text does not name where it calls them.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy
import pytest

import overt
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_way

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")


def push(items, x):
    items.append(x)


def count(state, x):
    state["n"] += 1
    state["total"] = state["total"] + x * state["n"]


def logged(f):
    @functools.wraps(f)
    def call(*args, **keywords):
        return f(*args, **keywords)

    return call


def twice(f):
    def call(items, x):
        f(items, x)
        f(items, 2 * x)

    return call


@logged
def push_logged(items, x):
    items.append(x * x)


push_twice = twice(push)
TABLE = {"push": push, "count": count}


def run(step, state, n, x):
    for _ in range(n):
        step(state, x)
    return state


def by_argument(x):
    state = run(count, {"n": 0, "total": 0.0}, 3, x)
    return state["total"] * state["n"]


def own_list_by_argument(x):
    items = [1.0]
    run(push, items, 2, x * x)
    return len(items) * items[-1]


def by_decorator(x):
    items = [1.0]
    push_logged(items, x)
    push_twice(items, x)
    return len(items) * items[1] + items[3]


def by_table_in_turn(x):
    state = {"n": 0, "total": 0.0}
    for name in ("count", "count"):
        run(TABLE[name], state, 2, x)
    return state["total"]


def on_one_side(x):
    items = [1.0]
    if x > 1:
        run(push, items, 1, x)
    else:
        run(push, items, 1, 3 * x)
    return items[-1] * len(items)


def by_one_decorator(x):
    items = [1.0]
    push_logged(items, x)
    push_logged(items, 2 * x)
    return len(items) * items[1] + items[2]


@pytest.mark.parametrize("f", [by_argument, by_one_decorator])
def test_every_way(f: Any) -> None:
    assert_every_way(f)


@pytest.mark.parametrize("f", [own_list_by_argument, by_decorator, by_table_in_turn, on_one_side])
def test_what_is_known_to_be_lost_is_refused(f: Any) -> None:
    for transformed in (overt.jit(f), overt.grad(f)):
        with pytest.raises(Refusal, match="changes its argument"):
            transformed(1.5)


HELD: dict[str, list[float]] = {}


def held_by_others(x):
    TABLE["push"](HELD["items"], x)
    push_logged(HELD["items"], x)
    return x * len(HELD["items"]) + HELD["items"][1]


@pytest.mark.parametrize("way", ["jit", "grad", "vmap"])
def test_lists_of_others(way: str) -> None:
    def told(g: Any) -> list[float]:
        HELD["items"] = [1.0]
        return [float(g(0.5)), float(g(0.5))]

    wanted = told(held_by_others)
    if way == "vmap":
        HELD["items"] = [1.0]
        got = numpy.asarray(overt.vmap(held_by_others)(numpy.array([0.5, 0.5]))).tolist()
    elif way == "grad":
        got = told(lambda x: overt.value_and_grad(held_by_others)(x)[0])
    else:
        got = told(overt.jit(held_by_others))
    assert got == wanted and HELD["items"] == [1.0, 0.5, 0.25, 0.5, 0.25]
