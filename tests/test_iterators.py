"""Iterators that are advanced: `iter`, `next`, parts of generators, pairs of one iterator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

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


def of_generators(x: Any) -> Any:
    def powers(n: int) -> Iterator[Any]:
        for k in range(n):
            yield x**k

    g = powers(5)
    first, second = next(g), next(g)
    some = list(itertools.islice(g, 2))
    h = (k * x for k in range(1, 5))
    return first * second + some[0] * some[1] + sum(g) + next(h) * sum(h)


def searched(x: Any) -> Any:
    found = next(v for v in [x, x * x, 9.0 * x] if v > 1.0)
    other = next((v * v for v in [x, 2.0] if v > 100.0), 3.0 * x)
    return found * x + other


@pytest.mark.parametrize(
    "f",
    [
        first_and_rest, of_an_array, pairs, taken_inside_the_loop, until_none, of_generators,
        searched,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_every_way(f: Any) -> None:
    assert_every_way(f)
