"""The cotangent of what a loop ran over, from the cotangents of its items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overt.runtime.derivatives import refuse_joined, zeros_like_tree
from overt.runtime.parts import is_array
from overt.runtime.repeated import rows_of
from overt.runtime.saved import Buffers, Saved
from overt.runtime.tree import tree_map

__all__ = ["rows_like"]


def rows_like(saved: Saved, x: Any) -> Any:
    """The cotangent of `x` from those of its rows, of which the last was saved first."""
    if isinstance(x, Mapping):  # a loop over a dictionary runs over its keys
        return zeros_like_tree(x)
    if isinstance(saved.store, Buffers):
        return _from_buffers(saved, x)
    steps = range(saved.length)[::-1]
    if not is_array(x):
        items = list(x)
        for k, item in zip(steps, items, strict=False):
            refuse_joined(saved.record(k), item)
        bars = [
            _on_its_lanes(saved, k, unpacked_like(saved.record(k), item))
            for k, item in zip(steps, items, strict=False)
        ]
        bars += [zeros_like_tree(item) for item in items[len(bars) :]]
        if hasattr(x, "_fields"):
            return type(x)(*bars)
        return tuple(bars) if isinstance(x, tuple) else bars
    from overt.runtime import numpy as np

    bars = [saved.record(k) for k in steps]
    if any(type(bar) is tuple for bar in bars):
        row = np.zeros(x.shape[1:], x.dtype)
        bars = [unpacked_like(bar, row) for bar in bars]
    bars = [_on_its_lanes(saved, k, bar) for k, bar in zip(steps, bars, strict=True)]
    if all(bar is None for bar in bars):
        return zeros_like_tree(x)
    zero = next(np.zeros_like(bar) for bar in bars if bar is not None)
    missing = [zero] * (x.shape[0] - len(bars))
    return np.stack([zero if bar is None else bar for bar in bars] + missing)


def unpacked_like(bar: Any, item: Any) -> Any:
    """The cotangent of an item from that of the names that it was unpacked into, `a, (b, c)`."""
    if type(bar) is not tuple:
        return bar
    if is_array(item):
        from overt.runtime import numpy as np

        zero = zeros_like_tree(item[0])
        parts = [unpacked_like(part, zero) for part in bar]
        return np.stack([zero if part is None else part for part in parts])
    if not isinstance(item, (list, tuple)):
        return bar
    parts = [unpacked_like(part, x) for part, x in zip(bar, item, strict=True)]
    if hasattr(item, "_fields"):
        return type(item)(*parts)
    return parts if isinstance(item, list) else tuple(parts)


def _on_its_lanes(saved: Saved, k: int, bar: Any) -> Any:
    from overt.runtime import numpy as np

    mask = saved.lanes_at(k)
    if mask is None:
        return bar
    return tree_map(lambda g: np.where(mask, g, np.zeros_like(g)), bar)


def _from_buffers(saved: Saved, x: Any) -> Any:
    from overt.runtime import numpy as np

    buffer = _one_buffer(saved.store.stacked, saved.store.capacity, x)
    if buffer is None:
        return zeros_like_tree(x)
    count, steps = x.shape[0], saved.steps
    if saved.count is None and isinstance(steps, int) and steps == count == buffer.shape[0]:
        return buffer if saved.flip else np.flip(buffer, 0)
    place = steps - 1 - np.arange(count)  # where each row's cotangent is
    there = place >= 0
    if saved.count is not None:
        there = there & saved.lanes_at(place)
    taken = np.take(buffer, np.clip(steps - 1 - place if saved.flip else place, 0, None), axis=0)
    there = np.reshape(there, (count, *(1,) * (taken.ndim - 1)))
    return np.where(there, taken, np.zeros_like(taken))


def _one_buffer(columns: Any, room: int, x: Any) -> Any:
    """The cotangents of rows in one buffer, from those of the names they were unpacked into."""
    from overt.runtime import numpy as np

    if not isinstance(columns, (list, tuple)):
        return None if columns is None else rows_of(columns)
    shape = (room, *x.shape[2:])
    parts = [_one_buffer(part, room, np.zeros(shape, x.dtype)) for part in columns]
    return np.stack([np.zeros(shape, x.dtype) if p is None else p for p in parts], axis=1)
