"""Arguments and results as flat lists, dataclasses that nobody registered included."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from overt.runtime.errors import StagingError
from overt.runtime.parts import Parts, parts_of
from overt.runtime.staging import Symbolic
from overt.runtime.tree import flatten_strict
from overt.runtime.world import attributes_of, is_users_object


class Structure(NamedTuple):
    """The structure of a tree, with the containers that the registry of trees does not know."""

    native: Any
    inner: tuple[tuple[int, Any, Structure], ...]  # (position, kind, structure of the parts)


class Flat(NamedTuple):
    """Leaves, a hashable structure, and how to build the tree from other leaves."""

    leaves: list[Any]
    structure: Any
    rebuild: Callable[[list[Any]], Any]


def is_unregistered(x: Any) -> bool:
    """Whether a leaf is a container all the same: an instance of a plain dataclass."""
    return dataclasses.is_dataclass(x) and not isinstance(x, type)


class Made:
    """Objects of the user's made while staging: each run of the program makes new ones."""

    def __init__(self, before: set[int]) -> None:
        self.before = before  # the identities of those that were there before
        self.met: set[int] = set()

    def opens(self, x: Any) -> bool:
        """Whether an object is taken apart: it holds values of the program.

        Errors: StagingError for one that is met again, since each place would get its own copy.
        """
        if not (is_users_object(x) and id(x) not in self.before and holds_symbolic(x)):
            return False
        if id(x) in self.met:
            raise StagingError(
                f"an object of class {type(x).__name__}, made in a compiled function, is stored in "
                "several places or refers to itself; store it once, or make it outside"
            )
        self.met.add(id(x))
        return True


def holds_symbolic(x: Any) -> bool:
    """Whether an object, or one within it, holds values of a program that is being staged."""
    pending, seen = [x], set()
    while pending:
        part = pending.pop()
        if type(part) is Symbolic:
            return True
        if id(part) in seen or isinstance(part, (str, int, float, type)):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, (list, tuple)):
            pending += part
        elif is_users_object(part):
            pending += attributes_of(part).values()
    return False


def parts_of_object(x: Any) -> Parts:
    """The attributes of an object as the parts of a container."""
    held = attributes_of(x)

    def rebuild(values: list[Any]) -> Any:
        made: Any = object.__new__(type(x))
        for name, value in zip(held, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    return Parts((type(x), tuple(held)), list(held), list(held.values()), rebuild)


def take_apart(tree: Any, made: Made | None = None) -> Flat:
    """The leaves of a tree; containers keep the order of their parts."""
    leaves, native = flatten_strict(tree)
    objects = {i for i, x in enumerate(leaves) if made is not None and made.opens(x)}
    places = [i for i, x in enumerate(leaves) if is_unregistered(x) or i in objects]
    if not places:
        return Flat(leaves, native, native.unflatten)
    flat: list[Any] = []
    inner: list[tuple[int, Any, Any]] = []
    builders: dict[int, tuple[int, Any, Any]] = {}
    for i, x in enumerate(leaves):
        parts = None
        if i in places:
            parts = parts_of_object(x) if i in objects else parts_of(x)
        if parts is None:
            builders[i] = (1, None, None)
            flat.append(x)
            continue
        sub = take_apart(tuple(parts.values), made)
        inner.append((i, parts.kind, sub.structure))
        builders[i] = (len(sub.leaves), sub.rebuild, parts.rebuild)
        flat += sub.leaves

    def rebuild(values: list[Any]) -> Any:
        made, start = [], 0
        for count, below, build in builders.values():
            piece = values[start : start + count]
            start += count
            made.append(piece[0] if build is None else build(list(below(piece))))
        return native.unflatten(made)

    return Flat(flat, Structure(native, tuple(inner)), rebuild)
