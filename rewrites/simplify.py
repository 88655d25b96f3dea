"""Simplify: generated code made plainer until nothing changes; it computes the same.

product = f * c                     c_new = f * c + i * np.tanh(g)
tanh_g = np.tanh(g)            ->
product_1 = i * tanh_g
c_new = product + product_1
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.algebra import plainer
from overt.rewrites.core import Assign, Block, Carry, For, Function, If, Merge, Stmt, While, With
from overt.rewrites.endings import settled
from overt.rewrites.nesting import Nesting, ProgramPruner
from overt.rewrites.pushes import is_push
from overt.rewrites.reuse import reused
from overt.rewrites.sinking import sunk

if TYPE_CHECKING:
    from overt.rewrites.program import Program

ROUNDS = 6  # after which what still changes stays as it is


def simplify(function: Function, program: Program) -> Function:
    """The function, plainer; it computes the same."""
    for _ in range(ROUNDS):
        before = function
        function = made_plainer(function)
        function = records_joined(function)
        function = pruned(function, program)
        function = sunk(function, pruner_of(function, program))
        function = Nesting(function, program).run()
        if function == before:
            function = reused(function, program.resolver)
            if function == before:
                break
    function = reused(function, program.resolver)
    function = pruned(Nesting(function, program).run(closing=True), program)
    function = made_plainer(function)
    return settled(function, pruner_of(function, program))


def records_joined(function: Function) -> Function:
    """One record where two of a loop would hold the same."""
    table: dict[str, ast.expr] = {}
    for s in core.walk(function.body):
        if not isinstance(s, For | While):
            continue
        pushes = {t.target: t.value for t in s.body if isinstance(t, Assign) and is_push(t.value)}
        seen: dict[str, str] = {}
        for c in s.carries:
            pushed = pushes.get(c.next.id) if isinstance(c.next, ast.Name) else None
            if pushed is None or not isinstance(c.init, ast.Call):
                continue
            held = ast.dump(core.tuple_of(pushed.args))
            if held in seen:
                table[c.out] = core.name(seen[held])
            seen.setdefault(held, c.out)
    if not table:
        return function
    return core.map_function(function, lambda e: core.substitute(e, table))


def made_plainer(function: Function) -> Function:
    """Algebra on what the passes wrote; the user's own statements stay as they are."""
    result = function.result
    if isinstance(result, ast.Tuple) and function.users:
        parts = [e if i in function.users else plainer(e) for i, e in enumerate(result.elts)]
        result = core.tuple_of(parts)
    elif function.users is not None:
        result = plainer(result)
    return replace(function, body=plainer_block(function.body), result=result)


def plainer_block(block: Block) -> Block:
    done: list[Stmt] = []
    for s in block:
        if isinstance(s, Assign):
            users = s.origin.line or core.is_part(s.origin)
            done.append(s if users else replace(s, value=plainer(s.value)))
        elif isinstance(s, If):
            merges = tuple(Merge(m.name, plainer(m.then), plainer(m.orelse)) for m in s.merges)
            then, orelse = plainer_block(s.then), plainer_block(s.orelse)
            done.append(replace(s, then=then, orelse=orelse, merges=merges))
        elif isinstance(s, For | While):
            carries = tuple(
                Carry(c.name, plainer(c.init), plainer(c.next), c.out) for c in s.carries
            )
            done.append(replace(s, carries=carries, body=plainer_block(s.body)))
        elif isinstance(s, With):
            done.append(replace(s, body=plainer_block(s.body)))
        else:
            done.append(s)
    return tuple(done)


def pruned(function: Function, program: Program) -> Function:
    pruner = pruner_of(function, program)
    body, _ = pruner.block(function.body, pruner.reads(function.result))
    return replace(function, body=body)


def pruner_of(function: Function, program: Program) -> ProgramPruner:
    pruner = ProgramPruner(function, program.source.namespace)
    pruner.program = program
    return pruner
