"""Values that compiled code depends on: what they were while staging, and whether they still are.

Numbers, texts and functions are compared; of arrays only shape and dtype count, since the program
takes them as inputs; containers and the user's objects are compared part by part.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from operator import is_
from typing import Any

import numpy

from overt.runtime.array import Array, DeviceArray
from overt.runtime.ownership import is_users
from overt.runtime.special_methods import definitions
from overt.transformer.parted import MISSING, pairs_of, pairs_of_class, snapshot_of

_PLAIN = (int, float, complex, str, bytes, bool)
LONG = 64  # items, from where it pays to compare them by identity first
DEPTH = 8  # deeper parts count by their identity, and are observed for themselves


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
        return same and (type(x) not in (float, complex) or repr(x) == repr(value))


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
        return x.tobytes() == copy.tobytes()


class Snapshot(Seen):
    """What changes in ways of its own, such as a generator of random numbers: by its state."""

    __slots__ = ("state",)
    simple = False

    def __init__(self, value: Any, state: Any):
        super().__init__(value)
        self.state = state

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        return type(x) is type(self.value) and bool(snapshot_of(x) == self.state)

    def has_changed(self) -> bool:
        return bool(snapshot_of(self.value) != self.state)


class Met(list):
    """The arrays that a look at observed values has met, and the containers and objects."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: list[Any] = []


def sharing(objects: list[Any]) -> list[int]:
    """Which of these are one and the same: for each the position where it comes first.

    >>> one, other = [], []
    >>> sharing([one, other, one])
    [0, 1, 0]
    """
    first: dict[int, int] = {}
    return [first.setdefault(id(x), i) for i, x in enumerate(objects)]


class Parts(Seen):
    """A container or an object of the user's: a copy of its parts, each observed."""

    __slots__ = ("kind", "keys", "parts", "values", "plain")
    simple = False

    def __init__(self, value: Any, pairs: list[tuple[Any, Any]], parts: list[Seen]):
        super().__init__(value)
        self.kind = type(value)
        self.keys = [key for key, _ in pairs]
        self.values = [part for _, part in pairs]
        self.parts = parts
        # Whether items that are the same objects settle it.
        self.plain = self.kind in (list, tuple) and len(parts) > LONG and all(
            type(part) is Plain for part in parts
        )  # fmt: skip

    def put(self, position: int, seen: Seen) -> None:
        """Observe one part in another way."""
        self.parts[position] = seen
        self.plain = False

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        if type(x) is not self.kind:
            return False
        if self.plain and len(x) == len(self.values) and all(map(is_, x, self.values)):
            if isinstance(arrays, Met):
                arrays.objects.append(x)
            return True
        pairs = pairs_of(x)
        if pairs is None or [key for key, _ in pairs] != self.keys:
            return False
        if isinstance(arrays, Met):
            arrays.objects.append(x)
        return all(
            part.matches(value, arrays) for part, (_, value) in zip(self.parts, pairs, strict=True)
        )


class ClassParts(Parts):
    """A class: its functions by identity, its other attributes as they are observed."""

    __slots__ = ("count", "fixed", "fixed_values", "data")

    def __init__(self, value: type, pairs: list[tuple[Any, Any]], parts: list[Seen]):
        super().__init__(value, pairs, parts)
        self.count = len(definitions(value))
        settled = [type(part) is Seen for part in parts]
        self.fixed = [k for k, plain in zip(self.keys, settled, strict=True) if plain]
        self.fixed_values = [v for v, plain in zip(self.values, settled, strict=True) if plain]
        self.data = [i for i, plain in enumerate(settled) if not plain]

    def matches(self, x: Any, arrays: list[Any]) -> bool:
        held = definitions(x)
        if len(held) != self.count or not all(
            map(is_, map(held.get, self.fixed), self.fixed_values)
        ):
            return False
        return all(
            self.parts[i].matches(held.get(self.keys[i], MISSING), arrays) for i in self.data
        )


Reached = Callable[[Any], None]


class Observer:
    """Observes one value; `reached` is told of the functions, classes and deep parts in it."""

    def __init__(self, reached: Reached) -> None:
        self.reached = reached
        self.known: set[int] = set()

    def observe(self, x: Any, depth: int = DEPTH) -> Seen:
        """Remember a value as it is now."""
        if type(x) in _PLAIN or x is None or isinstance(x, numpy.generic):
            return Plain(x)
        if isinstance(x, DeviceArray):
            return Device(x)
        if isinstance(x, numpy.ndarray) and x.dtype != object:
            return Host(x)
        if isinstance(x, type):
            self.reached(x)
            return Seen(x)
        pairs = pairs_of(x)
        if pairs is None:
            state = snapshot_of(x)
            if state is not None:
                return Snapshot(x, state)
            self.reached(x)
            return Seen(x)
        if not depth:
            self.reached(x)
            return Seen(x)
        if id(x) in self.known:  # a cycle, or an object met twice: its parts are compared once
            return Seen(x)
        self.known.add(id(x))
        self.reached(type(x))
        return Parts(x, pairs, [self.observe(part, depth - 1) for _, part in pairs])

    def observe_class(self, kind: type) -> ClassParts:
        """The attributes of a class; of its functions `reached` is not told."""
        pairs = pairs_of_class(kind)
        self.known.add(id(kind))
        return ClassParts(
            kind,
            pairs,
            [Seen(x) if is_definition(x) else self.observe(x, DEPTH) for _, x in pairs],
        )


def is_definition(x: Any) -> bool:
    """Whether an attribute of a class is a method, a property or the like."""
    if isinstance(x, (types.FunctionType, type)):
        return True
    descriptor = hasattr(type(x), "__get__") and not is_users(type(x))
    return descriptor and not isinstance(x, (Array, numpy.ndarray))


def every(seen: Seen, kind: type) -> list[Any]:
    """The observations of one kind within a value, in the order of its parts."""
    if isinstance(seen, kind):
        return [seen]
    if isinstance(seen, Parts):
        return [found for part in seen.parts for found in every(part, kind)]
    return []


def devices(seen: Seen) -> list[Device]:
    """The arrays within a value, in the order in which `matches` collects them."""
    if isinstance(seen, (Device, Number)):
        return [seen]  # type: ignore[list-item]
    if isinstance(seen, ClassParts):
        return [device for i in seen.data for device in devices(seen.parts[i])]
    if isinstance(seen, Parts):
        return [device for part in seen.parts for device in devices(part)]
    return []
