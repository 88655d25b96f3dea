"""Generators that run over endless ones; states with counters in loops that data ends."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import overt
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
    return sum(itertools.islice(damped(multiples(x), 0.8), 3))


def three_in_a_row(x):
    parts = list(itertools.islice(damped(running(multiples(x)), ratio=x), 3))
    return parts[-1] * parts[0]


def one_by_one(x):
    notes = multiples(x)
    soft = damped(notes, 0.5 * x)
    first, second = next(soft), next(soft)
    return first * second + sum(itertools.islice(soft, 2))


def an_expression(x):
    squares = (v * v + x for v in multiples(x))
    return sum(itertools.islice(squares, 3)) * x


def mapped(x):
    total = 0.0
    for k, v in enumerate(map(lambda t: t * t * x, multiples(x))):
        total = total + v * k
        if k > 1:
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


PROGRAMS = [
    sum_of_the_first, three_in_a_row, one_by_one, an_expression, mapped, nested, until_large,
    state_with_a_counter,
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
