"""Which globals, module attributes, shared variables and modules the code of a function reads."""

from __future__ import annotations

import dis
import functools
import importlib.util
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from overt.runtime.ownership import is_users_module
from overt.transformer.observed import MISSING

# Builtins that read attributes or globals whose names the code does not show.
DYNAMIC = frozenset("getattr vars dir attrgetter methodcaller __dict__ __getattribute__".split())


class Read(NamedTuple):
    """A name with the attributes taken from it: `settings.level` is ("settings", ("level",))."""

    name: str
    attributes: tuple[str, ...]


class Reads(NamedTuple):
    """What a code object and those nested in it read."""

    globals: tuple[Read, ...]
    cells: tuple[Read, ...]  # variables of outer functions
    imports: tuple[tuple[int, Read], ...]  # modules with their level, and the names taken
    names: frozenset[str]  # all names and attributes
    texts: frozenset[str]  # all constant strings


@functools.lru_cache(maxsize=4096)
def reads_of(code: types.CodeType) -> Reads:
    """What a code object and those nested in it read, stored names included."""
    by_global: dict[Read, None] = {}
    by_cell: dict[Read, None] = {}
    imports: dict[tuple[int, Read], None] = {}
    names, texts = set(code.co_names), {c for c in code.co_consts if isinstance(c, str)}
    open_read: tuple[dict, str, list[str]] | None = None
    before: list[Any] = [None, None]
    for instruction in dis.get_instructions(code):
        op, value = instruction.opname, instruction.argval
        if open_read is not None:
            if op in ("LOAD_ATTR", "LOAD_METHOD"):
                open_read[2].append(value)
                continue
            open_read[0][Read(open_read[1], tuple(open_read[2]))] = None
            open_read = None
        if op in ("LOAD_GLOBAL", "LOAD_NAME"):
            open_read = by_global, value, []
        elif op in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            open_read = by_cell, value, []
        elif op in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            by_global[Read(value, ())] = None
        elif op == "IMPORT_NAME":
            level = before[0] if isinstance(before[0], int) else 0
            taken = before[1] if isinstance(before[1], tuple) else ()
            imports[level, Read(value, taken)] = None
        before = [before[1], value]
    if open_read is not None:
        open_read[0][Read(open_read[1], tuple(open_read[2]))] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = reads_of(constant)
            by_global |= dict.fromkeys(inner.globals)
            by_cell |= dict.fromkeys(inner.cells)
            imports |= dict.fromkeys(inner.imports)
            names |= inner.names
            texts |= inner.texts
    return Reads(
        tuple(by_global), tuple(by_cell), tuple(imports), frozenset(names), frozenset(texts)
    )


def places(function: types.FunctionType) -> Iterator[tuple[dict[str, Any], str]]:
    """(dict, name) of every global that a function reads; attributes of modules are followed."""
    for name, attributes in reads_of(function.__code__).globals:
        yield from followed(function.__globals__, name, attributes)


def followed(
    holder: dict[str, Any], name: str, attributes: tuple[str, ...]
) -> Iterator[tuple[dict[str, Any], str]]:
    """The place of a name, and those of the attributes taken from it if it is a user's module."""
    yield holder, name
    value = holder.get(name, MISSING)
    for attribute in attributes:
        if not (isinstance(value, types.ModuleType) and is_users_module(value)):
            return
        yield vars(value), attribute
        value = vars(value).get(attribute, MISSING)
    if isinstance(value, types.ModuleType) and is_users_module(value):
        yield from all_names(vars(value))  # it is passed on, or its names are not shown


def all_names(
    space: dict[str, Any], seen: frozenset[int] = frozenset()
) -> Iterator[tuple[dict[str, Any], str]]:
    """Every name of a module, and of the user's modules that it holds."""
    seen |= {id(space)}
    for name, value in list(space.items()):
        if not (name.startswith("__") and name.endswith("__")):
            yield space, name
            if isinstance(value, types.ModuleType) and is_users_module(value):
                if id(vars(value)) not in seen:
                    yield from all_names(vars(value), seen)


def modules(function: types.FunctionType) -> Iterator[tuple[types.ModuleType, tuple[str, ...]]]:
    """The user's modules that a function imports or looks up, and the names that it takes."""
    found = reads_of(function.__code__)
    for level, (name, taken) in found.imports:
        package = function.__globals__.get("__package__") or ""
        try:
            full = importlib.util.resolve_name("." * level + name, package)
        except ImportError:
            continue
        module = sys.modules.get(full)
        if isinstance(module, types.ModuleType) and is_users_module(module):
            yield module, taken
    if {"modules", "import_module"} & found.names:
        for text in found.texts:
            module = sys.modules.get(text)
            if isinstance(module, types.ModuleType) and is_users_module(module):
                yield module, ()
