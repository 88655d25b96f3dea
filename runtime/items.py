"""What a `for` loop iterates over, by position, so that a staged loop can compute an item."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from overt.runtime.dual import Dual
from overt.runtime.lanes import has_lanes
from overt.runtime.record import Recorded
from overt.runtime.records import read_record
from overt.runtime.saved import SavedView
from overt.runtime.staging import is_known
from overt.runtime.tree import tree_leaves, tree_map
from overt.runtime.unsure import certain

__all__ = ["Items", "PythonItems", "RangeItems", "RowItems", "SavedItems", "known_int"]


class Items:
    """Things to iterate over; `rollable` ones can be computed at a symbolic index."""

    rollable = True

    @property
    def length(self) -> Any:
        """How many there are; an array where that is not known or differs between lanes."""
        raise NotImplementedError

    @property
    def bound(self) -> int | None:
        """The most there can be, if known."""
        return known_int(self.length)

    def item(self, i: Any) -> Any:
        """The item at position `i`."""
        raise NotImplementedError

    def number(self, i: Any) -> Any:
        """What `enumerate` counts the item at position `i` as, from 0."""
        return i

    def by_rank(self) -> Items:
        """The same items so that the first ones are there, as `zip` pairs them with others."""
        return self

    def lanes_at(self, i: Any) -> Any:
        """The lanes that have an item at position `i`; None means all."""
        return None

    @property
    def by_lane(self) -> bool:
        """Whether lanes may have different numbers of items."""
        return False

    def inner(self) -> list[Items]:
        """The items it is made from."""
        return []

    def arrays(self) -> list[Any]:
        """The arrays that items are read from."""
        return [x for part in self.inner() for x in part.arrays()]

    def replaced(self, new: dict[int, Any]) -> Items:
        """The same with other arrays, given by the identity of the old ones."""
        return self

    def __len__(self) -> int:
        return int(self.length)

    def __iter__(self) -> Iterator[Any]:
        return (self.item(i) for i in range(len(self)))


def known_int(x: Any) -> int | None:
    """An integer, if Python can have it."""
    if type(x) is int:
        return x
    while type(x) in (Dual, Recorded):
        x = x.primal
    return int(x) if is_known(x) else None


class RangeItems(Items):
    """`range` with bounds that may be arrays."""

    def __init__(self, start: Any, stop: Any, step: Any):
        self.start, self.stop, self.step = start, stop, step

    @property
    def length(self) -> Any:
        from overt.runtime import numpy as np

        known = [known_int(x) for x in (self.start, self.stop, self.step)]
        if None not in known:
            return len(range(*known))  # type: ignore[arg-type]
        start, stop, step = self.start, self.stop, self.step
        span = (
            stop - start if isinstance(step, int) and step > 0 else (stop - start) * np.sign(step)
        )
        size = step if isinstance(step, int) and step > 0 else np.abs(step)
        count = span if isinstance(size, int) and size == 1 else -((-span) // size)
        return np.maximum(count, 0)

    @property
    def by_lane(self) -> bool:
        return any(map(has_lanes, (self.start, self.stop, self.step)))

    def item(self, i: Any) -> Any:
        step = i if isinstance(self.step, int) and self.step == 1 else i * self.step
        return step if isinstance(self.start, int) and self.start == 0 else self.start + step

    def __iter__(self) -> Iterator[Any]:
        return iter(range(*map(operator.index, (self.start, self.stop, self.step))))


class RowItems(Items):
    """The rows of an array."""

    def __init__(self, array: Any):
        if not array.shape:
            raise TypeError("iteration over a 0-d array")
        self.array = array

    def arrays(self) -> list[Any]:
        return [self.array]

    def replaced(self, new: dict[int, Any]) -> Items:
        return RowItems(new.get(id(self.array), self.array))

    @property
    def length(self) -> int:
        return self.array.shape[0]

    def item(self, i: Any) -> Any:
        return self.array[i] if isinstance(i, int) else read_record(self.array, i, axis=0)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)


class SavedItems(Items):
    """The records of a loop, in one direction."""

    def __init__(self, view: SavedView):
        self.saved, self.backwards = view.saved, view.backwards
        self.view = view

    def arrays(self) -> list[Any]:
        return tree_leaves(self.saved)

    def replaced(self, new: dict[int, Any]) -> Items:
        saved = tree_map(lambda x: new.get(id(x), x), self.saved)
        return SavedItems(SavedView(saved, self.backwards))

    @property
    def length(self) -> Any:
        return self.saved.steps

    @property
    def bound(self) -> int | None:
        return self.saved.bound

    @property
    def by_lane(self) -> bool:
        return self.saved.count is not None

    def _position(self, i: Any) -> Any:
        return self.saved.steps - 1 - i if self.backwards else i

    def item(self, i: Any) -> Any:
        return certain(self.saved.record(self._position(i)))

    def lanes_at(self, i: Any) -> Any:
        return self.saved.lanes_at(self._position(i))

    @property
    def rollable(self) -> bool:  # type: ignore[override]
        return not isinstance(self.saved.store, list)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.view)


class PythonItems(Items):
    """Any Python iterable: loops over it are unrolled."""

    rollable = False

    def __init__(self, iterable: Iterable[Any]):
        self.iterable = iterable

    @property
    def length(self) -> int:
        return len(self._list())

    def _list(self) -> list[Any]:
        if not isinstance(self.iterable, (list, tuple)):
            self.iterable = list(self.iterable)
        return self.iterable  # type: ignore[return-value]

    def item(self, i: Any) -> Any:
        return self._list()[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)
