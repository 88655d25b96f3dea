"""Guards: whether a staged program still fits what the world around it has become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overt.transformer.observed import (
    ClassParts,
    Device,
    Met,
    Number,
    Parts,
    Seen,
    devices,
    sharing,
)
from overt.transformer.parted import MISSING, contents_of
from overt.transformer.state import ALL, Place, Write
from overt.transformer.watch import Watch


def containers(seen: Seen) -> list[Any]:
    """The containers and objects in an observed value, in the order in which they are met."""
    if isinstance(seen, ClassParts):
        return [x for i in seen.data for x in containers(seen.parts[i])]
    if not isinstance(seen, Parts):
        return []
    return [seen.value, *(x for part in seen.parts for x in containers(part))]


class Guards:
    """The observations of one staged program, checked before it is run."""

    def __init__(self, watch: Watch) -> None:
        self.simple: list[tuple[dict, Any, Seen]] = []  # a name in a dict: `is` settles it
        self.cells: list[tuple[Any, Seen]] = []  # the same for closure cells
        self.functions = [(f, f.__code__, f.__defaults__, f.__kwdefaults__) for f in watch.codes]
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
        self.sharing = sharing([x for _, seen in self.places for x in containers(seen)])

    def hold(self, arguments: list[Any]) -> list[Any] | None:
        """The arrays as they are now; None if the program does not fit any more."""
        for holder, name, seen in self.simple:
            value = holder.get(name, MISSING)
            if value is not seen.value and not seen.matches(value, []):
                return None
        for cell, seen in self.cells:
            value = contents_of(cell)
            if value is not seen.value and not seen.matches(value, []):
                return None
        if not still_the_same((), self.functions):
            return None
        arrays = Met()
        for place, seen in self.places:
            if not seen.matches(place.get(arguments), arrays):
                return None
        if len(arrays.objects) > 1 and sharing(arrays.objects) != self.sharing:
            return None
        return arrays

    def changed(self, arguments: list[Any]) -> list[str]:
        """What does not fit any more, in words."""
        found = []
        for holder, name, seen in self.simple:
            if not seen.matches(now := holder.get(name, MISSING), []):
                found.append(f"{name} was {seen.value!r}, is {now!r}")
        for cell, seen in self.cells:
            if not seen.matches(now := contents_of(cell), []):
                found.append(f"a variable of an outer function was {seen.value!r}, is {now!r}")
        for f, code, defaults, named in self.functions:
            if (f.__code__, f.__defaults__, f.__kwdefaults__) != (code, defaults, named):
                found.append(f"the function {f.__qualname__} was redefined")
        met = Met()
        for place, seen in self.places:
            if not seen.matches(place.get(arguments), met):
                found.append(f"{place.words()} has changed")
        if not found and sharing(met.objects) != self.sharing:
            found.append("places that held one object hold several, or the other way round")
        return found

    def index_of(self, array: Any) -> int | None:
        """Which of the observed arrays this one is."""
        for i, device in enumerate(self.arrays):
            if isinstance(device, Device) and device.value is array:
                return i
        return None

    def number_index(self, number: Number) -> int:
        return next(i for i, seen in enumerate(self.arrays) if seen is number)


def still_the_same(cells: Sequence[tuple], functions: Sequence[tuple]) -> bool:
    """Whether closure cells still hold the same objects, and functions are as they were."""
    for f, code, defaults, named in functions:
        if (
            f.__code__ is not code
            or f.__defaults__ is not defaults
            or f.__kwdefaults__ is not named
        ):
            return False
    return all(contents_of(cell) is value for cell, value in cells)


def slot(watch: Watch, write: Write) -> tuple[Parts | None, int, Seen] | None:
    """Where a written number was observed: its container's parts and the position there."""
    found = watch.places.get(write.place.mark)
    if found is None:
        return None
    seen, parent, position = found[1], None, 0
    for step in write.steps:
        if not isinstance(seen, Parts) or step is ALL or step not in seen.keys:
            return None
        parent, position = seen, seen.keys.index(step)
        seen = seen.parts[position]
    return parent, position, seen
