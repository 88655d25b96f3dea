"""Arguments and results as flat lists, dataclasses that nobody registered included."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from overt.runtime.parts import parts_of
from overt.runtime.tree import flatten_strict


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


def take_apart(tree: Any) -> Flat:
    """The leaves of a tree; containers keep the order of their parts."""
    leaves, native = flatten_strict(tree)
    places = [i for i, x in enumerate(leaves) if is_unregistered(x)]
    if not places:
        return Flat(leaves, native, native.unflatten)
    flat: list[Any] = []
    inner: list[tuple[int, Any, Any]] = []
    builders: dict[int, tuple[int, Any, Any]] = {}
    for i, x in enumerate(leaves):
        parts = parts_of(x) if i in places else None
        if parts is None:
            builders[i] = (1, None, None)
            flat.append(x)
            continue
        sub = take_apart(tuple(parts.values))
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
