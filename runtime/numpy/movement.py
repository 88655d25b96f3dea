"""The primitives that move elements without computing on them.

Each is linear, so its tangent is itself, and each carries its transpose as a readable rule.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.primitive import Primitive, Rule

__all__ = [
    "broadcast_in",
    "join",
    "pad_with",
    "permute",
    "reshape_to",
    "reverse",
    "unbroadcast",
    "unpad",
]


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of an array, a NumPy value, a number or a list of them, without converting arrays."""
    shape = getattr(x, "shape", None)
    if shape is not None:
        return tuple(shape)
    if isinstance(x, (list, tuple)):
        for part in x:
            if not isinstance(part, (int, float)):
                return (len(x), *shape_of(part))
    return numpy.shape(x)


def retyped(x: Aval, shape: Sequence[int]) -> Aval:
    """Aval of a result with another shape and the dtype of `x`."""
    return Aval(tuple(shape), x.dtype, x.weak)


def normal_axis(axis: Any, ndim: int) -> int:
    """Axis counted from the front. Errors: numpy's AxisError where it is out of range."""
    axis = int(axis)
    if not -ndim <= axis < ndim:
        raise numpy.exceptions.AxisError(axis, ndim)
    return axis % ndim


def normal_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front; a single number becomes a tuple of one."""
    if getattr(axes, "ndim", 0) == 1:
        axes = axes.tolist()
    if not isinstance(axes, (tuple, list, range)):
        axes = (axes,)
    result = tuple(normal_axis(axis, ndim) for axis in axes)
    if len(set(result)) != len(result):
        raise ValueError("repeated axis")
    return result


def known_integers(x: Any) -> Any:
    """An integer, or a tuple of them, where `x` is that in Python or NumPy; None otherwise."""
    if isinstance(x, (int, numpy.integer)):
        return int(x)
    if isinstance(x, numpy.ndarray) and x.dtype.kind in "iu" and x.ndim < 2:
        return tuple(x.tolist()) if x.ndim else int(x)
    if isinstance(x, (tuple, list)) and all(isinstance(n, (int, numpy.integer)) for n in x):
        return tuple(int(n) for n in x)
    return None


def with_rule(
    arrays: tuple[str, ...],
    vjp: Any = None,
    jvp: Any = None,
    linear: bool = False,
    written: Any = None,
) -> Callable[[Callable], Callable]:
    """Give a plain function the derivative rule that source passes look up."""

    def decorate(fn: Callable) -> Callable:
        fn.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
        zero = vjp is None and jvp is None
        fn.rule = Rule(fn.__name__, arrays, False, linear, vjp, jvp, zero, written)  # type: ignore[attr-defined]
        return fn

    return decorate


# reshape ------------------------------------------------------------------------------------------


def _batch_reshape(values: Any, axes: Any, size: int, *, shape: tuple[int, ...]) -> Any:
    return reshape_to(values[0], shape=(size, *shape)), 0


def _reshape_aval(x: Aval, *, shape: tuple[int, ...]) -> Aval:
    if math.prod(shape) != math.prod(x.shape):
        raise ValueError(f"cannot reshape array of shape {x.shape} into shape {shape}")
    return retyped(x, shape)


reshape_to = Primitive(
    "reshape_to",
    shape=_reshape_aval,
    lower=lambda b, x, *, avals, out, shape: b.reshape(x, shape),
    linear=True,
    vjp=(lambda g, out, x, *, shape: np.reshape(g, np.shape(x)),),
    batch=_batch_reshape,
    doc="The same elements in row-major order under another shape.",
)


# permute ------------------------------------------------------------------------------------------


def _batch_permute(values: Any, batch_axes: Any, size: int, *, axes: tuple[int, ...]) -> Any:
    return permute(values[0], axes=(0, *(axis + 1 for axis in axes))), 0


permute = Primitive(
    "permute",
    shape=lambda x, *, axes: retyped(x, [x.shape[axis] for axis in axes]),
    lower=lambda b, x, *, avals, out, axes: b.transpose(x, axes),
    linear=True,
    vjp=(lambda g, out, x, *, axes: np.transpose(g, np.argsort(axes)),),
    batch=_batch_permute,
    doc="Axes in another order.",
)


# broadcast ----------------------------------------------------------------------------------------


def _batch_broadcast(values: Any, batch_axes: Any, size: int, *, shape: Any, axes: Any) -> Any:
    return broadcast_in(values[0], shape=(size, *shape), axes=(0, *(a + 1 for a in axes))), 0


def _lower_broadcast(b: Any, x: Any, *, avals: Any, out: Any, shape: Any, axes: Any) -> Any:
    return b.broadcast_in_dim(x, shape, axes)


def unbroadcast(g: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Transpose of `broadcast_in`: sums `g` over every axis along which elements were repeated."""
    kept = [axis for axis, n in zip(axes, shape, strict=True) if n == g.shape[axis]]
    repeated = tuple(axis for axis in range(len(g.shape)) if axis not in kept)
    return np.reshape(np.sum(g, axis=repeated), shape) if repeated else np.reshape(g, shape)


broadcast_in = Primitive(
    "broadcast_in",
    shape=lambda x, *, shape, axes: retyped(x, shape),
    lower=_lower_broadcast,
    linear=True,
    vjp=(lambda g, out, x, *, shape, axes: unbroadcast(g, np.shape(x), axes),),
    batch=_batch_broadcast,
    doc="Axis k of the operand becomes axis `axes[k]` of the result; the rest is repeated.",
)


