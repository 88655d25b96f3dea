"""Levels of `vmap` and of derivatives of library functions.

Each gets a number higher than those around it; a value of the highest level among the operands of
an operation handles it.  No number is used twice, so a value that outlives its transformation is
never taken for one of another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_COUNTER = itertools.count(1)
INSIDE: ContextVar[bool] = ContextVar("overt_inside_a_level", default=False)


@contextmanager
def new_level() -> Iterator[int]:
    """A level above all that are in use.

    >>> with new_level() as outer, new_level() as inner:
    ...     inner > outer
    True
    """
    token = INSIDE.set(True)
    try:
        yield next(_COUNTER)
    finally:
        INSIDE.reset(token)


def topmost(values: Iterable[Any]) -> Any:
    """The value that handles an operation on all of these: the first of the highest level."""
    return max(values, key=lambda x: getattr(x, "level", 0), default=None)
