"""Spectra of stretches of signals: means of them, or one after the other.

Source: Welch, "The use of the fast Fourier transform for the estimation of power spectra", 1967;
Griffin and Lim, "Signal estimation from modified short-time Fourier transform", 1984.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.called import call
from overt.runtime.numpy.array_function import array_function
from overt.runtime.numpy.movement import normal_axis
from overt.runtime.scipy.signal import trends
from overt.runtime.scipy.signal.windows import get_window

__all__ = ["csd", "istft", "stft", "welch"]


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies, and the cross spectral density of two signals there: Welch's method.

    The signals are cut into stretches of `nperseg` numbers (256) that overlap by `noverlap` (half
    of that), each without its trend, times the window, with zeros up to `nfft`. `average` is
    "mean" or "median", `scaling` "density" or "spectrum". Real signals have positive frequencies
    only, unless not `return_onesided`. `window` is a name, a tuple of a name and parameters, or an
    array; `detrend` a type of `detrend`, a function or False. Without `y` it is `x`.

    Errors: ValueError where these do not fit.

    >>> f, density = csd(np.ones(8), np.ones(8), nperseg=4, detrend=False)
    >>> print(f, density.shape)
    [0.   0.25 0.5 ] (3,)
    """
    same = y is None or y is x
    x = np.asarray(x)
    axis = normal_axis(axis, x.ndim)
    length = max(x.shape[axis], x.shape[axis] if same else np.shape(y)[axis])
    samples, noverlap, nfft = _stretches("csd", window, nperseg, noverlap, nfft, length)
    _check_choice("csd: average", average, ("mean", "median"))
    return _csd(
        x, None if same else y, fs, samples, noverlap, nfft, detrend, return_onesided, scaling,
        axis, average,
    )  # fmt: skip


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies, and the power spectral density of a signal there; arguments as of `csd`.

    >>> f, density = welch(np.ones(8), nperseg=4, detrend=False)
    >>> float(3 * density[0]), float(density[2])
    (8.0, 0.0)
    """
    frequencies, density = csd(
        x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
        average,
    )  # fmt: skip
    return frequencies, np.real(density)


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and the spectra there of a signal's stretches.

    `boundary` is how the signal goes on for half a stretch at both ends: "zeros", "constant",
    "even" (mirrored), "odd" (mirrored and turned), or None: not at all. With `padded` zeros fill
    the last stretch. Other arguments as of `csd`.

    Shapes: frequencies take the place of `axis`, times are the last axis.

    >>> f, t, spectra = stft(np.ones(16), nperseg=8)
    >>> spectra.shape == (len(f), len(t)) == (5, 5)
    True
    """
    x = np.asarray(x)
    axis = normal_axis(axis, x.ndim)
    length = x.shape[axis]
    samples, noverlap, nfft = _stretches("stft", window, nperseg, noverlap, nfft, length)
    _check_choice("stft: boundary", boundary, (*_BOUNDARIES, None))
    return _stft(
        x, fs, samples, noverlap, nfft, detrend, return_onesided, boundary, padded, axis
    )  # fmt: skip


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Any, Any]:
    """Times, and the signal whose `stft` with the same arguments is nearest to `Zxx`.

    >>> _, _, spectra = stft(np.arange(16.0), nperseg=8)
    >>> _, x = istft(spectra, nperseg=8)
    >>> bool(np.allclose(x, np.arange(16.0), atol=1e-4))
    True
    """
    Zxx = np.asarray(Zxx)
    if Zxx.ndim < 2:
        raise ValueError(f"istft needs an array of two dimensions or more, got {Zxx.shape}")
    times, frequencies = normal_axis(time_axis, Zxx.ndim), normal_axis(freq_axis, Zxx.ndim)
    if times == frequencies:
        raise ValueError("istft: time_axis and freq_axis must be different")
    count = Zxx.shape[frequencies]
    usual = 2 * (count - 1) if input_onesided else count
    if nperseg is None:
        nperseg = np.shape(window)[0] if _is_array(window) else usual
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == usual + 1 else usual
    samples, noverlap, nfft = _stretches("istft", window, nperseg, noverlap, nfft, None)
    return _istft(Zxx, fs, samples, noverlap, nfft, input_onesided, boundary, times, frequencies)


# arguments ----------------------------------------------------------------------------------------


