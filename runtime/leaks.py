"""Values of a program that something of the user's still holds when it has been staged."""

from __future__ import annotations

import gc
import types
from typing import Any

from overt.runtime.errors import UnexpectedTracerError
from overt.runtime.staging import Graph, Symbolic

DEPTH = 4  # how many containers in containers are looked through
CONTAINERS = (list, tuple, dict, set, types.CellType)


def refuse_leaks(graph: Graph) -> None:
    """Errors: UnexpectedTracerError for a value that outlives its staging; where it was made."""
    gc.collect()
    values = [x for x in gc.get_objects() if type(x) is Symbolic and x.graph.root is graph]
    held = {id(x): x for x in values}  # what leads to a value -> that value
    layer: list[Any] = values
    for _ in range(DEPTH):
        holders = gc.get_referrers(*layer)
        ours = {id(layer), id(held), id(values), id(holders)}
        layer = []
        for holder in holders:
            if id(holder) in held or id(holder) in ours or isinstance(holder, types.FrameType):
                continue
            parts = gc.get_referents(holder)
            value = next((held[id(part)] for part in parts if id(part) in held), None)
            if value is None:
                continue
            if (words := described(holder)) is not None:
                raise UnexpectedTracerError(
                    f"a value of type {value.aval.strong()} {value.made()} is still held by "
                    f"{words}, where it has no number; return it from the function instead"
                )
            if type(holder) in CONTAINERS:
                held[id(holder)] = value
                layer.append(holder)
        if not layer:
            return


def described(holder: Any) -> str | None:
    """Something of the user's, in words; None for what is Overt's, and for plain containers."""
    kind = type(holder)
    if kind is dict and "__name__" in holder and "__builtins__" in holder:
        name = str(holder["__name__"])
        return None if name.startswith("overt.") else f"a global variable of {name}"
    if kind in CONTAINERS:
        return None
    if isinstance(holder, types.FunctionType):
        return f"the function {holder.__qualname__}" if is_users(holder) else None
    return f"an object of type {kind.__qualname__}" if is_users(kind) else None


def is_users(thing: Any) -> bool:
    return not str(thing.__module__).startswith(("overt.", "builtins", "weakref"))
