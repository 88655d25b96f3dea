"""Generators that are no lists: sent values, `try`, results, context managers, endless methods."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import overt
from overt.runtime.errors import StagingError
from tests.ways import assert_every_way


def sent(x: Any) -> Any:
    def totals() -> Any:
        total = 0.0
        while True:
            v = yield total
            total = total + v * x * x

    g = totals()
    next(g)
    result = 0.0
    for i in range(3):
        result = result + g.send(x * i)
    return result


def with_a_result(x: Any) -> Any:
    def counting() -> Any:
        try:
            for i in range(3):
                yield x * i
        finally:
            pass
        return x

    def outer() -> Any:
        r = yield from counting()
        yield r * r

    return sum(outer()) * x


def as_a_context(x: Any) -> Any:
    trace = []

    @contextlib.contextmanager
    def scaled(k: float) -> Iterator[float]:
        trace.append("in")
        yield k * 2.0
        trace.append("out")

    with scaled(1.5) as k:
        y = x * k
    return y * y * len(trace)


class Stream:
    def __init__(self, x: Any) -> None:
        self.x = x

    def values(self) -> Iterator[Any]:
        k = 1.0
        while True:
            yield self.x * k
            k = k + 1.0


def of_a_method(x: Any) -> Any:
    g = Stream(x).values()
    total = next(g) * next(g)
    for i, v in zip(range(3), Stream(x * x).values()):  # noqa: B905
        total = total + v * i
    return total


@pytest.mark.parametrize(
    "f", [sent, with_a_result, as_a_context, of_a_method], ids=lambda f: f.__name__
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def test_an_endless_one_that_data_stops_is_refused() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for v in Stream(x).values():
            if v > 5.0:
                break
            total = total + v
        return total

    assert float(overt.vmap(f)(overt.numpy.ones(2))[0]) == f(1.0)
    with pytest.raises(StagingError, match="runs over a generator until a value"):
        overt.jit(f)(1.0)
