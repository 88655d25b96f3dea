"""One program of a jitted function: staged once, guarded by what it read, run many times."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy

from overt.runtime.array import Array, DeviceArray
from overt.runtime.aval import Aval, aval_of
from overt.runtime.chosen_objects import copied
from overt.runtime.dtypes import float0
from overt.runtime.errors import StagingError
from overt.runtime.interop import as_array
from overt.runtime.joined_values import check
from overt.runtime.left_behind import refuse_left_behind
from overt.runtime.parts import is_array
from overt.runtime.program import Program
from overt.runtime.special_methods import lifting_special_methods
from overt.runtime.staging import Graph, Symbolic
from overt.runtime.undefined import refuse_unset
from overt.runtime.world import CONTAINERS, is_plain_tuple, like
from overt.transformer import state
from overt.transformer.guards import Guards, slot
from overt.transformer.observed import Number, Parts, Seen
from overt.transformer.parted import MISSING
from overt.transformer.state import ALL, ARGUMENTS, ONLY_BEFORE, Place, Write, differences, store
from overt.transformer.trees import Flat, Made, take_apart
from overt.transformer.watch import Watch, watching

STAGING = threading.RLock()  # code being staged may change the user's objects until it is undone


class Existing:
    """A container that was there before the run, at some place, and is now held by another, too."""

    def __init__(self, at: Write) -> None:
        self.at = at


class Again:
    """A new container that a place stored before holds, too."""

    def __init__(self, at: Write) -> None:
        self.at = at


def standing(x: Any, at: Write, known: dict[int, Write], first: dict[int, Write]) -> Any:
    """What is stored at a place, without the containers that are held elsewhere."""
    if id(x) in known:
        return Existing(known[id(x)])
    if isinstance(x, CONTAINERS):
        if id(x) in first:
            return Again(first[id(x)])
        first[id(x)] = at
    if type(x) not in (list, dict) and not is_plain_tuple(x):
        return x
    items = x.items() if isinstance(x, dict) else enumerate(x)
    steps = at.steps[:-1] if at.steps and at.steps[-1] is ALL else at.steps
    new = {k: standing(v, at._replace(steps=(*steps, k)), known, first) for k, v in items}
    if isinstance(x, dict):
        return new
    return list(new.values()) if isinstance(x, list) else like(x, list(new.values()))


class Outputs:
    """Where the results of a program go: into the returned tree and into the user's objects."""

    def __init__(self, flat: Flat, writes: list[tuple[Write, Flat | None]]) -> None:
        self.flat, self.writes = flat, writes
        self.values: list[Any] = []  # what the program computes
        self.template: list[Any] = []
        self.holes: list[int] = []  # positions of the template filled by results
        self.forwarded: list[tuple[int, int]] = []  # filled by arguments
        self.existing: list[tuple[int, Write]] = []  # filled by containers that were there before
        self.again: list[tuple[int, Write]] = []  # filled by containers that are stored before
        for x in flat.leaves:
            refuse_unset(x)
            nothing = getattr(x, "dtype", None) == float0  # the tangent of an integer
            self.leaf(x, is_array(x) and not nothing)
        for _, tree in writes:
            for x in tree.leaves if tree is not None else ():
                self.leaf(x, isinstance(x, Array))
        self.single = (
            len(self.template) == 1 and len(self.holes) == 1
            and flat.rebuild([MISSING]) is MISSING and not writes
        )  # fmt: skip

    def leaf(self, x: Any, computed: bool) -> None:
        place = len(self.template)
        self.template.append(None)
        if type(x) is Existing:
            self.existing.append((place, x.at))
        elif type(x) is Again:
            self.again.append((place, x.at))
        elif type(x) is Symbolic and x.node is x.graph.source and x.graph.parent is None:
            self.forwarded.append((place, x.index))
        elif computed:
            self.holes.append(place)
            self.values.append(x)
        else:
            from overt.runtime.texts import Text

            refuse_left_behind(x)
            self.template[place] = x.refuse() if type(x) is Text else x

    def fill(self, results: list[Any], leaves: list[Any], arguments: list[Any]) -> Any:
        """The returned tree; what the function stored is stored."""
        filled = self.template.copy()
        for place, result in zip(self.holes, results, strict=True):
            filled[place] = result
        for place, index in self.forwarded:
            filled[place] = leaves[index]
        for place, write in self.existing:
            filled[place] = state.current(write, arguments)
        end = len(self.flat.leaves)
        returned = self.flat.rebuild(filled[:end])
        for write, flat in self.writes:
            if flat is None:
                store(write, MISSING, arguments)
            else:
                start, end = end, end + len(flat.leaves)
                for place, at in self.again:
                    if start <= place < end:
                        filled[place] = state.current(at, arguments)
                store(write, flat.rebuild(filled[start:end]), arguments)
        return returned


