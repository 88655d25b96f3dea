"""Whether two runs of a function under `vmap` give the same, to tell a cache from a counter."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime.aval import aval_of
from overt.runtime.dispatch import static_key
from overt.runtime.lanes import Lanes
from overt.runtime.parts import is_array
from overt.runtime.staging import Graph, Node, Symbolic
from overt.runtime.tree import tree_flatten

__all__ = ["same_results"]


def same_results(a: tuple[Any, int], b: tuple[Any, int]) -> bool:
    """Whether these are surely the same: each a tree, and the level of the `vmap` that gave it.

    Values of a program are the same if they are computed in the same way.
    """
    ours, definition = tree_flatten(a[0])
    theirs, other = tree_flatten(b[0])
    if definition != other:
        return False
    return _all_same(list(zip(ours, theirs, strict=True)), (a[1], b[1]))


def _all_same(pending: list[tuple[Any, Any]], levels: tuple[int, int]) -> bool:
    met: set[tuple[int, int]] = set()  # pairs of nodes, and of the inputs of regions
    while pending:
        x, y = pending.pop()
        if x is y:
            continue
        if type(x) is not type(y):
            return False
        if isinstance(x, Lanes):
            if x.level != y.level and (x.level, y.level) != levels:
                return False
            pending.append((x.value, y.value))
        elif isinstance(x, Symbolic):
            if x.index != y.index or x.aval is not y.aval:
                return False
            pair = id(x.node), id(y.node)
            if x.node is y.node or pair in met:
                continue
            met.add(pair)
            if not _same_operation(x.node, y.node):
                return False
            pending += zip(x.node.inputs, y.node.inputs, strict=True)
            for region, its in zip(x.node.regions, y.node.regions, strict=True):
                met.add((id(region.source), id(its.source)))
                pending += zip(region.outputs, its.outputs, strict=True)
        elif is_array(x):
            if getattr(x, "level", 0) or getattr(y, "level", 0):  # with a derivative
                return False
            one, another = numpy.asarray(x), numpy.asarray(y)
            if aval_of(x) != aval_of(y) or one.tobytes() != another.tobytes():
                return False
        else:
            from overt.runtime.changes import alike

            if not alike(x, y):
                return False
    return True


def _same_operation(a: Node, b: Node) -> bool:
    """Whether two nodes do the same with their inputs."""
    if a.primitive is None or a.primitive is not b.primitive or a.effect or b.effect:
        return False
    if a.out != b.out or len(a.inputs) != len(b.inputs) or len(a.regions) != len(b.regions):
        return False
    if static_key(a.params) != static_key(b.params):
        return False
    return all(map(_same_kind, a.regions, b.regions))


def _same_kind(a: Graph, b: Graph) -> bool:
    return len(a.outputs) == len(b.outputs) and not (a.effect or b.effect)
