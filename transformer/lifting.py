"""Lifting of what objects lead to: properties, classes that decide in `__init__`, caches."""

from __future__ import annotations

import contextvars
import functools
import inspect
from collections.abc import Callable
from typing import Any

from overt.runtime.closures import captured_leaves
from overt.runtime.dispatch import CHECKS, GRAPH
from overt.runtime.joined_values import note
from overt.runtime.levels import INSIDE
from overt.runtime.masks import ON_LANES
from overt.runtime.staged_builtins import once_a_call
from overt.runtime.staging import is_known
from overt.runtime.world import CONTAINERS, World, is_users_object
from overt.transformer import transformed
from overt.transformer.watch import WATCH


def lifted_attribute(holder: Any, name: str) -> Any:
    """`holder.name`, where a property runs in its lifted form.

    >>> lifted_attribute(3, "real")
    3
    """
    found = inspect.getattr_static(type(holder), name, None)
    if isinstance(found, property) and found.fget is not None:
        return transformed.lifted(found.fget)(holder)
    if isinstance(found, functools.cached_property) and name not in vars(holder):
        once_a_call()
        vars(holder)[name] = value = transformed.lifted(found.func)(holder)
        return value
    return getattr(holder, name)


def special_form(f: Any) -> Any:
    """The lifted form of a special method, which Python calls itself; `f` where it has none."""
    return f if transformed._source_or_none(f) is None else transformed.lifted(f)


def constructed(cls: type, /, *args: Any, **kwargs: Any) -> Any:
    """`cls(*args, **kwargs)`, where `__init__` runs in its lifted form."""
    if type(cls) is not type:
        return cls(*args, **kwargs)
    new: Any = cls.__new__
    made = new(cls) if new is object.__new__ else new(cls, *args, **kwargs)
    if isinstance(made, cls):
        transformed.lifted(type(made).__init__)(made, *args, **kwargs)
    return made


def from_cache(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a cached function, which is cached for values that Python knows.

    It then runs as if nothing was staged, so that what is kept belongs to no program.

    >>> from_cache(functools.cache(abs), -3)
    3
    """
    given = World(args, kwargs, caches=False).leaves()
    roots = [*given, *captured_leaves((args, kwargs, f.__wrapped__), lambda x: not is_known(x))]
    known = GRAPH.get() is None and all(is_known(x) or x.transparent for x in roots)
    if known and is_hashable((*args, *kwargs.values())):
        return f(*args, **kwargs)  # Python runs it, on values that carry their derivatives
    if not all(map(is_known, roots)):
        found = transformed.lifted(f.__wrapped__)(*args, **kwargs)
        if isinstance(found, CONTAINERS):
            note(found)  # each call makes a new one
        return found
    found = contextvars.copy_context().run(_at_once, f, args, kwargs)
    watch = WATCH.get()
    if watch is not None and (isinstance(found, CONTAINERS) or is_users_object(found)):
        watch.thing(found)
        watch.work()
    return found


def is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _at_once(f: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for variable in (GRAPH, CHECKS, ON_LANES):
        variable.set(None)
    INSIDE.set(False)
    return f(*args, **kwargs)
