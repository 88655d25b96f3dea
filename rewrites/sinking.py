"""Sinking: a branch that only prepares for a later one on the same test is done in that one.

if far:                                   if far:
    root = np.sqrt(x)                         root = np.sqrt(x)
...                                ->         x_bar = 0.5 / root
if far:
    x_bar = 0.5 / root
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, Function, If, Note, Stmt, While
from overt.rewrites.liveness import Pruner, uses_in, uses_of
from overt.rewrites.placeholders import recorded_names

ASKING = (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant)


def sunk(function: Function, pruner: Pruner) -> Function:
    """The function with such branches joined to those that a pass has made for their sake."""
    tests = [ast.dump(s.test) for s in core.walk(function.body) if isinstance(s, If)]
    if len(tests) == len(set(tests)):
        return function
    return Sinking(function, pruner).run()


class Sinking:
    def __init__(self, function: Function, pruner: Pruner) -> None:
        self.function, self.pruner = function, pruner
        self.uses = uses_of(function)

    def run(self) -> Function:
        return replace(self.function, body=self.block(self.function.body))

    def block(self, block: Block) -> Block:
        done: list[Any] = list(block)
        for i in range(len(done)):
            s = done[i]  # perhaps joined already
            if isinstance(s, If) and is_asking(s.test):
                self.sink(done, i, s)
        return tuple(self.within(s) for s in done if not isinstance(s, Gone))

    def within(self, s: Stmt) -> Stmt:
        if isinstance(s, If):
            return replace(s, then=self.block(s.then), orelse=self.block(s.orelse))
        if isinstance(s, For | While):
            return replace(s, body=self.block(s.body))
        return s

    def sink(self, done: list[Any], i: int, s: If) -> None:
        """Move the branch at `i` into the first later one on its test, if that alone reads it."""
        if not is_plain((s,), self.pruner):
            return
        for j in range(i + 1, len(done)):
            later = done[j]
            if isinstance(later, If) and ast.dump(later.test) == ast.dump(s.test):
                inside = uses_in((later,))
                mine = {m.name for m in s.merges}
                if not later.origin.line and all(inside[n] == self.uses[n] for n in mine):
                    done[i], done[j] = Gone(), joined(s, later)
                return
            if not isinstance(later, Gone) and not is_plain((later,), self.pruner):
                return


class Gone:
    """Where a branch has stood."""


def is_plain(block: Block, pruner: Pruner) -> bool:
    """Whether statements have no effect, so that what stands before them may stand behind."""
    for s in core.walk(block):
        if isinstance(s, Assign):
            names = core.pattern_names(s.target)
            if not pruner.is_pure(s.value) or not all(map(core.is_local, names)):
                return False
        elif isinstance(s, If):
            if not pruner.is_pure(s.test):
                return False
        elif isinstance(s, For | While):
            head = s.items if isinstance(s, For) else s.test
            if not pruner.is_pure(head, *(c.init for c in s.carries)):
                return False
        elif not isinstance(s, Note):
            return False
    return True


def is_asking(test: ast.expr) -> bool:
    """Whether a test gives the same wherever it stands."""
    kinds = (*ASKING, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)
    return all(isinstance(n, kinds) for n in ast.walk(test)) and all(
        map(core.is_local, core.reads(test))
    )


def joined(s: If, later: If) -> If:
    """One branch that does both: what the first one hands out stays inside."""
    sides: list[Block] = []
    ends: list[list[ast.expr]] = []
    for side in ("then", "orelse"):
        table = {m.name: getattr(m, side) for m in s.merges}
        read = core.map_exprs(getattr(later, side), core.Renaming(table))
        sides.append((*getattr(s, side), *read))
        ends.append([core.substitute(getattr(m, side), table) for m in later.merges])
    merges = tuple(core.Merge(m.name, *two) for m, *two in zip(later.merges, *ends, strict=True))
    return replace(later, then=sides[0], orelse=sides[1], merges=merges)


def answered(function: Function) -> Function:
    """A test that a branch did not reach counts as failed where it is asked for all the same."""
    tests = {getattr(s.test, "id", "") for s in core.walk(function.body) if isinstance(s, If)}
    asked = {
        s.target
        for s in core.walk(function.body)
        if isinstance(s, Assign) and s.target in tests
        if isinstance(s.value, ast.Compare | ast.BoolOp)
    }
    recorded = recorded_names(function)
    if not asked or not recorded:
        return function
    while True:
        more = {
            m.name
            for s in core.walk(function.body)
            for m in (s.merges if isinstance(s, If) else ())
            if all(
                core.is_placeholder(v) or core.reads(v) & asked == {getattr(v, "id", "")}
                for v in (m.then, m.orelse)
            )
        }
        if more <= asked:
            break
        asked |= more
    return replace(function, body=with_answers(function.body, asked & recorded))


def with_answers(block: Block, names: set[str]) -> Block:
    done: list[Stmt] = []
    for s in block:
        if isinstance(s, If):
            merges = tuple(
                core.Merge(m.name, *(false_for(v) for v in (m.then, m.orelse)))
                if m.name in names
                else m
                for m in s.merges
            )
            then, orelse = with_answers(s.then, names), with_answers(s.orelse, names)
            s = replace(s, then=then, orelse=orelse, merges=merges)
        elif isinstance(s, For | While):
            s = replace(s, body=with_answers(s.body, names))
        done.append(s)
    return tuple(done)


def false_for(value: ast.expr) -> ast.expr:
    return core.constant(False) if core.is_placeholder(value) else value
