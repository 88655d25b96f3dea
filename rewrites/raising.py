"""`raise` in a branch that only the running program decides becomes a check of the condition.

if x < 0:                                 raise_if(x < 0, ValueError, lambda: ("negative",))
    raise ValueError("negative")   ->     return np.sqrt(x)
return np.sqrt(x)
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.core import Assign, Do, If

if TYPE_CHECKING:
    from overt.rewrites.lift_functions import FunctionLifter


def raises_alone(block: core.Block) -> ast.Raise | None:
    """The `raise` that a block consists of, if it says what it raises and nothing else."""
    if len(block) != 1 or not isinstance(block[0], Do):
        return None
    node = block[0].node
    return node if isinstance(node, ast.Raise) and can_wait(node) else None


def can_wait(node: ast.Raise) -> bool:
    """Whether a `raise` says enough for the running program to do it."""
    call = node.exc
    if isinstance(call, ast.Call):
        if any(isinstance(a, ast.Starred) for a in call.args):
            return False
        if any(k.arg is None for k in call.keywords):
            return False
        call = call.func
    return isinstance(call, ast.Name | ast.Attribute)


def raised_later(block: core.Block, least: int = 0) -> core.Block:
    """The block, where each `raise` that ends a side of a branch is left to the program.

    if x < 0:                                 print(x)
        print(x)                       ->     raise_if(True, ValueError)
        raise ValueError

    One that is a side of its own is a check of the condition, unless both sides raise; `least` is
    how many statements a side has at least to end so, none where the block is no side.
    """
    done = []
    for s in block:
        blocks = core.blocks_of(s)
        sides = (1 if all(map(ends_by_raise, blocks)) else 2) if isinstance(s, If) else 0
        done.append(core.with_blocks(s, [raised_later(b, sides) for b in blocks]))
    last = done[-1] if least and len(done) >= least else None
    if isinstance(last, Do) and isinstance(last.node, ast.Raise) and can_wait(last.node):
        node = ast.copy_location(ast.Raise(last.node.exc, last.node.cause), last.node)
        node.waits = True  # type: ignore[attr-defined]
        done[-1] = replace(last, node=node)
    return tuple(done)


def ends_by_raise(block: core.Block) -> bool:
    last = block[-1] if block else None
    return isinstance(last, Do) and isinstance(last.node, ast.Raise)


def waits(node: ast.AST) -> bool:
    return getattr(node, "waits", False)


def as_check(lifter: FunctionLifter, node: ast.Raise, test: ast.expr) -> ast.Call:
    """`raise_if(test, ValueError, lambda: (message,))`"""
    assert node.exc is not None
    kind, parts = node.exc, []
    named: dict[str, ast.expr] = {}
    if isinstance(kind, ast.Call):
        arguments = [lifter.expr(a) for a in (*kind.args, *(k.value for k in kind.keywords))]
        nothing = ast.arguments([], [], None, [], [], None, [])
        parts = [ast.Lambda(nothing, core.tuple_of(arguments))] if arguments else []
        names = [core.constant(k.arg) for k in kind.keywords]
        named = {"named": core.tuple_of([*names])} if names else {}
        kind = kind.func
    if node.cause is not None and not isinstance(node.cause, ast.Constant):
        nothing = ast.arguments([], [], None, [], [], None, [])
        named["cause"] = ast.Lambda(nothing, lifter.expr(node.cause))
    return lifter.helper("raise_if", test, lifter.expr(kind), *parts, **named)


def checked(lifter: FunctionLifter, s: If) -> list[core.Stmt] | None:
    """A branch of which one side raises: the check, then the other side."""
    if ends_by_raise(s.then) and ends_by_raise(s.orelse):
        return None
    for side, block in (("then", s.then), ("orelse", s.orelse)):
        node = raises_alone(block)
        if node is None or node.exc is None:
            continue
        other = "orelse" if side == "then" else "then"
        test = s.test if side == "then" else ast.UnaryOp(ast.Not(), s.test)
        call = as_check(lifter, node, lifter.expr(test))
        merges = [Assign(m.name, getattr(m, other), s.origin) for m in s.merges]
        rest = lifter.block((*getattr(s, other), *merges))
        own = block[0].origin  # an exception names the line of its `raise`
        place = replace(s.origin, line=own.line, text=own.text) if own.line else s.origin
        return [Do(ast.Expr(call), place), *rest]
    return None
