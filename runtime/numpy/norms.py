"""Norms of vectors and matrices; at zero their derivative is zero."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.numpy.creation import array_of
from overt.runtime.numpy.movement import normal_axes, with_rule
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import composite

__all__ = ["matrix_norm", "norm", "vector_norm"]


@composite(
    arrays=("x",),
    vjp=(lambda g, out, x, *, axis, keepdims: euclidean_bar(g, out, x, axis, keepdims),),
    jvp=lambda dots, out, x, *, axis, keepdims: euclidean_dot(dots[0], out, x, axis, keepdims),
)
def euclidean(x: Any, axis: Any, keepdims: bool) -> Any:
    """Square root of the sum of squares."""
    return np.sqrt(np.sum(squares(x), axis=axis, keepdims=keepdims))


def squares(x: Any) -> Any:
    """Squared absolute values."""
    return np.real(x) ** 2 + np.imag(x) ** 2 if dtypes.is_complex(x.dtype) else x * x


def euclidean_bar(g: Any, out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Cotangent of x in its euclidean norm: g * x / norm, and zero where the norm is."""
    if not keepdims and axis is not None:
        g, out = np.expand_dims(g, axis), np.expand_dims(out, axis)
    zero, x = out == 0, array_of(x)
    if np.iscomplexobj(g):
        g = np.real(g)  # the norm is real
    return np.conj(np.where(zero, 0.0, times(over(g, np.where(zero, 1.0, out)), x)))


