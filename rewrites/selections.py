"""Names of what a mask selects, whose length only the running program may know.

w = x[x > 0]            # w and np.nonzero(x > 0)[0] are such values
return len(w)      ->   return length(w)
"""

from __future__ import annotations

import ast

from overt.rewrites import core
from overt.rewrites.core import Assign

PLACES = frozenset("nonzero flatnonzero argwhere where unique compress extract".split())


def selections(block: core.Block) -> tuple[set[str], set[str]]:
    """Names that hold a selection, and names of masks, as far as the text shows it."""
    masks: set[str] = set()
    found: set[str] = set()
    for s in core.walk(block):
        if isinstance(s, Assign):
            target = s.target if isinstance(s.target, str) else s.target[0]
            if isinstance(s.target, str) and is_mask(s.value, masks):
                masks.add(s.target)
            elif isinstance(target, str) and is_selection(s.value, found, masks):
                found.add(target)
    return found, masks


def is_mask(node: ast.expr, masks: set[str]) -> bool:
    """Whether an expression surely is a boolean (array), by its operators."""
    if isinstance(node, ast.Name):
        return node.id in masks
    if isinstance(node, ast.Compare):
        return not any(isinstance(o, ast.Is | ast.IsNot | ast.In | ast.NotIn) for o in node.ops)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and is_mask(node.operand, masks)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor):
        return is_mask(node.left, masks) or is_mask(node.right, masks)
    f = node.func if isinstance(node, ast.Call) else None
    return isinstance(f, ast.Attribute) and f.attr.startswith(("isnan", "isfinite", "logical_"))


def is_selection(node: ast.expr, names: set[str], masks: set[str]) -> bool:
    """Whether an expression is `x[mask]`, places from `np.nonzero`, or computed from these."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Subscript):
        if is_mask(node.slice, masks) or is_selection(node.slice, names, masks):
            return True
        whole = isinstance(node.value, ast.Call) or isinstance(node.slice, ast.Slice)
        return whole and is_selection(node.value, names, masks)
    if isinstance(node, ast.BinOp):
        return any(is_selection(n, names, masks) for n in (node.left, node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in PLACES and len(node.args) < 3 and not node.keywords
    return False
