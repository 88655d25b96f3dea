"""Products by groups of rows, and of numbers that have scales."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.lax.kinds import RaggedDotDimensionNumbers
from overt.runtime.lax.products import dot_general

_ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: Any, rhs: Any, group_sizes: Any, precision: Any = None,
    preferred_element_type: Any = None, group_offset: Any = None,
) -> Any:  # fmt: skip
    """The first rows of `lhs` times the first matrix of `rhs`, the next ones times the next.

    Shapes: lhs (m, k), rhs (groups, k, n), group_sizes (groups,), result (m, n); rows that no group
    has give zeros.

    >>> x, w = np.ones((4, 2)), np.stack([np.eye(2), 3 * np.eye(2)])
    >>> print(ragged_dot(x, w, np.array([1, 2]))[:, 0])
    [1. 3. 3. 0.]
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _ROWS, precision, preferred_element_type, group_offset
    )


def _groups_first(x: Any, axis: int, sizes: Any, prefix: list[int]) -> Any:
    """`x` once for each group, in front, with zeros where an index along `axis` is of another.

    The axes of `sizes`, but for the last, which counts the groups, are those of `x` in `prefix`.
    """
    ends = np.moveaxis(np.cumsum(sizes, -1), -1, 0)
    starts = ends - np.moveaxis(sizes, -1, 0)
    shape = [1] * (x.ndim + 1)
    shape[0] = ends.shape[0]
    if ends.ndim > 1:
        order = np.argsort(np.asarray(prefix)).tolist()
        ends, starts = (np.transpose(v, (0, *(1 + k for k in order))) for v in (ends, starts))
        for k in prefix:
            shape[k + 1] = x.shape[k]
    place = np.arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - 1 - axis))
    inside = (place >= starts.reshape(shape)) & (place < ends.reshape(shape))
    return np.where(inside, x, np.zeros((), x.dtype))


def ragged_dot_general(
    lhs: Any, rhs: Any, group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: Any = None,
    preferred_element_type: Any = None, group_offset: Any = None,
) -> Any:  # fmt: skip
    """`dot_general` with one axis of `lhs` cut into groups of the given sizes.

    If the axis is a free one, each group has its own part of `rhs`, along its group axis.  If it is
    a contracted one, each group gives a result of its own, along a new first axis.  If it is a
    batch axis, the groups make no difference.

    Shapes: group_sizes (groups,), or with the batch axes and those before the ragged one in front.
    """
    if group_offset is not None:
        raise NotImplementedError("ragged_dot: cut group_sizes and rhs instead of a group_offset")
    numbers = ragged_dot_dimension_numbers
    (ragged,) = numbers.lhs_ragged_dimensions
    (x_over, y_over), (x_batch, y_batch) = (
        tuple(map(list, pair)) for pair in numbers.dot_dimension_numbers
    )
    x, y, sizes = np.asarray(lhs), np.asarray(rhs), np.asarray(group_sizes)
    if not dtypes.is_integer(sizes.dtype):
        raise TypeError(f"ragged_dot needs integer group sizes, got {sizes.dtype}")
    how = {"precision": precision, "preferred_element_type": preferred_element_type}
    later = lambda axes: [axis + 1 for axis in axes]
    if ragged in x_batch:
        return dot_general(x, y, ((x_over, y_over), (x_batch, y_batch)), **how)
    prefix = _outer_axes(x.ndim, ragged, x_batch, x_over) if sizes.ndim > 1 else []
    groups = _groups_first(x, ragged, sizes, prefix)
    if ragged not in x_over:
        (group_axis,) = numbers.rhs_group_dimensions
        over = [*later(x_over), 0], [*y_over, group_axis]
        return dot_general(groups, y, (over, (later(x_batch), y_batch)), **how)
    other = y_over[x_over.index(ragged)]
    prefix = _outer_axes(y.ndim, other, y_batch, y_over) if sizes.ndim > 1 else []
    others = _groups_first(y, other, sizes, prefix)
    batch = [0, *later(x_batch)], [0, *later(y_batch)]
    return dot_general(groups, others, ((later(x_over), later(y_over)), batch), **how)


def _outer_axes(ndim: int, ragged: int, batch: list[int], over: list[int]) -> list[int]:
    """The axes that `group_sizes` may have besides the groups."""
    if ragged in over:
        return [*batch, *over[: over.index(ragged)]]
    return [*batch, *(k for k in range(ragged) if k not in batch and k not in over)]


def scaled_dot(
    lhs: Any, rhs: Any, *, lhs_scale: Any = None, rhs_scale: Any = None,
    dimension_numbers: Any = None, preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """`(lhs * lhs_scale) @ (rhs * rhs_scale)`, each scale for a block along the contracted axis.

    Shapes: scales have the rank of their operand; along the contracted axis, a divisor of its
    length. The result is of dtype bfloat16 unless float32 is asked for.

    >>> x = np.ones((2, 4))
    >>> scaled_dot(x, x.T, lhs_scale=np.full((2, 2), 3.0)).tolist()
    [[12.0, 12.0], [12.0, 12.0]]
    """
    x, y = np.asarray(lhs), np.asarray(rhs)
    if dimension_numbers is None:
        if x.ndim < 2:
            raise TypeError(f"scaled_dot needs matrices, got shape {x.shape}")
        stack = tuple(range(x.ndim - 2))
        dimension_numbers = (((x.ndim - 1,), (x.ndim - 2,)), (stack, stack))
    dtype = dtypes.canonicalize(preferred_element_type or dtypes.bfloat16)
    (x_over, y_over), _ = dimension_numbers
    x, y = _scaled(x, lhs_scale, x_over, dtype), _scaled(y, rhs_scale, y_over, dtype)
    return dot_general(x, y, dimension_numbers, preferred_element_type=dtype)


def _scaled(x: Any, scale: Any, over: Any, dtype: Any) -> Any:
    x = x.astype(dtype)
    if scale is None:
        return x
    scale = np.asarray(scale).astype(dtype)
    if scale.ndim != x.ndim:
        raise TypeError(f"scaled_dot: a scale of shape {scale.shape} does not fit {x.shape}")
    for axis, (n, blocks) in enumerate(zip(x.shape, scale.shape, strict=True)):
        if n == blocks:
            continue
        if axis not in over or not blocks or n % blocks:
            raise TypeError(f"scaled_dot: a scale of shape {scale.shape} does not fit {x.shape}")
        scale = np.repeat(scale, n // blocks, axis)
    return x * scale


def scaled_matmul(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred_element_type: Any = "float32"
) -> Any:
    """Products of matrices of numbers that have scales, one for each block of a row.

    Shapes: lhs (b, m, k), rhs (b, n, k), scales (b, m, blocks) and (b, n, blocks), where the number
    of blocks divides k; result (b, m, n).

    >>> x, scale = np.ones((1, 2, 4)), np.full((1, 2, 2), 3.0)
    >>> scaled_matmul(x, x, scale, scale).tolist()
    [[[36.0, 36.0], [36.0, 36.0]]]
    """
    shapes = [np.shape(x) for x in (lhs, rhs, lhs_scales, rhs_scales)]
    if any(len(shape) != 3 for shape in shapes):
        raise ValueError(f"scaled_matmul needs arrays of three dimensions, got shapes {shapes}")
    return scaled_dot(
        lhs, rhs, lhs_scale=lhs_scales, rhs_scale=rhs_scales,
        dimension_numbers=(((2,), (2,)), ((0,), (0,))),
        preferred_element_type=preferred_element_type,
    )  # fmt: skip
