"""Pushes: in generated text a record grows by a method, in core form by a new value.

saved = Saved()                     saved = Saved()
while x > 1.0:                      while x > 1.0:
    saved.push(x)            ->         saved = saved.pushed(x)
    x = 0.5 * x                         x = 0.5 * x
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


def is_push(value: ast.expr) -> bool:
    """Whether an expression in core form is a record with one more entry."""
    f = value.func if isinstance(value, ast.Call) else None
    return isinstance(f, ast.Attribute) and f.attr == "pushed"


def push(saved: ast.expr, fields: list[ast.expr]) -> ast.Call:
    """The record with one more entry, of these fields."""
    return ast.Call(ast.Attribute(saved, "pushed", ast.Load()), fields, [])


def pushes_as_values(node: Node, is_saved: Callable[[ast.expr], bool]) -> Node:
    """The function with every push to a record of its own as an assignment.

    `is_saved` says whether a called name is the class of records.
    """
    records = {
        s.targets[0].id
        for s in ast.walk(node)
        if isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and isinstance(s.value, ast.Call)
        and is_saved(s.value.func)
    }
    return Pushes(records).visit(node) if records else node


class Pushes(ast.NodeTransformer):
    def __init__(self, records: set[str]) -> None:
        self.records = records

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return node
        holder = call.func.value
        if call.func.attr != "push" or not isinstance(holder, ast.Name):
            return node
        if holder.id not in self.records:
            return node
        grown = push(holder, call.args)
        target = ast.Name(holder.id, ast.Store())
        return ast.copy_location(ast.Assign([target], ast.copy_location(grown, call)), node)
