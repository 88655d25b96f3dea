"""Comparisons that Python makes for a class: of dataclasses, by `total_ordering`, `!=` from `==`.

Python's own ask for truth values; these give what only the running program, or a lane, knows.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable
from typing import Any

from overt.runtime.ordering import less_in_turn, same
from overt.runtime.predicates import both, either, negated, predicate

__all__ = ["comparison"]

BY_TOTAL_ORDERING = re.compile(r"_(lt|gt|le|ge)_from_(lt|gt|le|ge)")


def comparison(kind: type, name: str, value: Any) -> Callable[..., Any] | None:
    """What may stand in for a comparison that Python has made for a class; None for others."""
    if not isinstance(value, types.FunctionType):
        return None
    made = BY_TOTAL_ORDERING.fullmatch(value.__code__.co_name)
    if made is not None and value.__code__.co_filename.endswith("functools.py"):
        return derived(made[1], made[2])
    if dataclasses.is_dataclass(kind) and value.__code__.co_filename == "<string>":
        return OF_FIELDS.get(name)
    return None


def derived(wanted: str, given: str) -> Callable[..., Any]:
    """A comparison from another one and from `==`."""

    def compare(self: Any, other: Any) -> Any:
        found = getattr(type(self), f"__{given}__")(self, other)
        if found is NotImplemented:
            return found
        found = predicate(found)
        if wanted[0] != given[0]:  # `a > b` from `a < b`, `a >= b` from `a <= b`, or the opposite
            found = negated(found)
            if wanted[1] != given[1]:
                return found
        if wanted[1] == "t":
            return both(found, negated(predicate(self == other)))
        return either(found, predicate(self == other))

    return compare


def differs(self: Any, other: Any) -> Any:
    """`self != other` of a class that defines `==` alone."""
    equal: Callable[..., Any] = type(self).__eq__
    found = equal(self, other)
    return found if found is NotImplemented else negated(predicate(found))


def of_fields(compare: Callable[[list[Any], list[Any]], Any]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        if type(self) is not type(other):
            return NotImplemented
        names = [f.name for f in dataclasses.fields(self) if f.compare]
        return compare(*([getattr(x, name) for name in names] for x in (self, other)))

    return method


OF_FIELDS = {
    "__eq__": of_fields(same),
    "__lt__": of_fields(less_in_turn),
    "__gt__": of_fields(lambda a, b: less_in_turn(b, a)),
    "__le__": of_fields(lambda a, b: negated(less_in_turn(b, a))),
    "__ge__": of_fields(lambda a, b: negated(less_in_turn(a, b))),
}
