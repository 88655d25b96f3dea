"""Methods of NumPy's arrays that functions find outside, given values of the function's own.

W.T.dot(x)        np.dot(W.T, x)        where `W` is an array of NumPy's: its own methods take
edges.take(i)     np.take(edges, i)     nothing else
"""

from __future__ import annotations

import ast
from typing import Any

import numpy

from overt.rewrites import core
from overt.rewrites.rules import Resolver

# Methods that take arrays, and are functions of ours.
TAKING = frozenset("choose compress dot repeat searchsorted take".split())
# What gives another array of NumPy's.
ATTRIBUTES = frozenset("T real imag".split())
METHODS = frozenset("astype copy flatten ravel reshape squeeze swapaxes transpose".split())


def as_functions(function: core.Function, resolver: Resolver) -> core.Function:
    """The function with such methods called as the functions that they are."""

    def visit(node: Any) -> Any:
        if not isinstance(node, ast.AST):
            return node
        node = core.with_parts(node, visit)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return node
        receiver, name = node.func.value, node.func.attr
        given = [*node.args, *(k.value for k in node.keywords)]
        if name not in TAKING or not any(map(reads_locals, given)):
            return node
        if not is_numpys(receiver, resolver):
            return node
        called = ast.Attribute(core.name("@np"), name, ast.Load())
        return ast.copy_location(ast.Call(called, [receiver, *node.args], node.keywords), node)

    return core.map_function(function, visit)


def reads_locals(node: ast.expr) -> bool:
    return any(map(core.is_local, core.reads(node)))


def is_numpys(node: ast.expr, resolver: Resolver) -> bool:
    """Whether an expression surely gives an array of NumPy's that is not the function's own."""
    if isinstance(node, ast.Call):
        f = node.func
        return isinstance(f, ast.Attribute) and f.attr in METHODS and is_numpys(f.value, resolver)
    if isinstance(node, ast.Subscript):
        return not reads_locals(node.slice) and is_numpys(node.value, resolver)
    if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
        return is_numpys(node.value, resolver)
    return type(held(node, resolver)) is numpy.ndarray


def held(node: ast.expr, resolver: Resolver) -> Any:
    """What a name or an attribute of an object outside stands for now; None if that is not sure."""
    found = resolver.object(node)
    if found is None and isinstance(node, ast.Attribute):
        owner = held(node.value, resolver)
        return getattr(owner, "__dict__", {}).get(node.attr)
    return found
