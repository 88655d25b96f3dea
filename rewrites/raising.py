"""`raise` in a branch that only the running program decides becomes a check of the condition.

if x < 0:                                 raise_if(x < 0, ValueError, lambda: ("negative",))
    raise ValueError("negative")   ->     return np.sqrt(x)
return np.sqrt(x)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.core import Assign, Do, If

if TYPE_CHECKING:
    from overt.rewrites.lift import FunctionLifter


def raises_alone(block: core.Block) -> ast.Raise | None:
    """The `raise` that a block consists of, if it says what it raises and nothing else."""
    if len(block) != 1 or not isinstance(block[0], Do):
        return None
    node = block[0].node
    if not isinstance(node, ast.Raise) or node.exc is None or node.cause is not None:
        return None
    call = node.exc
    if isinstance(call, ast.Call):
        if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        call = call.func
    return node if isinstance(call, ast.Name | ast.Attribute) else None


def checked(lifter: FunctionLifter, s: If) -> list[core.Stmt] | None:
    """A branch of which one side raises: the check, then the other side."""
    for side, block in (("then", s.then), ("orelse", s.orelse)):
        node = raises_alone(block)
        if node is None or node.exc is None:
            continue
        other = "orelse" if side == "then" else "then"
        test = s.test if side == "then" else ast.UnaryOp(ast.Not(), s.test)
        kind, parts = node.exc, []
        if isinstance(kind, ast.Call):
            arguments = [lifter.expr(a) for a in kind.args]
            nothing = ast.arguments([], [], None, [], [], None, [])
            parts = [ast.Lambda(nothing, core.tuple_of(arguments))] if arguments else []
            kind = kind.func
        call = lifter.helper("raise_if", lifter.expr(test), lifter.expr(kind), *parts)
        merges = [Assign(m.name, getattr(m, other), s.origin) for m in s.merges]
        rest = lifter.block((*getattr(s, other), *merges))
        return [Do(ast.Expr(call), s.origin), *rest]
    return None