def _is_array(window: Any) -> bool:
    return not isinstance(window, (str, tuple))


def _check_choice(what: str, value: Any, known: Any) -> None:
    if value not in known:
        raise ValueError(f"{what} is one of {', '.join(map(repr, known))}, not {value!r}")


def _stretches(
    name: str, window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None,
    length: int | None,
) -> tuple[Any, int, int]:  # fmt: skip
    """The window's numbers, how many of them stretches share, and how long transforms are."""
    if _is_array(window):
        samples = np.asarray(window)
        if samples.ndim != 1 or (length is not None and samples.shape[0] > length):
            raise ValueError(
                f"{name}: a window must be a vector no longer than the signal, got shape "
                f"{samples.shape} for {length} numbers"
            )
        if nperseg is not None and nperseg != samples.shape[0]:
            raise ValueError(f"{name}: nperseg {nperseg} is not the length of the window")
    else:
        nperseg = 256 if nperseg is None else int(nperseg)
        if nperseg < 1:
            raise ValueError(f"{name}: nperseg must be positive, not {nperseg}")
        samples = get_window(window, nperseg if length is None else min(nperseg, length))
    n = samples.shape[0]
    nfft = n if nfft is None else int(nfft)
    noverlap = n // 2 if noverlap is None else int(noverlap)
    if nfft < n:
        raise ValueError(f"{name}: nfft {nfft} is less than the length {n} of a stretch")
    if not 0 <= noverlap < n:
        raise ValueError(f"{name}: noverlap {noverlap} must be less than the length {n} of one")
    return samples, noverlap, nfft


# how ----------------------------------------------------------------------------------------------


def _detrended(x: Any, how: Any) -> Any:
    if not how:
        return x
    return call(how, x) if callable(how) else trends.detrend(x, -1, how)


def _spectra(x: Any, window: Any, noverlap: int, nfft: int, how: Any, onesided: bool) -> Any:
    """The transforms of all stretches: axes (..., stretches, frequencies)."""
    n = window.shape[0]
    count = (x.shape[-1] - noverlap) // (n - noverlap)
    places = numpy.arange(n) + (n - noverlap) * numpy.arange(count)[:, None]
    pieces = _detrended(x[..., places], how) * window.astype(x.dtype)
    return (np.fft.rfft if onesided else np.fft.fft)(pieces, nfft)


def _frequencies(fs: Any, nfft: int, onesided: bool, dtype: Any) -> Any:
    plain = (numpy.fft.rfftfreq if onesided else numpy.fft.fftfreq)(nfft)
    return np.asarray(plain.astype(dtypes.real_type(dtype))) * fs


def _median_bias(n: int) -> float:
    even = 2 * numpy.arange(1, (n - 1) // 2 + 1)
    return 1 + float(numpy.sum(1 / (even + 1) - 1 / even))


@array_function(arrays=("x", "y", "fs", "window"))
def _csd(
    x: Any, y: Any, fs: Any, window: Any, noverlap: int, nfft: int, detrend: Any,
    onesided: bool, scaling: str, axis: int, average: str,
) -> Any:  # fmt: skip
    window = np.asarray(window)
    dtype = dtypes.to_inexact(np.result_type(x) if y is None else np.result_type(x, y))
    onesided = onesided and not dtypes.is_complex(dtype)
    x = np.moveaxis(np.asarray(x).astype(dtype), axis, -1)
    if y is not None:
        y = np.moveaxis(np.asarray(y).astype(dtype), axis, -1)
        longest = max(x.shape[-1], y.shape[-1])
        x, y = _longer(x, longest), _longer(y, longest)
    first = _spectra(x, window, noverlap, nfft, detrend, onesided)
    second = first if y is None else _spectra(y, window, noverlap, nfft, detrend, onesided)
    power = np.conj(first) * second * _scale(window, fs, scaling).astype(dtypes.real_type(dtype))
    if onesided:
        last = power.shape[-1] - (1 if nfft % 2 == 0 else 0)
        both = numpy.ones(power.shape[-1])
        both[1:last] = 2
        power = power * both.astype(dtypes.real_type(dtype))
    if average == "mean":
        mean = np.mean(power, -2)
    else:
        mean = np.median(power.real, -2) + 1j * np.median(power.imag, -2)
        mean = mean / _median_bias(power.shape[-2])
    return _frequencies(fs, nfft, onesided, dtype), np.moveaxis(mean, -1, axis)


def _longer(x: Any, n: int) -> Any:
    pads = [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])]
    return np.pad(x, pads) if x.shape[-1] < n else x


