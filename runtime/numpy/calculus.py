"""Differences, slopes, integrals and interpolation of tabulated numbers."""

from __future__ import annotations

import operator
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axes, normal_axis

__all__ = ["diff", "ediff1d", "gradient", "interp", "trapezoid"]


def _part(a: Any, axis: int, *bounds: int | None) -> Any:
    """A slice along one axis."""
    index = [slice(None)] * a.ndim
    index[axis] = slice(*bounds)
    return a[tuple(index)]


@array_function(arrays=("a", "prepend", "append"))
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Each element minus the one before it, along `axis`, `n` times over.

    >>> print(np.diff(np.array([1, 4, 9, 16])))
    [3 5 7]
    """
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"diff: order must not be negative, got {n}")
    a = np.asarray(a)
    if a.ndim == 0:
        raise ValueError("diff needs an array of at least one dimension")
    axis = normal_axis(axis, a.ndim)
    line = tuple(1 if i == axis else size for i, size in enumerate(a.shape))
    ends = [
        None if x is None else np.broadcast_to(x, line) if np.ndim(x) == 0 else np.asarray(x)
        for x in (prepend, append)
    ]
    parts = [x for x in (ends[0], a, ends[1]) if x is not None]
    a = np.concatenate(parts, axis=axis) if len(parts) > 1 else a
    for _ in range(n):
        later, earlier = _part(a, axis, 1, None), _part(a, axis, None, -1)
        a = later != earlier if a.dtype == bool else later - earlier
    return a


@array_function(arrays=("ary", "to_end", "to_begin"))
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in the flattened array, with what is to stand before and after.

    >>> print(np.ediff1d(np.array([1, 4, 9]), to_begin=0))
    [0 3 5]
    """
    if dtypes.is_bool(np.result_type(ary)):
        raise TypeError(
            "ediff1d of booleans is not defined: they have no differences; convert them"
        )
    parts = [np.diff(np.ravel(ary))]
    if to_begin is not None:
        parts.insert(0, np.ravel(to_begin))
    if to_end is not None:
        parts.append(np.ravel(to_end))
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes of tabulated values: central differences inside, one-sided ones at the ends.

    `varargs` are spacings, one for all axes or one an axis: numbers, or coordinates. A list comes
    back where there are several axes. `edge_order=2` gives those of a parabola at the ends.

    >>> print(np.gradient(np.array([1.0, 4.0, 9.0, 16.0])))
    [3. 4. 6. 7.]
    """
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is 1 or 2, not {edge_order}")
    f = np.asarray(f)
    if not dtypes.is_inexact(f.dtype):
        f = np.astype(f, dtypes.to_inexact(f.dtype))
    axes = normal_axes(range(f.ndim) if axis is None else axis, f.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"gradient got {len(varargs)} spacings for {len(axes)} axes")
    spacings = varargs if len(varargs) == len(axes) else (*varargs, 1.0)[:1] * len(axes)
    slopes = [_slope(f, along, h, edge_order) for along, h in zip(axes, spacings, strict=True)]
    return slopes[0] if len(axes) == 1 else slopes


def _slope(f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    n = f.shape[axis]
    if n <= edge_order:
        raise ValueError(
            f"gradient needs at least {edge_order + 1} elements along every axis it works on"
        )
    steps = np.diff(f, axis=axis)
    if np.ndim(spacing) == 0:
        sides = steps / spacing
        inner = (_part(f, axis, 2, None) - _part(f, axis, None, -2)) / (2 * spacing)
    else:
        gaps = np.reshape(np.diff(spacing), [n - 1 if i == axis else 1 for i in range(f.ndim)])
        sides = steps / gaps
        before, after = _part(gaps, axis, None, -1), _part(gaps, axis, 1, None)
        left, right = _part(sides, axis, None, -1), _part(sides, axis, 1, None)
        inner = (after * left + before * right) / (before + after)
    ends = [_part(sides, axis, None, 1), _part(sides, axis, n - 2, None)]
    if edge_order == 2:
        next_ones = _part(sides, axis, 1, 2), _part(sides, axis, n - 3, n - 2)
        shares: list[Any] = [0.5, 0.5]
        if np.ndim(spacing):
            first, last = _part(gaps, axis, None, 2), _part(gaps, axis, n - 3, None)
            shares = [
                _part(first, axis, None, 1) / np.sum(first, axis, keepdims=True),
                _part(last, axis, 1, None) / np.sum(last, axis, keepdims=True),
            ]
        ends = [
            end + (end - near) * share
            for end, near, share in zip(ends, next_ones, shares, strict=True)
        ]
    return np.concatenate([ends[0], inner, ends[1]], axis=axis)


@array_function(arrays=("y", "x", "dx"))
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integral of tabulated values by the trapezoidal rule.

    >>> print(np.trapezoid(np.array([1.0, 2.0, 3.0])))
    4.0
    """
    y = np.asarray(y)
    axis = normal_axis(axis, y.ndim)
    if x is not None:
        dx = np.diff(x, axis=axis) if np.ndim(x) == y.ndim else np.diff(x)
        if dx.ndim == 1:
            dx = np.reshape(dx, [-1 if i == axis else 1 for i in range(y.ndim)])
    return np.sum(dx * (_part(y, axis, 1, None) + _part(y, axis, None, -1)) / 2, axis)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Any:
    """Values at `x` of the broken line through the points (`xp`, `fp`), `xp` increasing.

    Outside, the first and last values hold, or `left` and `right`, which may be "extrapolate": the
    first and last pieces go on. With `period` the line repeats.

    >>> print(np.interp(1.5, np.array([1.0, 2.0]), np.array([10.0, 20.0])))
    15.0
    """
    goes_on = isinstance(left, str), isinstance(right, str)
    if left != "extrapolate" and goes_on[0] or right != "extrapolate" and goes_on[1]:
        raise ValueError("interp: left and right are numbers or 'extrapolate'")
    left, right = None if goes_on[0] else left, None if goes_on[1] else right
    return broken_line(x, xp, fp, left, right, period, goes_on)


