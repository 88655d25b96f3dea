"""Conditions that set variables or change containers, made statements where they may be skipped.

while xs and (y := xs.pop()) > 0:        while True:
    total += y                   ->          if not (xs and (y := xs.pop()) > 0):
                                                 break
                                             total += y
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from overt.rewrites.exits import branch, contains, negated
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import CHANGING, NESTED, root_name


def loops_that_ask_inside(s: ast.stmt) -> ast.stmt:
    """The statement with each `while` whose test does more than ask made to ask in its body."""
    return Loops().visit(s)


class Loops(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    visit_Lambda = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        if not (changed_roots(node.test) or any(map(sets_variables, unsure_parts(node.test)))):
            return node
        if any(contains(b, ast.Break, ast.Continue) for b in node.orelse):
            raise Refusal(
                "the test of this `while` sets variables, and its `else` leaves another loop",
                "Write `while True:` and ask with `if`.",
                node,
            )
        stop = ast.copy_location(ast.Break(), node)
        leave = branch(negated(node.test), [*node.orelse, stop], [], node)
        return ast.copy_location(ast.While(ast.Constant(True), [leave, *node.body], []), node)


def unsure_parts(node: ast.AST) -> Iterator[ast.expr]:
    """Parts of an expression that may not be evaluated, or more than once."""
    if isinstance(node, ast.BoolOp):
        yield from node.values[1:]
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Compare):
        yield from node.comparators[1:]
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        yield node.elt
        yield from (test for g in node.generators for test in g.ifs)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, NESTED):
            yield from unsure_parts(child)


def own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """An expression's nodes, those of lambdas apart."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, NESTED):
            yield from own_parts(child)


def sets_variables(node: ast.AST) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in own_parts(node))


def changed_roots(node: ast.AST) -> set[str]:
    """Names of the containers that methods called in an expression change."""
    return {
        name
        for n in own_parts(node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CHANGING
        for name in root_name(n.func.value)
    }


def asked_for_none(node: ast.expr) -> ast.expr | None:
    """The value of which `value is None` or `value is not None` asks."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    if not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return None
    for one, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
        if isinstance(other, ast.Constant) and other.value is None:
            return one
    return None


NEUTRAL = ((sum, 0), (any, False), (all, True))  # what an item that is left out counts as


def without_filter(
    node: ast.Call, target: object, is_plain: Callable[[ast.expr], bool]
) -> ast.Call:
    """`sum(v for v in x if v > 0)` as `sum(v if v > 0 else 0 for v in x)`: as long as x is."""
    neutral = next((ast.Constant(zero) for f, zero in NEUTRAL if f is target), None)
    if neutral is None or len(node.args) != 1 or node.keywords:
        return node
    items = node.args[0]
    if not isinstance(items, ast.GeneratorExp | ast.ListComp):
        return node
    *outer, last = items.generators
    if all(map(is_plain, last.ifs)):
        return node
    test = last.ifs[0] if len(last.ifs) == 1 else ast.BoolOp(ast.And(), last.ifs)
    chosen = ast.IfExp(test, items.elt, neutral)
    every = ast.comprehension(last.target, last.iter, [], last.is_async)
    made = type(items)(chosen, [*outer, every])
    return ast.copy_location(ast.Call(node.func, [made], []), node)
