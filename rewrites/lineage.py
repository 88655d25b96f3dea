"""Lineage: where the object that a name stands for may come from, and in which loops it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, If, While, With, is_local, reads
from overt.rewrites.literals import is_literal
from overt.rewrites.sharing import MAKERS, has_slice, is_store

OUTSIDE = "@outside"  # what is read from elsewhere may be one object


class Lineage:
    """Where the object that a name stands for may come from, and in which loops it is made.

    What one iteration makes anew is not what the iteration before has left in another name:
    `new = np.zeros(n)` at the top of a loop and `u = new` at its end never share.
    """

    def __init__(self, body: Block) -> None:
        self.sources: dict[str, set[str]] = {}
        self.held: dict[str, set[str]] = {}  # what was stored in the object
        self.carried: dict[str, int] = {}  # names that a loop carries, with the loop
        self.loops: dict[str, tuple[int, ...]] = {}  # the loops around a name's definition
        self.places: dict[str, int] = {}  # when a name is set; names set together have one place
        self.sides: dict[str, tuple[set[str], ...]] = {}  # of such: their sources, side by side
        self.parts: set[str] = set()  # names of what may be a part of something, or come of a call
        self.visit(body, ())

    def visit(self, block: Block, loops: tuple[int, ...]) -> None:
        for s in block:
            if isinstance(s, Assign):
                value = s.value.args[0] if is_store(s.value) else s.value  # type: ignore
                found = set() if is_new(value) and not s.in_place else self.live(value)
                inside = s.value.args[1:] if is_store(s.value) else [value]  # type: ignore
                held = {m for part in inside for m in core.reads(part) if is_local(m)}
                for n in core.pattern_names(s.target):
                    self.loops[n] = loops
                    self.sources[n] = found
                    self.held[n] = held
                if isinstance(value, ast.Tuple) and len(value.elts) == len(s.target):
                    for t, v in zip(s.target, value.elts, strict=True):
                        for n in core.pattern_names(t):
                            self.sources[n] = set() if is_new(v) else self.live(v)
                            self.note_part(n, v)
                elif s.in_place or not isinstance(s.target, str):
                    self.parts.update(core.pattern_names(s.target))
                else:
                    self.note_part(s.target, value)
                self.set_together(core.pattern_names(s.target))
            elif isinstance(s, core.Do):  # a call for its effect may store each into the others
                together = {n for n in core.reads(s.node) if is_local(n)}
                for n in together:
                    self.held[n] = self.held.get(n, set()) | (together - {n})
            elif isinstance(s, If):
                self.visit(s.then, loops)
                self.visit(s.orelse, loops)
                for m in s.merges:
                    self.loops[m.name] = loops
                    self.join(m.name, m.then, m.orelse)
                self.set_together(m.name for m in s.merges)
            elif isinstance(s, For | While):
                inner = (*loops, id(s))
                targets = list(core.pattern_names(s.target)) if isinstance(s, For) else []
                for c in s.carries:
                    self.carried[c.name] = id(s)
                    self.loops[c.name], self.loops[c.out] = inner, loops
                    self.join(c.name, c.init, c.next)
                    self.join(c.out, core.name(c.name))
                self.parts.update(targets)
                for n in targets:
                    self.loops[n] = inner
                    self.sources[n] = self.live(s.items)  # type: ignore[union-attr]
                self.set_together(c.name for c in s.carries)
                self.set_together(targets)
                self.visit(s.body, inner)
                self.set_together(c.out for c in s.carries)
            elif isinstance(s, With):
                self.visit(s.body, loops)

    def join(self, name: str, *values: ast.expr) -> None:
        """A name for one of several values: of a branch's sides, of before a loop and in it."""
        self.sides[name] = tuple(set() if is_new(v) else self.live(v) for v in values)
        self.sources[name] = set().union(*self.sides[name])
        for v in values:
            self.note_part(name, v)

    def note_part(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Subscript) and has_slice(value.slice):
            value = value.value
        if not (isinstance(value, ast.Name) or is_new(value) or is_literal(value)):
            self.parts.add(name)

    def set_together(self, names: Iterable[str]) -> None:
        place = len(self.places)
        self.places |= dict.fromkeys(names, place)

    def live(self, node: ast.expr) -> set[str]:
        """The names that an object may come from; one of outside where the text has none."""
        if isinstance(node, ast.Subscript):
            node = node.value
        found = {n for n in reads(node) if is_local(n)}
        made = isinstance(node, ast.List | ast.ListComp | ast.BinOp | ast.Dict | ast.Set)
        return found if found or made or is_literal(node) else {OUTSIDE}

    def origins(self, n: str, ended: tuple[int, ...] = (), inside: bool = False) -> set[str]:
        """All names that an object may have come through; not from other runs of `ended` loops.

        With `inside`, those of what it may hold as well.
        """
        found, pending = {n}, [n]
        while pending:
            current = pending.pop()
            if self.carried.get(current) in ended:
                continue
            held = self.held.get(current, set()) if inside else set()
            for m in (self.sources.get(current, set()) | held) - {OUTSIDE}:
                if m not in found:
                    found.add(m)
                    pending.append(m)
        return found

    def may_meet(self, a: str, b: str, by_parts: bool = False) -> bool:
        """Whether two names may stand for one object at a time; or, `by_parts`, if one is read
        from what holds the other.

        After `old, new = new, old` in a loop they stand for the same two objects as before.
        """
        met: set[frozenset[str]] = set()
        pending = [frozenset((a, b))]
        while pending:
            pair = pending.pop()
            if len(pair) == 1 or by_parts and pair & self.parts:
                return True
            if pair not in met:
                met.add(pair)
                pending += self.before(pair)
        return False

    def before(self, pair: frozenset[str]) -> list[frozenset[str]]:
        """The pairs that two names stand for the objects of, before the later one is set."""
        first, last = sorted(pair, key=lambda n: self.places.get(n, -1))
        if first in self.sides and last in self.sides:
            if self.places[first] == self.places[last]:
                sides = zip(self.sides[first], self.sides[last], strict=True)
                return [frozenset((x, y)) for one, other in sides for x in one for y in other]
        return [frozenset((first, x)) for x in self.sources.get(last, ())]

    def may_hold(self, stored: str, other: str) -> bool:
        """Whether one of two names may hold what the other one stands for."""
        mine = self.origins(stored)
        starts = {n for n in mine if not self.sources.get(n, set()) - {OUTSIDE}}
        homes = {self.loops.get(n, ()) for n in starts}
        if len(homes) != 1 or not (home := homes.pop()):
            return True  # made outside of all loops
        if any(self.loops.get(n, ())[: len(home)] != home for n in mine):
            return True
        return bool(self.origins(other, home, inside=True) & mine)


def is_new(value: ast.expr) -> bool:
    """Whether an expression surely makes a new object: `np.zeros(n)`, `[0.0] * n`, `a + b`."""
    if isinstance(value, ast.Call) and not is_store(value):
        f = value.func
        if isinstance(f, ast.Name):
            return f.id in ("list", "dict", "set", "sorted", "deepcopy")
        return isinstance(f, ast.Attribute) and f.attr in (*MAKERS, "copy", "deepcopy")
    if isinstance(value, ast.List | ast.ListComp | ast.BinOp | ast.Dict | ast.Set):
        inner = ast.List | ast.Dict | ast.Set
        return not any(isinstance(n, inner) for n in ast.walk(value) if n is not value)
    return False
