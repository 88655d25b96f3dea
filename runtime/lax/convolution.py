"""Convolutions: one primitive with batch and features first, and the ways to call it.

Its derivatives are convolutions again. Source: Dumoulin and Visin, "A guide to convolution
arithmetic for deep learning", 2016.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.lax.products import default_precision
from overt.runtime.lax.reductions import padtype_to_pads
from overt.runtime.lax.strict import check_same_dtypes
from overt.runtime.primitive import Primitive

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


# the primitive: x (batch, features, *space), w (out features, in features of a group, *space)


def _dilated(n: int, step: int) -> int:
    return (n - 1) * step + 1 if n else 0


def _out_shape(
    x: Sizes, w: Sizes, strides: Sizes, padding: Pads, x_dilation: Sizes, w_dilation: Sizes
) -> Sizes:
    space = [
        max((_dilated(n, dn) + low + high - _dilated(k, dk)) // stride + 1, 0)
        for n, k, stride, (low, high), dn, dk in zip(
            x[2:], w[2:], strides, padding, x_dilation, w_dilation, strict=True
        )
    ]
    return (x[0], w[0], *space)


def _convolve_aval(
    x: Aval, w: Aval, *, strides: Any, padding: Any, x_dilation: Any, w_dilation: Any,
    groups: int, precision: Any, out_dtype: Any,
) -> Aval:  # fmt: skip
    if x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ValueError(
            f"a convolution of {x.shape[1]} features in {groups} groups does not fit a kernel from "
            f"{w.shape[1]} to {w.shape[0]} features"
        )
    shape = _out_shape(x.shape, w.shape, strides, padding, x_dilation, w_dilation)
    dtype, weak = dtypes.result_kind((x.dtype, x.weak), (w.dtype, w.weak))
    return Aval(shape, dtype, weak) if out_dtype is None else Aval(shape, out_dtype)


def _lower_convolve(
    b: Any, x: Any, w: Any, *, avals: Any, out: Aval, strides: Any, padding: Any, x_dilation: Any,
    w_dilation: Any, groups: int, precision: Any, out_dtype: Any,
) -> Any:  # fmt: skip
    axes = tuple(range(len(out.shape)))
    common = dtypes.result_kind(*((a.dtype, a.weak) for a in avals))[0]
    return b.conv(
        b.convert(x, common), b.convert(w, common), out.shape, (axes, axes, axes), strides, padding,
        x_dilation, w_dilation, groups, precision=precision, out_dtype=out.dtype,
    )  # fmt: skip


def _batch_convolve(values: Any, axes: Any, size: int, *, groups: int, **how: Any) -> Any:
    x, w = values
    if axes[1] is None:  # the lanes are more of the batch
        out = convolve(np.reshape(x, (-1, *x.shape[2:])), w, groups=groups, **how)
        return np.reshape(out, (size, out.shape[0] // size, *out.shape[1:])), 0
    if axes[0] is None and groups == 1:  # the lanes are more of the features
        out = convolve(x, np.reshape(w, (-1, *w.shape[2:])), groups=1, **how)
    else:  # each lane is a group of features of its own
        if axes[0] is None:
            x = np.broadcast_to(x, (size, *x.shape))
        x = np.moveaxis(x, 0, 1)
        x = np.reshape(x, (x.shape[0], -1, *x.shape[3:]))
        out = convolve(x, np.reshape(w, (-1, *w.shape[2:])), groups=size * groups, **how)
    return np.reshape(out, (out.shape[0], size, out.shape[1] // size, *out.shape[2:])), 1


def grouped_swap(w: Any, groups: int) -> Any:
    """A kernel from its out features to its in features, group by group, reversed in space."""
    out, into, *space = w.shape
    w = np.reshape(w, (groups, out // groups, into, *space))
    w = np.reshape(np.swapaxes(w, 1, 2), (groups * into, out // groups, *space))
    return np.flip(w, tuple(range(2, w.ndim)))


def batch_groups_to_features(x: Any, groups: int) -> Any:
    """Groups of the batch as groups of features, which convolutions know how to keep apart."""
    n, features, *space = x.shape
    x = np.reshape(x, (groups, n // groups, features, *space))
    return np.reshape(np.swapaxes(x, 0, 1), (n // groups, groups * features, *space))


def image_cotangent(
    g: Any, x: Any, w: Any, strides: Any, padding: Any, x_dilation: Any, w_dilation: Any,
    groups: int, precision: Any,
) -> Any:  # fmt: skip
    """Cotangent of the first operand of `convolve`: `g` spread out and convolved back."""
    if not g.size:
        return np.zeros(np.shape(x), g.dtype)
    pads = []
    for n, k, m, stride, (low, _), dn, dk in zip(
        np.shape(x)[2:], np.shape(w)[2:], g.shape[2:], strides, padding, x_dilation, w_dilation,
        strict=True,
    ):  # fmt: skip
        before = _dilated(k, dk) - low - 1
        pads.append((before, _dilated(n, dn) + _dilated(k, dk) - 1 - _dilated(m, stride) - before))
    return convolve(
        g, grouped_swap(w, groups), strides=x_dilation, padding=tuple(pads), x_dilation=strides,
        w_dilation=w_dilation, groups=groups, precision=precision, out_dtype=None,
    )  # fmt: skip


def kernel_cotangent(
    g: Any, x: Any, w: Any, strides: Any, padding: Any, x_dilation: Any, w_dilation: Any,
    groups: int, precision: Any,
) -> Any:  # fmt: skip
    """Cotangent of the second operand of `convolve`: the image convolved with `g`."""
    if not g.size:
        return np.zeros(np.shape(w), g.dtype)
    pads = []
    for n, k, m, stride, (low, _), dn, dk in zip(
        np.shape(x)[2:], np.shape(w)[2:], g.shape[2:], strides, padding, x_dilation, w_dilation,
        strict=True,
    ):  # fmt: skip
        pads.append((low, _dilated(m, stride) - _dilated(n, dn) + _dilated(k, dk) - low - 1))
    w_bar = convolve(
        batch_groups_to_features(np.swapaxes(x, 0, 1), groups), np.swapaxes(g, 0, 1),
        strides=w_dilation, padding=tuple(pads), x_dilation=x_dilation, w_dilation=strides,
        groups=groups, precision=precision, out_dtype=None,
    )  # fmt: skip
    return np.swapaxes(w_bar, 0, 1)


convolve = Primitive(
    "convolve_general",
    shape=_convolve_aval,
    lower=_lower_convolve,
    vjp=(
        lambda g, out, x, w, *, out_dtype, **how: image_cotangent(g, x, w, **how),
        lambda g, out, x, w, *, out_dtype, **how: kernel_cotangent(g, x, w, **how),
    ),
    jvp=lambda dots, out, x, w, **how: convolve(dots[0], w, **how) + convolve(x, dots[1], **how),
    batch=_batch_convolve,
    doc="Sums of products over a window that moves; features may be kept apart in groups.",
)


# calling it ---------------------------------------------------------------------------------------


class ConvDimensionNumbers(NamedTuple):
    """Positions of (batch, feature, *space), in kernels of (out feature, in feature, *space)."""

    lhs_spec: Sizes
    rhs_spec: Sizes
    out_spec: Sizes


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Positions from strings such as ("NHWC", "HWIO", "NHWC"); None means batch and features first.

    >>> conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 5), ("NHWC", "HWIO", "NHWC")).rhs_spec
    (3, 2, 0, 1)
    """
    ndim = len(lhs_shape)
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(ndim))] * 3)
    image, kernel, out = dimension_numbers
    if any(len(set(text)) != ndim or len(text) != ndim for text in (image, kernel, out)):
        raise TypeError(f"dimension numbers {dimension_numbers} do not fit {ndim} dimensions")
    space = [letter for letter in kernel if letter not in "OI"]
    return ConvDimensionNumbers(
        tuple(image.index(letter) for letter in ("N", "C", *space)),
        tuple(kernel.index(letter) for letter in ("O", "I", *space)),
        tuple(out.index(letter) for letter in ("N", "C", *space)),
    )


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The convolution of images with a kernel, in any number of dimensions.

    `padding` is "SAME", "SAME_LOWER", "VALID" or pairs (before, after), which may be negative.

    >>> x, w = np.ones((1, 1, 4)), np.ones((1, 1, 3))
    >>> conv_general_dilated(x, w, (1,), "SAME").tolist()
    [[[2.0, 3.0, 3.0, 2.0]]]
    """
    check_same_dtypes("conv_general_dilated", (lhs, rhs))
    if np.ndim(lhs) != np.ndim(rhs):
        raise TypeError(f"image {np.shape(lhs)} and kernel {np.shape(rhs)} have different ranks")
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    x = np.transpose(np.asarray(lhs), numbers.lhs_spec)
    w = np.transpose(np.asarray(rhs), numbers.rhs_spec)
    ones = (1,) * (x.ndim - 2)
    x_dilation, w_dilation = tuple(lhs_dilation or ones), tuple(rhs_dilation or ones)
    strides = tuple(window_strides)
    if isinstance(padding, str):
        reach = [_dilated(k, step) for k, step in zip(w.shape[2:], w_dilation, strict=True)]
        padding = padtype_to_pads(x.shape[2:], reach, strides, padding)
    if batch_group_count > 1:
        x = batch_groups_to_features(x, batch_group_count)
    out = convolve(
        x, w, strides=strides, padding=tuple((int(a), int(b)) for a, b in padding),
        x_dilation=x_dilation, w_dilation=w_dilation,
        groups=feature_group_count * batch_group_count, precision=default_precision(precision),
        out_dtype=None if preferred_element_type is None
        else dtypes.canonicalize(preferred_element_type),
    )  # fmt: skip
    return np.transpose(out, [numbers.out_spec.index(axis) for axis in range(out.ndim)])


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated` with batch and features first and without dilation.

    >>> print(conv(np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2)), (1, 1), "VALID")[0, 0])
    [[4. 4.]
     [4. 4.]]
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, None, None, None, 1, 1, precision, preferred_element_type
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated` with batch and features first.

    >>> x, w = np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2))
    >>> print(conv_with_general_padding(x, w, (1, 1), [(0, 1), (0, 1)], None, None)[0, 0])
    [[4. 4. 2.]
     [4. 4. 2.]
     [2. 2. 1.]]
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, None, 1, 1, precision,
        preferred_element_type,
    )  # fmt: skip


def transposed_pads(k: int, stride: int, padding: Any) -> tuple[int, int]:
    """What a transposed convolution adds before and after a spread out image."""
    if not isinstance(padding, str):
        before, after = padding
        return k - 1 - before, k - 1 - after
    if padding == "SAME":
        total = k + stride - 2
        before = k - 1 if stride > k - 1 else -(-total // 2)
    elif padding == "VALID":
        total = k + stride - 2 + max(k - stride, 0)
        before = k - 1
    else:
        raise ValueError(f"padding is 'SAME', 'VALID' or pairs, got {padding!r}")
    return before, total - before


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """A convolution that enlarges images by `strides`, features last unless numbers are given.

    With `transpose_kernel` it is the derivative of a convolution with the same kernel.  Pairs of
    padding are those of this convolution, or with `use_consistent_padding` those of the one that it
    is the derivative of, as names always are.

    >>> x, w = np.ones((1, 2, 2, 1)), np.ones((2, 2, 1, 1))
    >>> print(conv_transpose(x, w, (2, 2), "VALID").shape)
    (1, 4, 4, 1)
    """
    space = "HWD"[: np.ndim(lhs) - 2]
    if dimension_numbers is None:
        dimension_numbers = (f"N{space}C", f"{space}IO", f"N{space}C")
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    rhs_dilation = rhs_dilation or (1,) * len(space)
    if isinstance(padding, str) or use_consistent_padding:
        lengths = [np.shape(rhs)[axis] for axis in numbers.rhs_spec[2:]]
        each = [padding] * len(lengths) if isinstance(padding, str) else padding
        padding = [
            transposed_pads(_dilated(k, step), stride, pads)
            for k, step, stride, pads in zip(lengths, rhs_dilation, strides, each, strict=True)
        ]
    if transpose_kernel:
        out, into, *axes = numbers.rhs_spec
        rhs = np.swapaxes(np.flip(rhs, tuple(axes)), out, into)
    return conv_general_dilated(
        lhs, rhs, (1,) * len(space), padding, strides, rhs_dilation, numbers, 1, 1, precision,
        preferred_element_type,
    )  # fmt: skip


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Every window of an image as a vector of features: those of a channel stay together.

    >>> x = np.arange(4.0).reshape(1, 1, 4)
    >>> print(conv_general_dilated_patches(x, (2,), (1,), "VALID")[0])
    [[0. 1. 2.]
     [1. 2. 3.]]
    """
    numbers = conv_dimension_numbers(np.shape(lhs), (1, 1, *filter_shape), dimension_numbers)
    channels, size = np.shape(lhs)[numbers.lhs_spec[1]], math.prod(filter_shape)
    one = np.eye(size, dtype=np.result_type(lhs)).reshape(size, 1, *filter_shape)
    kernel = np.concatenate([one] * channels)
    order = [numbers.rhs_spec.index(axis) for axis in range(kernel.ndim)]
    return conv_general_dilated(
        lhs, np.transpose(kernel, order), window_strides, padding, lhs_dilation, rhs_dilation,
        numbers, channels, 1, precision, preferred_element_type,
    )  # fmt: skip
