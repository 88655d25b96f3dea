"""Window functions by name, one period of them, as numbers.

Source: Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform",
1978; Heinzel, Ruediger and Schilling, "Spectrum and spectral density estimation", 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

__all__ = ["get_window"]

# Sums of cosines: a0 - a1 cos(t) + a2 cos(2 t) - ...
_COSINES = {
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.5, 0.08),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
}
_SHORT = {
    "box": "boxcar", "ones": "boxcar", "rect": "boxcar", "rectangular": "boxcar",
    "hanning": "hann", "han": "hann", "hamm": "hamming", "ham": "hamming", "black": "blackman",
    "blk": "blackman", "nutt": "nuttall", "nut": "nuttall", "blackharr": "blackmanharris",
    "bkh": "blackmanharris", "flat": "flattop", "flt": "flattop", "bart": "bartlett",
    "brt": "bartlett", "tri": "triang", "triangle": "triang", "gauss": "gaussian",
    "gss": "gaussian", "ksr": "kaiser", "tuk": "tukey",
}  # fmt: skip


def _cosines(x: Any, coefficients: Any) -> Any:
    signs = [(-1) ** k * a * numpy.cos(k * math.pi * (x + 1)) for k, a in enumerate(coefficients)]
    return sum(signs)


def _tukey(x: Any, alpha: float = 0.5) -> Any:
    if alpha <= 0:
        return numpy.ones_like(x)
    edge = numpy.clip((numpy.abs(x) - (1 - alpha)) / alpha, 0, 1)
    return 0.5 * (1 + numpy.cos(math.pi * edge))


# Functions of a place in [-1, 1] and of the window's own parameters.
_SHAPES: dict[str, Callable[..., Any]] = {
    "boxcar": lambda x: numpy.ones_like(x),
    "bartlett": lambda x: 1 - numpy.abs(x),
    "kaiser": lambda x, beta: (
        numpy.i0(beta * numpy.sqrt(numpy.clip(1 - x * x, 0, 1))) / numpy.i0(beta)
    ),
    "general_cosine": _cosines,
    "general_hamming": lambda x, alpha: _cosines(x, (alpha, 1 - alpha)),
    "tukey": _tukey,
}


def get_window(window: Any, n: int) -> Any:
    """`n` numbers of a window, the next of which would be the first again.

    `window` is a name, or a tuple of a name and parameters.

    Errors: ValueError for an unknown name.

    >>> print(get_window("hann", 4))
    [0.  0.5 1.  0.5]
    """
    name, *parameters = window if isinstance(window, tuple) else (window,)
    name = _SHORT.get(name, name)
    if n == 1:
        return numpy.ones(1)
    t = numpy.arange(n) - n / 2  # a symmetric window of one more, less its last
    if name == "triang":
        return 1 - numpy.abs(t) / (n / 2 + (1 if (n + 1) % 2 else 0.5))
    if name == "cosine":
        return numpy.sin(math.pi / (n + 1) * (numpy.arange(n) + 0.5))
    if name == "gaussian":
        return numpy.exp(-((t / parameters[0]) ** 2) / 2)
    if name in _COSINES:
        return _cosines(2 * t / n, _COSINES[name])
    if name not in _SHAPES:
        known = sorted([*_COSINES, *_SHAPES, "triang", "cosine", "gaussian"])
        raise ValueError(
            f"unknown window {window!r}; known are {', '.join(known)}, or give its numbers in an "
            "array"
        )
    return _SHAPES[name](2 * t / n, *parameters)
