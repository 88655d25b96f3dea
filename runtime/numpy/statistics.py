"""Averages, order statistics, and the variants of reductions that leave NaN out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.array import DeviceArray
from overt.runtime.numpy.array_function import ArrayFunction, array_function
from overt.runtime.numpy.movement import normal_axes
from overt.runtime.numpy.reducing import narrow, wide

__all__ = [
    "average", "corrcoef", "cov", "median", "nanargmax", "nanargmin", "nanmax", "nanmean",
    "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
    "percentile", "quantile",
]  # fmt: skip

Axes = int | tuple[int, ...] | None


@array_function(arrays=("a", "weights"))
def average(
    a: Any, axis: Axes = None, weights: Any = None, returned: bool = False, *,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Weighted mean; with `returned`, also the sum of the weights.

    >>> print(np.average(np.array([1.0, 3.0]), weights=np.array([3.0, 1.0])))
    1.5
    """
    a = np.asarray(a)
    if weights is None:
        result = np.mean(a, axis, keepdims=keepdims)
        count = a.size // result.size if result.size else 0
        return (result, np.full_like(result, count)) if returned else result
    weights = np.asarray(weights)
    if weights.shape != a.shape:
        weights = _weights_along(a, axis, weights)
    dtype = dtypes.to_inexact(np.result_type(a, weights))
    weights = np.broadcast_to(np.astype(weights, dtype), a.shape)
    total = np.sum(wide(weights), axis, keepdims=keepdims)
    result = narrow(np.sum(a * wide(weights), axis, keepdims=keepdims) / total, dtype)
    return (result, narrow(total, dtype)) if returned else result


def _weights_along(a: Any, axis: Axes, weights: Any) -> Any:
    if axis is None:
        raise TypeError("average: give an axis where weights and data have different shapes")
    axes = normal_axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[i] for i in axes):
        raise ValueError(
            f"average: weights of shape {weights.shape} do not fit axis {axis} of {a.shape}"
        )
    weights = np.transpose(weights, numpy.argsort(axes).tolist())
    return np.reshape(weights, [n if i in axes else 1 for i, n in enumerate(a.shape)])


# ---- order statistics ----


