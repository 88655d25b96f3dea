"""Branches and loops that change objects, as functions of what these objects hold.

Code that is staged for later, or run for some lanes only, must not change an object where it
stands.  Here it is run on the object's values as further operands, which come back changed, and
the object is left as it was; the branch or loop then hands these values on like any others.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from overt.runtime.closures import Shield
from overt.runtime.errors import StagingError
from overt.runtime.masks import active_lanes
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import NUMBERS, blank, parts_of
from overt.runtime.primitive import GRAPH
from overt.runtime.record import RECORDING, Recorded
from overt.runtime.setbacks import AHEAD, AskingChanges, Changes, ChangesInSomeLanes, More, Shared
from overt.runtime.tree_registry import LENIENT, register_pytree_node
from overt.runtime.undefined import UndefinedValue
from overt.runtime.world import (
    MISSING,
    Held,
    Queue,
    Slot,
    World,
    attributes_of,
    is_apart,
    is_frozen,
    is_users_object,
    is_value,
)

if TYPE_CHECKING:
    from overt.runtime.loops import Loop

__all__ = ["Changes", "State", "changing_cond", "changing_loop", "refuse_unless_carried"]

MOST_TRIES = 12

# Where values of objects are operands: the graph and the lanes that the code is run for.
_CARRIED: ContextVar[tuple[Any, Any] | None] = ContextVar("overt_carried", default=None)


def refuse_unless_carried() -> None:
    """Refuse to change an object, unless it is set back and its values are handed on.

    Errors: Changes, which the branch or loop around it catches.
    """
    if AHEAD.get():
        raise AskingChanges("the test of a loop changes an object or a global variable")
    graph, lanes = place_of_run()
    staged = graph is not None and graph.parent is not None
    if not staged and lanes is None:
        return
    carried = _CARRIED.get()
    if carried is not None and carried[0] is graph and carried[1] is lanes:
        return
    if lanes is None:
        raise Changes(
            "a function that changes an object or a global variable is called in a loop or branch "
            "of the compiled program, where it would run once for all iterations; return the new "
            "value and carry it through the loop instead"
        )
    raise ChangesInSomeLanes(
        "a function that changes an object or a global variable is called in a loop or branch "
        "that only some lanes of a vmap take; return the new value instead"
    )


def place_of_run() -> tuple[Any, Any]:
    """The graph and the lanes that the code is run for."""
    return GRAPH.get(), active_lanes()


class State:
    """What the objects hold that a branch or loop can reach, and what of it is an operand."""

    def __init__(self, *roots: Any) -> None:
        self.world = World(*roots)
        self.now = self.world.take()
        self.carried: list[Slot] = []
        # The positions of variables that get other objects: these are handed on by what they hold.
        self.replaced: frozenset[int] = frozenset()
        self.by_parts = bool(RECORDING.get())
        self.kept: frozenset[int] = frozenset()  # those of them that may stay what they are
        self.place = place_of_run()
        self.ran_in: tuple[Any, Any] = MISSING, MISSING  # that of the last iteration
        self.settled = False  # whether it is known what is changed; derivatives run the code again

    def carry(self, more: More) -> None:
        """From now on these places are operands too."""
        self.replaced |= more.replaced
        for slot in more.slots:
            self.carried.append(slot)
            thing = self.world.holders[slot[0]].thing
            if is_value(thing):
                self.world.apart.add(id(thing))
        self.now = self.world.take()

    def inputs(self) -> tuple:
        """What the carried places hold; a placeholder where there is nothing."""
        return tuple(map(self.input, self.carried))

    def input(self, slot: Slot) -> Any:
        return self.now[slot] if slot in self.now else self.world.absent(slot)

    def held_all(self, values: Sequence[Any]) -> list[Any]:
        """The variables of a loop, with stand-ins."""
        return [self.held(x, i in self.replaced) for i, x in enumerate(values)]

    def held(self, x: Any, by_parts: bool = False) -> Any:
        """A value with stand-ins for objects: for one whose places are operands of their own, and
        for dataclasses that nobody has registered as trees."""
        if id(x) in self.world.apart or is_apart(x):
            return Held(x)
        if type(x) is Fields:  # a stand-in of a loop around this one stays what it is
            return x.at_depth(x.depth + 1)
        inner = functools.partial(self.held, by_parts=by_parts)
        if by_parts and (chosen := objects_of(x)):
            x = whole_of(x, chosen)
        whole = is_value(x) and RECORDING.get() or by_parts and is_users_object(x)
        if whole and not (LENIENT.is_node(type(x)) and self.is_alone(x)):
            fields = attributes_of(x)
            return Fields(type(x), tuple(fields), list(map(inner, fields.values())))
        return with_parts(inner, x)

    def is_alone(self, x: Any) -> bool:
        """Whether no object of its class is set back, so that it is a snapshot itself."""
        return all(type(value) is not type(x) for value in self.world.values())

    def free(self, x: Any, copies: list[tuple[Any, dict[str, Any]]]) -> Any:
        """The value again; dataclasses that are copies are noted with what they hold."""
        if type(x) is Held:
            return x.value
        if type(x) is Fields and x.depth:
            return x.at_depth(x.depth - 1)
        made = (
            x.rebuilt(copies, self)
            if type(x) is Fields
            else with_parts(lambda part: self.free(part, copies), x)
        )
        whole = is_value(made) or type(x) is Fields
        if whole and not is_frozen(made) and id(made) not in self.world.known:
            copies.append((made, attributes_of(made)))
        return made

    def joined(self, x: Any) -> Any:
        """A result again; dataclasses that may be copies of such that others hold are noted."""
        from overt.runtime.joined_values import note

        copies: list[tuple[Any, dict[str, Any]]] = []
        made = self.free(x, copies)
        known = {type(value): value for value in self.world.values()}
        found = [copy for copy, _ in copies if type(copy) in known]
        kinds = set(map(type, found))
        note(*found, *[value for value in self.world.values() if type(value) in kinds])
        return made

    def note(self, x: Any, copies: list[tuple[Any, dict[str, Any]]]) -> Any:
        """Note the dataclasses in an item of a loop with what they hold."""
        if is_value(x) and not is_frozen(x) and id(x) not in self.world.known:
            copies.append((x, attributes_of(x)))
        return with_parts(lambda part: self.note(part, copies), x)

    def check(self, copies: list[tuple[Any, dict[str, Any]]]) -> None:
        """Refuse a change of a copy; dataclasses then are operands place by place."""
        if not any(not alike(attributes_of(x), fields) for x, fields in copies):
            return
        values = [(i, h) for i, h in enumerate(self.world.holders) if is_value(h.thing)]
        slots = [(i, name) for i, h in values for name in h.read()]
        slots = [slot for slot in slots if slot not in self.carried]
        if not slots:
            raise NotImplementedError(
                "an object is changed in a branch or loop of a compiled program, where it is a "
                "copy; make a changed one with dataclasses.replace"
            )
        raise More(self, slots)

    def note_replaced(self, given: list[Any], out: tuple) -> None:
        """A variable that gets a new object in a recorded loop is handed on by what that holds."""
        if not self.by_parts:
            return
        pairs = enumerate(zip(given, out, strict=False))
        before, after = ([list(objects_in(x, set())) for x in values] for values in (given, out))
        replaced = {i for i, (x, y) in pairs if x is not y and new_among(after[i], before[i])}
        if not replaced | self.replaced:
            return
        known = World(given, *[h.thing for h in self.world.holders]).known
        every = [id(x) for found in after for x in found]
        for i in replaced:
            stay = {id(x) for x in before[i]} if chooses(out[i]) else set()
            if stay:  # it stays, or another one takes its place
                self.kept |= {i}
            for x in after[i]:
                if id(x) not in stay and id(x) in known or every.count(id(x)) > 1:
                    raise Shared(
                        f"a compiled loop hands on an object of the class {type(x).__name__} that "
                        "others hold too: make a new object in each iteration"
                    )
        if replaced - self.replaced:
            raise More(self, [], frozenset(replaced))

    def names(self) -> list[str]:
        return [self.world.name_of(slot) for slot in self.carried]

    def finish(self, values: Sequence[Any]) -> None:
        """Let the objects hold what the branch or loop has left there."""
        if not self.carried:
            return
        refuse_unless_carried()
        from overt.runtime.joined_values import is_object as counts_by_identity
        from overt.runtime.joined_values import note

        new = {**self.now, **dict(zip(self.carried, values, strict=True))}
        stored = [(x, self.now.get(slot)) for slot, x in zip(self.carried, values, strict=True)]
        self.world.put(set_ones(new), final=True)
        if all(map(operator.is_, self.ran_in, self.place)):  # as it is in Python, without copies
            return
        others = [x for x, before in stored if x is not before and id(x) not in self.world.known]
        note(*filter(counts_by_identity, others))

    def pinned(self) -> tuple[list[Slot], list[Any]]:
        """The other places and what they hold, which stays so whenever the code is run."""
        rest = [slot for slot in self.now if slot not in self.carried]
        return rest, [self.now[slot] for slot in rest]

    def side(self, fn: Callable, count: int) -> Callable:
        """A function of operands as one of operands and carried values: (result, *values)."""
        carried, (rest, fixed), state = (
            tuple(self.carried),
            self.pinned(),
            Shield(self, self.world.set_back()),
        )

        def run(*operands: Any) -> tuple:
            inside = dict(zip(rest, fixed, strict=True))
            inside |= dict(zip(carried, operands[count:], strict=True))
            with state.value.entered(inside) as left:
                copies: list[tuple[Any, dict[str, Any]]] = []
                out = fn(*[state.value.free(x, copies) for x in operands[:count]])
                state.value.check(copies)
                return state.value.held(out), *left(carried)

        run.__wrapped__, run.names = fn, self.names()  # type: ignore[attr-defined]
        return run

    def loop(self, loop: Loop, count: int) -> Loop:
        """A loop that carries the values of objects after its own variables."""
        carried, (rest, fixed), state = (
            tuple(self.carried),
            self.pinned(),
            Shield(self, self.world.set_back()),
        )
        body, asked = loop.fn, loop.test
        first, bare = int(loop.items is not None), loop.bare

        def run(*operands: Any) -> tuple:
            inside = dict(zip(rest, fixed, strict=True))
            inside |= dict(zip(carried, operands[first + count :], strict=True))
            with state.value.entered(inside) as left:
                copies: list[tuple[Any, dict[str, Any]]] = []
                for item in operands[:first]:
                    state.value.note(item, copies)
                given = [state.value.free(x, copies) for x in operands[first : first + count]]
                out = body(*operands[:first], *given)
                state.value.ran_in = place_of_run()
                state.value.check(copies)
                out = (out,) if bare else tuple(out or ())
                state.value.note_replaced(given, out)
                return *state.value.held_all(out), *left(carried)

        def test(*operands: Any) -> Any:
            assert asked is not None
            inside = dict(zip(rest, fixed, strict=True))
            inside |= dict(zip(carried, operands[count:], strict=True))
            with state.value.entered(inside) as left:
                answer = asked(*[state.value.free(x, []) for x in operands[:count]])
                left(carried, None)
                return answer

        run.site = getattr(body, "__code__", body), self.by_parts  # type: ignore[attr-defined]
        turned = type(loop)(run, None if asked is None else test, loop.items, loop.until)
        own = loop.names if loop.names is not None else [f"number {i}" for i in range(count)]
        turned.names, turned.bare = [*own, *self.names()], False
        return turned

    @contextmanager
    def entered(self, inside: dict[Slot, Any]) -> Iterator[Callable[..., tuple]]:
        """Let the objects hold these values while a block runs, which may ask what it left."""
        world = self.world
        before = world.take()
        inside = set_ones(inside)

        def left(carried: Sequence[Slot], changeable: Any = ()) -> tuple:
            now = world.take()
            places = [*now, *(s for s in inside if s not in now)]
            more = [s for s in places if not alike(now.get(s, MISSING), inside.get(s, MISSING))]
            if changeable is None and more:
                raise AskingChanges(
                    f"the test of a loop changes {world.name_of(more[0])}; change it in the body"
                )
            more = [s for s in more if s not in carried]
            if self.settled:  # a recorded branch gives anew what it only hands on
                bare = {s: [underneath(x.get(s, MISSING)) for x in (now, inside)] for s in more}
                more = [s for s in more if not alike(*bare[s])]
            if more:
                raise More(self, more)
            world.note_renewed(carried)
            return tuple(now[s] if s in now else world.absent(s) for s in carried)

        world.put(inside)
        token = _CARRIED.set(place_of_run())
        try:
            yield left
        finally:
            _CARRIED.reset(token)
            world.put(before)


def set_ones(values: dict[Slot, Any]) -> dict[Slot, Any]:
    """Without the places that nothing is in."""
    return {s: x for s, x in values.items() if type(x) is not UndefinedValue}


class Fields:
    """A dataclass as a tree of what it holds; `depth` counts the loops around the one it is for."""

    def __init__(
        self, kind: type, names: tuple[str, ...], values: list[Any], depth: int = 0
    ) -> None:
        self.kind, self.names, self.values, self.depth = kind, names, values, depth

    def at_depth(self, depth: int) -> Fields:
        """The same as a value of so many more loops, one in the other."""
        return Fields(self.kind, self.names, self.values, depth)

    def rebuilt(self, copies: list[tuple[Any, dict[str, Any]]], state: State) -> Any:
        """The dataclass."""
        made = blank(self.kind)
        for name, value in zip(self.names, self.values, strict=True):
            object.__setattr__(made, name, state.free(value, copies))
        return made


register_pytree_node(
    Fields,
    lambda x: (tuple(x.values), (x.kind, x.names, x.depth)),
    lambda data, values: Fields(data[0], data[1], list(values), data[2]),
)


def with_parts(f: Callable[[Any], Any], x: Any) -> Any:
    """A container with `f` applied to its parts; itself where they stay the same."""
    if type(x) is NoneOr:
        value, flag = opened(x)
        found = f(value)
        return x if found is value else NoneOr(found, flag, x.__overt_name__)
    if type(x) not in (list, dict) and not isinstance(x, tuple):
        return x
    parts = parts_of(x)
    if parts is None:
        return x
    values = list(map(f, parts.values))
    if all(a is b for a, b in zip(values, parts.values, strict=True)):
        return x
    return parts.rebuild(values)


def is_object(x: Any) -> bool:
    """Whether a value is an object that may change, and that more than one name may hold."""
    return is_users_object(x) and x is not None and not is_frozen(x)


def objects_of(x: Any) -> tuple[Any, ...]:
    """The objects of one class of which a value is one, chosen by data; none for other values."""
    found = getattr(x, "__overt_objects__", ()) if hasattr(type(x), "__overt_objects__") else ()
    return found if len({type(each) for each in found}) == 1 else ()


def whole_of(x: Any, objects: tuple[Any, ...]) -> Any:
    """An object that holds what the chosen one does."""
    made = blank(type(objects[0]))
    for name in attributes_of(objects[0]):
        object.__setattr__(made, name, getattr(x, name))
    return made


def new_among(after: list[Any], before: list[Any]) -> bool:
    """Whether there is an object that was not there: itself, or in a container one by reference."""
    known = set(map(id, before))
    new = [x for x in after if id(x) not in known and is_object(x)]
    return any(x is after[0] or not is_value(x) for x in new)


def holds_objects(x: Any) -> bool:
    """Whether a value is an object that counts by its identity, or a container has one."""
    return any(is_object(each) and not is_value(each) for each in objects_in(x, set()))


def chooses(x: Any) -> bool:
    """Whether a value is, or a container has, one of several objects."""
    if isinstance(x, (list, tuple, dict)):
        return any(map(chooses, x.values() if isinstance(x, dict) else x))
    return bool(objects_of(x))


def objects_in(x: Any, seen: set[int]) -> Iterator[Any]:
    """The objects of the user's in a value, as often as they are there."""
    if isinstance(x, (list, tuple)):
        parts: Sequence[Any] = x
    elif isinstance(x, dict):
        parts = list(x.values())
    elif chosen := objects_of(x):
        parts = chosen
    elif x is not None and is_users_object(x) and not callable(x):
        yield x
        parts = [] if id(x) in seen else list(attributes_of(x).values())
        seen.add(id(x))
    else:
        return
    for part in parts:
        yield from objects_in(part, seen)


