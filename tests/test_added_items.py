"""`xs += items` of lists and deques, where the items are in no list."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import pytest

import overt
from overt.runtime.errors import TracerBoolConversionError
from tests.ways import assert_every_way


def a_tuple(x: Any) -> Any:
    xs = [x]
    xs += (x * x, 2.0)
    pair = (x, 3.0)
    xs += pair
    return sum(xs) * xs[1]


def what_is_run_over_once(x: Any) -> Any:
    xs = [x, 1.0]
    xs += (v * x for v in (1.0, 2.0))
    xs += map(lambda v: v * x, [1.0, 2.0])
    xs += itertools.repeat(x, 2)
    xs += range(3)
    return sum(xs) * len(xs) * xs[-5]


def other_containers(x: Any) -> Any:
    xs = [x] * 2
    xs += {"a": x * x}.values()
    xs += deque([3.0 * x])
    xs += "ab"
    return sum(xs[:-2]) * xs[2] + len(xs)


def a_deque(x: Any) -> Any:
    d = deque([x, 2.0])
    d += [x * x, 3.0 * x]
    d += (x,)
    d.rotate(1)
    return d[0] * d[1] + d.pop() + sum(d)


@pytest.mark.parametrize("f", [a_tuple, what_is_run_over_once, other_containers, a_deque])
def test_items_are_added(f: Any) -> None:
    assert_every_way(f)


def until(vs: Any) -> Any:
    for v in vs:
        if v > 1.0:
            return
        yield v


def big(vs: Any) -> Any:
    return [v for v in vs if v > 0.5]


def a_generator_ends(x: Any) -> Any:
    return sum(until([0.1 * x, 0.3, x, x * x, 5.0])) * len(list(until([x, x * x])))


def a_helper_selects(x: Any) -> Any:
    return sum(big([x, 0.2 * x, x * x, 0.8])) / len(big([x, 3.0, 0.2])) + max(big([x, 0.8]))


def taken_and_dropped(x: Any) -> Any:
    vs = [0.2, x, 1.0, x * x, 0.3]
    taken = sum(itertools.takewhile(lambda v: v < 1.2, vs))
    dropped = sum(v * v for v in itertools.dropwhile(lambda v: v < 0.6, vs))
    others = list(itertools.filterfalse(lambda v: v < 1.2, [*vs, 3.0]))
    return taken + dropped * others[0] + len(others) * x


def filtered(x: Any) -> Any:
    vs = [x, 1.0, x * x, 0.2]
    total = 0.0
    for v in filter(lambda v: v > 0.5, vs):
        total = 0.5 * total + v
    best = sorted(filter(lambda v: v > 0.5, vs), reverse=True)
    return sum(filter(lambda v: v > 0.6, vs)) + total * best[0] + len(best)


def the_first(x: Any) -> Any:
    found = next(itertools.dropwhile(lambda v: v < 0.8, [0.1, x, x * x, 2.0]))
    return found + next(filter(lambda v: v > 9.0, [x, 1.0]), x * x)


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize(
    "f", [a_generator_ends, a_helper_selects, taken_and_dropped, filtered, the_first]
)
def test_data_takes_items(f: Any) -> None:
    assert_every_way(f)


def what_an_iterator_keeps(x: Any) -> Any:
    rest = iter([x, x * x, 3.0, 4.0 * x])
    head = list(itertools.takewhile(lambda v: v < 2.9, rest))
    return sum(head) + 2.0 * sum(rest)


def test_what_is_left_of_an_iterator_is_not_guessed() -> None:
    with pytest.raises(TracerBoolConversionError):
        overt.jit(what_an_iterator_keeps)(0.7)


def added_by_a_generator(x):
    values = [x[0], x[1]]
    values += (r * values[-1] for r in (2.0, 3.0))
    return sum(values)


def added_by_a_map(x):
    values = [x[0], x[1]]
    values += map(lambda r: r * values[-1], (2.0, 3.0))
    return sum(values)


def added_by_a_named_lambda(x):
    values = [x[0], x[1]]
    step = lambda r: r * values[-1]  # noqa: E731
    values.extend(map(step, (2.0, 3.0)))
    return sum(values)


def added_from_itself(x):
    values = [x[0], x[1]]
    values += itertools.islice((2.0 * v for v in values), 3)
    return sum(values)


@pytest.mark.parametrize(
    "f", (added_by_a_generator, added_by_a_map, added_by_a_named_lambda, added_from_itself)
)
def test_items_that_read_the_growing_list_are_right_or_refused(f):
    x = [0.5, 1.5]
    try:
        got = overt.jit(f)(x)
    except NotImplementedError as error:
        assert f is not added_by_a_generator and "changes while an iterator" in str(error)
    else:
        assert abs(float(got) - f(x)) < 1e-5
