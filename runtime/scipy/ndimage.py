"""Values of arrays between their elements."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.primitive import composite

__all__ = ["map_coordinates"]


def _mirrored(i: Any, n: int) -> Any:
    """Places reflected at the middles of the outermost elements."""
    last = n - 1
    return np.abs((i + last) % (2 * last) - last) if last else np.zeros_like(i)


# Where a place outside is found inside, in each mode.
_MODES: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda i, n: np.clip(i, 0, n - 1),
    "nearest": lambda i, n: np.clip(i, 0, n - 1),
    "wrap": lambda i, n: i % n,
    "mirror": _mirrored,
    "reflect": lambda i, n: _mirrored(2 * i + 1, 2 * n + 1) // 2,
}


def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
) -> Any:
    """Values of an array at places given by one array of coordinates for each axis.

    `order` 0 takes the nearest element, 1 is linear between elements. `mode` says what is outside:
    "constant" (`cval`), "nearest" (the edge), "mirror" (at the middle of the outermost elements),
    "reflect" (at their ends), "wrap" (the array again).

    Errors: ValueError for other modes and numbers of coordinates; NotImplementedError for other
    orders.

    >>> print(map_coordinates(np.array([1.0, 2.0, 4.0]), [np.array([0.5, 1.5])], 1))
    [1.5 3. ]
    """
    if isinstance(coordinates, (list, tuple)):
        coordinates = [np.asarray(c) for c in coordinates]
    if len(coordinates) != np.ndim(input):
        raise ValueError(
            f"map_coordinates: an array of {np.ndim(input)} axes needs as many coordinates, not "
            f"{len(coordinates)}"
        )
    if mode not in _MODES:
        raise ValueError(f"map_coordinates: mode is one of {', '.join(_MODES)}, not {mode!r}")
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates: order is 0 or 1, not {order!r}")
    return _mapped(input, list(coordinates), cval, order, mode)


@composite(arrays=("input", "coordinates", "cval"))
def _mapped(input: Any, coordinates: Any, cval: Any, order: int, mode: str) -> Any:
    input = np.asarray(input)
    dtype = dtypes.to_inexact(np.result_type(input.dtype, *(c.dtype for c in coordinates)))
    cval = np.asarray(cval).astype(input.dtype)
    axes = []
    for c, n in zip(coordinates, input.shape, strict=True):
        if order == 0 or not dtypes.is_inexact(c.dtype):
            corners = [(_rounded(c), 1)]
        else:
            low = np.floor(c)
            share = c - low
            corners = [(low.astype(int), 1 - share), (low.astype(int) + 1, share)]
        axes.append([(_MODES[mode](i, n), (i >= 0) & (i < n), w) for i, w in corners])
    total = None
    for corner in itertools.product(*axes):
        places, inside, weights = zip(*corner, strict=True)
        value = input[tuple(places)]
        if mode == "constant":
            value = np.where(functools.reduce(operator.and_, inside), value, cval)
        part = functools.reduce(operator.mul, weights) * value
        total = part if total is None else total + part
    if dtypes.is_integer(input.dtype):
        total = np.round(np.asarray(total).astype(dtype))
    return np.asarray(total).astype(input.dtype)


def _rounded(c: Any) -> Any:
    """The nearest integers, halves away from zero."""
    if not dtypes.is_inexact(c.dtype):
        return c
    return (np.sign(c) * np.floor(np.abs(c) + 0.5)).astype(int)
