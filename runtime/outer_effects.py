"""What a function under `vmap` changes outside of itself ends as a loop over the lanes leaves it.

    vmap(f)(xs)           # f appends to a list of the caller's: one item for each lane, in order

All lanes run at once.  If that has changed something which the caller can reach, it is undone, and
the lanes run one after another.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy

from overt.runtime.errors import StagingError, say_once
from overt.runtime.lanes import Lanes
from overt.runtime.primitive import GRAPH
from overt.runtime.rollback import Before, Mark, Printed
from overt.runtime.same_results import same_results

__all__ = ["ChangesOutside", "Outside", "about_to_change", "in_turn_only", "one_by_one"]

BUFFERS = (numpy.ndarray, array.array, bytearray)  # whose contents change in place
MOST_STAGED = 64  # lanes that one program runs one after another
_NOTED: ContextVar[Outside | None] = ContextVar("overt_outside", default=None)


class ChangesOutside(Exception):
    """A function under `vmap` changes something outside where this cannot be followed."""


def about_to_change() -> None:
    """Something is going to be changed: look at what the functions under `vmap` can reach."""
    noted = _NOTED.get()
    if noted is not None:
        noted.look()


def in_turn_only() -> None:
    """Something is going to be used up or changed that cannot be seen or set back.

    Errors: StagingError under `vmap`, which then runs the lanes one after another.
    """
    about_to_change()
    if _NOTED.get() is not None:
        raise StagingError("what this function uses up or changes is not the same for all lanes")


class Outside:
    """What can be reached from a function under `vmap`, as it was before the first change."""

    def __init__(self, owner: Any, args: Any) -> None:
        self.owner, self.roots = owner, (owner, args)
        self.mark = Mark()
        self.before: Before | None = None
        self.buffers: list[tuple[Any, Any]] = []  # with what they held
        self.printed = Printed()
        self.outer = _NOTED.get()

    def look(self) -> None:
        if self.before is None:
            self.before = Before(self.roots, self.mark)
            if not self.before.world.complete:  # so that a change may not be found
                raise StagingError("too many objects can be reached to see what lanes change")
            self.buffers = [(x, x[...].copy() if isinstance(x, numpy.ndarray) else x[:])
                            for x in self.before.world.kept if isinstance(x, BUFFERS)]  # fmt: skip
        if self.outer is not None:
            self.outer.look()

    def run(self, call: Callable[[], Any]) -> Any:
        """`call()`, with changes noted."""
        token = _NOTED.set(self)
        try:
            with self.printed.noted():
                return call()
        finally:
            _NOTED.reset(token)

    def changed(self) -> list[str]:
        """The places that were changed, as the user writes them."""
        if self.before is None:
            return []
        from overt.runtime.changes import alike

        world, was = self.before.world, self.before.values
        now = world.take()
        places = [*now, *(s for s in was if s not in now)]
        missing = object()
        stored = [x for x, copy in self.buffers if bytes(x) != bytes(copy)]
        return [f"an object of type {type(x).__name__}" for x in stored] + [
            world.name_of(s) for s in places if not alike(now.get(s, missing), was.get(s, missing))
        ]

    def is_settled(self, first: tuple[Any, int], again: Callable[[], Any]) -> bool:
        """Whether running once more changes nothing and gives the same: every lane leaves the
        same, as in a cache, and finds it there or not.
        """
        assert self.before is not None
        if any(bytes(x) != bytes(copy) for x, copy in self.buffers):
            return False
        level = first[1]
        world = self.before.world
        if any(type(x) is Lanes and x.level == level for x in world.leaves()):
            return False
        once = Before(self.roots)
        with self.printed.left_out():
            second = again()
        once.mark.restore()
        from overt.runtime.changes import alike

        now = once.world.take()
        same = now.keys() == once.values.keys() and all(
            alike(now[s], x) for s, x in once.values.items()
        )
        same = same and same_results(first, second)
        if not same:
            once.restore()
        return same

    def undo(self) -> None:
        if self.before is not None:
            self.before.restore()
            for x, copy in self.buffers:
                if bytes(x) != bytes(copy):
                    x[... if isinstance(x, numpy.ndarray) else slice(None)] = copy


def one_by_one(
    outside: Outside, places: list[str], lanes: int, lane: Callable[[int], Any], named: bool
) -> list[Any]:
    """The results of all lanes, run one after another."""
    name = getattr(outside.owner, "__qualname__", None) or repr(outside.owner)
    what = ", ".join(dict.fromkeys(places))
    if named or GRAPH.get() is not None and lanes > MOST_STAGED:
        where = "with a named axis" if named else f"in a compiled program, with {lanes} lanes"
        raise StagingError(
            f"{name} changes {what} outside of itself, under a vmap {where}: the lanes would have "
            "to run one after another. Return the new value instead"
        )
    say_once(
        ("lanes", name),
        f"the lanes of {name} run one after another, since it changes {what} outside of itself",
        stacklevel=6,
    )
    with outside.printed.left_out():
        return [lane(k) for k in range(lanes)]
