"""Values kept where no container shows them: in generators that wait, in caches, in iterators."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ways import assert_every_way


def averages() -> Any:
    total, count = 0.0, 0
    while True:
        value = yield total / max(count, 1)
        if value is None:
            return
        total, count = total + value, count + 1


def sent_values(x: Any) -> Any:
    mean = averages()
    next(mean)
    first = mean.send(x)
    second = mean.send(x * x)
    mean.close()
    return first * second + x


def steps(k: Any) -> Any:
    value, seen = 1.0, []
    while True:
        told = yield value
        if told == "stop":
            return seen
        value = value * k + told
        seen.append(value)


def delegated(x: Any) -> Any:
    def outer() -> Any:
        seen = yield from steps(x)
        yield sum(seen)

    machine = outer()
    next(machine)
    for v in (x, 2.0 * x, 3.0):
        machine.send(v)
    return machine.send("stop")


def cached_recursion(x: Any) -> Any:
    @functools.cache
    def legendre(k: int) -> Any:
        if k == 0:
            return 1.0
        if k == 1:
            return x
        return ((2 * k - 1) * x * legendre(k - 1) - (k - 1) * legendre(k - 2)) / k

    return sum(legendre(k) for k in range(4))


def iterators_kept(x: Any) -> Any:
    sums = itertools.accumulate([x, x * x, 2.0], lambda a, b: a * b)
    first = next(sums)
    products = map(lambda v: v * x, [x, 1.0])
    return first * next(sums) + next(products) + sum(products)


class Vector:
    """Special methods that call functions of `math`."""

    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, i: int) -> Any:
        return self.parts[i]

    def __setitem__(self, i: int, v: Any) -> None:
        self.parts[i] = v

    def __matmul__(self, other: Any) -> Any:
        return sum(a * b for a, b in zip(self.parts, other.parts, strict=True))

    def __abs__(self) -> Any:
        return math.sqrt(self @ self)

    def __iadd__(self, other: Any) -> Any:
        for i in range(len(self)):
            self[i] += other[i]
        return self


def special_methods(x: Any) -> Any:
    v, w = Vector(x, 2.0), Vector(x * x, 1.0)
    v += w
    v[0] = v[0] * math.exp(-x)
    return abs(v) * (v @ w) + math.hypot(*w) + max(v) - min(v) + math.sin(v[1])


@pytest.mark.parametrize(
    "f",
    [sent_values, delegated, cached_recursion, iterators_kept, special_methods],
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)
