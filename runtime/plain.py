"""Functions of ours that are plain Python for the passes to read, as they read the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["in_turn_twin_of", "plain", "twin_of"]

ASKING_DATA = ("_bisect", "itertools")  # modules with functions that ask which value is larger

Function = TypeVar("Function", bound=Callable[..., Any])


def plain(fn: Function) -> Function:
    """Have the passes read `fn`, whose calls and loops they then lift, batch and differentiate."""
    setattr(fn, "__overt_plain__", True)  # noqa: B010  functions have no such attribute
    return fn


def twin_of(fn: Any) -> Any:
    """The same in plain Python as a function of `bisect` or `itertools`; None for others."""
    if getattr(fn, "__module__", None) not in ASKING_DATA:
        return None
    from overt.runtime.plain_iterators import TWINS

    return TWINS.get(fn)


def in_turn_twin_of(fn: Any) -> Any:
    """The same for a function that gives an iterator, which the twin gives as a list."""
    if getattr(fn, "__module__", None) not in ("itertools", "builtins") or not isinstance(fn, type):
        return None
    from overt.runtime.plain_iterators import IN_TURN

    return IN_TURN.get(fn)
