"""Loops that change a variable which nested functions or classes share, in compiled derivatives."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ways import assert_every_way


def by_a_function_in_a_list(x: Any) -> Any:
    w = x

    def update() -> None:
        nonlocal w
        w = w - 0.1 * x * w * w

    updates = [update]
    for _ in range(3):
        updates[0]()
    return w


def read_by_a_class(x: Any) -> Any:
    class Step:
        def __init__(self, rate: Any) -> None:
            self.rate = rate

        def size(self) -> Any:
            return w * self.rate

    w = x
    step = Step(0.1 * x)
    for _ in range(3):
        w = w - step.size() * w
    return w


def named_like_a_parameter(x: Any) -> Any:
    class Optimiser:
        def __init__(self, rate: Any) -> None:
            self.rate = rate

        def step(self, w: Any) -> Any:
            return w - self.rate * w * w

    plain, w = Optimiser(0.1 * x), x
    for _ in range(3):
        w = plain.step(w)
    return w


@pytest.mark.parametrize(
    "f",
    [by_a_function_in_a_list, read_by_a_class, named_like_a_parameter],
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)
