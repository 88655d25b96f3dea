"""Loops over `zip` and `enumerate` that give one name to what they pair.

    for r in zip(x, y):  ->  for r_x, r_y in zip(x, y):
        t += r[0] * r[1]         r = (r_x, r_y)
                                 t += r[0] * r[1]

The parts of the pair then have cotangents of their own.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.activity import Activity
from overt.rewrites.core import Assign, Block, Define, For, Names
from overt.rewrites.rules import Resolver


class Pairs:
    """Gives a name to each part of what such loops run over."""

    def __init__(self, resolver: Resolver, names: Names, activity: Activity | None = None) -> None:
        self.resolver, self.names, self.activity = resolver, names, activity
        self.found = False

    def block(self, block: Block) -> Block:
        return tuple(map(self.statement, block))

    def statement(self, s: core.Stmt) -> core.Stmt:
        if isinstance(s, Define):
            return s
        blocks = core.blocks_of(s)
        s = core.with_blocks(s, [self.block(b) for b in blocks]) if blocks else s
        if not isinstance(s, For) or self.activity and not self.activity.expr(s.items):
            return s
        whole: list[core.Stmt] = []
        target = self.parts(s.target, s.items, whole)
        return replace(s, target=target, body=(*whole, *s.body)) if whole else s

    def parts(self, target: core.Pattern, items: ast.expr, whole: list[core.Stmt]) -> core.Pattern:
        """The target with a tuple for each name of a pair; what puts the pairs together again."""
        fn = self.resolver.object(items.func) if isinstance(items, ast.Call) else None
        if not isinstance(items, ast.Call) or any(isinstance(a, ast.Starred) for a in items.args):
            return target
        if fn is reversed and len(items.args) == 1:
            return self.parts(target, items.args[0], whole)
        if fn is not zip and fn is not enumerate or not items.args:
            return target
        runs = items.args if fn is zip else [None, items.args[0]]
        if isinstance(target, str):
            stems = [core.base(a.id) if isinstance(a, ast.Name) else "item" for a in runs if a]
            if fn is enumerate:
                stems.insert(0, "i")
            names = tuple(self.names.fresh(f"{core.base(target)}_{stem}") for stem in stems)
            whole.append(Assign(target, core.tuple_of([core.name(n) for n in names])))
            target, self.found = names, True
        if len(target) != len(runs) or "*" in target[:1]:
            return target
        return tuple(
            t if a is None else self.parts(t, a, whole) for t, a in zip(target, runs, strict=True)
        )
