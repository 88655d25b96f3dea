"""Nesting: what a pass computed for one use moves to where it is used, if that still reads well.

product = i * np.tanh(g)            c = f * c + i * np.tanh(g)
c = f * c + product          ->
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.algebra import items_of
from overt.rewrites.core import (
    Assign,
    Block,
    Carry,
    Do,
    For,
    Function,
    If,
    Merge,
    Stmt,
    While,
    With,
)
from overt.rewrites.liveness import Pruner
from overt.rewrites.printing import Printer

if TYPE_CHECKING:
    from overt.rewrites.program import Program

LONGEST = 72  # characters that an expression may have after a name in it was replaced
LONGEST_RESULT = 88  # that a returned tuple may have before its longer parts get names
LONGEST_PART = 32  # that such a part may have without one
LONGEST_ITEM = 24  # that an item of a dictionary of cotangents may have without a name
LONGEST_SELECTION = 20  # that `params["w1"]` may have to be written out wherever it is read


class ProgramPruner(Pruner):
    program: Program

    def is_pure_call(self, node: ast.Call) -> bool:
        return is_pure_in(node, self.program) or super().is_pure_call(node)


def is_pure_in(node: ast.Call, program: Program) -> bool:
    """Whether a call reaches a function without effects, or only prepares a derivative."""
    root = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id == "@np":
        return True
    if isinstance(node.func, ast.Name):
        if node.func.id in program.pure:
            return True
        inner = program.callee(node.func)
        return inner is not None and program.is_straight(inner)
    return False


# What computes its parts more than once, or later.
HIDING = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)


class Nesting:
    """Moves expressions of compiler's names to their only use."""

    def __init__(self, function: Function, program: Program) -> None:
        self.function, self.program = function, program
        self.pruner = ProgramPruner(function, program.source.namespace)
        self.pruner.program = program
        self.uses: Counter[str] = Counter()
        self.places: dict[str, tuple[tuple[str, ...], str]] = {}
        self.items: set[str] = set()  # cotangents that are put into a dictionary
        self.count_block(function.body, ())
        self.count(function.result, (), "value")
        self.unchanging = unchanging(function)
        self.printer = Printer(lambda n: core.base(n).lstrip("@"))

    # --- where names are used

    def count(self, node: ast.AST | None, path: tuple[str, ...], role: str) -> None:
        if node is None:
            return
        nodes = list(ast.walk(node))
        hidden = any(isinstance(n, HIDING) for n in nodes)
        for n in nodes:
            if isinstance(n, ast.Name) and core.is_local(n.id):
                self.uses[n.id] += 1 + hidden
                self.places[n.id] = (path, role)
            elif isinstance(n, ast.Call) and items_of(n) is not None:
                given = [*n.args[:1], *(k.value for k in n.keywords)]
                self.items |= {g.id for g in given if isinstance(g, ast.Name)}

    def count_block(self, block: Block, path: tuple[str, ...]) -> None:
        for i, s in enumerate(block):
            if isinstance(s, Assign):
                self.count(s.value, path, "value")
            elif isinstance(s, Do):
                self.count(s.node, path, "value")
            elif isinstance(s, If):
                self.count(s.test, path, "value")
                ternary = is_made(s) and len(s.merges) == 1
                for m in s.merges:
                    self.count(m.then, (*path, f"{i}then"), "value" if ternary else "merge")
                    self.count(m.orelse, (*path, f"{i}else"), "value" if ternary else "merge")
                self.count_block(s.then, (*path, f"{i}then"))
                self.count_block(s.orelse, (*path, f"{i}else"))
            elif isinstance(s, For | While):
                inside = (*path, f"{i}loop")
                for c in s.carries:
                    self.count(c.init, path, "init")
                    self.count(c.next, inside, "next")
                if isinstance(s, For):
                    self.count(s.items, path, "value")
                else:
                    self.count(s.test, inside, "next")
                self.count(s.until, inside, "next")
                self.count_block(s.body, inside)
            elif isinstance(s, With):
                for item in s.items:
                    self.count(item.context_expr, path, "value")
                self.count_block(s.body, (*path, f"{i}with"))
            elif isinstance(s, core.Define):
                for n in core.free_of_function(s.function):
                    self.uses[n] += 2

    # --- moving

    def run(self, closing: bool = False) -> Function:
        """The function with names moved; those that it returns only when `closing`."""
        pending: dict[str, Assign] = {}
        body, pending = self.block(self.function.body, (), pending)
        result, kept = self.function.result, set[str]()
        returned = core.reads(result)
        if not closing:
            kept = {n for n in pending if not self.is_trivial(pending[n].value)}
        elif isinstance(result, ast.Tuple):
            full = core.substitute(result, {n: a.value for n, a in pending.items()})
            if len(self.printer.text(full)) > LONGEST_RESULT:
                kept = self.worth_a_name(result, pending, self.function.users or ())
        table = {n: a.value for n, a in pending.items() if n not in kept}
        left = [a for n, a in pending.items() if n in kept or n not in returned]
        return replace(self.function, body=(*body, *left), result=core.substitute(result, table))

    def worth_a_name(
        self, result: ast.Tuple, pending: dict[str, Assign], users: tuple[int, ...] = ()
    ) -> set[str]:
        """Parts of a long result that had better keep the names that they have."""
        found: set[str] = set()
        for i, e in enumerate(result.elts):
            if isinstance(e, ast.Tuple):
                found |= self.worth_a_name(e, pending)
            elif isinstance(e, ast.Name) and e.id in pending and i not in users:
                value = pending[e.id].value
                if not self.is_trivial(value) and len(self.printer.text(value)) > LONGEST_PART:
                    found.add(e.id)
        return found

    def block(
        self, block: Block, path: tuple[str, ...], pending: dict[str, Assign]
    ) -> tuple[Block, dict[str, Assign]]:
        done: list[Stmt] = []
        pending = dict(pending)
        for i, s in enumerate(block):
            s, before = self.settle(s, pending, i, path)
            done += before
            if isinstance(s, Assign) and self.is_movable(s, path):
                pending[s.target] = s
            else:
                done.append(s)
        return tuple(done), pending

    def is_movable(self, s: Assign, path: tuple[str, ...]) -> bool:
        if not isinstance(s.target, str) or not core.is_local(s.target):
            return False
        if s.origin.line or core.is_tangent(s.origin) or is_outer_variable(s.value):
            return False
        if self.is_trivial(s.value):
            return True
        if self.uses[s.target] != 1:
            return False
        if s.target in self.items and len(self.printer.text(s.value)) > LONGEST_ITEM:
            return False
        where, role = self.places[s.target]
        if where[: len(path)] != path or any(
            step.endswith(("loop", "with")) for step in where[len(path) :]
        ):
            return False
        if role == "init" and isinstance(s.value, ast.Call | ast.BinOp):
            return len(self.printer.text(s.value)) <= LONGEST
        return role == "value" and (where == path or self.is_pure(s.value))

    def is_trivial(self, node: ast.expr) -> bool:
        """Whether an expression reads as well as a name for it would."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node = node.operand
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            short = len(self.printer.text(node)) <= LONGEST_SELECTION
            constant = node.value.id in self.unchanging and not getattr(node, "changing", False)
            return constant and is_key(node.slice) and short
        return isinstance(node, ast.Name | ast.Constant)

    def trivial_of(self, pending: dict[str, Assign]) -> dict[str, Assign]:
        return {n: a for n, a in pending.items() if self.is_trivial(a.value)}

    def is_pure(self, node: ast.AST) -> bool:
        return self.pruner.is_pure(node)

    def settle(
        self, s: Stmt, pending: dict[str, Assign], i: int, path: tuple[str, ...]
    ) -> tuple[Stmt, list[Stmt]]:
        """The statement with pending names replaced, and pending statements that come before it."""
        before: list[Stmt] = []
        if not self.is_pure(s.value if isinstance(s, Assign) else ast.Pass()) or isinstance(s, Do):
            here = own_reads(s)
            for n in list(pending):
                if n not in here and not self.is_pure(pending[n].value):
                    before.append(pending.pop(n))
        if isinstance(s, If):
            return self.settle_if(s, pending, i, path, before), before
        if isinstance(s, For | While):
            return self.settle_loop(s, pending, i, path, before), before
        if isinstance(s, With):
            items = tuple(
                ast.withitem(self.replaced(x.context_expr, pending, before, 999), x.optional_vars)
                for x in s.items
            )
            body, rest = self.block(s.body, (*path, f"{i}with"), self.trivial_of(pending))
            return replace(s, items=items, body=body + tuple(new_ones(rest, pending))), before
        if isinstance(s, Assign):
            limit = 999 if s.origin.line else LONGEST
            if isinstance(s.target, tuple) and not s.origin.line:
                limit -= sum(len(core.base(n)) + 2 for n in core.pattern_names(s.target))
            value = self.replaced(s.value, pending, before, limit)
            return replace(s, value=value), before
        if isinstance(s, Do):
            return replace(s, node=self.replaced(s.node, pending, before, 999)), before
        return s, before

    def replaced(self, node: ast.AST, pending: dict[str, Assign], before: list[Stmt], limit: int):  # type: ignore[no-untyped-def]
        here = [n for n in pending if n in core.reads(node)]
        table: dict[str, ast.expr] = {}
        for n in here:
            if self.is_trivial(pending[n].value):
                table[n] = pending[n].value
        for n in here:
            if n in table:
                continue
            trial = core.substitute(node, {**table, n: pending[n].value})
            if gathers(node, pending[n].value):
                table[n] = pending.pop(n).value
                continue
            if (
                limit < 999
                and isinstance(trial, ast.expr)
                and len(self.printer.text(trial)) > limit
            ):
                before.append(pending.pop(n))
                continue
            table[n] = pending.pop(n).value
        return core.substitute(node, table)

    def settle_if(
        self, s: If, pending: dict[str, Assign], i: int, path: tuple[str, ...], before: list[Stmt]
    ) -> Stmt:
        test = self.replaced(s.test, pending, before, 999)
        for n in list(pending):  # what may have an effect stays outside the branch
            if not self.is_pure(pending[n].value):
                before.append(pending.pop(n))
        sides = []
        for side, block, step in (("then", s.then, "then"), ("orelse", s.orelse, "else")):
            done, rest = self.block(block, (*path, f"{i}{step}"), pending)
            used = set(pending) - set(rest)
            for n in used:
                pending.pop(n)
            mine = {n: a for n, a in rest.items() if n not in pending}
            ends = []
            table = {n: a.value for n, a in rest.items() if self.is_trivial(a.value)}
            late: list[Stmt] = []
            for m in s.merges:
                end = getattr(m, side)
                for n in core.reads(end) & set(rest):
                    if n not in table and (is_made(s) and len(s.merges) == 1):
                        table[n] = rest[n].value
                        mine.pop(n, None)
                        pending.pop(n, None)
                ends.append(core.substitute(end, table))
            for a in mine.values():
                if not self.is_trivial(a.value):
                    late.append(a)
            sides.append(((*done, *late), ends))
        (then, then_ends), (orelse, else_ends) = sides
        merges = tuple(
            Merge(m.name, a, b) for m, a, b in zip(s.merges, then_ends, else_ends, strict=True)
        )
        if is_made(s) and not then and not orelse and len(merges) == 1:
            return Assign(merges[0].name, ast.IfExp(test, merges[0].then, merges[0].orelse))
        return replace(s, test=test, then=then, orelse=orelse, merges=merges)

    def settle_loop(
        self,
        s: For | While,
        pending: dict[str, Assign],
        i: int,
        path: tuple[str, ...],
        before: list[Stmt],
    ) -> For | While:
        inits = [self.replaced(c.init, pending, before, LONGEST) for c in s.carries]
        head: dict[str, ast.expr] = {}
        table = {n: a.value for n, a in pending.items() if self.is_trivial(a.value)}
        if isinstance(s, For):
            head["items"] = self.replaced(s.items, pending, before, 999)
        else:
            head["test"] = core.substitute(s.test, table)
        needed = own_reads(s) & set(pending) - set(table)
        for n in list(pending):
            if n in needed:
                before.append(pending.pop(n))
        body, rest = self.block(s.body, (*path, f"{i}loop"), self.trivial_of(pending))
        inner = {n: a.value for n, a in rest.items() if self.is_trivial(a.value)}
        late = tuple(a for n, a in rest.items() if n not in pending and n not in inner)
        carries = tuple(
            Carry(c.name, init, core.substitute(c.next, inner), c.out)
            for c, init in zip(s.carries, inits, strict=True)
        )
        until = core.substitute(s.until, inner) if s.until is not None else None
        return replace(s, carries=carries, body=(*body, *late), until=until, **head)  # type: ignore


def is_outer_variable(node: ast.expr) -> bool:
    """Whether an expression reads a variable outside the function, which may change later."""
    return isinstance(node, ast.Name) and getattr(node, "changing", False)


def gathers(node: ast.AST, value: ast.expr) -> bool:
    """Whether both are cotangents of items of one dictionary, which algebra puts together."""
    if not is_added(node):
        return False
    others = [items_of(a) for a in summands(node) if not isinstance(a, ast.Name)]
    return items_of(value) is not None and all(o is not None for o in others)


def is_added(node: ast.AST) -> bool:
    return core.is_call_of(node, "@add")


def summands(node: ast.AST) -> list[ast.expr]:
    """What `add(add(a, b), c)` adds."""
    assert isinstance(node, ast.Call)
    return [part for a in node.args for part in (summands(a) if is_added(a) else [a])]


def is_made(s: If) -> bool:
    """Whether a branch was made from a conditional expression."""
    return not s.origin.line and all(core.base(m.name) == "value" for m in s.merges)


def unchanging(function: Function) -> set[str]:
    """Parameters that the text never gives another value, so that items of them stay the same."""
    names = core.all_names(function)
    versions = Counter(core.base(n) for n in names)
    return {p.name for p in function.params if versions[core.base(p.name)] == 1}


def is_key(node: ast.expr) -> bool:
    """Whether an index is a name in quotes or a number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (str, int)


def new_ones(rest: dict[str, Assign], pending: dict[str, Assign]) -> list[Stmt]:
    return [a for n, a in rest.items() if n not in pending]


def own_reads(s: Stmt) -> set[str]:
    found: set[str] = set()

    def visit(node):  # type: ignore[no-untyped-def]
        found.update(core.reads(node))
        return node

    core.map_stmt(s, visit)
    return found
