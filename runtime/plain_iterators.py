"""Functions of `bisect` and `itertools` that ask data, as plain Python for the passes to read."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable
from typing import Any

from overt.runtime.plain import plain

__all__ = ["IN_TURN", "TWINS", "given_in_turn"]


@plain
def accumulate_of(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    """`list(itertools.accumulate(iterable, func, initial=initial))`."""
    items = list(iterable)
    if initial is not None:
        items = [initial, *items]
    found = items[:1]
    for item in items[1:]:
        if func is None:
            found.append(found[-1] + item)
        else:
            found.append(func(found[-1], item))
    return found


@plain
def bisect_left_of(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """`bisect.bisect_left(a, x, lo, hi, key=key)`."""
    hi = len(a) if hi is None else hi
    for _ in range(len(a).bit_length()):
        middle = (lo + hi) // 2
        if lo < hi:
            item = a[middle]
            if (item if key is None else key(item)) < x:
                lo = middle + 1
            else:
                hi = middle
    return lo


@plain
def bisect_right_of(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """`bisect.bisect_right(a, x, lo, hi, key=key)`."""
    hi = len(a) if hi is None else hi
    for _ in range(len(a).bit_length()):
        middle = (lo + hi) // 2
        if lo < hi:
            item = a[middle]
            if x < (item if key is None else key(item)):
                hi = middle
            else:
                lo = middle + 1
    return lo


@plain
def dropwhile_of(predicate: Any, iterable: Any) -> Any:
    """`list(itertools.dropwhile(predicate, iterable))`."""
    found, kept = [], False
    for item in iterable:
        kept = kept or not predicate(item)
        if kept:
            found.append(item)
    return found


@plain
def filter_of(function: Any, iterable: Any) -> Any:
    """`list(filter(function, iterable))`."""
    return [item for item in iterable if (item if function is None else function(item))]


@plain
def filterfalse_of(predicate: Any, iterable: Any) -> Any:
    """`list(itertools.filterfalse(predicate, iterable))`."""
    return [item for item in iterable if not (item if predicate is None else predicate(item))]


@plain
def takewhile_of(predicate: Any, iterable: Any) -> Any:
    """`list(itertools.takewhile(predicate, iterable))`."""
    found = []
    for item in iterable:
        if not predicate(item):
            break
        found.append(item)
    return found


def given_in_turn(f: Callable[..., Any], make: Callable[..., Any], *args: Any) -> Any:
    """What `f` gives as an iterator, from a function that gives it as a list.

    Of an iterator it takes items one by one, and leaves others to whoever else has it.
    """
    if hasattr(args[-1], "__next__"):
        return f(*args)
    found = make(*args)
    return iter(found) if type(found) is list else found


# Those that give iterators.
IN_TURN: dict[Any, Callable[..., Any]] = {
    filter: filter_of,
    itertools.dropwhile: dropwhile_of,
    itertools.filterfalse: filterfalse_of,
    itertools.takewhile: takewhile_of,
}

TWINS: dict[Callable[..., Any], Callable[..., Any]] = {
    itertools.accumulate: accumulate_of,
    bisect.bisect_left: bisect_left_of,
    bisect.bisect_right: bisect_right_of,
}
