"""Convolutions and correlations of arrays of any number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.lax.convolution import convolve as convolve_general
from overt.runtime.lax.products import default_precision
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axes

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"]

MODES = ("full", "same", "valid")


@array_function(arrays=("in1", "in2"))
def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Any:
    """The convolution of two arrays: sums of products of one with the other, turned round.

    Modes: "full"; "same", the middle of that, as large as `in1`; "valid", where they overlap fully.
    `method` is "direct" (also "auto") or "fft".

    Errors: ValueError for other modes, methods and ranks; and for "valid" if neither array is as
    large as the other along every axis.

    >>> print(convolve(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0])))
    [1. 3. 3. 2.]
    """
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    if method not in ("auto", "direct"):
        raise ValueError(f"convolve: method is 'auto', 'direct' or 'fft', not {method!r}")
    x, w = _alike("convolve", in1, in2)
    return _convolved(x, w, mode, precision)


@array_function(arrays=("in1", "in2"))
def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Any:
    """Sums of products of one array with the conjugate of the other, moved along it.

    As `convolve` otherwise.

    >>> print(correlate(np.array([1.0, 2.0]), np.array([1.0, 0.0])))
    [0. 1. 2.]
    """
    return convolve(in1, np.flip(np.conj(in2)), mode, method, precision)


@array_function(arrays=("in1", "in2", "fillvalue"))
def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0,
    precision: Any = None,
) -> Any:  # fmt: skip
    """The convolution of two matrices.

    Outside `in1` are `fillvalue` (`boundary` "fill"), its copies ("wrap") or mirror image ("symm").

    >>> print(convolve2d(np.ones((2, 2)), np.ones((2, 2)), "same", "wrap"))
    [[4. 4.]
     [4. 4.]]
    """
    x, w = _matrices("convolve2d", in1, in2)
    if mode == "valid" and _second_larger(x.shape, w.shape):
        x, w = w, x
    pads = [_pads(mode, m) for m in w.shape]
    return _slid(_framed(x, pads, boundary, fillvalue), np.flip(w), [(0, 0)] * 2, precision)


@array_function(arrays=("in1", "in2", "fillvalue"))
def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0,
    precision: Any = None,
) -> Any:  # fmt: skip
    """Sums of products of a matrix with the conjugate of another, moved along it.

    As `convolve2d` otherwise.

    >>> print(correlate2d(np.eye(2), np.ones((1, 2))))
    [[1. 1. 0.]
     [0. 1. 1.]]
    """
    x, w = _matrices("correlate2d", in1, in2)
    if mode == "valid" and _second_larger(x.shape, w.shape):
        return np.flip(np.conj(correlate2d(w, x, mode, boundary, fillvalue, precision)))
    pads = [_pads(mode, m)[::-1] for m in w.shape]  # the middle of an even length is its left one
    return _slid(_framed(x, pads, boundary, fillvalue), np.conj(w), [(0, 0)] * 2, precision)


@array_function(arrays=("in1", "in2"))
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution by Fourier transforms, along some axes; along others the arrays broadcast.

    Modes as in `convolve`.

    >>> print(np.round(fftconvolve(np.array([1.0, 2.0]), np.array([1.0, 1.0])), 4))
    [1. 3. 2.]
    """
    x, w = _alike("fftconvolve", in1, in2)
    along = normal_axes(range(x.ndim) if axes is None else axes, x.ndim)
    pairs = [(x.shape[axis], w.shape[axis]) for axis in along]
    others = [axis for axis in range(x.ndim) if axis not in along]
    np.broadcast_shapes(*([shape[axis] for axis in others] for shape in (x.shape, w.shape)))
    _check_mode(mode)
    if mode == "valid" and _second_larger([n for n, _ in pairs], [m for _, m in pairs]):
        x, w = w, x
        pairs = [(n, m) for m, n in pairs]
    dtype = dtypes.to_inexact(x.dtype)
    x, w = x.astype(dtype), w.astype(dtype)
    whole = [n + m - 1 for n, m in pairs]
    if dtypes.is_complex(dtype):
        out = np.fft.ifftn(
            np.fft.fftn(x, whole, along) * np.fft.fftn(w, whole, along), whole, along
        )  # fmt: skip
    else:
        out = np.fft.irfftn(
            np.fft.rfftn(x, whole, along) * np.fft.rfftn(w, whole, along), whole, along
        )  # fmt: skip
    index = [slice(None)] * out.ndim
    for axis, (n, m) in zip(along, pairs, strict=True):
        low = m - 1 - _pads(mode, m)[0]
        index[axis] = slice(low, low + {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode])
    return out[tuple(index)]


