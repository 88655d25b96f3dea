"""Calls of LAPACK's routines on CPU and cuSolver's on GPU: names, layouts, failures, batches."""

from __future__ import annotations

from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.numpy.movement import broadcast_in

__all__ = [
    "LETTER",
    "batched_in_front",
    "nan_unless",
    "on_gpu",
    "only_on_cpu",
    "solver_call",
    "square",
    "succeeded",
]

LETTER = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def square(a: Aval, name: str) -> int:
    """Errors: ValueError unless the last two axes are equally long."""
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"{name} needs square matrices in the last two axes, got shape {a.shape}")
    if a.dtype.name not in LETTER:
        raise TypeError(f"{name} does not take {a.dtype}; convert to float32 or float64 first")
    return a.shape[-1]


def matrix_layout(ndim: int) -> tuple[int, ...]:
    """Column-major in the last two axes, as Fortran libraries want it; minor axis first."""
    return (ndim - 2, ndim - 1, *reversed(range(ndim - 2)))


def plain_layout(ndim: int) -> tuple[int, ...]:
    return tuple(reversed(range(ndim)))


def layout(shape: tuple[int, ...], matrices: int) -> tuple[int, ...]:
    """Layout of an array that has `matrices` axes beyond the batch."""
    return matrix_layout(len(shape)) if matrices == 2 else plain_layout(len(shape))


def solver_call(
    b: Any, name: str, operands: list[Any], out: list[tuple[Any, Any, int]],
    attributes: dict[str, Any], ranks: list[int], aliases: dict[int, int] | None = None,
) -> list[Any]:  # fmt: skip
    """Call a routine; results are (shape, dtype, axes beyond the batch).

    The first result takes the first operand's place unless `aliases` says otherwise.
    """
    if b.platform == "tpu":
        only_on_cpu(b, name)
    return b.custom_call(
        name,
        operands,
        [(tuple(shape), dtype) for shape, dtype, _ in out],
        attributes,
        [layout(b.shape(x), rank) for x, rank in zip(operands, ranks, strict=True)],
        [layout(tuple(shape), rank) for shape, _, rank in out],
        aliases={0: 0} if aliases is None else aliases,
    )


def on_gpu(b: Any) -> bool:
    return b.platform in ("gpu", "cuda", "rocm")


def only_on_cpu(b: Any, name: str) -> None:
    """Refuse a routine that LAPACK alone has."""
    if b.platform != "cpu":
        raise NotImplementedError(
            f"{name} has no routine on {b.platform}; compute it on the CPU: "
            'with overt.default_device(overt.devices("cpu")[0])'
        )


def nan_unless(b: Any, good: Any, value: Any) -> Any:
    """NaN in every batch element whose routine failed."""
    shape, dtype = b.shape(value), b.dtype(value)
    spread = b.broadcast_in_dim(good, shape, range(len(b.shape(good))))
    return b.select(spread, value, b.full(shape, numpy.nan, dtype))


def succeeded(b: Any, info: Any, direction: str = "EQ") -> Any:
    return b.compare(direction, info, b.full(b.shape(info), 0, numpy.int32))


def batched_in_front(primitive: Any) -> Any:
    """Batching rule of a routine that takes any batch axes in front."""

    def rule(values: Any, axes: Any, size: int, **how: Any) -> Any:
        values = [
            x
            if at == 0
            else broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
            for x, at in zip(values, axes, strict=True)
        ]
        result = primitive()(*values, **how)
        return result, ([0] * len(result) if isinstance(result, tuple) else 0)

    return rule
