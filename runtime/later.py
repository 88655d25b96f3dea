"""Names of a module that are imported when they are first used, so that importing it is quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["found_later", "places_of", "shown_later"]


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


def shown_later(
    namespace: dict[str, Any], home: str, places: dict[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module that shows the public names of another, `home`.

    That is imported when the first of them is asked for; `places` has the modules of further names.
    """
    more = places or {}
    own, _ = found_later(namespace, more)

    def get(name: str) -> Any:
        if name in more:
            return own(name)
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        module = importlib.import_module(home)
        if name == "__all__":
            found = module.__all__
        elif name in module.__all__:
            found = getattr(module, name)
        else:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        namespace[name] = found
        return found

    return get, lambda: sorted({*namespace, *get("__all__"), *more})
