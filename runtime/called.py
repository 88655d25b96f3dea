"""Calling a function that the user gave, in the form that the values around it need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime.array import Array
from overt.runtime.closures import captured_leaves
from overt.runtime.config import current
from overt.runtime.levels import INSIDE
from overt.runtime.primitive import GRAPH
from overt.runtime.tree import tree_leaves

__all__ = ["call", "call_method", "in_form"]


def call(fn: Callable, *args: Any, **kwargs: Any) -> Any:
    """`fn(*args, **kwargs)`, with its control flow lifted while staging or over lanes."""
    return in_form(fn, args, kwargs)(*args, **kwargs)


def call_method(holder: Any, name: str, *args: Any) -> Any:
    """`holder.name(*args)` of an object of the user's, which may hold values that have lanes."""
    method = getattr(holder, name)
    if GRAPH.get() is None and not INSIDE.get() and not current().disable_jit:
        return method(*args)
    from overt.runtime import lifted

    return lifted(method)(*args)


def in_form(fn: Callable, *trees: Any) -> Callable:
    """`fn` itself for plain values; lifted while staging or where values have lanes."""
    if GRAPH.get() is None:
        leaves = tree_leaves(trees)
        functions = [fn, *filter(callable, leaves)]
        if not any(map(_has_level, leaves)) and not captured_leaves(functions, _has_level):
            return fn
    from overt.runtime import lifted

    return lifted(fn)


def _has_level(x: Any) -> bool:
    return isinstance(x, Array) and x.level > 0
