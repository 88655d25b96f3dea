"""Names of a module that are imported when they are first used, so that importing it is quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["found_later", "places_of"]


def places_of(home: str, table: dict[str, str]) -> dict[str, str]:
    """The module of every name, from the names in each module of the package `home`."""
    return {name: f"{home}.{part}" for part, names in table.items() for name in names.split()}


def found_later(
    namespace: dict[str, Any], places: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module with these names, each found in its module.

    A name that is that of its module stands for the module.
    """

    def get(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        module = importlib.import_module(place)
        found = module if place.rpartition(".")[2] == name else getattr(module, name)
        namespace[name] = found
        return found

    return get, lambda: sorted({*namespace, *places})
