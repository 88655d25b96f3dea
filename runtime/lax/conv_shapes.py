"""Shapes of convolutions and windows without computing them, and kernels that vary over space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.lax.convolution import (
    ConvDimensionNumbers,
    conv_dimension_numbers,
    conv_general_dilated_patches,
    transposed_pads,
)
from overt.runtime.lax.products import dot_general
from overt.runtime.lax.reductions import padtype_to_pads

ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None
Sizes = tuple[int, ...]


def _windows(shape: Any, window: Any, strides: Any, pads: Any) -> Sizes:
    """How many windows fit along every axis."""
    sizes = zip(shape, window, strides, pads, strict=True)
    return tuple(max((n + sum(pad) - k) // step + 1, 0) for n, k, step, pad in sizes)


def conv_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], strides: Sequence[int], pads: Any,
    batch_group_count: int = 1,
) -> Sizes:  # fmt: skip
    """The shape of a convolution with batch and features first.

    >>> conv_shape_tuple((2, 3, 8, 8), (5, 3, 3, 3), (2, 2), "SAME")
    (2, 5, 4, 4)
    """
    x, w = tuple(map(int, lhs_shape)), tuple(map(int, rhs_shape))
    if isinstance(pads, str):
        pads = padtype_to_pads(x[2:], w[2:], strides, pads)
    if len(pads) != len(x) - 2:
        raise TypeError(f"{len(pads)} pairs of padding do not fit an image of shape {x}")
    if x[0] % batch_group_count:
        raise ValueError(f"a batch of {x[0]} cannot be cut into {batch_group_count} groups")
    return (x[0] // batch_group_count, w[0], *_windows(x[2:], w[2:], strides, pads))


def conv_general_permutations(dimension_numbers: Any) -> tuple[Sizes, Sizes, Sizes]:
    """The orders of axes that put image, kernel and result into (batch, feature, *space).

    >>> conv_general_permutations(("NHWC", "HWIO", "NCHW"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 1, 2, 3))
    """
    ranks = (0,) * len(dimension_numbers[0])
    numbers = conv_dimension_numbers(ranks, ranks, dimension_numbers)
    return numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec


def _in_order(shape: Sizes, axes: Sizes) -> Sizes:
    return tuple(shape[axes.index(k)] for k in range(len(axes)))


def conv_general_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int],
    padding: Any, dimension_numbers: Any,
) -> Sizes:  # fmt: skip
    """The shape of a convolution with axes in any order.

    >>> numbers = ("NHWC", "HWIO", "NHWC")
    >>> conv_general_shape_tuple((2, 8, 8, 3), (3, 3, 3, 5), (2, 2), "SAME", numbers)
    (2, 4, 4, 5)
    """
    image, kernel, out = conv_general_permutations(dimension_numbers)
    x, w = [lhs_shape[k] for k in image], [rhs_shape[k] for k in kernel]
    return _in_order(conv_shape_tuple(x, w, window_strides, padding), out)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int],
    padding: Any, dimension_numbers: Any,
) -> Sizes:  # fmt: skip
    """The shape of a transposed convolution.

    >>> numbers = ("NHWC", "HWIO", "NHWC")
    >>> conv_transpose_shape_tuple((2, 8, 8, 3), (3, 3, 3, 5), (2, 2), "SAME", numbers)
    (2, 16, 16, 5)
    """
    image, kernel, out = conv_general_permutations(dimension_numbers)
    x, w = [int(lhs_shape[k]) for k in image], [int(rhs_shape[k]) for k in kernel]
    if isinstance(padding, str):
        pairs = zip(w[2:], window_strides, strict=True)
        padding = [transposed_pads(k, step, padding) for k, step in pairs]
    spread = [(n - 1) * step + 1 for n, step in zip(x[2:], window_strides, strict=True)]
    return _in_order((x[0], w[0], *_windows(spread, w[2:], [1] * len(spread), padding)), out)


def reduce_window_shape_tuple(
    operand_shape: Sequence[int], window_dimensions: Sequence[int],
    window_strides: Sequence[int], padding: Any, base_dilation: Any = None,
    window_dilation: Any = None,
) -> Sizes:  # fmt: skip
    """The shape of a reduction over windows; `padding` is pairs.

    >>> reduce_window_shape_tuple((8, 9), (2, 3), (2, 1), [(0, 1), (1, 1)])
    (4, 9)
    """
    ones = (1,) * len(operand_shape)
    spread = lambda sizes, steps: [
        (n - 1) * step + 1 if n else 0 for n, step in zip(sizes, steps, strict=True)
    ]
    shape = spread(operand_shape, base_dilation or ones)
    window = spread(window_dimensions, window_dilation or ones)
    return _windows(shape, window, window_strides, padding)


def conv_general_dilated_local(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, filter_shape: Sequence[int],
    lhs_dilation: Any = None, rhs_dilation: Any = None, dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:  # fmt: skip
    """A convolution whose kernel is another one at every place of the result.

    Shapes: the space of `rhs` is that of the result, its in features are those of all elements of a
    window: channel by channel, each in the order of the window.
    """
    x, w = np.asarray(lhs), np.asarray(rhs)
    numbers = conv_dimension_numbers(x.shape, w.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
        precision,
    )  # fmt: skip
    over = (numbers.out_spec[1],), (numbers.rhs_spec[1],)
    out = dot_general(patches, w, (over, (numbers.out_spec[2:], numbers.rhs_spec[2:])), precision)
    return np.moveaxis(out, range(out.ndim), (*numbers.out_spec[2:], *numbers.out_spec[:2]))
