"""Values that compiled code depends on: what they were while staging, and whether they still are.

Numbers, texts and functions are compared; of arrays only shape and dtype count, since the program
takes them as inputs; containers and the user's objects are compared part by part.
"""

from __future__ import annotations

import types
from typing import Any

import numpy

from overt.runtime.array import Array, DeviceArray

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
_PLAIN = (int, float, complex, str, bytes, bool)
_OPAQUE = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType)


class Seen:
    """One value as it was; `arrays` of a match are collected in the order of the observation."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        """Whether the program staged with this value is right for `x`."""
        return x is self.value

    simple = True  # identity of the value settles it


class Plain(Seen):
    """A number or a text."""

    __slots__ = ()

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        value = self.value
        if x is value:
            return True
        same = type(x) is type(value) and bool(x == value)
        return same and (type(x) is not float or str(x) == str(value))


class Number(Seen):
    """A number that the program takes as an input: any one of the same kind will do."""

    __slots__ = ("aval", "fixed")
    simple = False

    def __init__(self, value: Any):
        from overt.runtime.aval import aval_of

        super().__init__(value)
        self.aval = aval_of(value)

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        from overt.runtime.aval import aval_of

        if not isinstance(x, (*_PLAIN[:3], Array, numpy.ndarray, numpy.generic)):
            return False
        arrays.append(x)
        return aval_of(x) is self.aval


class Device(Seen):
    """An array: an input of the program, unless its numbers were read while staging."""

    __slots__ = ("fixed",)
    simple = False

    def __init__(self, value: DeviceArray):
        super().__init__(value)
        self.fixed = False
        # The numbers an array has given to Python are kept on it: forget them, to see new reads.
        if hasattr(value, "_numbers"):
            del value._numbers

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        arrays.append(x)
        if x is self.value:
            return True
        return not self.fixed and type(x) is type(self.value) and x.aval is self.value.aval

    def settle(self) -> None:
        """After staging: an array that Python looked into must stay the same one."""
        self.fixed = hasattr(self.value, "_numbers")


class Host(Seen):
    """A NumPy array, which may change in place."""

    __slots__ = ("copy",)
    simple = False

    def __init__(self, value: numpy.ndarray):
        super().__init__(value)
        self.copy = value.copy()

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        copy = self.copy
        if not isinstance(x, numpy.ndarray) or x.shape != copy.shape or x.dtype != copy.dtype:
            return False
        return x.tobytes() == copy.tobytes() if x.dtype != object else x is self.value


class Parts(Seen):
    """A container or an object of the user's: a copy of its parts, each observed."""

    __slots__ = ("keys", "parts", "values")
    simple = False

    def __init__(self, value: Any, pairs: list[tuple[Any, Any]], depth: int, known: dict):
        super().__init__(value)
        known[id(value)] = self
        self.keys = [key for key, _ in pairs]
        self.values = [part for _, part in pairs]
        self.parts = [observe(part, depth - 1, known) for part in self.values]

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        if type(x) is not type(self.value):
            return False
        pairs = pairs_of(x)
        if pairs is None or [key for key, _ in pairs] != self.keys:
            return False
        return all(
            part.matches(value, arrays) for part, (_, value) in zip(self.parts, pairs, strict=True)
        )


def pairs_of(x: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a container or of an object of the user's, by index, key or attribute."""
    if isinstance(x, (list, tuple)):
        return list(enumerate(x))
    if isinstance(x, dict):
        return list(x.items())
    if isinstance(x, (set, frozenset)):
        return [(item, None) for item in x]
    if isinstance(x, (*_OPAQUE, Array)):
        return None
    from overt.transformer.transformed import Transformed, is_users

    if isinstance(x, Transformed) or not is_users(type(x)):
        return None
    found = list(getattr(x, "__dict__", {}).items())
    for kind in type(x).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(x, name) and name not in ("__dict__", "__weakref__"):
                found.append((name, getattr(x, name)))
    return found


def observe(x: Any, depth: int = 8, known: dict | None = None) -> Seen:
    """Remember a value as it is now."""
    known = {} if known is None else known
    if type(x) in _PLAIN or x is None:
        return Plain(x)
    if isinstance(x, DeviceArray):
        return Device(x)
    if isinstance(x, numpy.ndarray):
        return Host(x)
    if isinstance(x, numpy.generic):
        return Plain(x)
    if depth and (pairs := pairs_of(x)) is not None:
        if id(x) in known:  # a cycle, or an object met twice: its parts are compared once
            return Seen(x)
        return Parts(x, pairs, depth, known)
    return Seen(x)


def devices(seen: Seen) -> list[Device]:
    """The arrays within a value, in the order in which `matches` collects them."""
    if isinstance(seen, (Device, Number)):
        return [seen]  # type: ignore[list-item]
    if isinstance(seen, Parts):
        return [device for part in seen.parts for device in devices(part)]
    return []
