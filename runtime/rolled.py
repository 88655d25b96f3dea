"""Loops as one region of the program, whatever the number of iterations."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from overt.runtime.carried import join, levels_of, spec_of
from overt.runtime.chosen_objects import note_handed_on
from overt.runtime.closures import captured
from overt.runtime.dispatch import CHECKS, GRAPH
from overt.runtime.errors import StagingError
from overt.runtime.interop import as_array
from overt.runtime.joined_values import attempt
from overt.runtime.lanes import has_lanes
from overt.runtime.loop_items import known_int
from overt.runtime.loops import Loop, largest, masked_step, tested_lanes
from overt.runtime.masks import active_lanes, any_lane
from overt.runtime.parts import NUMBERS, is_array, parts_of
from overt.runtime.predicates import both, negated, predicate
from overt.runtime.regions import while_
from overt.runtime.rollback import Before
from overt.runtime.saved import Buffers, Saved
from overt.runtime.setbacks import Changes, Shared, Unlike
from overt.runtime.slots import RecordBuffers, SavedSlot, Slot, slot_of
from overt.runtime.staging import Graph, capacity, run_in, set_outputs
from overt.runtime.undefined import UndefinedValue
from overt.runtime.unrolling import counters
from overt.runtime.unsure import certain, has_unsure, named
from overt.runtime.world import is_frozen, is_value

__all__ = ["roll"]

_MOST_PASSES = 12


class NeedsMask(Exception):
    """The loop's condition differs between lanes."""


def roll(loop: Loop, carry: tuple, none: bool = False) -> tuple:
    """Run a loop as one region of the program being staged.

    With `none` a variable may be None before an iteration and a number or array after it.
    """
    with attempt():
        try:
            return _Rolled(loop, carry, masked=_starts_masked(loop, carry), none=none).run()
        except NeedsMask:
            return _Rolled(loop, carry, masked=True, none=none).run()


def _starts_masked(loop: Loop, carry: tuple) -> bool:
    if loop.items is not None:
        return loop.items.by_lane
    return has_lanes(loop.asked(carry))


