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


def stirling(x):
    known = {}

    def number(n, k):
        if n == k:
            return 1.0
        if k == 0 or k > n:
            return 0.0
        if (n, k) not in known:
            known[n, k] = k * number(n - 1, k) * x + number(n - 1, k - 1)
        return known[n, k]

    total = sum(number(4, k) * x**k for k in range(5))
    return total + len(known) * x


def cached_powers(x):
    powers = {1: x}

    def power(n):
        if n not in powers:
            powers[n] = x**n
        return powers[n]

    return power(2) * power(3) + power(2) - power(1) * len(powers)


def cache_with_a_correction(x):
    table = {0: x}

    def entry(n):
        if n in table:
            return table[n]
        table[n] = entry(n - 1) * x + 1.0
        return table[n]

    before = entry(3)
    table[2] = 0.5 * x
    table[3] = table[2] * before
    return entry(4) * before + sum(table.values())


def paths(x):
    route, found = [], []

    def search(node, total):
        if node == 3:
            found.append(total * len(route))
            return
        route.append(node)
        search(node + 1, total + x * node)
        route.pop()
        search(node + 1, total * x)

    search(0, 1.0)
    return max(found) + sum(found) + len(found)


def reached(x):
    links = {0: [1, 2], 1: [3], 2: [3], 3: []}
    order = []

    def visit(node):
        if node in order:
            return
        for other in links[node]:
            visit(other)
        order.append(node)

    visit(2)
    first = list(order)
    visit(0)
    return sum(x**k * (n + 1) for k, n in enumerate(order)) + len(first) * x


PROGRAMS = [
    noted_descent, two_descents, through_another, stirling, cached_powers,
    cache_with_a_correction, paths, reached,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f)
