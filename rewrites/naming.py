"""Naming: from single-assignment names to the user's, shared by values never needed together.

This is register allocation by interference, with Python names for registers.  Values joined by a
loop or a branch take one name where they can, so that `x = f(x)` in a loop is printed as the user
wrote it.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable

from overt.rewrites import core
from overt.rewrites.core import Assign, Define, Do, For, Function, If, While, With, is_local, reads


class Interference:
    """Which names of one function are needed at the same time, and which would like to be one."""

    def __init__(self, function: Function) -> None:
        self.edges: dict[str, set[str]] = {}
        self.wishes: list[tuple[str, str]] = []
        self.order: list[str] = []
        self.captured: dict[str, set[str]] = {}
        for s in core.walk(function.body):
            if isinstance(s, Define):
                self.captured[s.name] = core.free_of_function(s.function)
        alive = self.block(function.body, self.reads(function.result))
        params = [p.name for p in function.params]
        for p in params:
            self.define(p, alive | set(params))
        self.order = params + self.order[::-1]

    def reads(self, *nodes: object) -> set[str]:
        found: set[str] = set()
        pending = [n for node in nodes for n in reads(node) if is_local(n)]  # type: ignore[arg-type]
        while pending:
            n = pending.pop()
            if n not in found:
                found.add(n)
                pending += self.captured.get(n, ())
        return found

    def define(self, name: str, alive: Iterable[str], but: str | None = None) -> None:
        if not is_local(name):
            return
        mine = self.edges.setdefault(name, set())
        self.order.append(name)
        for other in alive:
            if other != name and other != but:
                mine.add(other)
                self.edges.setdefault(other, set()).add(name)

    def block(self, block: core.Block, alive: set[str]) -> set[str]:
        for s in reversed(block):
            alive = self.statement(s, alive)
        return alive

    def statement(self, s: core.Stmt, alive: set[str]) -> set[str]:
        if isinstance(s, Assign):
            targets = list(core.pattern_names(s.target))
            copied = isinstance(s.target, str) and isinstance(s.value, core.ast.Name)
            source = s.value.id if copied else None
            for t in reversed(targets):
                self.define(t, alive | set(targets), source)
            return (alive - set(targets)) | self.reads(s.value)
        if isinstance(s, Do):
            return alive | self.reads(s.node)
        if isinstance(s, Define):
            self.define(s.name, alive)
            return (alive - {s.name}) | self.captured[s.name]
        if isinstance(s, If):
            return self.branch(s, alive)
        if isinstance(s, For | While):
            return self.loop(s, alive)
        if isinstance(s, With):
            alive = self.block(s.body, alive)
            for item in s.items:
                if item.optional_vars is not None:
                    (target,) = reads(item.optional_vars)
                    self.define(target, alive)
                    alive = alive - {target}
            return alive | self.reads(*[i.context_expr for i in s.items])
        return alive

    def branch(self, s: If, alive: set[str]) -> set[str]:
        merged = {m.name for m in s.merges}
        for m in s.merges:
            self.define(m.name, alive | merged)
            self.wish(m.name, m.then)
            self.wish(m.name, m.orelse)
        rest = alive - merged
        ends = [
            rest | self.reads(*[getattr(m, side) for m in s.merges]) for side in ("then", "orelse")
        ]
        then, orelse = self.block(s.then, ends[0]), self.block(s.orelse, ends[1])
        return then | orelse | self.reads(s.test)

    def loop(self, s: For | While, alive: set[str]) -> set[str]:
        names = {c.name for c in s.carries}
        outs = {c.out for c in s.carries}
        for c in s.carries:
            self.wish(c.name, c.next)
            self.wish(c.name, c.init)
            self.wish(c.name, core.name(c.out))
            self.define(c.out, alive | outs)
        rest = alive - outs
        test = s.test if isinstance(s, While) else None
        ordered = list(core.pattern_names(s.target)) if isinstance(s, For) else []
        targets = set(ordered)
        header = rest | names | self.reads(test)
        until = self.reads(s.until)
        while True:
            end = (header - names) | self.reads(*[c.next for c in s.carries]) | until
            start = self.block(s.body, end)
            new = header | (start - targets)
            if new == header:
                break
            header = new
        for t in reversed(ordered):
            self.define(t, start | targets)
        for c in s.carries:
            own = c.next.id if isinstance(c.next, core.ast.Name) else None
            # the items are evaluated after the carried names have their first values
            first = self.reads(s.items) if isinstance(s, For) else set()
            self.define(c.name, header | (until - {own}) | first)
            self.define(c.out, header - {c.name} - names)
        items = [s.items] if isinstance(s, For) else []
        before = (header - names) | self.reads(*items, *[c.init for c in s.carries])
        return before - targets

    def wish(self, name: str, value: core.ast.expr) -> None:
        if isinstance(value, core.ast.Name) and is_local(value.id):
            self.wishes.append((name, value.id))


def give_names(function: Function, captured: set[str]) -> dict[str, str]:
    """A Python name for each local name of the function (its nested functions apart).

    `captured` are names of the functions around it that it reads.
    """
    interference = Interference(function)
    leader: dict[str, str] = {}
    members: dict[str, set[str]] = {}

    def find(n: str) -> str:
        while leader.setdefault(n, n) != n:
            n = leader[n]
        return n

    params = {p.name for p in function.params}
    reserved = reserved_names(function) | captured
    users, former = users_words(function), former_values(function)
    seen = names_read(function)
    for a, b in interference.wishes:
        x, y = find(a), find(b)
        if x == y or core.base(a) != core.base(b):
            continue
        left, right = members.get(x, {x}), members.get(y, {y})
        if any(interference.edges.get(n, set()) & right for n in left):
            continue
        leader[y] = x
        members[x] = left | right
    colour: dict[str, str] = {}
    ordered = sorted(params, key=interference.order.index) + interference.order
    for n in ordered:
        top = find(n)
        if top in colour:
            continue
        group = members.get(top, {top})
        clash = {find(e) for m in group for e in interference.edges.get(m, ())}
        taken = {colour[c] for c in clash if c in colour} | reserved
        stem = core.base(n)
        if stem == "_" and n not in params:
            if n not in seen and not any(core.base(p) == "_" for p in params):
                colour[top] = stem  # never read, so it may name anything
                continue
            stem = "value"
        if n in params:  # the user's own names are all different; a pass may add one more
            taken = {colour[find(p)] for p in params if find(p) in colour} | captured
        other = "old" if n in former else "new"
        colour[top] = first_free(stem, taken, users, other)
    return {n: colour[find(n)] for n in interference.order}


def names_read(function: Function) -> set[str]:
    """Names called `_` that are read all the same."""
    found: set[str] = set()

    def visit(node: core.ast.AST) -> core.ast.AST:
        found.update(n for n in reads(node) if core.base(n) == "_")
        return node

    core.map_function(function, visit)
    return found


def users_words(function: Function) -> set[str]:
    """The variables of the user's own statements."""
    found = {p.name for p in function.params}
    for s in core.walk(function.body):
        if isinstance(s, Assign | For) and s.origin.line:
            found |= set(core.pattern_names(s.target))
    return {core.base(n) for n in found}


def former_values(function: Function) -> set[str]:
    """What loops read from records: values of before, the first one of each variable."""
    found: set[str] = set()
    for s in core.walk(function.body):
        if isinstance(s, For) and not s.origin.line:
            first = {core.base(n): n for n in reversed(list(core.pattern_names(s.target)))}
            found |= set(first.values())
    return found


def first_free(stem: str, taken: set[str], users: set[str], other: str) -> str:
    """A name for a value: the user's, `v_new` for another value of `v` beside it, or numbered."""
    if keyword.iskeyword(stem):
        stem += "_"
    name, number = stem, 1
    if stem in taken and stem in users and f"{stem}_{other}" not in taken | users:
        return f"{stem}_{other}"
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name


def reserved_names(function: Function) -> set[str]:
    """Names that locals must not hide: those it, or one nested in it, reads from its module."""
    found = {n.removeprefix("@") for n in core.globals_of(function)} | set(function.cells)
    for s in core.walk(function.body):
        if isinstance(s, Define):
            found |= reserved_names(s.function)
    return found | {n for n in found if hasattr(builtins, n)}