class _Rolled:
    """One attempt to stage a loop as a region.

    The region carries the index, the mask of active lanes where lanes differ, and the variables.
    """

    def __init__(self, loop: Loop, carry: tuple, masked: bool, none: bool):
        self.loop, self.masked, self.none = loop, masked, none
        # What fails in a test can only be told in the body: it tests for the next iteration.
        self.tests_ahead = masked or (loop.test is not None and CHECKS.get() is not None)
        self.graph = GRAPH.get()
        self.trips = self._known_trips()
        self.inits = [0, self._first_active(carry) if self.tests_ahead else True, *carry]

    def _known_trips(self) -> int | None:
        """The most iterations there can be, if known."""
        items = self.loop.items
        if items is None:
            return None
        bound = items.bound
        return known_int(largest(items.length)) if bound is None else bound

    def _first_active(self, carry: tuple) -> Any:
        loop, outer = self.loop, active_lanes()
        if loop.items is not None:
            active: Any = True
            if has_lanes(loop.items.length):
                active = loop.items.length > 0
        else:
            active = loop.asked(carry)
        if not self.masked:
            return active
        return active if outer is None else both(active, outer)

    # ---- one iteration ----

    def goes_on(self, i: Any, active: Any, *carry: Any) -> Any:
        """Whether there is another iteration."""
        loop = self.loop
        if loop.items is not None:
            longest = self.trips if self._exact else largest(loop.items.length)
            go_on = i < longest
            if loop.until is not None and not self.masked:
                go_on = go_on & negated(predicate(carry[loop.until]))
        elif self.tests_ahead:
            return any_lane(active) if self.masked else active
        else:
            go_on = True
            if loop.until is not None:
                go_on = negated(predicate(carry[loop.until]))
            assert loop.test is not None
            go_on = both(go_on, predicate(loop.test(*carry)))
        if self.masked and type(active) is not bool:
            go_on = go_on & any_lane(active)
        if has_lanes(go_on):
            raise NeedsMask
        return go_on

    @property
    def _exact(self) -> bool:
        """Whether the number of items is a plain integer."""
        assert self.loop.items is not None
        return isinstance(self.loop.items.length, int)

    def step(self, i: Any, active: Any, *carry: Any) -> tuple:
        """The next index, mask and variables."""
        loop = self.loop
        item = None if loop.items is None else loop.items.item(i)
        if not self.masked:
            new = loop.body(item, carry)
            refuse_twice(loop, new)
            if loop.until is not None and has_lanes(predicate(new[loop.until])):
                raise NeedsMask
            if self.tests_ahead:
                active = self._tested(active, new)
                if has_lanes(active):
                    raise NeedsMask
            return i + 1, active, *new
        run = active
        if loop.items is not None and (mask := loop.items.lanes_at(i)) is not None:
            run = both(active, mask)
        new = masked_step(loop, item, carry, run) if has_lanes(run) else loop.body(item, carry)
        refuse_twice(loop, new)
        if loop.test is not None:
            active = self._tested(active, new)
        elif loop.until is not None:
            active = both(active, negated(predicate(new[loop.until])))
        if loop.items is not None and has_lanes(loop.items.length):
            active = both(active, i + 1 < loop.items.length)
        return i + 1, active, *new

    def _tested(self, active: Any, carry: tuple) -> Any:
        """What goes on of what is active, which alone is tested."""
        loop = self.loop
        assert loop.test is not None
        if loop.until is not None:
            active = both(active, negated(predicate(carry[loop.until])))
        with tested_lanes(active):
            return both(active, predicate(loop.test(*carry)))

    # ---- staging ----

    def run(self) -> tuple:
        slots, region, out = self._settled()
        saved = [(k, s) for k, s in enumerate(slots) if isinstance(s, SavedSlot) and s.pushed]
        arrays = [a for s, x in zip(slots, self.inits, strict=True) for a in s.decompose(x)]
        outputs = run_in(
            region, lambda: [a for s, x in zip(slots, out, strict=True) for a in s.decompose(x)]
        )
        kept = {
            id(x): init
            for x, init, new in zip(region.inputs, arrays, outputs, strict=True)
            if new is x
        }
        rooms = []
        for k, slot in saved:
            room, checked = self._room(k)
            buffers = RecordBuffers(slot.record, room, region, kept)
            written = run_in(region, buffers.write, region)
            arrays += buffers.empty
            outputs += written
            rooms.append((k, buffers, room, checked))
        set_outputs(region, outputs)
        test = Graph(list(region.source.out), self.graph)
        values = self._compose(slots, test)
        set_outputs(test, [run_in(test, self.goes_on, *values)])
        results = iter(while_(test, region, arrays))
        finals = [s.compose(results) for s in slots]
        for k, buffers, room, checked in rooms:
            finals[k] = self._finished(k, finals[0], finals[k], buffers, results)
            if checked:
                self.graph.add_capacity(self._site(k), finals[0], room)
        if self._surely_runs():
            for k, value in enumerate(out):
                if type(self.inits[k]) is UndefinedValue and not has_unsure(value):
                    finals[k] = certain(finals[k])
        for k, unused in enumerate(slots):
            if isinstance(unused, SavedSlot) and not unused.pushed:
                finals[k] = self.inits[k]
        named(finals[2:], self.loop.names)
        surely, functions = self._surely_runs(), self.loop.functions()
        for init, new, final in zip(self.inits[2:], out[2:], finals[2:], strict=True):
            note_handed_on(init, new, final, surely, functions)
        return tuple(finals[2:])

    def _surely_runs(self) -> bool:
        """Whether there surely is a first iteration."""
        return bool(self.loop.items is not None and self._exact and self.trips and not self.masked)

    def _settled(self) -> tuple[list[Slot], Graph, tuple]:
        """Stage the body until the types of what it carries no longer change."""
        key = self._key()
        first = [
            Slot(spec_of(self.inits[0], numbers=True)),
            Slot(spec_of(self.inits[1], numbers=self.tests_ahead)),
            *(slot_of(x, self.masked) for x in self.inits[2:]),
        ]
        self._refuse_endless(first)
        learned = recall(key)
        slots: list[Slot] = learned if learned and _contain(learned, first) else first
        counted = self._counted()
        for _ in range(_MOST_PASSES):
            region = Graph([a for s in slots for a in s.spec.avals()], self.graph)
            region.trips, region.repeats = self.trips, True
            region.counted = self._counts()
            values = self._compose(slots, region)
            out = run_in(region, self.step, *values)
            new: list[Slot] = []
            for k, (slot, x) in enumerate(zip(slots, out, strict=True)):
                try:
                    new.append(slot.joined(x, self.none, counted))
                except Unlike as unlike:
                    unlike.position = k - 2  # type: ignore[attr-defined]
                    raise
            if all(a.same(b) for a, b in zip(slots, new, strict=True)):
                remember(key, [Slot(s.spec) if type(s) is Slot else s for s in slots])
                return new, region, out
            slots = new
        raise StagingError(f"{self.loop.where()}: the types of its variables do not settle")

    def _counted(self) -> bool:
        """Whether Python may as well run the loop, asking it before each iteration."""
        loop = self.loop
        if loop.until is not None:
            return False
        if loop.items is not None:
            return isinstance(loop.items.length, int)
        assert loop.test is not None
        return type(loop.asked(self.inits[2:])) is bool

    def _counts(self) -> bool:
        """Whether the number of iterations depends on nothing but the counters around the loop."""
        loop = self.loop
        if loop.items is None or loop.until is not None or self.masked:
            return False
        return isinstance(loop.items.length, int) or bool(counters(loop.items.length))

    def _refuse_endless(self, slots: list[Slot]) -> None:
        """A test that no variable changes: what it asks for is changed in place, by Python."""
        loop = self.loop
        if loop.test is None or loop.until is not None or reads_cells(loop.test):
            return
        if any(x is None for x in self.inits):  # it may be set by the loop
            return
        # A number in a container may change too, though it is none of the loop's own variables.
        slots = [
            Slot(spec_of(without_numbers(x))) if type(slot) is Slot else slot
            for slot, x in zip(slots, self.inits, strict=True)
        ]
        graph = Graph([a for s in slots for a in s.spec.avals()], self.graph)
        values = self._compose(slots, graph)
        try:
            endless = run_in(graph, lambda: predicate(loop.test(*values[2:])))  # type: ignore[misc]
        except Exception:  # it needs a number as Python's, and fails again where that matters
            return
        if endless is True and not any(type(x) is str for x in self.inits):
            self._refuse_changes(graph, values)
            raise StagingError(f"{loop.where()}: its test depends on no variable that it changes")

    def _refuse_changes(self, graph: Graph, values: list[Any]) -> None:
        """Errors: Changes, if an iteration changes objects, which the test may ask."""
        before = Before((self.loop.fn, self.loop.test))
        try:
            run_in(graph, self.step, *values)
        except Changes:
            raise
        except Exception:  # it fails for other reasons
            return
        finally:
            before.restore()

    def _compose(self, slots: list[Slot], graph: Graph) -> list[Any]:
        inputs = iter(graph.inputs)
        return [s.compose(inputs) for s in slots]

    def _key(self) -> Any:
        loop = self.loop
        outside = [describe_value(f) for f in (loop.fn, loop.test) if f is not None]
        return (
            self.masked,
            self.none,
            self.tests_ahead,
            repr(outside),
            repr([describe_value(x) for x in self.inits]),
        )

    def _site(self, k: int) -> Any:
        return getattr(self.loop.fn, "__code__", self.loop.fn), k

    def _room(self, k: int) -> tuple[int, bool]:
        """(capacity of a buffer, whether it may turn out too small)."""
        if self.trips is not None:
            return max(self.trips, 1), False
        return capacity(self._site(k)), True

    def _finished(self, k: int, steps: Any, counts: Any, buffers: Any, results: Iterator) -> Saved:
        if self.trips is not None and self.loop.until is None and not self.masked and self._exact:
            steps = self.trips
        store = Buffers(buffers.compose(results), buffers.template, steps)
        return Saved(store, 0, False, counts.first, counts.count)


