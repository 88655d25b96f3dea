"""Values under differentiation that went where generated derivative code cannot follow."""

from __future__ import annotations

import types
from contextvars import ContextVar
from typing import Any

from overt.runtime.closures import captured
from overt.runtime.parts import is_array
from overt.runtime.tree import tree_leaves
from overt.runtime.world import World, attributes_of, is_users_object, is_value, leaves_of

__all__ = [
    "BY_SOURCE",
    "KEPT",
    "Escape",
    "held_by",
    "is_captured",
    "is_kept",
    "settled",
    "unchanged",
]

KEPT = "a value that is being differentiated is kept in an object by a function given to it"


# Whether generated derivative code is running, which does not see what an object does inside.
BY_SOURCE: ContextVar[bool] = ContextVar("overt_by_source", default=False)


class Escape(NotImplementedError):
    """Raised where generated code loses sight of a value: it is kept in an object, say.

    The outermost derivative catches it and runs its function again, on values that carry their
    derivative.
    """

    def __init__(self, x: Any, why: str = "") -> None:
        super().__init__(
            why
            or "a value that is being differentiated is kept in an object of class "
            f"{type(x).__name__}, whose parts are not known; make it a dataclass, or register "
            "it with overt.tree_util"
        )


def settled(level: int, *roots: Any) -> None:
    """After a derivative: leave plain values in the objects that values of its level went into."""
    World(*roots).settle(lambda x: below(level, x))


def below(level: int, x: Any) -> Any:
    """The value without its derivative of a level."""
    return x.primal if getattr(x, "level", 0) == level and hasattr(x, "primal") else x


def is_kept(level: int, *roots: Any) -> bool:
    """Whether an object that can be reached holds a value of this level."""
    return any(below(level, x) is not x for x in World(*roots).leaves())


def is_captured(level: int, objects: list[Any]) -> bool:
    """Whether a function that these objects hold reads a value of this level."""
    values = World(*filter(is_users_object, objects)).captured
    return any(below(level, x) is not x for v in values for x in leaves_of(v))


def unchanged(f: Any, args: Any, keywords: Any) -> Any:
    """`f(*args, **keywords)`, which must not change the containers that it is given.

    Nor what it, or a function given to it, has of the functions around it: it may have to run
    again, to be differentiated, and where these hold values with tangents they are copies.
    """
    from overt.runtime.changes import alike

    functions = [g for g in (f, *args, *keywords.values()) if isinstance(g, types.FunctionType)]
    own = list(map(captured, functions))
    world, around = World(args, keywords), World(own)

    def held_around() -> list[Any]:
        return [*around.packed(own), *around.take().values()]

    values = [holder.thing for holder in world.holders if is_value(holder.thing)]

    def held() -> list[Any]:
        return world.packed([args, keywords, *map(attributes_of, values)])

    before, before_around = held(), held_around()
    token = BY_SOURCE.set(False)
    try:
        out = f(*args, **keywords)
    finally:
        BY_SOURCE.reset(token)
    if not alike(before, held()) or not alike(before_around, held_around()):
        raise Escape(args, KEPT)
    return out


def held_by(out: Any) -> list[Any]:
    """The objects in a result: its containers may hold values that are being differentiated."""
    return [x for x in tree_leaves(out) if not is_array(x) and x is not None]
