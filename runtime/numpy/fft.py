"""`numpy.fft`: discrete Fourier transforms."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import Aval
from overt.runtime.numpy.movement import normal_axes, normal_axis, with_rule
from overt.runtime.primitive import Primitive

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


# the primitive ------------------------------------------------------------------------------------


def _fourier_aval(x: Aval, *, kind: str, lengths: tuple[int, ...]) -> Aval:
    rank = len(lengths)
    lead = x.shape[: len(x.shape) - rank]
    if kind == "RFFT":
        return Aval((*lead, *lengths[:-1], lengths[-1] // 2 + 1), dtypes.complex_of(x.dtype))
    if kind == "IRFFT":
        return Aval((*lead, *lengths), dtypes.real_type(x.dtype))
    return Aval(x.shape, dtypes.complex_of(x.dtype))


def _lower_fourier(
    b: Any, x: Any, *, avals: Any, out: Aval, kind: str, lengths: tuple[int, ...]
) -> Any:
    if 0 in out.shape:
        return b.full(out.shape, 0, out.dtype)
    if kind != "RFFT":  # a cotangent may be real
        x = b.convert(x, dtypes.complex_of(avals[0].dtype))
    return b.fft(x, kind, lengths)


def _batch_fourier(values: Any, axes: Any, size: int, **how: Any) -> Any:
    return fourier(values[0], **how), 0


def fourier_back(g: Any, kind: str, lengths: tuple[int, ...]) -> Any:
    """Transpose of `fourier`, bilinear, without conjugation."""
    if kind in ("FFT", "IFFT"):  # symmetric matrices
        return fourier(g, kind=kind, lengths=lengths)
    n = lengths[-1]
    if kind == "RFFT":
        more = [(0, 0)] * (g.ndim - 1) + [(0, n - g.shape[-1])]
        return np.real(fourier(np.pad(g, more), kind="FFT", lengths=lengths))
    # every coefficient but the first, and the middle one of an even length, stands for two
    half = n // 2 + 1
    weights = numpy.full(half, 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    spectrum = fourier(g, kind="RFFT", lengths=lengths)
    scale = np.asarray((weights / math.prod(lengths)).astype(g.dtype))
    return np.conj(spectrum) * scale


fourier = Primitive(
    "fourier",
    shape=_fourier_aval,
    lower=_lower_fourier,
    linear=True,
    vjp=(lambda g, out, x, *, kind, lengths: fourier_back(g, kind, lengths),),
    batch=_batch_fourier,
    doc="FFT, IFFT, RFFT or IRFFT over the last axes, at most three of them.",
)


# the family ---------------------------------------------------------------------------------------


def transform(a: Any, kind: str, s: Any, axes: Any, norm: Any) -> Any:
    """A transform over several axes, cut off or padded to the lengths `s`."""
    a = np.asarray(a)
    if axes is None:
        axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
    axes = normal_axes(tuple(axes), a.ndim)
    if s is not None and len(s) != len(axes):
        raise ValueError("fft: s and axes must have the same length")
    if not axes:
        return a
    inner = kind in ("IRFFT",)
    lengths = []
    for k, axis in enumerate(axes):
        wanted = None if s is None else s[k]
        if wanted is None or operator.index(wanted) == -1:
            last = k == len(axes) - 1
            wanted = 2 * (a.shape[axis] - 1) if inner and last else a.shape[axis]
        wanted = operator.index(wanted)
        if wanted < 1:
            raise ValueError(f"fft: invalid number of data points ({wanted}) specified")
        lengths.append(wanted)
    a = as_fourier_input(a, kind)
    kept = [n // 2 + 1 if inner and k == len(axes) - 1 else n for k, n in enumerate(lengths)]
    for axis, n in zip(axes, kept, strict=True):
        a = resized(a, axis, n)
    a = np.moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    a = in_chunks(a, kind, tuple(lengths))
    a = np.moveaxis(a, tuple(range(a.ndim - len(axes), a.ndim)), axes)
    return a * scale_of(norm, kind, math.prod(lengths), a.dtype)


def as_fourier_input(a: Any, kind: str) -> Any:
    """In the dtype that a transform takes."""
    dtype = dtypes.to_inexact(a.dtype)
    if dtype.name in ("float16", "bfloat16"):
        dtype = numpy.dtype("float32")
    if kind == "RFFT":
        if dtypes.is_complex(dtype):
            raise TypeError("rfft takes real numbers; use fft for complex ones")
        return a.astype(dtype)
    return a.astype(dtypes.complex_of(dtype))


def resized(a: Any, axis: int, n: int) -> Any:
    """An axis cut off, or filled with zeros, to length n."""
    if a.shape[axis] > n:
        return a[(*(slice(None),) * axis, slice(0, n))]
    if a.shape[axis] < n:
        return np.pad(a, [(0, n - a.shape[axis] if k == axis else 0) for k in range(a.ndim)])
    return a


def in_chunks(a: Any, kind: str, lengths: tuple[int, ...]) -> Any:
    """XLA transforms at most three axes at a time: the last three, then the ones before."""
    last, before = lengths[-3:], lengths[:-3]
    if not before:
        return fourier(a, kind=kind, lengths=last)
    plain = {"RFFT": "FFT", "IRFFT": "IFFT"}.get(kind, kind)
    if kind != "IRFFT":
        a = fourier(a, kind=kind, lengths=last)
    rank = len(last)
    front = tuple(range(a.ndim - rank, a.ndim))
    start = a.ndim - len(lengths)
    a = np.moveaxis(a, front, tuple(range(start, start + rank)))
    a = in_chunks(a, plain, before)
    a = np.moveaxis(a, tuple(range(start, start + rank)), front)
    return fourier(a, kind=kind, lengths=last) if kind == "IRFFT" else a


def scale_of(norm: Any, kind: str, count: int, dtype: Any) -> Any:
    """The factor of a normalization; XLA divides inverse transforms by the count."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"fft: norm must be backward, ortho or forward, not {norm!r}")
    inverse = kind in ("IFFT", "IRFFT")
    factor = {"backward": 1.0, None: 1.0, "ortho": count**-0.5, "forward": 1.0 / count}[norm]
    factor = 1.0 / factor if inverse else factor
    return numpy.asarray(factor, dtypes.real_type(dtype))


