"""Unset variables: what stands for one that is handed on all the same."""

from __future__ import annotations

import ast
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.core import For, If, Merge, Stmt, While, With


def with_placeholders(block: tuple[Stmt, ...], kept: set[str]) -> tuple[Stmt, ...]:
    """A block in which names that are kept have a placeholder where they are not set."""
    merges = [m for s in core.walk(block) if isinstance(s, If) for m in s.merges]
    while True:
        names = {n for m in merges if m.name in kept for n in core.reads(m.then)}
        names |= {n for m in merges if m.name in kept for n in core.reads(m.orelse)}
        if names <= kept:
            break
        kept = kept | names

    def placed(value: ast.expr) -> ast.expr:
        unset = isinstance(value, ast.Name) and value.id == core.UNDEFINED
        return core.name(f"@{core.UNDEFINED}") if unset else value

    def visit(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for s in inner:
            if isinstance(s, If):
                found = tuple(
                    Merge(m.name, placed(m.then), placed(m.orelse)) if m.name in kept else m
                    for m in s.merges
                )
                s = replace(s, then=visit(s.then), orelse=visit(s.orelse), merges=found)
            elif isinstance(s, For | While | With):
                s = replace(s, body=visit(s.body))
            done.append(s)
        return tuple(done)

    return visit(block)