# reverse ------------------------------------------------------------------------------------------


def _batch_reverse(values: Any, batch_axes: Any, size: int, *, axes: tuple[int, ...]) -> Any:
    return reverse(values[0], axes=tuple(axis + 1 for axis in axes)), 0


reverse = Primitive(
    "reverse",
    shape=lambda x, *, axes: retyped(x, x.shape),
    lower=lambda b, x, *, avals, out, axes: b.reverse(x, axes),
    linear=True,
    vjp=(lambda g, out, x, *, axes: np.flip(g, axes),),
    batch=_batch_reverse,
    doc="Elements in the opposite order along some axes.",
)


# pad ----------------------------------------------------------------------------------------------


def _pad_aval(x: Aval, fill: Aval, *, low: Any, high: Any, interior: Any) -> Aval:
    shape = [
        lo + hi + n + (max(n - 1, 0) * inner if inner else 0)
        for n, lo, hi, inner in zip(x.shape, low, high, interior, strict=True)
    ]
    if any(n < 0 for n in shape):
        raise ValueError(f"padding {low}, {high} removes more than shape {x.shape} has")
    return retyped(x, shape)


def _lower_pad(
    b: Any, x: Any, fill: Any, *, avals: Any, out: Any, low: Any, high: Any, interior: Any
) -> Any:
    return b.pad(x, b.convert(fill, out.dtype), low, high, interior)


def _batch_pad(values: Any, axes: Any, size: int, *, low: Any, high: Any, interior: Any) -> Any:
    x, fill = values
    low, high, interior = (0, *low), (0, *high), (0, *interior)
    if axes[1] is None:
        return pad_with(x, fill, low=low, high=high, interior=interior), 0
    if axes[0] is None:
        x = broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
    # a fill of its own for every lane: pad once with a marker, then choose
    inside = pad_with(np.ones(x.shape, bool), False, low=low, high=high, interior=interior)
    padded = pad_with(x, np.zeros((), x.dtype), low=low, high=high, interior=interior)
    return np.where(inside, padded, np.reshape(fill, (size,) + (1,) * (x.ndim - 1))), 0


def unpad(g: Any, low: Any, high: Any, interior: Any) -> Any:
    """Transpose of `pad_with`: what `g` has at the places of the padded operand."""
    if min((*low, *high), default=0) < 0:  # cut-off elements come back as zeros
        lows, highs = [max(-n, 0) for n in low], [max(-n, 0) for n in high]
        g = pad_with(
            g, np.zeros((), g.dtype), low=tuple(lows), high=tuple(highs), interior=(0,) * len(lows)
        )
    return g[
        tuple(
            slice(max(lo, 0), n - max(hi, 0), inner + 1)
            for n, lo, hi, inner in zip(g.shape, low, high, interior, strict=True)
        )
    ]


pad_with = Primitive(
    "pad_with",
    shape=_pad_aval,
    lower=_lower_pad,
    linear=True,
    vjp=(
        lambda g, out, x, fill, *, low, high, interior: unpad(g, low, high, interior),
        lambda g, out, x, fill, *, low, high, interior: (
            np.sum(g) - np.sum(unpad(g, low, high, interior))
        ),
    ),
    batch=_batch_pad,
    doc="`fill` before, after and between the elements; a negative count cuts elements off.",
)


# join ---------------------------------------------------------------------------------------------


def _join_aval(*xs: Aval, axis: int) -> Aval:
    first = xs[0]
    for x in xs[1:]:
        if len(x.shape) != len(first.shape) or any(
            n != m for k, (n, m) in enumerate(zip(x.shape, first.shape, strict=True)) if k != axis
        ):
            raise ValueError(
                f"cannot concatenate shapes {first.shape} and {x.shape} along axis {axis}: "
                "all other axes must agree"
            )
    dtype, weak = dtypes.result_kind(*((x.dtype, x.weak) for x in xs))
    length = sum(x.shape[axis] for x in xs)
    return Aval((*first.shape[:axis], length, *first.shape[axis + 1 :]), dtype, weak)


def _lower_join(b: Any, *xs: Any, avals: Any, out: Any, axis: int) -> Any:
    return b.concatenate([b.convert(x, out.dtype) for x in xs], axis)


def _batch_join(values: Any, axes: Any, size: int, *, axis: int) -> Any:
    spread = [
        x if at == 0 else broadcast_in(x, shape=(size, *x.shape), axes=tuple(range(1, x.ndim + 1)))
        for x, at in zip(values, axes, strict=True)
    ]
    return join(*spread, axis=axis + 1), 0


def pieces_of(g: Any, like: Sequence[Any], axis: int) -> list[Any]:
    """Transpose of `join`: the piece of `g` that belongs to each of `like`."""
    lengths = [x.shape[axis] for x in like]
    ends = list(itertools.accumulate(lengths))
    if not any(hasattr(n, "symbolic") for n in lengths):
        return np.split(g, ends[:-1], axis)
    parts = [slice(end - n, end) for n, end in zip(lengths, ends, strict=True)]
    return [g[(slice(None),) * axis + (part,)] for part in parts]


join = Primitive(
    "join",
    arrays=("xs",),
    shape=_join_aval,
    lower=_lower_join,
    linear=True,
    vjp=lambda g, out, *xs, axis: pieces_of(g, xs, axis),
    batch=_batch_join,
    doc="Arrays one after the other along an axis.",
)

import overt.runtime.numpy as np  # noqa: E402
