"""Number kinds: names that hold an int on one path and a float on another.

v = 1 if x > 0 else 2.0       # where data chooses, v is a float on both
isinstance(v, int)
"""

from __future__ import annotations

import ast
import linecache

from overt.rewrites import core
from overt.rewrites.core import Assign, If
from overt.rewrites.refusal import Refusal


def kinds_chosen(block: core.Block) -> dict[str, ast.expr]:
    """The names of numbers of different kinds, and the test that chooses among them."""
    found: dict[str, ast.expr] = {}
    for s in core.walk(block):
        if isinstance(s, Assign) and isinstance(s.target, str) and isinstance(s.value, ast.IfExp):
            if differ(s.value.body, s.value.orelse):
                found[s.target] = s.value.test
        elif isinstance(s, If):
            found |= {m.name: s.test for m in s.merges if differ(m.then, m.orelse)}
    return found


def differ(a: ast.expr, b: ast.expr) -> bool:
    """Whether two values, of which one is a number written out, may be of different kinds."""
    kinds = {type(e.value) if isinstance(e, ast.Constant) else None for e in (a, b)}
    return len(kinds) > 1 and bool(kinds & {bool, int, float, complex})


def refuse_kind(node: ast.expr, file: str) -> None:
    refusal = Refusal(
        "data chooses here among numbers of different Python types, which become one type in the "
        "compiled program",
        "Write both as floats, or ask what the choice was made by.",
        node,
    )
    raise refusal.located(file, refusal.line, linecache.getline(file, refusal.line))
