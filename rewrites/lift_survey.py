"""What the text of a function shows before it is lifted: its lists, its calls, its stores."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Do, For, Function, If, While
from overt.rewrites.effects import every, writes
from overt.rewrites.held_outside import PICKING, SPACES, name_of
from overt.runtime.ownership import is_library

HELD = ast.List | ast.ListComp | ast.Tuple | ast.Dict | ast.DictComp


def lists_in(function: Function) -> set[str]:
    """Local names that hold lists or dictionaries, as far as the function's text shows."""
    found: set[str] = set()
    makers = ("@appended", "@set_item", "@changed", "list")

    def is_list(value: ast.expr) -> bool:
        if isinstance(value, ast.Name):
            return value.id in found
        if isinstance(value, ast.Subscript):  # of a list perhaps another one
            return not isinstance(value.slice, ast.Slice) and is_list(value.value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            name = value.func.id
            if name == "reversed":
                return is_list(value.args[0])
            return name in ("list", "dict") or name in makers and is_list(value.args[0])
        return isinstance(value, HELD)

    for s in every(function.body):
        if isinstance(s, Assign) and isinstance(s.target, str) and is_list(s.value):
            found.add(s.target)
        elif isinstance(s, Assign) and isinstance(s.value, ast.Tuple):
            pairs = zip(s.target, s.value.elts, strict=False)
            found |= {t for t, value in pairs if isinstance(t, str) and is_list(value)}
        elif isinstance(s, For | While):
            found |= {n for c in s.carries if is_list(c.init) for n in (c.name, c.out)}
            if isinstance(s, For) and isinstance(s.target, str) and is_list(s.items):
                found.add(s.target)  # perhaps
        elif isinstance(s, If):
            found |= {m.name for m in s.merges if is_list(m.then) or is_list(m.orelse)}
    return found


def passed_in(function: Function) -> set[str]:
    """Names that branches and loops read which are functions in lifted code."""
    found: set[str] = set()
    for s in every(function.body):
        if isinstance(s, If):
            found |= core.free((*s.then, *s.orelse))
            found |= {n for m in s.merges for n in core.reads(m.then) | core.reads(m.orelse)}
        elif isinstance(s, For | While):
            found |= {n for c in s.carries for n in core.reads(c.init)}
    return found


def calls_in(block: core.Block, *more: ast.expr) -> list[ast.Call]:
    found: list[ast.Call] = []

    def visit(node: Any) -> Any:
        found.extend(n for n in ast.walk(node) if isinstance(n, ast.Call))
        return node

    core.map_exprs(block, visit)
    for node in more:
        visit(node)
    return found


def writes_elsewhere(
    f: Function, resolve: Callable[[ast.expr], Any]
) -> Callable[[core.Stmt], bool]:
    """Tells statements that change an object which the function did not make itself."""

    def makes(node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return False
        name, found = node.func, resolve(node.func)
        if isinstance(name, ast.Name) and (core.is_local(name.id) or name.id.startswith("@")):
            return True
        if found is type:  # `type(self)` is there already
            return False
        library = found is not None and is_library(getattr(found, "__module__", None))
        if isinstance(found, type):  # a class that makes its objects itself may keep them
            return not isinstance(getattr(found, "__new__", None), types.FunctionType)
        return library and name_of(name) not in PICKING | SPACES

    made = {
        s.target
        for s in core.walk(f.body)
        if isinstance(s, Assign)
        and isinstance(s.target, str)
        and core.base(s.target) not in f.foreign
        and makes(s.value)
    }
    holding = {
        s.target
        for s in core.walk(f.body)
        if isinstance(s, Assign) and s.target in made and isinstance(s.value, ast.Call)
        if s.value.args and is_library(getattr(resolve(s.value.func), "__module__", None))
    }
    if f.name in ("__init__", "__post_init__") and f.params:
        made.add(f.params[0].name)

    def check(s: core.Stmt) -> bool:
        if not writes(s):
            return False
        if isinstance(s, Do) and isinstance(s.node, ast.Assign):
            root: ast.expr = s.node.targets[0]
            steps = 0
            while isinstance(root, ast.Attribute | ast.Subscript):
                root, steps = root.value, steps + 1
            if not (isinstance(root, ast.Name) and root.id in made):
                return True
            return steps > 1 and root.id in holding  # what a new list holds may be others'
        return not (isinstance(s, Do) and isinstance(s.node, ast.Global | ast.Nonlocal | ast.Raise))

    return check
