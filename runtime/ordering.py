"""What comes first, of tuples and of objects that say so themselves, where data decides it.

sorted((x[i], name) for i, name in ...)     # by the first difference
max(items)                                  # by the `__lt__` of their class
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.parts import is_array
from overt.runtime.predicates import both, either, predicate
from overt.runtime.staging import is_known
from overt.runtime.world import World, is_users_object

__all__ = ["is_open_key", "positions"]

MOST = 64  # items that are compared each with each


def is_open_key(x: Any) -> bool:
    """Whether only the running program knows how a value compares."""
    if isinstance(x, Array):
        return not is_known(x)
    if isinstance(x, tuple | list):
        return any(map(is_open_key, x))
    return x is not None and is_users_object(x) and any(map(is_open_key, World(x).leaves()))


def positions(keys: Sequence[Any], reverse: bool) -> Any:
    """The place that each of these gets when they are sorted; equal ones stay in order.

    Errors: NotImplementedError for too many: each is compared with each.
    """
    from overt.runtime import numpy as np

    if len(keys) > MOST:
        raise NotImplementedError(
            f"more than {MOST} tuples or objects are sorted by what only the running program "
            "knows: sort the positions with np.argsort or np.lexsort"
        )
    places = [np.asarray(0) for _ in keys]
    for i, one in enumerate(keys):
        for j in range(i):
            first = less(one, keys[j]) if not reverse else less(keys[j], one)
            places[i] = places[i] + np.where(first, 0, 1)
            places[j] = places[j] + np.where(first, 1, 0)
    return np.stack(places)


def less(a: Any, b: Any) -> Any:
    """`a < b`, as Python has it for numbers, tuples and objects."""
    if isinstance(a, tuple | list) and type(a) is type(b):
        return less_in_turn(list(a), list(b))
    fields = ordered_fields(a)
    if fields is not None and type(a) is type(b):
        return less_in_turn(*([getattr(x, name) for name in fields] for x in (a, b)))
    return predicate(a < b)


def less_in_turn(a: list[Any], b: list[Any]) -> Any:
    """By the first items that differ; a sequence that ends before is less."""
    if not a or not b:
        return len(a) < len(b)
    if a[0] is b[0]:
        return less_in_turn(a[1:], b[1:])
    first, equal = less(a[0], b[0]), same(a[0], b[0])
    rest = False if equal is False else less_in_turn(a[1:], b[1:])
    return either(first, both(equal, rest))


def same(a: Any, b: Any) -> Any:
    """`a == b` of parts of tuples."""
    if is_array(a) and is_array(b):
        return predicate(a == b)
    if isinstance(a, tuple | list) and type(a) is type(b):
        found: Any = len(a) == len(b)
        for x, y in zip(a, b, strict=False):
            found = both(found, same(x, y))
        return found
    return a is b or predicate(a == b)


def ordered_fields(x: Any) -> list[str] | None:
    """The fields that a dataclass with `order=True` is compared by."""
    settings = getattr(type(x), "__dataclass_params__", None)
    if settings is None or not settings.order:
        return None
    return [f.name for f in dataclasses.fields(x) if f.compare]