# ---- what was learned about loops while staging one program ----


def recall(key: Any) -> Any:
    """What is known of a loop from an earlier pass over the same program."""
    return GRAPH.get().root.learned.get(key)


def remember(key: Any, value: Any) -> None:
    """Keep what was learned of a loop while this program is being staged."""
    GRAPH.get().root.learned[key] = value


def _contain(slots: list[Slot], first: list[Slot]) -> bool:
    """Whether what was learned covers what this loop starts from."""
    try:
        return all(Slot(join(a.spec, b.spec)).same(a) for a, b in zip(slots, first, strict=True))
    except Unlike:
        return False


def describe_value(x: Any, depth: int = 0) -> Any:
    """A value as far as it decides the types of a loop's variables."""
    if type(x) is Saved:
        return "Saved", x.length, x.count is None
    if isinstance(x, types.FunctionType):
        return id(x.__code__), [describe_value(v, depth + 1) for v in captured(x) if depth < 4]
    try:
        spec = spec_of(x)
    except NotImplementedError:
        return id(x)
    return str(spec), spec.avals(), levels_of(spec)  # a level is used once


def reads_cells(test: Any) -> bool:
    """Whether a test asks for a number of a function around it, which others may change."""
    if isinstance(test, Loop):
        test = test.test
    values = captured(test)
    inner = [x for x in values if isinstance(x, types.FunctionType | Loop)]
    return any(map(is_array, values)) or any(map(reads_cells, inner))


def refuse_twice(loop: Loop, carry: tuple) -> None:
    """Errors: Shared, in a short loop two of whose variables are one object, and would be two."""
    from overt.runtime.loops import is_short

    objects = [id(x) for x in carry if is_value(x) and not is_frozen(x)]
    if len(objects) > len(set(objects)) and is_short(loop):
        raise Shared("two variables of a loop are one object")


def without_numbers(x: Any) -> Any:
    """The value with arrays in place of Python numbers, those in containers included."""
    if type(x) in NUMBERS:
        return as_array(x)
    parts = parts_of(x)
    return x if parts is None else parts.rebuild(list(map(without_numbers, parts.values)))
