"""Means, variances and standard deviations."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.derivatives import sum_to
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.reducing import Axes, count, divided, narrow, unreduce, wide
from overt.runtime.numpy.zeros import over, times

__all__ = ["mean", "std", "var"]


@array_function()
def deviation(a: Any, axis: Axes = None, where: Any = None, mean: Any = None) -> Any:
    """Distance from the mean, conjugated: the slope of `var`, but for a factor.

    >>> print(deviation(np.array([1.0, 3.0])))
    [-1.  1.]
    """
    middle = np.mean(a, axis, keepdims=True, where=where) if mean is None else mean
    distance = np.conj(a - middle)
    return distance if where is None else np.where(where, distance, 0)


@array_function(
    arrays=("a", "where"),
    vjp=(
        lambda g, out, a, where, *, axis, dtype, keepdims: unreduce(
            divided(g, count(a, axis, keepdims, where)), a, axis, keepdims, where
        ),
        None,
    ),
    jvp=lambda dots, out, a, where, *, axis, dtype, keepdims: np.mean(
        dots[0], axis, keepdims=keepdims, where=where
    ),
)
def mean(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
) -> Any:
    """Mean over the whole array, or along `axis`; integers give a float.

    >>> print(np.mean(np.array([[1, 2], [3, 4]]), axis=0))
    [2. 3.]
    """
    a = _floating(a, dtype)
    total = np.sum(wide(a), axis, keepdims=keepdims, where=where)
    return narrow(total / count(a, axis, keepdims, where), a.dtype)


def of_freedom(ddof: float, correction: float | None) -> float:
    """What is taken off the count: `ddof`, which has two names.

    >>> of_freedom(0, 1)
    1
    """
    if correction is None:
        return ddof
    if ddof:
        raise ValueError("ddof and correction are two names of one number; give one of them")
    return correction


def _deviating(a: Any, dtype: Any) -> Any:
    """An array in the dtype that a variance is computed in.

    Errors: ValueError for a dtype of integers or truth values.
    """
    if dtype is not None and not dtypes.is_inexact(dtypes.canonicalize(dtype)):
        raise ValueError(f"std and var need dtype= of floats or complex numbers, got {dtype!r}")
    return _floating(a, dtype)


def relative_dot(dot: Any, mean_dot: Any) -> Any:
    """The tangent of a distance from a mean that is given, if it moves."""
    return dot if mean_dot is None else dot - mean_dot


def _floating(a: Any, dtype: Any = None) -> Any:
    a = np.asarray(a)
    if dtype is not None:
        return np.astype(a, dtypes.canonicalize(dtype, explicit=True))
    return np.astype(a, dtypes.to_inexact(a.dtype))


@array_function(
    arrays=("a", "where", "mean"),
    vjp=(
        lambda g, out, a, where, mean, *, axis, dtype, ddof, keepdims, correction: (
            2
            * times(
                unreduce(
                    divided(g, count(a, axis, keepdims, where) - of_freedom(ddof, correction)),
                    a,
                    axis,
                    keepdims,
                    where,
                ),
                deviation(a, axis, where, mean),
            )
        ),
        None,
        lambda g, out, a, where, mean, *, axis, dtype, ddof, keepdims, correction: (
            -2
            * sum_to(
                times(
                    unreduce(
                        divided(g, count(a, axis, keepdims, where) - of_freedom(ddof, correction)),
                        a,
                        axis,
                        keepdims,
                        where,
                    ),
                    deviation(a, axis, where, mean),
                ),
                mean,
            )
        ),
    ),
    jvp=lambda dots, out, a, where, mean, *, axis, dtype, ddof, keepdims, correction: (
        2
        * narrow(
            np.sum(
                wide(np.real(deviation(a, axis, where, mean) * relative_dot(dots[0], dots[2]))),
                axis,
                keepdims=keepdims,
                where=where,
            )
            / (count(a, axis, keepdims, where) - of_freedom(ddof, correction)),
            out.dtype,
        )
    ),
)
def var(
    a: Any, axis: Axes = None, dtype: Any = None, ddof: float = 0, *, keepdims: bool = False,
    where: Any = None, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """Variance: the mean squared distance from the mean, over `count - ddof`.

    `correction` is another name of `ddof`; `mean` is taken for the mean, if given, and must have
    the axes that `keepdims` keeps.

    >>> print(np.var(np.array([1.0, 3.0])))
    1.0
    """
    a = _deviating(a, dtype)
    kind = a.dtype
    a = wide(a)
    middle = None if mean is None else wide(np.asarray(mean))
    distance = np.conj(deviation(a, axis, where, middle))
    squares = np.square(np.abs(distance)) if np.iscomplexobj(a) else np.square(distance)
    total = np.sum(squares, axis, keepdims=keepdims, where=where)
    if np.iscomplexobj(a) and dtype is None:
        kind = total.dtype
    divisor = count(a, axis, keepdims, where) - of_freedom(ddof, correction)
    if where is not None:
        divisor = np.where(divisor > 0, divisor, np.nan)
    elif divisor <= 0:
        divisor = np.nan
    return np.astype(total / divisor, kind)


def over_deviation(g: Any, out: Any, freedom: Any) -> Any:
    """`g / (out * freedom)`, and zero where a standard deviation `out` is.

    >>> print(over_deviation(1.0, np.array([0.0, 2.0]), 1))
    [0.  0.5]
    """
    g, still = np.asarray(g), out == 0
    slope = np.where(still, 0, over(wide(g), wide(np.where(still, 1, out)) * freedom))
    return narrow(slope, g.dtype)


@array_function(
    arrays=("a", "where", "mean"),
    vjp=(
        lambda g, out, a, where, mean, *, axis, dtype, ddof, keepdims, correction: (
            times(
                unreduce(
                    over_deviation(
                        g, out, count(a, axis, keepdims, where) - of_freedom(ddof, correction)
                    ),
                    a, axis, keepdims, where,
                ),
                deviation(a, axis, where, mean),
            )
        ),
        None,
        lambda g, out, a, where, mean, *, axis, dtype, ddof, keepdims, correction: (
            -sum_to(
                times(
                    unreduce(
                        over_deviation(
                            g, out, count(a, axis, keepdims, where) - of_freedom(ddof, correction)
                        ),
                        a, axis, keepdims, where,
                    ),
                    deviation(a, axis, where, mean),
                ),
                mean,
            )
        ),
    ),
    jvp=lambda dots, out, a, where, mean, *, axis, ddof, keepdims, correction, **_: over_deviation(
        np.sum(
            np.real(deviation(a, axis, where, mean) * relative_dot(dots[0], dots[2])),
            axis, keepdims=keepdims, where=where,
        ),
        out,
        count(a, axis, keepdims, where) - of_freedom(ddof, correction),
    ),
)  # fmt: skip
def std(
    a: Any, axis: Axes = None, dtype: Any = None, ddof: float = 0, *, keepdims: bool = False,
    where: Any = None, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """Standard deviation, the square root of `var`; its derivative is zero where all are equal.

    `correction` is another name of `ddof`; `mean` is taken for the mean, if given, and must have
    the axes that `keepdims` keeps.

    >>> print(np.std(np.array([1.0, 3.0])))
    1.0
    """
    a = _deviating(a, dtype)
    kind = a.dtype
    a = wide(a)
    found = np.sqrt(
        np.var(a, axis, ddof=ddof, keepdims=keepdims, where=where, mean=mean, correction=correction)
    )
    return found if np.iscomplexobj(a) and dtype is None else np.astype(found, kind)
