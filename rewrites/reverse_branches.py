"""Reverse of a branch: the same branch again, each side undone, cotangents merged after it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.attempts import caught_by
from overt.rewrites.bars import Bar
from overt.rewrites.core import Assign, Block, Function, If, Merge, Stmt, With
from overt.rewrites.flatten import is_cheap

if TYPE_CHECKING:
    from overt.rewrites.sweep import Sweep

SETTINGS = ("overt.runtime.places", "overt.runtime.config")  # whose blocks hold in reverse as well


def reversed_branch(sweep: Sweep, s: If) -> If:
    """The forward branch, with what its reverse reads handed out of it."""
    given = []
    for m in s.merges:
        bar = sweep.take(m.name)
        if bar is not None:
            given.append((m, replace(bar, expr=sweep.full(m.name, bar), lazy=False)))
    return reversed_sides(sweep, s, given) if given else s


def reversed_block(sweep: Sweep, s: With) -> list[Stmt]:
    """The forward block; one that catches exceptions is undone where it has caught none."""
    error = caught_by(s)
    if error is None:
        mark = len(sweep.out)
        forward = replace(s, body=sweep.block(s.body))
        undone = tuple(sweep.out[mark:])
        if undone and all(is_setting(sweep, item) for item in s.items):
            sweep.out[mark:] = [With(s.items, undone)]
        return [forward]
    done = reversed_sides(sweep, If(core.name(error), (), s.body, ()), [])
    handed_out = [replace(done, orelse=())] if done.merges else []
    return [replace(s, body=done.orelse), *handed_out]


def is_setting(sweep: Sweep, item: ast.withitem) -> bool:
    """Whether a block names its operations or changes how they are computed, and no more."""
    call = item.context_expr
    if item.optional_vars is not None or not isinstance(call, ast.Call):
        return False
    if any(
        not isinstance(x, ast.Constant) for x in (*call.args, *[k.value for k in call.keywords])
    ):
        return False
    entered = sweep.program.resolver.object(call.func)
    return getattr(entered, "__module__", None) in SETTINGS


def reversed_sides(sweep: Sweep, s: If, given: list[tuple[Merge, Bar]]) -> If:
    """Each side undone, from the cotangents `given` for what the sides merge."""
    before, outer = dict(sweep.bars), sweep.out
    own = core.assigned(s.then) | core.assigned(s.orelse)
    attempted = attempts_before(sweep.function, s.test)
    sides = []
    for side, block in (("then", s.then), ("orelse", s.orelse)):
        sweep.bars, sweep.out = dict(before), []
        for m, bar in given:
            sweep.give(getattr(m, side), bar.expr, bar.array, bar.missing)
        forward = sweep.block(block)
        sweep.bars = {n: b for n, b in sweep.bars.items() if n not in own}
        for n, b in list(sweep.bars.items()):
            if b is not before.get(n):
                sweep.bars[n] = replace(b, expr=sweep.full(n, b), lazy=False)
        sides.append((forward, sweep.bars, tuple(sweep.out)))
    sweep.bars, sweep.out = {n: b for n, b in before.items() if n not in own}, outer
    (then, then_bars, then_out), (orelse, else_bars, else_out) = sides
    merges = []
    for n in sorted({*then_bars, *else_bars}):
        one_bar, two_bar, old = then_bars.get(n), else_bars.get(n), before.get(n)
        if one_bar is old and two_bar is old:
            continue
        array = all(x.array for x in (one_bar, two_bar) if x is not None)
        if one_bar is None and n in attempted:  # not set after an exception, and not read then
            one: ast.expr = core.constant(0.0)
        else:
            one = one_bar.expr if one_bar is not None else sweep.zero(n, array)
        two = two_bar.expr if two_bar is not None else sweep.zero(n, array)
        held = sweep.names.fresh(f"{core.base(n)}_bar")
        sweep.shapes.known[held] = sweep.shape(n)
        merges.append(Merge(held, one, two))
        missing = any(x.missing for x in (one_bar, two_bar) if x is not None)
        sweep.bars[n] = Bar(core.name(held), False, array, missing=missing)
    exports: list[Merge] = []
    then_out = exported(sweep, then, then_out, merges, s, "then", exports)
    else_out = exported(sweep, orelse, else_out, merges, s, "orelse", exports)
    if merges or then_out or else_out:
        sweep.out.append(If(s.test, then_out, else_out, tuple(merges), core.NOWHERE))
    return replace(s, then=then, orelse=orelse, merges=(*s.merges, *exports))


def attempts_before(function: Function, test: ast.expr) -> set[str]:
    """Names set in the blocks whose exception a test asks for."""
    found: set[str] = set()
    if isinstance(test, ast.Name):
        for s in core.walk(function.body):
            if isinstance(s, With) and caught_by(s) == test.id:
                found |= core.assigned(s.body)
    return found


def exported(
    sweep: Sweep,
    forward: Block,
    reverse: Block,
    merges: list[Merge],
    s: If,
    side: str,
    exports: list[Merge],
) -> Block:
    """What a branch's reverse reads of its forward: computed again if cheap, or handed out."""
    own = core.assigned(forward)
    ends = set().union(*[core.reads(getattr(m, side)) for m in merges]) if merges else set()
    needed = (core.free(reverse) | ends) & own
    table: dict[str, ast.expr] = {}
    again: list[Stmt] = []
    definitions = {
        t.target: t for t in forward if isinstance(t, Assign) and isinstance(t.target, str)
    }
    exposed = {v.id: m.name for m in s.merges if isinstance(v := getattr(m, side), ast.Name)}
    order = [t.target for t in forward if isinstance(t, Assign) and isinstance(t.target, str)]
    tests = {getattr(t.test, "id", "") for t in forward if isinstance(t, If)}

    def is_again(n: str) -> bool:
        value = definitions[n].value
        return n not in exposed and (is_cheap(value) or n in tests and is_comparison(value))

    wanted = set(needed)
    for n in reversed(order):
        if n in wanted and is_again(n):
            wanted |= core.reads(definitions[n].value) & own
    cheap = [n for n in order if n in wanted and is_again(n)]
    for n in sorted(wanted - set(cheap), key=core.positions(forward).__getitem__):
        if n in exposed:
            table[n] = core.name(exposed[n])
            continue
        held = sweep.names.fresh(n)
        sweep.shapes.known[held] = sweep.shape(n)
        undefined = core.name("@Undefined")
        then, orelse = (core.name(n), undefined) if side == "then" else (undefined, core.name(n))
        exports.append(Merge(held, then, orelse))
        table[n] = core.name(held)
    for n in cheap:
        held = sweep.names.fresh(n)
        sweep.shapes.known[held] = sweep.shape(n)
        again.append(Assign(held, core.substitute(definitions[n].value, table)))
        table[n] = core.name(held)
    for i, m in enumerate(merges):
        merges[i] = replace(m, **{side: core.substitute(getattr(m, side), table)})
    return tuple(again) + core.map_exprs(reverse, lambda e: core.substitute(e, table))


def is_comparison(node: ast.expr) -> bool:
    """Whether an expression compares names and numbers, or joins two such questions."""
    if isinstance(node, ast.BoolOp) and len(node.values) == 2:
        return all(isinstance(v, ast.Compare) and is_comparison(v) for v in node.values)
    return isinstance(node, ast.Compare) and all(
        isinstance(x, ast.Name | ast.Constant) for x in (node.left, *node.comparators)
    )