class Staged:
    """A program with its guards.

    `call` runs the function on the given leaves; `arguments` are those that are objects.
    """

    def __init__(
        self, call: Callable[[list[Any]], Any], avals: list[Aval], arguments: list[Any], name: str
    ) -> None:
        self.call, self.name = call, name
        self.count = len(avals)
        self.quick: tuple | None = (
            None  # (run, constants, handlers, aval, guards): one array, no state
        )
        self.numbers: list[Write] = []
        self.avals = avals
        with STAGING, lifting_special_methods(call, arguments):
            self.arguments = arguments
            self.program = self.stage()
            self.arguments = []
            self.fix_evaluated()

    def stage(self) -> Program:
        """Stage; numbers that the code changes become inputs if it can do without their values."""
        plain = Program(self.body, tuple(self.avals), self.name)
        kept = self.outputs, self.guards
        changed = [w for w, _ in self.outputs.writes if is_number(w.before)]
        if not changed:
            return plain
        self.numbers = changed
        try:
            avals = [*self.avals, *[aval_of(w.before) for w in changed]]
            return Program(self.body, tuple(avals), self.name)
        except (StagingError, TypeError, ValueError):
            self.numbers = []
            self.outputs, self.guards = kept
            return plain

    def body(self, *inputs: Any) -> list[Any]:
        """What is staged: run the function, note what it reads and writes, undo the writes."""
        watch = Watch()
        arguments = self.arguments
        for i, x in enumerate(arguments):
            place = Place(ARGUMENTS, i)
            watch.places[place.mark] = (place, watch.observe(x))
        undo: list[Write] = []
        with watching(watch):
            try:
                observed = self.inject(watch, list(inputs[self.count :]), arguments, undo)
                with watch.running():
                    result = self.call(list(inputs[: self.count]))
                check()
                before = watch.known()
                result = copied(result, lambda x: id(x) in before)
                writes = [
                    w for place, seen in watch.places.values()
                    for w in differences(seen, place.get(arguments), place)
                ]  # fmt: skip
                made, reached, trees = Made(before), set(), []
                known = watch.containers()
                first: dict[int, Write] = {}
                for w in writes:
                    if w.value is ONLY_BEFORE:
                        continue
                    refuse_left_behind(w.value)
                    again = (mark := state.target(w, arguments)) in reached
                    reached.add(mark)
                    objects = Made(made.before) if again else made
                    trees.append(
                        (
                            w,
                            None
                            if w.value is MISSING
                            else take_apart(
                                standing(
                                    copied(w.value, lambda x: id(x) in before), w, known, first
                                ),
                                objects,
                            ),
                        )
                    )
                undo += writes
            except BaseException:
                for place, seen in watch.places.values():
                    undo += differences(seen, place.get(arguments), place)
                raise
            finally:
                for write in reversed(undo):
                    store(write, write.before, arguments)
        for number, seen in observed:
            replace_number(watch, number, seen)
        self.outputs = Outputs(take_apart(result, made), trees)
        self.guards = Guards(watch)
        self.refresh: list[tuple[int, int]] | None = None
        self.number_places = [self.guards.number_index(seen) for _, seen in observed]
        return self.outputs.values

    def inject(
        self, watch: Watch, inputs: list[Any], arguments: list[Any], undo: list[Write]
    ) -> list[tuple[Write, Number]]:
        """Put symbolic values where the numbers are that the code changes."""
        observed = []
        for write, x in zip(self.numbers, inputs, strict=True):
            holder = write.place
            if holder.mark not in watch.places:
                watch.place(holder, arguments)
            now = state.current(write, arguments)
            observed.append((write, Number(now)))
            undo.append(write._replace(before=now))
            store(write, x, arguments)
            note_injected(watch, write, x)
        return observed

    def fix_evaluated(self) -> None:
        """Arrays that Python asked the value of must stay the same ones."""
        self.graph = self.program.graph
        looked_at = evaluated(self.graph)
        for device in self.guards.arrays:
            if id(device.value) in looked_at:
                device.fixed = True

    def returned(self) -> list[tuple[Any, int]]:
        """The arrays that the function returns, as values of the graph, and their places."""
        graph, outputs = self.program.graph, self.outputs
        made = dict(zip(outputs.holes, graph.outputs, strict=True))
        made |= {place: graph.inputs[i] for place, i in outputs.forwarded}
        return [(made[i], i) for i in range(len(outputs.flat.leaves)) if i in made]

    def settle(self) -> None:
        """After compiling: which of the program's constants are read again at each call."""
        if self.graph is not self.program.graph:
            self.fix_evaluated()  # a buffer was too small, and the program was staged anew
        found = [(i, self.guards.index_of(x)) for i, x in enumerate(self.program.consts or ())]
        self.refresh = [(i, index) for i, index in found if index is not None]

    def run(self, leaves: list[Any], arguments: list[Any], arrays: list[Any]) -> Any:
        """Run on concrete arrays; `arrays` are those of the guards, as they are now."""
        program = self.program
        self.arguments = arguments
        if self.number_places:
            leaves = [*leaves, *[as_array(arrays[i]) for i in self.number_places]]
        if self.outputs.holes or program.graph.effect or program.checks:
            if self.refresh is None:
                results = program.run(leaves)
                self.settle()
            elif self.refresh:
                consts = list(program.consts or ())
                for place, index in self.refresh:
                    consts[place] = arrays[index]
                results = program.run(leaves, consts)
            else:
                results = program.run(leaves)
            if self.graph is not program.graph:
                self.settle()
            if self.quick is None and not self.refresh:
                self.quicken()
        else:
            results = []
        self.arguments = []
        outputs = self.outputs
        return results[0] if outputs.single else outputs.fill(results, leaves, arguments)

    def quicken(self) -> None:
        """Note what the shortest way through a call needs, if this program may take it."""
        ready, guards = self.program._ready, self.guards
        if ready is not None and self.outputs.single and not (guards.places or self.number_places):
            run, consts, handlers, out = ready
            names = [(holder, name, seen.value) for holder, name, seen in guards.simple]
            cells = [(cell, seen.value) for cell, seen in guards.cells]
            self.quick = (run, consts, handlers, out[0], names, cells, guards.functions)


def is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex, numpy.generic, DeviceArray))


def note_injected(watch: Watch, write: Write, x: Any) -> None:
    """The observation of a slot now holds the symbolic value, so that only later stores count."""
    found = slot(watch, write)
    if found is None:
        return
    parent, position, _ = found
    seen = Seen(x)
    if parent is None:
        mark = write.place.mark
        watch.places[mark] = (write.place, seen)
    else:
        parent.put(position, seen)
        parent.values[position] = x


def replace_number(watch: Watch, write: Write, number: Number) -> None:
    """From now on any number of this kind fits the slot."""
    found = slot(watch, write)
    if found is None:
        return
    parent, position, _ = found
    if parent is None:
        watch.places[write.place.mark] = (write.place, number)
    else:
        parent.put(position, number)


def evaluated(graph: Graph) -> set[int]:
    """The concrete arrays that values computed while staging depend on."""
    found: set[int] = set()
    for node in graph.nodes:
        if node.values is not None:
            found |= {
                id(x) for x in node.inputs if isinstance(x, Array) and type(x) is not Symbolic
            }
        for region in node.regions:
            found |= evaluated(region)
    return found


__all__ = ["Outputs", "Parts", "Staged"]
