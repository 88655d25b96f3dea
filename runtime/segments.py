"""Sums, products and extremes of the rows of an array that belong to the same segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.errors import StagingError
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.index_plan import wide_index
from overt.runtime.staging import is_known

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _reduction(name: str, update: str, doc: str) -> Callable[..., Any]:
    def segments(
        data: Any,
        segment_ids: Any,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
        out_sharding: Any = None,
    ) -> Any:
        if out_sharding is not None:
            raise NotImplementedError(f"{name} does not take out_sharding; leave it None")
        if num_segments is None:
            num_segments = _count(name, segment_ids)
        elif num_segments < 0:
            raise ValueError(f"{name}: num_segments must not be negative, got {num_segments}")
        return _reduced(
            data, segment_ids, update, int(num_segments), indices_are_sorted, unique_indices,
            bucket_size, mode,
        )  # fmt: skip

    segments.__name__ = segments.__qualname__ = name
    segments.__doc__ = doc
    return segments


def _count(name: str, segment_ids: Any) -> int:
    ids = np.asarray(segment_ids)
    if not is_known(ids):
        raise StagingError(
            f"{name} needs to know how many segments there are, but segment_ids are unknown while "
            "a program is staged or batched; give num_segments="
        )
    return int(np.max(ids)) + 1 if ids.size else 0


@array_function(arrays=("data", "segment_ids"))
def _reduced(
    data: Any, segment_ids: Any, update: str, num_segments: int, indices_are_sorted: bool,
    unique_indices: bool, bucket_size: int | None, mode: Any,
) -> Any:  # fmt: skip
    data, ids = np.asarray(data), np.asarray(segment_ids)
    if not dtypes.is_integer(ids.dtype):
        raise TypeError(f"segment_ids must be integers, got {ids.dtype}")
    if ids.shape != data.shape[:1]:
        raise ValueError(
            f"segment_ids need one number for each row of data; their shapes are {ids.shape} and "
            f"{data.shape}"
        )
    if dtypes.is_bool(data.dtype) and update in ("add", "multiply"):
        raise TypeError("segments of booleans have no sum or product; convert with astype(int)")
    ids = np.where(
        ids < 0, num_segments, wide_index(ids)
    )  # negative ones are outside, as is the first after
    if bucket_size is None:
        pieces = [(data, ids)]
    else:
        starts = range(0, data.shape[0], bucket_size)
        pieces = [(data[i : i + bucket_size], ids[i : i + bucket_size]) for i in starts]
    start = np.full((num_segments, *data.shape[1:]), _neutral(update, data.dtype), data.dtype)
    made = [
        getattr(start.at[place], update)(
            rows, mode=mode, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices
        )
        for rows, place in pieces
    ]
    if len(made) == 1:
        return made[0]
    together = {"add": np.sum, "multiply": np.prod, "min": np.min, "max": np.max}[update]
    return together(np.stack(made), 0).astype(data.dtype) if made else start


def _neutral(update: str, dtype: Any) -> Any:
    if update in ("add", "multiply"):
        return int(update == "multiply")
    if dtypes.is_bool(dtype):
        return update == "min"
    if dtypes.is_inexact(dtype):
        return float("inf" if update == "min" else "-inf")
    info = dtypes.iinfo(dtype)
    return int(info.max if update == "min" else info.min)


segment_sum = _reduction("segment_sum", "add",
    """The sum of the rows of `data` in each segment; 0 where there are none.

    Shapes: `data` (n, ...), `segment_ids` (n,), the result (num_segments, ...), where num_segments
    is the greatest id plus one unless given. Rows whose id is outside are left out.

    Errors: StagingError for unknown ids without `num_segments`.

    >>> from overt import ops
    >>> print(ops.segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2])))
    [3. 0. 4.]
    """)  # fmt: skip

segment_prod = _reduction("segment_prod", "multiply",
    """The product of the rows of `data` in each segment; 1 where there are none.

    >>> from overt import ops
    >>> print(ops.segment_prod(np.array([3.0, 2.0, 4.0]), np.array([0, 0, 2])))
    [6. 1. 4.]
    """)  # fmt: skip

segment_max = _reduction("segment_max", "max",
    """The greatest of the rows of `data` in each segment; the dtype's least where there are none.

    >>> from overt import ops
    >>> print(ops.segment_max(np.array([3.0, 2.0, 4.0]), np.array([0, 0, 2])))
    [  3. -inf   4.]
    """)  # fmt: skip

segment_min = _reduction("segment_min", "min",
    """The least of the rows of `data` in each segment; the dtype's greatest where there are none.

    >>> from overt import ops
    >>> print(ops.segment_min(np.array([3.0, 2.0, 4.0]), np.array([0, 0, 2])))
    [ 2. inf  4.]
    """)  # fmt: skip
