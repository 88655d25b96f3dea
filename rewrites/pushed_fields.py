"""Pushed fields: what the entries of a record stand for, in a derivative that is derived again.

saved = saved.pushed(j, y)
...
for i, x in saved.reversed():       # i is one of the j, which count; x is one of the y
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from overt.rewrites import core
from overt.rewrites.core import Assign, For, If, While
from overt.rewrites.pushes import is_push

Row = list[ast.expr]
# What each part of a loop's target runs over.
Iterated = Callable[[core.Pattern, ast.expr], list[tuple[core.Pattern, ast.expr]]]


class PushedFields:
    """The pushes that have made each record of a function."""

    def __init__(self, function: core.Function, iterated: Iterated) -> None:
        self.iterated = iterated
        self.rows: dict[str, Row] = {}  # what was pushed last, by the name that has it
        self.same: dict[str, set[str]] = {}  # names that a record has, or may have, as well
        self.items: dict[str, tuple[str, int]] = {}  # records in the entries of a record
        for s in core.walk(function.body):
            self.statement(s)

    def statement(self, s: core.Stmt) -> None:
        if isinstance(s, Assign) and isinstance(s.target, str):
            if is_push(s.value):
                self.rows[s.target] = s.value.args  # type: ignore[attr-defined]
                self.also(s.target, s.value.func.value)  # type: ignore[attr-defined]
            else:
                self.also(s.target, s.value)
        elif isinstance(s, If):
            for m in s.merges:
                self.also(m.name, m.then, m.orelse)
        elif isinstance(s, For | While):
            for c in s.carries:
                self.also(c.name, c.init, c.next)
                self.also(c.out, core.name(c.name))
        if isinstance(s, For):
            for target, record in self.iterated(s.target, s.items):
                if isinstance(target, tuple) and isinstance(record, ast.Name):
                    fields = enumerate(target)
                    self.items |= {t: (record.id, i) for i, t in fields if isinstance(t, str)}

    def also(self, name: str, *values: ast.expr) -> None:
        found = {v.id for v in values if isinstance(v, ast.Name)}
        if found:
            self.same.setdefault(name, set()).update(found)

    def of(self, name: str) -> list[Row]:
        """The pushes that have made a record, as far as they are known."""
        names, new = set[str](), {name}
        while new:
            names |= new
            new = set[str]().union(*(self.before(n) for n in new)) - names
        return [self.rows[n] for n in names if n in self.rows]

    def before(self, name: str) -> Iterator[str]:
        yield from self.same.get(name, ())
        if name in self.items:
            record, place = self.items[name]
            for row in self.of(record):
                if place < len(row) and isinstance(row[place], ast.Name):
                    yield row[place].id  # type: ignore[attr-defined]
