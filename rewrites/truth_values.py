"""Truth values of Python's, which count as numbers.

any(near) + any(far)     ->     int(any(near)) + int(any(far))

Arrays of truth values, which they are where only the running program knows them, are combined by
`or` instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Function

# Operators that take truth values as numbers.
NUMERIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def truths_counted(function: Function, resolve: Callable[[ast.expr], Any]) -> Function:
    """The function with truth values as numbers wherever it computes with two of them."""
    if resolve(core.name("int")) is not int:
        return function
    truths = Truths(resolve)
    for s in core.walk(function.body):
        if isinstance(s, Assign) and isinstance(s.target, str) and truths.is_truth(s.value):
            truths.names.add(s.target)
    return core.map_function(function, truths.visit)


class Truths(ast.NodeTransformer):
    def __init__(self, resolve: Callable[[ast.expr], Any]) -> None:
        self.resolve = resolve
        self.names: set[str] = set()

    def is_truth(self, node: ast.expr) -> bool:
        """Whether an expression surely is a truth value of Python's."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Compare):
            return isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        if isinstance(node, ast.Call):
            return self.resolve(node.func) in (any, all, bool)
        return isinstance(node, ast.Constant) and isinstance(node.value, bool)

    def visit(self, node: ast.AST) -> Any:
        node = core.with_parts(node, self.visit)
        match node:
            case ast.BinOp(left, op, right) if isinstance(op, NUMERIC):
                if self.is_truth(left) and self.is_truth(right):
                    return ast.copy_location(ast.BinOp(number(left), op, number(right)), node)
            case ast.UnaryOp(ast.USub() | ast.UAdd(), operand) if self.is_truth(operand):
                return ast.copy_location(ast.UnaryOp(node.op, number(operand)), node)
        return node


def number(node: ast.expr) -> ast.expr:
    return core.call(core.name("int"), node)
