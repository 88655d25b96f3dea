"""The places that the functions of one program read, found from their code before it runs.

From a function the way goes on to the functions that it names, to the classes of the objects it
reaches, and to those of their methods whose names occur in any code met.
"""

from __future__ import annotations

import collections
import os
import types
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from overt.runtime.ownership import is_users, is_users_file
from overt.runtime.places import GENERATED
from overt.runtime.world import CACHED, CONTAINERS, results_kept, sets_attributes
from overt.transformer import dependencies, reads, volatile
from overt.transformer.observed import (
    Observer,
    Parts,
    Seen,
    Snapshot,
    every,
)
from overt.transformer.parted import MISSING, Definition, pairs_of_class
from overt.transformer.state import THINGS, Place, Write


class Watch:
    """Collects the places that the functions of one program read."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, Any], tuple[Place, Seen]] = {}
        self.live: set[int] = set()
        self.sets = False  # whether attributes are set
        self.codes: list[types.FunctionType] = []
        self.reached: set[int] = set()  # functions, classes and deep parts met
        self.names: set[str] = set()  # all names in the code of the functions met
        self.waiting: dict[str, list[Any]] = {}  # methods whose names did not occur yet
        self.imports: list[types.FunctionType] = []
        self.calls = volatile.Calls()
        self.generators = volatile.Generators()
        self.pending: collections.deque[Any] = collections.deque()

    # --- places

    def add(self, holder: Any, key: Any, value: Any) -> None:
        place = Place(holder, key)
        if place.mark not in self.places:
            module = isinstance(value, types.ModuleType)
            self.places[place.mark] = place, Seen(value) if module else self.observe(value)

    def thing(self, x: Any) -> None:
        """Something that is reached in other ways than by one name."""
        if (place := Place(THINGS, x)).mark not in self.places:
            self.places[place.mark] = (place, self.observe(x))

    def place(self, place: Place, arguments: list[Any]) -> None:
        """A place known from an earlier staging."""
        if isinstance(place.key, type):
            self.pending.append(place.key)
            self.work()
        else:
            self.places[place.mark] = (place, self.observe(place.get(arguments)))

    def observe(self, x: Any) -> Seen:
        return Observer(self.pending.append).observe(x)

    def known(self) -> set[int]:
        """The identities of the containers and objects that were there before the run."""
        found: set[int] = set()
        pending = [seen for _, seen in self.places.values()]
        while pending:
            seen = pending.pop()
            found.add(id(seen.value))
            if isinstance(seen, Parts):
                pending += seen.parts
        return found

    def containers(self) -> dict[int, Write]:
        """Where the lists and dictionaries are that were there before the run, by identity."""
        found: dict[int, Write] = {}
        pending = [(Write(p, (), None, None), seen) for p, seen in self.places.values()]
        while pending:
            at, seen = pending.pop()
            if not isinstance(seen, Parts):
                continue
            if isinstance(seen.value, CONTAINERS):
                found.setdefault(id(seen.value), at)
            pending += [
                (at._replace(steps=(*at.steps, key)), part)
                for key, part in zip(seen.keys, seen.parts, strict=True)
                if isinstance(part, Parts)
            ]
        return found

    # --- functions

    def function(self, function: types.FunctionType, live: types.FunctionType) -> None:
        """A function of the user's runs in its rewritten form `live`."""
        if id(live) in self.live:
            return
        self.live.add(id(live))
        if function.__code__.co_filename not in GENERATED:
            self.pending.append(function)  # variables of generated code live as long as its run
        for one in (function, live):
            for holder, name in reads.places(one):
                self.add(holder, name, holder.get(name, MISSING))
        self.looked_up(function, live)
        self.work()

    def looked_up(self, function: types.FunctionType, live: types.FunctionType) -> None:
        """Names that the passes resolved, and that may be gone from the generated text."""
        rewritten = live.__dict__.get("__overt__")
        owners = {(): function}
        for path in getattr(rewritten, "found", ()):
            owner = owners.get(path[:-1])
            name = path[-1]
            if name.startswith("."):
                continue
            if owner is None or name in owner.__code__.co_freevars:
                continue
            value = owner.__globals__.get(name, MISSING)
            if value is not MISSING:
                self.add(owner.__globals__, name, value)
                for inner in dependencies.functions_in(value):
                    owners[path] = inner

    def work(self) -> None:
        """Go on from everything that was met."""
        while self.pending:
            x = self.pending.popleft()
            if id(x) in self.reached:
                continue
            self.reached.add(id(x))
            if isinstance(x, types.FunctionType):
                self.code(x)
            elif isinstance(x, type):
                self.users_class(x)
            elif isinstance(x, types.ModuleType):
                for holder, name in reads.followed({"": x}, "", ()):
                    if holder is vars(x):
                        self.add(holder, name, holder[name])
            elif (inner := getattr(x, "__wrapped__", None)) is not None:
                self.pending.append(inner)
                for result in results_kept(x) if isinstance(x, CACHED) else ():
                    self.thing(result)
            elif (own := getattr(x, "__dict__", None)) and is_wrapper(x):
                self.pending += [f for f in own.values() if isinstance(f, types.FunctionType)]
            elif type(x) not in ATOMS and Observer(lambda _: None).observe(x).__class__ is Parts:
                self.thing(x)

    def code(self, f: types.FunctionType) -> None:
        """What a function reads, and the functions that it names."""
        file = f.__code__.co_filename
        if file in GENERATED or "__overt__" in f.__dict__:
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self.add(cell, name, Place(cell, name).get([]))
        if not is_users_file(file) and not is_users(f):
            return
        self.codes.append(f)
        if not self.sets and sets_attributes(f.__code__):
            self.sets = True  # perhaps of functions that have none so far
            for g in self.codes:
                self.thing(Definition(g))
        elif self.sets or f.__kwdefaults__ or has_attributes(f):
            self.thing(Definition(f))
        elif any(not is_constant(x) for x in f.__defaults__ or ()):
            self.thing(Definition(f))
        if not is_users_file(file):
            return
        found = reads.reads_of(f.__code__)
        for holder, name in reads.places(f):
            self.add(holder, name, holder.get(name, MISSING))
        for name, attributes in found.cells:
            if name in f.__code__.co_freevars:
                value = Place((f.__closure__ or ())[f.__code__.co_freevars.index(name)], name)
                space = {name: value.get([])}
                for holder, inner in reads.followed(space, name, attributes):
                    if holder is not space:
                        self.add(holder, inner, holder.get(inner, MISSING))
        if found.imports or {"modules", "import_module"} & found.names:
            self.imports.append(f)
            self.imported(f)
        if "globals" in found.names:
            for holder, name in reads.all_names(f.__globals__):
                self.add(holder, name, holder[name])
        if {"environ", "getenv"} & found.names:
            self.thing(os.environ)
        new = found.names - self.names
        if reads.DYNAMIC & found.names:
            new = new | (found.texts - self.names)
        self.names |= new
        self.calls.expect(new)
        self.generators.expect(new)
        for name in new & self.waiting.keys():
            self.pending += self.waiting.pop(name)

    def imported(self, f: types.FunctionType) -> None:
        """Names of modules that a function imports itself."""
        for module, taken in reads.modules(f):
            space = vars(module)
            places = [(space, n) for n in taken] if taken else reads.all_names(space)
            for holder, name in places:
                self.add(holder, name, holder.get(name, MISSING))

    def users_class(self, kind: type) -> None:
        """What a class defines, and those of its methods that are used."""
        self.pending += [c for c in kind.__mro__[1:] if c is not object]
        self.pending.append(type(kind))
        if not is_users(kind):
            return
        place = Place(THINGS, kind)
        if place.mark not in self.places:
            seen = Observer(self.pending.append).observe_class(kind)
            self.places[place.mark] = place, seen
        for name, value in pairs_of_class(kind):
            for f in functions_of(value):
                if name in self.names or name.startswith("__") and name.endswith("__"):
                    self.pending.append(f)
                else:
                    self.waiting.setdefault(name, []).append(f)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around the run; what it must not do is refused, what it imports is found."""
        try:
            yield
        finally:
            self.calls.stop()
        self.calls.check()
        self.generators.check(self.codes)
        for _, seen in self.places.values():
            for found in every(seen, Snapshot):
                if found.has_changed():
                    volatile.refuse_used(found.value, self.codes)
        for f in self.imports:
            self.imported(f)
        self.work()


ATOMS = (str, bytes, int, float, complex, bool, type(None))


def is_wrapper(x: Any) -> bool:
    """Whether a value is a function of ours that holds functions of the user's."""
    return callable(x) and type(x).__module__.startswith("overt.")


def has_attributes(f: types.FunctionType) -> bool:
    return any(not name.startswith("__") for name in vars(f))


def is_constant(x: Any) -> bool:
    """Whether a default value never changes."""
    return isinstance(x, (*ATOMS, types.BuiltinFunctionType))


def functions_of(x: Any) -> Iterator[Any]:
    """What stands behind an attribute of a class: of a method, a property; a class itself."""
    if isinstance(x, types.FunctionType | type):
        yield x
        return
    for name in ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "dispatcher"):
        f = getattr(x, name, None)
        if f is not None and not isinstance(x, type):
            yield f


WATCH: ContextVar[Watch | None] = ContextVar("overt_watch", default=None)


@contextmanager
def watching(watch: Watch) -> Iterator[Watch]:
    """Functions that come alive in the block are watched."""
    token = WATCH.set(watch)
    try:
        yield watch
    finally:
        WATCH.reset(token)
