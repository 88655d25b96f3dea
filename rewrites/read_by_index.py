"""Loops that change what they run over, which read their items when they get to them.

    for i, row in enumerate(m):          for i in range(len(m)):
        m[i + 1] += row           ->         row = m[i]
                                             m[i + 1] += row

    for y in v[:-1]:                     part = v[:-1]
        v[0] += y                 ->     for place in range(len(part)):
                                             y = part[place]
                                             v[0] += y

A loop that only stores at the place where it is stays as it is.
"""

from __future__ import annotations

import ast
import copy

from overt.rewrites.scopes import CHANGING, NESTED, new_name, own_nodes, root_name

Stmts = list[ast.stmt]


def read_by_index(body: Stmts, local: set[str], taken: set[str]) -> Stmts:
    """The statements of a function with such loops rewritten; `local` are its own names."""
    return [new for s in body for new in statement(s, local, taken)]


def statement(s: ast.stmt, local: set[str], taken: set[str]) -> Stmts:
    if isinstance(s, NESTED):
        return [s]
    blocks = {
        field: value
        for field in ("body", "orelse", "finalbody")
        if isinstance(value := getattr(s, field, None), list) and value
    }
    if not blocks:
        return [s]
    s = copy.copy(s)
    for field, value in blocks.items():
        setattr(s, field, read_by_index(value, local, taken))
    return rewritten(s, local, taken) if isinstance(s, ast.For) else [s]


class Run:
    """What a loop runs over: its sources, and whether and from where it counts them."""

    def __init__(self, s: ast.For) -> None:
        self.start: ast.expr | None = None
        self.counted = is_call(s.iter, "enumerate")
        items, self.target = s.iter, s.target
        self.position: ast.expr | None = None
        if self.counted:
            assert isinstance(items, ast.Call)
            given = [*items.args[1:], *(k.value for k in items.keywords)]
            self.start = given[0] if given else None
            items = items.args[0]
            if isinstance(s.target, ast.Tuple) and len(s.target.elts) == 2:
                self.position, self.target = s.target.elts
        self.zipped = is_call(items, "zip")
        self.sources = items.args if isinstance(items, ast.Call) and self.zipped else [items]
        self.keywords = items.keywords if isinstance(items, ast.Call) and self.zipped else []

    def understood(self) -> bool:
        return self.position is not None or not self.counted

    def part(self, i: int) -> str:
        """The variable that gets the items of a source."""
        if not self.zipped:
            return name_of(self.target)
        parts = self.target.elts if isinstance(self.target, ast.Tuple) else []
        return name_of(parts[i]) if len(parts) == len(self.sources) else ""


def is_call(node: ast.expr, name: str) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        return False
    return node.func.id == name and not any(isinstance(a, ast.Starred) for a in node.args)


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def held(source: ast.expr) -> str:
    """The variable that a source is, or is a slice of; empty for others."""
    if isinstance(source, ast.Subscript) and isinstance(source.slice, ast.Slice):
        source = source.value
    return source.id if isinstance(source, ast.Name) else ""


def rewritten(s: ast.For, local: set[str], taken: set[str]) -> Stmts:
    run = Run(s)
    nodes = [n for inner in s.body for n in own_nodes(inner)]
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    grown = {
        name
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CHANGING
        for name in root_name(n.func.value)
    }
    stores: dict[str, list[ast.expr]] = {}
    for n in nodes:
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            if isinstance(n.value, ast.Name):
                stores.setdefault(n.value.id, []).append(n.slice)
    own = local - bound - grown
    strict = [k.value for k in run.keywords if not is_false(k.value)]
    changed = {
        i
        for i, x in enumerate(run.sources)
        if held(x) in own and any(elsewhere(index, x, run) for index in stores.get(held(x), ()))
    }
    if not run.understood() or not changed or strict or {"range", "len", "min"} & local:
        return [s]
    changed |= {i for i, x in enumerate(run.sources) if held(x) in own and run.part(i) in stores}
    before: Stmts = []
    place = new_name("place", taken)
    if isinstance(run.position, ast.Name) and run.start is None:
        place = run.position.id
    items: list[ast.expr] = []
    lengths: list[ast.expr] = []
    others: list[tuple[str, ast.expr]] = []
    for i, x in enumerate(run.sources):
        if i not in changed:
            others.append((new_name("item", taken), x))
            items.append(load(others[-1][0]))
            continue
        name = held(x)
        if not isinstance(x, ast.Name):
            name = new_name("part", taken)
            before.append(store(name, x))
        lengths.append(call("len", load(name)))
        items.append(ast.Subscript(load(name), load(place), ast.Load()))
    length = lengths[0] if len(lengths) == 1 else call("min", *lengths)
    made = copy.copy(s)
    made.iter, made.target = call("range", length), ast.Name(place, ast.Store())
    if others:
        names = [n for n, _ in others]
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in (place, *names)]
        made.target = ast.Tuple(targets, ast.Store())
        made.iter = call("zip", made.iter, *(x for _, x in others))
    first: Stmts = []
    if run.position is not None and (run.start is not None or place != name_of(run.position)):
        number: ast.expr = load(place)
        if run.start is not None:
            start = new_name("start", taken)
            before.append(store(start, run.start))
            number = ast.BinOp(number, ast.Add(), load(start))
        first.append(ast.Assign([run.position], number))
    value = ast.Tuple(items, ast.Load()) if run.zipped else items[0]
    first.append(ast.Assign([run.target], value))
    made.body = [*first, *s.body]
    for new in (*before, *first, made):
        ast.copy_location(new, s)
        ast.fix_missing_locations(new)
    return [*before, made]


def elsewhere(index: ast.expr, source: ast.expr, run: Run) -> bool:
    """Whether a store may change items that the loop has still to read, or the one it has read."""
    if any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(index)):
        return False  # of a dictionary
    if isinstance(index, ast.Name):
        if index.id == name_of(run.position):
            return not isinstance(source, ast.Name) or run.start is not None
        if any(isinstance(n, ast.Name) and n.id == index.id for n in ast.walk(run.target)):
            return False  # a key of a dictionary
    if run.counted or run.zipped or not isinstance(source, ast.Name):
        return True
    return isinstance(index, ast.Slice | ast.Tuple | ast.UnaryOp | ast.BinOp | ast.Constant)


def name_of(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(load(name), list(args), [])
