"""Loops over the places of a long list: as statements they are shorter than as one region.

In a region every item of the list is a variable of the loop, and each read picks one among all of
them, so that a table of n times n numbers would need n to the fourth choices.
"""

from __future__ import annotations

from typing import Any

from overt.runtime.array import Array
from overt.runtime.dispatch import GRAPH
from overt.runtime.errors import StagingError
from overt.runtime.parts import NUMBERS, is_array
from overt.runtime.staging import Graph, Symbolic, is_known

__all__ = ["Unrolled", "counters", "unroll_if_shorter"]

FEW = 5  # items, among which a choice is cheap
MOST_STEPS = 5_000
STEPS_AN_ITEM = 4


class Unrolled(StagingError):
    """Raised inside a loop that is to run in Python, one iteration after the other."""


def unroll_if_shorter(table: Any, index: Any) -> None:
    """Have the loops run in Python whose counters say which item of a long list is meant.

    Errors: Unrolled, for `overt.runtime.control`.
    """
    waiting = counters(index)
    if not waiting or (count := numbers_in(table)) < FEW:
        return
    steps, graph = 1, GRAPH.get()
    while graph is not None and waiting:
        if graph.repeats:
            if not graph.counted or graph.trips is None:
                return
            steps *= graph.trips
            waiting.discard(graph)
        graph = graph.parent
    if not waiting and steps <= min(MOST_STEPS, STEPS_AN_ITEM * count):
        raise Unrolled("the items of a list are told apart by the counter of a loop")


def counters(x: Any) -> set[Graph] | None:
    """The loops whose counters an integer is computed from; None if from anything else, too."""
    while isinstance(x, Array) and x.transparent:
        x = x.primal  # type: ignore[attr-defined]
    found: set[Graph] = set()
    pending, seen = [x], set[int]()
    while pending:
        x = pending.pop()
        if id(x) in seen or type(x) in NUMBERS or is_known(x):
            continue
        seen.add(id(x))
        if type(x) is not Symbolic or x.node.regions:
            return None
        if x.node.primitive is not None:
            pending += x.node.inputs
        elif x.index == 0 and x.graph.trips is not None:
            found.add(x.graph)
        else:
            return None
    return found


def numbers_in(table: Any) -> int:
    """How many numbers and arrays lists hold; 0 where they hold anything else."""
    total = 0
    for item in table:
        if isinstance(item, (list, tuple)):
            inner = numbers_in(item)
            if not inner:
                return 0
            total += inner
        elif type(item) in NUMBERS or item is None or is_array(item):
            total += 1
        else:
            return 0
    return total
