"""Loops by NumPy's iterators over arrays, as loops over what these give.

for at, v in np.ndenumerate(a):        for at, v in zip(np.ndindex(np.shape(a)), np.ravel(a)):
for v in np.nditer(a):             ->  for v in np.ravel(a):
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from overt.rewrites.scopes import NESTED


def iterators_as_arrays(
    body: Iterable[ast.stmt], resolve: Callable[[ast.expr], Any]
) -> list[ast.stmt]:
    """The statements with these iterators written out; `resolve` tells what a name means."""
    work = Iterators(resolve)
    return [work.visit(s) for s in body]


class Iterators(ast.NodeTransformer):
    def __init__(self, resolve: Callable[[ast.expr], Any]) -> None:
        self.resolve = resolve

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, NESTED) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or len(node.args) != 1 or node.keywords:
            return node
        meant = self.resolve(node.func) if node.func.attr in ("ndenumerate", "nditer") else None
        items: ast.expr = ours("ravel", node.args[0])
        if meant is numpy.ndenumerate and isinstance(node.args[0], ast.Name):
            places = ours("ndindex", ours("shape", node.args[0]), of=node.func.value)
            items = ast.Call(ast.Name("zip", ast.Load()), [places, items], [])
        elif meant is not numpy.nditer:
            return node
        for part in ast.walk(items):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node)
        return items


def ours(name: str, *args: ast.expr, of: ast.expr | None = None) -> ast.Call:
    """A function of our NumPy, or of the module that the user names."""
    module = ast.Name("@np", ast.Load()) if of is None else of
    return ast.Call(ast.Attribute(module, name, ast.Load()), list(args), [])
