"""Builtins as plain Python for the passes to read: their meaning in loops and branches."""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import plain_math
from overt.runtime.arranging import (
    chosen_item,
    order_but,
    order_of,
    order_with,
    order_without,
    picked,
    place_from_start,
    place_of,
)
from overt.runtime.containers import changed
from overt.runtime.parts import is_array
from overt.runtime.staged_builtins import sorted_

__all__ = ["AT_PLACES", "PLAIN", "TWINS", "in_order", "partitioned", "without_item"]

MISSING = object()


def sum_of(items: Any, start: Any = 0) -> Any:
    """`sum(items, start)`."""
    total = start
    for item in items:
        total = total + item
    return total


def joined_of(lists: Any, start: Any) -> Any:
    """`sum(lists, start)` of lists."""
    total = list(start)
    for items in lists:
        total = [*total, *items]
    return total


def map_of(function: Any, *lists: Any) -> Any:
    """`list(map(function, *lists))`."""
    results = []
    for items in zip(*lists, strict=False):
        results.append(function(*items))
    return results


def map_one(function: Any, items: Any) -> Any:
    """`list(map(function, items))`."""
    results = []
    for item in items:
        results.append(function(item))
    return results


def filter_of(function: Any, items: Any) -> Any:
    """`list(filter(function, items))`."""
    if function is None:
        function = bool
    results = []
    for item in items:
        if function(item):
            results.append(item)
    return results


def reduce_of(function: Any, items: Any, initial: Any) -> Any:
    """`functools.reduce(function, items, initial)`."""
    total = initial
    for item in items:
        total = function(total, item)
    return total


def reduce_rest(function: Any, items: Any) -> Any:
    """`functools.reduce(function, items)`."""
    items = list(items)
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


def max_of(items: Any) -> Any:
    """`max(items)`."""
    items = list(items)
    if not is_array(items[0]):
        place = place_of(items, None, True)
        return chosen_item(items, place)
    best = items[0]
    for item in items[1:]:
        if item > best:
            best = item
    return best


def min_of(items: Any) -> Any:
    """`min(items)`."""
    items = list(items)
    if not is_array(items[0]):
        place = place_of(items, None, False)
        return chosen_item(items, place)
    best = items[0]
    for item in items[1:]:
        if item < best:
            best = item
    return best


def sorted_of(items: Any, key: Any = None, reverse: bool = False) -> Any:
    """`sorted(items)`."""
    items = list(items)
    order = order_of(items, key, reverse)
    return picked(items, order)


def max_by(items: Any, key: Any = None, default: Any = MISSING) -> Any:
    """`max(items, key=key, default=default)`."""
    items = list(items)
    if len(items) == 0 and default is not MISSING:
        return default
    if key is None:
        return max_of(items)
    place = place_of(items, key, True)
    return chosen_item(items, place)


def min_by(items: Any, key: Any = None, default: Any = MISSING) -> Any:
    """`min(items, key=key, default=default)`."""
    items = list(items)
    if len(items) == 0 and default is not MISSING:
        return default
    if key is None:
        return min_of(items)
    place = place_of(items, key, False)
    return chosen_item(items, place)


def in_order(xs: Any, key: Any = None, reverse: bool = False, **options: Any) -> Any:
    """What `xs` is after `xs.sort(...)`."""
    if hasattr(xs, "dtype"):
        return np.sort(xs, **options)
    return sorted_(xs, key=key, reverse=reverse, **options)


def without_item(xs: Any, value: Any) -> Any:
    """What `xs` is after `xs.remove(value)`.

    >>> without_item([3, 1, 2, 1], 1)
    [3, 2, 1]
    """
    if type(xs) is not list:
        return changed(xs, "remove", value)
    order = order_without(xs, value)
    return picked(xs, order)


def popped_at(xs: Any, place: Any) -> Any:
    """What `xs.pop(place)` gives, and what it leaves, for a place known only later."""
    item = chosen_item(xs, place_from_start(xs, place))
    order = order_but(xs, place)
    return item, picked(xs, order)


def deleted_at(xs: Any, place: Any) -> Any:
    """What `del xs[place]` leaves, for a place known only later."""
    order = order_but(xs, place)
    return picked(xs, order)


def inserted_at(xs: Any, place: Any, item: Any) -> Any:
    """What `xs` is after `xs.insert(place, item)`, for a place known only later."""
    more = [*xs, item]
    order = order_with(more, place)
    return picked(more, order)


# Methods of lists, by what they are for places known only later.
AT_PLACES = {"pop": popped_at, "__delitem__": deleted_at, "insert": inserted_at}


def partitioned(xs: Any, *args: Any, **options: Any) -> Any:
    """What `xs` is after `xs.partition(...)`.

    >>> print(partitioned(np.array([3, 1, 2]), 1))
    [1 2 3]
    """
    if is_array(xs):
        return np.partition(xs, *args, **options)
    xs.partition(*args, **options)
    return xs


def float_of(x: Any) -> Any:
    """`float(x)`, kept differentiable."""
    return x


def complex_of(real: Any, imag: Any = 0.0) -> Any:
    """`complex(real, imag)`, kept differentiable."""
    return real + 1j * imag


def divmod_of(x: Any, y: Any) -> Any:
    """`divmod(x, y)`."""
    return x // y, x % y


# Those that are no builtins, or classes.
TWINS: dict[Any, Any] = {complex: complex_of, math.fsum: sum_of, **plain_math.TWINS}

PLAIN = {
    "sum": sum_of,
    "sorted": sorted_of,
    "map": map_one,
    "filter": filter_of,
    "reduce": reduce_of,
    "max": max_of,
    "min": min_of,
    "float": float_of,
    "divmod": divmod_of,
}
