"""What is counted or summed under a condition: the condition moves from the filter to the item.

sum(v * v for v in xs if v > limit)  ->  sum(v * v if v > limit else 0 for v in xs)

So the number of items does not depend on data, which a compiled program could not follow.
"""

from __future__ import annotations

import ast

REDUCTIONS = ("sum", "len", "any", "all")


def unfiltered(node: ast.Call) -> ast.Call:
    """`sum`, `len`, `any` or `all` of a comprehension, as one of all its items."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if (
        name not in REDUCTIONS
        or not node.args
        or node.keywords
        or len(node.args) > 1 + (name == "sum")
    ):
        return node
    items = node.args[0]
    if not isinstance(items, ast.GeneratorExp | ast.ListComp):
        return node
    last = items.generators[-1]
    known = known_names(items.generators)
    moved = [c for c in last.ifs if not is_known(c, known)]
    if not moved or not adds_to_zero(node.args[1:]):
        return node
    if any(not is_known(c, known) for g in items.generators[:-1] for c in g.ifs):
        return node
    test = moved[0] if len(moved) == 1 else ast.BoolOp(ast.And(), moved)
    if name == "any":
        item: ast.expr = ast.BoolOp(ast.And(), [test, items.elt])
    elif name == "all":
        item = ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), test), items.elt])
    else:
        kept = items.elt if name == "sum" else ast.Constant(1)
        item = ast.IfExp(test, kept, ast.Constant(0))
    staying = [c for c in last.ifs if c not in moved]
    rest = ast.comprehension(last.target, last.iter, staying, last.is_async)
    every = ast.GeneratorExp(item, [*items.generators[:-1], rest])
    function = ast.Name("sum" if name == "len" else name, ast.Load())
    made = ast.copy_location(ast.Call(function, [every, *node.args[1:]], []), node)
    return ast.fix_missing_locations(made)


def adds_to_zero(start: list[ast.expr]) -> bool:
    """Whether what a sum starts with is surely a number or array, to which 0 can be added."""
    return all(isinstance(s, ast.Constant) or is_of_module(s) for s in start)


def is_of_module(node: ast.expr) -> bool:
    """`np.zeros(3)`"""
    f = node.func if isinstance(node, ast.Call) else None
    return isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "np"


def known_names(generators: list[ast.comprehension]) -> set[str]:
    """The names that count or are keys, whose values do not depend on data."""
    found: set[str] = set()
    for g in generators:
        f = g.iter.func if isinstance(g.iter, ast.Call) else None
        called = f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""
        target: ast.AST = g.target
        if called in ("enumerate", "items") and isinstance(g.target, ast.Tuple):
            target = g.target.elts[0]
        elif called not in ("range", "keys") and not is_constant(g.iter):
            continue
        found |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return found


def is_constant(node: ast.expr) -> bool:
    return not any(isinstance(n, ast.Name | ast.Call) for n in ast.walk(node))


def is_known(condition: ast.expr, known: set[str]) -> bool:
    """Whether Python can decide a condition before the program runs, as far as the text says."""
    if isinstance(condition, ast.Compare):
        plain = ast.Is | ast.IsNot | ast.In | ast.NotIn
        if all(isinstance(op, plain) for op in condition.ops):
            return True
    if isinstance(condition, ast.Call) and isinstance(condition.func, ast.Name):
        if condition.func.id in ("isinstance", "hasattr", "callable"):
            return True
    return {n.id for n in ast.walk(condition) if isinstance(n, ast.Name)} <= known
