"""Members: what the classes that a module knows call their methods and attributes."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from overt.runtime.world import is_library


def members_of(space: Any) -> tuple[set[str], set[str]]:
    """The names of the methods of the user's classes, and those of all their other members.

    Where one of them is also a name of arrays, such as `size`, the text does not say whose it is.
    """
    methods: set[str] = set()
    others: set[str] = set()
    for kind in classes_of(space):
        others |= kind.__dict__.get("__annotations__", {}).keys()
        for name, member in kind.__dict__.items():
            function = getattr(member, "__func__", member)
            (methods if isinstance(function, types.FunctionType) else others).add(name)
    return methods, others


def classes_of(space: Any) -> Iterator[type]:
    """The user's classes among globals, those of objects there and of modules there too."""
    seen: set[type] = set()
    for value in list(space.values()):
        inner = [value, type(value)]
        if isinstance(value, types.ModuleType) and not is_library(value.__name__):
            inner = list(vars(value).values())
        for found in inner:
            if isinstance(found, type) and found not in seen and not is_library(found.__module__):
                seen.add(found)
                yield found


def fields_of_tuples(space: Any) -> set[str]:
    """The names of what named tuples hold whose classes a module knows."""
    kinds = [kind for kind in classes_of(space) if issubclass(kind, tuple)]
    return {name for kind in kinds for name in getattr(kind, "_fields", ())}


def operators_in_place(space: Any) -> set[str]:
    """The methods for `+=` and its kin of classes here and around the functions that are here."""
    spaces = {id(space): space}
    for value in list(space.values()):
        if isinstance(value, types.FunctionType) and not is_library(value.__module__ or "builtins"):
            spaces.setdefault(id(value.__globals__), value.__globals__)
    return {
        name
        for each in spaces.values()
        for kind in classes_of(each)
        for name in kind.__dict__
        if name.startswith("__i") and name.endswith("__")
    }
