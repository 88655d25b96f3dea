"""Iterators that are advanced: `iter`, `next`, parts of generators, pairs of one iterator."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import overt
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_way


def first_and_rest(x: Any) -> Any:
    it = iter([x, x * x, 3.0 * x])
    total = next(it)
    for v in it:
        total = total * 1.5 + v
    return total + next(it, x) * x


def of_an_array(x: Any) -> Any:
    import numpy as np

    it = iter(np.array([1.0, 2.0, 3.0]) * x)
    first = next(it)
    return first * sum(v * v for v in it)


def pairs(x: Any) -> Any:
    it = iter([x, x * x, x + 1.0, x**3])
    total = 0.0
    for a, b in zip(it, it):  # noqa: B905
        total = total + a * b
    return total


def taken_inside_the_loop(x: Any) -> Any:
    it = iter([x, x * x, x**3, x**4])
    total = 0.0
    for v in it:
        total = total + v * next(it)
    return total


def until_none(x: Any) -> Any:
    it = enumerate([x, x * x, x**3])
    _, total = next(it)
    while True:
        pair = next(it, None)
        if pair is None:
            break
        total = total + pair[0] * pair[1]
    return total


def squares_until_none(x: Any) -> Any:
    it = iter([x, x * 2.0, x * x])
    total = 0.0
    while True:
        v = next(it, None)
        if v is None:
            break
        total = total + v * v
    return total


def of_generators(x: Any) -> Any:
    def powers(n: int) -> Iterator[Any]:
        for k in range(n):
            yield x**k

    g = powers(5)
    first, second = next(g), next(g)
    some = list(itertools.islice(g, 2))
    h = (k * x for k in range(1, 5))
    return first * second + some[0] * some[1] + sum(g) + next(h) * sum(h)


def read_twice(x: Any) -> Any:
    def powers() -> Iterator[Any]:
        for k in range(3):
            yield k * x

    g, m = powers(), map(lambda v: v * x, [1.0, 2.0])
    z = zip([x, 2.0], [x, x * x])  # noqa: B905
    total = sum(g) * x + 100.0 * sum(v for v in g)
    for a, b in z:
        total = total + a * b
    for a, b in z:
        total = total + 100.0 * a * b
    return total + sum(m) * (len(list(m)) + x)


def stack_machine(x: Any) -> Any:
    operators = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}
    stack: list = []
    for token in [x, 2.0, "*", x, "+"]:
        if isinstance(token, str):
            b, a = stack.pop(), stack.pop()
            stack.append(operators[token](a, b))
        else:
            stack.append(token)
    return stack[0] * stack[0]


def searched(x: Any) -> Any:
    found = next(v for v in [x, x * x, 9.0 * x] if v > 1.0)
    other = next((v * v for v in [x, 2.0] if v > 100.0), 3.0 * x)
    return found * x + other


@pytest.mark.parametrize(
    "f",
    [
        first_and_rest, of_an_array, pairs, taken_inside_the_loop, until_none,
        squares_until_none, of_generators,
        searched, read_twice, stack_machine,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def total_of(items):
    return sum(items)


def left_by_data(x):
    it = iter([1.0, 2.0, 3.0, 4.0])
    seen = 0.0
    for v in it:
        seen += v * x
        if seen > 2.0:
            break
    return total_of(it) * x


def test_what_a_loop_leaves_to_a_function():
    for way in (overt.jit, overt.grad, overt.vmap):
        with pytest.raises(Refusal, match="how much is left of the iterator 'it'"):
            way(left_by_data)(numpy.ones(2) if way is overt.vmap else 1.0)


TABLE: dict[str, Any] = {}


def stored_by_any(x):
    any(TABLE.__setitem__(k, v * x) for k, v in [("a", 1.0), ("b", 2.0)])
    return TABLE["a"] + TABLE["b"]


def stored_by_a_list(x):
    table: dict[str, Any] = {}
    _ = [operator.setitem(table, k, x) for k in "ab"]
    return table["a"] + table["b"]


@pytest.mark.parametrize("function", [stored_by_any, stored_by_a_list])
def test_stores_in_comprehensions(function):
    for way in (overt.jit, overt.grad):
        with pytest.raises(Refusal, match="changes a container in a comprehension"):
            way(function)(1.0)