def euclidean_dot(x_dot: Any, out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Tangent of the euclidean norm: that of the vector along it, and zero where the norm is."""
    along = np.sum(np.real(np.conj(x) * x_dot), axis=axis, keepdims=keepdims)
    zero = out == 0
    return np.where(zero, 0.0, along / np.where(zero, 1.0, out))


@with_rule(
    arrays=("x",),
    jvp=lambda dots, out, x, *, ord, axis, keepdims: norm_dot(dots[0], out, x, ord, axis, keepdims),
    vjp=(lambda g, out, x, *, ord, axis, keepdims: norm_bar(g, out, x, ord, axis, keepdims),),
)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norm of vectors along one axis, or of matrices in two; by default of all elements.

    Vectors: ord 2 (default), 1, inf, -inf, 0 (count of nonzeros), any p.
    Matrices: "fro" (default), "nuc", 2, -2, 1, -1, inf, -inf.
    The derivative at zero is zero.

    >>> norm(np.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    x = np.asarray(x)
    x = x if dtypes.is_inexact(x.dtype) else x.astype(dtypes.to_inexact(x.dtype))
    if axis is None:
        if ord is None or (ord == 2 and x.ndim == 1) or (ord == "fro" and x.ndim == 2):
            return euclidean(x, None, keepdims)
        if x.ndim not in (1, 2):
            raise ValueError(f"norm: give an axis for ord={ord!r} of an array with {x.ndim} axes")
        axis = tuple(range(x.ndim))
    axes = normal_axes(axis, x.ndim)
    if len(axes) == 1:
        return vector_norm_along(x, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("norm: axis must name one axis, or two")
    return matrix_norm_in(x, "fro" if ord is None else ord, axes, keepdims)


def is_euclidean(x: Any, ord: Any, axis: Any) -> bool:
    """Whether that norm is the square root of a sum of squares."""
    vector = np.ndim(x) == 1 or isinstance(axis, int)
    return ord is None or (ord == 2 and vector) or (ord == "fro" and not vector)


def norm_dot(
    x_dot: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """Tangent of `np.linalg.norm(x, ord, axis, keepdims)`."""
    if is_euclidean(x, ord, axis):
        return euclidean_dot(x_dot, out, x, axis, keepdims)
    from overt.runtime.dual import jvp_call

    return jvp_call(lambda x: norm(x, ord, axis, keepdims), [x], [x_dot])[1]


def norm_bar(
    g: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """Cotangent of x in `np.linalg.norm(x, ord, axis, keepdims)`."""
    if is_euclidean(x, ord, axis):
        return euclidean_bar(g, out, x, axis, keepdims)
    from overt.runtime.record import vjp_call

    _, pullback = vjp_call(lambda x: norm(x, ord, axis, keepdims), x)
    return pullback(g)[0]


def largest(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """The largest of numbers that are not negative; 0 of none."""
    return np.max(x, axis=axis, keepdims=keepdims, initial=None if x.size else 0)


def vector_norm_along(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """Norm of vectors along an axis."""
    if isinstance(ord, str):
        raise ValueError(f"norm: {ord!r} is no norm of vectors")
    how = {"axis": axis, "keepdims": keepdims}
    if ord == 2:
        return euclidean(x, axis, keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(dtypes.real_type(x.dtype)), **how)
    size = np.where(x == 0, 0.0, np.abs(x))  # with slope 0 at 0
    if ord == numpy.inf:
        return largest(size, **how)
    if ord == -numpy.inf:
        return np.min(size, **how)
    if ord == 1:
        return np.sum(size, **how)
    # zeros are kept away from the powers, whose slope there is infinite
    zero = size == 0
    powers = np.where(zero, 0.0, np.power(np.where(zero, 1.0, size), ord))
    if isinstance(ord, (int, float)) and ord < 0:
        powers = np.where(zero, numpy.inf, powers)
    total = np.sum(powers, **how)
    nothing = total == 0
    least = 0.0 if ord > 0 else numpy.inf
    return np.where(nothing, least, np.power(np.where(nothing, 1.0, total), 1.0 / ord))


def matrix_norm_in(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Norm of the matrices in two axes."""
    rows, columns = axes
    if ord in ("fro", "f"):
        return euclidean(x, axes, keepdims)
    if ord in (1, -1, numpy.inf, -numpy.inf):
        along, across = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = np.sum(np.where(x == 0, 0.0, np.abs(x)), axis=along, keepdims=True)
        both: Any = {"axis": across, "keepdims": True}
        result = largest(sums, **both) if ord > 0 else np.min(sums, **both)
    elif ord in ("nuc", 2, -2):
        values = np.linalg.svdvals(np.moveaxis(x, axes, (-2, -1)))
        if ord == "nuc":
            result = np.sum(values, axis=-1)
        else:
            result = largest(values, axis=-1) if ord == 2 else np.min(values, axis=-1)
        return np.expand_dims(result, tuple(sorted(axes))) if keepdims else result
    else:
        raise ValueError(f"norm: {ord!r} is no norm of matrices")
    return result if keepdims else np.squeeze(result, axes)


@with_rule(
    arrays=("x",),
    vjp=(
        lambda g, out, x, *, axis, keepdims, ord: vector_norm_bar(g, out, x, axis, keepdims, ord),
    ),
)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of vectors along an axis, several at once, or of all elements.

    >>> vector_norm(np.array([[3.0, 4.0]]), axis=1)
    Array([5.], dtype=float32)
    """
    x = np.asarray(x)
    x = x if dtypes.is_inexact(x.dtype) else x.astype(dtypes.to_inexact(x.dtype))
    axes = tuple(range(x.ndim)) if axis is None else normal_axes(axis, x.ndim)
    return vector_norm_along(x, ord, axes, keepdims)


def vector_norm_bar(
    g: Any, out: Any, x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Any:
    """Cotangent of x in `np.linalg.vector_norm(x)`."""
    if ord == 2:
        return euclidean_bar(g, out, x, axis, keepdims)
    from overt.runtime.record import vjp_call

    _, pullback = vjp_call(lambda x: vector_norm(x, axis=axis, keepdims=keepdims, ord=ord), x)
    return pullback(g)[0]


@with_rule(
    arrays=("x",),
    vjp=(lambda g, out, x, *, keepdims, ord: matrix_norm_bar(g, out, x, keepdims, ord),),
)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norm of the matrices in the last two axes.

    >>> matrix_norm(np.array([[3.0, 0.0], [0.0, 4.0]]))
    Array(5., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


def matrix_norm_bar(g: Any, out: Any, x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Cotangent of x in `np.linalg.matrix_norm(x)`."""
    return norm_bar(g, out, x, ord, (-2, -1), keepdims)


from overt.runtime import numpy as np  # noqa: E402
