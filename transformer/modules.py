"""A source as a module of its own: with a line that says what it is, and the imports it needs."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overt.rewrites import core


def standalone(source: core.Source, header: str = "", origins: list | None = None) -> str:
    """The text of a module that can be read, kept and run."""
    from overt.rewrites.emit import module_text

    source = with_class_named(source)
    needed = names_needed(source)
    imports = import_lines(source, needed)
    complete = core.replace(source, imports=frozenset({*source.imports, *imports}))
    return module_text(complete, header, origins)


def with_class_named(source: core.Source) -> core.Source:
    """`super(Model, self)` for the `super(__class__, self)` that runs inside of Overt."""
    cells = getattr(source.namespace, "cells", {})
    if "__class__" not in cells:
        return source
    table: dict[str, ast.expr] = {"__class__": core.name(cells["__class__"].cell_contents.__name__)}

    def renamed(node: Any) -> Any:
        return core.substitute(node, table)

    functions = tuple(core.map_function(f, renamed) for f in source.functions)
    return core.replace(source, functions=functions)


def names_needed(source: core.Source) -> list[str]:
    """Global names that the functions use and that are not among them."""
    own = {f.name for f in source.functions} | bound_by(source.imports)
    found: set[str] = set()
    for function in source.functions:
        found |= all_globals(function)
    return sorted(n for n in found - own if not n.startswith("@") and n != core.UNDEFINED)


def bound_by(lines: Iterable[str]) -> set[str]:
    """The names that import statements bind."""
    found = set()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
    return found


def all_globals(function: core.Function) -> set[str]:
    """Global names of a function and of those nested in it."""
    found = set(core.globals_of(function)) | set(function.cells)
    bound: set[str] = set()
    for s in core.walk(function.body):
        if isinstance(s, core.Define):
            found |= all_globals(s.function)
        elif isinstance(s, core.Do) and isinstance(s.node, ast.ClassDef | ast.FunctionDef):
            bound.add(s.node.name)
    return found - bound


def import_lines(source: core.Source, names: list[str]) -> list[str]:
    """The import statement of each name: the user's own, or an import from the user's module."""
    namespace: Mapping[str, Any] = source.namespace
    written = imports_of(source.file)
    lines, from_module = set(), []
    module = module_name(source)
    for name in names:
        if name in getattr(namespace, "cells", {}):
            continue  # a variable of the function around this one: it cannot be imported
        table = getattr(namespace, "globals", namespace)
        if name not in table:
            if not hasattr(builtins, name):
                from_module.append(name)
            continue
        if name in written:
            lines.add(written[name])
        elif isinstance(table[name], types.ModuleType):
            lines.add(module_import(table[name].__name__, name))
        else:
            from_module.append(name)
    if from_module and module:
        lines.add(f"from {module} import {', '.join(from_module)}")
    return sorted(lines)


def module_import(full: str, name: str) -> str:
    """The statement that binds a module to a name."""
    if full == name:
        return f"import {full}"
    return f"import {full} as {name}"


def module_name(source: core.Source) -> str:
    """The name that the user's module can be imported by."""
    table = getattr(source.namespace, "globals", source.namespace)
    name = table.get("__name__", "")
    return name or (Path(source.file).stem if source.file else "")


def imports_of(file: str) -> dict[str, str]:
    """The import statements at the top of a file, one for each name that they bind."""
    from overt.transformer.load import read_file

    try:
        tree = read_file(file).tree
    except (OSError, SyntaxError):
        return {}
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = ast.unparse(ast.Import([alias]))
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            for alias in node.names:
                name = alias.asname or alias.name
                found[name] = ast.unparse(ast.ImportFrom(node.module, [alias], 0))
    return found
