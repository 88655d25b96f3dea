"""Variables that are set, or not None, on one path only: any use of their value checks it."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.none_or import NoneOr
from overt.runtime.primitive import GRAPH, Composite, Primitive

__all__ = ["Unsure", "certain", "has_attribute", "has_unsure", "is_none", "named", "settled"]


# Whether an iteration is run whose values its reverse reads as ones that surely are set.
RECORDED: ContextVar[bool] = ContextVar("recorded", default=False)


class Unsure(Array):
    """A value with a flag that says whether the variable was set; with `none`, whether it is None.

    Errors: UnboundLocalError naming the variable, when the program uses it where it was not set;
    TypeError, where it is None.
    """

    __slots__ = ("value", "flag", "name", "none", "checked")
    level = 1 << 40  # it comes before any other kind of value

    def __init__(self, value: Any, flag: Any, name: str, none: bool = False):
        self.value, self.flag, self.name, self.none = value, flag, name, none
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
                return settled(self.value)
            around = around.parent
        self.check()
        if graph is not None:
            self.checked.append(graph)
        return settled(self.value)

    def check(self) -> None:
        """Raise where the program is now, if the value is missing."""
        from overt.runtime.staged_builtins import require

        error: Exception = UnboundLocalError(
            f"variable {self.name!r} is used but was not set on the path taken"
        )
        if self.none:
            what = f"variable {self.name!r}" if self.name else "a value"
            error = TypeError(
                f"{what} is None on the path taken and used where a number or array is needed; "
                "ask `is None` first"
            )
        require(self.flag, error)

    def __eq__(self, other: Any) -> Any:
        return is_none(self) if other is None and self.none else super().__eq__(other)

    def __ne__(self, other: Any) -> Any:
        from overt.runtime.truth import not_

        return not_(self == other) if other is None and self.none else super().__ne__(other)

    __hash__ = None  # type: ignore[assignment]

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


def is_none(x: Any) -> Any:
    """`x is None`, where only the running program may know.

    >>> is_none(None), is_none(0.0)
    (True, False)
    """
    if type(x) is NoneOr:
        return x == None  # noqa: E711
    while type(x) is Unsure:
        if x.none:
            from overt.runtime.predicates import negated, predicate

            return negated(predicate(x.flag))
        x.check()
        x = x.value
    return x is None


def has_attribute(x: Any, name: str) -> Any:
    """`hasattr(x, name)`, where only the running program may know whether it was set.

    >>> has_attribute(3, "real")
    True
    """
    from overt.runtime.predicates import both, predicate
    from overt.runtime.world import attributes_of, is_users_object

    held = attributes_of(x).get(name) if is_users_object(x) else None
    found: Any = True
    while isinstance(held, Array):  # under tangents, lanes and records
        if type(held) is Unsure and not held.none:
            found = both(found, predicate(held.flag))
        held = getattr(held, "value", getattr(held, "primal", None))
    if type(found) is not bool and RECORDED.get():
        raise NotImplementedError(
            f"hasattr(x, {name!r}) is asked of an attribute that data sets, in a loop of a "
            "compiled program whose derivative is recorded: set the attribute to None first and "
            "ask `is None`, or keep a flag beside it"
        )
    return hasattr(x, name) if found is True else found


def named(values: Sequence[Any], names: Sequence[str] | None) -> None:
    """Tell values that may be None which variables they are of."""
    for x, name in zip(values, names or (), strict=False):
        if type(x) is Unsure and x.none and not x.name:
            x.name = name
        elif type(x) is NoneOr and not x.__overt_name__:
            object.__setattr__(x, "__overt_name__", name)


def certain(tree: Any) -> Any:
    """A tree whose values surely were set."""
    from overt.runtime.tree import tree_map

    return tree_map(lambda x: x.value if type(x) is Unsure and not x.none else x, tree)


def has_unsure(tree: Any) -> bool:
    """Whether some value of a tree may not be set."""
    from overt.runtime.tree import tree_leaves
    from overt.runtime.undefined import UndefinedValue

    return any(type(x) in (Unsure, UndefinedValue) for x in tree_leaves(tree))