@with_rule(
    arrays=("a",),
    vjp=(lambda g, out, a, *, n, axis, norm: fft_bar(g, a, n, axis, norm),),
    jvp=lambda dots, out, a, *, n, axis, norm: np.fft.fft(dots[0], n, axis, norm),
)
def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Discrete Fourier transform along an axis.

    >>> fft(np.array([1.0, 1.0]))
    Array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return transform(a, "FFT", None if n is None else (n,), (axis,), norm)


@with_rule(
    arrays=("a",),
    vjp=(lambda g, out, a, *, n, axis, norm: ifft_bar(g, a, n, axis, norm),),
    jvp=lambda dots, out, a, *, n, axis, norm: np.fft.ifft(dots[0], n, axis, norm),
)
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Inverse of `fft`.

    >>> ifft(np.array([2.0, 0.0]))
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    return transform(a, "IFFT", None if n is None else (n,), (axis,), norm)


@with_rule(
    arrays=("a",),
    vjp=(lambda g, out, a, *, n, axis, norm: rfft_bar(g, a, n, axis, norm),),
    jvp=lambda dots, out, a, *, n, axis, norm: np.fft.rfft(dots[0], n, axis, norm),
)
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The first half of the transform of real numbers, which determines the rest.

    >>> rfft(np.array([1.0, 1.0, 1.0])).shape
    (2,)
    """
    return transform(a, "RFFT", None if n is None else (n,), (axis,), norm)


@with_rule(
    arrays=("a",),
    vjp=(lambda g, out, a, *, n, axis, norm: irfft_bar(g, a, n, axis, norm),),
    jvp=lambda dots, out, a, *, n, axis, norm: np.fft.irfft(dots[0], n, axis, norm),
)
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Inverse of `rfft`, of length n (by default even).

    >>> irfft(np.array([2.0, 0.0]))
    Array([1., 1.], dtype=float32)
    """
    return transform(a, "IRFFT", None if n is None else (n,), (axis,), norm)


def transform_bar(g: Any, a: Any, kind: str, n: Any, axis: int, norm: Any) -> Any:
    """Cotangent of what a transform along one axis was given: cut off or padded, and real again."""
    a = np.asarray(a)
    axis = normal_axis(axis, a.ndim)
    given = a.shape[axis]
    length = n or (2 * (given - 1) if kind == "IRFFT" else given)
    kept = length // 2 + 1 if kind == "IRFFT" else length
    if kind != "IRFFT":
        g = np.astype(g, dtypes.complex_of(g.dtype))  # real, where only the real part was read
    bar = fourier_back(np.moveaxis(g, axis, -1), kind, (length,))
    bar = np.moveaxis(bar, -1, axis) * scale_of(norm, kind, length, g.dtype)
    if kept != given:
        bar = resized(bar, axis, given)
    return bar if dtypes.is_complex(a.dtype) else np.real(bar)


