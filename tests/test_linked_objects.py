"""Objects that hold each other, changed as a tuple: each target is found when its turn comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import overt
import overt.numpy as np
from tests.ways import assert_every_way


class Chain:
    """A linked list."""

    class Link:
        def __init__(self, value: Any, after: Any) -> None:
            self.value, self.after = value, after

    def __init__(self, values: Any) -> None:
        self.head: Any = None
        for v in values:
            self.push(v)

    def push(self, v: Any) -> None:
        self.head = self.Link(v, self.head)

    def reverse(self) -> None:
        before, link = None, self.head
        while link:
            link.after, before, link = before, link, link.after
        self.head = before

    def __iter__(self) -> Iterator[Any]:
        link = self.head
        while link is not None:
            yield link.value
            link = link.after


def reversed_chain(x: Any) -> Any:
    chain = Chain([x, x * x, 2.0])
    first = sum(v * (i + 1) for i, v in enumerate(chain))
    chain.reverse()
    chain.push(x + 1.0)
    return first + sum(v * v * i for i, v in enumerate(chain))


def test_a_reversed_chain() -> None:
    assert_every_way(reversed_chain)


def test_a_place_is_found_when_its_turn_comes() -> None:
    def f(x: Any) -> Any:
        i, xs = 0, [x, x * 2.0, x * 3.0]
        i, xs[i] = 1, 10.0  # stores into the second
        xs[i], i, xs[2] = 20.0, 0, xs[i]
        xs, xs[0] = [x, x], xs[1]
        return xs[0] + x * xs[1] + i

    assert f(2.0) == overt.jit(f)(2.0) == 24.0
    assert overt.grad(f)(2.0) == 4.0

    def rows(a: Any) -> Any:
        k = 0
        a[k], k, a[1] = a[1], 2, a[0]
        return a[0] * k + a[1]

    assert overt.jit(rows)(np.array([1.0, 2.0, 3.0])) == 5.0
