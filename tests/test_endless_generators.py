"""Generators without an end, of the user's and of itertools, where it is clear what is taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import overt
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_way


def multiples(x: Any) -> Iterator[Any]:
    k = 1.0
    while True:
        yield k * x
        k = k + x


def by_next(x: Any) -> Any:
    g = multiples(x)
    first = next(g)
    total = 0.0
    for _ in range(3):
        total = total + next(g) * first
    return total + next(g) * next(g)


def left_by_break(x: Any) -> Any:
    def fibonacci() -> Iterator[Any]:
        a, b = x, 1.0
        while True:
            yield a
            a, b = b, a + b

    total = 0.0
    for i, v in enumerate(fibonacci(), 1):
        if v > 9.0:
            break
        total = total + v * v * i
    return total


def by_zip_and_islice(x: Any) -> Any:
    total = 0.0
    for i, v in zip(range(4), multiples(x)):  # noqa: B905
        total = total + v * i
    return total * sum(v * v for v in itertools.islice(multiples(x), 1, 4))


def of_itertools(x: Any) -> Any:
    total = 0.0
    for i, v in zip(itertools.count(1), [x, x * x, 2.0 * x]):  # noqa: B905
        total = total + i * v
    total = total + sum(a * b for a, b in zip([x, x * x], itertools.repeat(x)))  # noqa: B905
    for c, i in zip(itertools.cycle([x, 2.0]), range(5)):  # noqa: B905
        total = total + c * i * x
    counter = itertools.count(2, 3)
    return total * x + next(counter) * x + next(counter) * x * x


@pytest.mark.parametrize(
    "f", [by_next, left_by_break, by_zip_and_islice, of_itertools], ids=lambda f: f.__name__
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def test_values_as_long_as_a_test_holds() -> None:
    def f(x: Any) -> Any:
        return sum(itertools.takewhile(lambda v: v < 20.0, multiples(x)))

    with overt.enable_x64(True):
        assert abs(float(overt.grad(f)(2.0)) - (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6) < 1e-5


def test_one_that_is_handed_on_is_refused() -> None:
    def f(x: Any) -> Any:
        return sum(multiples(x))

    with pytest.raises(Refusal, match="does not say how much of it is needed"):
        overt.jit(f)(1.0)
