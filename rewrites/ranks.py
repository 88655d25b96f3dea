"""Ranks: how many axes an array certainly has, so that its items are known to be numbers.

table = np.zeros((rows, 4))      # two axes
table[i - 1, j]                  # a number, where i and j are counted by loops
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from overt.rewrites.scopes import SET_ITEM

if TYPE_CHECKING:
    from overt.rewrites.shapes import Shapes

FILLED = ("zeros", "ones", "full", "empty")
LIKE = ("zeros_like", "ones_like", "full_like", "empty_like", "copy")
MODULES = ("numpy", "overt.runtime.numpy")


def rank_of(node: ast.expr, shapes: Shapes) -> int | None:
    """The number of axes of an array; None where it is not known, or may be no array."""
    if isinstance(node, ast.Name):
        return shapes.ranks.get(node.id)
    if isinstance(node, ast.Subscript):
        return rank_of_item(node, shapes)
    if isinstance(node, ast.Call):
        return rank_of_call(node, shapes)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        left, right = rank_of(node.left, shapes), rank_of(node.right, shapes)
        if left is not None and (left == right or is_scalar(node.right, shapes)):
            return left
        return right if is_scalar(node.left, shapes) else None
    return None


def rank_of_call(node: ast.Call, shapes: Shapes) -> int | None:
    if isinstance(node.func, ast.Name) and node.func.id in SET_ITEM and node.args:
        return rank_of(node.args[0], shapes)
    fn = shapes.resolver.object(node.func)
    if fn is None or not node.args or not (getattr(fn, "__module__", "") or "").startswith(MODULES):
        return None
    name, first = getattr(fn, "__name__", ""), node.args[0]
    if name in LIKE:
        return rank_of(first, shapes)
    if name in FILLED:
        if isinstance(first, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in first.elts):
            return len(first.elts)
        return 1 if is_count(first, shapes) else None
    if name in ("array", "stack") and isinstance(first, ast.List) and len(node.args) == 1:
        if first.elts and all(is_scalar(e, shapes) for e in first.elts) and not node.keywords:
            return 1
    return None


def rank_of_item(node: ast.Subscript, shapes: Shapes) -> int | None:
    """`table[i, :]` has an axis less than `table`."""
    rank = rank_of(node.value, shapes)
    index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if rank is None or not all(isinstance(e, ast.Slice) or is_count(e, shapes) for e in index):
        return None
    return rank - sum(not isinstance(e, ast.Slice) for e in index)


def is_scalar(node: ast.expr, shapes: Shapes) -> bool:
    return shapes.of(node) == frozenset()


def is_count(node: ast.expr, shapes: Shapes) -> bool:
    """Whether an expression is for certain one whole number."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_count(node.operand, shapes)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return is_count(node.left, shapes) and is_count(node.right, shapes)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "len"
    return isinstance(node, ast.Name) and node.id in shapes.counts
