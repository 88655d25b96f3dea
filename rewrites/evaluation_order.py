"""Parts of an expression that change and read what is outside are named, in Python's order.

    return count() + x * count()              first = count()
                                      ->      second = count()
                                              return first + x * second

Flattening gives names to what has a derivative first, the rest stays where it is.
"""

from __future__ import annotations

import ast
import dis
import functools
import types
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, Function, Names, Stmt
from overt.rewrites.effects import own_calls
from overt.rewrites.held_outside import PARTS_OF_ARRAYS
from overt.rewrites.rules import Resolver
from overt.rewrites.scopes import CHANGING
from overt.runtime.ownership import is_users

STORES = frozenset("STORE_ATTR STORE_GLOBAL DELETE_ATTR DELETE_GLOBAL".split())
CHANGERS = (CHANGING - frozenset("add sort fill remove copy".split())) | frozenset(
    "setattr next __setitem__ heappush heappop".split()
)
DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
WHOLE = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.ListComp, ast.SetComp,
         ast.DictComp, ast.GeneratorExp, ast.JoinedStr)  # fmt: skip


def in_order(function: Function, resolver: Resolver, names: Names) -> Function:
    """The function with such parts of its expressions named, if it changes anything."""
    work = Ordering(resolver, names)
    if not work.changes_something(function):
        return function
    body = work.block(function.body)
    work.out, work.origin = [], function.result_origin
    result = work.visit(function.result, True)
    return replace(function, body=(*body, *work.out), result=result)


class Ordering:
    """The expressions of one function that changes what is outside."""

    def __init__(self, resolver: Resolver, names: Names) -> None:
        self.resolver, self.names = resolver, names
        self.out: list[Stmt] = []
        self.origin = core.NOWHERE

    def changes_something(self, function: Function) -> bool:
        found = [n for n in ast.walk(function.result) if isinstance(n, ast.Call)]
        for s in core.walk(function.body):
            if isinstance(s, core.Do) and isinstance(s.node, ast.Assign | ast.Delete):
                return True
            found += own_calls(s)
        return any(map(self.changes, found))

    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        for s in block:
            self.origin = s.origin
            if isinstance(s, Assign):
                s = replace(s, value=self.visit(s.value, True))
            else:
                s = core.with_blocks(s, [self.block(inner) for inner in core.blocks_of(s)])
            self.out.append(s)
        done, self.out = tuple(self.out), outer
        return done

    def visit(self, node: Any, last: bool = False) -> Any:
        """A part of an expression; one that changes or reads what is outside gets a name.

        What is read for a derivative must be what it was, when the reverse sweep asks.
        """
        if isinstance(node, ast.Starred | ast.keyword):
            return type(node)(**{**dict(ast.iter_fields(node)), "value": self.visit(node.value)})
        if not is_value(node) or not self.reads(node):
            return node
        if isinstance(node, WHOLE):
            return node if last else self.named(node)
        if isinstance(node, ast.Call) and not self.is_read(node):
            args = [self.visit(a) for a in node.args]
            keywords = [self.visit(k) for k in node.keywords]
            return ast.copy_location(ast.Call(node.func, args, keywords), node)
        display = isinstance(getattr(node, "value", None), DISPLAYS)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, *DISPLAYS)) or display:
            return core.with_parts(node, lambda n: self.visit(n) if is_value(n) else n)
        return node if last else self.named(node)

    def named(self, node: ast.expr) -> ast.expr:
        held = self.names.fresh("value")
        self.out.append(Assign(held, node, replace(self.origin, comment="", above=())))
        return core.name(held)

    # --- what changes, and what reads

    def reads(self, node: ast.AST) -> bool:
        """Whether a part reads what is outside the function, or what objects hold."""
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute) and n.attr not in PARTS_OF_ARRAYS:
                if not isinstance(self.resolver.object(n.value), types.ModuleType):
                    return True
            if isinstance(n, ast.Name) and not core.is_local(n.id) and not n.id.startswith("@"):
                found = self.resolver.object(n)
                if found is None or is_data(found) or is_users(found):
                    return True
        return False

    def is_read(self, call: ast.Call) -> bool:
        """Whether a call itself reads what is outside, rather than its arguments."""
        f = call.func
        if isinstance(f, ast.Attribute):
            if not isinstance(self.resolver.object(f.value), types.ModuleType):
                return True
        elif core.is_local(getattr(f, "id", "")) or self.reads(f):
            return True
        places = ast.Name | ast.Attribute | ast.Subscript
        return any(isinstance(a, places) and self.reads(a) for a in call.args)

    def changes(self, call: ast.Call) -> bool:
        f = call.func
        if isinstance(f, ast.Attribute):
            if isinstance(self.resolver.object(f.value), types.ModuleType):
                return changes_outside(self.resolver.object(f))
            if f.attr in CHANGERS and "at" not in {
                n.attr for n in ast.walk(f.value) if isinstance(n, ast.Attribute)
            }:
                return True
            return self.resolver.is_users_method(f.attr) and self.method_changes(f.attr)
        if isinstance(f, ast.Name) and not core.is_local(f.id):
            return f.id in ("next", "setattr") or changes_outside(self.resolver.object(f))
        return False

    def method_changes(self, name: str) -> bool:
        space = getattr(self.resolver.namespace, "globals", {})
        kinds = {x if isinstance(x, type) else type(x) for x in list(space.values())}
        return any(
            changes_outside(vars(c).get(name))
            for kind in kinds
            if kind.__module__ not in ("builtins", "types")
            for c in kind.__mro__
        )


def is_data(x: Any) -> bool:
    """Whether a global is a value that may change, rather than a function or a module."""
    return not callable(x) and not isinstance(x, types.ModuleType)


def is_value(node: ast.AST) -> bool:
    return isinstance(node, ast.expr | ast.keyword) and not isinstance(node, ast.Slice)


def changes_outside(f: Any) -> bool:
    """Whether a function of the user's stores into objects or globals, as its code says."""
    f = getattr(f, "__func__", f)
    if not isinstance(f, types.FunctionType) or not is_users(f):
        return False
    return changes_in_code(f.__code__) or any(
        isinstance(inner := f.__globals__.get(name), types.FunctionType)
        and is_users(inner)
        and changes_in_code(inner.__code__)
        for name in f.__code__.co_names
    )


@functools.lru_cache(maxsize=4096)
def changes_in_code(code: types.CodeType) -> bool:
    if CHANGERS & set(code.co_names):
        return True
    outside = set(code.co_names) | set(code.co_freevars)
    stores = ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_DEREF")
    return any(
        i.opname in STORES or i.opname in stores and outside for i in dis.get_instructions(code)
    )
