"""Means and straight lines taken out of signals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axis

__all__ = ["detrend"]


@array_function(arrays=("data",))
def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: Any = None
) -> Any:
    """Data less its mean (`type` "constant") or the line of least squares ("linear") along an axis.

    Each stretch between the breakpoints `bp` has a line of its own. `overwrite_data` has no effect.

    Errors: ValueError for another type, or breakpoints beyond the end.

    >>> print(detrend(np.array([1.0, 3.0, 5.0]), type="constant"))
    [-2.  0.  2.]
    """
    data = np.asarray(data)
    data = data.astype(dtypes.to_inexact(data.dtype))
    axis = normal_axis(axis, data.ndim)
    if type in ("constant", "c"):
        return data - np.mean(data, axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError(f"detrend: type is 'linear' or 'constant', not {type!r}")
    x = np.moveaxis(data, axis, -1)
    n = x.shape[-1]
    ends = sorted({0, n, *numpy.ravel(bp).astype(int).tolist()})
    if ends[0] < 0 or ends[-1] > n:
        raise ValueError(f"detrend: breakpoints must be between 0 and the length {n}, not {bp}")
    pieces = [_level(x[..., a:b]) for a, b in itertools.pairwise(ends)]
    out = np.concatenate(pieces, -1) if pieces else x
    return np.moveaxis(out, -1, axis)


def _level(x: Any) -> Any:
    """Lines less their best straight line."""
    n = x.shape[-1]
    t = numpy.arange(n) - (n - 1) / 2
    x = x - np.mean(x, -1, keepdims=True)
    if n < 2:
        return x
    unit = numpy.asarray(t / numpy.sqrt(numpy.sum(t * t)), x.dtype)
    return x - np.sum(x * unit, -1, keepdims=True) * unit
