"""Keeping: whether a function may put what it is given into an object that outlives it.

    class Meter:                              y = meter.read(x)     # the text of a caller does not
        def read(self, x):                                          # show that `meter` changes
            self.last = x
            return x * x

Methods are found by name among the classes that the function's module knows, unless the text shows
of which class an object is.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Do
from overt.rewrites.effects import changes_contents, every, sets_outside
from overt.rewrites.instances import Instances, Kinds, own_class
from overt.rewrites.members import classes_of
from overt.rewrites.rules import Resolver
from overt.runtime.ownership import is_library

CHANGED = frozenset(("@changed", "@popped", "@appended"))


class Keeping:
    """What is known about the functions that one module reaches."""

    def __init__(self, resolver: Resolver, classes: list[type] | None = None) -> None:
        self.resolver = resolver
        self.instances: Instances | None = None  # of the function that is looked at
        self.known: dict[Any, bool] = {}
        space = getattr(resolver.namespace, "globals", resolver.namespace)
        self.space, self.classes = space, classes or list(classes_of(space))

    def look_at(self, function: core.Function) -> None:
        """Look at the objects of one function, `self` of a method included."""
        kind = own_class(self.resolver)
        own = frozenset(c for c in self.classes if kind is not None and issubclass(c, kind))
        self.instances = Instances(function, self.resolver, own)

    def method(self, name: str, holder: ast.expr | None = None) -> bool:
        """Whether a method of this name that an object may have stores something."""
        if name.startswith("@"):
            return False
        kinds: Kinds = frozenset()
        if self.instances is not None and holder is not None:
            kinds = self.instances.of(holder)
        if kinds and all(hasattr(kind, name) for kind in kinds):
            return any(self.function(*found_in(kind, name)) for kind in kinds)
        found = [c.__dict__[name] for c in self.classes if name in c.__dict__]
        return any(self.function(getattr(f, "__func__", f)) for f in found)

    def function(self, f: Any, kind: type | None = None) -> bool:
        """Whether a user's function, a method of a class, stores something or calls what does."""
        if not isinstance(f, types.FunctionType) or is_library(f.__module__):
            return False
        key = f.__code__, kind
        if key not in self.known:
            self.known[key] = False  # of one that calls itself, until it is known
            self.known[key] = self.stores(f, kind)
        return self.known[key]

    def stores(self, f: types.FunctionType, kind: type | None) -> bool:
        body = self.resolver.load(f) if self.resolver.load is not None else None
        if body is None:
            return False
        inside = Resolver(f.__globals__)
        inside.load = self.resolver.load
        inner = Keeping(inside, self.classes if f.__globals__ is self.space else None)
        inner.known = self.known
        if kind is not None:
            inner.instances = Instances(body, inside, frozenset((kind,)))
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
        return isinstance(node, ast.Attribute) and self.method(node.attr, node.value)

    def call(self, node: ast.Call) -> bool:
        """Whether a call may store what it is given."""
        if any(map(self.passed, [*node.args, *(k.value for k in node.keywords)])):
            return True
        f = node.func
        if isinstance(f, ast.Name) and f.id in CHANGED:
            name = node.args[1] if len(node.args) > 1 else None
            if f.id == "@appended":
                return self.method("append")
            return isinstance(name, ast.Constant) and self.method(str(name.value), node.args[0])
        found = self.resolver.object(f)
        if found is not None:
            return found is setattr or self.function(found)
        if isinstance(f, ast.Attribute):
            return self.method(f.attr, f.value)
        return isinstance(f, ast.Name) and core.is_local(f.id) and self.method("__call__", f)


def found_in(kind: type, name: str) -> tuple[Any, type | None]:
    """The function that a class has as its method of a name, and the class if that is of `self`."""
    found = inspect.getattr_static(kind, name)
    return getattr(found, "__func__", found), kind if hasattr(found, "__code__") else None
