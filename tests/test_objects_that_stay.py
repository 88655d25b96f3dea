"""An object that a loop or branch keeps or replaces by a new one: derivatives and identities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import overt
from tests.ways import assert_every_way


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def value(self) -> Any:
        return self.a * self.b


def best_of_loop(x: Any) -> Any:
    best = Pair(x, 1.0)
    for _ in range(4):
        new = Pair(best.a * 0.9, best.b + x)
        if new.value() > best.value():
            best = new
    return best.value()


def in_a_list(x: Any) -> Any:
    pairs = [Pair(x, 1.0), Pair(2 * x, x)]
    for _ in range(3):
        new = Pair(pairs[0].a * 0.9, pairs[1].b + x)
        if new.a > 0.6:
            pairs[0] = new
        else:
            pairs[1] = new
    return pairs[0].a * pairs[1].b


def in_a_tuple(x: Any) -> Any:
    best = (Pair(x, 1.0), 0.0)
    for _ in range(3):
        new = Pair(best[0].a * 0.9, best[1] + x)
        if new.a > 0.6:
            best = (new, new.b)
    return best[0].a * best[1]


def in_a_dictionary(x: Any) -> Any:
    best = {"of all": Pair(x, 1.0)}
    for _ in range(3):
        new = Pair(best["of all"].a * 0.9, best["of all"].b + x)
        if new.a > 0.6:
            best["of all"] = new
    return best["of all"].value()


def until_large(x: Any) -> Any:
    pair = Pair(Pair(x, 1.0), 1.0)
    while pair.b < 10.0:
        pair = Pair(Pair(pair.a.a * 1.1, pair.b), pair.b + x)
        pair.a.a = pair.a.a + 0.1
    return pair.a.value()


class Level:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return bool(self.value > 1.0)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __round__(self, digits: Any = None) -> Any:
        return round(self.value, digits)

    def __contains__(self, x: Any) -> bool:
        return bool(x < self.value)


def of_objects(x: Any) -> Any:
    level, y = Level(x), 0.0
    while level and x < 5.0:
        y += x
        level = Level(level.value - 0.4)
    if x > 0.6 and Level(3 * x):
        y += 3.0 * x
    if not (level or x < 0.0):
        y += float(Level(x)) * (int(Level(3.0 * x)) + (1.0 if 1.0 in Level(x) else 2.0))
    return y * (2.0 if Level(x) or x > 1.0 else x)


def changed_after_the_loop(x: Any) -> Any:
    first = Pair(x, 1.0)
    pair = first
    for _ in range(3):
        new = Pair(pair.a * 0.9, pair.b + x)
        if new.a > 0.5:
            pair = new
    pair.a = 7.0 * x
    return first.a * pair.b + pair.a


@pytest.mark.parametrize(
    "f", [best_of_loop, in_a_list, in_a_tuple, in_a_dictionary, until_large, of_objects]
)
def test_what_stays_in_a_loop_keeps_its_derivative(f: Any) -> None:
    assert_every_way(f)


def changed_when_chosen(x: Any) -> Any:
    first = Pair(x, 2.0)
    pair = first
    if x > 1.0:
        pair = Pair(x * x, x)
    pair.a = 5.0 * x
    return first.a * pair.b


def asked_which(x: Any) -> Any:
    first = Pair(x, 2.0)
    pair = first
    if x > 1.0:
        pair = Pair(x * x, x)
    return x if pair is first else x * x


def changed_after_no_iteration(x: Any) -> Any:
    first = Pair(x, 9.0 * x)
    pair = first
    while pair.b < 10.0:
        pair = Pair(pair.a * 1.1, pair.b + x)
    pair.a = 5.0 * x
    return first.a * pair.value()


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize(
    "f", [changed_when_chosen, asked_which, changed_after_the_loop, changed_after_no_iteration]
)
def test_a_new_object_or_an_old_one_is_never_a_silent_copy(f: Any) -> None:
    for x in (0.5, 2.0):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        for run, wanted in ((overt.jit(f), f(x)), (overt.jit(overt.grad(f)), slope)):
            try:
                got = run(x)
            except TypeError as error:
                assert "taken by value" in str(error) or "make a new one" in str(error)
            else:
                np.testing.assert_allclose(got, wanted, rtol=1e-6)
