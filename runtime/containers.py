"""Lists, dictionaries and sets as values: what one is after a method has changed it.

Rewritten code calls these in place of `xs.append(v)` and its kin.  They give a changed copy, so that
an earlier version of the container keeps what it held.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["appended", "at", "changed", "is_mapping", "is_sequence", "popped"]


def appended(xs: Any, item: Any) -> Any:
    """What `xs` is after `xs.append(item)`.

    >>> appended([1, 2], 3)
    [1, 2, 3]
    """
    return [*xs, item] if type(xs) is list else changed(xs, "append", item)


def changed(xs: Any, method: str, *args: Any) -> Any:
    """What `xs` is after a method that changes it.

    >>> changed([1, 3], "insert", 1, 2)
    [1, 2, 3]
    """
    if method == "__delitem__" and isinstance(xs, Sequence):
        xs = copy.copy(xs)
        del xs[args[0]]
        return xs
    return popped(xs, method, *args)[1]


def popped(xs: Any, method: str, *args: Any) -> tuple[Any, Any]:
    """What a method returns, and what `xs` is afterwards.

    >>> popped({"a": 1}, "pop", "a")
    (1, {})
    """
    xs = copy.copy(xs)
    result = getattr(xs, method)(*args)
    return result, xs


class _At:
    """Writes an index as an argument: `at[1:3]`."""

    def __getitem__(self, index: Any) -> Any:
        return index

    def __repr__(self) -> str:
        return "at"


at = _At()


def is_sequence(x: Any) -> bool:
    """Whether a `[...]` pattern of `match` may fit: a sequence, but no text."""
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | bytearray)


def is_mapping(x: Any) -> bool:
    """Whether a `{...}` pattern of `match` may fit."""
    return isinstance(x, Mapping)
