"""Discrete cosine transforms, by Fourier transforms of the same length.

Source: Makhoul, "A fast cosine transform in one and two dimensions", 1980.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.fft import resized
from overt.runtime.numpy.movement import normal_axes, normal_axis
from overt.runtime.primitive import composite

__all__ = ["dct", "dctn", "idct", "idctn"]


@composite(arrays=("x",))
def dct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Any:
    """The discrete cosine transform of type 1, 2, 3 or 4 along an axis, cut or padded to `n`.

    `norm` None or "backward" leaves it unscaled, "forward" divides by twice the period's half,
    "ortho" makes it an orthogonal matrix.

    >>> print(dct(np.array([1.0, 1.0, 1.0])))
    [6. 0. 0.]
    """
    return _transformed(x, type, n, axis, norm, False)


@composite(arrays=("x",))
def idct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Any:
    """The inverse of `dct` with the same arguments.

    >>> print(idct(np.array([6.0, 0.0, 0.0])))
    [1. 1. 1.]
    """
    return _transformed(x, type, n, axis, norm, True)


@composite(arrays=("x",))
def dctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Any:
    """`dct` along several axes, all unless given, each cut or padded to its length in `s`.

    >>> print(dctn(np.ones((2, 2)))[0, 0])
    16.0
    """
    return _along_axes(dct, x, type, s, axes, norm)


@composite(arrays=("x",))
def idctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Any:
    """The inverse of `dctn` with the same arguments.

    >>> print(idctn(dctn(np.ones((2, 2)))))
    [[1. 1.]
     [1. 1.]]
    """
    return _along_axes(idct, x, type, s, axes, norm)


def _along_axes(one: Callable, x: Any, type: int, s: Any, axes: Any, norm: Any) -> Any:
    x = np.asarray(x)
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    along = normal_axes(axes, x.ndim)
    if s is not None and len(s) != len(along):
        raise ValueError(f"dctn: {len(s)} lengths in s for {len(along)} axes")
    for i, axis in enumerate(along):
        x = one(x, type, None if s is None else s[i], axis, norm)
    return x


def _transformed(x: Any, type: int, n: int | None, axis: int, norm: Any, inverse: bool) -> Any:
    x = np.asarray(x)
    if dtypes.is_complex(x.dtype):
        parts = (_transformed(part, type, n, axis, norm, inverse) for part in (x.real, x.imag))
        return next(parts) + 1j * next(parts)
    x = x.astype(dtypes.to_inexact(x.dtype))
    axis = normal_axis(axis, x.ndim)
    if n is not None:
        x = resized(x, axis, n)
    x = np.moveaxis(x, axis, -1)
    count = x.shape[-1]
    if count < (2 if type == 1 else 1):
        raise ValueError(f"dct of type {type} needs more numbers than {count}")
    if type not in _PLAIN:
        raise ValueError(f"dct is of type 1, 2, 3 or 4, not {type!r}")
    if norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(f"dct: norm is None, 'backward', 'forward' or 'ortho', not {norm!r}")
    kind = {2: 3, 3: 2}.get(type, type) if inverse else type
    period = 2 * (count - 1 if type == 1 else count)
    if norm == "ortho":
        x = _PLAIN[kind](x * _ends(kind, count, math.sqrt(2), (1, 3), x.dtype))
        x = x * _ends(kind, count, math.sqrt(0.5), (1, 2), x.dtype) * math.sqrt(1 / period)
    else:
        x = _PLAIN[kind](x)
        if (norm == "forward") != inverse:
            x = x / period
    return np.moveaxis(x, -1, axis)


def _ends(kind: int, n: int, factor: float, kinds: tuple[int, ...], dtype: Any) -> Any:
    """What the first number, and of type 1 the last, is multiplied by to be orthogonal."""
    factors = numpy.ones(n, dtype)
    if kind in kinds:
        factors[0] = factor
        if kind == 1:
            factors[-1] = factor
    return factors


def _turns(angles: Any, dtype: Any) -> Any:
    return numpy.exp(1j * angles).astype(dtypes.complex_of(dtype))


def _type_1(x: Any) -> Any:
    return np.fft.rfft(np.concatenate([x, x[..., -2:0:-1]], -1)).real


def _type_2(x: Any) -> Any:
    n = x.shape[-1]
    folded = np.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1)
    return 2 * (np.fft.fft(folded) * _turns(-math.pi / (2 * n) * numpy.arange(n), x.dtype)).real


def _type_3(x: Any) -> Any:
    n = x.shape[-1]
    later = np.concatenate([np.zeros_like(x[..., :1]), x[..., :0:-1]], -1)
    turned = (x - 1j * later) * _turns(math.pi / (2 * n) * numpy.arange(n), x.dtype)
    folded = n * np.fft.ifft(turned).real
    half = (n + 1) // 2
    pairs = np.stack([folded[..., : n // 2], folded[..., half:][..., ::-1]], -1)
    whole = np.reshape(pairs, (*x.shape[:-1], 2 * (n // 2)))
    return np.concatenate([whole, folded[..., n // 2 : half]], -1)


def _type_4(x: Any) -> Any:
    n = x.shape[-1]
    turned = x * _turns(-math.pi / (2 * n) * numpy.arange(n), x.dtype)
    spectrum = np.fft.fft(turned, 2 * n)[..., :n]
    return 2 * (spectrum * _turns(-math.pi / (4 * n) * (2 * numpy.arange(n) + 1), x.dtype)).real


_PLAIN = {1: _type_1, 2: _type_2, 3: _type_3, 4: _type_4}
