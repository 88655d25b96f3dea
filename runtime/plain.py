"""Functions of ours that are plain Python for the passes to read, as they read the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["plain"]

Function = TypeVar("Function", bound=Callable[..., Any])


def plain(fn: Function) -> Function:
    """Have the passes read `fn`, whose calls and loops they then lift, batch and differentiate."""
    setattr(fn, "__overt_plain__", True)  # noqa: B010  functions have no such attribute
    return fn
