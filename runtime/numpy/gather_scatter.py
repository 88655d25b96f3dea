"""Reading and writing the places of an array that index arrays name.

The arrays in `indices` belong to the axes `axes`, broadcast together, and their common axes stand
at position `at` among the axes that remain.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.numpy.movement import broadcast_in, retyped, shape_of
from overt.runtime.numpy.static_parts import check_fits, lanes_first, pick, store
from overt.runtime.primitive import Primitive, broadcast_shapes

__all__ = ["gather", "pick", "scatter", "store"]


def index_shape(indices: Any) -> tuple[int, ...]:
    """Common shape of index arrays."""
    try:
        return broadcast_shapes(*map(shape_of, indices), name="indexing")
    except ValueError:
        listed = ", ".join(str(shape_of(i)) for i in indices)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together: {listed}"
        ) from None


def gathered_shape(x: Any, indices: Any, axes: tuple[int, ...], at: int) -> tuple[int, ...]:
    """Shape of `gather(x, *indices)`."""
    rest = [n for k, n in enumerate(x.shape) if k not in axes]
    return (*rest[:at], *index_shape(indices), *rest[at:])


def starts_of(b: Any, index: Any, n: int, wrap: bool, mode: str) -> Any:
    """An index array as int32 (int64 for huge axes), negative ones counted from the end."""
    dtype = b.dtype(index)
    wide = numpy.int64 if n > 2**31 - 1 else numpy.int32
    if numpy.dtype(dtype).itemsize < numpy.dtype(wide).itemsize or dtype == numpy.uint32:
        index, dtype = b.convert(index, wide), wide

    def same(number: int) -> Any:
        return b.full(b.shape(index), number, dtype)

    if wrap and numpy.dtype(dtype).kind == "i":
        negative = b.compare("LT", index, same(0))
        index = b.select(negative, b.binary("add", index, same(n)), index)
    if mode == "clip":
        index = b.binary("minimum", index, same(max(n - 1, 0)))
        index = b.binary("maximum", index, same(0))
    elif numpy.dtype(dtype).itemsize > numpy.dtype(wide).itemsize:
        index = b.binary("minimum", b.binary("maximum", index, same(-1)), same(n))
    return b.convert(index, wide)


def _in_range(b: Any, index: Any, n: int) -> Any:
    dtype, shape = b.dtype(index), b.shape(index)
    low = b.compare("GE", index, b.full(shape, 0, dtype))
    return b.binary("and", low, b.compare("LT", index, b.full(shape, n, dtype)))


def all_in_range(b: Any, starts: list[Any], x: Aval, axes: tuple[int, ...], shape: Any = ()) -> Any:
    inside = None
    for index, axis in zip(starts, axes, strict=True):
        now = b.broadcast_to(_in_range(b, index, x.shape[axis]), shape)
        inside = now if inside is None else b.binary("and", inside, now)
    return inside


def _stacked(b: Any, starts: list[Any], shape: tuple[int, ...]) -> Any:
    """Index arrays side by side on a last axis."""
    columns = [b.reshape(b.broadcast_to(index, shape), (*shape, 1)) for index in starts]
    return b.concatenate(columns, len(shape)) if len(columns) > 1 else columns[0]


def corner_of(
    b: Any, starts: list[Any], axes: tuple[int, ...], rank: int, shape: Any = None
) -> Any:
    """Start indices of a dynamic slice; with `shape`, kept in range."""
    zero = b.constant(0, b.dtype(starts[0]))
    corner = [zero] * rank
    for index, axis in zip(starts, axes, strict=True):
        if shape is not None:
            low, high = zero, b.constant(max(shape[axis] - 1, 0), b.dtype(index))
            index = b.binary("maximum", b.binary("minimum", index, high), low)
        corner[axis] = index
    return corner


def fill_value_for(dtype: Any, fill: Any) -> Any:
    """What an out-of-range read gives: NaN, the largest unsigned or the smallest signed integer."""
    if fill is not None:
        return fill
    kind = "f" if dtypes.is_float(dtype) else numpy.dtype(dtype).kind
    if kind in "fc":
        return numpy.nan
    if kind == "b":
        return True
    return numpy.iinfo(dtype).max if kind == "u" else numpy.iinfo(dtype).min


def _lower_gather(
    b: Any, x: Any, *indices: Any, avals: Any, out: Aval, axes: Any, at: int, mode: str,
    wrap: bool, fill: Any, sorted: bool, unique: bool,
) -> Any:  # fmt: skip
    operand = avals[0]
    shape = index_shape(avals[1:])
    if 0 in out.shape:
        return b.full(out.shape, 0, out.dtype)
    starts = [
        starts_of(b, index, operand.shape[axis], wrap, mode)
        for index, axis in zip(indices, axes, strict=True)
    ]
    sizes = [1 if k in axes else n for k, n in enumerate(operand.shape)]
    if not shape:
        corner = corner_of(b, starts, axes, len(sizes))
        result = b.reshape(b.dynamic_slice(x, corner, sizes), out.shape)
    else:
        places = range(at, at + len(shape))
        result = b.gather(
            x,
            _stacked(b, starts, shape),
            offset_dims=[k for k in range(len(out.shape)) if k not in places],
            collapsed_slice_dims=list(axes),
            start_index_map=list(axes),
            index_vector_dim=len(shape),
            out_shape=out.shape,
            slice_sizes=sizes,
            indices_are_sorted=sorted,
        )
    if mode == "fill":
        inside = all_in_range(b, starts, operand, axes, shape)
        inside = b.broadcast_in_dim(inside, out.shape, list(range(at, at + len(shape))))
        blank = b.full(out.shape, fill_value_for(out.dtype, fill), out.dtype)
        result = b.select(inside, result, blank)
    return result


def _aligned(indices: Any, axes: Any) -> list[Any]:
    """Batched index arrays with axes of length 1 after the batch, to one common rank."""
    rank = max(
        (len(shape_of(i)) - (a is not None) for i, a in zip(indices, axes, strict=True)), default=0
    )
    return [i if a is None else lanes_first(i, rank) for i, a in zip(indices, axes, strict=True)]


def _lane_numbers(size: int, rank: int) -> Any:
    return np.reshape(np.arange(size, dtype=np.int32), (size,) + (1,) * rank)


def _batch_gather(values: Any, batch: Any, size: int, *, axes: Any, at: int, **params: Any) -> Any:
    x, *indices = values
    shifted = tuple(axis + 1 for axis in axes)
    if all(a is None for a in batch[1:]):
        return gather(x, *indices, axes=shifted, at=at + 1, **params), 0
    indices = _aligned(indices, batch[1:])
    if batch[0] is None:
        return np.moveaxis(gather(x, *indices, axes=axes, at=at, **params), at, 0), 0
    rank = len(index_shape(indices)) - 1
    lanes = _lane_numbers(size, rank)
    result = gather(x, lanes, *indices, axes=(0, *shifted), at=0, **params)
    places = list(range(1, rank + 1))
    return np.moveaxis(result, places, [at + k for k in places]), 0


def _gather_aval(x: Aval, *indices: Aval, axes: Any, at: int, **params: Any) -> Aval:
    return retyped(x, gathered_shape(x, indices, axes, at))


gather = Primitive(
    "gather",
    arrays=("x", "indices"),
    shape=_gather_aval,
    lower=_lower_gather,
    jvp=lambda dots, out, x, *indices, **how: gather(
        dots[0], *indices, fill=0, **without(how, "fill")
    ),
    vjp=lambda g, out, x, *indices, **how: [
        scatter(np.zeros_like(x), g, *indices, combine="add", **without(how, "fill")),
        *[None] * len(indices),
    ],
    batch=_batch_gather,
    doc="The elements, or slices, at the places that index arrays name.",
)


def without(params: dict[str, Any], *names: str) -> dict[str, Any]:
    """Parameters less some of them."""
    return {name: value for name, value in params.items() if name not in names}


# writing ------------------------------------------------------------------------------------------

COMBINE = {"add": "add", "multiply": "multiply", "min": "minimum", "max": "maximum"}


def _lower_scatter(
    b: Any, x: Any, v: Any, *indices: Any, avals: Any, out: Aval, axes: Any, at: int, mode: str,
    wrap: bool, sorted: bool, unique: bool, combine: str,
) -> Any:  # fmt: skip
    shape = index_shape(avals[2:])
    whole = gathered_shape(out, avals[2:], axes, at)
    if 0 in whole or 0 in out.shape:
        return x
    v = b.broadcast_to(b.convert(v, out.dtype), whole)
    starts = [
        starts_of(b, index, out.shape[axis], wrap, mode)
        for index, axis in zip(indices, axes, strict=True)
    ]
    if not shape:
        return _store_slice(b, x, v, starts, out, axes, mode, combine)
    places = range(at, at + len(shape))
    return b.scatter(
        x,
        _stacked(b, starts, shape),
        v,
        update=COMBINE.get(combine),
        update_window_dims=[k for k in range(len(whole)) if k not in places],
        inserted_window_dims=list(axes),
        scattered_dims_to_operand_dims=list(axes),
        index_vector_dim=len(shape),
        indices_are_sorted=sorted,
        unique_indices=unique,
    )


def _store_slice(
    b: Any, x: Any, v: Any, starts: list[Any], out: Aval, axes: Any, mode: str, combine: str
) -> Any:
    """One store at a scalar index: a dynamic-update-slice, which runs in place inside loops."""
    sizes = [1 if k in axes else n for k, n in enumerate(out.shape)]
    v = b.reshape(v, sizes)
    corner = corner_of(b, starts, axes, len(sizes), out.shape)
    checked = mode not in ("promise", "clip")
    if combine != "set" or checked:
        old = b.dynamic_slice(x, corner, sizes)
    if combine != "set":
        v = b.binary(_combining(combine, out.dtype), old, v)
    if checked:
        inside = b.broadcast_in_dim(all_in_range(b, starts, out, axes), sizes, [])
        v = b.select(inside, v, old)
    return b.dynamic_update_slice(x, v, corner)


def _combining(combine: str, dtype: Any) -> str:
    if numpy.dtype(dtype).kind == "b":
        return {"add": "or", "multiply": "and", "min": "and", "max": "or"}[combine]
    return COMBINE[combine]


def _scatter_aval(x: Aval, v: Aval, *indices: Aval, axes: Any, at: int, **params: Any) -> Aval:
    check_fits(v.shape, gathered_shape(x, indices, axes, at))
    return x


def _batch_scatter(values: Any, batch: Any, size: int, *, axes: Any, at: int, **params: Any) -> Any:
    x, v, *indices = values
    rest = x.ndim - (0 if batch[0] is None else 1) - len(axes)
    if batch[0] is None:
        x = broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
    shifted = tuple(axis + 1 for axis in axes)
    if all(a is None for a in batch[2:]):
        if batch[1] is not None:
            v = lanes_first(v, rest + len(index_shape(indices)))
        return scatter(x, v, *indices, axes=shifted, at=at + 1, **params), 0
    indices = _aligned(indices, batch[2:])
    rank = len(index_shape(indices)) - 1
    v = lanes_first(v if batch[1] is not None else v[None], rest + rank)
    places = list(range(1, rank + 1))
    v = np.moveaxis(v, [at + k for k in places], places)
    return scatter(x, v, _lane_numbers(size, rank), *indices, axes=(0, *shifted), at=0, **params), 0


scatter = Primitive(
    "scatter",
    arrays=("x", "v", "indices"),
    shape=_scatter_aval,
    lower=_lower_scatter,
    jvp=lambda dots, out, x, v, *indices, **how: scatter_jvp(dots, out, x, v, *indices, **how),
    vjp=lambda g, out, x, v, *indices, **how: scatter_vjp(g, out, x, v, *indices, **how),
    batch=_batch_scatter,
    doc="An array with values stored at, or combined into, the places that index arrays name.",
)


def read_like(how: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the gather that reads, or gives zero, where a scatter with `how` writes."""
    mode = how["mode"] if how["mode"] in ("promise", "clip") else "fill"
    return {**without(how, "combine"), "mode": mode, "fill": 0}


