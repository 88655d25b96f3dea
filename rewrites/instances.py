"""Instances: of which classes of the user's the objects are that a function's names hold.

layer = Layer(2.0, 1.0)               # surely a Layer
for each in [layer, Model(x)]:        # a Layer or a Model
    y = each.apply(y)
"""

from __future__ import annotations

import ast
import types
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, For, Function, If, While
from overt.rewrites.rules import Resolver
from overt.runtime.ownership import is_library
from overt.runtime.world import is_users_object

Kinds = frozenset[type]
SAME = frozenset(("@changed", "@popped", "@in_place"))  # of an object: this object


class Instances:
    """The classes of one function's objects; a name of anything else is not in the tables."""

    def __init__(self, function: Function, resolver: Resolver, own: Kinds = frozenset()) -> None:
        self.resolver = resolver
        self.kinds: dict[str, Kinds] = {}
        self.items: dict[str, Kinds] = {}  # of the items of lists
        self.unknown: set[tuple[int, str]] = set()  # names that turned out to be of anything
        if own and function.params:
            self.kinds[function.params[0].name] = own
        while True:
            before = dict(self.kinds), dict(self.items)
            for s in core.walk(function.body):
                self.statement(s)
            if before == (self.kinds, self.items):
                break

    def statement(self, s: core.Stmt) -> None:
        if isinstance(s, Assign):
            self.bind(s.target, s.value)
        elif isinstance(s, If):
            for m in s.merges:
                self.join(m.name, m.then, m.orelse)
        elif isinstance(s, For | While):
            for c in s.carries:
                known = core.name(c.name)
                self.join(c.name, c.init, c.next if self.of(known) else c.init)
                self.join(c.out, c.init, known)
            if isinstance(s, For) and isinstance(s.target, str):
                self.note(self.kinds, s.target, self.of_items(s.items))

    def note(self, table: dict[str, Kinds], name: str, kinds: Kinds) -> None:
        mark = id(table), name
        if kinds and mark not in self.unknown:
            table[name] = table.get(name, frozenset()) | kinds
        elif table.pop(name, None):
            self.unknown.add(mark)

    def join(self, name: str, *values: ast.expr) -> None:
        for table, look in ((self.kinds, self.of), (self.items, self.of_items)):
            found = list(map(look, values))
            self.note(table, name, frozenset().union(*found) if all(found) else frozenset())

    def bind(self, target: core.Pattern, value: ast.expr) -> None:
        if isinstance(target, str):
            self.join(target, value)
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(target):
            for t, v in zip(target, value.elts, strict=True):
                self.bind(t, v)
        elif core.is_call_of(value, "@popped") and len(target) == 2 and isinstance(target[1], str):
            self.note(self.kinds, target[1], self.of(value))

    def of(self, node: ast.expr) -> Kinds:
        """The classes that an expression's value may be of; none if that is not known."""
        if isinstance(node, ast.Name) and core.is_local(node.id):
            return self.kinds.get(node.id, frozenset())
        if isinstance(node, ast.IfExp):
            sides = self.of(node.body), self.of(node.orelse)
            return sides[0] | sides[1] if all(sides) else frozenset()
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return self.of_items(node.value)
        if isinstance(node, ast.Call):
            if core.is_call_of(node, *SAME):
                return self.of(node.args[0])
            made = self.resolver.object(node.func)
            return frozenset((made,)) if is_plainly_made(made) else frozenset()
        found = self.resolver.object(node) if isinstance(node, ast.Name) else None
        return frozenset((type(found),)) if is_object(found) else frozenset()

    def of_items(self, node: ast.expr) -> Kinds:
        """The classes of the items of what surely is a list."""
        if isinstance(node, ast.Name):
            return self.items.get(node.id, frozenset())
        if isinstance(node, ast.ListComp):
            return self.of(node.elt)
        if core.is_call_of(node, "@appended"):
            one, more = self.of_items(node.args[0]), self.of(node.args[1])  # type: ignore
            return one | more if one and more else frozenset()
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            found = [self.of(e) for e in node.elts]
            return frozenset().union(*found) if all(found) else frozenset()
        return frozenset()


def is_plainly_made(made: Any) -> bool:
    """Whether calling this gives an object of just this class of the user's."""
    if not isinstance(made, type) or is_library(made.__module__) or type(made) is not type:
        return False
    return made.__new__ is object.__new__


def is_object(x: Any) -> bool:
    functions = types.FunctionType | types.MethodType | types.ModuleType
    return x is not None and not isinstance(x, functions) and is_users_object(x)


def own_class(resolver: Resolver) -> type | None:
    """The class of which the function that a resolver looks from is a method."""
    code = getattr(resolver.namespace, "code", None)
    names = code.co_qualname.split(".") if code is not None else []
    if len(names) < 2 or names[-2] == "<locals>":
        return None
    found = getattr(resolver.namespace, "globals", {}).get(names[-2])
    if not isinstance(found, type):
        return None
    member = found.__dict__.get(names[-1])
    return found if getattr(member, "__code__", None) is code else None
