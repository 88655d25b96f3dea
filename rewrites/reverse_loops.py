"""Reverse of a loop: what an iteration saves, and the loop that reads it, the last one first."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.activity import is_reversed_record, iterated_ways
from overt.rewrites.bars import Bar
from overt.rewrites.core import Assign, Block, Carry, For, If, Stmt, While
from overt.rewrites.flatten import is_cheap
from overt.rewrites.pushes import is_push, push
from overt.rewrites.reverse_branches import is_comparison
from overt.rewrites.shapes import SCALAR

if TYPE_CHECKING:
    from overt.rewrites.sweep import Sweep

LONGEST_AGAIN = 3  # operations in a row that are rather computed again than recorded


def reversed_loop(sweep: Sweep, s: For | While) -> For | While:
    """The forward loop, with what its reverse reads saved."""
    given: dict[str, Bar] = {}
    for c in s.carries:
        bar = sweep.take(c.out)
        if bar is not None:
            given[c.name] = replace(bar, expr=sweep.full(c.out, bar), lazy=False)
    if not given:
        return s
    records = {n: given.pop(n) for n in list(given) if record_of(s, n) is not None}
    loose = {n for n, bar in given.items() if bar.missing}
    flowing, outer, loose = fixpoint(sweep, s, set(given), set(records), loose)
    return LoopReversal(sweep, s, given, flowing, outer, records, loose).build()


def fixpoint(
    sweep: Sweep, s: For | While, flowing: set[str], records: set[str], loose: set[str]
) -> tuple[set[str], set[str], set[str]]:
    """Which carried cotangents are not zero, which names around the loop receive some, and
    which of the carried ones may be missing."""
    own = core.assigned(s.body) | {c.name for c in s.carries}
    if isinstance(s, For):
        own |= set(core.pattern_names(s.target))
    while True:
        kept = (sweep.bars, sweep.out, copy.copy(sweep.names.count), dict(sweep.shapes.known))
        active = set(sweep.activity.names)
        sweep.bars, sweep.out = {}, []
        for c in s.carries:
            trial = core.name(f"{core.base(c.name)}_bar{core.SEPARATOR}trial")
            if c.name in flowing:
                sweep.give(c.next, trial, c.name not in loose, c.name in loose)
            if c.name in records and isinstance(c.next, ast.Name):
                sweep.bars[c.next.id] = Bar(trial, False, False)
        sweep.block(s.body)
        reached = set(sweep.bars) - records
        ends = {n for n in reached if sweep.bars[n].missing} & {c.name for c in s.carries}
        sweep.bars, sweep.out, sweep.names.count, sweep.shapes.known = kept
        sweep.activity.names = active
        new = flowing | {c.name for c in s.carries if c.name in reached}
        if new != flowing:
            flowing = new
        elif ends <= loose:
            return flowing, reached - own, loose
        else:
            loose = loose | ends


class LoopReversal:
    """Builds the reverse of one loop, and the saving that its forward needs."""

    def __init__(
        self,
        sweep: Sweep,
        s: For | While,
        given: dict[str, Bar],
        flowing: set[str],
        outer: set[str],
        records: dict[str, Bar],
        loose: set[str],
    ) -> None:
        self.sweep, self.s, self.given, self.records = sweep, s, given, records
        self.loose = loose
        self.flowing, self.outer = flowing, sorted(outer)
        self.names = sweep.names

    def build(self) -> For | While:
        sweep, s = self.sweep, self.s
        around, outer_out = dict(sweep.bars), sweep.out
        carried = [c for c in s.carries if c.name in self.flowing]
        sweep.bars, sweep.out = {}, []
        carries: list[
            tuple[str, ast.expr, str, str]
        ] = []  # inside, init, name that it is of, after
        for c in carried:
            inside = self.fresh(c.name)
            bar = self.given.get(c.name)
            init = bar.expr if bar is not None else self.zero_before(c)
            if bar is not None and core.reads(bar.expr) & sweep.of_records:
                init = core.call(core.name("@materialize"), init, core.name(c.out))
            carries.append((inside, init, c.name, self.fresh(c.name)))
            if isinstance(c.next, ast.Name):
                sweep.shapes.known[inside] = sweep.shape(c.next.id)
            missing = c.name in self.loose
            array = not missing and (bar is None or bar.array)
            sweep.give(c.next, core.name(inside), array, missing)
        for n in self.outer:
            inside = self.fresh(n)
            old = around.get(n)
            if old is not None:
                outer_out_len = len(sweep.out)
                init = sweep.full(n, old)
                outer_out += sweep.out[outer_out_len:]
                del sweep.out[outer_out_len:]
            else:
                init = sweep.zero(n, True)
            carries.append((inside, init, n, self.fresh(n)))
            missing = old is not None and old.missing
            if missing:
                self.loose.add(n)
            mine = sweep.bars.get(n)
            if mine is not None:
                sweep.acc(n, core.name(inside), array=mine.array and not missing, missing=missing)
            else:
                sweep.bars[n] = Bar(core.name(inside), array=not missing, missing=missing)
        self.read_records()
        forward_body = sweep.block(s.body)
        for n in self.records:
            sweep.bars.pop(n, None)
        collected = self.collect()
        ends = []
        kinds: dict[str, tuple[bool, bool]] = {}  # an array? perhaps missing?
        for _, _, n, _ in carries:
            bar = sweep.bars.get(n)
            kinds[n] = (bar.array, bar.missing) if bar is not None else (True, False)
            if n in self.loose:  # and stays so where no iteration runs
                kinds[n] = (False, True)
            ends.append(sweep.full(n, bar) if bar is not None else self.zero_inside(n))
        stale = [(inside, n) for inside, _, n, _ in carries if n not in sweep.bars]
        body = self.with_own_shapes(tuple(sweep.out), stale)
        sweep.bars, sweep.out = around, outer_out
        for c in carried:
            sweep.bars.pop(c.out, None)
        new_carries = [
            Carry(inside, init, end, after)
            for (inside, init, _, after), end in zip(carries, ends, strict=True)
        ]
        leaf_bars = []
        for leaf, backwards, pushed, inside, after in collected:
            body = (*body, pushed)
            init = core.call(core.name("@Saved"))
            new_carries.append(Carry(inside, init, core.name(pushed.target), after))
            leaf_bars.append((leaf, after, backwards))
        forward, reverse = self.paired(forward_body, body, tuple(new_carries))
        sweep.out.append(reverse)
        inits = {c.name: c.init for c in carried}
        for _, _, n, after in carries:
            if n not in inits:
                array, missing = kinds[n]
                sweep.bars[n] = Bar(core.name(after), False, array, missing=missing)
        anew = {n for _, n in stale}
        for _, _, n, after in carries:  # the loop may start with one of the names it reads
            if n in inits:
                sweep.give(inits[n], self.at_start(after, inits[n], n in anew), *kinds[n])
        for leaf, after, backwards in leaf_bars:
            sweep.give(leaf, self.gathered(after, leaf, backwards), array=False)
        return forward

    def with_own_shapes(self, body: Block, stale: list[tuple[str, str]]) -> Block:
        """What is set anew may differ in shape from that of the iteration undone before."""
        own: list[Stmt] = []
        table: dict[str, ast.expr] = {}
        for inside, carried in stale:
            value = self.set_anew(carried)
            if value is None or self.sweep.shape(value) == SCALAR:
                continue
            held = self.fresh(value)
            call = core.call(core.name("@fresh"), core.name(inside), core.name(value))
            own.append(Assign(held, call))
            table[inside] = core.name(held)
        return (*own, *core.map_exprs(body, lambda e: core.substitute(e, table)))

    def at_start(self, after: str, init: ast.expr, anew: bool) -> ast.expr:
        """The cotangent of what a carried value starts as."""
        if not anew or not isinstance(init, ast.Name) or self.sweep.shape(after) == SCALAR:
            return core.name(after)
        return core.call(core.name("@fresh"), core.name(after), init)

    def gathered(self, after: str, leaf: ast.expr, backwards: bool) -> ast.expr:
        """The cotangent of what the loop ran over, from those of its items, the last one first."""
        if isinstance(self.s, For) and is_reversed_record(self.s.items):
            self.sweep.records.add(after)
            return core.name(after)  # they were read backwards, so this is their order
        rows = core.name("@rows_backwards" if backwards else "@rows")
        return core.call(rows, core.name(after), leaf)

    def read_records(self) -> None:
        """Cotangents of what the loop recorded: read beside what the reverse loop runs over."""
        self.parallel: list[tuple[core.Pattern, ast.expr]] = []
        for c in self.s.carries:
            bar = self.records.get(c.name)
            if bar is None or not isinstance(c.next, ast.Name):
                continue
            record = record_of(self.s, c.name)
            assert record is not None
            names = [self.field_name(f) for f in record.args]
            self.sweep.of_records.update(names)
            target = names[0] if len(names) == 1 else tuple(names)
            fields: list[ast.expr] = [core.name(n) for n in names]
            whole = fields[0] if len(fields) == 1 else core.tuple_of(fields)
            self.sweep.bars[c.next.id] = Bar(whole, False, False)
            self.sweep.activity.names.add(c.next.id)
            bars = bar.expr
            if not (isinstance(bars, ast.Name) and bars.id in self.sweep.records):
                bars = core.call(core.name("@materialize"), bars, core.name(c.out))
            items = ast.Call(ast.Attribute(bars, "reversed", ast.Load()), [], [])
            self.parallel.append((target, items))

    def field_name(self, field: ast.expr) -> str:
        if not self.sweep.activity.expr(field):
            return self.names.fresh("_")
        return self.fresh(field.id) if isinstance(field, ast.Name) else self.names.fresh("item_bar")

    def fresh(self, name: str) -> str:
        held = self.names.fresh(f"{core.base(name)}_bar")
        self.sweep.shapes.known[held] = self.sweep.shape(name)
        return held

    def zero_before(self, c: Carry) -> ast.expr:
        """Zero with the shape of the value after the last iteration."""
        return self.sweep.zero(c.out)

    def zero_inside(self, name: str) -> ast.expr:
        """Zero for a carried value that the body does not read, of the next one's shape."""
        return self.sweep.zero(self.set_anew(name) or name)

    def set_anew(self, name: str) -> str | None:
        """The name of what an iteration sets in place of a carried value."""
        for c in self.s.carries:
            if c.name == name and isinstance(c.next, ast.Name):
                return c.next.id
        return None

    def collect(self) -> list[tuple[ast.expr, bool, Assign, str, str]]:
        """Cotangents of the items that the loop runs over, one record an iteration."""
        s, sweep = self.s, self.sweep
        if not isinstance(s, For):
            return []
        done: list[tuple[ast.expr, bool, Assign, str, str]] = []
        ways = iterated_ways(s.target, s.items, sweep.program.resolver)
        for target, leaf, backwards in ways:
            if not sweep.activity.expr(leaf) or not isinstance(leaf, ast.Name | ast.Call):
                continue
            bar = self.pattern_bar(target)
            if bar is None:
                continue
            stem = f"{core.base(leaf.id)}_bars" if isinstance(leaf, ast.Name) else "item_bars"
            inside, new, after = (self.names.fresh(stem) for _ in range(3))
            pushed = Assign(new, push(core.name(inside), [bar]))
            done.append((leaf, backwards, pushed, inside, after))
        return done

    def pattern_bar(self, target: core.Pattern) -> ast.expr | None:
        if isinstance(target, str):
            bar = self.sweep.take(target)
            return self.sweep.full(target, bar) if bar is not None else None
        parts: list[ast.expr | None] = []
        for t in target:
            if isinstance(t, tuple) and t[:1] == ("*",):
                rest = self.pattern_bar(t[1])
                if rest is None:
                    rest = self.sweep.zero(t[1])
                else:
                    rest = core.call(core.name("@materialize"), rest, core.name(t[1]))
                parts.append(ast.Starred(rest, ast.Load()))
            else:
                parts.append(self.pattern_bar(t))
        if all(p is None for p in parts):
            return None
        return core.tuple_of([p if p is not None else core.constant(None) for p in parts])

    def paired(
        self, forward_body: Block, body: Block, carries: tuple[Carry, ...]
    ) -> tuple[For | While, For]:
        """The forward loop that saves, and the reverse loop that reads what it saved."""
        s = self.s
        own = core.assigned(forward_body) | {c.name for c in s.carries}
        targets = set(core.pattern_names(s.target)) if isinstance(s, For) else set()
        own |= targets
        read = core.free(body) | set().union(*[core.reads(c.next) for c in carries], set())
        needed = [n for n in self.order(forward_body) if n in read & own]
        body, carries, needed = self.recompute(forward_body, body, carries, needed, own)
        origin = core.Origin(comment=self.undoes())
        if (
            isinstance(s, For)
            and s.until is None
            and not self.parallel
            and set(needed) <= targets
            and self.can_reverse(s.items)
        ):
            table = {n: core.name(self.names.fresh(n)) for n in targets}
            target = core.map_pattern(lambda n: table[n].id, s.target)
            items: ast.expr = core.call(core.name("reversed"), s.items)
            return self.marked(replace(s, body=forward_body)), self.loop_over(
                target, items, body, carries, table, origin
            )
        inside, new, out = (self.names.fresh("saved") for _ in range(3))
        pushed = Assign(new, push(core.name(inside), [core.name(n) for n in needed]))
        position = self.position(forward_body, needed)
        forward_body = (*forward_body[:position], pushed, *forward_body[position:])
        carry = Carry(inside, core.call(core.name("@Saved")), core.name(new), out)
        forward = replace(s, body=forward_body, carries=(*s.carries, carry))
        table = {n: core.name(self.names.fresh(n)) for n in needed}
        fields = [table[n].id for n in needed]
        target = (
            fields[0] if len(fields) == 1 else tuple(fields) if fields else self.names.fresh("_")
        )
        items = ast.Call(ast.Attribute(core.name(out), "reversed", ast.Load()), [], [])
        if self.parallel:
            target = (target, *[t for t, _ in self.parallel])
            items = core.call(core.name("zip"), items, *[x for _, x in self.parallel])
        return self.marked(forward), self.loop_over(target, items, body, carries, table, origin)

    def loop_over(
        self,
        target: core.Pattern,
        items: ast.expr,
        body: Block,
        carries: tuple[Carry, ...],
        table: dict[str, ast.Name],
        origin: core.Origin,
    ) -> For:
        expressions = dict(table)
        body = core.map_exprs(body, lambda e: core.substitute(e, expressions))
        carries = tuple(replace(c, next=core.substitute(c.next, expressions)) for c in carries)
        for n, new in table.items():
            self.sweep.shapes.known[new.id] = self.sweep.shape(n)
        return For(target, items, carries, body, None, origin)

    def marked(self, s: For | While) -> For | While:
        """The forward loop, its comment or else its place kept."""
        if not s.origin.comment and s.origin.line:
            return replace(s, origin=replace(s.origin, comment=f"# {self.place()}"))
        return s

    def place(self) -> str:
        origin = self.s.origin
        return f"{PurePath(origin.file).name}:{origin.line}"

    def undoes(self) -> str:
        return f"# undoes {self.place()}" if self.s.origin.line else ""

    def can_reverse(self, items: ast.expr) -> bool:
        if isinstance(items, ast.Name):
            return core.is_local(items.id)
        if isinstance(items, ast.Call) and self.sweep.program.resolver.object(items.func) is range:
            return all(is_cheap(a) for a in items.args)
        return False

    def order(self, block: Block) -> list[str]:
        """Names of an iteration in the order in which they are set."""
        s = self.s
        found = [c.name for c in s.carries]
        if isinstance(s, For):
            found += core.pattern_names(s.target)
        for statement in block:
            found += sorted(core.assigned((statement,)))
        return found

    def recompute(
        self,
        forward: Block,
        body: Block,
        carries: tuple[Carry, ...],
        needed: list[str],
        own: set[str],
    ) -> tuple[Block, tuple[Carry, ...], list[str]]:
        """Leave out of the record what is cheap to compute again from the rest of it."""
        definitions = {
            t.target: t.value
            for t in forward
            if isinstance(t, Assign) and isinstance(t.target, str)
        }
        again: list[Stmt] = []
        table: dict[str, ast.expr] = {}
        tests = {getattr(t.test, "id", "") for t in forward if isinstance(t, If)}
        kept = list(needed)
        for n in reversed(needed):
            value = definitions.get(n)
            if value is None or n not in self.sweep.temporary:
                continue
            value = self.spelled(value, definitions, own - set(kept))
            asked = n in tests and is_comparison(value)
            if not (asked or is_cheap(value, LONGEST_AGAIN)):
                continue
            if not core.reads(value) & own <= set(kept) - {n}:
                continue
            kept.remove(n)
            held = self.names.fresh(n)
            self.sweep.shapes.known[held] = self.sweep.shape(n)
            again.insert(0, Assign(held, value))
            table[n] = core.name(held)
        if not again:
            return body, carries, needed
        again = [replace(a, value=core.substitute(a.value, table)) for a in again]  # type: ignore
        body = tuple(again) + core.map_exprs(body, lambda e: core.substitute(e, table))
        carries = tuple(replace(c, next=core.substitute(c.next, table)) for c in carries)
        return body, carries, kept

    def spelled(
        self, value: ast.expr, definitions: dict[str, ast.expr], lost: set[str]
    ) -> ast.expr:
        """A value with the parts of it that the record does not hold written out."""
        for _ in range(LONGEST_AGAIN):
            parts = core.reads(value) & lost & self.sweep.temporary & set(definitions)
            if not parts:
                break
            value = core.substitute(value, {n: definitions[n] for n in parts})
        return value

    def position(self, block: Block, needed: list[str]) -> int:
        """Right after the last statement that sets something to save."""
        last = 0
        for i, statement in enumerate(block):
            if core.assigned((statement,)) & set(needed):
                last = i + 1
        return last


def record_of(s: For | While, carried: str) -> ast.Call | None:
    """The push that makes a carried name a record of the loop; None if it is an ordinary value."""
    c = next(c for c in s.carries if c.name == carried)
    for statement in s.body:
        if (
            isinstance(statement, Assign)
            and isinstance(c.next, ast.Name)
            and is_push(statement.value)
        ):
            if statement.target == c.next.id:
                return statement.value  # type: ignore[return-value]
    return None
