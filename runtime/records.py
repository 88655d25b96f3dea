"""One entry along an axis of a buffer: reading it and writing it, at an index known only later."""

from __future__ import annotations

from typing import Any

from overt.runtime.aval import Aval
from overt.runtime.primitive import Primitive

__all__ = ["read_record", "write_record"]


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _starts(i: Any, ndim: int, axis: int) -> list[Any]:
    return [i if k == axis else 0 for k in range(ndim)]


def _lower_read(b: Any, buffer: Any, i: Any, *, avals: Any, out: Any, axis: int) -> Any:
    shape = avals[0].shape
    sizes = [1 if k == axis else n for k, n in enumerate(shape)]
    found = b.dynamic_slice(buffer, _starts(i, len(shape), axis), sizes)
    return b.reshape(found, out.shape)


def _lower_write(
    b: Any, buffer: Any, record: Any, i: Any, *, avals: Any, out: Any, axis: int
) -> Any:
    shape = avals[0].shape
    update = b.reshape(
        b.convert(record, out.dtype), [1 if k == axis else n for k, n in enumerate(shape)]
    )
    return b.dynamic_update_slice(buffer, update, _starts(i, len(shape), axis))


def _written_aval(buffer: Aval, record: Aval, i: Aval, *, axis: int) -> Aval:
    if _without(buffer.shape, axis) != record.shape:
        raise TypeError(f"a record of {record} does not fit into a buffer of {buffer}")
    return buffer


def _batch_read(values: Any, axes: Any, size: int, *, axis: int) -> Any:
    buffer, i = values
    if axes[1] is None:
        return read_record(buffer, i, axis=axis + 1), 0
    buffer = buffer if axes[0] == 0 else np.broadcast_to(buffer, (size, *buffer.shape))
    # Another index in every lane: one row of each lane's buffer.
    moved = np.moveaxis(buffer, axis + 1, 1)
    lanes = np.arange(size)
    return moved[lanes, np.clip(i, 0, moved.shape[1] - 1)], 0


def _batch_write(values: Any, axes: Any, size: int, *, axis: int) -> Any:
    buffer, record, i = values
    if axes[0] is None:
        buffer = np.broadcast_to(buffer, (size, *buffer.shape))
    if axes[1] is None:
        record = np.broadcast_to(record, (size, *record.shape))
    if axes[2] is None:
        return write_record(buffer, record, i, axis=axis + 1), 0
    places = np.arange(buffer.shape[axis + 1])
    hit = np.reshape(i, (size, 1)) == places
    hit = np.reshape(hit, (size, *(1,) * axis, len(places), *(1,) * (record.ndim - 1 - axis)))
    return np.where(hit, np.expand_dims(record, axis + 1), buffer), 0


read_record = Primitive(
    "read_record",
    shape=lambda buffer, i, *, axis: Aval(_without(buffer.shape, axis), buffer.dtype, buffer.weak),
    lower=_lower_read,
    arrays=("buffer", "i"),
    vjp=(
        lambda g, out, buffer, i, *, axis: write_record(np.zeros_like(buffer), g, i, axis=axis),
        None,
    ),
    jvp=lambda dots, out, buffer, i, *, axis: read_record(dots[0], i, axis=axis),
    batch=_batch_read,
    doc="Entry `i` of a buffer along `axis`; an index outside reads the nearest entry.",
)

write_record = Primitive(
    "write_record",
    shape=_written_aval,
    lower=_lower_write,
    arrays=("buffer", "record", "i"),
    vjp=(
        lambda g, out, buffer, record, i, *, axis: write_record(
            g, np.zeros_like(record), i, axis=axis
        ),
        lambda g, out, buffer, record, i, *, axis: read_record(g, i, axis=axis),
        None,
    ),
    jvp=lambda dots, out, buffer, record, i, *, axis: write_record(dots[0], dots[1], i, axis=axis),
    batch=_batch_write,
    doc="A buffer with entry `i` along `axis` replaced.",
)

import overt.runtime.numpy as np  # noqa: E402
