"""Members: what the classes that a module knows call their methods and attributes."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from overt.runtime.world import is_library


def names_of_members(space: Any) -> set[str]:
    """The names of methods, properties and declared attributes of the user's classes.

    Where one of them is also an attribute of arrays, such as `size`, the text does not say whose
    it is.
    """
    found: set[str] = set()
    for kind in classes_of(space):
        found |= kind.__dict__.keys() | kind.__dict__.get("__annotations__", {}).keys()
    return found


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
