"""Attributes that an object has from its class until a branch or loop sets its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.ways import assert_every_way


class Counter:
    steps = 0
    level: Any = 1.0

    def step(self, v: Any) -> None:
        self.steps += 1
        if v > 1.0:
            self.level = self.level * v


def counted(x: Any) -> Any:
    c = Counter()
    c.step(x)
    if x > 1.0:
        c.step(2.0 * x)
    return c.level * x + c.steps


def in_a_loop(x: Any) -> Any:
    @dataclass
    class Optimiser:
        rate: Any
        steps: int = field(default=0, init=False)

        def step(self, w: Any) -> Any:
            self.steps += 1
            return w - self.rate * w * w / self.steps

    plain = Optimiser(0.1 * x)
    w = x
    for _ in range(3):
        w = plain.step(w)
    return w * plain.steps


@pytest.mark.parametrize("f", [counted, in_a_loop], ids=lambda f: f.__name__)
def test_every_way(f: Any) -> None:
    assert_every_way(f)
