"""Functional updates: `x.at[i].set(v)` is one call with a rule while the reverse is written.

    y = x.at[i].set(v)  ->  y = set_at(x, i, v)  ->  x_bar = set_at(y_bar, i, 0)
                                                 ->  x_bar = y_bar.at[i].set(0)

`joined` makes the calls, `spelled` writes them as the user would.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from overt.rewrites import core
from overt.rewrites.storing import index_of

RULED = {"set": "@set_at", "add": "@added_at", "get": "@got_at"}  # of (x, index, value or none)


def joined(node: Any) -> Any:
    """An expression with its updates as calls."""
    return Joined().visit(copy.deepcopy(node)) if isinstance(node, ast.AST) else node


def spelled(node: Any) -> Any:
    """An expression with those calls as updates again."""
    return Spelled().visit(copy.deepcopy(node)) if isinstance(node, ast.AST) else node


class Joined(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        f = node.func
        if not (
            isinstance(f, ast.Attribute)
            and f.attr in RULED
            and isinstance(f.value, ast.Subscript)
            and isinstance(f.value.value, ast.Attribute)
            and f.value.value.attr == "at"
            and len(node.args) == (f.attr != "get")
            and (f.attr == "get" or not node.keywords)
        ):
            return node
        given = [f.value.value.value, index_of(f.value.slice), *node.args]
        call = ast.Call(core.name(RULED[f.attr]), given, node.keywords)
        return ast.copy_location(call, node)


class Spelled(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        method = next((m for m in RULED if RULED[m] == name), None)
        if method is None:
            return node
        x, index, *values = node.args
        if isinstance(index, ast.Subscript) and isinstance(index.value, ast.Name):
            index = index.slice if index.value.id == "@at" else index
        place = ast.Subscript(ast.Attribute(x, "at", ast.Load()), index, ast.Load())
        call = ast.Call(ast.Attribute(place, method, ast.Load()), values, node.keywords)
        return ast.copy_location(call, node)
