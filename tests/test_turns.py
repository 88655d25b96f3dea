"""Generators and context managers that change what the block around them sees, and the reverse."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import overt
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_way


def filling(totals: list, x: Any) -> Iterator[int]:
    for k in range(len(totals)):
        totals[k] = x * (k + 1.0)
        yield k


def a_list_filled_on_the_way(x: Any) -> Any:
    totals = [1.0, 1.0, 1.0]
    result = 0.0
    for k in filling(totals, x):
        result = result + totals[0] * totals[-1] * k
    return result


def draining(queue: list, x: Any) -> Iterator[Any]:
    while queue:
        v = queue.pop()
        yield v * x


def a_list_emptied_on_the_way(x: Any) -> Any:
    queue = [1.0, x, 3.0]
    result = x
    for v in draining(queue, x):
        result = result * v + len(queue)
    return result


def a_closure_changed_by_both(x: Any) -> Any:
    seen = {"last": x}

    def steps() -> Iterator[Any]:
        for k in range(3):
            seen["last"] = seen["last"] * x
            yield k

    result = 0.0
    for k in steps():
        result = result + seen["last"] * k
        seen["last"] = seen["last"] + 1.0
    return result


def a_variable_that_the_loop_sets(x: Any) -> Any:
    rate = 1.0

    def slopes() -> Iterator[Any]:
        for k in range(3):
            yield rate * (k + x)

    result = 0.0
    for v in slopes():
        result = result + v
        rate = v * x
    return result * rate


def growing(x: Any) -> Iterator[list]:
    row = [x]
    for _ in range(3):
        row.append(row[-1] * x)
        yield row


def one_list_yielded_again_and_again(x: Any) -> Any:
    rows = list(growing(x))
    return sum(row[-1] * len(row) for row in rows)


def taken_one_by_one(x: Any) -> Any:
    box = [x]
    left = draining(box, x)
    box.append(x * x)
    first = next(left)
    count = len(box)
    return first * (count + 1) + sum(left)


class Meter:
    def __init__(self, step: Any) -> None:
        self.step, self.level = step, 0.0

    def readings(self) -> Iterator[Any]:
        for k in range(3):
            self.level = self.level + self.step * k
            yield self.level


def an_attribute_that_grows(x: Any) -> Any:
    meter = Meter(x)
    result = 0.0
    for v in meter.readings():
        result = result + v * meter.level
    return result


def values_of_a_function_with_effects(x: Any) -> Any:
    log = []

    def noted(v: Any) -> Any:
        log.append(v)
        return v * x

    values = (noted(v) for v in (x, 2.0, 3.0))
    first = next(values)
    return first * len(log) + sum(values)


@contextlib.contextmanager
def closing(entries: list, last: Any) -> Iterator[list]:
    entries.append(1.0)
    yield entries
    entries.append(last)


def a_manager_that_adds(x: Any) -> Any:
    with closing([], x * x) as entries:
        entries.append(x)
    return sum(v * (k + 1) for k, v in enumerate(entries))


def a_manager_of_a_list(x: Any) -> Any:
    kept: list = []
    with closing(kept, 2.0):
        kept.append(x * x)
    kept.append(x)
    return sum(v * (k + 1) for k, v in enumerate(kept))


@contextlib.contextmanager
def rescaled(table: dict, by: Any) -> Iterator[Any]:
    table["a"] = table["a"] * by
    yield by
    table["a"] = table["a"] / by + 1.0


def a_manager_of_a_table(x: Any) -> Any:
    table = {"a": x}
    with rescaled(table, 3.0) as k:
        table["a"] = table["a"] * table["a"] * k
    return table["a"]


def an_exception_that_is_left_out(x: Any) -> Any:
    values = [x]
    with contextlib.suppress(KeyError):
        values.append(x * x)
        {}["none"]
        values.clear()
    return sum(values)


def an_exception_that_is_caught(x: Any) -> Any:
    values = [x]
    try:
        values.append(x * x)
        {}["none"]
        values.append(5.0 * x)
    except KeyError:
        values.append(3.0 * x)
    return sum(v * k for k, v in enumerate(values))


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize("f", [
    a_list_filled_on_the_way, a_list_emptied_on_the_way, a_closure_changed_by_both,
    a_variable_that_the_loop_sets, one_list_yielded_again_and_again, taken_one_by_one,
    an_attribute_that_grows, values_of_a_function_with_effects, a_manager_that_adds,
    a_manager_of_a_list, a_manager_of_a_table, an_exception_that_is_left_out,
    an_exception_that_is_caught,
])  # fmt: skip
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f)


def items_of(values: list) -> Iterator[Any]:
    k = 0
    while k < len(values):
        yield values[k]
        k += 1


def a_list_that_the_loop_extends(x: Any) -> Any:
    values = [x, 2.0]
    result = 0.0
    for v in items_of(values):
        result = result + v
        if len(values) < 4:
            values.append(v * x)
    return result


class Clock:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    def ticks(self) -> Iterator[Any]:
        for k in range(3):
            yield self.rate * k


def an_attribute_that_the_loop_sets(x: Any) -> Any:
    clock = Clock(x)
    result = 0.0
    for t in clock.ticks():
        result = result + t
        clock.rate = clock.rate * 2.0
    return result


@pytest.mark.parametrize("f, what", [
    (a_list_that_the_loop_extends, "'values'"), (an_attribute_that_the_loop_sets, "'clock.rate'"),
])  # fmt: skip
def test_what_a_loop_changes_under_its_generator(f: Callable[[Any], Any], what: str) -> None:
    with pytest.raises(Refusal, match=f"the loop changes {what}") as refused:
        overt.jit(f)(0.7)
    assert "test_turns.py" in str(refused.value)


def untouched(x: Any) -> Any:
    clock = Clock(x)
    result = 0.0
    for t in clock.ticks():
        result = result + t * clock.rate
        clock.offset = t  # type: ignore[attr-defined]
    return result


def test_other_attributes_may_be_set() -> None:
    assert float(overt.jit(untouched)(2.0)) == untouched(2.0)
