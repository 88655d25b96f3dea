"""Sorting several arrays together, and the largest elements."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.numpy.sorting import order_of


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Elements in ascending order along an axis, NaN last.

    A tuple of arrays is sorted together, by the first `num_keys` of them.

    >>> print(*sort((np.array([2, 1]), np.array([5, 6]))))
    [1 2] [6 5]
    """
    if not isinstance(operand, (tuple, list)):
        return np.sort(operand, dimension)
    arrays = [np.asarray(x) for x in operand]
    if any(x.shape != arrays[0].shape for x in arrays):
        raise TypeError(f"sort needs operands of one shape, got {[x.shape for x in arrays]}")
    if not 1 <= num_keys <= len(arrays):
        raise ValueError(f"sort of {len(arrays)} operands cannot go by {num_keys} of them")
    axis = dimension % arrays[0].ndim
    order = order_of(*arrays[:num_keys], axis=axis, stable=is_stable, descending=False)
    return tuple(np.take_along_axis(x, order, axis) for x in arrays)


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> Any:
    """Keys in ascending order along an axis, and values in the same order.

    >>> print(*sort_key_val(np.array([3, 1, 2]), np.array([30, 10, 20])))
    [1 2 3] [10 20 30]
    """
    return sort((keys, values), dimension, is_stable)


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest elements along an axis, largest first, and their indices.

    >>> print(*top_k(np.array([1.0, 3.0, 2.0]), 2))
    [3. 2.] [1 2]
    """
    return np.top_k(operand, k, axis)


def approx_max_k(operand: Any, k: int, reduction_dimension: int = -1, **_: Any) -> Any:
    """The `k` largest elements; exact here, whatever recall is asked for.

    >>> print(*approx_max_k(np.array([1.0, 5.0, 3.0]), 2))
    [5. 3.] [1 2]
    """
    return np.top_k(operand, k, reduction_dimension)


def approx_min_k(operand: Any, k: int, reduction_dimension: int = -1, **_: Any) -> Any:
    """The `k` smallest elements; exact here, whatever recall is asked for.

    >>> print(*approx_min_k(np.array([1.0, 5.0, 3.0]), 2))
    [1. 3.] [0 2]
    """
    values, indices = np.top_k(np.negative(operand), k, reduction_dimension)
    return np.negative(values), indices