def _in_one_axis(a: Any, axis: Axes) -> tuple[Any, tuple[int, ...]]:
    """The reduced axes flattened into a last one, and what `keepdims` would leave."""
    axes = tuple(range(a.ndim)) if axis is None else normal_axes(axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = (*(a.shape[i] for i in kept), math.prod(a.shape[i] for i in axes))
    rows = np.reshape(np.transpose(a, (*kept, *axes)), shape)
    return rows, tuple(1 if i in axes else n for i, n in enumerate(a.shape))


# Where among n sorted elements the quantile q lies: n q - 1 + a + q (1 - a - b) of (a, b), the
# plotting positions of Hyndman and Fan, "Sample quantiles in statistical packages" (1996).
POSITIONS = {
    "linear": (1, 1), "lower": (1, 1), "higher": (1, 1), "nearest": (1, 1), "midpoint": (1, 1),
    "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
    "inverted_cdf": (0, 1), "averaged_inverted_cdf": (0, 1), "closest_observation": (-0.5, 1.5),
}  # fmt: skip


def _between_sorted(rows: Any, q: Any, last: Any, method: str) -> Any:
    """The quantile of sorted rows whose elements are those up to `last`, one for each row."""
    a, b = POSITIONS[method]
    position = q * last if a == b == 1 else q * (last + 1) + (a - 1 + q * (1 - a - b))
    low = np.floor(position)
    past = position - low
    if method == "lower":
        fraction = np.zeros_like(past)
    elif method in ("higher", "inverted_cdf"):
        fraction = np.astype(past > 0, past.dtype)
    elif method == "nearest":
        fraction = np.rint(position) - low
    elif method == "midpoint":
        fraction = np.where(past > 0, 0.5, 0.0)
    elif method == "averaged_inverted_cdf":
        fraction = np.where(past > 0, 1.0, 0.5)
    elif method == "closest_observation":
        fraction = np.where((past == 0) & (low % 2 == 1), 0.0, 1.0)
    else:
        fraction = past
    below, above = (
        np.take_along_axis(rows, np.astype(np.clip(i, 0, last), "int32")[..., None], -1)[..., 0]
        for i in (low, low + 1)
    )
    # An infinite neighbour that takes no part is left out: its share would be NaN, not zero.
    below = np.where((fraction == 1) & np.isinf(below), 0, below)
    above = np.where((fraction == 0) & np.isinf(above), 0, above)
    return below * (1 - fraction) + above * fraction


def _quantile(
    a: Any, q: Any, axis: Axes, method: str, keepdims: bool, ignore_nan: bool, weights: Any = None
) -> Any:
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"quantile: weights need method='inverted_cdf', got {method!r}")
    if method not in POSITIONS:
        raise ValueError(f"quantile: method must be one of {sorted(POSITIONS)}, got {method!r}")
    a, q = np.asarray(a), np.asarray(q)
    if q.ndim > 1:
        raise ValueError(f"q must be a number or one-dimensional, got shape {q.shape}")
    if dtypes.is_complex(a.dtype):
        raise TypeError("quantiles are not defined for complex numbers")
    dtype = dtypes.to_inexact(np.result_type(a, q))
    exact = wide(np.zeros((), dtype)).dtype  # 16 bits do not count the places of a long row
    a, q = np.astype(a, dtype), np.astype(q, exact)
    if weights is not None:
        weights = np.asarray(weights)
        if weights.shape != a.shape:
            weights = _weights_along(a, axis, weights)
        weights, _ = _in_one_axis(np.broadcast_to(np.astype(weights, exact), a.shape), axis)
    rows, kept = _in_one_axis(a, axis)
    n, lead = rows.shape[-1], rows.shape[:-1]
    if n == 0:
        shape = kept if keepdims else lead
        return np.full((*q.shape, *shape), np.nan, dtype)
    if weights is not None:
        weights = np.where(np.isnan(rows), 0, weights)
        weights = np.take_along_axis(weights, np.argsort(rows, axis=-1), -1)
    rows = np.sort(rows, axis=-1)  # NaN comes last
    missing = np.isnan(rows)
    if ignore_nan:
        last = np.astype(np.maximum(n - 1 - np.sum(missing, -1), 0), exact)
        hidden = np.all(missing, -1)
    else:
        last = np.full(lead, n - 1, exact)
        hidden = np.any(missing, -1)
    rows = np.where(missing, 0, rows)

    def at(quantile: Any) -> Any:
        if weights is None:
            found = narrow(_between_sorted(rows, quantile, last, method), dtype)
        else:
            found = _of_weight(rows, weights, quantile)
        found = np.where(hidden, np.nan, found)
        return np.reshape(found, kept) if keepdims else found

    return at(q) if q.ndim == 0 else np.stack([at(q[i]) for i in range(q.shape[0])])


def _of_weight(rows: Any, weights: Any, q: Any) -> Any:
    """The first of sorted rows' elements up to which the fraction `q` of the weights lies."""
    share = np.cumsum(weights, -1) / np.sum(weights, -1, keepdims=True)
    before = np.sum((share < q) | (share == 0), -1, keepdims=True)  # no weight, no element
    return np.take_along_axis(rows, np.clip(before, 0, rows.shape[-1] - 1), -1)[..., 0]


class Quantiles(ArrayFunction):
    """A function of an array and of quantiles, which have to lie in their range where known."""

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = super().bind(args, kwargs)
        q, most = bound["q"], 100 if "percent" in self.__name__ else 1
        if isinstance(q, (int, float, numpy.ndarray, numpy.generic, DeviceArray)):
            numbers = numpy.asarray(q)
            if not ((numbers >= 0) & (numbers <= most)).all():
                raise ValueError(f"{self.__name__}: q lies between 0 and {most}, got {numbers}")
        return bound


def _of_quantiles(fn: Callable) -> Any:
    return Quantiles(fn, ("a", "q", "weights"))