def alike(a: Any, b: Any) -> bool:
    """Whether nothing was stored between two looks at a place."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in NUMBERS or type(a) in (str, set, Held):
        return bool(a == b) and repr(a) == repr(b) if type(a) is float else bool(a == b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and (all(map(operator.is_, a, b)) or all(map(alike, a, b)))
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[k], b[k]) for k in a)
    if hasattr(type(a), "__overt_alike__"):
        return a.__overt_alike__(b)
    return type(a) is Queue and alike(a.items, b.items)


def underneath(x: Any) -> Any:
    """A value, or the values in a container, without the tapes that they are recorded on."""
    while type(x) is Recorded:
        x = x.primal
    return with_parts(underneath, x)


def tried(state: State, run: Callable[[], Any]) -> Any:
    """`run()`, again with more places among the operands until all that are changed are."""
    for _ in range(MOST_TRIES):
        try:
            out = run()
            state.settled = True
            return out
        except More as more:
            if more.state is not state:
                raise
            state.carry(more)
    raise StagingError("the objects that a branch or loop changes differ from one run to the next")


def changing_cond(
    cond: Callable, pred: Any, then: Callable, orelse: Callable, operands: Sequence[Any]
) -> Any:
    """`cond(pred, then, orelse, operands)`, where the two sides may change objects."""
    state = State(then, orelse, list(operands))
    count = len(operands)

    def run() -> Any:
        sides = state.side(then, count), state.side(orelse, count)
        return cond(pred, *sides, (*map(state.held, operands), *state.inputs()))

    from overt.runtime.chosen_objects import given_back

    out, *values = given_back(tried(state, run))
    state.finish(values)
    return state.joined(out)


def changing_loop(run_loop: Callable, loop: Loop, values: tuple, by_parts: bool = False) -> tuple:
    """`run_loop(loop, values)`, where an iteration may change objects, or make new ones."""
    state = State(loop.fn, loop.test, values)
    state.by_parts |= by_parts
    count = len(values)

    def run() -> Any:
        return run_loop(state.loop(loop, count), (*state.held_all(values), *state.inputs()))

    out = tried(state, run)
    state.finish(out[count:])
    results = tuple(map(state.joined, out[:count]))
    kept = state.kept if always_runs(loop, values) else state.kept | state.replaced
    if kept:  # which may be copies of what there was before
        from overt.runtime.joined_values import note

        note(*[x for i in kept for x in (values[i], results[i]) if is_object(x)])
    return results


def always_runs(loop: Loop, values: tuple) -> bool:
    """Whether a loop surely has an iteration."""
    from overt.runtime.control import first_answer

    if loop.items is None:
        return first_answer(loop, values) is True
    return loop.items is not None and isinstance(loop.items.length, int) and loop.items.length > 0


def has_objects(*roots: Any) -> bool:
    """Whether there is something that can be reached and changed."""
    world = World(*roots)
    return bool(world.holders) or world.has_values
