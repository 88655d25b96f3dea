"""Loops over a list that they lengthen, and lists lengthened by what reads them.

for v in values:                     place = 0
    if v < 4:                 ->     while place < len(values):
        values.append(2 * v)             v = values[place]
                                         place = place + 1
                                         if v < 4:
                                             values.append(2 * v)

values.extend(                       for m in rates:
    m * values[-1] for m in rates        values.append(m * values[-1])
)                             ->
"""

from __future__ import annotations

import ast
import copy

from overt.rewrites.late_reads import is_loop, is_update, reads_holder, root_of
from overt.rewrites.scopes import NESTED, Renamed, new_name, own_nodes, targets_of

Stmts = list[ast.stmt]
LENGTHENING = frozenset(("append", "extend", "insert"))  # of lists, and of no other containers


def lengthened_as_while(body: Stmts, local: set[str], taken: set[str]) -> Stmts:
    """The statements of a function with such loops rewritten; `local` are its own names."""
    return [new for s in body for new in statement(s, local, taken)]


def statement(s: ast.stmt, local: set[str], taken: set[str]) -> Stmts:
    if isinstance(s, NESTED):
        return [s]
    s = copy.copy(s)
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(s, field, None)
        if isinstance(inner, list) and inner:
            setattr(s, field, lengthened_as_while(inner, local, taken))
    if isinstance(s, ast.For) and (name := lengthened(s)) in local:
        return as_while(s, name, taken)
    if isinstance(s, ast.Expr | ast.AugAssign):
        items = extended_by(s, local)
        if items is not None:
            return as_loops(s, *items, taken)
    return [s]


def extended_by(
    s: ast.Expr | ast.AugAssign, local: set[str]
) -> tuple[ast.expr, ast.GeneratorExp] | None:
    """What `xs.extend(items)`, `xs += items` or `d.update(pairs)` lengthens by what it reads."""
    target: ast.expr
    if isinstance(s, ast.AugAssign):
        target, items = s.target, s.value
    elif isinstance(s.value, ast.Call) and isinstance(s.value.func, ast.Attribute):
        if s.value.func.attr not in ("extend", "update") or len(s.value.args) != 1:
            return None
        target, items = s.value.func.value, s.value.args[0]
        if s.value.keywords or not is_loop(items, s.value):
            return None
    else:
        return None
    if not isinstance(items, ast.GeneratorExp) or root_of(target) not in local - targets_of(items):
        return None
    return (target, items) if reads_holder(items, target, {}, lambda _: "") else None


def as_loops(s: ast.stmt, target: ast.expr, items: ast.GeneratorExp, taken: set[str]) -> Stmts:
    """Items of a list made one by one; what the expression names gets names of its own."""
    renamed = Renamed({n: new_name(n, taken) for n in sorted(targets_of(items))})
    place = copy.copy(target)
    place.ctx = ast.Load()  # type: ignore[attr-defined]
    made = renamed.visit(items.elt)
    if is_update(s):
        key, value = made.elts
        body: Stmts = [ast.Assign([ast.Subscript(place, key, ast.Store())], value)]
    else:
        append = ast.Attribute(place, "append", ast.Load())
        body = [ast.Expr(ast.Call(append, [made], []))]
    for g in reversed(items.generators):
        for condition in reversed(g.ifs):
            body = [ast.If(renamed.visit(condition), body, [])]
        outermost = g is items.generators[0]
        over = g.iter if outermost else renamed.visit(g.iter)
        body = [ast.For(renamed.visit(g.target), over, body, [])]
    return [ast.fix_missing_locations(ast.copy_location(new, s)) for new in body]


def lengthened(s: ast.For) -> str:
    """The list that a loop runs over and lengthens; empty for any other loop."""
    if not isinstance(s.iter, ast.Name):
        return ""
    name, grows = s.iter.id, False
    for node in (n for inner in s.body for n in own_nodes(inner)):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            receiver = node.func.value
            if isinstance(receiver, ast.Name) and receiver.id == name:
                grows = grows or node.func.attr in LENGTHENING
    return name if grows else ""


def as_while(s: ast.For, name: str, taken: set[str]) -> Stmts:
    place = new_name("place", taken)
    item = ast.Subscript(load(name), load(place), ast.Load())
    following = ast.BinOp(load(place), ast.Add(), ast.Constant(1))
    length = ast.Call(load("len"), [load(name)], [])
    steps = [ast.Assign([s.target], item), ast.Assign([store(place)], following), *s.body]
    made = [
        ast.Assign([store(place)], ast.Constant(0)),
        ast.While(ast.Compare(load(place), [ast.Lt()], [length]), steps, s.orelse),
    ]
    return [ast.fix_missing_locations(ast.copy_location(new, s)) for new in made]


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())