def last_writes(x: Any, whole: Any, indices: Any, how: dict[str, Any]) -> Any:
    """Which elements of the stored value survive where an index occurs more than once."""
    order = np.reshape(np.arange(math.prod(whole), dtype=np.int32), whole)
    last = scatter(np.full(x.shape, -1, np.int32), order, *indices, **{**how, "combine": "max"})
    return gather(last, *indices, **{**read_like(how), "fill": -1}) == order


def scatter_vjp(g: Any, out: Any, x: Any, v: Any, *indices: Any, **how: Any) -> list[Any]:
    """Cotangents of a scatter's operands, for every way of combining."""
    combine, zeros = how["combine"], [None] * len(indices)
    read = read_like(how)
    if combine == "add":
        return [g, sum_to(gather(g, *indices, **read), v), *zeros]
    if combine == "set":
        v_bar = gather(g, *indices, **read)
        if not how["unique"] and index_shape(indices):
            v_bar = np.where(last_writes(x, v_bar.shape, indices, how), v_bar, 0)
        return [scatter(g, 0, *indices, **how), sum_to(v_bar, v), *zeros]
    if combine == "multiply":
        # the product of all other factors, also where some are zero
        whole = gathered_shape(x, indices, how["axes"], how["at"])
        nonzero = np.where(v == 0, 1, v)
        product = scatter(x, nonzero, *indices, **how)
        count = {**how, "combine": "add"}
        factor_zeros = scatter(
            np.zeros(x.shape, np.int32), np.asarray(v == 0, np.int32), *indices, **count
        )
        others = np.broadcast_to(np.where(v == 0, 1, 0), whole)
        alone = gather(factor_zeros, *indices, **read) == others
        v_bar = np.where(alone, gather(g * product, *indices, **read) / nonzero, 0)
        x_bar = scatter(g, v, *indices, **how)
        return [x_bar, sum_to(v_bar, v), *zeros]
    kept, won, ties = extremum_shares(out, x, v, indices, how)
    return [g * kept / ties, sum_to(gather(g / ties, *indices, **read) * won, v), *zeros]


