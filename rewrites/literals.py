"""Values that are written out, known without a program being run."""

from __future__ import annotations

import ast


def is_literal(value: ast.expr) -> bool:
    """Whether a value is written out, and never changes."""
    if isinstance(value, ast.Tuple):
        return all(map(is_literal, value.elts))
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.operand, ast.Constant)
    return isinstance(value, ast.Constant)
