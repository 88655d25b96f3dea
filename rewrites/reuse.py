"""Reuse: what a pass wrote is not computed again where a name for it is at hand.

total_squared = total**2              total_squared = total**2
total_bar = g / total**2       ->     total_bar = g / total_squared
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, Function, If, Stmt, While, With
from overt.rewrites.rules import Resolver
from overt.runtime.primitive import rule_of


def reused(function: Function, resolver: Resolver) -> Function:
    """The function with repeated expressions by name; the user's own statements stay."""
    return replace(function, body=Reuse(resolver).block(function.body, {}))


class Reuse:
    """Walks a function from its first statement to its last."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.known: dict[str, str] = {}

    def block(self, block: Block, known: dict[str, str]) -> Block:
        """The statements; `known` are the names of the values that are computed before them."""
        known = dict(known)
        done: list[Stmt] = []
        for s in block:
            self.known = known
            s = self.statement(s, known)
            self.known = known
            done.append(s)
            if isinstance(s, Assign) and isinstance(s.target, str) and core.is_local(s.target):
                if self.is_computed(s.value) and any(map(core.is_local, core.reads(s.value))):
                    known.setdefault(ast.dump(s.value), s.target)
        return tuple(done)

    def statement(self, s: Stmt, known: dict[str, str]) -> Stmt:
        if isinstance(s, Assign):
            if core.is_part(s.origin):  # the same part twice
                name = known.get(ast.dump(s.value)) if self.is_computed(s.value) else None
                return s if name is None else replace(s, value=core.name(name))
            return s if s.origin.line else replace(s, value=self.visit(s.value))
        if isinstance(s, If):
            then, orelse = self.block(s.then, known), self.block(s.orelse, known)
            return replace(s, then=then, orelse=orelse)
        if isinstance(s, For | While | With):
            return replace(s, body=self.block(s.body, known))
        return s

    def visit(self, node: Any) -> Any:
        """The expression with what is known by name."""
        if isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.DictComp):
            return node
        if self.is_computed(node):
            name = self.known.get(ast.dump(node))
            if name is not None:
                return core.name(name)
        if isinstance(node, ast.Name | ast.Constant):
            return node
        return core.with_parts(node, self.visit)

    def is_computed(self, node: ast.AST) -> bool:
        """Whether an expression is arithmetic or a function of NumPy's, of local values."""
        if getattr(node, "changing", False):
            return False
        if isinstance(node, ast.BinOp):
            return all(map(self.is_operand, (node.left, node.right)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            fn = self.resolver.object(node.func)
            given = [*node.args, *(k.value for k in node.keywords)]
            return fn is not None and rule_of(fn) is not None and all(map(self.is_operand, given))
        return False

    def is_operand(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return core.is_local(node.id)
        if isinstance(node, ast.UnaryOp):
            return self.is_operand(node.operand)
        return isinstance(node, ast.Constant) or self.is_computed(node)