@array_function(arrays=("x", "xp", "fp", "left", "right"))
def broken_line(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, period: float | None,
    goes_on: tuple[bool, bool],
) -> Any:  # fmt: skip
    """`interp`, where the first and last pieces may go on.

    >>> line = np.array([0.0, 1.0]), np.array([0.0, 2.0])
    >>> print(broken_line(np.array([-1.0, 2.0]), *line, None, None, None, (True, False)))
    [-2.  2.]
    """
    dtype = dtypes.to_inexact(np.result_type(x, xp, fp))
    x, xp, fp = np.astype(x, dtype), np.astype(xp, dtype), np.astype(fp, dtype)
    if xp.ndim != 1 or xp.shape != fp.shape or xp.shape[0] == 0:
        raise ValueError("interp: xp and fp must be one-dimensional, not empty, of equal length")
    if period is not None:
        if period == 0:
            raise ValueError("interp: period must not be zero")
        period = abs(period)
        x, xp = np.remainder(x, period), np.remainder(xp, period)
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
    n = xp.shape[0]
    if n == 1:
        inside = np.broadcast_to(fp[0], x.shape)
    else:
        at = np.clip(np.searchsorted(xp, x, side="right"), 1, n - 1)
        x0, x1, f0, f1 = xp[at - 1], xp[at], fp[at - 1], fp[at]
        gap = x1 - x0
        jump = gap == 0
        inside = f0 + np.where(jump, 0, x - x0) * (f1 - f0) / np.where(jump, 1, gap)
    if period is None and not goes_on[0]:
        inside = np.where(x < xp[0], fp[0] if left is None else left, inside)
    if period is None and not goes_on[1]:
        inside = np.where(x > xp[-1], fp[-1] if right is None else right, inside)
    return inside
