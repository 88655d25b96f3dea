"""Names of lists, sets and dictionaries that data decides the length of.

big = []
for v in xs:
    if v > limit:
        big.append(v)
mean = sum(big) / len(big)      ->      mean = sum_(big) / length(big)
"""

from __future__ import annotations

import ast
import builtins

from overt.rewrites import core
from overt.rewrites.core import Assign, For, If, While
from overt.rewrites.filters import is_known
from overt.runtime.asked_again import MAY_BE_CHOSEN

CHANGES = ("@appended", "@changed")
CONDITIONS = ast.Compare | ast.BoolOp | ast.UnaryOp
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
KEEPING = frozenset("sorted list tuple set dict enumerate zip reversed filter".split())
METHODS = frozenset("values items keys copy".split())
ASKING = frozenset("dropwhile filter filterfalse takewhile".split())


class Grown:
    """The names of one function, found by its text; asks `in names` and `is_grown`."""

    def __init__(self, block: core.Block, result: ast.expr | None = None) -> None:
        self.names: set[str] = set()
        self.inner: set[str] = set()  # those of them that comprehensions bind
        self.filled: set[str] = set()  # containers of lists that grow
        self.holders: set[str] = set()  # those of which data decides how long the lists are
        self.changed: set[str] = set()  # containers that a method has changed
        self.dicts: set[str] = set()
        self.known: set[str] = set()  # numbers that count and conditions, whatever the data
        statements = list(core.walk(block))
        generators = generators_in(block, result)
        found = self.names, self.changed, self.dicts, self.filled, self.holders
        while True:
            before = [*map(len, found)]
            self.known = self.known_without_data(statements)
            for s in statements:
                self.see(s)
            for g in generators:
                if self.holds(g.iter):
                    self.inner |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
                    self.names |= self.inner
            if before == [*map(len, found)]:
                break

    def known_without_data(self, statements: list[core.Stmt]) -> set[str]:
        """What Python knows before the program runs, as long as no other names are grown."""
        self.known = set()
        while True:
            before = len(self.known)
            for s in statements:
                if isinstance(s, For):
                    self.count(s)
                elif isinstance(s, Assign) and isinstance(s.target, str):
                    if callee(s.value) == "len" or is_number(s.value, self.known):
                        self.known.add(s.target)
                    elif isinstance(s.value, CONDITIONS) and self.is_static(s.value):
                        self.known.add(s.target)
            if before == len(self.known):
                return self.known

    def see(self, s: core.Stmt) -> None:
        if isinstance(s, Assign):
            self.assign(s.target, s.value)
        elif isinstance(s, For | While):
            if isinstance(s, For) and self.holds(s.items):
                self.names |= set(core.pattern_names(s.target))
            for c in s.carries:
                for value in (c.init, c.next):
                    self.assign(c.name, value)
                    self.assign(c.out, value)
                if self.ends_by_data(s) and c.next.id in self.changed:
                    self.names |= {c.name, c.out}
                if self.ends_by_data(s) and c.next.id in self.filled:
                    self.holders |= {c.name, c.out}
        elif isinstance(s, If):
            on_data = not self.is_static(s.test)
            for m in s.merges:
                for value in (m.then, m.orelse):
                    self.assign(m.name, value)
                sides = [v.id for v in (m.then, m.orelse) if isinstance(v, ast.Name)]
                if on_data and any(n in self.changed for n in sides):
                    self.names.add(m.name)
                if on_data and any(n in self.filled for n in sides):
                    self.holders.add(m.name)

    def assign(self, target: core.Pattern, value: ast.expr) -> None:
        if isinstance(target, tuple):
            last = target[-1] if target else ()
            if callee(value) == "@popped" and isinstance(last, str):
                self.changed.add(last)
                if self.is_grown(value.args[0]):  # type: ignore[attr-defined]
                    self.names.add(last)
            elif isinstance(value, ast.Tuple) and len(value.elts) == len(target):
                for t, v in zip(target, value.elts, strict=True):
                    self.assign(t, v)
            return
        if self.is_grown(value):
            self.names.add(target)
        if self.is_changed(value):
            self.changed.add(target)
        if self.is_dict(value):
            self.dicts.add(target)
        if self.is_filled(value):
            self.filled.add(target)
        if self.holds(value):
            self.holders.add(target)

    def ends_by_data(self, s: For | While) -> bool:
        """Whether data decides how often a loop runs."""
        tests = [] if s.until is None else [s.until]
        if isinstance(s, While):
            tests.append(s.test)
        return not all(map(self.is_static, tests))

    def count(self, s: For) -> None:
        name, target = callee(s.items), s.target
        if name == "enumerate" and isinstance(target, tuple):
            target = target[0]
        elif name != "range":
            return
        if isinstance(target, str) and not self.is_grown(s.items):
            self.known.add(target)

    def is_changed(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Name):
            return value.id in self.changed
        name = callee(value)
        if name == "@set_item" and isinstance(value, ast.Call):
            return self.is_dict(value.args[0]) or self.is_changed(value.args[0])
        return name in CHANGES

    def is_filled(self, value: ast.expr) -> bool:
        """Whether a value is a container of lists of which one grows."""
        if isinstance(value, ast.Name):
            return value.id in self.filled
        if callee(value) == "@set_item" and isinstance(value, ast.Call):
            return self.is_filled(value.args[0]) or callee(value.args[2]) in CHANGES
        return False

    def holds(self, value: ast.expr) -> bool:
        """Whether a value is a container of lists of which data decides how long they are."""
        if isinstance(value, ast.Name):
            return value.id in self.holders
        if isinstance(value, ast.Tuple | ast.List):
            return any(map(self.is_grown, value.elts))
        if isinstance(value, ast.Dict):
            return any(map(self.is_grown, value.values))
        if not isinstance(value, ast.Call):
            return False
        if isinstance(value.func, ast.Attribute) and value.func.attr in METHODS:
            return self.holds(value.func.value)
        if callee(value) == "@set_item":
            holder, key, item = value.args
            by_data = callee(item) in CHANGES and not self.is_static(key)
            return self.holds(holder) or by_data or self.is_grown(item)
        return callee(value) in KEEPING and any(map(self.holds, value.args))

    def is_dict(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Name):
            return value.id in self.dicts
        if callee(value) in ("@set_item", "@changed") and isinstance(value, ast.Call):
            return self.is_dict(value.args[0])
        return isinstance(value, ast.Dict | ast.DictComp) or callee(value) == "dict"

    def is_grown(self, node: ast.expr) -> bool:
        """Whether a value may be a container of which only the running program knows the items."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, COMPREHENSIONS):
            return any(
                self.is_grown(g.iter) or not all(self.is_static(c) for c in g.ifs)
                for g in node.generators
            )
        if isinstance(node, ast.BinOp):
            return self.is_grown(node.left) or self.is_grown(node.right)
        if isinstance(node, ast.List | ast.Dict):
            return any(map(self.is_grown, spread(node)))
        if isinstance(node, ast.Subscript):
            return self.is_grown(node.value) if is_slice(node) else self.holds(node.value)
        if isinstance(node, ast.Attribute):
            return MAY_BE_CHOSEN.get()
        if isinstance(node, ast.Call):
            f = node.func
            if isinstance(f, ast.Attribute) and f.attr in METHODS:
                return self.is_grown(f.value)
            if callee(node) in (*CHANGES, "@set_item"):
                taken = node.args[2:] if callee(node) == "@changed" and takes_all(node) else []
                return any(map(self.is_grown, [node.args[0], *taken]))
            if callee(node) in KEEPING and any(map(self.is_grown, node.args)):
                return True
            return MAY_BE_CHOSEN.get() and is_users_call(node)
        return False

    def is_static(self, test: ast.expr) -> bool:
        if self.reads_grown(test):
            return False
        if isinstance(test, ast.BoolOp):
            return all(map(self.is_static, test.values))
        if isinstance(test, ast.UnaryOp):
            return self.is_static(test.operand)
        if isinstance(test, ast.Compare) and any(callee(n) == "len" for n in ast.walk(test)):
            return all(map(self.is_static, (test.left, *test.comparators)))
        return callee(test) == "len" or is_known(test, self.known)

    def reads_grown(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.names for n in ast.walk(node))


def generators_in(block: core.Block, result: ast.expr | None) -> list[ast.comprehension]:
    found: list[ast.comprehension] = []

    def visit(node: ast.expr) -> ast.expr:
        found.extend(n for n in ast.walk(node) if isinstance(n, ast.comprehension))
        return node

    core.map_exprs(block, visit)
    if result is not None:
        visit(result)
    return found


def is_slice(node: ast.Subscript) -> bool:
    return isinstance(node.slice, ast.Slice)


def callee(node: ast.AST) -> str:
    f = node.func if isinstance(node, ast.Call) else None
    return f.id if isinstance(f, ast.Name) else ""


def is_users_call(node: ast.Call) -> bool:
    """Whether a call may be of the user's function, or of one that asks it for each item."""
    f = node.func
    name = callee(node) or getattr(f, "attr", "")
    if name in ASKING:
        return True
    if isinstance(f, ast.Attribute):
        return isinstance(f.value, ast.Name) and core.is_local(f.value.id)
    return isinstance(f, ast.Name) and not f.id.startswith("@") and not hasattr(builtins, f.id)


def takes_all(change: ast.Call) -> bool:
    """Whether a change of a container puts all items of another into it."""
    method = change.args[1]
    return isinstance(method, ast.Constant) and method.value in ("extend", "update")


def spread(node: ast.List | ast.Dict) -> list[ast.expr]:
    """What a display unpacks: `xs` in `[*xs, 1]`."""
    if isinstance(node, ast.Dict):
        return [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
    return [e.value for e in node.elts if isinstance(e, ast.Starred)]


def is_number(node: ast.expr, known: set[str]) -> bool:
    """Whether a value is computed from constants and numbers that count alone."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left, known) and is_number(node.right, known)
    if isinstance(node, ast.Name):
        return node.id in known
    return isinstance(node, ast.Constant)
