"""Generators that come to an end, as functions that return a list of what they yield.

    def powers(x, n):                         def powers(x, n):
        for k in range(n):                        items = []
            yield x**k               ->           for k in range(n):
                                                      items.append(x**k)
                                                  return items

Values are what counts here, not when they are computed.  A generator that has no end of its own,
that is sent values, or that changes what others see between its steps, stays what it is.
"""

from __future__ import annotations

import ast
import copy

from overt.rewrites.foreign import changes_others
from overt.rewrites.scopes import NESTED, own_nodes


def listed(node: ast.FunctionDef, taken: set[str]) -> ast.FunctionDef:
    """A generator as a function that returns a list; any other function as it is."""
    inside = [n for s in node.body for n in own_nodes(s) if not isinstance(s, NESTED)]
    yields = [n for n in inside if isinstance(n, ast.Yield | ast.YieldFrom)]
    if not yields or node.decorator_list or not ends(node.body):
        return node
    statements = {id(n.value) for n in inside if isinstance(n, ast.Expr)}
    returns = [n for n in inside if isinstance(n, ast.Return) and n.value is not None]
    outside = [n for n in inside if isinstance(n, ast.Global | ast.Nonlocal | ast.Try)]
    if returns or outside or any(id(n) not in statements for n in yields):
        return node
    if getattr(node, "interleaved", False) or changes_others(node):
        return node
    name = "items"
    while name in taken:
        name += "_"
    work = Listed(name)
    made = copy.copy(node)
    first = ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load()))
    last = ast.Return(ast.Name(name, ast.Load()))
    body = [s if isinstance(s, NESTED) else work.visit(copy.deepcopy(s)) for s in node.body]
    made.body = [ast.copy_location(first, node.body[0]), *body, ast.copy_location(last, body[-1])]
    return ast.fix_missing_locations(made)


def ends(body: list[ast.stmt]) -> bool:
    """Whether every loop stops by itself: none is `while True` without a way out."""
    for s in body:
        for n in own_nodes(s) if not isinstance(s, NESTED) else ():
            if isinstance(n, ast.While) and isinstance(n.test, ast.Constant) and n.test.value:
                inside = [m for inner in n.body for m in own_nodes(inner)]
                if not any(isinstance(m, ast.Break | ast.Return) for m in inside):
                    return False
    return True


class Listed(ast.NodeTransformer):
    """Yields as additions to a list."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.copy_location(ast.Return(ast.Name(self.name, ast.Load())), node)

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        value = node.value
        if not isinstance(value, ast.Yield | ast.YieldFrom):
            return node
        method = "append" if isinstance(value, ast.Yield) else "extend"
        item = value.value if value.value is not None else ast.Constant(None)
        place = ast.Attribute(ast.Name(self.name, ast.Load()), method, ast.Load())
        return ast.copy_location(ast.Expr(ast.Call(place, [item], [])), node)
