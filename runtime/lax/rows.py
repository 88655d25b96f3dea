"""Arrays as the records of a loop, and the records of a loop as arrays.

`records_of` and `stacked` undo each other, and each is the other's transpose.
"""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.array import DeviceArray
from overt.runtime.carried import spec_of
from overt.runtime.items import known_int
from overt.runtime.numpy.movement import with_rule
from overt.runtime.primitive import GRAPH
from overt.runtime.records import read_record
from overt.runtime.saved import Buffers, Saved
from overt.runtime.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from overt.runtime.unsure import settled


@with_rule(("tree",), linear=True, vjp=(lambda g, out, tree, *, backwards: stacked(g, backwards),))
def records_of(tree: Any, backwards: bool = False) -> Saved:
    """One record for each index along the first axis of every array in a tree.

    >>> [record["x"].tolist() for record in records_of({"x": np.arange(3)}, backwards=True)]
    [2, 1, 0]
    """
    leaves, definition = tree_flatten(tree)
    if not leaves:
        return None  # type: ignore[return-value]  # zero, as the cotangent of rows without arrays
    leaves = [np.asarray(leaf) for leaf in leaves]
    count = row_count(leaves)
    if GRAPH.get() is not None and count:
        leaves = [np.flip(leaf, 0) for leaf in leaves] if backwards else leaves
        row = tree_unflatten(definition, [read_record(leaf, 0, axis=0) for leaf in leaves])
        return Saved(Buffers(leaves, spec_of(row, leaves=True), count), count)
    records = [
        tree_unflatten(definition, [read_record(leaf, i, axis=0) for leaf in leaves])
        for i in range(count)
    ]
    return Saved(records[::-1] if backwards else records, count)


def row_count(leaves: list[Any]) -> int:
    """The common length of the first axes. Errors: ValueError where they differ or are missing."""
    lengths = {leaf.shape[0] for leaf in leaves if leaf.ndim}
    if len(lengths) != 1 or not all(leaf.ndim for leaf in leaves):
        shapes = [leaf.shape for leaf in leaves]
        raise ValueError(f"arrays to loop over need first axes of one length, got shapes {shapes}")
    return lengths.pop()


@with_rule(
    ("saved",),
    linear=True,
    vjp=(lambda g, out, saved, *, backwards, empty: records_of(g, backwards),),
)
def stacked(saved: Any, backwards: bool = False, empty: Any = None) -> Any:
    """The records of a loop in arrays with one more axis in front; `empty` if there are none.

    >>> saved = Saved()
    >>> saved.push(np.array(1.0))
    >>> saved.push(np.array(2.0))
    >>> print(stacked(saved, backwards=True))
    [2. 1.]
    """
    if isinstance(saved, list):  # what a loop leaves that was not staged
        saved = Saved(saved, len(saved))
    turned = backwards != saved.flip
    if isinstance(saved.store, Buffers):
        # Complete records fill their buffers, also where a loop that undid another counted them.
        count = saved.bound if known_int(saved.steps) is None else int(saved.steps)
        arrays = [array[:count][::-1] if turned else array[:count] for array in saved.store.arrays]
        return saved.store.template.compose_leaves(arrays)
    records = saved.store[: saved.length]
    if not records:
        return empty
    records = records[::-1] if turned else records
    definition = tree_structure(records[0])
    columns = zip(*(definition.flatten_up_to(record) for record in records), strict=True)
    return tree_unflatten(definition, [_stack(list(column)) for column in columns])


def _stack(column: list[Any]) -> Any:
    if all(type(x) is DeviceArray for x in column) and GRAPH.get() is None:
        return np.asarray(numpy.stack([numpy.asarray(x) for x in column]))
    return np.stack([np.asarray(x) for x in column])


@with_rule(("tree",), linear=True, vjp=(lambda g, out, tree: g,))
def as_arrays(tree: Any) -> Any:
    """The tree with an array in the place of every number."""
    return tree_map(lambda x: np.asarray(settled(x)), tree)


def empty_rows(tree: Any) -> Any:
    """The arrays that no records of this kind give: shape (0, ...)."""
    return tree_map(lambda x: np.zeros((0, *np.shape(x)), np.result_type(x)), tree)
