"""Lifting of what is reached through objects: properties, and classes that decide in `__init__`."""

from __future__ import annotations

import inspect
from typing import Any

from overt.transformer import transformed


def lifted_attribute(holder: Any, name: str) -> Any:
    """`holder.name`, where a property runs in its lifted form.

    >>> lifted_attribute(3, "real")
    3
    """
    found = inspect.getattr_static(type(holder), name, None)
    if isinstance(found, property) and found.fget is not None:
        return transformed.lifted(found.fget)(holder)
    return getattr(holder, name)


def constructed(cls: type, /, *args: Any, **kwargs: Any) -> Any:
    """`cls(*args, **kwargs)`, where `__init__` runs in its lifted form."""
    if type(cls) is not type:
        return cls(*args, **kwargs)
    new: Any = cls.__new__
    made = new(cls) if new is object.__new__ else new(cls, *args, **kwargs)
    if isinstance(made, cls):
        transformed.lifted(type(made).__init__)(made, *args, **kwargs)
    return made
