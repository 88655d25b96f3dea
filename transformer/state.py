"""What staged code reads from and writes to the world around it.

Globals, closure cells, attributes of modules and of the user's objects that a program read are
observed: at each call they are compared with what they were, and arrays among them are read again
and given to the program as inputs.  What the code wrote while it was staged is undone, and written
again after each run with the values of that run.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from overt.runtime.places import GENERATED
from overt.transformer import dependencies, reads
from overt.transformer.observed import MISSING, Device, Number, Parts, Seen, devices, observe


class Place:
    """Somewhere a value is read from: a name in a dict, a cell, or one of the call's arguments."""

    __slots__ = ("holder", "key")

    def __init__(self, holder: Any, key: Any):
        self.holder, self.key = holder, key

    def get(self, arguments: list[Any]) -> Any:
        if self.holder is ARGUMENTS:
            return arguments[self.key]
        if isinstance(self.holder, types.CellType):
            try:
                return self.holder.cell_contents
            except ValueError:
                return MISSING
        return self.holder.get(self.key, MISSING)

    def words(self) -> str:
        """What it is, for messages."""
        if self.holder is ARGUMENTS:
            return "an object that is an argument"
        if isinstance(self.holder, types.CellType):
            return "a variable of an outer function"
        return str(self.key)

    def set(self, value: Any, arguments: list[Any]) -> None:
        if isinstance(self.holder, types.CellType):
            if value is MISSING:
                del self.holder.cell_contents
            else:
                self.holder.cell_contents = value
        elif value is MISSING:
            self.holder.pop(self.key, None)
        elif self.holder is not ARGUMENTS:
            self.holder[self.key] = value

    @property
    def is_cell(self) -> bool:
        return isinstance(self.holder, types.CellType)


ARGUMENTS: Any = object()


class Write(NamedTuple):
    """A value that staged code stored: the place, steps into its parts, the value, and before."""

    place: Place
    steps: tuple[Any, ...]
    value: Any
    before: Any


class Watch:
    """Collects the places that the functions of one program read."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, Any], tuple[Place, Seen]] = {}
        self.functions: set[int] = set()
        self.numbers: set[tuple] = set()  # slots whose number is an input of the program

    def add(self, holder: Any, key: Any, value: Any) -> None:
        mark = (id(holder), key)
        if mark not in self.places:
            self.places[mark] = (Place(holder, key), observe(value))

    def function(self, function: types.FunctionType, live: types.FunctionType) -> None:
        """A function of the user's runs in its rewritten form `live`."""
        if id(live) in self.functions:
            return
        self.functions.add(id(live))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        # Variables of generated code live no longer than its run.
        for name, cell in () if function.__code__.co_filename in GENERATED else cells:
            place = Place(cell, name)
            self.places.setdefault((id(cell), name), (place, observe(place.get([]))))
        for one in (function, live):
            for holder, name in reads.places(one):
                self.add(holder, name, holder.get(name, MISSING))
        self.looked_up(function, live)

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


WATCH: ContextVar[Watch | None] = ContextVar("overt_watch", default=None)


@contextmanager
def watching(watch: Watch) -> Iterator[Watch]:
    """Functions that come alive in the block are watched."""
    token = WATCH.set(watch)
    try:
        yield watch
    finally:
        WATCH.reset(token)


def differences(seen: Seen, x: Any, place: Place, steps: tuple = ()) -> Iterator[Write]:
    """What was stored into a value since it was observed."""
    if isinstance(seen, Parts) and x is seen.value:
        from overt.transformer.observed import pairs_of

        if isinstance(x, (list, set)):
            now = [part for _, part in pairs_of(x) or ()]
            if (
                isinstance(x, set)
                and set(seen.keys) != x
                or isinstance(x, list)
                and (len(now) != len(seen.values))
            ):
                yield Write(place, (*steps, ALL), x.copy(), _copied(seen))
                return
        parts = dict(pairs_of(x) or ())
        for key, part, value in zip(seen.keys, seen.parts, seen.values, strict=True):
            found = parts.pop(key, MISSING)
            if found is not value:
                yield Write(place, (*steps, key), found, value)
            else:
                yield from differences(part, found, place, (*steps, key))
        for key, value in parts.items():
            yield Write(place, (*steps, key), value, MISSING)
    elif x is not seen.value:
        yield Write(place, steps, x, seen.value)


