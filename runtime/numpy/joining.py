"""Joining arrays and taking them apart."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy

from overt.runtime.numpy.creation import LISTS, items_like, parts_like
from overt.runtime.numpy.movement import join, normal_axis, pieces_of, shape_of
from overt.runtime.primitive import composite

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]


def as_list(arrays: Any) -> list[Any]:
    """The arrays to join; the rows of one array count as several."""
    if isinstance(arrays, LISTS):
        return [np.asarray(a) for a in arrays]
    return list(np.asarray(arrays))


@composite(
    arrays=("arrays",),
    linear=True,
    vjp=(lambda g, out, arrays, *, axis, dtype: unconcatenate(g, arrays, axis),),
)
def concatenate(arrays: Sequence[Any], axis: int | None = 0, dtype: Any = None) -> Any:
    """Arrays one after the other along an existing axis (None: all of them flattened).

    Errors: ValueError where other axes differ or nothing is given.

    >>> concatenate([np.arange(2), np.arange(3)])
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    parts = as_list(arrays)
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        parts, axis = [np.ravel(a) for a in parts], 0
    if parts[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated; use stack")
    whole = join(*parts, axis=normal_axis(axis, parts[0].ndim)) if len(parts) > 1 else parts[0]
    return whole if dtype is None else whole.astype(dtype)


def unconcatenate(g: Any, arrays: Any, axis: int | None = 0) -> Any:
    """Undoes `np.concatenate(arrays, axis)`: the list of pieces of `g`, shaped like `arrays`."""
    if not isinstance(arrays, LISTS):
        return np.reshape(g, np.shape(arrays))
    if axis is None:
        flat = [np.ravel(a) for a in arrays]
        pieces = [
            np.reshape(piece, np.shape(a))
            for piece, a in zip(pieces_of(g, flat, 0), arrays, strict=True)
        ]
    else:
        pieces = pieces_of(g, [np.asarray(a) for a in arrays], normal_axis(axis, g.ndim))
    pieces = [
        parts_like(piece, a) if isinstance(a, (list, tuple)) else sum_to(piece, a)
        for piece, a in zip(pieces, arrays, strict=True)
    ]
    return items_like(pieces, arrays)


@composite(
    arrays=("arrays",),
    linear=True,
    vjp=(lambda g, out, arrays, *, axis: unconcatenate(g, arrays, axis),),
)
def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Any:
    """Arrays one after the other along an axis (the array API's name of `concatenate`).

    >>> concat([np.arange(2), np.arange(2)])
    Array([0, 1, 0, 1], dtype=int32)
    """
    return np.concatenate(arrays, axis)


@composite(
    arrays=("arrays",),
    linear=True,
    vjp=(lambda g, out, arrays, *, axis, dtype: unstack_like(g, arrays, axis),),
)
def stack(arrays: Sequence[Any], axis: int = 0, *, dtype: Any = None) -> Any:
    """Arrays of one shape side by side along a new axis.

    >>> stack([np.arange(2), np.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    parts = as_list(arrays)
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({part.shape for part in parts}) > 1:
        raise ValueError(
            f"all arrays to stack must have one shape, not {[part.shape for part in parts]}"
        )
    axis = normal_axis(axis, parts[0].ndim + 1)
    return np.concatenate([np.expand_dims(part, axis) for part in parts], axis, dtype)


def unstack_like(g: Any, arrays: Any, axis: int = 0) -> Any:
    """Undoes `np.stack(arrays, axis)`: the slices of `g` in a container like `arrays`."""
    if not isinstance(arrays, LISTS):
        return np.moveaxis(g, axis, 0)
    pieces = [
        parts_like(piece, a) if isinstance(a, (list, tuple)) else sum_to(piece, a)
        for piece, a in zip(np.unstack(g, axis=axis), arrays, strict=True)
    ]
    return items_like(pieces, arrays)


def vstack(tup: Sequence[Any], *, dtype: Any = None) -> Any:
    """Arrays below one another; vectors count as rows.

    >>> vstack([np.arange(2), np.arange(2)])
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    return np.concatenate([np.atleast_2d(a) for a in as_list(tup)], 0, dtype)


def hstack(tup: Sequence[Any], *, dtype: Any = None) -> Any:
    """Arrays beside one another: along axis 1, or 0 for vectors.

    >>> hstack([np.arange(2), np.arange(2)])
    Array([0, 1, 0, 1], dtype=int32)
    """
    parts = [np.atleast_1d(a) for a in as_list(tup)]
    return np.concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype)


