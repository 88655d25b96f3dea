"""Calls that change what they are given, taken out of the expressions they stand in.

    return m * bump(m, 1)           value = bump(m, 1)
                               ->   return m * value

What is evaluated before such a call and reads what the call changes gets a name before it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

from overt.rewrites import exits
from overt.rewrites.scopes import NESTED, Renamed, targets_of
from overt.rewrites.viewed import loaded

Statements = tuple[list[ast.stmt], ast.stmt]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
WHOLE = frozenset("sum list tuple max min sorted set any all".split())  # read all they are given


class CallsApart:
    """One function: `changed` tells what a call changes, `fresh` gives a new name."""

    def __init__(
        self, body: list[ast.stmt], changed: Callable[[ast.Call], set[str]],
        fresh: Callable[[str], str],
    ) -> None:  # fmt: skip
        self.changed, self.fresh = changed, fresh
        self.reads = [
            n
            for s in body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        ]
        self.loops: list[ast.For | ast.While] = []  # those around the statement
        self.before: list[ast.stmt] = []
        self.at: ast.stmt = ast.Pass()

    def statement(self, s: ast.stmt) -> Statements:
        """The statements to run before a statement, and what is left of it."""
        self.before, self.at = [], s
        s = self.with_named_holder(s)
        new: Any = copy.copy(s)
        if isinstance(s, ast.Assign | ast.Return | ast.Expr) and isinstance(s.value, ast.Call):
            alone = not isinstance(s, ast.Assign) or len(s.targets) == 1
            new.value = self.taken(s.value, alone)
        elif isinstance(s, ast.AugAssign) and self.changes(s.value):
            return self.operator(s)
        elif isinstance(s, ast.While):
            self.loops.append(s)
            asks_only = bool(s.orelse) or not self.changes(s.test)
            self.loops.pop()
            if asks_only:
                return [], s
            stop = exits.branch(exits.negated(s.test), [ast.copy_location(ast.Break(), s)], [], s)
            return [], ast.copy_location(ast.While(ast.Constant(True), [stop, *s.body], []), s)
        else:
            for part in ("value", "test", "iter"):
                node = getattr(s, part, None)
                if isinstance(node, ast.expr):
                    setattr(new, part, self.taken(node))
        return self.before, new if self.before else s

    def with_named_holder(self, s: ast.stmt) -> ast.stmt:
        """`(b := a)[0] = v`: what is stored into gets its name before, the value before that."""
        target = s.targets[0] if isinstance(s, ast.Assign) else getattr(s, "target", None)
        if not isinstance(s, ast.Assign | ast.AugAssign) or not isinstance(target, ast.Subscript):
            return s
        outer: ast.Subscript = target
        chain = [target]
        while isinstance(outer.value, ast.Subscript):
            outer = outer.value
            chain.append(outer)
        named = outer.value
        if not isinstance(named, ast.NamedExpr):
            return s
        new: Any = copy.copy(s)
        if isinstance(s, ast.Assign) and named.target.id in names_in(s.value):
            new.value = self.named("value", s.value)
        self.before.append(exits.assign(named.target.id, named.value, s))
        place: ast.expr = loaded(named.target.id)
        for link in reversed(chain):
            place = ast.copy_location(ast.Subscript(place, link.slice, link.ctx), link)
        if isinstance(s, ast.Assign):
            new.targets = [place, *s.targets[1:]]
        else:
            new.target = place
        return new

    def operator(self, s: ast.AugAssign) -> Statements:
        """`a[i] += f(a)`: what is there is read first."""
        changed = self.changes(s.value)
        value = self.taken(s.value)
        target: Any = s.target
        if isinstance(target, ast.Name) or not (names_in(target) & changed):
            new = ast.copy_location(ast.AugAssign(target, s.op, value), s)
            return (self.before, new) if self.before else ([], s)
        read = copy.copy(target)
        read.ctx = ast.Load()
        self.before, calls = [], self.before
        old = self.named("before", read)
        result = ast.copy_location(ast.BinOp(old, s.op, value), s)
        return [*self.before, *calls], ast.copy_location(ast.Assign([target], result), s)

    def changes(self, node: ast.AST) -> set[str]:
        """What the calls that have to be taken out of an expression change."""
        if isinstance(node, NESTED):
            return set()
        found = set()
        if isinstance(node, (ast.Call, *COMPREHENSIONS)):
            is_call = isinstance(node, ast.Call)
            names = self.changed(node) if is_call else self.changed_by_steps(node)  # type: ignore
            found = names if self.is_needed(node, names) else set()
        if isinstance(node, COMPREHENSIONS):
            return found
        return found.union(*map(self.changes, sure_parts(node)))

    def is_needed(self, node: ast.AST, names: set[str]) -> bool:
        """Whether what an expression changes is read after it, or in its own statement."""
        if not names:
            return False
        inside = {id(n) for n in ast.walk(node)}
        start = place(self.at) if not self.loops else (0, 0)
        every = set(names)
        for loop in reversed(self.loops):
            rows = names_in(loop.target) if isinstance(loop, ast.For) else set()
            if isinstance(loop, ast.For) and every & rows:
                every |= names_in(loop.iter)  # an item of an array may be a part of it
                if len(self.loops) == 1:
                    inside |= {id(n) for n in ast.walk(loop.iter)}
            names = names - rows
        if self.loops and names:  # the next iteration reads it
            return True
        return any(n.id in every and id(n) not in inside and place(n) >= start for n in self.reads)

    def changed_by_steps(self, node: Any) -> set[str]:
        """The names of the function whose objects the steps of a comprehension change."""
        parts = [node.elt, *(c for g in node.generators for c in g.ifs)]
        inner = [n for p in parts for n in ast.walk(p) if isinstance(n, ast.Call)]
        found = set().union(*map(self.changed, inner), set())
        for g in reversed(node.generators):
            own = {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            if found & own:
                found = found - own | names_in(g.iter)
        return found

    def taken(self, node: ast.expr, alone: bool = False) -> ast.expr:
        """The expression with the calls in it taken out; it may be one itself that is `alone`."""
        if not self.changes(node):
            return node
        if isinstance(node, COMPREHENSIONS):
            return self.looped(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            first = node.args[0] if len(node.args) == 1 else None
            if isinstance(first, ast.GeneratorExp) and node.func.id not in WHOLE:
                return node
        new = copy.copy(node)
        places = list(evaluated(new))
        changes = [self.changes(part) for _, _, part in places]
        for i, (holder, key, part) in enumerate(places):
            changed = set().union(*changes[i + 1 :])
            made = self.taken(part)
            if changed and not isinstance(made, ast.Name | ast.Constant):
                if made is not part or names_in(made) & changed:
                    made = self.named("before", made)
            if isinstance(holder, list):
                holder[key] = made
            else:
                setattr(holder, key, made)
        if not alone and isinstance(node, ast.Call) and self.is_needed(node, self.changed(node)):
            return self.named("value", new)
        return new

    def named(self, stem: str, value: ast.expr) -> ast.Name:
        name = self.fresh(stem)
        self.before.append(exits.assign(name, value, self.at))
        return ast.copy_location(loaded(name), value)

    def looped(self, node: Any) -> ast.Name:
        """A comprehension as a loop in front of the statement."""
        node = Renamed({n: self.fresh(n) for n in sorted(targets_of(node))}).visit(node)
        items = self.fresh("items")
        empty: ast.expr = ast.List([], ast.Load())
        if isinstance(node, ast.SetComp):
            empty = ast.Call(loaded("set"), [], [])
        method = "add" if isinstance(node, ast.SetComp) else "append"
        add = ast.Attribute(loaded(items), method, ast.Load())
        step: ast.stmt = ast.Expr(ast.Call(add, [node.elt], []))
        for g in reversed(node.generators):
            for condition in reversed(g.ifs):
                step = exits.branch(condition, [step], [], node)
            step = ast.For(g.target, g.iter, [step], [])
        for n in ast.walk(step):
            if not hasattr(n, "lineno"):
                ast.copy_location(n, node)
        self.before += [exits.assign(items, empty, node), step]
        return ast.copy_location(loaded(items), node)


def sure_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are evaluated whenever it is."""
    if isinstance(node, ast.BoolOp):
        yield node.values[0]
    elif isinstance(node, ast.IfExp):
        yield node.test
    elif isinstance(node, ast.Compare):
        yield from (node.left, node.comparators[0])
    else:
        yield from ast.iter_child_nodes(node)


