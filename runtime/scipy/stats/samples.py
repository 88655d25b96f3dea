"""Summaries of samples: mode, ranks, standard error of the mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime.numpy.array_function import array_function
from overt.runtime.scipy.error_functions import floating

__all__ = ["ModeResult", "mode", "rankdata", "sem"]


class ModeResult(NamedTuple):
    """The most frequent value and how often it occurs."""

    mode: Any
    count: Any


def _checked_policy(function: str, nan_policy: str, known: tuple[str, ...]) -> None:
    if nan_policy in known:
        return
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(
            f"{function}: nan_policy is 'propagate', 'omit' or 'raise', not {nan_policy!r}"
        )
    raise NotImplementedError(
        f"{function} with nan_policy={nan_policy!r} depends on the values in the array; "
        "take the NaNs out, or check for them, before"
    )


@array_function(arrays=("a",), zero_derivative=True)
def mode(
    a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """The most frequent value along `axis`, the smallest of several, and its count.

    Errors: NotImplementedError for another `nan_policy` than 'propagate'.

    >>> mode(np.array([3, 1, 2, 1]))
    ModeResult(mode=Array(1, dtype=int32), count=Array(2, dtype=int32))
    """
    _checked_policy("mode", nan_policy, ("propagate",))
    a = np.asarray(a)
    shape = a.shape
    a = np.moveaxis(a, axis, -1) if axis is not None and a.ndim else np.ravel(a)
    n = a.shape[-1]
    if n == 0:
        value, count = np.full(a.shape[:-1], np.nan, floating(a).dtype), np.zeros(a.shape[:-1])
    else:
        a = np.sort(a, axis=-1)
        places = np.broadcast_to(np.arange(n), a.shape)
        starts = np.concatenate([np.ones_like(a[..., :1], bool), a[..., 1:] != a[..., :-1]], -1)
        counts = places - _largest_so_far(np.where(starts, places, 0)) + 1
        last = np.argmax(counts, -1, keepdims=True)
        value, count = (np.take_along_axis(v, last, -1)[..., 0] for v in (a, counts))
    if not keepdims:
        return ModeResult(value, count)
    kept = tuple(1 if axis is None or i == axis % len(shape) else k for i, k in enumerate(shape))
    return ModeResult(np.reshape(value, kept), np.reshape(count, kept))


def _largest_so_far(x: Any) -> Any:
    from overt.runtime.lax.loops import associative_scan

    return associative_scan(np.maximum, x, axis=x.ndim - 1)


@array_function(arrays=("a",), zero_derivative=True)
def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Any:
    """Ranks from 1 along `axis`, of the whole array for None; `method` says what ties get.

    It is 'average', 'min', 'max', 'dense' (as 'min', without gaps) or 'ordinal' (by position).
    Errors: NotImplementedError for another `nan_policy` than 'propagate'.

    >>> print(rankdata(np.array([0, 2, 3, 2])))
    [1.  2.5 4.  2.5]
    """
    _checked_policy("rankdata", nan_policy, ("propagate",))
    methods = ("average", "min", "max", "dense", "ordinal")
    if method not in methods:
        raise ValueError(f"rankdata: the method is one of {', '.join(methods)}, not {method!r}")
    a = np.asarray(a)
    a = np.ravel(a) if axis is None else np.moveaxis(np.atleast_1d(a), axis, -1)
    dtype = floating(a).dtype
    order = np.argsort(a, axis=-1)
    in_order = np.take_along_axis(a, order, -1)
    starts = np.ones_like(a, bool)
    if a.shape[-1]:
        starts = np.concatenate([starts[..., :1], in_order[..., 1:] != in_order[..., :-1]], -1)
    places = np.broadcast_to(np.arange(1, a.shape[-1] + 1), a.shape)
    first = _largest_so_far(np.where(starts, places, 0))
    ends = np.concatenate([starts[..., 1:], np.ones_like(starts[..., :1])], -1)
    after = np.where(ends, places, a.shape[-1] + 1)
    last = -np.flip(_largest_so_far(np.flip(-after, -1)), -1)
    ranks = {
        "average": (first + last) / 2,
        "min": first,
        "max": last,
        "dense": np.cumsum(starts, -1),
        "ordinal": places,
    }[method]
    ranks = np.take_along_axis(ranks, np.argsort(order, axis=-1), -1).astype(dtype)
    ranks = np.where(np.any(np.isnan(a), -1, keepdims=True), np.nan, ranks)
    return ranks if axis is None else np.moveaxis(ranks, -1, axis)


@array_function(arrays=("a",))
def sem(
    a: Any, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Standard error of the mean along `axis`; with `nan_policy` 'omit', of what is not NaN.

    >>> print(f"{sem(np.array([1.0, 2.0, 3.0, 4.0])):.4f}")
    0.6455
    """
    _checked_policy("sem", nan_policy, ("propagate", "omit"))
    a = floating(a)
    if nan_policy == "propagate":
        n = np.size(a, axis)
        return np.std(a, axis, ddof=ddof, keepdims=keepdims) / np.sqrt(n).astype(a.dtype)
    n = np.sum(~np.isnan(a), axis, keepdims=keepdims).astype(a.dtype)
    return np.nanstd(a, axis, ddof=ddof, keepdims=keepdims) / np.sqrt(n)
