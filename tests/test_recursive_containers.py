"""Nested functions that call themselves and fill containers from around them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.ways import assert_every_way


def noted_descent(x):
    notes = []

    def descend(n):
        notes.append(n * x)
        if n == 0:
            return x
        return descend(n - 1) * x

    return descend(3) + sum(notes)


def two_descents(x):
    notes = [x]

    def descend(n):
        if n > 0:
            notes.append(x**n)
            return descend(n - 1) + x
        return x * x

    return descend(3) * descend(2) + sum(notes) * len(notes)


def through_another(x):
    notes = []

    def visit(depth):
        notes.append(x * depth)
        return depth and visit(depth - 1)

    def walk(depth):
        visit(depth)
        return depth * x

    return walk(2) + walk(1) + sum(notes) * x


@pytest.mark.parametrize("f", [noted_descent, two_descents, through_another])
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f)
