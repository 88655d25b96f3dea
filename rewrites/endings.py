"""Endings: what a branch or loop hands on gets its name where it is computed, as late as needed.

new = x * (1.0 - x)                       total = total + x
total = total + x               ->        x = x * (1.0 - x)
x = new
"""

from __future__ import annotations

import ast
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, Function, If, Names, Stmt, While, With
from overt.rewrites.liveness import Pruner, uses_in, uses_of
from overt.rewrites.sinking import is_plain


def settled(function: Function, pruner: Pruner) -> Function:
    """The function with fewer copies at the ends of its branches and loops."""
    if not any(isinstance(s, If | For | While) for s in core.walk(function.body)):
        return function
    return Settling(function, pruner).run()


class Settling:
    def __init__(self, function: Function, pruner: Pruner) -> None:
        self.function, self.pruner = function, pruner
        self.names = Names()
        self.names.reserve(function)
        self.uses = uses_of(function)

    def run(self) -> Function:
        return replace(self.function, body=self.block(self.function.body))

    def block(self, block: Block) -> Block:
        return tuple(map(self.statement, block))

    def statement(self, s: Stmt) -> Stmt:
        if isinstance(s, If):
            then, first = self.side(s.then, [(m.name, m.then) for m in s.merges])
            orelse, second = self.side(s.orelse, [(m.name, m.orelse) for m in s.merges])
            merges = tuple(
                core.Merge(m.name, a, b) for m, a, b in zip(s.merges, first, second, strict=True)
            )
            return replace(s, then=then, orelse=orelse, merges=merges)
        if isinstance(s, For | While):
            until = [] if s.until is None else [(core.SEPARATOR, s.until)]
            body, ends = self.side(s.body, [*[(c.name, c.next) for c in s.carries], *until])
            carries = tuple(replace(c, next=e) for c, e in zip(s.carries, ends, strict=False))
            return replace(s, body=body, carries=carries)
        if isinstance(s, With):
            return replace(s, body=self.block(s.body))
        return s

    def side(self, block: Block, ends: list[tuple[str, ast.expr]]) -> tuple[Block, list[ast.expr]]:
        """A nested block and the values that leave it, each under the name that it gets."""
        table: dict[str, ast.expr] = {}
        made = {s.target: s for s in block if isinstance(s, Assign) and isinstance(s.target, str)}
        wanted: dict[str, str] = {}  # what only leaves the block, and the name that it gets
        for name, end in ends:
            if not (isinstance(end, ast.Name) and end.id in made and self.uses[end.id] == 1):
                continue
            stem, own = core.base(name), core.base(end.id)
            s = made[end.id]
            if own != stem and stem and not s.origin.line:
                table[end.id] = core.name(self.names.fresh(stem))
                own = stem
            if own == stem:
                wanted[end.id] = stem
        block = self.last(list(block), wanted)
        if table:
            block = tuple(
                replace(s, target=table[s.target].id)  # type: ignore[attr-defined]
                if isinstance(s, Assign) and s.target in table
                else s
                for s in block
            )
        return self.block(block), [core.substitute(e, table) for _, e in ends]

    def last(self, block: list[Stmt], wanted: dict[str, str]) -> Block:
        """What gives a name its next value stands behind what reads the one before."""
        moving: list[Assign] = []
        for i, s in enumerate(block):
            if not (isinstance(s, Assign) and s.target in wanted) or s.origin.above:
                continue
            stem = wanted[s.target]  # type: ignore[index]
            behind = tuple(block[i + 1 :])
            if stem in {core.base(n) for n in uses_in(behind)} and is_plain(
                (s, *behind), self.pruner
            ):
                moving.append(s)
        rest = [s for s in block if not any(s is m for m in moving)]
        while moving:  # first those whose former value no other of them reads
            for s in moving:
                stem = wanted[s.target]  # type: ignore[index]
                others = {core.base(n) for m in moving if m is not s for n in core.reads(m.value)}
                if stem not in others:
                    break
            else:
                s = moving[0]
            moving = [m for m in moving if m is not s]
            rest.append(s)
        return tuple(rest)
