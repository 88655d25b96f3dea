"""Helpers that change containers of others: they change them where these stand.

    t = push(G[0], x)                t = push_in_place(G[0], x)

A helper whose argument is a container of the function's own gives it back changed (`outputs`). One
that others hold keeps its identity: what the helper returns, or stores elsewhere, may be the
container itself.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from overt.rewrites.scopes import NESTED, own_nodes
from overt.rewrites.viewed import helper, loaded

Places = frozenset[int]
Known = dict[tuple[str, Places], str]


class InPlace(ast.NodeTransformer):
    """The calls of one function; `changed` tells at which places a call is given what it changes
    of others', `named` what the helper is called that does so where it stands."""

    def __init__(
        self, changed: Callable[[ast.Call], Places], named: Callable[[str, Places], str]
    ) -> None:
        self.changed, self.named = changed, named

    def visit_Call(self, node: ast.Call) -> ast.Call:
        node, places = copy.copy(node), self.changed(node)
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and places:
            name = self.named(node.func.id, places)
            node.func = ast.copy_location(loaded(name), node.func)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def in_head(self, s: ast.stmt) -> ast.stmt:
        """A statement with these calls in it, but for those in its blocks."""
        if isinstance(s, NESTED) or not any(isinstance(n, ast.Call) for n in own_nodes(s)):
            return s
        s = copy.copy(s)
        for field, value in list(ast.iter_fields(s)):
            if isinstance(value, ast.expr):
                setattr(s, field, self.visit(value))
            elif field == "targets":
                setattr(s, field, list(map(self.visit, value)))
        return s


def copy_in_place(
    node: ast.FunctionDef, name: str, parameters: list[str], known: Known
) -> ast.FunctionDef:
    """A helper that changes these parameters where they stand, once it is sure that they can be."""
    made = copy.deepcopy(node)
    made.name = name
    made.outside = frozenset(parameters)  # type: ignore[attr-defined]
    made.in_place = known  # type: ignore[attr-defined]
    first = 1 if made.body and is_text(made.body[0]) and len(made.body) > 1 else 0
    checks = [ast.Expr(helper("@containers_only", loaded(p))) for p in parameters]
    for check in checks:
        for n in ast.walk(check):
            ast.copy_location(n, made.body[first])
    made.body[first:first] = checks
    return made


def is_text(s: ast.stmt) -> bool:
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)


def with_copies(
    body: list[ast.stmt], copies: dict[str, list[ast.FunctionDef]]
) -> Iterator[ast.stmt]:
    """The statements, with each such copy after the function that it is one of."""

    class Adds(ast.NodeTransformer):
        def visit_FunctionDef(self, s: ast.FunctionDef) -> list[ast.stmt]:
            return [s, *copies.get(s.name, [])]

    for s in body:
        made = Adds().visit(s) if copies else s
        yield from made if isinstance(made, list) else [made]
