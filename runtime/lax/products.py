"""Products of `lax`: sums of products over pairs of axes."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import config, dtypes
from overt.runtime.lax.kinds import CPU_ALGORITHMS, DotAlgorithm, DotAlgorithmPreset, Precision
from overt.runtime.numpy.products import product


def precision_name(precision: Any) -> Any:
    """A precision, or a pair of them, by name; None stays None."""
    if isinstance(precision, (tuple, list)):
        return tuple(map(precision_name, precision))
    return precision.value if isinstance(precision, Precision) else precision


def default_precision(precision: Any) -> Any:
    """The same; for None what the setting `default_matmul_precision` says where it is asked."""
    return precision_name(precision) or config.current().default_matmul_precision


def _algorithm(precision: Any) -> tuple[Any, Any, Any] | None:
    """(dtype of lhs, of rhs, of the sum) that an algorithm asks for; None for a precision.

    The dtypes of operands are pairs: those they may keep, and the one others are converted to.
    """
    if isinstance(precision, str) and precision in DotAlgorithmPreset.__members__:
        precision = DotAlgorithmPreset[precision]
    if isinstance(precision, DotAlgorithm):
        left, right, total = map(dtypes.dtype_of, precision[:3])
        if precision[3:] != (1, 1, 1, False):
            raise NotImplementedError(f"{precision}: the CPU does not take products in parts")
        return ((left,), left), ((right,), right), total
    if not isinstance(precision, DotAlgorithmPreset) or precision is DotAlgorithmPreset.DEFAULT:
        return None
    kinds = CPU_ALGORITHMS.get(precision.name)
    if kinds is None:
        known = ", ".join(CPU_ALGORITHMS)
        raise NotImplementedError(f"the algorithm {precision} is not offered here; known: {known}")
    return kinds, kinds, precision.accumulation_type


def _rounded(x: Any, kinds: Any) -> Any:
    keep, other = kinds
    return x if x.dtype in map(dtypes.dtype_of, keep) else x.astype(other)


def _product(x: Any, y: Any, batch: Any, over: Any, precision: Any, preferred: Any) -> Any:
    found = _algorithm(precision)
    if found is None:
        name = None if precision in (DotAlgorithmPreset.DEFAULT, "DEFAULT") else precision
        return product(x, y, batch, over, precision_name(name), preferred)
    left, right, total = found
    out = np.result_type(x, y) if preferred is None else dtypes.canonicalize(preferred)
    made = product(_rounded(x, left), _rounded(y, right), batch, over, "highest", total)
    return made.astype(out)


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sums of products over pairs of axes.

    `dimension_numbers` is ((lhs contracted, rhs contracted), (lhs batch, rhs batch)).
    Shapes: the batch axes, then the other axes of `lhs`, then those of `rhs`.

    >>> x, y = np.ones((5, 2, 3)), np.ones((5, 3, 4))
    >>> dot_general(x, y, (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2, 4)
    """
    over, batch = (tuple(map(tuple, pair)) for pair in dimension_numbers)
    x, y = np.asarray(lhs), np.asarray(rhs)
    _check_axes(x, y, over, batch)
    return _product(x, y, (batch[0], batch[1]), (over[0], over[1]), precision,
                    preferred_element_type)  # fmt: skip


def _check_axes(x: Any, y: Any, over: Any, batch: Any) -> None:
    """Errors: TypeError for axes that do not exist, are named twice or differ in length."""
    for kind, pair in (("contracted", over), ("batch", batch)):
        if len(pair[0]) != len(pair[1]):
            raise TypeError(f"dot_general: {pair} names different numbers of {kind} axes")
    for x_or_y, side in ((x, 0), (y, 1)):
        axes = (*over[side], *batch[side])
        if len(set(axes)) != len(axes) or not all(0 <= axis < x_or_y.ndim for axis in axes):
            raise TypeError(f"dot_general: axes {axes} do not fit an operand of {x_or_y.shape}")
    for first, second in zip((*over[0], *batch[0]), (*over[1], *batch[1]), strict=True):
        if x.shape[first] != y.shape[second]:
            raise TypeError(
                f"dot_general: axis {first} of {x.shape} and axis {second} of {y.shape} must have "
                "the same length"
            )


def dot(
    lhs: Any, rhs: Any, *, dimension_numbers: Any = None, precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """The product of two vectors, matrices, or a matrix and a vector; or as `dot_general`.

    >>> print(dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    11.0
    """
    ranks = np.ndim(lhs), np.ndim(rhs)
    if dimension_numbers is None:
        if not all(1 <= rank <= 2 for rank in ranks) or np.shape(lhs)[-1] != np.shape(rhs)[0]:
            raise TypeError(f"dot does not fit shapes {np.shape(lhs)} and {np.shape(rhs)}")
        dimension_numbers = (((ranks[0] - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The product of every pair of matrices in two stacks.

    >>> print(batch_matmul(np.ones((2, 1, 3)), np.ones((2, 3, 1))).shape)
    (2, 1, 1)
    """
    ndim = np.ndim(lhs)
    stacks = tuple(range(ndim - 2))
    return dot_general(lhs, rhs, (((ndim - 1,), (ndim - 2,)), (stacks, stacks)), precision)
