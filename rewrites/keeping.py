"""Keeping: whether a function may put what it is given into an object that outlives it.

    class Meter:                              y = meter.read(x)     # the text of a caller does not
        def read(self, x):                                          # show that `meter` changes
            self.last = x
            return x * x

Methods are found by name among the classes that the function's module knows.
"""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Do
from overt.rewrites.effects import changes_contents, every, sets_outside
from overt.rewrites.members import classes_of
from overt.rewrites.rules import Resolver
from overt.runtime.ownership import is_library

CHANGED = frozenset(("@changed", "@popped", "@appended"))


class Keeping:
    """What is known about the functions that one module reaches."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.known: dict[Any, bool] = {}
        self.classes = list(classes_of(getattr(resolver.namespace, "globals", {})))

    def method(self, name: str) -> bool:
        """Whether some class known here has a method of this name that stores something."""
        if name.startswith("@"):
            return False
        found = [c.__dict__[name] for c in self.classes if name in c.__dict__]
        return any(self.function(getattr(f, "__func__", f)) for f in found)

    def function(self, f: Any) -> bool:
        """Whether a user's function stores something, or calls one that does."""
        if not isinstance(f, types.FunctionType) or is_library(f.__module__):
            return False
        if f.__code__ not in self.known:
            self.known[f.__code__] = False  # of one that calls itself, until it is known
            self.known[f.__code__] = self.stores(f)
        return self.known[f.__code__]

    def stores(self, f: types.FunctionType) -> bool:
        body = self.resolver.load(f) if self.resolver.load is not None else None
        if body is None:
            return False
        inside = Resolver(f.__globals__)
        inner = Keeping(inside) if f.__globals__ is not self.globals else self
        inside.load = self.resolver.load
        inner.known = self.known
        return inner.body(body)

    def body(self, function: core.Function) -> bool:
        """Whether what a function's statements do may store something."""
        calls: list[ast.Call] = []

        def visit(node: Any) -> Any:
            calls.extend(n for n in ast.walk(node) if isinstance(n, ast.Call))
            return node

        core.map_function(function, visit)
        for s in every(function.body):
            node = s.node if isinstance(s, Do) else None
            if (
                isinstance(node, ast.Assign)
                or isinstance(node, ast.Expr)
                and changes_contents(node)
            ):
                return True
            if isinstance(s, Assign) and sets_outside(s.target):
                return True
        return any(map(self.call, calls))

    def passed(self, node: ast.expr) -> bool:
        """Whether an argument is a function that stores what it is given."""
        if isinstance(node, ast.Call) and self.resolver.object(node.func) is functools.partial:
            return self.passed(node.args[0])
        if isinstance(node, ast.Lambda):
            return any(self.call(n) for n in ast.walk(node) if isinstance(n, ast.Call))
        if not isinstance(node, ast.Attribute | ast.Name):
            return False
        nested = self.resolver.functions.get(node.id) if isinstance(node, ast.Name) else None
        if nested is not None:
            if nested.name not in self.known:
                self.known[nested.name] = False
                self.known[nested.name] = self.body(nested)
            return self.known[nested.name]
        found = self.resolver.object(node)
        if found is not None:
            return self.function(found)
        return isinstance(node, ast.Attribute) and self.method(node.attr)

    @property
    def globals(self) -> Any:
        return getattr(self.resolver.namespace, "globals", self.resolver.namespace)

    def call(self, node: ast.Call) -> bool:
        """Whether a call may store what it is given."""
        if any(map(self.passed, [*node.args, *(k.value for k in node.keywords)])):
            return True
        f = node.func
        if isinstance(f, ast.Name) and f.id in CHANGED:
            name = node.args[1] if len(node.args) > 1 else None
            if f.id == "@appended":
                return self.method("append")
            return isinstance(name, ast.Constant) and self.method(str(name.value))
        found = self.resolver.object(f)
        if found is not None:
            return found is setattr or self.function(found)
        if isinstance(f, ast.Attribute):
            return self.method(f.attr)
        return isinstance(f, ast.Name) and core.is_local(f.id) and self.method("__call__")
