"""The variables that a rolled loop carries, and the buffers of what it saves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.carried import Spec, join, spec_of
from overt.runtime.errors import StagingError
from overt.runtime.index_range import apart
from overt.runtime.interop import placed
from overt.runtime.records import write_record
from overt.runtime.repeated import Repeated, comes_from_outside
from overt.runtime.saved import Buffers, Saved
from overt.runtime.setbacks import Unlike
from overt.runtime.some_joined import grown, holds_some
from overt.runtime.staging import Graph, Symbolic
from overt.runtime.undefined import Undefined
from overt.runtime.unsure import certain

__all__ = ["RecordBuffers", "SavedSlot", "Slot", "slot_of"]


def start_of_counter(x: Symbolic, region: Graph) -> int | None:
    """What an integer starts from that grows by one with each iteration; None for others."""
    if x.aval.shape or x.dtype.kind not in "iu" or region.trips is None:
        return None
    base, start = apart(x)
    return start if base is region.inputs[0] else None


def counted(start: int, room: int, aval: Aval) -> Any:
    """The values of such an integer, which take no buffer."""
    numbers = numpy.arange(start, start + room).astype(aval.dtype)
    return placed(numbers, aval.update(shape=(room,)))


class Slot:
    """A carried variable: what it consists of, which may still grow."""

    def __init__(self, spec: Spec):
        self.spec = spec

    def compose(self, arrays: Iterator[Any]) -> Any:
        return self.spec.compose(arrays)

    def joined(self, new: Any, none: bool, counted: bool) -> Slot:
        """What it may be after an iteration, of a loop whose iterations may be counted."""
        found = spec_of(new, numbers=True)
        spec = join(self.spec, found, none=none)
        by_loop = counted and holds_some(spec) and not (holds_some(self.spec) or holds_some(found))
        if by_loop or grown(self.spec, spec):
            raise Unlike((), str(self.spec), str(found))
        return Slot(spec)

    def decompose(self, new: Any) -> list[Any]:
        return self.spec.decompose(new)

    def same(self, other: Slot) -> bool:
        return self.spec == other.spec


class SavedSlot(Slot):
    """A carried `Saved` that each iteration adds one record to.

    The loop carries where each lane's records begin and how many they are; the records' own buffers
    are added once it is known what a record consists of.
    """

    def __init__(self, spec: Spec, lanes: bool):
        super().__init__(spec)
        self.lanes = lanes
        self.record: Any = None
        self.pushed = False

    def compose(self, arrays: Iterator[Any]) -> Any:
        first, count = self.spec.compose(arrays)
        return Saved(first=first, count=count if self.lanes else None)

    def joined(self, new: Any, none: bool, counted: bool) -> Slot:
        slot = SavedSlot(self.spec, self.lanes)
        if type(new) is not Saved or isinstance(new.store, Buffers) or new.length > 1:
            raise StagingError("a loop must add one record an iteration to its Saved")
        slot.pushed = new.length == 1
        # A reverse sweep reads no more than what its forward sweep has read, and so was set.
        slot.record = certain(new.store[0]) if slot.pushed else None
        slot.spec = join(self.spec, spec_of(_lane_counts(new), numbers=True))
        return slot

    def decompose(self, new: Any) -> list[Any]:
        return self.spec.decompose(_lane_counts(new))


def _lane_counts(saved: Saved) -> tuple[Any, Any]:
    return saved.first, 0 if saved.count is None else saved.count


def slot_of(x: Any, masked: bool) -> Slot:
    if type(x) is not Saved:
        return Slot(spec_of(x, numbers=True))
    if isinstance(x.store, Buffers):
        return Slot(spec_of(x))
    if x.length:
        raise StagingError("a staged loop adds to a Saved that already holds records")
    return SavedSlot(spec_of((0, 0)), masked or x.count is not None)


class RecordBuffers:
    """The buffers of one `Saved`: a place for each array of a record, an iteration."""

    def __init__(self, record: Any, room: int, region: Graph, kept: dict[int, Any]):
        """`kept` has, by identity, what the body passes on unchanged, and what that was before."""
        self.room = room
        self.template = spec_of(record, leaves=True)
        self.columns: list[Any] = []  # what all records share, or the position of a buffer
        self.leaves: list[Any] = []
        places: dict[int, int] = {}
        for x in self.template.decompose(record):
            x = kept.get(id(x), x)
            if comes_from_outside(x, region):
                self.columns.append(Repeated(x, room))
            elif type(x) is Symbolic and (start := start_of_counter(x, region)) is not None:
                self.columns.append(counted(start, room, x.aval))
            else:
                self.columns.append(places.setdefault(id(x), len(self.leaves)))
                if places[id(x)] == len(self.leaves):
                    self.leaves.append(x)
        self.specs = [spec_of(x, numbers=True).spread(room) for x in self.leaves]
        self.empty = [a for spec in self.specs for a in spec.decompose(Undefined)]

    def write(self, region: Graph) -> list[Any]:
        """Inside the body: the buffers with this iteration's record."""
        i = region.inputs[0]
        outputs: list[Any] = []
        for spec, x in zip(self.specs, self.leaves, strict=True):
            buffer = spec.compose(iter([region.add_input(aval) for aval in spec.avals()]))
            outputs += spec.decompose(write_record(buffer, x, i, axis=0))
        return outputs

    def compose(self, results: Iterator[Any]) -> list[Any]:
        """After the loop: the filled buffers, and what all records share."""
        buffers = [spec.compose(results) for spec in self.specs]
        return [buffers[x] if type(x) is int else x for x in self.columns]
