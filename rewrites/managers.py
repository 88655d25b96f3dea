"""Context managers that may end an exception: their block is left before its end, and all goes on.

with Tolerant():                      manager = Tolerant()
    y = parse(text)                   manager.__enter__()
                                      try:
                          ->              y = parse(text)
                                      except BaseException as failure:
                                          if not is_ended(manager, failure):
                                              raise
                                      else:
                                          manager.__exit__(None, None, None)
"""

from __future__ import annotations

import ast
import dis
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overt.rewrites.exits import always_exits
from overt.runtime.ownership import is_library

FALSE = (None, False)


@dataclass(frozen=True)
class Managers:
    """What the text tells of the managers of `with` statements."""

    object: Callable[[ast.expr], Any] = lambda node: None
    definition: Callable[[str], ast.FunctionDef | None] = lambda name: None
    methods: Callable[[str], list[ast.FunctionDef]] = lambda name: []

    def ends(self, s: ast.With) -> bool | None:
        """Whether a manager may end exceptions; None if none does, False if that is unknown."""
        found = [self.may_end(item.context_expr) for item in s.items]
        return True if True in found else False if False in found else None

    def may_end(self, node: ast.expr) -> bool | None:
        if not isinstance(node, ast.Call):
            return False
        f = node.func
        if isinstance(f, ast.Name) and f.id.startswith("@"):
            return None
        made = self.object(f)
        if isinstance(made, type):
            if is_library(made.__module__):
                return False if made.__name__ == "ExitStack" else None
            leave = getattr(made, "__exit__", None)
            return returns_something(leave) if isinstance(leave, types.FunctionType) else False
        if made is None:
            return False
        if is_library(getattr(made, "__module__", None) or "builtins"):
            return None
        text = self.definition(f.id) if isinstance(f, ast.Name) else None
        if text is None or not hasattr(made, "__wrapped__"):
            return False
        return True if any(map(handles_its_yield, ast.walk(text))) else None

    def are_plain(self, s: ast.With) -> bool:
        """Whether the managers of a block do nothing about how it is left."""
        for item in s.items:
            f = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
            if f is None or isinstance(f, ast.Name) and f.id.startswith("@"):
                return False
            made = self.object(f)
            if made is None or not is_library(getattr(made, "__module__", None) or "builtins"):
                return False
            if getattr(made, "__name__", "") in ("ExitStack", "closing", "suppress"):
                return False
        return True

    def watched(self, s: ast.With) -> ast.With:
        """The statement, which refuses when it runs that a manager ends an exception."""
        items = [
            ast.withitem(unended(i.context_expr), i.optional_vars)
            if self.may_end(i.context_expr) is not None
            else i
            for i in s.items
        ]
        return ast.copy_location(ast.With(items, s.body), s)


def returns_something(f: types.FunctionType) -> bool | None:
    """Whether a function may return something true; None if it surely does not."""
    before = None
    for i in dis.get_instructions(f):
        if i.opname == "RETURN_CONST" and i.argval not in FALSE:
            return True
        if i.opname == "RETURN_VALUE" and not (before and before.argval in FALSE):
            return True
        before = i if i.opname == "LOAD_CONST" else None
    return None


def handles_its_yield(node: ast.AST) -> bool:
    """Whether a `try` of a generator goes on after an exception from the block at its `yield`."""
    if not isinstance(node, ast.Try) or not node.handlers:
        return False
    yields = any(isinstance(n, ast.Yield) for s in node.body for n in ast.walk(s))
    return yields and not all(always_exits(h.body) for h in node.handlers)


def unended(manager: ast.expr) -> ast.expr:
    """`unended(manager)`"""
    return ast.Call(ast.Name("@unended", ast.Load()), [manager], [])
