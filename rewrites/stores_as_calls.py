"""Stores that are written as calls of functions, as stores.

operator.setitem(a, i, v)     ->   a[i] = v
a.__setitem__(i, v)           ->   a[i] = v
list.append(xs, v)            ->   xs.append(v)
dict.__delitem__(d, k)        ->   del d[k]
d.setdefault(k, []).append(v) ->   if k not in d: d[k] = []
                                   d[k].append(v)
"""

from __future__ import annotations

import ast
import collections
import copy
import operator
import types
from collections.abc import Callable
from typing import Any

from overt.rewrites.scopes import CHANGING, NESTED, given_only

CONTAINERS = (list, dict, set, bytearray, collections.deque, collections.OrderedDict)
FUNCTIONS: dict[Any, str] = {operator.setitem: "__setitem__", operator.delitem: "__delitem__"}
PLAIN = (ast.Name, ast.Constant, ast.Tuple, ast.Load)  # what may be evaluated twice
ITEMS = ("__setitem__", "__delitem__")


def calls_as_stores(
    body: list[ast.stmt], local: set[str], resolve: Callable[[ast.expr], Any],
    has_method: Callable[[str], bool],
) -> list[ast.stmt]:  # fmt: skip
    """The statements of a function with such calls as stores; `local` are its own names."""
    work = AsStores(local, resolve, has_method)
    work.dicts = given_only([n for s in body for n in ast.walk(s)], is_dict, False) & local
    done: list[ast.stmt] = []
    for s in body:
        made = work.visit(copy.deepcopy(s)) if work.is_needed(s) else s
        done += made if isinstance(made, list) else [made]
    return done


class AsStores(ast.NodeTransformer):
    def __init__(
        self, local: set[str], resolve: Callable[[ast.expr], Any], has_method: Callable[[str], bool]
    ) -> None:
        self.local, self.resolve, self.has_method = local, resolve, has_method
        self.dicts: set[str] = set()  # names of dictionaries of the function's own

    def is_needed(self, s: ast.stmt) -> bool:
        calls = [n for n in ast.walk(s) if isinstance(n, ast.Call)]
        return not isinstance(s, NESTED) and any(
            self.method(n) or isinstance(n.func, ast.Attribute) and n.func.attr == "setdefault"
            for n in calls
        )

    def method(self, node: ast.Call) -> str:
        """The method of a container that a call runs with the container as its first argument."""
        f = node.func
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return ""
        if isinstance(f, ast.Attribute) and f.attr in ITEMS and self.is_value(f.value):
            return f.attr if len(node.args) == 1 + (f.attr == "__setitem__") else ""
        if any(isinstance(n, ast.Name) and n.id in self.local for n in ast.walk(f)):
            return ""
        found = self.resolve(f)
        name = next((n for g, n in FUNCTIONS.items() if g is found), "")
        descriptor = types.MethodDescriptorType | types.WrapperDescriptorType
        if isinstance(found, descriptor) and found.__objclass__ in CONTAINERS:
            known = found.__name__ in CHANGING or found.__name__ in ITEMS
            name = found.__name__ if known and not self.has_method(found.__name__) else ""
        return name if node.args else ""

    def is_value(self, node: ast.expr) -> bool:
        """Whether an expression is a variable, or a part of one: no class, no `super()`."""
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.local

    def with_default(self, call: ast.expr) -> tuple[ast.Subscript, ast.expr] | None:
        """The item and the default value of `d.setdefault(k, [])`, if both can be written apart."""
        if not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
            return None
        f, (key, default) = call.func, call.args
        if not isinstance(f, ast.Attribute) or f.attr != "setdefault":
            return None
        if not isinstance(f.value, ast.Name) or f.value.id not in self.dicts:
            return None
        if not all(isinstance(n, PLAIN) for n in ast.walk(key)) or not is_new(default):
            return None
        return ast.Subscript(f.value, key, ast.Load()), default

    def set_before(self, s: ast.Expr, item: ast.Subscript, default: ast.expr) -> list[ast.stmt]:
        """The item is set where it is missing; what is done with it follows."""
        place = ast.Subscript(item.value, item.slice, ast.Store())
        absent = ast.Compare(item.slice, [ast.NotIn()], [item.value])
        out: list[ast.stmt] = [ast.If(absent, [ast.Assign([place], default)], [])]
        call = s.value
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr != "setdefault" or not isinstance(call.func.value, ast.Name):
            method = ast.Attribute(item, call.func.attr, ast.Load())
            out.append(ast.Expr(ast.Call(method, call.args, call.keywords)))
        return [ast.fix_missing_locations(ast.copy_location(copy.deepcopy(n), s)) for n in out]

    def visit_Expr(self, s: ast.Expr) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(s)
        call = s.value
        whole = self.with_default(call)
        f = call.func if isinstance(call, ast.Call) else None
        part = self.with_default(f.value) if isinstance(f, ast.Attribute) else None
        if whole or part:
            return self.set_before(s, *(whole or part))  # type: ignore[misc]
        if not isinstance(call, ast.Call) or self.method(call) not in ITEMS:
            return s
        own = isinstance(call.func, ast.Attribute) and call.func.attr in ITEMS
        own = own and self.is_value(call.func.value)  # type: ignore[attr-defined]
        holder, index, *values = [call.func.value, *call.args] if own else call.args  # type: ignore
        place = ast.Subscript(holder, index, ast.Store() if values else ast.Del())
        made: ast.stmt = ast.Assign([place], values[0]) if values else ast.Delete([place])
        return ast.fix_missing_locations(ast.copy_location(made, s))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = self.method(node)
        if not name or name in ITEMS:
            return node
        holder, *values = node.args
        method = ast.copy_location(ast.Attribute(holder, name, ast.Load()), node)
        return ast.copy_location(ast.Call(method, values, []), node)


def is_dict(value: ast.expr, names: set[str]) -> bool:
    """Whether an expression gives a new dictionary, and one of Python's own."""
    return isinstance(value, ast.Dict | ast.DictComp)


def is_new(value: ast.expr) -> bool:
    """Whether a value may be made only where it is needed: an empty container, a number."""
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.values
    return isinstance(value, ast.Constant)
