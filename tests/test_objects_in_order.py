"""Objects, tuples and dataclasses that data compares: sorted, the largest, equal, contained."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from tests.ways import assert_every_way


class Item:
    def __init__(self, key: Any, worth: Any) -> None:
        self.key, self.worth = key, worth

    def __lt__(self, other: Any) -> Any:
        return self.key < other.key


@dataclass(order=True)
class Card:
    rank: Any
    suit: Any = field(compare=False, default=0.0)


@functools.total_ordering
class Weight:
    def __init__(self, grams: Any) -> None:
        self.grams = grams

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Weight) and self.grams == other.grams

    def __lt__(self, other: Any) -> Any:
        return self.grams < other.grams


class Span:
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def __contains__(self, v: Any) -> Any:
        return self.low <= v < self.high

    def __eq__(self, other: object) -> Any:
        return self.low == other.low and self.high == other.high  # type: ignore[attr-defined]


class Pick(NamedTuple):
    score: Any
    name: str
    worth: Any


def by_their_class(x: Any) -> Any:
    items = [Item(x, 1.0), Item(1.2, x), Item(x * x, 3.0), Item(0.9, x * 2.0)]
    ordered = sorted(items)
    best, least = max(items), min(items, key=lambda item: item.key)
    total = sum(item.key * item.worth * (k + 1) for k, item in enumerate(ordered))
    return total + best.key * least.worth + sorted(items, reverse=True)[1].worth


def by_fields(x: Any) -> Any:
    cards = [Card(x, 1.0), Card(1.1, x), Card(x * x, 2.0)]
    total = sum(card.rank * (k + 1) for k, card in enumerate(sorted(cards)))
    bonus = x if cards[0] < cards[1] else 2.0 * x
    return total * max(cards).suit + bonus + (1.0 if cards[0] == Card(x, 5.0) else 3.0)


def by_total_ordering(x: Any) -> Any:
    a, b = Weight(x), Weight(1.0)
    total = x if a >= b else x * x
    total += 2.0 * x if a <= b else 3.0
    return total * (x if a > b else 1.5) + (0.0 if a != b else 9.0)


def by_first_differences(x: Any) -> Any:
    pairs = sorted(zip([x, 1.0, x * x, 1.0], [3.0, 2.0, x, 1.0], strict=True))
    total: Any = 0.0
    for v, w in pairs:
        total = total * 0.5 + v * w
    return total + pairs[0][1] + max((x, 1.0), (1.3, x))[1]


def contained(x: Any) -> Any:
    span = Span(0.0, 1.0)
    total = x * x if x in span else 3.0 * x
    if x * 2.0 not in span:
        total = total + x
    return total * (1.0 if span != Span(0.0, x) else 2.0)


def picked(x: Any) -> Any:
    picks = [Pick(x, "a", 1.0), Pick(1.0, "b", x), Pick(x * x, "c", 2.0)]
    best = max(picks, key=lambda p: p.score)
    rest = sorted(picks, key=lambda p: -p.score)[1]
    return best.score * (best.worth + 1.0) + rest.score


@pytest.mark.parametrize(
    "f",
    [by_their_class, by_fields, by_total_ordering, by_first_differences, contained, picked],
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)
