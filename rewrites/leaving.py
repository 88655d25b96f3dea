"""Blocks that are left before their end: what follows moves into the other branch.

if x > 1.0:                           if x > 1.0:
    <leave, doing y = 0.0>      ->        y = 0.0
y = x * x                             else:
                                          y = x * x

Out of a loop, or where both sides may go on, a flag says that the block was left.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import Any

from overt.rewrites.exits import LOOPS, always_exits, assign, branch, is_true, load, negated
from overt.rewrites.scopes import NESTED, new_name

Stmts = list[ast.stmt]
SMALL = 1  # statements that rather stand twice than behind a flag


@dataclass(eq=False)
class Way:
    """A way out of a block: what is done when it is taken."""

    body: Stmts
    stem: str = "failed"  # of its flag
    flag: str = ""
    late: bool = False  # done behind the block, where several places lead to it

    def __deepcopy__(self, memo: Any) -> Way:
        return self


class Leave(ast.Pass):
    """A place at which a block is left: by which way, and what is done before its body."""

    def __init__(self, way: Way | None = None, before: Stmts = (), make: Stmts = ()) -> None:  # type: ignore[assignment]
        super().__init__()
        self.way: Any = way
        self.before, self.make = list(before), list(make)  # `make` stays right after a loop
        self.again = False


@dataclass(eq=False)
class Leaving:
    """Removes the places at which one block is left."""

    ways: list[Way]
    taken: set[str]
    starts: Stmts = field(default_factory=list)

    def run(self, body: Stmts, tail: Stmts) -> Stmts:
        """The block without them; `tail` follows where it was not left."""
        for way in self.ways:
            count = sum(n.way is way for s in body for n in ast.walk(s) if isinstance(n, Leave))
            made = any(
                n.make for s in body for n in ast.walk(s) if isinstance(n, Leave) and n.way is way
            )
            way.late = count > 1 and not made and size(way.body) > SMALL
        done = self.sequence(body, tail)
        for way in self.ways:
            if way.late:
                done.append(branch(load(self.flag(way)), way.body, [], way.body[0]))
        return [*self.starts, *done]

    def flag(self, way: Way) -> str:
        if not way.flag:
            way.flag = new_name(way.stem, self.taken)
            self.starts.append(assign(way.flag, ast.Constant(False)))
        return way.flag

    def left_in(self, node: ast.AST) -> list[Leave]:
        return [n for n in ast.walk(node) if isinstance(n, Leave) and n.way in self.ways]

    def sequence(self, body: Stmts, tail: Stmts, later: bool = False) -> Stmts:
        """Statements, those behind a place of leaving moved to where it was not left."""
        done: Stmts = []
        for i, s in enumerate(body):
            rest = body[i + 1 :]
            if isinstance(s, Leave) and s.way in self.ways:
                return [*done, *self.left(s, later)]
            if not self.left_in(s):
                done.append(s)
                if ends([s]):
                    return done
                continue
            if isinstance(s, ast.If):
                sides = [s.body, s.orelse]
                ended = [ends(side) for side in sides]
                if any(ended) or not (rest or tail):
                    then, orelse = (
                        self.sequence(side if e else [*side, *rest], [] if e else tail, later)
                        for side, e in zip(sides, ended, strict=True)
                    )
                    return [*done, either(s, then, orelse)]
            checks: Stmts = []
            for place in self.left_in(s):
                if not any(c.body[0].way is place.way for c in checks):  # type: ignore[attr-defined]
                    again = ast.copy_location(Leave(place.way, [], place.make), s)
                    again.again = True  # type: ignore[attr-defined]
                    flag = load(self.flag(place.way))
                    checks.append(ast.copy_location(ast.If(flag, [again], []), s))
            return [*done, self.flagged(s), *self.sequence([*checks, *rest], tail, later)]
        return done + tail

    def left(self, s: Leave, later: bool) -> Stmts:
        """What a place of leaving does."""
        if not later and not s.way.late:
            return [*s.before, *s.make, *copy.deepcopy(s.way.body)] or [ast.Pass()]
        up = [] if s.again else [assign(self.flag(s.way), ast.Constant(True), s)]
        return [*s.before, *up]

    def flagged(self, s: ast.stmt) -> ast.stmt:
        """A statement that raises flags where it leaves the block."""
        if isinstance(s, LOOPS):
            body = self.in_loop(s.body)
            orelse = self.sequence(s.orelse, [], later=True)
            new: ast.stmt
            if isinstance(s, ast.For):
                new = ast.For(s.target, s.iter, body, orelse)
            else:
                new = ast.While(s.test, body, orelse)
        elif isinstance(s, ast.If):
            then, orelse = (self.sequence(side, [], later=True) for side in (s.body, s.orelse))
            new = either(s, then, orelse)
        else:
            assert isinstance(s, ast.With)
            new = ast.With(s.items, self.sequence(s.body, [], later=True))
        return ast.copy_location(new, s)

    def in_loop(self, body: Stmts) -> Stmts:
        """The body of a loop, which a `break` leaves."""
        done: Stmts = []
        for s in body:
            if isinstance(s, Leave) and s.way in self.ways:
                stop = ast.copy_location(ast.Break(), s)
                return [*done, *s.before, assign(self.flag(s.way), ast.Constant(True), s), stop]
            if not self.left_in(s):
                done.append(s)
            elif isinstance(s, ast.If):
                done.append(either(s, self.in_loop(s.body), self.in_loop(s.orelse)))
            elif isinstance(s, LOOPS):
                flags = [load(self.flag(way)) for way in self.ways if way in ways_in(s)]
                test = flags[0] if len(flags) == 1 else ast.BoolOp(ast.Or(), list(flags))
                stop = ast.copy_location(ast.Break(), s)
                done += [self.flagged(s), branch(test, [stop], [], s)]
            else:
                assert isinstance(s, ast.With)
                done.append(ast.copy_location(ast.With(s.items, self.in_loop(s.body)), s))
        return done


def either(s: ast.If, then: Stmts, orelse: Stmts) -> ast.stmt:
    """The branch with other sides, written the simpler way round."""
    if orelse and not then or all(type(b) is ast.Pass for b in then) and orelse:
        then, orelse = orelse, []
        return ast.copy_location(ast.If(negated(s.test), then, orelse), s)
    return ast.copy_location(ast.If(s.test, then or [ast.Pass()], orelse), s)


def ways_in(node: ast.AST) -> list[Way]:
    return [n.way for n in ast.walk(node) if isinstance(n, Leave)]


def size(body: Stmts) -> int:
    return sum(isinstance(n, ast.stmt) for s in body for n in ast.walk(s))


def ends(body: Stmts) -> bool:
    """Whether control never reaches the end of a block."""
    for s in body:
        if isinstance(s, Leave):
            return True
        if isinstance(s, ast.If) and not is_true(s.test):
            if ends(s.body) and ends(s.orelse):
                return True
        elif isinstance(s, NESTED):
            continue
        elif always_exits([s]):
            return True
    return False
