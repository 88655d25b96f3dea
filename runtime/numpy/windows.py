"""Windows: weights that fade towards both ends of a piece of signal."""

from __future__ import annotations

import importlib
import operator
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.numpy.creation import constant

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def _window(name: str, M: Any, *parameters: Any) -> Any:
    made = getattr(numpy, name)(operator.index(M), *parameters)
    return constant(made, dtypes.float_type())


def bartlett(M: int) -> Any:
    """Triangular window of `M` points.

    >>> print(np.bartlett(3))
    [0. 1. 0.]
    """
    return _window("bartlett", M)


def blackman(M: int) -> Any:
    """Blackman window of `M` points.

    >>> print(np.round(np.blackman(3), 2))
    [-0.  1. -0.]
    """
    return _window("blackman", M)


def hamming(M: int) -> Any:
    """Hamming window of `M` points.

    >>> print(np.hamming(3))
    [0.08 1.   0.08]
    """
    return _window("hamming", M)


def hanning(M: int) -> Any:
    """Hann window of `M` points.

    >>> print(np.hanning(3))
    [0. 1. 0.]
    """
    return _window("hanning", M)


def kaiser(M: int, beta: Any) -> Any:
    """Kaiser window of `M` points; a larger `beta` is narrower.

    >>> print(np.round(np.kaiser(3, 2.0), 3))
    [0.439 1.    0.439]
    """
    n = operator.index(M)
    if n == 1:
        return np.ones(1)
    place = np.linspace(-1.0, 1.0, n)
    inside = np.sqrt(np.maximum(0, 1 - place**2))
    i0 = importlib.import_module("overt.runtime.scipy.bessel").i0
    return i0(beta * inside) / i0(beta)
