"""`range`, `zip`, `enumerate` and `reversed` for loops that may be staged."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.errors import StagingError
from overt.runtime.items import (
    Items,
    PythonItems,
    RangeItems,
    RowItems,
    SavedItems,
    known_int,
)
from overt.runtime.saved import Saved, SavedView

__all__ = [
    "EnumeratedItems",
    "Items",
    "PartItems",
    "ZipItems",
    "items_of",
    "known_int",
    "loop_enumerate",
    "loop_range",
    "loop_reversed",
    "loop_zip",
]


class ZipItems(Items):
    """Several things in parallel, as long as the shortest."""

    def __init__(self, parts: list[Items], strict: bool = False):
        self.parts, self.strict = parts, strict
        self.rollable = all(part.rollable for part in parts)

    def inner(self) -> list[Items]:
        return self.parts

    def replaced(self, new: dict[int, Any]) -> Items:
        return ZipItems([part.replaced(new) for part in self.parts], self.strict)

    @property
    def by_lane(self) -> bool:
        return any(part.by_lane for part in self.parts)

    @property
    def length(self) -> Any:
        from overt.runtime import numpy as np

        lengths = [part.length for part in self.parts]
        if not all(isinstance(n, int) for n in lengths):
            shortest = lengths[0]
            for n in lengths[1:]:
                shortest = shortest if n is shortest else np.minimum(shortest, n)
            return shortest
        if self.strict and len(set(lengths)) > 1:
            raise ValueError(f"zip() arguments have different lengths: {lengths}")
        return min(lengths, default=0)

    @property
    def bound(self) -> int | None:
        bounds = [part.bound for part in self.parts]
        return min((n for n in bounds if n is not None), default=None)

    def item(self, i: Any) -> Any:
        return tuple(part.item(i) for part in self.parts)

    def lanes_at(self, i: Any) -> Any:
        mask = None
        for part in self.parts:
            found = part.lanes_at(i)
            if found is not None:
                mask = found if mask is None else mask & found
        return mask

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.parts, strict=self.strict)


class SelectedItems(ZipItems):
    """The elements that a mask selects, where only the running program knows how many."""

    def item(self, i: Any) -> Any:
        return super().item(i)[1]

    def replaced(self, new: dict[int, Any]) -> Items:
        return SelectedItems([part.replaced(new) for part in self.parts])

    def __iter__(self) -> Iterator[Any]:
        return (self.item(i) for i in range(len(self)))


class SomeItems(Items):
    """The items of a container of which only the running program knows what it holds."""

    rollable = False
    by_lane = True

    def __init__(self, some: Any):
        self.some = some.in_order()

    @property
    def length(self) -> int:
        return len(self.some.flags)

    def item(self, i: Any) -> Any:
        return self.some.listed()[i]

    def number(self, i: Any) -> Any:
        return self.some.rank(i)

    def lanes_at(self, i: Any) -> Any:
        return self.some.flags[i]

    def by_rank(self) -> Items:
        return RankedItems(self.some)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.some)


class RankedItems(SomeItems):
    """The same, those that are there first."""

    def item(self, i: Any) -> Any:
        return self.some.at(i)

    def number(self, i: Any) -> Any:
        return i

    def lanes_at(self, i: Any) -> Any:
        return i < self.some.number()


class EnumeratedItems(Items):
    """Things with their number."""

    def __init__(self, items: Items, start: Any):
        self.items, self.start = items, start
        self.rollable = items.rollable

    def inner(self) -> list[Items]:
        return [self.items]

    def replaced(self, new: dict[int, Any]) -> Items:
        return EnumeratedItems(self.items.replaced(new), self.start)

    @property
    def by_lane(self) -> bool:
        return self.items.by_lane

    @property
    def length(self) -> Any:
        return self.items.length

    @property
    def bound(self) -> int | None:
        return self.items.bound

    def item(self, i: Any) -> Any:
        number = self.items.number(i)
        if not (isinstance(self.start, int) and self.start == 0):
            number = self.start + number
        return number, self.items.item(i)

    def lanes_at(self, i: Any) -> Any:
        return self.items.lanes_at(i)

    def __iter__(self) -> Iterator[Any]:
        return ((self.start + i, item) for i, item in enumerate(iter(self.items)))


class PartItems(Items):
    """Things backwards, or from some position on."""

    def __init__(self, items: Items, backwards: bool = False, start: int = 0):
        self.items, self.backwards, self.start = items, backwards, start
        self.rollable = items.rollable

    def inner(self) -> list[Items]:
        return [self.items]

    def replaced(self, new: dict[int, Any]) -> Items:
        return PartItems(self.items.replaced(new), self.backwards, self.start)

    @property
    def by_lane(self) -> bool:
        return self.items.by_lane

    @property
    def length(self) -> Any:
        return self.items.length - self.start

    @property
    def bound(self) -> int | None:
        return None if self.items.bound is None else self.items.bound - self.start

    def _position(self, i: Any) -> Any:
        return self.items.length - 1 - i if self.backwards else i + self.start

    def item(self, i: Any) -> Any:
        return self.items.item(self._position(i))

    def lanes_at(self, i: Any) -> Any:
        return self.items.lanes_at(self._position(i))


def items_of(iterable: Any) -> Items:
    """What a loop iterates over, by position where that is possible."""
    if isinstance(iterable, Items):
        return iterable
    if isinstance(iterable, range):
        return RangeItems(iterable.start, iterable.stop, iterable.step)
    if hasattr(type(iterable), "compacted"):  # x[mask]
        values, count = iterable.compacted()
        return SelectedItems([RangeItems(0, count, 1), RowItems(values)])
    if isinstance(iterable, (Array, numpy.ndarray)):
        return RowItems(iterable)
    if hasattr(type(iterable), "__overt_truth__"):  # a container of some items
        return SomeItems(iterable)
    if isinstance(iterable, Saved):
        return SavedItems(SavedView(iterable))
    if isinstance(iterable, SavedView):
        return SavedItems(iterable)
    if isinstance(iterable, itertools.groupby):  # whose groups end where it goes on
        iterable = [(key, list(group)) for key, group in iterable]
    return PythonItems(iterable)


def loop_range(*bounds: Any) -> Any:
    """`range(start, stop, step)` whose bounds may be arrays.

    >>> list(loop_range(3))
    [0, 1, 2]
    """
    if all(type(x) is int for x in bounds):
        return range(*bounds)
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"range expected 1 to 3 arguments, got {len(bounds)}")
    # sizes that are not known yet (`dimensions`) are numbers of the program here
    bounds = tuple(x.value() if hasattr(x, "symbolic") else x for x in bounds)
    for x in bounds:
        _check_integer(x)
    if len(bounds) == 1:
        return RangeItems(0, bounds[0], 1)
    start, stop, *rest = bounds
    step = rest[0] if rest else 1
    if known_int(step) == 0:
        raise ValueError("range() arg 3 must not be zero")
    return RangeItems(start, stop, step)


def _check_integer(x: Any) -> None:
    if isinstance(x, (Array, numpy.ndarray)):
        if x.dtype.kind not in "iub" or x.shape:
            raise TypeError(f"range() needs integers, got an array of {x.dtype}{list(x.shape)}")
    else:
        operator.index(x)


def loop_zip(*iterables: Any, strict: bool = False) -> Items:
    """`zip` of things that a staged loop can index.

    >>> list(loop_zip(range(2), "ab"))
    [(0, 'a'), (1, 'b')]
    """
    parts = [items_of(x) for x in iterables]
    if strict and any(isinstance(part, SomeItems) for part in parts):
        raise StagingError("zip(strict=True) of a list whose length only the running program knows")
    return ZipItems([part.by_rank() for part in parts], strict)


def loop_enumerate(iterable: Any, start: Any = 0) -> Items:
    """`enumerate` of something that a staged loop can index.

    >>> list(loop_enumerate("ab", start=1))
    [(1, 'a'), (2, 'b')]
    """
    return EnumeratedItems(items_of(iterable), start)


def loop_reversed(iterable: Any) -> Any:
    """`reversed` of something that a staged loop can index.

    >>> list(loop_reversed(range(3)))
    [2, 1, 0]
    """
    if isinstance(iterable, (Saved, SavedView)):
        return iterable.reversed()
    if hasattr(type(iterable), "__overt_truth__"):
        return SomeItems(iterable[::-1])
    if isinstance(iterable, (Items, range, Array, numpy.ndarray)):
        return PartItems(items_of(iterable), backwards=True)
    return reversed(iterable)