@_of_quantiles
def quantile(
    a: Any, q: Any, axis: Axes = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Any:  # fmt: skip
    """The value below which a fraction `q` of the elements lies; several `q` give a first axis.

    `weights`, of the shape of `a` or of `axis`, count elements by the method "inverted_cdf".

    >>> print(np.quantile(np.array([1.0, 2.0, 3.0]), 0.25))
    1.5
    """
    return _quantile(a, q, axis, method, keepdims, False, weights)


@_of_quantiles
def nanquantile(
    a: Any, q: Any, axis: Axes = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Any:  # fmt: skip
    """`quantile` of the elements that are not NaN.

    >>> print(np.nanquantile(np.array([1.0, np.nan, 3.0]), 0.5))
    2.0
    """
    return _quantile(a, q, axis, method, keepdims, True, weights)


@_of_quantiles
def percentile(
    a: Any, q: Any, axis: Axes = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Any:  # fmt: skip
    """The value below which `q` percent of the elements lie.

    >>> print(np.percentile(np.array([1.0, 2.0, 3.0]), 25))
    1.5
    """
    return _quantile(a, np.divide(q, 100), axis, method, keepdims, False, weights)


@_of_quantiles
def nanpercentile(
    a: Any, q: Any, axis: Axes = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Any:  # fmt: skip
    """`percentile` of the elements that are not NaN.

    >>> print(np.nanpercentile(np.array([1.0, np.nan, 3.0]), 50))
    2.0
    """
    return _quantile(a, np.divide(q, 100), axis, method, keepdims, True, weights)


@array_function()
def median(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    """The middle of the sorted elements, or the mean of the two middle ones.

    >>> print(np.median(np.array([5.0, 1.0, 2.0, 3.0])))
    2.5
    """
    return _quantile(a, 0.5, axis, "linear", keepdims, False)


@array_function()
def nanmedian(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    """`median` of the elements that are not NaN.

    >>> print(np.nanmedian(np.array([5.0, np.nan, 2.0])))
    3.5
    """
    return _quantile(a, 0.5, axis, "linear", keepdims, True)


# ---- without NaN ----


def _present(a: Any) -> tuple[Any, Any]:
    a = np.asarray(a)
    return a, ~np.isnan(a)


def _known(a: Any, where: Any) -> tuple[Any, Any]:
    a, present = _present(a)
    return np.where(present, a, 0), present if where is None else present & where


@array_function(arrays=("a", "initial", "where"))
def nansum(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """`sum` with NaN taken as zero.

    >>> print(np.nansum(np.array([1.0, np.nan, 2.0])))
    3.0
    """
    a, present = _present(a)
    known = np.where(present, a, 0)
    return np.sum(known, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@array_function(arrays=("a", "initial", "where"))
def nanprod(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """`prod` with NaN taken as one.

    >>> print(np.nanprod(np.array([2.0, np.nan, 3.0])))
    6.0
    """
    a, present = _present(a)
    known = np.where(present, a, 1)
    return np.prod(known, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def _extremum(
    reduce: Any, worst: float, a: Any, axis: Axes, keepdims: bool, initial: Any, where: Any
) -> Any:
    a, present = _present(a)
    if not dtypes.is_inexact(a.dtype):
        initial = None if initial is None else np.astype(initial, a.dtype)
        return reduce(a, axis, keepdims=keepdims, initial=initial, where=where)
    known = np.where(present, a, worst)
    found = reduce(known, axis, keepdims=keepdims, initial=initial, where=where)
    if initial is not None:
        return found
    return np.where(np.any(present, axis, keepdims=keepdims, where=where), found, np.nan)


@array_function(arrays=("a", "initial", "where"))
def nanmax(
    a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The largest element that is not NaN; NaN where all are, or `initial`.

    >>> print(np.nanmax(np.array([1.0, np.nan, 2.0])))
    2.0
    """
    return _extremum(np.max, -np.inf, a, axis, keepdims, initial, where)


@array_function(arrays=("a", "initial", "where"))
def nanmin(
    a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The smallest element that is not NaN; NaN where all are, or `initial`.

    >>> print(np.nanmin(np.array([1.0, np.nan, 2.0])))
    1.0
    """
    return _extremum(np.min, np.inf, a, axis, keepdims, initial, where)


def _position(find: Any, worst: float, a: Any, axis: int | None, keepdims: bool) -> Any:
    a, present = _present(a)
    if not dtypes.is_inexact(a.dtype):
        return find(a, axis, keepdims=keepdims)
    found = find(np.where(present, a, worst), axis, keepdims=keepdims)
    return np.where(np.any(present, axis, keepdims=keepdims), found, -1)


@array_function(zero_derivative=True)
def nanargmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Index of the largest element that is not NaN; -1 where all are.

    >>> print(np.nanargmax(np.array([np.nan, 2.0, 1.0])))
    1
    """
    return _position(np.argmax, -np.inf, a, axis, keepdims)


@array_function(zero_derivative=True)
def nanargmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Index of the smallest element that is not NaN; -1 where all are.

    >>> print(np.nanargmin(np.array([np.nan, 2.0, 1.0])))
    2
    """
    return _position(np.argmin, np.inf, a, axis, keepdims)


@array_function(arrays=("a", "where"))
def nanmean(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
) -> Any:
    """`mean` of the elements that are not NaN.

    >>> print(np.nanmean(np.array([1.0, np.nan, 3.0])))
    2.0
    """
    if dtype is not None and dtypes.is_bool(dtypes.canonicalize(dtype)):
        raise TypeError("nanmean needs dtype= of numbers, not of truth values")
    known, present = _known(a, where)
    return np.mean(known, axis, dtype, keepdims=keepdims, where=present)


@array_function(arrays=("a", "where"))
def nanvar(
    a: Any, axis: Axes = None, dtype: Any = None, ddof: float = 0, *, keepdims: bool = False,
    where: Any = None,
) -> Any:  # fmt: skip
    """`var` of the elements that are not NaN.

    >>> print(np.nanvar(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    known, present = _known(a, where)
    return np.var(known, axis, dtype, ddof, keepdims=keepdims, where=present)


@array_function(arrays=("a", "where"))
def nanstd(
    a: Any, axis: Axes = None, dtype: Any = None, ddof: float = 0, *, keepdims: bool = False,
    where: Any = None,
) -> Any:  # fmt: skip
    """`std` of the elements that are not NaN.

    >>> print(np.nanstd(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    known, present = _known(a, where)
    return np.std(known, axis, dtype, ddof, keepdims=keepdims, where=present)


# ---- covariance ----


@array_function(arrays=("m", "y", "fweights", "aweights"))
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, dtype: Any = None,
) -> Any:  # fmt: skip
    """Covariance matrix of variables (rows, or columns without `rowvar`) and observations.

    >>> print(np.cov(np.array([[1.0, 2.0, 3.0], [1.0, 0.0, -1.0]])))
    [[ 1. -1.]
     [-1.  1.]]
    """
    rows = _variables(m, rowvar)
    if y is not None:
        rows = np.concatenate([rows, _variables(y, rowvar)])
    if dtype is not None:
        rows = np.astype(rows, dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    if fweights is not None:
        weights = np.asarray(fweights)
    if aweights is not None:
        weights = np.asarray(aweights) if weights is None else weights * aweights
    if weights is None:
        mean, divisor = np.mean(rows, 1, keepdims=True), max(rows.shape[1] - ddof, 0)
        weighted = rows - mean
        centred = weighted
    else:
        total = np.sum(weights)
        mean = np.sum(rows * weights, 1, keepdims=True) / total
        if aweights is None or ddof == 0:
            divisor = total - ddof
        else:
            divisor = total - ddof * np.sum(weights * aweights) / total
        centred = rows - mean
        weighted = centred * weights
    return np.squeeze(np.matmul(weighted, np.conj(centred).T) / divisor)


def _variables(m: Any, rowvar: bool) -> Any:
    m = np.asarray(m)
    if m.ndim > 2:
        raise ValueError(f"cov takes arrays of one or two dimensions, got {m.ndim}")
    m = np.astype(m, dtypes.to_inexact(m.dtype))
    m = np.atleast_2d(m)
    return m if rowvar or m.shape[0] == 1 else m.T


@array_function(arrays=("x", "y"))
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """Correlation coefficients of variables.

    >>> print(np.corrcoef(np.array([[1.0, 2.0, 3.0], [1.0, 0.0, -1.0]])))
    [[ 1. -1.]
     [-1.  1.]]
    """
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = np.sqrt(np.real(np.diagonal(c)))
    ratio = c / spread[:, None] / spread[None, :]
    return ratio if np.iscomplexobj(ratio) else np.clip(ratio, -1, 1)