def fft_bar(g: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Cotangent of a in `fft(a)`, a transform again."""
    return transform_bar(g, a, "FFT", n, axis, norm)


def ifft_bar(g: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Cotangent of a in `ifft(a)`, a transform again."""
    return transform_bar(g, a, "IFFT", n, axis, norm)


def rfft_bar(g: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Cotangent of a in `rfft(a)`."""
    return transform_bar(g, a, "RFFT", n, axis, norm)


def irfft_bar(g: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Cotangent of a in `irfft(a)`."""
    return transform_bar(g, a, "IRFFT", n, axis, norm)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Transform of a signal with Hermitian symmetry, given by its first half: real.

    >>> hfft(np.array([1.0, 0.0]))
    Array([1., 1.], dtype=float32)
    """
    a = np.conj(np.asarray(a))
    count = 2 * (a.shape[normal_axis(axis, a.ndim)] - 1) if n is None else n
    swapped = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}[
        norm
    ]
    return irfft(a, count, axis, swapped)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Inverse of `hfft`.

    >>> ihfft(np.array([1.0, 1.0]))
    Array([1.-0.j, 0.-0.j], dtype=complex64)
    """
    swapped = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}[
        norm
    ]
    return np.conj(rfft(a, n, axis, swapped))


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Transform over several axes, by default all.

    >>> fftn(np.ones((2, 2)))[0, 0]
    Array(4.+0.j, dtype=complex64)
    """
    return transform(a, "FFT", s, axes, norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Inverse of `fftn`.

    >>> ifftn(np.ones((2, 2)))[0, 0]
    Array(1.+0.j, dtype=complex64)
    """
    return transform(a, "IFFT", s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Transform of real numbers over several axes; the last axis of the result is halved.

    >>> rfftn(np.ones((2, 4))).shape
    (2, 3)
    """
    return transform(a, "RFFT", s, axes, norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Inverse of `rfftn`.

    >>> irfftn(np.ones((2, 3))).shape
    (2, 4)
    """
    return transform(a, "IRFFT", s, axes, norm)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Transform over two axes.

    >>> fft2(np.ones((2, 2)))[0, 0]
    Array(4.+0.j, dtype=complex64)
    """
    return transform(a, "FFT", s, axes, norm)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Inverse of `fft2`.

    >>> ifft2(np.ones((2, 2)))[0, 0]
    Array(1.+0.j, dtype=complex64)
    """
    return transform(a, "IFFT", s, axes, norm)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Transform of real numbers over two axes.

    >>> rfft2(np.ones((2, 4))).shape
    (2, 3)
    """
    return transform(a, "RFFT", s, axes, norm)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Inverse of `rfft2`.

    >>> irfft2(np.ones((2, 3))).shape
    (2, 4)
    """
    return transform(a, "IRFFT", s, axes, norm)


# frequencies and order ----------------------------------------------------------------------------


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequency of each coefficient of `fft` for samples `d` apart.

    >>> fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    numbers = np.asarray(numpy.fft.fftfreq(n) * n, dtype or float, device=device)
    return numbers / (np.asarray(d, numbers.dtype) * n)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequency of each coefficient of `rfft` for samples `d` apart.

    >>> rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    numbers = np.asarray(numpy.fft.rfftfreq(n) * n, dtype or float, device=device)
    return numbers / (np.asarray(d, numbers.dtype) * n)


def shifted_axes(x: Any, axes: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axes is None else normal_axes(axes, x.ndim)


def fftshift(x: Any, axes: Any = None) -> Any:
    """With the zero frequency in the middle.

    >>> fftshift(np.arange(4))
    Array([2, 3, 0, 1], dtype=int32)
    """
    x = np.asarray(x)
    chosen = shifted_axes(x, axes)
    return np.roll(x, tuple(x.shape[k] // 2 for k in chosen), chosen)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """Inverse of `fftshift`.

    >>> ifftshift(np.arange(4))
    Array([2, 3, 0, 1], dtype=int32)
    """
    x = np.asarray(x)
    chosen = shifted_axes(x, axes)
    return np.roll(x, tuple(-(x.shape[k] // 2) for k in chosen), chosen)


from overt.runtime import numpy as np  # noqa: E402
