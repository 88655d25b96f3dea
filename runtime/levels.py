"""How deep this context is inside `vmap` and derivatives of library functions.

Each gets a level, a number higher than those around it; a value of the highest level among the
operands of an operation handles it, so nested transformations cannot be confused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEPTH: ContextVar[int] = ContextVar("overt_depth", default=0)


@contextmanager
def new_level() -> Iterator[int]:
    """A level above all that are in use in this context.

    >>> with new_level() as outer, new_level() as inner:
    ...     inner - outer
    1
    """
    level = _DEPTH.get() + 1
    token = _DEPTH.set(level)
    try:
        yield level
    finally:
        _DEPTH.reset(token)


def current_level() -> int:
    """The highest level in use; 0 outside of all."""
    return _DEPTH.get()