def _scale(window: Any, fs: Any, scaling: str) -> Any:
    _check_choice("scaling", scaling, ("density", "spectrum"))
    if scaling == "density":
        return 1 / (fs * np.sum(window * window))
    return 1 / np.sum(window) ** 2


def _mirrored(x: Any, n: int) -> tuple[Any, Any]:
    return x[..., n:0:-1], x[..., -2 : -(n + 2) : -1]


def _ended(x: Any, n: int) -> tuple[Any, Any]:
    shape = (*x.shape[:-1], n)
    return np.broadcast_to(x[..., :1], shape), np.broadcast_to(x[..., -1:], shape)


_BOUNDARIES: dict[str, Callable[..., Any]] = {
    "zeros": lambda x, n: (np.zeros((*x.shape[:-1], n), x.dtype),) * 2,
    "constant": _ended,
    "even": _mirrored,
    "odd": lambda x, n: tuple(
        2 * end - part for end, part in zip((x[..., :1], x[..., -1:]), _mirrored(x, n), strict=True)
    ),
}


@array_function(arrays=("x", "fs", "window"))
def _stft(
    x: Any, fs: Any, window: Any, noverlap: int, nfft: int, detrend: Any, onesided: bool,
    boundary: str | None, padded: bool, axis: int,
) -> Any:  # fmt: skip
    window = np.asarray(window)
    n = window.shape[0]
    dtype = dtypes.to_inexact(np.result_type(x))
    onesided = onesided and not dtypes.is_complex(dtype)
    x = np.moveaxis(np.asarray(x).astype(dtype), axis, -1)
    if boundary is not None:
        before, after = _BOUNDARIES[boundary](x, n // 2)
        x = np.concatenate([before, x, after], -1)
    if padded:
        x = _longer(x, x.shape[-1] + -(x.shape[-1] - n) % (n - noverlap) % n)
    scale = np.sqrt(_scale(window, fs, "spectrum")).astype(dtypes.real_type(dtype))
    spectra = _spectra(x, window, noverlap, nfft, detrend, onesided) * scale
    starts = (n - noverlap) * numpy.arange(spectra.shape[-2]) + (
        n / 2 - n // 2 if boundary else n / 2
    )
    times = np.asarray(starts.astype(dtypes.real_type(dtype))) / fs
    spectra = np.moveaxis(np.swapaxes(spectra, -1, -2), -2, axis)
    return _frequencies(fs, nfft, onesided, dtype), times, spectra


@array_function(arrays=("Zxx", "fs", "window"))
def _istft(
    Zxx: Any, fs: Any, window: Any, noverlap: int, nfft: int, onesided: bool, boundary: bool,
    time_axis: int, freq_axis: int,
) -> Any:  # fmt: skip
    dtype = dtypes.complex_of(dtypes.to_inexact(Zxx.dtype))
    part = dtypes.real_type(dtype)
    window = np.asarray(window).astype(part)
    n = window.shape[0]
    z = np.moveaxis(Zxx.astype(dtype), (time_axis, freq_axis), (-2, -1))
    count, step = z.shape[-2], n - noverlap
    pieces = (np.fft.irfft if onesided else np.fft.ifft)(z, nfft)[..., :n] * np.sum(window)
    places = numpy.arange(n) + step * numpy.arange(count)[:, None]
    length = n + (count - 1) * step
    x = np.zeros((*z.shape[:-2], length), pieces.dtype).at[..., places].add(pieces * window)
    weight = np.zeros(length, part).at[places].add(np.broadcast_to(window**2, (count, n)))
    if boundary:
        x, weight = x[..., n // 2 : length - n // 2], weight[n // 2 : length - n // 2]
    x = x / np.where(weight > 1e-10, weight, 1)
    times = np.asarray(numpy.arange(x.shape[-1]).astype(part)) / fs
    if x.ndim > 1 and time_axis != Zxx.ndim - 1:
        x = np.moveaxis(x, -1, time_axis - (freq_axis < time_axis))
    return times, x
