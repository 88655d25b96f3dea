"""Method calls: those of one object in one statement, written before it or in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from overt.rewrites.exits import assign
from overt.rewrites.method_texts import SIMPLE, Kind, Stmts, Unfollowed, fits, formula
from overt.rewrites.scopes import CHANGING

if TYPE_CHECKING:
    from overt.rewrites.object_fields import LocalObject


class Calls(ast.NodeTransformer):
    """The calls of an object's methods in one statement, written out before it or in place."""

    def __init__(self, work: LocalObject, at: ast.stmt) -> None:
        self.work, self.at = work, at
        self.before: Stmts = []
        self.may_move = True
        self.seen = False  # whether something was evaluated that a method may change
        if any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(at)):
            self.may_move = False

    def whole(self, value: ast.expr) -> ast.expr:
        """All of what a statement evaluates: a result needs no name of its own."""
        method, bound = self.method(value)
        if method is None:
            return self.visit(value)
        return self.result(value, method, bound, named=False)

    def method(self, node: ast.AST) -> tuple[ast.FunctionDef | None, bool]:
        """The method that an expression calls, and whether it is given the object."""
        kind, name = self.work.kind, self.work.name
        if isinstance(node, ast.Call):
            f = node.func
            if isinstance(f, ast.Name) and f.id == name:
                return kind.methods.get("__call__"), True
            if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name):
                if f.value.id == name:
                    found = kind.methods.get(f.attr)
                    return (found, True) if found else (kind.statics.get(f.attr), False)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id == name:
                return kind.getters.get(node.attr), True
        return None, False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        method, bound = self.method(node)
        if method is not None:
            return self.result(node, method, bound, named=True)
        self.generic_visit(node)
        self.seen = True
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        method, bound = self.method(node)
        if method is not None:
            return self.result(node, method, bound, named=True)
        self.generic_visit(node)
        self.seen = self.seen or self.work.is_used(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        self.seen = True
        return node

    def result(self, node: ast.expr, method: ast.FunctionDef, bound: bool, named: bool) -> ast.expr:
        work, before, moves = self.work, self.seen, self.may_move
        itself = work.name if bound else ""
        work.again = True
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        for i, a in enumerate(call.args):
            call.args[i] = self.visit(a)
        for k in call.keywords:
            k.value = self.visit(k.value)
        values = work.values(method, call, itself)
        if fits(formula(method), values):
            self.seen = True
            return work.in_place(method, values)
        if not moves or before and (changes(method, work.kind) or has_calls(values)):
            raise Unfollowed
        body, value = work.written_out(method, call, self.at, itself)
        self.before += body
        if named and not isinstance(value, SIMPLE):
            name = work.new(method.name.strip("_") if method.name != "__call__" else "result")
            self.before.append(ast.copy_location(assign(name, value, self.at), self.at))
            value = ast.Name(name, ast.Load())
        self.seen = True
        return ast.copy_location(value, node)

    def parts(self, items: list[ast.expr], first: int = 0) -> None:
        """Expressions of which only the first ones are evaluated for sure."""
        for i, item in enumerate(items):
            moves, self.may_move = self.may_move, self.may_move and i < first
            items[i] = self.visit(item)
            self.may_move = moves

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.parts(node.values, 1)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left = self.visit(node.left)
        self.parts(node.comparators, 1)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.visit(node.test)
        sides = [node.body, node.orelse]
        self.parts(sides)
        node.body, node.orelse = sides
        return node

    def comprehension(self, node: ast.AST) -> ast.AST:
        first = node.generators[0]  # type: ignore[attr-defined]
        first.iter = self.visit(first.iter)
        moves, self.may_move = self.may_move, False
        iterated, first.iter = first.iter, ast.Constant(None)
        self.generic_visit(node)
        first.iter, self.may_move = iterated, moves
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension


def has_calls(values: dict[str, ast.expr]) -> bool:
    return any(isinstance(n, ast.Call) for v in values.values() for n in ast.walk(v))


def changes(method: ast.FunctionDef, kind: Kind, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a method may change the object or have another effect."""
    for n in ast.walk(method):
        if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load):
            return True
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            return True
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING or isinstance(n.func.value, ast.Call):
                return True
            other = kind.methods.get(n.func.attr)
            if other is not None and n.func.attr not in seen:
                if changes(other, kind, seen | {n.func.attr}):
                    return True
    return False
