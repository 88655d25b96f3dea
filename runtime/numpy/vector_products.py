"""Products of vectors along an axis, of all pairs of elements, and in space."""

from __future__ import annotations

from typing import Any

from overt.runtime.numpy.movement import normal_axis, shape_of, with_rule
from overt.runtime.numpy.zeros import reached, times

__all__ = ["cross", "kron", "matvec", "vecdot", "vecmat"]


def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sum of products along one axis, elements of x1 conjugated, the other axes broadcast.

    >>> vecdot(np.ones((2, 3)), np.ones(3))
    Array([3., 3.], dtype=float32)
    """
    x1, x2 = np.asarray(x1), np.asarray(x2)
    x1, x2 = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    how = {"precision": precision, "preferred_element_type": preferred_element_type}
    return np.matmul(np.conj(x1)[..., None, :], x2[..., :, None], **how)[..., 0, 0]


def matvec(x1: Any, x2: Any, /) -> Any:
    """Matrices times vectors, the other axes broadcast.

    >>> matvec(np.ones((2, 3)), np.ones((4, 3))).shape
    (4, 2)
    """
    if np.ndim(x1) < 2:
        raise ValueError(f"matvec needs matrices first, got an array of {np.ndim(x1)} axes")
    return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Vectors, conjugated, times matrices, the other axes broadcast.

    >>> vecmat(np.ones((4, 2)), np.ones((2, 3))).shape
    (4, 3)
    """
    if np.ndim(x2) < 2:
        raise ValueError(f"vecmat needs matrices second, got an array of {np.ndim(x2)} axes")
    return np.matmul(np.expand_dims(np.conj(x1), -2), x2)[..., 0, :]


@with_rule(
    arrays=("a", "b"),
    jvp=lambda dots, out, a, b: np.kron(dots[0], b) + np.kron(a, dots[1]),
    vjp=(
        lambda g, out, a, b: kron_bar_x(g, a, b),
        lambda g, out, a, b: kron_bar_y(g, a, b),
    ),
)
def kron(a: Any, b: Any) -> Any:
    """Kronecker product: blocks of b scaled by the elements of a.

    >>> kron(np.array([1, 10]), np.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    a, b = np.asarray(a), np.asarray(b)
    product = np.multiply(*interleaved(a, b))
    return np.reshape(product, [n * m for n, m in zip(*both_shapes(a, b), strict=True)])


def both_shapes(a: Any, b: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of one rank, by ones in front."""
    rank = max(len(shape_of(a)), len(shape_of(b)))
    first, second = ((1,) * (rank - len(shape_of(x))) + shape_of(x) for x in (a, b))
    return first, second


def interleaved(a: Any, b: Any) -> tuple[Any, Any]:
    """Each axis followed by one of the other, so that their product has all pairs of elements."""
    first, second = both_shapes(a, b)
    apart = [n for size in first for n in (size, 1)]
    inside = [n for size in second for n in (1, size)]
    return np.reshape(a, apart), np.reshape(b, inside)


def kron_bar_x(g: Any, x: Any, y: Any) -> Any:
    """Cotangent of x in `np.kron(x, y)`: sums over the blocks that y fills."""
    first, second = both_shapes(x, y)
    pairs = np.reshape(g, [n for sizes in zip(first, second, strict=True) for n in sizes])
    blocks = times(pairs, interleaved(x, y)[1])
    return sum_to(np.reshape(np.sum(blocks, tuple(range(1, 2 * len(first), 2))), np.shape(x)), x)


def kron_bar_y(g: Any, x: Any, y: Any) -> Any:
    """Cotangent of y in `np.kron(x, y)`: sums over its copies."""
    first, second = both_shapes(x, y)
    pairs = np.reshape(g, [n for sizes in zip(first, second, strict=True) for n in sizes])
    copies = times(pairs, interleaved(x, y)[0])
    return sum_to(np.reshape(np.sum(copies, tuple(range(0, 2 * len(first), 2))), np.shape(y)), y)


@with_rule(
    arrays=("a", "b"),
    jvp=lambda dots, out, a, b, *, axisa, axisb, axisc, axis: (
        np.cross(dots[0], b, axisa, axisb, axisc, axis)
        + np.cross(a, dots[1], axisa, axisb, axisc, axis)
    ),
    vjp=(
        lambda g, out, a, b, *, axisa, axisb, axisc, axis: cross_bar_x(
            g, a, b, axisa, axisb, axisc, axis
        ),
        lambda g, out, a, b, *, axisa, axisb, axisc, axis: cross_bar_y(
            g, a, b, axisa, axisb, axisc, axis
        ),
    ),
)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Cross product of vectors of length 3 (or 2, with third component 0).

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (x if x.shape[-1] == 3 else with_third(x) for x in (a, b))
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    rank = parts[0].ndim + 1
    return np.stack(parts, axis=normal_axis(axisc, rank))


def cross_bar_x(
    g: Any, x: Any, y: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None,
) -> Any:  # fmt: skip
    """Cotangent of x in `np.cross(x, y)`: the cross product of y and g."""
    if axis is not None:
        axisa = axisb = axisc = axis
    moved, other = np.moveaxis(np.asarray(x), axisa, -1), np.moveaxis(np.asarray(y), axisb, -1)
    g = np.asarray(g)
    if moved.shape[-1] == other.shape[-1] == 2:
        g = np.concatenate([np.zeros((*g.shape, 2), g.dtype), g[..., None]], -1)
    else:
        g = np.moveaxis(g, axisc, -1)
    bar = np.cross(reached(other, g, -1), g)[..., : moved.shape[-1]]
    return np.moveaxis(sum_to(bar, moved), -1, axisa)


def cross_bar_y(
    g: Any, x: Any, y: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None,
) -> Any:  # fmt: skip
    """Cotangent of y in `np.cross(x, y)`, which is `-np.cross(y, x)`."""
    return cross_bar_x(-g, y, x, axisb, axisa, axisc, axis)


def with_third(x: Any) -> Any:
    """Vectors of the plane in space."""
    return np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype)], -1)


from overt.runtime import numpy as np  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
