"""Jacobians from tangents and from cotangents, one run for all directions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overt.runtime.aval import aval_of
from overt.runtime.batching import vmap_call
from overt.runtime.tree import tree_flatten

__all__ = ["columns_of", "rows_of"]


def columns_of(push: Callable[[Any], tuple], x: Any) -> Any:
    """The Jacobian from `push(x_dot) -> (out, out_dot)`: a tree like `out` of trees like `x`.

    >>> import overt.numpy as np
    >>> columns_of(lambda x_dot: (np.array([9.0, 1.0]), 2 * x_dot), np.array([3.0, 1.0]))
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    leaves, definition = tree_flatten(x)
    values: list[Any] = []

    def along(*dots: Any) -> Any:
        out, out_dot = push(definition.unflatten(dots))
        values.append(out)
        return out_dot

    columns = vmap_call(along, basis(leaves), 0, -1)
    results, structure = tree_flatten(values[0])
    shown = []
    for result, column in zip(results, structure.flatten_up_to(columns), strict=True):
        parts = split(column, leaves, -1)
        shape = aval_of(result).shape
        shown.append(
            definition.unflatten(
                p.reshape(*shape, *aval_of(leaf).shape)
                for p, leaf in zip(parts, leaves, strict=True)
            )
        )
    return structure.unflatten(shown)


def rows_of(pull: Callable[[Any], Any], out: Any, x: Any) -> Any:
    """The Jacobian from `pull(out_bar) -> x_bar`: a tree like `out` of trees like `x`.

    >>> import overt.numpy as np
    >>> rows_of(lambda out_bar: 2 * out_bar, np.array([9.0, 1.0]), np.array([3.0, 1.0]))
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    results, structure = tree_flatten(out)
    leaves, definition = tree_flatten(x)
    rows = vmap_call(lambda *bars: pull(structure.unflatten(bars)), basis(results), 0, 0)
    parts = [split(row, results, 0) for row in definition.flatten_up_to(rows)]
    return structure.unflatten(
        definition.unflatten(
            p[k].reshape(*aval_of(result).shape, *aval_of(leaf).shape)
            for p, leaf in zip(parts, leaves, strict=True)
        )
        for k, result in enumerate(results)
    )


def basis(leaves: list[Any]) -> list[Any]:
    """One-hot directions of all entries of some arrays: for each array those of all, stacked."""
    from overt.runtime import numpy as np

    sizes = [aval_of(x).size for x in leaves]
    total, start, made = sum(sizes), 0, []
    for x, size in zip(leaves, sizes, strict=True):
        aval = aval_of(x)
        eye = np.eye(total, size, -start, aval.dtype)
        made.append(eye.reshape(total, *aval.shape))
        start += size
    return made


def split(array: Any, leaves: list[Any], axis: int) -> list[Any]:
    """Cut an axis into one piece for each array, as long as that has entries."""
    pieces, start = [], 0
    for x in leaves:
        size = aval_of(x).size
        place = slice(start, start + size)
        pieces.append(array[place] if axis == 0 else array[..., place])
        start += size
    return pieces
