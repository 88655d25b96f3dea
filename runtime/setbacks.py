"""What stops an attempt at a branch or loop, which is then made in another way or refused."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from overt.runtime.errors import BatchedPredicateError, StagingError
from overt.runtime.treedef import keystr

if TYPE_CHECKING:
    from overt.runtime.changes import State
    from overt.runtime.world import Slot

__all__ = [
    "AHEAD",
    "AskingChanges",
    "Changes",
    "ChangesInSomeLanes",
    "Differing",
    "HoldsValues",
    "More",
    "NewObjects",
    "Unlike",
    "describe",
]


# Whether the test of a loop is asked before it is known how the loop will run.
AHEAD: ContextVar[bool] = ContextVar("overt_ahead", default=False)


class Unlike(TypeError):
    """Two values that cannot be one: where in the tree, and what they are."""

    def __init__(self, path: tuple[Any, ...], one: str, other: str):
        super().__init__(f"{one} and {other}")
        self.path, self.one, self.other = path, one, other

    def is_none(self) -> bool:
        """Whether one of them is None."""
        return "None" in (self.one, self.other)

    def is_of_objects(self) -> bool:
        """Whether one of them is an object that counts by its identity."""
        return any(x.startswith("an object of the class") for x in (self.one, self.other))


def describe(path: tuple[Any, ...]) -> str:
    """A place in a tree, for an error message."""
    return keystr(path)


class NewObjects(TypeError):
    """A loop gives a variable another object in each iteration."""


class Changes(StagingError):
    """An object is changed where code is staged for later or run for some lanes only."""


class ChangesInSomeLanes(Changes, BatchedPredicateError):
    """The same, where only some lanes of a `vmap` are."""


class AskingChanges(Changes):
    """The test of a loop changes an object, so the loop must ask in its body."""


class Shared(Changes):
    """A loop hands on an object that others hold too, so that what it holds is not enough."""


class HoldsValues(Shared):
    """A loop makes functions that hold values of its own, of which no record is kept."""


class Differing(HoldsValues):
    """Variables of a loop are of another kind after each iteration, and so its record would be."""


class More(Exception):
    """Places that are changed and no operands yet, and variables that get new objects."""

    def __init__(
        self, state: State, slots: list[Slot], replaced: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(slots)
        self.state, self.slots, self.replaced = state, slots, replaced
