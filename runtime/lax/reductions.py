"""Reductions of `lax`: over named axes, with any associative function, and over windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.lax.shapes import pad
from overt.runtime.lax.slicing import slice as slice_
from overt.runtime.tree import tree_flatten, tree_unflatten


def reduce_sum(operand: Any, axes: Any) -> Any:
    """Sum over axes.

    >>> print(reduce_sum(np.array([[1, 2], [4, 3]]), (1,)))
    [3 7]
    """
    return np.sum(operand, tuple(axes), np.result_type(operand))


def reduce_prod(operand: Any, axes: Any) -> Any:
    """Product over axes.

    >>> print(reduce_prod(np.array([[1, 2], [4, 3]]), (1,)))
    [ 2 12]
    """
    return np.prod(operand, tuple(axes), np.result_type(operand))


def reduce_max(operand: Any, axes: Any) -> Any:
    """The largest element over axes.

    >>> print(reduce_max(np.array([[1, 2], [4, 3]]), (1,)))
    [2 4]
    """
    return np.max(operand, tuple(axes))


def reduce_min(operand: Any, axes: Any) -> Any:
    """The smallest element over axes.

    >>> print(reduce_min(np.array([[1, 2], [4, 3]]), (1,)))
    [1 3]
    """
    return np.min(operand, tuple(axes))


def reduce_and(operand: Any, axes: Any) -> Any:
    """Bitwise `and` over axes.

    >>> print(reduce_and(np.array([[True, False], [True, True]]), (1,)))
    [False  True]
    """
    return reduce(operand, np.invert(np.zeros((), np.result_type(operand))), np.bitwise_and, axes)


def reduce_or(operand: Any, axes: Any) -> Any:
    """Bitwise `or` over axes.

    >>> print(reduce_or(np.array([[4, 1], [2, 2]]), (1,)))
    [5 2]
    """
    return reduce(operand, np.zeros((), np.result_type(operand)), np.bitwise_or, axes)


def reduce_xor(operand: Any, axes: Any) -> Any:
    """Bitwise exclusive `or` over axes.

    >>> print(reduce_xor(np.array([[5, 1], [2, 2]]), (1,)))
    [4 0]
    """
    return reduce(operand, np.zeros((), np.result_type(operand)), np.bitwise_xor, axes)


def reduce(operands: Any, init_values: Any, computation: Callable, dimensions: Any) -> Any:
    """Elements combined over axes by any associative function, neighbours first.

    Operands may be trees; then `computation` takes and returns trees.

    >>> print(reduce(np.arange(5), 0, np.add, (0,)))
    10
    """
    leaves, definition = tree_flatten(operands)
    leaves = [_axes_last(leaf, dimensions) for leaf in leaves]
    inits = definition.flatten_up_to(init_values)

    def combine(first: list[Any], second: list[Any]) -> list[Any]:
        x, y = tree_unflatten(definition, first), tree_unflatten(definition, second)
        return definition.flatten_up_to(computation(x, y))

    while leaves[0].shape[-1] > 1:
        even = leaves[0].shape[-1] // 2 * 2
        rest = [leaf[..., even:] for leaf in leaves]
        halves = combine([x[..., :even:2] for x in leaves], [x[..., 1:even:2] for x in leaves])
        leaves = [np.concatenate(pair, -1) for pair in zip(halves, rest, strict=True)]
    inits = [
        np.broadcast_to(np.asarray(init).astype(leaf.dtype), leaf.shape[:-1])
        for init, leaf in zip(inits, leaves, strict=True)
    ]
    if leaves[0].shape[-1]:
        inits = combine(inits, [leaf[..., 0] for leaf in leaves])
    return tree_unflatten(definition, inits)


def _axes_last(x: Any, axes: Any) -> Any:
    """The given axes joined into one at the end."""
    x = np.asarray(x)
    axes = [axis % x.ndim for axis in axes]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = tuple(x.shape[axis] for axis in kept)
    length = 1
    for axis in axes:
        length *= x.shape[axis]
    return np.reshape(np.transpose(x, (*kept, *axes)), (*shape, length))


def _index_dtype(name: str, dtype: Any) -> Any:
    dtype = dtypes.canonicalize(dtype)
    if not dtypes.is_integer(dtype):
        raise TypeError(f"lax.{name} gives integers, not {dtype}")
    return dtype


def argmax(operand: Any, axis: int, index_dtype: Any = "int32") -> Any:
    """The index of the largest element along an axis.

    >>> print(argmax(np.array([[1, 5], [7, 2]]), 1, "int32"))
    [1 0]
    """
    return np.argmax(operand, axis).astype(_index_dtype("argmax", index_dtype))


def argmin(operand: Any, axis: int, index_dtype: Any = "int32") -> Any:
    """The index of the smallest element along an axis.

    >>> print(argmin(np.array([[1, 5], [7, 2]]), 1, "int32"))
    [0 1]
    """
    return np.argmin(operand, axis).astype(_index_dtype("argmin", index_dtype))


def _cumulative(name: str, function: Callable) -> Callable[..., Any]:
    def cumulative(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        if reverse:
            return np.flip(function(np.flip(operand, axis), axis), axis)
        return function(operand, axis)

    cumulative.__name__ = cumulative.__qualname__ = name
    cumulative.__doc__ = f"`np.{name}`-like running result along an axis, from either end."
    return cumulative


def _cumlogsumexp(x: Any, axis: int) -> Any:
    from overt.runtime.lax.loops import associative_scan

    return associative_scan(np.logaddexp, x, axis=axis)


cumsum = _cumulative("cumsum", lambda x, axis: np.cumsum(x, axis, np.result_type(x)))
cumprod = _cumulative("cumprod", lambda x, axis: np.cumprod(x, axis, np.result_type(x)))
cummax = _cumulative("cummax", lambda x, axis: np.cummax(x, axis))
cummin = _cumulative("cummin", lambda x, axis: np.cummin(x, axis))
cumlogsumexp = _cumulative("cumlogsumexp", _cumlogsumexp)


# windows ------------------------------------------------------------------------------------------


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Any, padding: Any
) -> list[tuple[int, int]]:
    """The pairs (before, after) that "SAME", "SAME_LOWER" or "VALID" padding means.

    >>> padtype_to_pads((10,), (3,), (2,), "SAME")
    [(0, 1)]
    """
    name = str(padding).upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise ValueError(f"padding is 'SAME', 'SAME_LOWER', 'VALID' or pairs, got {padding!r}")
    pads = []
    for n, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = max((-(-n // stride) - 1) * stride + window - n, 0)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if name == "SAME" else (more, less))
    return pads


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """Elements of every window combined by an associative, commutative function.

    What is padded counts as `init_value`.  Operands may be trees of arrays of one shape; then
    `computation` takes and returns trees.

    Errors: TypeError for windows, strides or dilations of another rank than the operand.

    >>> print(reduce_window(np.arange(4.0), 0.0, np.add, (2,), (1,), "VALID"))
    [1. 3. 5.]
    """
    leaves, definition = tree_flatten(operand)
    xs = [np.asarray(leaf) for leaf in leaves]
    inits = [
        np.asarray(init).astype(x.dtype)
        for init, x in zip(definition.flatten_up_to(init_value), xs, strict=True)
    ]
    ones, sizes = (1,) * xs[0].ndim, xs[0].shape
    strides, base = window_strides or ones, base_dilation or ones
    dilation = window_dilation or ones
    if any(x.shape != sizes for x in xs):
        raise TypeError(f"reduce_window needs one shape, got {[x.shape for x in xs]}")
    if any(len(v) != len(sizes) for v in (window_dimensions, strides, base, dilation)):
        raise TypeError(
            f"reduce_window: windows {tuple(window_dimensions)}, strides {tuple(strides)} and "
            f"dilations {tuple(base)}, {tuple(dilation)} must have one number an axis of {sizes}"
        )
    shape = [(n - 1) * step + 1 for n, step in zip(sizes, base, strict=True)]
    reach = [(w - 1) * step + 1 for w, step in zip(window_dimensions, dilation, strict=True)]
    if isinstance(padding, str):
        padding = padtype_to_pads(shape, reach, strides, padding)
    config = [(lo, hi, step - 1) for (lo, hi), step in zip(padding, base, strict=True)]
    xs = [pad(x, init, config) for x, init in zip(xs, inits, strict=True)]

    def combine(one: list[Any], other: list[Any]) -> list[Any]:
        pair = tree_unflatten(definition, one), tree_unflatten(definition, other)
        return definition.flatten_up_to(computation(*pair))

    # The axes are independent, so one after the other: as many slices as the windows are long.
    for axis, how in enumerate(zip(window_dimensions, strides, dilation, strict=True)):
        xs = _windows_along(xs, axis, *how, combine)
    inits = [np.broadcast_to(init, x.shape) for init, x in zip(inits, xs, strict=True)]
    return tree_unflatten(definition, combine(xs, inits))


def _windows_along(
    xs: list[Any], axis: int, window: int, stride: int, step: int, combine: Callable
) -> list[Any]:
    if window == stride == 1:
        return xs
    n, ndim = xs[0].shape[axis], xs[0].ndim
    count = max((n - (window - 1) * step - 1) // stride + 1, 0)
    result = None
    for place in range(window):
        starts, limits = [0] * ndim, list(xs[0].shape)
        strides = [1] * ndim
        first = min(place * step, n)
        starts[axis], strides[axis] = first, stride
        limits[axis] = first + (count - 1) * stride + 1 if count else first
        part = [slice_(x, starts, limits, strides) for x in xs]
        result = part if result is None else combine(result, part)
    assert result is not None
    return result
