"""A container chosen by a condition and changed: the condition goes around the change.

(low if x < 1 else high).append(x)    ->    if x < 1:
                                                low.append(x)
                                            else:
                                                high.append(x)
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from overt.rewrites.scopes import CHANGING


def choices_outside(s: ast.stmt) -> ast.stmt:
    """The statement with each such change made a branch."""
    return Receivers().visit(s)


class Receivers(ast.NodeTransformer):
    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        f = call.func if isinstance(call, ast.Call) else None
        if not isinstance(f, ast.Attribute) or f.attr not in CHANGING:
            return node
        if not isinstance(f.value, ast.IfExp) or not isinstance(call, ast.Call):
            return node
        chosen = f.value
        sides = []
        for receiver in (chosen.body, chosen.orelse):
            method = ast.copy_location(ast.Attribute(receiver, f.attr, f.ctx), f)
            changed = ast.copy_location(ast.Call(method, call.args, call.keywords), call)
            sides.append(self.visit(ast.copy_location(ast.Expr(changed), node)))
        return ast.copy_location(ast.If(chosen.test, sides[:1], sides[1:]), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        return self.stored(node, target, lambda t: ast.Assign([t], node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Subscript):
            return node
        return self.stored(node, node.target, lambda t: ast.AugAssign(t, node.op, node.value))

    def stored(
        self, node: ast.stmt, target: ast.Subscript, made: Callable[[ast.Subscript], ast.stmt]
    ) -> ast.stmt:
        chosen = target.value
        if not isinstance(chosen, ast.IfExp):
            return node
        sides = []
        for holder in (chosen.body, chosen.orelse):
            place = ast.copy_location(ast.Subscript(holder, target.slice, target.ctx), target)
            sides.append(self.visit(ast.copy_location(made(place), node)))
        return ast.copy_location(ast.If(chosen.test, sides[:1], sides[1:]), node)
