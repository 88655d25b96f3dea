"""Containers without what a class of the user's adds: reading and storing runs none of its methods.

A store that a method such as `__setitem__` has made is made again without that method.
"""

from __future__ import annotations

import functools
from typing import Any

from overt.runtime.ownership import is_library

__all__ = ["get_bare", "pop_bare", "put_all_bare", "put_bare", "refill_bare"]


def library_kind(kind: type) -> Any:
    """The class that a container's is made from, which is Python's own."""
    return kind if kind in (list, dict) else library_class(kind)  # type: ignore[arg-type]


@functools.lru_cache(maxsize=1024)
def library_class(kind: type) -> Any:
    return next(c for c in kind.__mro__ if is_library(c.__module__))


def get_bare(x: Any, key: Any) -> Any:
    """`x[key]` of a list, tuple, dictionary or deque.

    >>> get_bare({"a": 1}, "a")
    1
    """
    return library_kind(type(x)).__getitem__(x, key)


def put_bare(x: Any, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    library_kind(type(x)).__setitem__(x, key, value)


def put_all_bare(x: Any, items: dict[Any, Any]) -> None:
    """Let a dictionary hold these items and no others, in this order.

    >>> from collections import Counter
    >>> counts = Counter("aab")
    >>> put_all_bare(counts, {"a": 5, "b": 1})
    >>> counts
    Counter({'a': 5, 'b': 1})
    """
    kind = library_kind(type(x))
    if list(kind.keys(x)) != list(items):
        kind.clear(x)
    for key, value in items.items():
        kind.__setitem__(x, key, value)


def pop_bare(x: Any, key: Any) -> None:
    """Let a dictionary have nothing at a key."""
    library_kind(type(x)).pop(x, key, None)


def refill_bare(x: Any, values: Any) -> None:
    """Let a list, set or deque hold these values and no others."""
    kind = library_kind(type(x))
    kind.clear(x)
    kind.update(x, values) if isinstance(x, set) else kind.extend(x, values)
