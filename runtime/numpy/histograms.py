"""Histograms: how many numbers fall into each of a row of bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Edges of equal bins from the smallest to the largest number, or over `range`.

    >>> print(np.histogram_bin_edges(np.array([0.0, 4.0]), bins=2))
    [0. 2. 4.]
    """
    if isinstance(bins, str):
        raise NotImplementedError(f"bins={bins!r}: give the number of bins, or their edges")
    if np.ndim(bins) == 1:
        return np.asarray(bins)
    a = np.ravel(np.asarray(a))
    dtype = dtypes.to_inexact(a.dtype)
    if range is not None:
        low, high = (np.astype(bound, dtype) for bound in range)
    elif a.size == 0:
        low, high = np.zeros((), dtype), np.ones((), dtype)
    else:
        low, high = np.astype(np.min(a), dtype), np.astype(np.max(a), dtype)
    low, high = np.where(low == high, low - 0.5, low), np.where(low == high, high + 0.5, high)
    return np.linspace(low, high, int(bins) + 1)


def _bin_numbers(a: Any, edges: Any) -> tuple[Any, Any]:
    """The bin of every number, and whether it lies in one; the last bin has both its edges."""
    at = np.searchsorted(edges, a, side="right")
    at = np.where(a == edges[-1], edges.shape[0] - 1, at)
    inside = (at > 0) & (at < edges.shape[0])
    return np.clip(at - 1, 0, edges.shape[0] - 2), inside


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Any, list[Any]]:
    """Counts in a grid of bins, and the edges along each axis, of points in the rows of `sample`.

    >>> counts, edges = np.histogramdd(np.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)
    >>> print(counts)
    [[1. 0.]
     [0. 1.]]
    """
    sample = np.asarray(sample)
    n, d = sample.shape
    bins = list(bins) if isinstance(bins, Sequence) else [bins] * d
    ranges = [None] * d if range is None else list(range)
    dtype = dtypes.to_inexact(sample.dtype if weights is None else np.result_type(sample, weights))
    amounts = np.ones((n,), dtype) if weights is None else np.astype(np.asarray(weights), dtype)
    edges, index = [], []
    for k, (count, bounds) in enumerate(zip(bins, ranges, strict=True)):
        edges.append(np.histogram_bin_edges(sample[:, k], count, bounds))
        at, inside = _bin_numbers(sample[:, k], edges[-1])
        index.append(at)
        amounts = np.where(inside, amounts, 0)
    shape = tuple(e.shape[0] - 1 for e in edges)
    counts = np.zeros(shape, dtype).at[tuple(index)].add(amounts)
    if density:
        counts = counts / np.sum(counts)
        for k, e in enumerate(edges):
            widths = np.reshape(np.diff(e), [-1 if i == k else 1 for i, _ in enumerate(edges)])
            counts = counts / widths
    return counts, edges


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Any, Any]:
    """Counts of numbers in a row of bins, and the edges of the bins.

    >>> counts, edges = np.histogram(np.array([1, 2, 1]), bins=np.array([0, 1, 2, 3]))
    >>> print(counts)
    [0 2 1]
    """
    flat = np.ravel(np.asarray(a))
    edges = np.histogram_bin_edges(flat, bins, range)
    at, inside = _bin_numbers(flat, edges)
    amounts: Any = 1 if weights is None else np.ravel(np.asarray(weights))
    dtype = dtypes.int_type() if weights is None else amounts.dtype
    counts = np.zeros((edges.shape[0] - 1,), dtype).at[at].add(np.where(inside, amounts, 0))
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    return counts, edges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Any, Any, Any]:
    """Counts of points in a grid of bins, and the edges along both axes.

    >>> counts, *_ = np.histogram2d(np.array([0.0, 1.0]), np.array([0.0, 1.0]), bins=2)
    >>> print(counts)
    [[1. 0.]
     [0. 1.]]
    """
    if np.ndim(bins) == 1 and len(bins) != 2:
        bins = [bins, bins]
    points = np.stack([np.asarray(x), np.asarray(y)], axis=1)
    counts, (x_edges, y_edges) = np.histogramdd(points, bins, range, weights, density)
    return counts, x_edges, y_edges
