"""A recursion whose last act is to call itself is a loop.

def halved(x):                        def halved(x):
    if x < 1.0:                           while not x < 1.0:
        return x                 ->           x = x / 2.0
    return halved(x / 2.0)                return x

Only where numbers decide: a recursion over trees or lists stays one, which Python runs.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable
from typing import Any

from overt.rewrites.exits import assign, negated
from overt.rewrites.scopes import own_nodes

# What conditions and arguments of numbers consist of.
ARITHMETIC = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Call,
    ast.Attribute, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context,
)  # fmt: skip
ORDERS = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq
Stmts = list[ast.stmt]


def tail_calls_as_loop(
    node: ast.FunctionDef, named: Callable[[ast.expr], Any], nested: bool = False
) -> ast.FunctionDef:
    """The function with a loop in place of the calls of itself that it returns."""
    calls = [n for s in node.body for n in ast.walk(s) if calls_itself(n, node)]
    if not calls or not (nested or is_itself(named(ast.Name(node.name, ast.Load())), node)):
        return node
    names = [n for s in node.body for n in own_nodes(s) if isinstance(n, ast.Name)]
    if sum(n.id == node.name for n in names) != len(calls):
        return node
    a = node.args
    if a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs or node.decorator_list and nested:
        return node
    body, doc = node.body, []
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body, doc = body[1:], [body[0]]
    made = Loop(node).loop(body)
    if made is None:
        return node
    new = copy.copy(node)
    new.body = [*doc, *made]
    return new


def calls_itself(n: ast.AST, node: ast.FunctionDef) -> bool:
    return isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == node.name


def is_itself(found: Any, node: ast.FunctionDef) -> bool:
    """Whether a function's name means the function itself."""
    if type(found).__name__ == "Jitted":
        found = found.__wrapped__
    if not isinstance(found, types.FunctionType) or hasattr(found, "__wrapped__"):
        return False
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return found.__name__ == node.name and found.__code__.co_firstlineno == first


class Loop:
    """Makes the loop; `None` where the recursion is of another form."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node
        self.params = [p.arg for p in node.args.args]
        defaults = node.args.defaults
        self.defaults = dict(zip(self.params[::-1], defaults[::-1], strict=False))

    def loop(self, body: Stmts) -> Stmts | None:
        """The loop for `if test: return value`, statements, `return itself(...)`."""
        sides = self.sides(body)
        if sides is None:
            return None
        test, rest, call, last = sides
        if not is_numeric(test) or not any(
            isinstance(n, ast.Compare) and isinstance(n.ops[0], ORDERS) for n in ast.walk(test)
        ):
            return None
        if not all(isinstance(s, ast.Assign | ast.AugAssign) for s in rest):
            return None
        if any(calls_itself(n, self.node) for s in (*rest, last) for n in ast.walk(s)):
            return None
        if any(calls_itself(n, self.node) for a in call.args for n in ast.walk(a)):
            return None
        step = self.step(call)
        if step is None or not any(
            isinstance(n, ast.BinOp) for a in call.args for n in ast.walk(a)
        ):
            return None
        loop = ast.While(negated(test), [*rest, *step], [])
        return [ast.copy_location(loop, body[0]), last]

    def sides(self, body: Stmts) -> tuple[ast.expr, Stmts, ast.Call, ast.Return] | None:
        """The condition that ends the recursion, what comes before it goes on, how, and its end."""
        first = body[0]
        if len(body) == 1 and isinstance(first, ast.Return) and isinstance(first.value, ast.IfExp):
            choice = first.value
            ends, goes = (
                [ast.copy_location(ast.Return(v), first)] for v in (choice.body, choice.orelse)
            )
            return self.ordered(choice.test, [*ends], [*goes])
        if not isinstance(first, ast.If):
            return None
        if first.orelse and len(body) == 1:
            return self.ordered(first.test, first.body, first.orelse)
        return None if first.orelse else self.ordered(first.test, first.body, body[1:])

    def ordered(
        self, test: ast.expr, one: Stmts, other: Stmts
    ) -> tuple[ast.expr, Stmts, ast.Call, ast.Return] | None:
        if not one or not other:
            return None
        if self.call_at_end(one) is not None and len(other) == 1:
            test, one, other = negated(test), other, one
        call, last = self.call_at_end(other), one[0]
        if call is None or len(one) != 1 or not isinstance(last, ast.Return):
            return None
        return test, other[:-1], call, last

    def call_at_end(self, body: Stmts) -> ast.Call | None:
        value = body[-1].value if isinstance(body[-1], ast.Return) else None
        return value if isinstance(value, ast.Call) and calls_itself(value, self.node) else None

    def step(self, call: ast.Call) -> Stmts | None:
        """The parameters as the next call gets them."""
        given = dict(zip(self.params, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        if len(call.args) > len(self.params) or not set(given) <= set(self.params):
            return None
        changed: list[tuple[str, ast.expr]] = []
        for p in self.params:
            value = given.get(p, self.defaults.get(p))
            if value is None or not (p in given or isinstance(value, ast.Constant)):
                return None
            if not is_numeric(value):
                return None
            if not (isinstance(value, ast.Name) and value.id == p):
                changed.append((p, value))
        if len(changed) == 1:
            return [assign(changed[0][0], changed[0][1], call)]
        names: list[ast.expr] = [ast.Name(p, ast.Store()) for p, _ in changed]
        values = ast.Tuple([v for _, v in changed], ast.Load())
        return [ast.copy_location(ast.Assign([ast.Tuple(names, ast.Store())], values), call)]


def is_numeric(node: ast.expr) -> bool:
    """Whether an expression computes with numbers only, as far as its text shows."""
    for n in ast.walk(node):
        if not isinstance(n, ARITHMETIC) or isinstance(n, ast.Call) and n.keywords:
            return False
        if isinstance(n, ast.Compare) and not all(isinstance(op, ORDERS) for op in n.ops):
            return False
        if isinstance(n, ast.Constant) and not isinstance(n.value, int | float | complex):
            return False
        if (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and n.func.id in ("len", "next")
        ):
            return False
    called = {id(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
    held = [n for n in ast.walk(node) if isinstance(n, ast.Attribute)]
    return all(id(n) in called and isinstance(n.value, ast.Name) for n in held)
