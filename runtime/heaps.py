"""The order of a list after a function of `heapq` or `bisect` has changed it."""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Sequence
from typing import Any

from overt.runtime.arranging import is_open, order_of
from overt.runtime.primitive import Rule

__all__ = ["order_after"]


@functools.total_ordering
class Place:
    """An item by its position; compared as the item is."""

    def __init__(self, items: Sequence[Any], position: int):
        self.item, self.position = items[position], position

    def __eq__(self, other: Any) -> bool:
        return bool(self.item == other.item)

    def __lt__(self, other: Any) -> bool:
        return bool(self.item < other.item)


def order_after(items: Sequence[Any], function: str) -> Any:
    """Positions of the items in the order that `function` leaves; what it adds is the last item.

    Items that only the running program knows are put in ascending order, which a heap may be.

    >>> order_after([5, 3, 1], "heapify"), order_after([1, 3, 5], "heappop")
    ([2, 1, 0], [1, 2])
    """
    if columns := columns_of(items):
        return _ascending(columns, function)
    places = [Place(items, i) for i in range(len(items))]
    if function in ("heapify", "heappop"):
        getattr(heapq, function)(places)
    elif function.startswith("insort"):
        getattr(bisect, function)(places, places.pop())
    else:
        getattr(heapq, function)(places, places.pop())
    return [place.position for place in places]


order_after.rule = Rule("order_after", ("items", "function"), zero=True)  # type: ignore[attr-defined]


def columns_of(items: Sequence[Any]) -> list[Sequence[Any]]:
    """What items are compared by, first things first, if the running program has to do it."""
    if any(is_open(x) for x in items):
        return [items]
    if not all(type(x) is tuple for x in items):
        return []
    columns: list[Sequence[Any]] = list(zip(*items, strict=True))
    return columns if columns and any(map(is_open, columns[0])) else []


def _ascending(columns: list[Sequence[Any]], function: str) -> Any:
    from overt.runtime import numpy as np

    first = 1 if function in ("heappop", "heapreplace") else 0
    columns = [column[first:] for column in columns]
    if not columns[0]:
        return []
    if len(columns) == 1:
        return first + np.asarray(order_of(columns[0]))
    return first + np.lexsort([np.stack(column) for column in reversed(columns)])
