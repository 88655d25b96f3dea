"""What a lifted function returns, said in as few lines as it takes."""

from __future__ import annotations

import ast
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.core import Assign, Function


def direct(f: Function) -> Function:
    """`x = value; return x` is `return value`; so for several names, if they come from one call."""
    if not f.body or not isinstance(f.body[-1], Assign):
        return f
    last = f.body[-1]
    shown = pattern_of(f.result)
    if shown is None:
        return f
    if isinstance(last.target, str):
        if shown != last.target or not core.is_local(last.target):
            return f
    elif shown != last.target or not isinstance(last.value, ast.Call):
        return f
    merged = last.origin
    if merged.above and f.result_origin.above:
        merged = replace(merged, above=(*merged.above, *f.result_origin.above))
    if f.result_origin.comment and not merged.comment:
        merged = replace(merged, comment=f.result_origin.comment)
    return replace(f, body=f.body[:-1], result=last.value, result_origin=merged)


def settled(f: Function) -> Function:
    """Constants set last are returned directly: `x = True; return x, y` is `return True, y`."""
    table: dict[str, ast.expr] = {}
    body = f.body
    while body:
        s = body[-1]
        if not (isinstance(s, Assign) and isinstance(s.target, str) and core.is_local(s.target)):
            break
        if not isinstance(s.value, ast.Constant) or s.origin.comment or s.origin.above:
            break
        table[s.target] = s.value
        body = body[:-1]
    return replace(f, body=body, result=core.substitute(f.result, table)) if table else f


def pattern_of(value: ast.expr) -> core.Pattern | None:
    """The pattern of names that an expression spells out, if it is one."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Tuple) and all(isinstance(e, ast.Name) for e in value.elts):
        return tuple(e.id for e in value.elts)  # type: ignore[attr-defined]
    return None