def evaluated(node: Any) -> Iterator[tuple[Any, Any, ast.expr]]:
    """The places of the parts of an expression, in the order in which they are evaluated.

    The expression is given lists of its own.
    """
    for key, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(node, key, list(value))
    if isinstance(node, ast.BoolOp):
        yield node.values, 0, node.values[0]
    elif isinstance(node, ast.IfExp):
        yield node, "test", node.test
    elif isinstance(node, ast.Compare):
        yield node, "left", node.left
        yield node.comparators, 0, node.comparators[0]
    elif isinstance(node, ast.Dict):
        for i, v in enumerate(node.values):
            if node.keys[i] is not None:
                yield node.keys, i, node.keys[i]  # type: ignore[misc]
            yield node.values, i, v
    else:
        for key, value in ast.iter_fields(node):
            if key == "func" and isinstance(value, ast.Attribute):
                node.func = copy.copy(value)
                yield node.func, "value", value.value
            for i, item in enumerate(value if isinstance(value, list) else []):
                if isinstance(item, ast.keyword | ast.Starred):
                    value[i] = copy.copy(item)
                    yield value[i], "value", item.value
                elif isinstance(item, ast.expr):
                    yield value, i, item
            if isinstance(value, ast.expr) and key not in ("func", "target"):
                yield node, key, value


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def place(node: ast.AST) -> tuple[int, int]:
    """Where a node stands in the text; what was made without a place counts as the last."""
    return getattr(node, "lineno", 1 << 30), getattr(node, "col_offset", 0)
