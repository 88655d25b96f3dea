"""`Saved`: what each iteration of a loop leaves for the reverse sweep.

In Python it is a list.  In a staged loop it is a set of buffers with one entry an iteration.  Under
`vmap` every lane has its own count, since its loop may have ended earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from overt.backend.pytrees import GetAttrKey
from overt.runtime.derivatives import PARTS_OF
from overt.runtime.errors import StagingError
from overt.runtime.records import read_record
from overt.runtime.repeated import Repeated, rows_of
from overt.runtime.tree_registry import register_pytree_with_keys

__all__ = ["Saved", "SavedView"]


class Buffers:
    """Records of a staged loop: every array of a record stacked along axis 0 of a buffer.

    `columns` are the buffers, with a `Repeated` where all records share a value; `template` is the
    record's `carried.Spec`, `steps` how many entries are filled.
    """

    __slots__ = ("columns", "template", "steps")

    def __init__(self, columns: list[Any], template: Any, steps: Any):
        self.columns = columns
        self.template = template
        self.steps = steps

    @property
    def arrays(self) -> list[Any]:
        """The buffers, also of what all records share."""
        return [rows_of(x) for x in self.columns]

    @property
    def capacity(self) -> int:
        return next((_room(x) for x in self.columns if x is not None), 0)

    def record(self, i: Any) -> Any:
        """The record of iteration `i`."""
        return self.template.compose_leaves([_entry(x, i) for x in self.columns])

    @property
    def stacked(self) -> Any:
        """All records as one: in the place of each array, the column of it."""
        return self.template.compose_leaves(list(self.columns))

    def like(self, stacked: Any) -> Buffers:
        """As many records as these, of which `stacked` is all as one."""
        from overt.runtime.carried import row_spec

        columns: list[Any] = []
        template = row_spec(stacked, columns)
        return Buffers(columns, template, self.steps)


def _room(column: Any) -> int:
    return column.room if type(column) is Repeated else column.shape[0]


def _entry(column: Any, i: Any) -> Any:
    if type(column) is Repeated:
        return column.value
    return None if column is None else read_record(column, i, axis=0)


class Saved:
    """One record an iteration of a loop; reading does not consume.

    >>> saved = Saved()
    >>> saved.push(1, "a")
    >>> saved.push(2, "b")
    >>> list(saved.reversed())
    [(2, 'b'), (1, 'a')]
    """

    __slots__ = ("store", "length", "flip", "first", "count")

    def __init__(
        self,
        store: Any = None,
        length: int = 0,
        flip: bool = False,
        first: Any = 0,
        count: Any = None,
    ):
        self.store: Any = (
            [] if store is None else store
        )  # a list, perhaps shared with other versions
        self.length = length
        self.flip = flip  # read in the opposite order
        # Where lanes differ: of the entries, a lane has `count` from `first` on; None: all of them.
        self.first = first
        self.count = count

    def _with(self, store: Any, length: int) -> Saved:
        return type(self)(store, length, self.flip, self.first, self.count)

    def push(self, *fields: Any) -> None:
        """Add a record in place; one field is kept bare, several as a tuple."""
        self.store, self.length = self._appended(fields)

    def pushed(self, *fields: Any) -> Saved:
        """With one more record; the original stays as it is."""
        return self._with(*self._appended(fields))

    def _appended(self, fields: tuple[Any, ...]) -> tuple[list[Any], int]:
        if isinstance(self.store, Buffers) or self.flip:
            raise StagingError("a record was pushed to a Saved that an earlier loop has filled")
        record = fields[0] if len(fields) == 1 else fields
        # Versions share one list as long as each push continues the newest of them.
        store = self.store if len(self.store) == self.length else self.store[: self.length]
        store.append(record)
        return store, self.length + 1

    @property
    def steps(self) -> Any:
        """How many iterations were recorded, over all lanes; an array where a loop was staged."""
        return self.store.steps if isinstance(self.store, Buffers) else self.length

    @property
    def bound(self) -> int | None:
        """The most iterations there can be; None where only their number is kept, in an array."""
        if not isinstance(self.store, Buffers):
            return self.length
        if any(x is not None for x in self.store.columns):
            return self.store.capacity
        return self.steps if isinstance(self.steps, int) else None

    def record(self, i: Any) -> Any:
        """The record of iteration `i`."""
        i = self.steps - 1 - i if self.flip else i
        return self.store.record(i) if isinstance(self.store, Buffers) else self.store[i]

    def lanes_at(self, i: Any) -> Any:
        """The lanes that have a record of iteration `i`; None means all."""
        if self.count is None:
            return None
        i = self.steps - 1 - i if self.flip else i
        return (self.first <= i) & (i < self.first + self.count)

    def on_lanes(self, active: Any, new: Saved) -> Saved:
        """After one iteration, run by the lanes of `active`, that made `new` of this."""
        if new is self:
            return self
        count = self.length if self.count is None else self.count
        first = self.first + ((count == 0) & ~active)
        return type(self)(new.store, new.length, new.flip, first, count + active)

    def records(self) -> list[Any]:
        """All records, in order."""
        return [self.record(i) for i in range(int(self.steps))]

    def map(self, f: Callable[..., Any], *others: Saved) -> Saved:
        """The same loop with other records: `f` of each array or, in Python, of each record."""
        if any(other.flip != self.flip for other in others):
            raise NotImplementedError("records of a loop meet records in the opposite order")
        if isinstance(self.store, Buffers):
            columns: list[Any] = [other.store.arrays for other in others]
            arrays = [f(*xs) for xs in zip(self.store.arrays, *columns, strict=True)]
            store: Any = Buffers(arrays, self.store.template, self.store.steps)
        else:
            columns = [saved.store[: saved.length] for saved in (self, *others)]
            store = [f(*xs) for xs in zip(*columns, strict=True)]
        return self._with(store, self.length)

    def reversed(self) -> SavedView:
        """The records from the last to the first."""
        return SavedView(self, backwards=True)

    def flipped(self) -> Saved:
        """The same records in the opposite order."""
        if not isinstance(self.store, Buffers) and not self.flip:
            n, first = self.length, self.first
            if self.count is not None:
                first = n - first - self.count
            return type(self)(self.store[:n][::-1], n, False, first, self.count)
        return type(self)(self.store, self.length, not self.flip, self.first, self.count)

    def in_order(self) -> Saved:
        """The same records, the first of them stored first."""
        if not self.flip:
            return self
        from overt.runtime import numpy as np

        store, n = self.store, self.store.steps
        if isinstance(n, int) and n == store.capacity:
            places: Any = slice(None, None, -1)
        else:
            places = np.clip(n - 1 - np.arange(store.capacity), 0, None)
        columns = [x if x is None or type(x) is Repeated else x[places] for x in store.columns]
        first = self.first if self.count is None else n - self.first - self.count
        return type(self)(Buffers(columns, store.template, n), 0, False, first, self.count)

    def children(self) -> tuple[list[Any], Callable[[list[Any]], Saved]]:
        """What derivatives see: the records, and how to build as many others."""
        same = self.in_order()
        lanes = (same.first, same.count)
        store = same.store
        if isinstance(store, Buffers):
            return [store.stacked], lambda kids: Saved(store.like(kids[0]), 0, False, *lanes)
        return store[: same.length], lambda kids: Saved(list(kids), same.length, False, *lanes)

    def rows_like(self, x: Any) -> Any:
        """The cotangent of `x` from those of its rows, of which the last was saved first.

        Rows that a loop, or a lane of it, did not reach get zero.
        """
        from overt.runtime.rows_of_saved import rows_like

        return rows_like(self, x)

    def __iter__(self) -> Iterator[Any]:
        return iter(SavedView(self))

    def __len__(self) -> int:
        return int(self.steps if self.count is None else self.count)

    def __getitem__(self, i: int) -> Any:
        return self.records()[i]

    def __repr__(self) -> str:
        if isinstance(self.store, Buffers):
            return f"Saved(<{self.store.steps} of at most {self.bound} records>)"
        return f"Saved({self.records()})"


class SavedView:
    """The records of a `Saved` in one direction, for a loop to iterate over."""

    __slots__ = ("saved", "backwards")

    def __init__(self, saved: Saved, backwards: bool = False):
        self.saved = saved
        self.backwards = backwards

    def __len__(self) -> int:
        return len(self.saved)

    def __iter__(self) -> Iterator[Any]:
        if self.saved.count is not None:
            int(self.saved.count)  # only loops that mask lanes can read this; says so
        records = self.saved.records()
        return iter(records[::-1] if self.backwards else records)

    def reversed(self) -> SavedView:
        """The other direction."""
        return SavedView(self.saved, not self.backwards)

    __reversed__ = reversed  # type: ignore[assignment]


def _flatten(saved: Saved) -> tuple[list[tuple[Any, Any]], Any]:
    lanes = [(GetAttrKey("first"), saved.first), (GetAttrKey("count"), saved.count)]
    if saved.count is None:
        lanes = []
    if isinstance(saved.store, Buffers):
        store = saved.store
        parts = [(GetAttrKey("steps"), store.steps), (GetAttrKey("columns"), store.columns)]
        return [*parts, *lanes], (store.template, saved.flip)
    return [(GetAttrKey("records"), saved.store[: saved.length]), *lanes], (None, saved.flip)


def _unflatten(aux: tuple[Any, bool], parts: Any) -> Saved:
    template, flip = aux
    parts = list(parts)
    if template is None:
        store, rest = parts[0], parts[1:]
        length = len(store) if isinstance(store, list) else 0
    else:
        store, rest, length = Buffers(parts[1], template, parts[0]), parts[2:], 0
    return Saved(store, length, flip, *rest)


register_pytree_with_keys(Saved, _flatten, _unflatten)
PARTS_OF[Saved] = Saved.children
