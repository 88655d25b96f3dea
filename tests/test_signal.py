"""Convolutions, spectra and cosine transforms against SciPy, in float64."""

from __future__ import annotations

import numpy
import pytest
import scipy.fft
import scipy.signal
from numeric import check_batch, check_derivatives
from numpy.testing import assert_allclose

import overt
from overt.scipy import fft, signal
from overt.scipy.integrate import trapezoid

RNG = numpy.random.default_rng(0)
MODES = ["full", "same", "valid"]
pytestmark = pytest.mark.usefixtures("x64")

PAIRS = {
    "vectors": (RNG.normal(size=7), RNG.normal(size=4)),
    "short first": (RNG.normal(size=3), RNG.normal(size=6)),
    "matrices": (RNG.normal(size=(5, 6)), RNG.normal(size=(2, 3))),
    "boxes": (RNG.normal(size=(4, 3, 5)), RNG.normal(size=(2, 3, 2))),
    "integers": (numpy.arange(6), numpy.array([1, -2, 3])),
    "complex": (RNG.normal(size=6) + 1j * RNG.normal(size=6), RNG.normal(size=3)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_convolutions_as_scipy(name):
    x, w = PAIRS[name]
    for mode in MODES:
        for function in ("convolve", "correlate"):
            wanted = getattr(scipy.signal, function)(x, w, mode, "direct")
            found = getattr(signal, function)(x, w, mode)
            assert found.dtype == wanted.dtype
            assert_allclose(found, wanted, atol=1e-12, err_msg=f"{function} {mode}")
        if name != "integers":
            by_fft = signal.convolve(x, w, mode, "fft")
            assert_allclose(by_fft, scipy.signal.convolve(x, w, mode), atol=1e-12)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("shape", [(2, 3), (3, 4)])
def test_matrices_with_boundaries_as_scipy(boundary, shape):
    x, w = RNG.normal(size=(5, 6)), RNG.normal(size=shape)
    for mode in MODES:
        for function in ("convolve2d", "correlate2d"):
            fill = 1.5 if boundary == "fill" else 0
            wanted = getattr(scipy.signal, function)(x, w, mode, boundary, fill)
            found = getattr(signal, function)(x, w, mode, boundary, fill)
            assert_allclose(found, wanted, atol=1e-12, err_msg=f"{function} {mode}")
    wanted = scipy.signal.correlate2d(w, x, "valid")
    assert_allclose(signal.correlate2d(w, x, "valid"), wanted, atol=1e-12)


def test_fftconvolve_along_some_axes():
    x, w = RNG.normal(size=(3, 6)), RNG.normal(size=(1, 4))
    for mode in MODES:
        wanted = scipy.signal.fftconvolve(x, w, mode, axes=1)
        assert_allclose(signal.fftconvolve(x, w, mode, axes=1), wanted, atol=1e-12)


def test_derivatives_and_lanes_of_convolutions():
    x, w = RNG.normal(size=(4, 5)), RNG.normal(size=(2, 3))
    for f in (
        lambda x, w: signal.convolve(x, w, "same"),
        lambda x, w: signal.correlate2d(x, w, "full", "wrap"),
        lambda x, w: signal.fftconvolve(x, w, "valid"),
    ):
        check_derivatives(f, x, w)
    check_batch(
        lambda x, w: signal.convolve(x, w, "same"), RNG.normal(size=(2, 5)), RNG.normal(size=(2, 3))
    )


def test_detrend_as_scipy():
    x = RNG.normal(size=(3, 11)) + numpy.arange(11)
    for how in ({}, {"type": "constant"}, {"bp": 4}, {"bp": [2, 7]}, {"axis": 0}):
        assert_allclose(signal.detrend(x, **how), scipy.signal.detrend(x, **how), atol=1e-12)
    check_derivatives(lambda x: signal.detrend(x, bp=[4]), x)


SPECTRA = {
    "usual": {"nperseg": 16},
    "odd": {"nperseg": 15, "fs": 2.5, "window": "hamming", "noverlap": 4},
    "padded": {"nperseg": 16, "nfft": 21, "detrend": "linear"},
    "two sides": {"nperseg": 16, "return_onesided": False, "detrend": False},
    "spectrum": {"nperseg": 16, "scaling": "spectrum", "window": ("tukey", 0.3)},
    "median": {"nperseg": 12, "average": "median"},
    "array": {"window": numpy.linspace(0.1, 1, 10)},
}


@pytest.mark.parametrize("name", SPECTRA)
def test_densities_as_scipy(name):
    x, y = RNG.normal(size=(2, 60)), RNG.normal(size=(2, 60))
    for function, signals in (("welch", (x,)), ("csd", (x, y))):
        frequencies, wanted = getattr(scipy.signal, function)(*signals, **SPECTRA[name])
        f, found = getattr(signal, function)(*signals, **SPECTRA[name])
        assert_allclose(f, frequencies, atol=1e-12)
        assert_allclose(found, wanted, atol=1e-12)


def test_densities_along_an_axis_of_signals_of_unequal_length():
    x, y = RNG.normal(size=(40, 2)) + 1j, RNG.normal(size=(30, 2)) * 1j
    _, wanted = scipy.signal.csd(x, y, nperseg=8, axis=0)
    _, found = signal.csd(x, y, nperseg=8, axis=0)
    assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
def test_short_spectra_as_scipy(boundary):
    x = RNG.normal(size=(2, 45))
    how = {"nperseg": 12, "noverlap": 9, "nfft": 15, "fs": 3.0, "boundary": boundary}
    wanted = scipy.signal.stft(x, padded=boundary != "odd", **how)
    found = signal.stft(x, padded=boundary != "odd", **how)
    for a, b in zip(found, wanted, strict=True):
        assert_allclose(a, b, atol=1e-12)


def test_signals_from_short_spectra_as_scipy():
    x = RNG.normal(size=(2, 64))
    _, _, z = scipy.signal.stft(x, nperseg=16, noverlap=12)
    wanted_times, wanted = scipy.signal.istft(z, nperseg=16, noverlap=12)
    times, found = signal.istft(z, nperseg=16, noverlap=12)
    assert_allclose(found, wanted, atol=1e-12)
    assert_allclose(found, x, atol=1e-12)
    assert_allclose(times, numpy.arange(64))
    turned = numpy.moveaxis(z, -1, 0)
    _, wanted = scipy.signal.istft(turned, nperseg=16, noverlap=12, time_axis=0, freq_axis=2)
    _, found = signal.istft(turned, nperseg=16, noverlap=12, time_axis=0, freq_axis=2)
    assert_allclose(found, wanted, atol=1e-12)
    how = {"nperseg": 16, "noverlap": 12, "window": "hamming", "boundary": False}
    _, wanted = scipy.signal.istft(z[0], **how)
    assert_allclose(signal.istft(z[0], **how)[1], wanted, atol=1e-12)


def test_derivatives_and_lanes_of_spectra():
    x = RNG.normal(size=24)
    check_derivatives(lambda x: signal.welch(x, nperseg=8)[1], x)
    check_derivatives(lambda x: abs(signal.stft(x, nperseg=8)[2]) ** 2, x)
    check_batch(lambda x: signal.welch(x, nperseg=8)[1], RNG.normal(size=(3, 24)))

    def there_and_back(x):
        return signal.istft(signal.stft(x, nperseg=8)[2], nperseg=8)[1] ** 2

    assert_allclose(overt.jit(overt.grad(lambda x: there_and_back(x).sum()))(x), 2 * x)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms_as_scipy(kind):
    for n in (6, 7):
        x = RNG.normal(size=(2, n)) + (1j if n == 6 else 0)
        for norm in (None, "ortho", "forward"):
            for name in ("dct", "idct"):
                wanted = getattr(scipy.fft, name)(x, kind, norm=norm)
                assert_allclose(getattr(fft, name)(x, kind, norm=norm), wanted, atol=1e-12)
    x = RNG.normal(size=(3, 5))
    for name in ("dctn", "idctn"):
        wanted = getattr(scipy.fft, name)(x, kind, s=(4, 6), axes=(1, 0))
        assert_allclose(getattr(fft, name)(x, kind, s=(4, 6), axes=(1, 0)), wanted, atol=1e-12)
        wanted = getattr(scipy.fft, name)(x, kind, norm="ortho")
        assert_allclose(getattr(fft, name)(x, kind, norm="ortho"), wanted, atol=1e-12)
    check_derivatives(lambda x: fft.dct(x, kind, n=4, axis=0), x)
    check_batch(lambda x: fft.idct(x, kind), x)


def test_trapezoid():
    assert_allclose(trapezoid([1.0, 2.0, 4.0], dx=0.5), 2.25)


def test_arguments_are_checked():
    x = numpy.ones(8)
    for wrong, text in (
        (lambda: signal.convolve(x, x, "half"), "mode"),
        (lambda: signal.convolve(x, x, "full", "slow"), "method"),
        (lambda: signal.convolve(x, x[None]), "rank"),
        (lambda: signal.convolve2d(x, x), "matrices"),
        (lambda: signal.convolve2d(x[None], x[None], boundary="mirror"), "boundary"),
        (lambda: signal.convolve(x[:, None], x[None, :], "valid"), "as large"),
        (lambda: signal.detrend(x, type="cubic"), "type"),
        (lambda: signal.detrend(x, bp=9), "breakpoints"),
        (lambda: signal.welch(x, window="mystery"), "unknown window"),
        (lambda: signal.welch(x, nperseg=4, noverlap=4), "noverlap"),
        (lambda: signal.welch(x, nperseg=4, nfft=3), "nfft"),
        (lambda: signal.csd(x, x, average="mode"), "average"),
        (lambda: signal.stft(x, boundary="round"), "boundary"),
        (lambda: signal.istft(x), "two dimensions"),
        (lambda: fft.dct(x, 5), "type"),
        (lambda: fft.dct(x, norm="half"), "norm"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
