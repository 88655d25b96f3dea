"""Changing: reads that may give another value later in the same function.

y = x * car.speed
car.speed = 0.0         # the reverse sweep needs the speed that `y` was made with
"""

from __future__ import annotations

import ast
import dis
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from overt.rewrites import core
from overt.rewrites.core import Assign, Do, Function, With
from overt.rewrites.effects import CHANGING_FUNCTIONS, UNSEEN_METHODS
from overt.rewrites.held_outside import PARTS_OF_ARRAYS
from overt.rewrites.liveness import PURE_METHODS
from overt.rewrites.members import classes_of
from overt.rewrites.rules import STATIC_ATTRIBUTES, Resolver
from overt.rewrites.scopes import CHANGING
from overt.rewrites.sharing import VIEW_CALLS
from overt.rewrites.stored_arrays import (
    STORING_FUNCTIONS,
    STORING_METHODS,
    functions_of,
    stored_arrays,
)
from overt.runtime.changing_code import METHODS
from overt.runtime.ownership import is_library
from overt.runtime.world import names_in

ANY_ATTRIBUTE = ("__getattr__", "__getattribute__")
STORING = frozenset(
    "STORE_ATTR STORE_GLOBAL STORE_DEREF STORE_SUBSCR STORE_SLICE DELETE_ATTR DELETE_SUBSCR".split()
)
NUMBERS = (int, float, complex, str)
CHANGING_MODULES = frozenset("operator _operator heapq _heapq bisect _bisect".split())