def extremum_shares(out: Any, x: Any, v: Any, indices: Any, how: dict[str, Any]) -> Any:
    """Where the old element, and the stored one, is the extremum, and how many share it."""
    kept = np.asarray(x == out, x.dtype)
    won = np.asarray(gather(out, *indices, **read_like(how)) == v, x.dtype)
    return kept, won, scatter(kept, won, *indices, **{**how, "combine": "add"})


def scatter_jvp(dots: Any, out: Any, x: Any, v: Any, *indices: Any, **how: Any) -> Any:
    """Tangent of a scatter, for every way of combining."""
    combine = how["combine"]
    # no tangent: an integer
    v_dot = 0 if dots[1] is None else dots[1]
    x_dot = np.zeros(x.shape, dots[1].dtype) if dots[0] is None else dots[0]
    if combine in ("add", "set"):
        return scatter(x_dot, v_dot, *indices, **how)
    added = {**how, "combine": "add"}
    if combine == "multiply":
        _, v_share, *_ = scatter_vjp(np.ones_like(out), out, x, np.broadcast_to(
            v, gathered_shape(x, indices, how["axes"], how["at"])), *indices, **how)  # fmt: skip
        return scatter(scatter(x_dot, v, *indices, **how), v_share * v_dot, *indices, **added)
    kept, won, ties = extremum_shares(out, x, v, indices, how)
    return scatter(kept * x_dot, won * v_dot, *indices, **added) / ties


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime import dtypes  # noqa: E402
from overt.runtime.derivatives import sum_to  # noqa: E402
