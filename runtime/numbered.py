"""Values that know by which operations they were made, so that they are found again.

A checkpointed function is computed twice.  What a policy keeps of the first time takes the place of
the same operations on the same operands the second time, whichever code these are in: the function
itself, or its derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.aval import aval_of
from overt.runtime.derivatives import is_inexact
from overt.runtime.dispatch import GRAPH, static_key
from overt.runtime.primitive import LITERALS, Composite, Primitive

__all__ = ["Numbered", "Numbers"]

# (operation, number, kinds of operands, parameters, what computes it) -> its result
Known = Callable[[Any, int, list[Any], dict[str, Any], Callable[[], Any]], Any]


class Numbers:
    """The numbers of values: operations that are equal, on equal operands, have the same."""

    def __init__(self, level: int, known: Known, like: Numbers | None = None) -> None:
        self.level, self.known = level, known
        self.graph = GRAPH.get()
        self.made: dict[Any, int] = dict(like.made) if like else {}
        # Arrays that are no results, in order; they are held, so that their ids stay theirs.
        self.others: dict[int, tuple[int, Any]] = dict(like.others) if like else {}
        self.arguments: dict[int, tuple[int, Any]] = {}

    def argument(self, i: int, x: Any) -> Any:
        """The argument in place `i`."""
        self.arguments[id(x)] = i, x
        return self.result(self.of(("argument", i)), x)

    def result(self, number: int, x: Any) -> Any:
        """A value with a number; integers, which decide and count, stay plain."""
        return Numbered(x, number, self) if is_inexact(x) else x

    def of(self, key: Any) -> int:
        return self.made.setdefault(key, len(self.made))

    def operand(self, x: Any) -> Any:
        """What stands for an operand in a key."""
        if self.owns(x):
            return x.number
        if type(x) in LITERALS:
            return "number", static_key(x)
        if id(x) in self.arguments:
            return "argument", self.arguments[id(x)][0]
        return "other", self.others.setdefault(id(x), (len(self.others), x))[0]

    def owns(self, x: Any) -> bool:
        return type(x) is Numbered and x.level == self.level

    def below(self, x: Any) -> Any:
        """The value without its number."""
        return x.primal if self.owns(x) else x


class Numbered(Array):
    """A value with its number."""

    __slots__ = ("primal", "number", "among", "level", "aval")
    transparent = True

    def __init__(self, primal: Any, number: int, among: Numbers):
        self.primal, self.number, self.among = primal, number, among
        self.level = among.level
        self.aval = aval_of(primal)

    def handle(self, primitive: Primitive, operands: Sequence[Any], params: dict) -> Any:
        """Apply a primitive, or take what is known of it."""
        numbers = self.among
        values = [numbers.below(x) for x in operands]
        if GRAPH.get() is not numbers.graph:  # in a loop or branch: its values stay there
            return primitive(*values, **params)
        number = numbers.of((primitive, static_key(params), *map(numbers.operand, operands)))
        made = numbers.known(
            primitive, number, [aval_of(x) for x in values], params,
            lambda: primitive(*values, **params),
        )  # fmt: skip
        if not isinstance(made, (tuple, list)):
            return numbers.result(number, made)
        many = [numbers.result(numbers.of((number, i)), x) for i, x in enumerate(made)]
        return getattr(made, "_make", type(made))(many)

    def handle_composite(self, function: Composite, operands: Sequence[Any], static: dict) -> Any:
        """A composite runs its body, down to its primitives."""
        return NotImplemented

    def concrete(self, purpose: str) -> Any:
        from overt.runtime.interop import as_array

        return as_array(self.primal).concrete(purpose)

    def __repr__(self) -> str:
        return f"Numbered({self.primal!r}, {self.number})"