ALL: Any = type("All", (), {"__repr__": lambda self: "all"})()


def _copied(seen: Parts) -> Any:
    return type(seen.value)(seen.keys if isinstance(seen.value, set) else seen.values)


def store(write: Write, value: Any, arguments: list[Any]) -> None:
    """Put a value where a write goes."""
    if not write.steps:
        write.place.set(value, arguments)
        return
    holder = write.place.get(arguments)
    for step in write.steps[:-1]:
        holder = _part(holder, step)
    step = write.steps[-1]
    if step is ALL:
        holder.clear()
        holder.update(value) if isinstance(holder, set) else holder.extend(value)
    elif isinstance(holder, (dict, list)):
        if value is MISSING:
            holder.pop(step, None) if isinstance(holder, dict) else holder.pop(step)
        else:
            holder[step] = value
    elif value is MISSING:
        object.__delattr__(holder, step)
    else:
        object.__setattr__(holder, step, value)


def current(write: Write, arguments: list[Any]) -> Any:
    """What is now where a write goes."""
    value = write.place.get(arguments)
    for step in write.steps:
        value = _part(value, step)
    return value


def _part(holder: Any, step: Any) -> Any:
    return holder[step] if isinstance(holder, (dict, list, tuple)) else getattr(holder, step)


class Guards:
    """The observations of one staged program, checked before it is run."""

    def __init__(self, watch: Watch) -> None:
        self.simple: list[tuple[dict, Any, Seen]] = []  # a name in a dict: `is` settles it
        self.cells: list[tuple[Any, Seen]] = []  # the same for closure cells
        self.places: list[tuple[Place, Seen]] = []
        self.arrays: list[Device] = []
        for place, seen in watch.places.values():
            for device in devices(seen):
                if isinstance(device, Device):
                    device.settle()
            if seen.simple and isinstance(place.holder, dict):
                self.simple.append((place.holder, place.key, seen))
            elif seen.simple and place.is_cell:
                self.cells.append((place.holder, seen))
            else:
                self.places.append((place, seen))
                self.arrays += devices(seen)

    def hold(self, arguments: list[Any]) -> list[Any] | None:
        """The arrays as they are now; None if the program does not fit any more."""
        for holder, name, seen in self.simple:
            value = holder.get(name, MISSING)
            if value is not seen.value and not seen.matches(value, []):
                return None
        for cell, seen in self.cells:
            try:
                value = cell.cell_contents
            except ValueError:
                return None
            if value is not seen.value and not seen.matches(value, []):
                return None
        arrays: list[Any] = []
        for place, seen in self.places:
            if not seen.matches(place.get(arguments), arrays):
                return None
        return arrays

    def changed(self, arguments: list[Any]) -> list[str]:
        """What does not fit any more, in words."""
        found = []
        for holder, name, seen in self.simple:
            if not seen.matches(now := holder.get(name, MISSING), []):
                found.append(f"{name} was {seen.value!r}, is {now!r}")
        for cell, seen in self.cells:
            if not seen.matches(now := cell.cell_contents, []):
                found.append(f"a variable of an outer function was {seen.value!r}, is {now!r}")
        for place, seen in self.places:
            if not seen.matches(place.get(arguments), []):
                found.append(f"{place.words()} has changed")
        return found

    def index_of(self, array: Any) -> int | None:
        """Which of the observed arrays this one is."""
        for i, device in enumerate(self.arrays):
            if isinstance(device, Device) and device.value is array:
                return i
        return None

    def number_index(self, number: Number) -> int:
        return next(i for i, seen in enumerate(self.arrays) if seen is number)


def slot(watch: Watch, write: Write) -> tuple[Parts | None, int, Seen] | None:
    """Where a written number was observed: its container's parts and the position there."""
    found = watch.places.get((id(write.place.holder), write.place.key))
    if found is None:
        return None
    seen, parent, position = found[1], None, 0
    for step in write.steps:
        if not isinstance(seen, Parts) or step is ALL or step not in seen.keys:
            return None
        parent, position = seen, seen.keys.index(step)
        seen = seen.parts[position]
    return parent, position, seen


Writer = Callable[[list[Any], list[Any]], None]
