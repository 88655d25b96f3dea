"""Generators that run over an endless one: these are endless, too.

    def louder(values, gain):                def louder(values, gain):
        for v in values:            ->           while True:
            yield gain * v                           values = following(values)
                                                     v = values[-1]
                                                     yield gain * v

`values` is the state of the inner one, `following` goes on from it.
"""

from __future__ import annotations

import ast
import copy

from overt.rewrites.scopes import new_name, own_nodes, parameters


def place_run_over(node: ast.FunctionDef) -> int | None:
    """The position of the parameter that a generator's last statement, a loop, runs over."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    loop = node.body[-1]
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Name) or loop.orelse:
        return None
    mine = [n for n in own_nodes(node) if isinstance(n, ast.Name) and n.id == loop.iter.id]
    return names.index(loop.iter.id) if len(mine) == 1 and loop.iter.id in names else None


def endless_over(node: ast.FunctionDef, following: str, name: str) -> ast.FunctionDef:
    """The generator for the state of an endless one, from which `following` goes on."""
    made = copy.deepcopy(node)
    made.name = name
    loop = made.body[-1]
    assert isinstance(loop, ast.For) and isinstance(loop.iter, ast.Name)
    held = loop.iter.id
    step = ast.Assign([ast.Name(held, ast.Store())], ast.Call(load(following), [load(held)], []))
    item = ast.Assign([loop.target], ast.Subscript(load(held), ast.Constant(-1), ast.Load()))
    body = [ast.copy_location(s, loop) for s in (step, item)]
    endless = ast.While(ast.Constant(True), [*body, *loop.body], [])
    made.body[-1] = ast.copy_location(endless, loop)
    return ast.fix_missing_locations(made)


def source_of(node: ast.expr, known: str) -> ast.expr | None:
    """What `(f(v) for v in items)` and `map(f, items)` run over."""
    if isinstance(node, ast.GeneratorExp) and len(node.generators) == 1:
        return None if node.generators[0].ifs else node.generators[0].iter
    if isinstance(node, ast.Call) and known == "builtins.map" and len(node.args) == 2:
        return node.args[1]
    return None


def of_expression(node: ast.expr, taken: set[str]) -> ast.FunctionDef:
    """Such an expression as a generator, with what it runs over as its parameter."""
    items = new_name("items", taken)
    if isinstance(node, ast.GeneratorExp):
        target, value = node.generators[0].target, node.elt
    else:
        assert isinstance(node, ast.Call)
        item = new_name("item", taken)
        target, value = ast.Name(item, ast.Store()), ast.Call(node.args[0], [load(item)], [])
    loop = ast.For(target, load(items), [ast.Expr(ast.Yield(value))], [])
    arguments = ast.arguments([], [ast.arg(items)], None, [], [], None, [])
    made = ast.FunctionDef("each", arguments, [loop], [])
    for n in ast.walk(made):
        ast.copy_location(n, node)
    return made


class Plainly(ast.NodeTransformer):
    """`v += x` as `v = v + x`, where `v` is an operand alone: nothing else can be its object."""

    def __init__(self, node: ast.FunctionDef) -> None:
        apart = ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign
        self.shared = {
            inner.id
            for n in ast.walk(node)
            for inner in ast.iter_child_nodes(n)
            if isinstance(inner, ast.Name) and not is_stored(inner) and not isinstance(n, apart)
        }
        self.shared |= parameters(node)

    def visit_AugAssign(self, s: ast.AugAssign) -> ast.stmt:
        if not isinstance(s.target, ast.Name) or s.target.id in self.shared:
            return s
        value = ast.BinOp(load(s.target.id), s.op, s.value)
        for n in (new := ast.Assign([s.target], value), value, value.left):
            ast.copy_location(n, s)
        return new


def used_once(node: ast.FunctionDef) -> set[str]:
    """Names that a function reads in one place, which it reaches once at most."""
    reads = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not is_stored(n)]
    plain = [s for s in node.body if not isinstance(s, ast.For | ast.While | ast.FunctionDef)]
    inside = [n for s in plain for n in own_nodes(s) if not isinstance(s, ast.ClassDef)]
    loops = [n for n in inside if isinstance(n, ast.For | ast.While | ast.Lambda)]
    again = {m.id for n in loops for m in ast.walk(n) if isinstance(m, ast.Name)}
    direct = {n.id for n in inside if isinstance(n, ast.Name) and not is_stored(n)}
    return {n for n in direct - again if reads.count(n) == 1}


def is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
