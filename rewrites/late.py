"""Late: variables that change after a nested function took them, and before it is used.

    total = 0.0
    def get():
        return total        # Python reads the value of the moment of the call
    total = x
    return get()

Core form gives a nested function the values of its definition, so such a variable has to be an
argument.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from overt.rewrites.scopes import CHANGING, Scope, changed_names, free_names, locals_of

# Callables whose result calls the function that they are given.
HOLDING = frozenset(
    "partial jit vmap pmap grad value_and_grad jacfwd jacrev hessian checkpoint".split()
)
Nested = ast.FunctionDef | ast.Lambda


class Moment(NamedTuple):
    """A statement's place in the text, and the loops around it."""

    position: int
    loops: tuple[int, ...]


@dataclass(frozen=True)
class Made:
    """A nested function: where it is made, the name that holds it, whether more may hold it."""

    function: Nested
    at: Moment
    name: str
    kept: bool


class Timeline:
    """When a function's variables are set, its nested functions made, and its names used."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.stores: dict[str, list[Moment]] = {}
        self.uses: dict[str, list[Moment]] = {}
        self.kept: set[str] = set()
        self.made: list[Made] = []
        self.position = 0
        scope = Scope(node)
        self.variables = locals_of(node) - scope.cells - scope.outer
        self.block(node.body, ())
        for m in self.made:  # what uses a function uses those that it calls
            for n in free_names(m.function):
                self.uses.setdefault(n, []).extend(self.uses.get(m.name, ()))

    # --- reading the function

    def block(self, body: list[ast.stmt], loops: tuple[int, ...]) -> None:
        for s in body:
            self.statement(s, loops)

    def statement(self, s: ast.stmt, loops: tuple[int, ...]) -> None:
        self.position += 1
        at = Moment(self.position, loops)
        if isinstance(s, ast.FunctionDef):
            self.made.append(Made(s, at, s.name, bool(s.decorator_list)))
            return
        if isinstance(s, ast.For | ast.While):
            inside = Moment(self.position, (*loops, self.position))
            if isinstance(s, ast.For):
                self.expression(s.iter, at, "", False)
                self.store(s.target, inside)
            else:
                self.expression(s.test, inside, "", False)
            self.block(s.body, inside.loops)
            self.block(s.orelse, loops)
            return
        blocks = list(blocks_of(s))
        if blocks:
            for part in heads_of(s):
                self.expression(part, at, "", False)
                self.store(part, at)
            for b in blocks:
                self.block(b, loops)
            return
        holder, held = holder_of(s)
        for part in ast.iter_child_nodes(s):
            self.expression(part, at, holder, held)
        self.store(s, at)

    def store(self, node: ast.AST, at: Moment) -> None:
        for n in changed_names(node):
            self.stores.setdefault(n, []).append(at)

    def expression(self, node: ast.AST, at: Moment, holder: str, kept: bool) -> None:
        """Note what an expression uses; its value goes to the name `holder`, or elsewhere."""
        if isinstance(node, ast.Lambda):
            self.made.append(Made(node, at, holder, kept))
            return
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.uses.setdefault(node.id, []).append(at)
                if kept or (holder and holder != node.id and holder != "="):
                    self.kept.add(node.id)
            return
        if isinstance(node, ast.Call):
            f = node.func
            word = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
            if isinstance(f, ast.Name):
                self.uses.setdefault(f.id, []).append(at)
            else:
                self.expression(f, at, "", False)
            grows = isinstance(f, ast.Attribute) and word in CHANGING
            keeps = grows or (word in HOLDING and kept)
            for part in [*node.args, *node.keywords]:
                self.expression(part, at, holder if word in HOLDING else "", keeps)
            return
        plain = isinstance(
            node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript | ast.Attribute
        )
        for part in ast.iter_child_nodes(node):
            self.expression(part, at, "" if plain else holder, kept and not plain)

    # --- what changes too late

    def changed(self, m: Made) -> set[str]:
        """Variables that a nested function takes and that may change before it is used."""
        return {v for v in free_names(m.function) & self.variables if self.is_late(m, v)}

    def is_late(self, m: Made, variable: str) -> bool:
        stores = self.stores.get(variable, [])
        if m.kept or m.name in self.kept:
            return any(s.position > m.at.position or common(s, m.at) for s in stores)
        uses = self.uses.get(m.name, []) if m.name else []
        return any(self.between(m.at, s, u) for s in stores for u in uses)

    def between(self, made: Moment, s: Moment, u: Moment) -> bool:
        if made.position < s.position < u.position:
            return True
        shared = common(s, u)
        if any(loop not in made.loops and made.position < u.position for loop in shared):
            return True
        return u.position < made.position and bool(shared & set(made.loops))


def common(a: Moment, b: Moment) -> set[int]:
    return set(a.loops) & set(b.loops)


def blocks_of(s: ast.stmt) -> Iterator[list[ast.stmt]]:
    for key in ("body", "orelse", "finalbody"):
        block = getattr(s, key, None)
        if isinstance(block, list) and block:
            yield block
    for part in [*getattr(s, "handlers", ()), *getattr(s, "cases", ())]:
        yield part.body


def heads_of(s: Any) -> list[ast.AST]:
    """The expressions and patterns of a compound statement that stand outside its blocks."""
    found: list[ast.AST] = []
    for key in ("test", "subject"):
        if hasattr(s, key):
            found.append(getattr(s, key))
    found += getattr(s, "items", ())
    found += [h.type for h in getattr(s, "handlers", ()) if h.type is not None]
    for c in getattr(s, "cases", ()):
        found += [c.pattern, *([c.guard] if c.guard is not None else [])]
    return found


def holder_of(s: ast.stmt) -> tuple[str, bool]:
    """The name that a statement's value goes to; or whether it is kept somewhere else."""
    if isinstance(s, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = s.targets if isinstance(s, ast.Assign) else [s.target]
        only = targets[0] if len(targets) == 1 else None
        if isinstance(only, ast.Name) and not isinstance(s, ast.AugAssign):
            return only.id, False
        if isinstance(only, ast.Tuple) and all(isinstance(e, ast.Name) for e in only.elts):
            return "", bool(isinstance(s.value, ast.Tuple | ast.Name))
        return "", True
    return "", False


def changed_between(name: str, timeline: Timeline) -> set[str]:
    """Variables that the nested function `name` takes and that may change before it is used."""
    return set().union(*[timeline.changed(m) for m in timeline.made if m.name == name], set())


def changed_late(node: ast.FunctionDef) -> set[str]:
    """Variables that change between a nested function's definition and some use of it."""
    timeline = Timeline(node)
    return set().union(*[timeline.changed(m) for m in timeline.made], set())