def dstack(tup: Sequence[Any], *, dtype: Any = None) -> Any:
    """Arrays behind one another, along axis 2.

    >>> dstack([np.arange(2), np.arange(2)]).shape
    (1, 2, 2)
    """
    return np.concatenate([np.atleast_3d(a) for a in as_list(tup)], 2, dtype)


def column_stack(tup: Sequence[Any]) -> Any:
    """Vectors as the columns of a matrix; matrices keep theirs.

    >>> column_stack([np.arange(2), np.arange(2)])
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    parts = as_list(tup)
    return np.concatenate([np.atleast_2d(a).T if a.ndim < 2 else a for a in parts], 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """`values` after the end of `arr`; without an axis, both flattened.

    >>> append(np.arange(2), 5)
    Array([0, 1, 5], dtype=int32)
    """
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis)


def block(arrays: Any) -> Any:
    """One array from nested lists of blocks, the innermost list along the last axis.

    >>> block([[np.eye(1), np.zeros((1, 1))]])
    Array([[1., 0.]], dtype=float32)
    """

    def depth(tree: Any) -> int:
        return 1 + max(map(depth, tree), default=0) if isinstance(tree, list) else 0

    levels = depth(arrays)

    def widest(tree: Any) -> int:
        return max(map(widest, tree)) if isinstance(tree, list) else len(shape_of(tree))

    rank = max(levels, widest(arrays))

    def joined(tree: Any, level: int) -> Any:
        if not isinstance(tree, list):
            return np.reshape(tree, (1,) * (rank - len(shape_of(tree))) + shape_of(tree))
        parts = [joined(part, level + 1) for part in tree]
        return np.concatenate(parts, rank - levels + level) if len(parts) > 1 else parts[0]

    return joined(arrays, 0)


# taking apart -------------------------------------------------------------------------------------


def section_ends(n: int, sections: Any) -> list[int]:
    """Where sections end, given their number or the places of the cuts."""
    if isinstance(sections, (list, tuple)) or len(shape_of(sections)) == 1:
        return [operator.index(cut) for cut in sections] + [n]
    count = operator.index(sections)
    if count <= 0:
        raise ValueError("number of sections must be larger than 0")
    small, larger = divmod(n, count)
    return [int(end) for end in numpy.cumsum([small + 1] * larger + [small] * (count - larger))]


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of nearly equal length, or those between given cuts.

    >>> [len(piece) for piece in array_split(np.arange(7), 3)]
    [3, 2, 2]
    """
    ary = np.asarray(ary)
    axis = normal_axis(axis, ary.ndim)
    ends = section_ends(ary.shape[axis], indices_or_sections)
    before = (slice(None),) * axis
    return [
        ary[(*before, slice(start, end))] for start, end in zip([0, *ends[:-1]], ends, strict=True)
    ]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of equal length, or those between given cuts.

    Errors: ValueError where the length is not a multiple of the number of pieces.

    >>> split(np.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    n = shape_of(ary)[normal_axis(axis, len(shape_of(ary)))]
    if not isinstance(indices_or_sections, (list, tuple)) and not shape_of(indices_or_sections):
        count = operator.index(indices_or_sections)
        if count > 0 and n % count:
            raise ValueError(f"array split does not result in an equal division: {n} by {count}")
    return array_split(ary, indices_or_sections, axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces along axis 0.

    >>> len(vsplit(np.ones((4, 2)), 2))
    2
    """
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces along axis 1, or 0 for vectors.

    >>> [piece.shape for piece in hsplit(np.ones((4, 2)), 2)]
    [(4, 1), (4, 1)]
    """
    return split(ary, indices_or_sections, 0 if len(shape_of(ary)) == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces along axis 2.

    >>> [piece.shape for piece in dsplit(np.ones((1, 1, 4)), 2)]
    [(1, 1, 2), (1, 1, 2)]
    """
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, as a tuple.

    >>> unstack(np.arange(2))
    (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    x = np.asarray(x)
    axis = normal_axis(axis, x.ndim)
    before = (slice(None),) * axis
    return tuple(x[(*before, k)] for k in range(x.shape[axis]))


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
