"""Going back: what a run that does not count has done to objects, programs and the output."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from overt.runtime.bare import library_kind, put_all_bare, refill_bare
from overt.runtime.primitive import GRAPH
from overt.runtime.world import CONTAINERS, World

__all__ = ["Before", "Mark", "Printed"]


class Mark:
    """How far the program being staged has got."""

    def __init__(self) -> None:
        graph = self.graph = GRAPH.get()
        self.count = (len(graph.nodes), len(graph.capacities), graph.effect) if graph else None

    def restore(self) -> None:
        if self.graph is not None and self.count is not None:
            nodes, capacities, self.graph.effect = self.count
            del self.graph.nodes[nodes:]
            del self.graph.capacities[capacities:]


class Before:
    """How things were, to go back to: objects, and the program being staged."""

    def __init__(self, roots: tuple[Any, ...], mark: Mark | None = None) -> None:
        self.world = World(*roots)
        self.values = self.world.take()
        self.held = dict(self.world.slots())
        self.containers = [(x, items_of(x)) for x in self.world.kept if isinstance(x, CONTAINERS)]
        self.mark = mark or Mark()

    def restore(self) -> None:
        self.set_back()
        self.mark.restore()

    def set_back(self) -> None:
        """The objects as they were; what was staged stays."""
        for x, items in self.containers:  # each is the one it was, whoever holds it by now
            put_items(x, items)
        self.world.set_places(self.held)


def items_of(x: Any) -> list[Any]:
    """What a container holds, in order; of a dictionary pairs."""
    kind = library_kind(type(x))
    return list(kind.items(x) if isinstance(x, dict) else kind.__iter__(x))


def put_items(x: Any, items: list[Any]) -> None:
    """Let a container hold these, if it holds others."""
    now = items_of(x)
    if isinstance(x, dict):
        same = len(now) == len(items) and all(
            a is c and b is d for (a, b), (c, d) in zip(now, items, strict=True)
        )
        if not same:
            put_all_bare(x, dict(items))
    elif len(now) != len(items) or not all(map(operator.is_, now, items)):
        refill_bare(x, items)


class Printed:
    """What a run writes to the standard output, so that the run in its place does not repeat it."""

    def __init__(self) -> None:
        self.text = ""

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block writes."""
        stream = sys.stdout
        copying = sys.stdout = _Copying(stream, self)
        try:
            yield
        finally:
            if sys.stdout is copying:
                sys.stdout = stream

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """What the block writes goes on from what was written before."""
        stream = sys.stdout
        skipping = sys.stdout = _Skipping(stream, self.text)
        try:
            yield
        finally:
            if sys.stdout is skipping:
                sys.stdout = stream


class _Copying:
    def __init__(self, stream: Any, printed: Printed) -> None:
        self._stream, self._printed = stream, printed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        self._printed.text += text
        return self._stream.write(text)


class _Skipping:
    def __init__(self, stream: Any, text: str) -> None:
        self._stream, self._rest = stream, text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        if self._rest.startswith(text):
            self._rest = self._rest[len(text) :]
            return len(text)
        self._rest = ""
        return self._stream.write(text)
