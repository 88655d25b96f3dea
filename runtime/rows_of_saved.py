"""The cotangent of what a loop ran over, from the cotangents of its items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overt.runtime.derivatives import zeros_like_tree
from overt.runtime.parts import is_array
from overt.runtime.saved import Buffers, Saved

__all__ = ["rows_like"]


def rows_like(saved: Saved, x: Any) -> Any:
    """The cotangent of `x` from those of its rows, of which the last was saved first."""
    if isinstance(x, Mapping):  # a loop over a dictionary runs over its keys
        return None
    if isinstance(saved.store, Buffers):
        return _from_buffers(saved, x)
    bars = []
    for k in reversed(range(saved.length)):
        bars.append(_on_its_lanes(saved, k, saved.record(k)))
    if not is_array(x):
        items = list(x)
        bars += [zeros_like_tree(item) for item in items[len(bars) :]]
        if hasattr(x, "_fields"):
            return type(x)(*bars)
        return tuple(bars) if isinstance(x, tuple) else bars
    from overt.runtime import numpy as np

    if all(bar is None for bar in bars):
        return zeros_like_tree(x)
    zero = next(np.zeros_like(bar) for bar in bars if bar is not None)
    missing = [zero] * (x.shape[0] - len(bars))
    return np.stack([zero if bar is None else bar for bar in bars] + missing)


def _on_its_lanes(saved: Saved, k: int, bar: Any) -> Any:
    from overt.runtime import numpy as np

    mask = saved.lanes_at(k)
    return bar if mask is None or bar is None else np.where(mask, bar, np.zeros_like(bar))


def _from_buffers(saved: Saved, x: Any) -> Any:
    from overt.runtime import numpy as np

    (buffer,) = saved.store.arrays or (None,)
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
