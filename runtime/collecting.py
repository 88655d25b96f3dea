"""Comprehensions and `sum`, where only the running program knows which items there are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from overt.runtime.branches import cond
from overt.runtime.loop_items import items_of
from overt.runtime.predicates import predicate
from overt.runtime.primitive import GRAPH
from overt.runtime.some_of import SomeOf, some_of
from overt.runtime.staging import Graph, run_in
from overt.runtime.truth import and_
from overt.runtime.undefined import Undefined

__all__ = ["collected", "sum_"]


def collected(items: Any, make: Callable, test: Callable | None = None, kind: type = list) -> Any:
    """`[make(x) for x in items if test(x)]`; with `kind` a set, or a dict of pairs.

    >>> collected([3, 1, 2], lambda x: x * x, lambda x: x > 1)
    [9, 4]
    """
    keys: list[Any] = []
    values: list[Any] = []
    flags: list[Any] = []
    found = items_of(items)
    length = found.length
    if not isinstance(length, int):
        raise TypeError("a comprehension over items whose number only the running program knows")
    every = (found.item(i) for i in range(length)) if found.by_lane else iter(found)
    for i, item in enumerate(every):
        there = found.lanes_at(i)
        flag = True if there is None else there
        if test is not None:
            flag = predicate(and_(flag, with_parts(test, item)))
        if flag is False:
            continue
        value = made(flag, with_parts(make, item))
        if kind is list:
            values.append(value)
        else:
            key, value = value if kind is dict else (value, None)
            if key in keys:  # of a set, or of a dictionary whose last value counts
                raise NotImplementedError(
                    f"two items of a {kind.__name__} have the key {key!r}, and only the running "
                    "program knows which of them there are; write the loop out"
                )
            keys.append(key)
            values.append(value)
        flags.append(flag)
    return some_of(kind, None if kind is list else keys, values, flags)


def with_parts(f: Callable, item: Any) -> Callable[[], Any]:
    """The call of a function of an item, or of its parts."""
    if len(inspect.signature(f).parameters) != 1:
        return lambda: f(*item)
    return lambda: f(item)


def made(flag: Any, make: Callable[[], Any]) -> Any:
    """What `make` gives, computed where the flag holds."""
    if flag is True:
        return make()
    region = Graph([], GRAPH.get())
    value = run_in(region, make)
    if not region.nodes:  # it is there already
        return value
    return cond(flag, make, lambda: Undefined)


def sum_(items: Any, start: Any = 0) -> Any:
    """`sum`.

    >>> sum_([1, 2, 3])
    6
    """
    if type(items) is not SomeOf:
        return sum(items, start)
    total = start
    for x, flag in zip(items.listed(), items.flags, strict=True):
        if flag is not False:
            total = cond(flag, lambda x=x, total=total: total + x, lambda total=total: total)
    return total
