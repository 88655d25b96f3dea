"""Functions that others make, with a state of their own that they change."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from tests.ways import assert_every_way


def switch(low, high):
    state = {"on": False, "changes": 0}

    def feed(v):
        if state["on"]:
            if v < low:
                state["on"] = False
                state["changes"] += 1
        elif v > high:
            state["on"] = True
            state["changes"] += 1
        return v if state["on"] else 0.2 * v

    return feed, state


def switched(x):
    feed, state = switch(0.3, 0.8)
    fed = [feed(v * x) for v in numpy.array([0.2, 0.9, 0.5, 0.1, 1.2])]
    return sum(p * (k + 1) for k, p in enumerate(fed)) + state["changes"] * x


def recorder(limit):
    seen = {"above": 0.0}
    values = []

    def note(v):
        values.append(v)
        if v > limit:
            seen["above"] = 1.0
            values.append(0.5 * v)
        return v + seen["above"]

    return note, seen, values


def recorded(x):
    note, seen, values = recorder(0.5)
    first = note(x)
    second = note(0.1 * x)
    return first * second + seen["above"] * x


def accumulator():
    total = [0.0]

    def add(v):
        total[0] = total[0] + v
        return total[0]

    return add


def accumulated(x):
    add, other = accumulator(), accumulator()
    first = add(x)
    return first * add(x * x) + other(x)


def switched_at(x):
    feed, state = switch(0.3 * x, 0.8)
    return feed(0.9 * x) + 2.0 * feed(0.6 * x) * x + feed(0.2 * x) + state["changes"] * x


@pytest.mark.parametrize("f", [switched, switched_at, recorded, accumulated])
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f, (0.77, 1.31))
