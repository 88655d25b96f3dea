"""Levels of `vmap` and of derivatives of library functions.

Each gets a number higher than those around it; a value of the highest level among the operands of
an operation handles it.  No number is used twice, so a value that outlives its transformation is
never taken for one of another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
