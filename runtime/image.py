"""Resampling of images: of every axis on its own, by a matrix of weights.

Pixel i covers [i, i + 1]: its middle is at i + 1/2. Source: Keys, "Cubic convolution interpolation
for digital image processing", 1981; Duchon, "Lanczos filtering in one and two dimensions", 1979.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.lax.products import Precision, precision_name
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axes

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]


class ResizeMethod(enum.Enum):
    """How pixels between pixels are found."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name. Errors: ValueError for an unknown one.

        >>> ResizeMethod.from_string("bicubic").name
        'CUBIC'
        """
        found = _NAMES.get(s)
        if found is None:
            raise ValueError(f"unknown method of resizing {s!r}; known are {', '.join(_NAMES)}")
        return found


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    **dict.fromkeys(("cubic-pytorch", "bicubic-pytorch"), ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}


# weights by distance ------------------------------------------------------------------------------


def _triangle(x: Any) -> Any:
    return np.maximum(0, 1 - x)


def _cubic(x: Any, a: float) -> Any:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x: Any, radius: float) -> Any:
    return np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


_KERNELS: dict[ResizeMethod, Callable[[Any], Any]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.LANCZOS3: lambda x: _lanczos(x, 3.0),
    ResizeMethod.LANCZOS5: lambda x: _lanczos(x, 5.0),
    ResizeMethod.CUBIC: lambda x: _cubic(x, -0.5),
    ResizeMethod.CUBIC_PYTORCH: lambda x: _cubic(x, -0.5),
}


def _weights(
    n: int, m: int, scale: Any, translation: Any, method: ResizeMethod, antialias: bool, dtype: Any
) -> Any:
    """The matrix (n, m) of what each of n pixels adds to each of m new ones."""
    inverse = 1 / scale
    edges = method is ResizeMethod.CUBIC_PYTORCH and not antialias
    if method is ResizeMethod.AREA:
        left = (np.arange(m, dtype=dtype) - translation) * inverse
        pixels = np.arange(n, dtype=dtype)[:, None]
        overlap = np.minimum(left + inverse, pixels + 1) - np.maximum(left, pixels)
        return _normalized(np.maximum(overlap, 0))
    at = (np.arange(m, dtype=dtype) + 0.5 - translation) * inverse - 0.5
    if edges:  # as if the outermost pixels went on: their images count for them
        first = np.arange(-2, n + 2, dtype=dtype)[:, None]
        nearest = np.clip(at, 0, n - 1)
        whole = _normalized(_cubic(np.abs(nearest + _limited(at - nearest) - first), -0.75))
        low, high = np.sum(whole[:3], 0, keepdims=True), np.sum(whole[-3:], 0, keepdims=True)
        return np.concatenate([low, whole[3:-3], high]) if n > 1 else np.ones((1, m), dtype)
    width = np.maximum(inverse, 1) if antialias else np.ones_like(inverse)
    distance = np.abs(at - np.arange(n, dtype=dtype)[:, None]) / width
    weights = _normalized(_KERNELS[method](distance))
    return np.where((at >= -0.5) & (at <= n - 0.5), weights, 0)


def _limited(beyond: Any) -> Any:
    """How far outside a sample may be before only the outermost pixel is under it."""
    return np.clip(beyond, -1, 1)


def _normalized(weights: Any) -> Any:
    total = np.sum(weights, 0, keepdims=True)
    small = np.abs(total) <= 1000 * float(numpy.finfo(numpy.float32).eps)
    return np.where(small, 0, weights / np.where(small, 1, total))


@array_function(arrays=("image", "scale", "translation"))
def _resampled(
    image: Any, scale: Any, translation: Any, shape: tuple[int, ...], dims: tuple[int, ...],
    method: ResizeMethod, antialias: bool, precision: Any,
) -> Any:  # fmt: skip
    image = image.astype(dtypes.to_inexact(image.dtype))
    part = dtypes.real_type(image.dtype)
    scale, translation = np.asarray(scale).astype(part), np.asarray(translation).astype(part)
    for i, d in enumerate(dims):
        w = _weights(image.shape[d], shape[d], scale[i], translation[i], method, antialias, part)
        mixed = np.tensordot(image, w.astype(image.dtype), ((d,), (0,)), precision=precision)
        image = np.moveaxis(mixed, -1, d)
    return image


# calling it ---------------------------------------------------------------------------------------


def _method(method: Any) -> ResizeMethod:
    return method if isinstance(method, ResizeMethod) else ResizeMethod.from_string(method)


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: Any,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Any:
    """An image of another shape, where what was at x is at `x * scale + translation`.

    `method` as of `resize`, but for "nearest". With `antialias` as many pixels are averaged as one
    new one covers. Outside the image is 0, with "cubic-pytorch" without `antialias` its edge.

    Shapes: `scale` and `translation` have one number for each of `spatial_dims`; along all other
    axes `shape` is that of the image.
    Errors: ValueError for other shapes and unknown methods.

    >>> print(scale_and_translate(np.array([1.0, 2.0]), (4,), (0,), [1.0], [1.0], "linear"))
    [0. 1. 2. 0.]
    """
    image, shape = np.asarray(image), tuple(shape)
    dims = normal_axes(spatial_dims, image.ndim)
    _check_shape("scale_and_translate", image, shape, dims)
    if np.shape(scale) != (len(dims),) or np.shape(translation) != (len(dims),):
        raise ValueError(
            f"scale_and_translate: scale and translation need one number for each of {len(dims)} "
            f"spatial_dims, their shapes are {np.shape(scale)} and {np.shape(translation)}"
        )
    kind = _method(method)
    if kind is ResizeMethod.NEAREST:
        raise ValueError("scale_and_translate has no nearest neighbours; use resize, or indexing")
    return _resampled(
        image, scale, translation, shape, dims, kind, antialias, precision_name(precision)
    )  # fmt: skip


def resize(
    image: Any,
    shape: Sequence[int],
    method: Any,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Any:
    """An image of another shape, with as many pixels as that has along every axis.

    `method` is a `ResizeMethod` or a name: "nearest"; "linear", "cubic" (the kernels of Keys),
    "lanczos3", "lanczos5"; "cubic-pytorch", which differs where not `antialias`; "area", the mean
    of what a new pixel covers. With `antialias` kernels are as wide as a new pixel where that is
    larger. "nearest" keeps the dtype, others give floats.

    Errors: ValueError for unknown methods and another number of axes.

    >>> print(resize(np.array([1.0, 3.0]), (4,), "linear"))
    [1.  1.5 2.5 3. ]
    """
    image, shape = np.asarray(image), tuple(shape)
    if len(shape) != image.ndim:
        raise ValueError(f"resize: shape {shape} must have {image.ndim} axes, as the image has")
    dims = tuple(d for d in range(image.ndim) if shape[d] != image.shape[d])
    kind = _method(method)
    if kind is ResizeMethod.NEAREST:
        for d in dims:
            places = (numpy.arange(shape[d]) + 0.5) * (image.shape[d] / shape[d])
            image = np.take(image, places.astype(int), d)
        return image
    scale = numpy.array([shape[d] / image.shape[d] if image.shape[d] else 1 for d in dims])
    return _resampled(
        image, scale, numpy.zeros(len(dims)), shape, dims, kind, antialias,
        precision_name(precision),
    )  # fmt: skip


def _check_shape(name: str, image: Any, shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    fits = len(shape) == image.ndim and all(
        n == m or d in dims for d, (n, m) in enumerate(zip(image.shape, shape, strict=True))
    )
    if not fits:
        raise ValueError(
            f"{name}: shape {shape} may differ from that of the image, {image.shape}, along "
            f"spatial_dims {dims} only"
        )