# how ----------------------------------------------------------------------------------------------


def _check_mode(mode: Any) -> None:
    if mode not in MODES:
        raise ValueError(f"mode must be 'full', 'same' or 'valid', not {mode!r}")


def _alike(name: str, in1: Any, in2: Any) -> tuple[Any, Any]:
    x, w = np.asarray(in1), np.asarray(in2)
    if x.ndim != w.ndim:
        raise ValueError(f"{name} needs arrays of one rank, got shapes {x.shape} and {w.shape}")
    if 0 in (*x.shape, *w.shape):
        raise ValueError(f"{name}: the arrays cannot be empty, got shapes {x.shape} and {w.shape}")
    dtype = np.result_type(x, w)
    dtype = np.result_type(dtype, np.int32) if dtypes.is_bool(dtype) else dtype
    return x.astype(dtype), w.astype(dtype)


def _matrices(name: str, in1: Any, in2: Any) -> tuple[Any, Any]:
    x, w = _alike(name, in1, in2)
    if x.ndim != 2:
        raise ValueError(f"{name} needs matrices, got shapes {x.shape} and {w.shape}")
    return x, w


def _second_larger(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether the second of two shapes contains the first. Errors: ValueError if neither does."""
    if all(n >= m for n, m in zip(first, second, strict=True)):
        return False
    if all(n <= m for n, m in zip(first, second, strict=True)):
        return True
    raise ValueError(
        f"mode 'valid' needs one array as large as the other along every axis, not {tuple(first)} "
        f"and {tuple(second)}"
    )


def _pads(mode: str, m: int) -> tuple[int, int]:
    """How far a kernel of length m that is turned round hangs out at both ends."""
    _check_mode(mode)
    if mode == "valid":
        return 0, 0
    return (m // 2, (m - 1) // 2) if mode == "same" else (m - 1, m - 1)


def _convolved(x: Any, w: Any, mode: str, precision: Any) -> Any:
    if x.ndim == 0:
        return x * w
    if mode == "valid" and _second_larger(x.shape, w.shape):
        x, w = w, x
    return _slid(x, np.flip(w), [_pads(mode, m) for m in w.shape], precision)


def _slid(x: Any, w: Any, pads: Sequence[tuple[int, int]], precision: Any) -> Any:
    """Sums of products of `w` with what is under it of `x`, padded with zeros."""
    if dtypes.is_complex(x.dtype):  # XLA:CPU convolves real numbers only
        a, b, c, d = (
            _slid(p, q, pads, precision) for p in (x.real, x.imag) for q in (w.real, w.imag)
        )
        return a - d + 1j * (b + c)
    ones = (1,) * x.ndim
    return convolve_general(
        x[None, None], w[None, None], strides=ones, padding=tuple(map(tuple, pads)),
        x_dilation=ones, w_dilation=ones, groups=1, precision=default_precision(precision),
        out_dtype=None,
    )[0, 0]  # fmt: skip


def _framed(x: Any, pads: Sequence[tuple[int, int]], boundary: str, fillvalue: Any) -> Any:
    if boundary in ("fill", "pad"):
        return np.pad(x, pads, constant_values=np.asarray(fillvalue).astype(x.dtype))
    how = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}
    if boundary not in how:
        raise ValueError(f"boundary is 'fill', 'wrap' or 'symm', not {boundary!r}")
    return np.pad(x, pads, mode=how[boundary])
