"""Values that a selection has set to zero: cotangents above all, and what they are factors of.

product_bar = np.where(mask, 1.0, 0)    product_bar is one
product = product_bar * x               so is this: its derivative is that of times(product_bar, x)

Such a zero stands for a path that was not taken, so it wins over a factor that is infinite or NaN,
in the derivatives of the product too.
"""

from __future__ import annotations

import ast

from overt.rewrites import core
from overt.rewrites.core import Assign, For, If, While
from overt.rewrites.rules import Application, Resolver, applied
from overt.rewrites.shapes import operator_call

# Linear functions that move or add up what they are given.
LINEAR = frozenset(
    "sum reshape transpose broadcast_to sum_to spread_to unreduce negative positive".split()
)


def zeroed_names(f: core.Function) -> set[str]:
    """The names of a function that hold such values."""
    found: set[str] = set()
    while True:
        before = len(found)
        for s in core.walk(f.body):
            if isinstance(s, Assign) and isinstance(s.target, str):
                if is_zeroed(s.value, found):
                    found.add(s.target)
            elif isinstance(s, If):
                for m in s.merges:
                    if is_zeroed(m.then, found) and is_zeroed(m.orelse, found):
                        found.add(m.name)
            elif isinstance(s, For | While):
                for c in s.carries:
                    if is_zeroed(c.init, found) and is_zeroed(c.next, found | {c.name}):
                        found |= {c.name, c.out}
        if len(found) == before:
            return found


def is_zeroed(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is a value that a selection has set to zero, or a multiple of one."""
    if isinstance(node, ast.Name):
        return node.id in names or core.base(node.id).endswith("_bar")
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float) and node.value == 0
    if isinstance(node, ast.UnaryOp):
        return is_zeroed(node.operand, names)
    if isinstance(node, ast.BinOp):
        left, right = is_zeroed(node.left, names), is_zeroed(node.right, names)
        if isinstance(node.op, ast.Mult):
            return left or right
        return left if isinstance(node.op, ast.Div) else left and right
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = name or getattr(node.func, "id", "").lstrip("@")
        if name == "where" and len(node.args) == 3:
            return is_zeroed(node.args[1], names) or is_zeroed(node.args[2], names)
        if name == "einsum":
            return any(is_zeroed(a, names) for a in node.args)
        if name == "reached_by" and len(node.args) == 3:
            return is_zeroed(node.args[2], names)
        if name in ("times", "times_both", "over", *LINEAR) and node.args:
            return is_zeroed(node.args[0], names)
    return False


def operator_as_applied(
    node: ast.expr, resolver: Resolver, zeroed: set[str] | None
) -> Application | None:
    """An operator as an application of a function: of `times` or `over` for a zeroed factor.

    Without `zeroed`, nothing that is differentiated selects.
    """
    if (
        zeroed is not None
        and isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult | ast.Div)
    ):
        from overt.runtime.numpy.zeros import over, times, times_both

        product = isinstance(node.op, ast.Mult)
        left, right = is_zeroed(node.left, zeroed), is_zeroed(node.right, zeroed)
        if left and (right or not product):
            return applied(times_both if product else over, [node.left, node.right], [])
        if left:
            return applied(times, [node.left, node.right], [])
        if right and product:
            return applied(times, [node.right, node.left], [])
    return operator_call(node, resolver)
