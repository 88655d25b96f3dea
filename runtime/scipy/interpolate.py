"""Interpolation on grids."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.plain import plain
from overt.runtime.primitive import composite
from overt.runtime.tree import register_dataclass

__all__ = ["RegularGridInterpolator"]


@plain
@dataclasses.dataclass(frozen=True)
class RegularGridInterpolator:
    """A function that interpolates `values` tabulated on a grid.

    `points` are the coordinates along each axis, increasing or decreasing. `method` is "linear" or
    "nearest". Outside the grid the value is `fill_value`; None goes on as inside.

    Shapes: axis k of `values` belongs to `points[k]`, which needs two numbers or more; more axes
    may follow. Called with places (..., n) or a tuple of n arrays of coordinates.
    Errors: ValueError where these do not fit; NotImplementedError for `bounds_error`, since values
    in a compiled program cannot raise.

    >>> f = RegularGridInterpolator((np.array([1.0, 3.0]),), np.array([10.0, 20.0]))
    >>> print(f(np.array([[2.0], [4.0]])))
    [15. nan]
    """

    points: Any
    values: Any
    method: str = "linear"
    bounds_error: bool = False
    fill_value: Any = math.nan

    @plain
    def __call__(self, xi: Any, method: str | None = None) -> Any:
        """Values at the places `xi`."""
        how = self.method if method is None else method
        return interpolated(
            self.points, self.values, xi, self.fill_value, how, self.bounds_error
        )  # fmt: skip


register_dataclass(
    RegularGridInterpolator, ["points", "values", "fill_value"], ["method", "bounds_error"]
)


@composite(arrays=("points", "values", "xi", "fill_value"))
def interpolated(
    points: Any, values: Any, xi: Any, fill_value: Any, method: str, bounds_error: bool
) -> Any:
    """What a `RegularGridInterpolator` of these gives."""
    if bounds_error:
        raise NotImplementedError(
            "RegularGridInterpolator cannot raise for places outside; use fill_value"
        )
    if method not in ("linear", "nearest"):
        raise ValueError(f"interpolation is 'linear' or 'nearest', not {method!r}")
    values = np.asarray(values)
    values = values.astype(dtypes.to_inexact(values.dtype))
    grids = [np.asarray(grid) for grid in points]
    n = len(grids)
    if n > values.ndim:
        raise ValueError(f"there are {n} grids, but values have {values.ndim} axes")
    for k, grid in enumerate(grids):
        if grid.ndim != 1 or grid.shape[0] != values.shape[k] or grid.shape[0] < 2:
            raise ValueError(
                f"points[{k}] must be a vector of two numbers or more, as many as values have "
                f"along axis {k}: its shape is {grid.shape}, that of values {values.shape}"
            )
    places, lead = _places(xi, n)
    corners, outside = [], np.asarray(False)
    for grid, x in zip(grids, places, strict=True):
        grid, x = np.sign(grid[-1] - grid[0]) * grid, np.sign(grid[-1] - grid[0]) * x
        low = np.clip(np.searchsorted(grid, x, side="right") - 1, 0, grid.shape[0] - 2)
        share = (x - grid[low]) / (grid[low + 1] - grid[low])
        outside = outside | (x < grid[0]) | (x > grid[-1])
        if method == "nearest":
            corners.append([(np.where(share <= 0.5, low, low + 1), 1)])
        else:
            corners.append([(low, 1 - share), (low + 1, share)])
    total = None
    rest = (1,) * (values.ndim - n)
    for corner in itertools.product(*corners):
        index, weights = zip(*corner, strict=True)
        weight = np.asarray(functools.reduce(operator.mul, weights))
        part = values[tuple(index)] * np.reshape(weight, (*weight.shape, *rest))
        total = part if total is None else total + part
    total = np.asarray(total)
    if fill_value is not None:
        hidden = np.reshape(outside, (*outside.shape, *rest))
        total = np.where(hidden, np.asarray(fill_value).astype(total.dtype), total)
    return np.reshape(total, (*lead, *values.shape[n:]))


def _places(xi: Any, n: int) -> tuple[list[Any], tuple[int, ...]]:
    """The coordinates of all places, axis by axis, in vectors; and the shape they have."""
    if isinstance(xi, tuple):
        together = np.broadcast_arrays(*xi)
    else:
        xi = np.asarray(xi)
        if xi.ndim == 1:
            xi = np.reshape(xi, (-1, 1) if n == 1 else (1, -1))
        together = [xi[..., k] for k in range(xi.shape[-1])] if xi.ndim else []
    if len(together) != n:
        raise ValueError(f"the grid has {n} axes, but places have {len(together)} coordinates")
    return [np.ravel(x) for x in together], together[0].shape
