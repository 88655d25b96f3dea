"""What staged code reads from and writes to the world around it.

Globals, closure cells, attributes of modules and of the user's objects that a program read are
observed: at each call they are compared with what they were, and arrays among them are read again
and given to the program as inputs.  What the code wrote while it was staged is undone, and written
again after each run with the values of that run.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from overt.runtime.bare import refill_bare
from overt.runtime.left_behind import is_left_behind
from overt.transformer.observed import (
    ClassParts,
    Parts,
    Seen,
)
from overt.transformer.parted import (
    MISSING,
    Attribute,
    Definition,
    contents_of,
    pairs_of,
    pairs_of_class,
    part_of,
    put_part,
)

# Holders of places that are no names: the call's arguments, and things that are places themselves.
ARGUMENTS: Any = object()
THINGS: Any = object()


class Place:
    """Somewhere a value is read from: a name in a dict, a cell, or one of the call's arguments."""

    __slots__ = ("holder", "key")

    def __init__(self, holder: Any, key: Any):
        self.holder, self.key = holder, key

    def get(self, arguments: list[Any]) -> Any:
        if self.holder is ARGUMENTS:
            return arguments[self.key]
        if self.holder is THINGS:
            return self.key
        if isinstance(self.holder, types.CellType):
            return contents_of(self.holder)
        return self.holder.get(self.key, MISSING)

    def words(self) -> str:
        """What it is, for messages."""
        if self.holder is ARGUMENTS:
            return "an object that is an argument"
        if isinstance(self.holder, types.CellType):
            return "a variable of an outer function"
        thing = self.key.function if type(self.key) is Definition else self.key
        return str(getattr(thing, "__qualname__", thing))

    def set(self, value: Any, arguments: list[Any]) -> None:
        if isinstance(self.holder, types.CellType):
            if value is MISSING:
                del self.holder.cell_contents
            else:
                self.holder.cell_contents = value
        elif self.holder is ARGUMENTS or self.holder is THINGS:
            return
        elif value is MISSING:
            self.holder.pop(self.key, None)
        else:
            self.holder[self.key] = value

    @property
    def mark(self) -> tuple[int, Any]:
        """What a watch knows the place by."""
        key = self.key
        if self.holder is THINGS:
            key = id(key.function if type(key) is Definition else key)
        return id(self.holder), key

    @property
    def is_cell(self) -> bool:
        return isinstance(self.holder, types.CellType)


class Write(NamedTuple):
    """A value that staged code stored: the place, steps into its parts, the value, and before."""

    place: Place
    steps: tuple[Any, ...]
    value: Any
    before: Any


def differences(seen: Seen, x: Any, place: Place, steps: tuple = ()) -> Iterator[Write]:
    """What was stored into a value since it was observed."""
    if isinstance(seen, Parts) and x is seen.value:
        pairs = pairs_of_class(x) if isinstance(seen, ClassParts) else pairs_of(x) or []
        grows = isinstance(x, (list, collections.deque)) and len(pairs) != len(seen.values)
        if grows or isinstance(x, set) and set(seen.keys) != x:
            values = [value for key, value in pairs if type(key) is not Attribute]
            yield Write(place, (*steps, ALL), _like(x, values), _like(x, _items(seen)))
            return
        parts = dict(pairs)
        for key, part in zip(seen.keys, seen.parts, strict=True):
            found = parts.pop(key, MISSING)
            yield from differences(part, found, place, (*steps, key))
        for key, value in parts.items():
            yield Write(place, (*steps, key), value, MISSING)
    elif x is not seen.value:
        if isinstance(seen, Parts):  # what was there before may have changed, and be held elsewhere
            for w in differences(seen, seen.value, place, steps):
                yield w._replace(value=ONLY_BEFORE) if is_left_behind(w.value) else w
        yield Write(place, steps, x, seen.value)


# The value of what is only put back after staging.
ONLY_BEFORE: Any = type("OnlyBefore", (), {})()
ALL: Any = type("All", (), {"__repr__": lambda self: "all"})()


def _like(x: Any, items: list[Any]) -> Any:
    """A list, set or deque of these items, of Python's own kind."""
    if isinstance(x, collections.deque):
        return collections.deque(items, x.maxlen)
    return set(items) if isinstance(x, set) else items


def _items(seen: Parts) -> list[Any]:
    """What a list, set or deque held, without attributes that its class adds."""
    pairs = zip(seen.keys, seen.values, strict=True)
    return [value for key, value in pairs if type(key) is not Attribute]


def store(write: Write, value: Any, arguments: list[Any]) -> None:
    """Put a value where a write goes."""
    if not write.steps:
        write.place.set(value, arguments)
        return
    holder = write.place.get(arguments)
    for step in write.steps[:-1]:
        holder = part_of(holder, step)
    if write.steps[-1] is ALL:
        refill_bare(holder, value)
    else:
        put_part(holder, write.steps[-1], value)


def target(write: Write, arguments: list[Any]) -> Any:
    """Equal for writes that reach the same part of the same thing, if by different ways."""
    if not write.steps:
        return write.place.mark
    try:
        holder = write.place.get(arguments)
        for step in write.steps[:-1]:
            holder = part_of(holder, step)
    except (LookupError, AttributeError):  # the way there has changed
        return write.place.mark, write.steps
    return id(holder), write.steps[-1]


def current(write: Write, arguments: list[Any]) -> Any:
    """What is now where a write goes."""
    value = write.place.get(arguments)
    for step in write.steps:
        value = part_of(value, step)
    return value
