"""Which lanes are on the path being executed.

Under `vmap` both sides of a branch run for all lanes.  The mask of the lanes that are really there
is kept per context, so that a loop inside a branch stops when those lanes have finished.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from overt.runtime.lanes import Lanes

__all__ = ["active_lanes", "all_lanes", "any_lane", "on_lanes"]

ON_LANES: ContextVar[Any] = ContextVar("overt_mask", default=None)


def active_lanes() -> Any:
    """The lanes on the path being executed; None means all."""
    return ON_LANES.get()


@contextmanager
def on_lanes(mask: Any) -> Iterator[Any]:
    """Execute for the lanes of a mask, among those that are active already."""
    outer = ON_LANES.get()
    inner = mask if outer is None else outer & mask
    token = ON_LANES.set(inner)
    try:
        yield inner
    finally:
        ON_LANES.reset(token)


def any_lane(mask: Any) -> Any:
    """Whether a mask holds in any lane, of all levels; a value without lanes."""
    from overt.runtime import numpy as np

    while isinstance(mask, Lanes):
        mask = np.any(mask.value, axis=0)
    return mask


def all_lanes(mask: Any) -> Any:
    """Whether a mask holds in every lane, of all levels; a value without lanes."""
    from overt.runtime import numpy as np

    while isinstance(mask, Lanes):
        mask = np.all(mask.value, axis=0)
    return mask
