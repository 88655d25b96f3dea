"""NumPy and ours under one name: where the user's name of NumPy may mean ours in generated text."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import overt.runtime.numpy as ours
from overt.rewrites import core


def asked_of(functions: Iterable[core.Function], alias: str) -> set[str]:
    """The attributes that functions take from a module, by the name it has there."""
    found: set[str] = set()

    def visit(node: Any) -> Any:
        for part in ast.walk(node) if node is not None else ():
            if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == alias:
                found.add(part.attr)
        return node

    for function in functions:
        core.map_function(function, visit)
    return found


def may_be_ours(functions: Iterable[core.Function], alias: str) -> bool:
    """Whether our NumPy has all that functions ask of NumPy."""
    return all(hasattr(ours, name) for name in asked_of(functions, alias))


def with_ours(function: core.Function, alias: str, names: frozenset[str]) -> core.Function:
    """The function with some names of NumPy taken from ours, where it has them."""

    def visit(node: Any) -> Any:
        if isinstance(node, ast.Attribute) and node.attr in names and hasattr(ours, node.attr):
            if getattr(node.value, "id", "") == alias:
                return ast.copy_location(ast.Attribute(core.name("@np"), node.attr, node.ctx), node)
        return core.with_parts(node, visit) if isinstance(node, ast.AST) else node

    return core.map_function(function, visit)
