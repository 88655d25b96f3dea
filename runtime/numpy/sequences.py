"""Evenly spaced numbers and grids of indices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.array import Array
from overt.runtime.aval import is_known_size
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.creation import constant, iota, on
from overt.runtime.numpy.index_plan import mask_value
from overt.runtime.numpy.movement import normal_axis, with_rule
from overt.runtime.primitive import GRAPH

__all__ = [
    "arange", "c_", "geomspace", "linspace", "logspace", "meshgrid", "mgrid",
    "ogrid", "r_", "s_", "trim_zeros",
]  # fmt: skip

s_ = numpy.s_


def _number(x: Any, name: str) -> Any:
    """A bound of `arange` as a Python number; its value decides the length of the result."""
    if isinstance(x, (int, float)):
        return x
    if isinstance(x, numpy.generic):
        return x.item()
    if np.ndim(x):
        raise TypeError(f"arange: {name} must be one number, got an array of shape {np.shape(x)}")
    return operator.index(x) if dtypes.is_integer(np.result_type(x)) else float(x)


@with_rule(arrays=())
def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None
) -> Any:
    """The numbers from `start` (or 0) up to but without `stop`, in steps of `step` (or 1).

    >>> print(np.arange(4), np.arange(1.0, 2.0, 0.5))
    [0 1 2 3] [1.  1.5]
    """
    if not is_known_size(x for x in (start, stop, step) if x is not None):
        first, last = (0, start) if stop is None else (start, stop)
        if step not in (None, 1):
            last.__index__()
        steps = iota(shape=(last - first,), dtype=dtypes.canonicalize(dtype or int), axis=0)
        return steps if dtypes.is_integer(steps.dtype) and first == 0 else steps + first
    if dtype is None:
        dtype = np.result_type(*(x for x in (start, stop, step) if x is not None))
    wanted = dtypes.canonicalize(dtype, explicit=True)
    if stop is None:
        start, stop = 0, start
    start, stop = _number(start, "start"), _number(stop, "stop")
    step = 1 if step is None else _number(step, "step")
    if step == 0:
        raise ZeroDivisionError("arange: step must not be zero")
    whole = all(isinstance(x, int) for x in (start, stop, step))
    if whole and GRAPH.get() is not None and dtypes.is_integer(wanted):
        n = len(range(start, stop, step))
        steps = iota(shape=(n,), dtype=wanted, axis=0)
        steps = steps if step == 1 else steps * step
        return steps if start == 0 else steps + start
    return on(constant(numpy.arange(start, stop, step), wanted), device)


@array_function(arrays=("start", "stop"))
def _between(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Any:
    wanted = dtypes.to_inexact(np.result_type(start, stop) if dtype is None else dtype)
    inner = wanted if dtypes.is_inexact(wanted) else dtypes.float_type()
    start, stop = np.broadcast_arrays(np.astype(start, inner), np.astype(stop, inner))
    parts = max(num - 1 if endpoint else num, 1)
    steps = numpy.arange(num).reshape(num, *(1,) * start.ndim) / parts
    fractions = constant(steps, dtypes.real_type(inner))
    numbers = start * (1 - fractions) + stop * fractions
    return np.moveaxis(numbers, 0, axis) if axis else numbers


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """`num` evenly spaced numbers from `start` to `stop`, with the end if `endpoint`.

    Shapes: the new axis is `axis`; `start` and `stop` may be arrays.

    >>> print(np.linspace(0, 1, 5))
    [0.   0.25 0.5  0.75 1.  ]
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, got {num}")
    wanted = None if dtype is None else dtypes.canonicalize(dtype, explicit=True)
    if _plain(start) and _plain(stop):
        exact = numpy.linspace(start, stop, num, endpoint)
        float_dtype = dtypes.to_inexact(np.result_type(start, stop))
        numbers = constant(exact, float_dtype) if wanted is None else exact
    else:
        numbers = _between(np.asarray(start), np.asarray(stop), num, endpoint, None, axis)
    if wanted is not None:
        whole = dtypes.is_integer(wanted)
        numbers = np.astype(np.floor(numbers) if whole else np.asarray(numbers), wanted)
    numbers = on(numbers, device)
    if not retstep:
        return numbers
    parts = num - 1 if endpoint else num
    return numbers, (np.subtract(stop, start) / parts if parts > 0 else np.nan)


