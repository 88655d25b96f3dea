"""Generators that run over endless ones; states with counters in loops that data ends."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import overt
import overt.numpy as np
from overt.errors import Refusal
from tests.ways import assert_every_way


def multiples(base):
    k = 1
    while True:
        yield base * k
        k += 1


def damped(values, ratio):
    level = 1.0
    for v in values:
        yield level * v
        level *= ratio


def running(values):
    total = 0.0
    for v in values:
        total = total + v
        yield total


def sum_of_the_first(x):
    return sum(itertools.islice(damped(multiples(x), 0.8), 5))


def three_in_a_row(x):
    parts = list(itertools.islice(damped(running(multiples(x)), ratio=x), 4))
    return parts[-1] * parts[0]


def one_by_one(x):
    notes = multiples(x)
    soft = damped(notes, 0.5 * x)
    first, second = next(soft), next(soft)
    return first * second + sum(itertools.islice(soft, 2))


def an_expression(x):
    squares = (v * v + x for v in itertools.count(1))
    return sum(itertools.islice(squares, 4)) * x


def mapped(x):
    total = 0.0
    for k, v in enumerate(map(lambda t: np.sin(t * x), multiples(x))):
        total = total + v * k
        if k > 3:
            break
    return total


def nested(x):
    def halved(values):
        for v in values:
            yield 0.5 * v + x

    finite = sum(halved([x, 2.0 * x]))
    return finite + sum(s * v for s, v in zip([1.0, 2.0, x], halved(multiples(x)), strict=False))


def until_large(x):
    total = 0.0
    for v in running(multiples(x)):
        if v > 4.0:
            break
        total = total + v * v
    return total


def state_with_a_counter(x):
    state, total = (x, 1), 0.0
    while state[1] < 4 * x:
        base, k = state
        state = (base + 0.1, k + 1)
        total = total + (base * k) ** 2
    return total + state[0]


def records_with_counters(x):
    state = [x, 0, x * x]
    while True:
        a, n, b = state
        if a * n > 3.0:
            break
        state = [a + 0.2 * b * n, n + 1, b * 0.9]
    return state[0] * state[1]


PROGRAMS = [
    sum_of_the_first, three_in_a_row, one_by_one, an_expression, mapped, nested, until_large,
    state_with_a_counter, records_with_counters,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f, (0.73, 1.31))


def test_one_that_others_use_too() -> None:
    def shared(x):
        ticks = itertools.count(1)
        first = list(itertools.islice(damped(ticks, x), 2))
        return sum(first) + next(ticks) * x

    with pytest.raises(Refusal, match="how much of it"):
        overt.jit(shared)(0.7)
