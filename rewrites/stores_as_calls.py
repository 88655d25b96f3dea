"""Stores that are written as calls of functions, as stores.

operator.setitem(a, i, v)     ->   a[i] = v
a.__setitem__(i, v)           ->   a[i] = v
list.append(xs, v)            ->   xs.append(v)
dict.__delitem__(d, k)        ->   del d[k]
"""

from __future__ import annotations

import ast
import collections
import copy
import operator
import types
from collections.abc import Callable
from typing import Any

from overt.rewrites.scopes import CHANGING, NESTED

CONTAINERS = (list, dict, set, bytearray, collections.deque, collections.OrderedDict)
FUNCTIONS: dict[Any, str] = {operator.setitem: "__setitem__", operator.delitem: "__delitem__"}
ITEMS = ("__setitem__", "__delitem__")


def calls_as_stores(
    body: list[ast.stmt], local: set[str], resolve: Callable[[ast.expr], Any],
    has_method: Callable[[str], bool],
) -> list[ast.stmt]:  # fmt: skip
    """The statements of a function with such calls as stores; `local` are its own names."""
    work = AsStores(local, resolve, has_method)
    return [work.visit(copy.deepcopy(s)) if work.is_needed(s) else s for s in body]


class AsStores(ast.NodeTransformer):
    def __init__(
        self, local: set[str], resolve: Callable[[ast.expr], Any], has_method: Callable[[str], bool]
    ) -> None:
        self.local, self.resolve, self.has_method = local, resolve, has_method

    def is_needed(self, s: ast.stmt) -> bool:
        calls = [n for n in ast.walk(s) if isinstance(n, ast.Call)]
        return not isinstance(s, NESTED) and any(self.method(n) for n in calls)

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

    def visit_Expr(self, s: ast.Expr) -> ast.stmt:
        self.generic_visit(s)
        call = s.value
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
