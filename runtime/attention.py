"""Attention: weighted means of values, by how well keys fit queries.

Source: Vaswani et al., "Attention is all you need", 2017; keys shared by groups of heads:
Ainslie et al., "GQA", 2023.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.nn import softmax
from overt.runtime.primitive import composite
from overt.runtime.scipy.special import logsumexp

__all__ = ["dot_product_attention"]

# What a logit that does not count is set to: as a share of the most negative number, so that a
# bias may still be added, and finite, so that a query that may see nothing gives no NaN.
EXCLUDED = -0.7


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """`softmax(query @ key.T * scale + bias) @ value`, for every head.

    `scale` is 1 / sqrt(h) unless given. A key counts for a query where `mask` holds, where it is
    not later (`is_causal`), where it is at most so many places before and after it
    (`local_window_size`), and where both are within their sequences' lengths. Results beyond a
    query's length are 0. With `return_residual` the logarithms of the sums of exponentials come
    too, one for each query.

    Shapes: `query` (b, t, n, h), `key` and `value` (b, s, k, h) where n is a multiple of k, or all
    without b; `bias` and `mask` of as many axes that broadcast to (b, n, t, s); lengths (b,); the
    result that of `query`, the residual (b, t, n).

    Errors: ValueError or TypeError where these do not fit, NotImplementedError for "cudnn".

    >>> q = k = v = np.ones((1, 4, 2, 8))
    >>> dot_product_attention(q, k, v, is_causal=True).shape
    (1, 4, 2, 8)
    """
    if implementation not in (None, "xla"):
        raise NotImplementedError(
            f"dot_product_attention is compiled by XLA; implementation {implementation!r} is not "
            "there, leave it None"
        )
    shapes = [np.shape(x) for x in (query, key, value)]
    rank = len(shapes[0])
    if rank not in (3, 4) or any(len(shape) != rank for shape in shapes):
        raise ValueError(
            "dot_product_attention: query, key and value must all have 4 axes (batch, length, "
            f"heads, features), or 3 without the batch; their shapes are {shapes}"
        )
    _check(shapes, rank, bias, mask, query_seq_lengths, key_value_seq_lengths)
    window = local_window_size
    if isinstance(window, int):
        window = (window, window)
    return _attention(
        query, key, value, bias, mask, query_seq_lengths, key_value_seq_lengths,
        scale, bool(is_causal), window, return_residual,
    )  # fmt: skip


def _check(
    shapes: list[Any], rank: int, bias: Any, mask: Any, q_lengths: Any, kv_lengths: Any
) -> None:
    (t, n, h), (s, k, hk) = shapes[0][-3:], shapes[1][-3:]
    batch = shapes[0][: rank - 3]
    if shapes[1][: rank - 3] != batch or hk != h or shapes[2][:-1] != shapes[1][:-1]:
        raise ValueError(f"dot_product_attention: these shapes do not belong together: {shapes}")
    if n % k:
        raise ValueError(
            f"dot_product_attention: {n} heads of queries cannot share {k} heads of keys evenly"
        )
    for name, x in (("bias", bias), ("mask", mask)):
        if x is None:
            continue
        shape, whole = np.shape(x), (*batch, n, t, s)
        fits = len(shape) == rank and all(a in (1, b) for a, b in zip(shape, whole, strict=True))
        if not fits:
            raise ValueError(
                f"dot_product_attention: {name} must have {rank} axes and broadcast to {whole}, "
                f"but its shape is {shape}"
            )
    if mask is not None and not dtypes.is_bool(np.result_type(mask)):
        raise TypeError("dot_product_attention: mask must be boolean; give additive masks as bias")
    for name, x in (("query_seq_lengths", q_lengths), ("key_value_seq_lengths", kv_lengths)):
        if x is not None and np.shape(x) != (batch or (1,)):
            raise ValueError(
                f"dot_product_attention: {name} must have shape {batch or (1,)}, not {np.shape(x)}"
            )


@composite(arrays=("query", "key", "value", "bias", "mask", "q_lengths", "kv_lengths"))
def _attention(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, q_lengths: Any, kv_lengths: Any,
    scale: float | None, causal: bool, window: tuple[int, int] | None, residual: bool,
) -> Any:  # fmt: skip
    single = np.ndim(query) == 3
    query, key, value = (np.asarray(x)[None] if single else np.asarray(x)
                         for x in (query, key, value))  # fmt: skip
    b, t, n, h = query.shape
    s, k = key.shape[1:3]
    dtype = np.promote_types(query.dtype, np.float32)
    grouped = np.reshape(query, (b, t, k, n // k, h))
    logits = np.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=dtype)
    logits = logits * (1 / math.sqrt(h) if scale is None else scale)
    if bias is not None:
        logits = logits + _by_group(bias, single, k, n // k)
    if mask is not None:
        mask = _by_group(mask, single, k, n // k)
    counts = _counting(mask, t, s, q_lengths, kv_lengths, causal, window)
    if counts is not None:
        floor = numpy.array(EXCLUDED * float(dtypes.finfo(dtype).max), dtype)
        logits = np.where(counts, logits, floor)
    weights = softmax(logits).astype(key.dtype)
    out = np.einsum("bkgts,bskh->btkgh", weights, value)
    out = np.reshape(out, (b, t, n, out.shape[-1]))
    if q_lengths is not None:
        within = np.arange(t) < np.reshape(q_lengths, (-1, 1))
        out = np.where(within[:, :, None, None], out, 0)
    out = out[0] if single else out
    if not residual:
        return out
    sums = np.reshape(np.moveaxis(logsumexp(logits, axis=-1), 3, 1), (b, t, n))
    sums = sums.astype(key.dtype)
    return out, (sums[0] if single else sums)


def _by_group(x: Any, single: bool, heads: int, group: int) -> Any:
    """A bias or mask with the heads that share a key on an axis of their own."""
    x = np.asarray(x)[None] if single else np.asarray(x)
    b, n, t, s = x.shape
    return np.reshape(x, (b, *((1, 1) if n == 1 else (heads, group)), t, s))


def _counting(
    mask: Any, t: int, s: int, q_lengths: Any, kv_lengths: Any, causal: bool, window: Any
) -> Any:
    """Which keys count for which queries; None if all do."""
    at, to = np.arange(t)[:, None], np.arange(s)[None, :]
    parts = [] if mask is None else [mask]
    if causal:
        parts.append(to <= at)
    if window is not None:
        parts.append((to >= at - window[0]) & (to <= at + window[1]))
    if q_lengths is not None:
        parts.append(at < np.reshape(q_lengths, (-1, 1, 1, 1, 1)))
    if kv_lengths is not None:
        parts.append(to < np.reshape(kv_lengths, (-1, 1, 1, 1, 1)))
    counts = None
    for part in parts:
        counts = part if counts is None else counts & part
    return counts
