"""Sweep: walks a flattened function backwards, building its reverse sweep and what it must save."""

from __future__ import annotations

from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, If, Stmt, While, With
from overt.rewrites.refusal import Refusal
from overt.rewrites.reverse_branches import reversed_block, reversed_branch
from overt.rewrites.reverse_calls import Calls
from overt.rewrites.reverse_loops import reversed_loop


class Sweep(Calls):
    """The reverse sweep of one function."""

    def run(self) -> tuple[Block, Block]:
        """The forward body, perhaps with more saved, and the reverse sweep."""
        try:
            forward = self.block(self.function.body)
        except Refusal as refusal:
            raise self.program.located(refusal, self.function) from None
        return forward, tuple(self.out)

    def block(self, block: Block) -> Block:
        forward: list[Stmt] = []
        for s in reversed(block):
            mark = len(self.out)
            try:
                forward[:0] = self.statement(s)
                for i, t in enumerate(self.out[mark:], mark):
                    self.out[i] = replace(t, origin=core.undoing(t.origin, s.origin))
            except Refusal as refusal:
                if not refusal.line and s.origin.line:
                    refusal.line = s.origin.line
                raise
        return tuple(forward)

    def statement(self, s: Stmt) -> list[Stmt]:
        if isinstance(s, Assign):
            return self.assign(s)
        if isinstance(s, If):
            return [reversed_branch(self, s)]
        if isinstance(s, For | While):
            return [reversed_loop(self, s)]
        if isinstance(s, With):
            return reversed_block(self, s)
        return [s]
