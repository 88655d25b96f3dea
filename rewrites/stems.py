"""Names for parts of expressions: `x * y` is a `product`, `x > 10` is `x_above`."""

from __future__ import annotations

import ast

from overt.rewrites import core

STEMS = {
    ast.Add: "total",
    ast.Sub: "difference",
    ast.Mult: "product",
    ast.Div: "ratio",
    ast.Pow: "power",
    ast.MatMult: "product",
    ast.Mod: "remainder",
}
WORDS = frozenset(STEMS.values())


def stem_of(node: ast.expr) -> str:
    """A telling name for the value of an expression."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Name):
            if isinstance(node.right, ast.Constant) and node.right.value == 2:
                return f"{core.base(node.left.id)}_squared"
        return STEMS.get(type(node.op), "value")
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return f"minus_{core.base(node.operand.id)}"
    if isinstance(node, ast.Call):
        f = node.func
        while isinstance(f, ast.Call):  # `lib.hessian(g)(x)`
            f = f.func
        word = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "value").lstrip("@")
        word = core.base(word)
        if word == "arange":
            return "indices"
        if len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.Name):
                of = core.base(inner.id)
            else:
                of = stem_of(inner) if isinstance(inner, ast.Call) else ""
            if of and not of.endswith("_value") and len(of) <= 8:
                return f"{word}_{of}"
        return f"{word}_value"
    if isinstance(node, ast.Subscript):
        root, index = node.value, node.slice
        if isinstance(root, ast.Name):
            if isinstance(index, ast.Constant) and str(index.value).isidentifier():
                return str(index.value)
            if (
                isinstance(index, ast.Constant)
                and isinstance(index.value, int)
                and index.value >= 0
            ):
                return f"{core.base(root.id)}_{index.value}"
            if isinstance(index, ast.Name):
                return f"{core.base(root.id)}_{core.base(index.id)}"
            if ast.unparse(index) == "-1":
                return f"last_{core.base(root.id)}"
            return f"{core.base(root.id)}_part"
    if isinstance(node, ast.Attribute):
        holder = core.base(node.value.id) if isinstance(node.value, ast.Name) else ""
        return f"{holder}_{node.attr}" if node.attr == "T" and holder else node.attr
    return "value"


def test_stem(node: ast.expr) -> str:
    """A name for a condition."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        words = {
            ast.Lt: "below",
            ast.LtE: "below",
            ast.Gt: "above",
            ast.GtE: "above",
            ast.Eq: "equal",
        }
        left = node.left
        while isinstance(left, ast.Call) and left.args:
            left = left.args[0]
        word = words.get(type(node.ops[0]))
        if isinstance(left, ast.Name) and word:
            return f"{core.base(left.id)}_{word}"
        if word:
            return word
    if core.is_call_of(node, "@is_zero", "@lacks", "@raises"):
        return "fails"
    return "holds"
