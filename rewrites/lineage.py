"""Lineage: where the object that a name stands for may come from, and in which loops it is made."""

from __future__ import annotations

import ast

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, If, While, With, is_local, reads
from overt.rewrites.sharing import MAKERS, is_store


class Lineage:
    """Where the object that a name stands for may come from, and in which loops it is made.

    What one iteration makes anew is not what the iteration before has left in another name:
    `new = np.zeros(n)` at the top of a loop and `u = new` at its end never share.
    """

    def __init__(self, body: Block) -> None:
        self.sources: dict[str, set[str]] = {}
        self.held: dict[str, set[str]] = {}  # what was stored in the object
        self.carried: dict[str, int] = {}  # names that a loop carries, with the loop
        self.nexts: dict[str, tuple[set[str], set[str]]] = {}  # and where their values come from
        self.turning: set[str] = set()  # carried names of loops that pass objects round
        self.loops: dict[str, tuple[int, ...]] = {}  # the loops around a name's definition
        self.visit(body, ())

    def visit(self, block: Block, loops: tuple[int, ...]) -> None:
        for s in block:
            if isinstance(s, Assign):
                value = s.value.args[0] if is_store(s.value) else s.value  # type: ignore
                found = set() if is_new(value) else self.live(value)
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
            elif isinstance(s, core.Do):  # a call for its effect may store each into the others
                together = {n for n in core.reads(s.node) if is_local(n)}
                for n in together:
                    self.held[n] = self.held.get(n, set()) | (together - {n})
            elif isinstance(s, If):
                self.visit(s.then, loops)
                self.visit(s.orelse, loops)
                for m in s.merges:
                    self.loops[m.name] = loops
                    self.sources[m.name] = self.live(m.then) | self.live(m.orelse)
            elif isinstance(s, For | While):
                inner = (*loops, id(s))
                for c in s.carries:
                    self.nexts[c.name] = (self.live(c.init), self.live(c.next))
                    self.carried[c.name] = id(s)
                    self.loops[c.name], self.loops[c.out] = inner, loops
                    self.sources[c.name] = self.live(c.init) | self.live(c.next)
                    self.sources[c.out] = {c.name}
                if isinstance(s, For):
                    for n in core.pattern_names(s.target):
                        self.loops[n] = inner
                        self.sources[n] = self.live(s.items)
                self.visit(s.body, inner)
                self.turns(s)
            elif isinstance(s, With):
                self.visit(s.body, loops)

    def live(self, node: ast.expr) -> set[str]:
        if isinstance(node, ast.Subscript):
            node = node.value
        return {n for n in reads(node) if is_local(n)}

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
            for m in self.sources.get(current, set()) | held:
                if m not in found:
                    found.add(m)
                    pending.append(m)
        return found

    def turns(self, s: For | While) -> None:
        """Note a loop that passes objects round: `old, new = new, old`."""
        carried = {c.name for c in s.carries}
        after = {c.name: self.one_source(core.reads(c.next), carried) for c in s.carries}
        swapped = [n for n, m in after.items() if m is not None and m != n]
        round_ = {after[n] for n in swapped}
        inits = {c.name: self.origins_of(c.init) for c in s.carries if c.name in swapped}
        apart = all(not (inits[n] & inits[m]) for n in swapped for m in swapped if n != m) and all(
            inits.values()
        )
        if round_ == set(swapped) and apart:
            self.turning |= set(swapped)

    def origins_of(self, node: ast.expr) -> set[str]:
        return {m for n in core.reads(node) if is_local(n) for m in self.origins(n)}

    def one_source(
        self, names: set[str], ends: set[str] | frozenset[str], within: frozenset[str] = frozenset()
    ) -> str | None:
        """The one of `ends` that an object comes from for certain, by stores and plain names.

        `within` are the carried names whose own turn is being followed.
        """
        seen = set(within)
        while len(names) == 1:
            (n,) = names
            if n in ends:
                return n
            if n in seen or n not in self.sources:
                return None
            seen.add(n)
            names = set(self.sources[n])
            if n in self.nexts:  # an inner loop that only stores into it
                start, end = self.nexts[n]
                back = self.one_source(end, frozenset([n]), within | {n})
                names = start if back == n else set()
        return None

    def may_meet(self, stored: str, other: str) -> bool:
        """Whether two names may stand for one object while `stored` is changed."""
        places = [self.one_source({n}, self.turning) for n in (stored, other)]
        if None not in places and places[0] != places[1]:
            return False
        return self.may_reach(stored, other)

    def may_reach(self, stored: str, other: str, inside: bool = False) -> bool:
        """The same, wherever loops pass objects round; with `inside`, whether one may hold it."""
        mine = self.origins(stored)
        starts = {n for n in mine if not self.sources.get(n)}
        homes = {self.loops.get(n, ()) for n in starts}
        if len(homes) != 1 or not (home := homes.pop()):
            return True  # made outside of all loops
        if any(self.loops.get(n, ())[: len(home)] != home for n in mine):
            return True
        return bool(self.origins(other, home, inside) & mine)


def is_new(value: ast.expr) -> bool:
    """Whether an expression surely makes a new object: `np.zeros(n)`, `[0.0] * n`, `a + b`."""
    if isinstance(value, ast.Call) and not is_store(value):
        f = value.func
        return isinstance(f, ast.Attribute) and f.attr in (*MAKERS, "copy")
    if isinstance(value, ast.List | ast.ListComp | ast.BinOp | ast.Dict | ast.Set):
        inner = ast.List | ast.Dict | ast.Set
        return not any(isinstance(n, inner) for n in ast.walk(value) if n is not value)
    return False
