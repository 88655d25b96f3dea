"""The cotangents of what loops have saved, which may be kept in another way than their values.

A loop that was rolled keeps its records in buffers, one that was unrolled in a list; and a record's
cotangent has nothing where the record has integers.
"""

from __future__ import annotations

from typing import Any

from overt.runtime.derivatives import children_of, materialize
from overt.runtime.parts import NUMBERS, is_array, parts_of
from overt.runtime.repeated import Repeated
from overt.runtime.saved import Buffers, Saved
from overt.runtime.tree import tree_flatten, tree_leaves, tree_map
from overt.runtime.undefined import UndefinedValue
from overt.runtime.unsure import Unsure

__all__ = ["bookkeeping", "counted_once", "kept_alike", "leaf_cotangents", "records_counted_once"]


def kept_alike(saved: Saved, bar: Any) -> Any:
    """A cotangent of `saved` with its records kept as those of `saved` are."""
    in_buffers = isinstance(saved.store, Buffers)
    if type(bar) is not Saved or in_buffers is isinstance(bar.store, Buffers):
        return bar
    if not in_buffers:
        records = bar.records()
        return Saved(records, len(records), False, bar.first, bar.count)
    records = bar.store[: bar.length]
    store = saved.store.like(_as_one(records, saved.store.capacity))
    return Saved(store, 0, False, bar.first, bar.count)


def _as_one(records: list[Any], room: int) -> Any:
    """All records as one: arrays stacked, with zeros up to `room` of them."""
    from overt.runtime import numpy as np

    given = [x for x in records if x is not None]
    if not given:
        return None
    if is_array(given[0]):
        zero = np.zeros_like(given[0])
        rows = [zero if x is None else x for x in records]
        return np.stack([np.asarray(x) for x in [*rows, *[zero] * (room - len(rows))]])
    parts = children_of(given[0])
    if parts is None:
        return given[0]
    empty = [None] * len(parts[0])
    columns = [(children_of(x) or (empty,))[0] for x in records]
    return parts[1]([_as_one([c[k] for c in columns], room) for k in range(len(parts[0]))])


def leaf_cotangents(x: Any, bar: Any) -> list[Any]:
    """The cotangents of the leaves of `x`, in their order, from that of `x`."""
    if bar is None or x is None:
        return [None] * len(tree_leaves(x))
    pieces, definition = tree_flatten(x, lambda part: part is None or _is_saved(part))
    try:
        bars = definition.flatten_up_to(bar)
    except ValueError:  # a dictionary that has got more items since
        bars = definition.flatten_up_to(materialize(bar, x))
    found: list[Any] = []
    for piece, piece_bar in zip(pieces, bars, strict=True):
        if piece is not None:
            found += _of_saved(piece, piece_bar) if _is_saved(piece) else [piece_bar]
    return found


def bookkeeping(tree: Any) -> set[int]:
    """Which leaves say how many records a loop has saved: cotangents keep those."""
    places: set[int] = set()
    at = 0
    for piece in tree_flatten(tree, _is_saved)[0]:
        count = len(tree_leaves(piece)) if _is_saved(piece) else 1
        if _is_saved(piece):
            if isinstance(piece.store, Buffers):
                places.add(at)
            if piece.count is not None:
                places |= {at + count - 2, at + count - 1}
        at += count
    return places


def _is_saved(x: Any) -> bool:
    return type(x) is Saved


def _of_saved(saved: Saved, bar: Any) -> list[Any]:
    if bar is None:
        return [None] * len(tree_leaves(saved))
    bar = kept_alike(saved, bar)
    if bar.flip != saved.flip:
        bar = bar.in_order() if bar.flip else bar.flipped().in_order()
    lanes = [] if saved.count is None else [None, None]
    if isinstance(saved.store, Buffers):
        return [None, *_columns(saved.store.stacked, bar.store.stacked, saved.steps), *lanes]
    pairs = zip(saved.store[: saved.length], bar.store[: bar.length], strict=True)
    return [g for record, record_bar in pairs for g in leaf_cotangents(record, record_bar)] + lanes


def _columns(stacked: Any, bar: Any, steps: Any) -> list[Any]:
    """The cotangent of each column of `stacked`, from those of all records as one."""
    if type(stacked) is Repeated:
        if type(bar) is Repeated:
            return [bar.value * steps]
        return [None if bar is None else bar.sum(axis=0)]
    if type(stacked) is Unsure:
        return [*_columns(stacked.value, bar, steps), None]
    if type(stacked) in NUMBERS or type(stacked) is UndefinedValue:
        return []
    if is_array(stacked):
        return [bar]
    parts = parts_of(stacked)
    if parts is None:
        return []
    bars = (children_of(bar) or ([None] * len(parts.values),))[0]
    pairs = zip(parts.values, bars, strict=True)
    return [g for value, value_bar in pairs for g in _columns(value, value_bar, steps)]


def counted_once(bars: Saved) -> Saved:
    """Cotangents of records; that of a value which all of them share goes to the first one.

    Where the value was recorded, its cotangent is the sum of those of all records.
    """
    store = bars.store
    if not isinstance(store, Buffers) or not any(type(x) is Repeated for x in store.columns):
        return bars
    columns = [first_row(x, bars.first) if type(x) is Repeated else x for x in store.columns]
    once = Buffers(columns, store.template, store.steps)
    return Saved(once, bars.length, bars.flip, bars.first, bars.count)


def records_counted_once(tree: Any) -> Any:
    """The same of all records in a tree."""
    return tree_map(lambda x: counted_once(x) if _is_saved(x) else x, tree, is_leaf=_is_saved)


def first_row(shared: Repeated, first: Any) -> Any:
    """A buffer of zeros but for one row."""
    from overt.runtime import numpy as np

    rows = np.arange(shared.room).reshape(shared.room, *(1 for _ in np.shape(shared.value)))
    return np.where(rows == first, shared.value, np.zeros_like(shared.value))