class Changing:
    """What may change behind the names of one function.

    That is what the function itself changes; and if its derivative `lasts`, to be used after the
    function has returned, whatever others may change, too.
    """

    def __init__(self, function: Function, resolver: Resolver, lasts: bool = False) -> None:
        self.resolver = resolver
        self.lasts = lasts
        self.attributes: set[str] = set()  # attributes stored to
        self.roots: set[str] = set()  # names whose object a call or store may change
        self.names: set[str] = set()  # names of outer variables that are set
        self.in_place: set[str] = set()  # outer names and attributes whose elements are stored to
        self.aliases: set[str] = set()  # local names for such arrays, or for what holds them
        self.calls = False
        self.counted = read_with_effects(getattr(resolver.namespace, "globals", {}))
        for s in core.walk(function.body):
            self.statement(s)
        if self.calls or lasts:
            space = getattr(resolver.namespace, "globals", {})
            self.names |= set_by_functions(space)
            self.in_place |= stored_arrays(space)
        count = -1
        while len(self.aliases) > count:  # names go round in loops
            count = len(self.aliases)
            for s in core.walk(function.body):
                self.alias(s)

    def alias(self, s: core.Stmt) -> None:
        """Note the names that a statement gives to what is stored into in place."""
        if isinstance(s, Assign) and self.is_alias(s.value):
            self.aliases |= set(core.pattern_names(s.target))
        elif isinstance(s, core.If):
            merged = [m for m in s.merges if self.is_alias(m.then) or self.is_alias(m.orelse)]
            self.aliases |= {m.name for m in merged}
        elif isinstance(s, core.For | core.While):
            carried = [c for c in s.carries if self.is_alias(c.init) or self.is_alias(c.next)]
            self.aliases |= {name for c in carried for name in (c.name, c.out)}
            if isinstance(s, core.For) and self.is_alias(s.items):
                self.aliases |= set(core.pattern_names(s.target))

    def is_alias(self, node: ast.expr) -> bool:
        """Whether an expression gives what is stored into in place, or a part of it."""
        if isinstance(node, ast.IfExp):
            return self.is_alias(node.body) or self.is_alias(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in VIEW_CALLS and any(
                map(self.is_alias, [node.func.value, *node.args])
            )
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return False
        if not self.aliases.isdisjoint(roots_of(node)):
            return True
        if self.in_place.isdisjoint(outer_names(node)):
            return False
        if not (self.may_change(node) or roots_of(node) & self.names):
            return False
        return not isinstance(self.held_now(node), NUMBERS)

    def held_now(self, node: ast.expr) -> Any:
        """What a variable outside, or an item or attribute of one, holds now; None if unknown."""
        match node:
            case ast.Subscript(value, ast.Constant(key)):
                holder = self.held_now(value)
                if isinstance(holder, dict):
                    return holder.get(key)
                inside = isinstance(holder, list) and isinstance(key, int) and key < len(holder)
                return holder[key] if inside else None
            case ast.Attribute(value, attr):
                holder = self.held_now(value)
                return getattr(holder, "__dict__", {}).get(attr)
        return self.resolver.object(node)

    def statement(self, s: core.Stmt) -> None:
        if isinstance(s, Assign):
            self.names |= {n for n in core.pattern_names(s.target) if not core.is_local(n)}
            self.call(s.value)
        elif isinstance(s, Do):
            if isinstance(s.node, ast.Assign):
                for target in s.node.targets:
                    if isinstance(target, ast.Attribute):
                        self.attributes.add(target.attr)
                    elif isinstance(target, ast.Subscript):
                        self.in_place |= outer_names(target.value)
                    self.roots |= roots_of(target)
            elif isinstance(s.node, ast.Expr):
                self.call(s.node.value)
        elif isinstance(s, With):
            for item in s.items:
                self.call(item.context_expr)
                self.manager(item.context_expr)

    def manager(self, node: ast.expr) -> None:
        """Entering and leaving a block are calls, too."""
        if core.is_call_of(node, "@unended"):
            node = node.args[0]  # type: ignore[attr-defined]
        made = self.resolver.object(node.func) if isinstance(node, ast.Call) else None
        if made is None or not is_library(getattr(made, "__module__", None) or "builtins"):
            self.calls = True
            self.roots |= roots_of(node)

    def call(self, node: ast.expr) -> None:
        """A call of the user's may change the objects that it is given."""
        for n in ast.walk(node):
            if not isinstance(n, ast.Call) or self.is_harmless(n.func):
                continue
            self.calls = True
            given = [*n.args, *(k.value for k in n.keywords)]
            if isinstance(n.func, ast.Attribute):
                given.append(n.func.value)
            for a in given:
                self.roots |= roots_of(a)
                self.in_place |= outer_names(a)

    def is_harmless(self, f: ast.expr) -> bool:
        if isinstance(f, ast.Name) and f.id.startswith("@"):
            return True
        if isinstance(f, ast.Attribute) and f.attr in PURE_METHODS:
            return not self.resolver.is_users_method(f.attr)
        found = self.resolver.object(f)
        if isinstance(f, ast.Attribute) and f.attr in STORING_METHODS | STORING_FUNCTIONS:
            return False
        module = (getattr(found, "__module__", None) or "").partition(".")[0]
        if isinstance(found, type):
            return is_library(found.__module__) or not has_own_code(found)
        return module in ("overt", "numpy", "math", "builtins")

    def mark(self, function: Function) -> None:
        """Mark the reads that may give something else later."""

        def visit(node: ast.AST) -> ast.AST:
            for n in ast.walk(node):
                if isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and self.may_change(n):
                    n.changing = True  # type: ignore[union-attr]
                    number = isinstance(self.held_now(n), NUMBERS)
                    if number or self.is_alias(n):
                        n.in_place = not number  # type: ignore[union-attr]
            return node

        if self.attributes or self.roots or self.names or self.calls or self.counted or self.lasts:
            core.map_function(function, visit)

    def reads(self, function: Function) -> bool:
        """Whether a function reads what may give something else later, methods left out."""
        nodes = core.nodes(function)
        called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        return any(
            isinstance(n, ast.Name | ast.Attribute | ast.Subscript)
            and id(n) not in called
            and self.may_change(n)
            for n in nodes
        )

    def may_change(self, node: ast.expr) -> bool:
        """Whether evaluating a name, attribute or item again may give something else."""
        if not self.aliases.isdisjoint(roots_of(node)):
            return getattr(node, "attr", "") not in STATIC_ATTRIBUTES
        if isinstance(node, ast.Name):
            return node.id in self.names or self.is_stored(node)
        if isinstance(node, ast.Attribute):
            if node.attr in STATIC_ATTRIBUTES or self.resolver.object(node) is not None:
                return False
            if self.lasts and node.attr not in PARTS_OF_ARRAYS and not self.is_module(node):
                return True
            if node.attr in self.attributes or roots_of(node) & self.roots:
                return True
            if not self.counted.isdisjoint((node.attr, *ANY_ATTRIBUTE)):
                return True
        outer = {r for r in roots_of(node) if not core.is_local(r)} - self.names
        unseen = self.calls or self.lasts
        return bool(outer & self.roots) or bool(outer) and unseen and not self.is_module(node)

    def is_stored(self, node: ast.Name) -> bool:
        """Whether a name is of an array or container outside whose elements are stored to."""
        if node.id not in self.in_place:
            return False
        return isinstance(self.resolver.object(node), np.ndarray | list | dict)

    def is_module(self, node: ast.expr) -> bool:
        """Whether an expression is a module, or a member of one."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(self.resolver.object(node), types.ModuleType)


def changes_unseen(node: ast.Call, resolver: Resolver) -> bool:
    """Whether a function of a library changes what it is given: `shuffle(xs)`, `map(f, xs)` with
    such an f.
    """
    if isinstance(node.func, ast.Name) and node.func.id.startswith("@"):
        return False
    values = [*node.args, *(k.value for k in node.keywords)]
    values += [a.args[0] for a in values if isinstance(a, ast.Call) and a.args]  # `partial(f, x)`
    return changes_given(node.func, resolver, True) or any(
        changes_given(a, resolver, False) for a in values
    )


def changes_given(node: ast.expr, resolver: Resolver, called: bool) -> bool:
    """Whether an expression is such a function, or a method that changes its object."""
    found = resolver.object(node)
    name = getattr(found, "__name__", "")
    if found is None:
        if called or not isinstance(node, ast.Attribute):
            return isinstance(node, ast.Name) and node.id == "exec" and called
        ours = resolver.is_users_method(node.attr)
        return node.attr in CHANGING | UNSEEN_METHODS and not ours
    if isinstance(found, types.MethodDescriptorType | types.WrapperDescriptorType):
        return name in CHANGING | UNSEEN_METHODS
    home = (getattr(found, "__module__", "") or "").partition(".")[0]
    if name == "shuffle" or found is exec or found is setattr and not called:
        return home not in ("overt", "jax")
    return home in CHANGING_MODULES and name in CHANGING_FUNCTIONS


def has_own_code(made: type) -> bool:
    """Whether making an object of a class runs what a user wrote."""
    members = (getattr(made, name, None) for name in ("__new__", "__init__", "__post_init__"))
    return any(
        isinstance(f, types.FunctionType) and f.__code__.co_filename != "<string>" for f in members
    )


def read_with_effects(space: Mapping[str, Any]) -> set[str]:
    """The attributes of the user's classes, read by code that changes something."""
    found: set[str] = set()
    for kind in classes_of(space):
        for name, member in vars(kind).items():
            getter = member.fget if isinstance(member, property) else None
            if getter is None and not isinstance(member, types.FunctionType | type):
                getter = vars(type(member)).get("__get__")
            if name in ANY_ATTRIBUTE:
                getter = member
            if isinstance(getter, types.FunctionType) and stores_something(getter.__code__):
                found.add(name)
    return found


def stores_something(code: types.CodeType) -> bool:
    """Whether a function stores into an object or a variable outside, as far as its code shows."""
    stored = any(i.opname in STORING for i in dis.get_instructions(code))
    return stored or not METHODS.isdisjoint(code.co_names)


def set_by_functions(space: Mapping[str, Any]) -> set[str]:
    """Globals of a module that functions in it set: a call may change them."""
    return set[str]().union(*(names_in(f.__code__)[1] for f in functions_of(space)))


def roots_of(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def outer_names(node: ast.expr) -> set[str]:
    """The outer variables and the attributes in an expression."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not core.is_local(n.id)}
    return names | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
