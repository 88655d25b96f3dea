"""The value of a variable that was set on one path only: any use of it checks that it was set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.primitive import GRAPH, Composite, Primitive

__all__ = ["Unsure", "certain", "has_unsure", "settled"]


class Unsure(Array):
    """A value with a flag that says whether the variable was set.

    Errors: UnboundLocalError naming the variable, when the program uses it where it was not set.
    """

    __slots__ = ("value", "flag", "name", "checked")
    level = 1 << 40  # it comes before any other kind of value

    def __init__(self, value: Any, flag: Any, name: str):
        self.value, self.flag, self.name = value, flag, name
        self.checked: list[Any] = []

    @property
    def aval(self) -> Any:  # type: ignore[override]  # known once it is settled
        from overt.runtime.aval import aval_of

        return aval_of(self.settled())

    def settled(self) -> Any:
        """The value, checked where the program is now."""
        graph = around = GRAPH.get()
        while around is not None:
            if any(g is around for g in self.checked):
                return self.value
            around = around.parent
        self._check()
        if graph is not None:
            self.checked.append(graph)
        return self.value

    def _check(self) -> None:
        from overt.runtime.staged_builtins import require

        error = UnboundLocalError(
            f"variable {self.name!r} is used but was not set on the path taken"
        )
        require(self.flag, error)

    def handle(self, primitive: Primitive, operands: Sequence[Any], params: dict) -> Any:
        """Apply a primitive to the values."""
        return primitive(*map(settled, operands), **params)

    def handle_composite(self, function: Composite, operands: Sequence[Any], static: dict) -> Any:
        """A composite runs its body."""
        return NotImplemented

    def concrete(self, purpose: str) -> Any:
        return _array(self.settled()).concrete(purpose)

    def numbers(self, purpose: str = "reading the numbers") -> numpy.ndarray:
        return _array(self.settled()).numbers(purpose)


def _array(x: Any) -> Array:
    from overt.runtime.interop import as_array

    return as_array(x)


def settled(x: Any) -> Any:
    """The value of what may not be set, checked; anything else as it is.

    >>> settled(3)
    3
    """
    return x.settled() if type(x) is Unsure else x


def certain(tree: Any) -> Any:
    """A tree whose values surely were set."""
    from overt.runtime.tree import tree_map

    return tree_map(lambda x: x.value if type(x) is Unsure else x, tree)


def has_unsure(tree: Any) -> bool:
    """Whether some value of a tree may not be set."""
    from overt.runtime.tree import tree_leaves
    from overt.runtime.undefined import UndefinedValue

    return any(type(x) in (Unsure, UndefinedValue) for x in tree_leaves(tree))
