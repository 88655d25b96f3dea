"""Which globals, module attributes and closure cells the code of a function reads."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from overt.runtime.ownership import is_users_module


class Read(NamedTuple):
    """A name with the attributes taken from it: `settings.level` is ("settings", ("level",))."""

    name: str
    attributes: tuple[str, ...]


@functools.lru_cache(maxsize=4096)
def global_reads(code: types.CodeType) -> tuple[Read, ...]:
    """Global names that a code object and those nested in it read or write, with attributes."""
    found: dict[Read, None] = {}
    name, attributes = "", []
    for instruction in dis.get_instructions(code):
        if name and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.append(instruction.argval)
            continue
        if name:
            found[Read(name, tuple(attributes))] = None
            name = ""
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name, attributes = instruction.argval, []
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            found[Read(instruction.argval, ())] = None
    if name:
        found[Read(name, tuple(attributes))] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= dict.fromkeys(global_reads(constant))
    return tuple(found)


def places(function: types.FunctionType) -> Iterator[tuple[Any, str]]:
    """(dict, name) of every global that a function reads; attributes of modules are followed."""
    seen = set()
    for name, attributes in global_reads(function.__code__):
        holder: dict[str, Any] = function.__globals__
        value = holder.get(name, _MISSING)
        place = (holder, name)
        if value is _MISSING and name in _builtins(function):
            continue
        for attribute in attributes:
            if not (isinstance(value, types.ModuleType) and is_users_module(value)):
                break
            place = (vars(value), attribute)
            value = vars(value).get(attribute, _MISSING)
        key = (id(place[0]), place[1])
        if key not in seen:
            seen.add(key)
            yield place


_MISSING: Any = object()


def _builtins(function: types.FunctionType) -> dict[str, Any]:
    table = function.__globals__.get("__builtins__", {})
    return table if isinstance(table, dict) else vars(table)