def _plain(x: Any) -> bool:
    return isinstance(x, (int, float, complex, numpy.generic))


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    """`num` numbers from `base**start` to `base**stop`, evenly spaced in the exponent.

    >>> print(np.logspace(0, 2, 3))
    [  1.  10. 100.]
    """
    numbers = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return numbers if dtype is None else np.astype(numbers, dtype)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before.

    >>> print(np.round(np.geomspace(1, 8, 4), 3))
    [1. 2. 4. 8.]
    """
    start, stop = np.asarray(start), np.asarray(stop)
    inexact = dtypes.to_inexact(np.result_type(start, stop))
    start, stop = np.astype(start, inexact), np.astype(stop, inexact)
    ratio = np.linspace(np.zeros_like(stop / start), np.log(stop / start), num, endpoint, axis=axis)
    first = np.expand_dims(start, axis) if np.ndim(start) else start
    numbers = first * np.exp(ratio)
    if endpoint and num > 1:  # without the error of exp
        end = (slice(None),) * (axis % numbers.ndim)
        numbers = numbers.at[(*end, -1)].set(stop)
    return numbers if dtype is None else np.astype(numbers, dtype)


# ---- grids ----


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Coordinates of every point of a grid, from those along its axes.

    With `indexing="ij"` axis k belongs to the k-th argument; "xy" swaps the first two.

    >>> x, y = np.meshgrid(np.array([1, 2]), np.array([3, 4, 5]))
    >>> print(x)
    [[1 2]
     [1 2]
     [1 2]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    n = len(xi)
    arrays = [np.ravel(np.asarray(x)) for x in xi]
    order = list(range(n))
    if indexing == "xy" and n > 1:
        order[:2] = [1, 0]
    shape = [1] * n
    for x, at in zip(arrays, order, strict=True):
        shape[at] = x.shape[0]
    result = []
    for x, at in zip(arrays, order, strict=True):
        line = np.reshape(x, tuple(x.shape[0] if i == at else 1 for i in range(n)))
        result.append(line if sparse else np.broadcast_to(line, tuple(shape)))
    return result


def trim_zeros(filt: Any, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Any:
    """An array without the zeros at its front ("f") and back ("b"), along every axis or some.

    Errors: StagingError where the values are known only at run time.

    >>> print(np.trim_zeros(np.array([0, 1, 0, 2, 0])))
    [1 0 2]
    """
    filt = np.asarray(filt)
    places = numpy.nonzero(mask_value(filt != 0, "trim_zeros"))
    axes = range(filt.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    cuts = [slice(None)] * filt.ndim
    for k in (normal_axis(each, filt.ndim) for each in axes):
        first, last = (places[k].min(), places[k].max() + 1) if places[k].size else (0, 0)
        start = int(first) if "f" in trim.lower() or not places[k].size else None
        cuts[k] = slice(start, int(last) if "b" in trim.lower() or not places[k].size else None)
    return filt[tuple(cuts)]


class _Grid:
    """`np.mgrid[0:3, 0:2]`: index grids by slices; a complex step is a number of points."""

    def __init__(self, name: str, sparse: bool):
        self.__name__ = name
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        grid = numpy.ogrid if self.sparse else numpy.mgrid
        found = grid[_concrete_slices(key)]
        return tuple(map(constant, found)) if isinstance(found, (tuple, list)) else constant(found)

    def __repr__(self) -> str:
        return f"np.{self.__name__}"


def _concrete_slices(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_concrete_slices, key))
    parts = (x if x is None or isinstance(x, complex) else _number(x, "a bound")
             for x in (key.start, key.stop, key.step))  # fmt: skip
    return slice(*parts)


mgrid, ogrid = _Grid("mgrid", False), _Grid("ogrid", True)


class _Joined:
    """`np.r_[1:4, 0, x]` and `np.c_[x, y]`: slices, numbers and arrays, joined."""

    def __init__(self, name: str, axis: int, trans1d: int, ndmin: int):
        self.__name__ = name
        self.axis, self.trans1d, self.ndmin = axis, trans1d, ndmin

    joins_its_index = True  # for the passes: what is between the brackets has derivatives

    def __getitem__(self, key: Any) -> Any:
        return self.joined(*key) if isinstance(key, tuple) else self.joined(key)

    def joined(self, *items: Any) -> Any:
        """The pieces in one array."""
        axis, ndmin, trans1d = self.axis, self.ndmin, self.trans1d
        if items and isinstance(items[0], str):
            numbers = [int(part) for part in items[0].split(",")]
            axis = numbers[0]
            ndmin = numbers[1] if len(numbers) > 1 else ndmin
            trans1d = numbers[2] if len(numbers) > 2 else trans1d
            items = items[1:]
        return np.concatenate([self._piece(x, ndmin, trans1d) for x in items], axis=axis)

    def _piece(self, x: Any, ndmin: int, trans1d: int) -> Any:
        if isinstance(x, slice):
            x = constant(numpy.r_[_concrete_slices(x)])
        x = x if isinstance(x, Array) else np.asarray(x)
        x = np.reshape(x, (1,)) if x.ndim == 0 else x
        if x.ndim >= ndmin:
            return x
        added = ndmin - x.ndim
        position = added if trans1d < 0 else trans1d
        shape = (1,) * position + x.shape + (1,) * (added - position)
        return np.reshape(x, shape)

    def __repr__(self) -> str:
        return f"np.{self.__name__}"


r_, c_ = _Joined("r_", 0, -1, 1), _Joined("c_", -1, 0, 2)
