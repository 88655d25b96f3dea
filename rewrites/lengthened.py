"""Loops over a list that they lengthen, which get to the new items, too.

for v in values:                     place = 0
    if v < 4:                 ->     while place < len(values):
        values.append(2 * v)             v = values[place]
                                         place = place + 1
                                         if v < 4:
                                             values.append(2 * v)
"""

from __future__ import annotations

import ast
import copy

from overt.rewrites.scopes import NESTED, new_name, own_nodes

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
    return [s]


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
