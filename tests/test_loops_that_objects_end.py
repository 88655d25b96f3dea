"""Loops whose test asks what an object holds, which the body changes; tables of tables."""

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.ways import assert_every_way


@dataclass
class Iteration:
    step: Callable[[Any], Any]
    rounds: int = 0
    done: bool = False

    def run(self, x: Any) -> Any:
        while not self.done and self.rounds < 40:
            new = self.step(x)
            self.done = (new - x) ** 2 < 1e-16
            self.rounds += 1
            x = new
        return x


def contraction(x):
    iteration = Iteration(lambda z: 0.3 * z * z + 0.2 * x)
    return iteration.run(0.1) * x


class Climber:
    def __init__(self, height: Any) -> None:
        self.height, self.resting, self.steps = height, False, 0

    def climb(self) -> None:
        self.height = self.height * 1.3 + 0.1
        self.steps += 1
        if self.height > 3.0:
            self.resting = True


def two_climbers(x):
    first, second = Climber(x), Climber(0.5 * x * x)
    while not (first.resting and second.resting):
        if not first.resting:
            first.climb()
        if not second.resting:
            second.climb()
    return first.height * second.height + second.steps * x


def sums_and_counts(x):
    table: dict[str, dict[str, Any]] = collections.defaultdict(lambda: {"sum": 0.0, "count": 0})
    for label, value in zip("abaab", [x, x * x, 2.0 * x, 1.0, x**3], strict=True):
        table[label]["sum"] += value
        table[label]["count"] += 1
    means = {k: row["sum"] / row["count"] for k, row in table.items()}
    return means["a"] * means["b"] + table["a"]["count"] * x


@pytest.mark.parametrize("f", [contraction, two_climbers, sums_and_counts])
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f, (0.71, 1.37))
