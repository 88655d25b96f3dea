"""Products of `lax`: sums of products over pairs of axes."""

from __future__ import annotations

import enum
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.lax.strict import check_same_dtypes
from overt.runtime.numpy.products import product


class Precision(enum.Enum):
    """How exactly an accelerator multiplies float32 numbers; the CPU always does so exactly."""

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"

    def __str__(self) -> str:
        return self.name


def precision_name(precision: Any) -> Any:
    """A precision, or a pair of them, by name; None stays None."""
    if isinstance(precision, (tuple, list)):
        return tuple(map(precision_name, precision))
    return precision.value if isinstance(precision, Precision) else precision


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
    check_same_dtypes("dot_general", (lhs, rhs))
    over, batch = (tuple(map(tuple, pair)) for pair in dimension_numbers)
    return product(
        np.asarray(lhs),
        np.asarray(rhs),
        (batch[0], batch[1]),
        (over[0], over[1]),
        precision_name(precision),
        preferred_element_type,
    )


def dot(lhs: Any, rhs: Any, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The product of two vectors, matrices, or a matrix and a vector.

    >>> print(dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    11.0
    """
    ranks = np.ndim(lhs), np.ndim(rhs)
    if not all(1 <= rank <= 2 for rank in ranks) or np.shape(lhs)[-1] != np.shape(rhs)[0]:
        raise TypeError(f"dot does not fit shapes {np.shape(lhs)} and {np.shape(rhs)}")
    numbers = (((ranks[0] - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The product of every pair of matrices in two stacks."""
    ndim = np.ndim(lhs)
    stacks = tuple(range(ndim - 2))
    return dot_general(lhs, rhs, (((ndim - 1,), (ndim - 2,)), (stacks, stacks)), precision)
