"""The Faddeeva function and what is made of it: scaled error, Dawson and Fresnel functions.

Source: M. Al Azah and S. N. Chandler-Wilde, Computation of the complex error function using
modified trapezoidal rules, SIAM J. Numer. Anal. 59, 2021.  The trapezoidal rule for the integral of
exp(-t**2) / (z - t), its nodes moved half a step away from poles, plus the residue that it misses.
"""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.numpy.rounding import from_parts
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import erfc, floating, horner, ndtr, reals

__all__ = ["dawsn", "erfcx", "fresnel", "log_ndtr", "wofz"]

NODES = 12
STEP = math.sqrt(math.pi / NODES)
POLE = math.pi / STEP  # imaginary part from which the residue is negligible


def _first_quadrant(x: Any, y: Any) -> tuple[Any, Any]:
    """Real and imaginary part of the Faddeeva function at `x + 1j * y`, both not negative."""
    largest = np.maximum(x, y)
    infinite = np.isinf(largest)
    far = largest > float(np.finfo(x.dtype).eps) ** -0.5
    near_real, near_imaginary = _near(np.where(far, 1, x), np.where(far, 1, y))
    # Far away the first term of the asymptotic series, 1j / (sqrt(pi) * z).
    scale = np.where(far & ~infinite, largest, 1)
    along, up = np.where(infinite, 1, x / scale), np.where(infinite, 1, y / scale)
    size = np.where(
        infinite, 0, 1 / (math.sqrt(math.pi) * scale * np.where(far, along**2 + up**2, 1))
    )
    return np.where(far, up * size, near_real), np.where(far, along * size, near_imaginary)


def _near(x: Any, y: Any) -> tuple[Any, Any]:
    """The same for numbers of moderate size."""
    place = x / STEP
    angle = 2 * math.pi * (place - np.round(place))
    plain = y >= np.maximum(x, POLE)
    middle = plain | (np.cos(angle) >= 0)
    real_part, imaginary = np.zeros_like(x), np.zeros_like(x)
    square = x**2 + y**2
    for k in range(NODES):
        half, whole = (k + 0.5) * STEP, k * STEP
        node = np.where(middle, half, whole)
        weight = np.where(middle, math.exp(-(half**2)), math.exp(-(whole**2)) * (1 if k else 0.5))
        term = weight / (((x - node) ** 2 + y**2) * ((x + node) ** 2 + y**2))
        real_part = real_part + y * (square + node**2) * term
        imaginary = imaginary + x * (square - node**2) * term
    sign = np.where(middle, 1, -1)
    q = np.exp(-2 * POLE * y)
    c, s = q + sign * np.cos(angle), sign * np.sin(angle)
    size = np.where(plain, 0, 2 * np.exp(np.where(plain, 0, (y - x) * (y + x) - 2 * POLE * y)))
    size = size / np.where(plain, 1, c**2 + s**2)
    turn, across = np.cos(2 * x * y), np.sin(2 * x * y)
    factor = 2 * STEP / math.pi
    return (
        factor * real_part + size * (turn * c + across * s),
        factor * imaginary + size * (turn * s - across * c),
    )


@composite(arrays=("z",), vjp=(lambda g, out, z: times(g, (2j / np.sqrt(np.pi) - 2 * z * out)),))
def _faddeeva(z: Any) -> Any:
    """The Faddeeva function of complex numbers."""
    x, y = np.real(z), np.imag(z)
    real_part, imaginary = _first_quadrant(np.abs(x), np.abs(y))
    imaginary = imaginary * np.sign(x)
    lower = y < 0
    size = 2 * np.exp(np.where(lower, (y - x) * (y + x), 0))
    angle = np.where(lower, 2 * x * y, 0)
    turned = np.where(angle == 0, 0, size * np.sin(angle))
    real_part = np.where(lower, size * np.cos(angle) - real_part, real_part)
    imaginary = np.where(lower, imaginary - turned, imaginary)
    return from_parts(real_part, imaginary)


@composite(arrays=("z",))
def wofz(z: Any) -> Any:
    """The Faddeeva function `exp(-z**2) * erfc(-1j * z)`.

    >>> print(f"{wofz(1.0):.4f}")
    0.3679+0.6072j
    """
    z = floating(z)
    return _faddeeva(z if np.iscomplexobj(z) else z + 0j)


# ---- on the axes ----


def _far(x: Any) -> tuple[Any, Any]:
    """Where slopes come from their asymptotic series, as the closed form cancels; and 1 / x**2."""
    far = np.abs(x) > (20 if x.dtype.itemsize >= 8 else 8)
    return far, 1 / np.where(far, x, 1) ** 2


# Products of odd numbers, 1 * 3 * ... * (2n + 1), over 2**n, highest n first.
ODD = tuple(math.prod(range(1, 2 * n + 2, 2)) / 2**n for n in range(8, -1, -1))


def slope_of_erfcx(out: Any, x: Any) -> Any:
    """Derivative of `erfcx`."""
    far, t = _far(x)
    near = 2 * x * out - 2 / math.sqrt(math.pi)
    return np.where(far & (x > 0), -t / math.sqrt(math.pi) * horner(ODD, -t), near)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, slope_of_erfcx(out, x)),))
def erfcx(x: Any) -> Any:
    """`exp(x**2) * erfc(x)`, which does not underflow for large `x`.

    >>> print(f"{erfcx(100.0):.6f}")
    0.005642
    """
    (x,) = reals("erfcx", x)
    y = np.abs(x)
    total = np.zeros_like(y)
    for k in range(NODES):
        node = (k + 0.5) * STEP
        total = total + math.exp(-(node**2)) / (y + node**2 / y)
    near = np.minimum(y, POLE)
    residue = 2 * np.exp(near * (near - 2 * POLE)) / (1 + np.exp(-2 * POLE * near))
    right = 2 * STEP / math.pi * total + np.where(y < POLE, residue, 0)
    return np.where(x < 0, 2 * np.exp(x**2) - right, right)


def slope_of_log_ndtr(x: Any) -> Any:
    """Derivative of `log_ndtr`: the inverse of Mills' ratio."""
    left, above = np.where(x < 0, x, 0), np.where(x < 0, 0, x)
    right = np.exp(-(above**2) / 2) / ndtr(above) / math.sqrt(2 * math.pi)
    return np.where(x < 0, math.sqrt(2 / math.pi) / erfcx(-left / math.sqrt(2)), right)


@composite(arrays=("x",), vjp=(lambda g, out, x, *, series_order: times(g, slope_of_log_ndtr(x)),))
def log_ndtr(x: Any, series_order: int = 3) -> Any:
    """`log(ndtr(x))`, also far below zero, where the distribution underflows.

    `series_order` is JAX's and has no influence: no series is used.

    >>> print(f"{log_ndtr(-100.0):.2f}")
    -5005.52
    """
    (x,) = reals("log_ndtr", x)
    left = x < -1
    tail = np.where(left, x, -1)
    below = np.log(erfcx(-tail / math.sqrt(2)) / 2) - tail**2 / 2
    above = np.log1p(-erfc(np.where(left, 0, x) / math.sqrt(2)) / 2)
    return np.where(x == -np.inf, -np.inf, np.where(left, below, above))


# Coefficients in x**2 of the power series of Dawson's integral over x, highest power first.
DAWSON = tuple((-2) ** n / math.prod(range(1, 2 * n + 2, 2)) for n in range(13, -1, -1))


def slope_of_dawsn(out: Any, x: Any) -> Any:
    """Derivative of `dawsn`."""
    far, t = _far(x)
    return np.where(far, -t / 2 * horner(ODD, t), 1 - 2 * x * out)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, slope_of_dawsn(out, x)),))
def dawsn(x: Any) -> Any:
    """Dawson's integral, `exp(-x**2)` times the integral of `exp(t**2)` from 0 to `x`.

    >>> print(f"{dawsn(1.0):.4f}")
    0.5381
    """
    (x,) = reals("dawsn", x)
    small = np.abs(x) < 0.5
    near, far = np.where(small, x, 0), np.where(small, 1, np.abs(x))
    size = math.sqrt(math.pi) / 2 * _first_quadrant(far, np.zeros_like(x))[1]
    return np.where(small, near * horner(DAWSON, near**2), np.sign(x) * size)


# ---- Fresnel integrals ----

# Coefficients in x**4 of the power series of S / x**3 and C / x, highest power first.
SINES, COSINES = (
    tuple(
        (-1) ** k * (math.pi / 2) ** (2 * k + odd) / (math.factorial(2 * k + odd) * power(k))
        for k in range(11, -1, -1)
    )
    for odd, power in ((1, lambda k: 4 * k + 3), (0, lambda k: 4 * k + 1))
)


def _fresnel(x: Any) -> tuple[Any, Any]:
    """Both integrals: from the power series near zero, else from the Faddeeva function."""
    (x,) = reals("fresnel", x)
    size = np.abs(x)
    near = np.minimum(size, 1.2)
    far = np.where(size > 1.2, size, 2)
    u, v = _first_quadrant(math.sqrt(math.pi) / 2 * far, math.sqrt(math.pi) / 2 * far)
    # x**2 / 2 modulo 2, from the nearest integer and the rest, so that large x stay accurate.
    whole = np.round(np.where(np.isinf(far), 0, far))
    rest = np.where(np.isinf(far), 0, far) - whole
    turns = whole * rest
    angle = math.pi * (np.abs(whole % 2) / 2 + turns - 2 * np.round(turns / 2) + rest**2 / 2)
    c, s = np.cos(angle), np.sin(angle)
    p, q = c * u - s * v, c * v + s * u
    sine, cosine = near**3 * horner(SINES, near**4), near * horner(COSINES, near**4)
    sine = np.where(size > 1.2, (1 - p - q) / 2, sine)
    return np.sign(x) * sine, np.sign(x) * np.where(size > 1.2, (1 - p + q) / 2, cosine)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, np.sin(np.pi / 2 * x**2)),))
def fresnel_sine(x: Any) -> Any:
    """Integral of `sin(pi / 2 * t**2)` from 0 to `x`."""
    return _fresnel(x)[0]


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, np.cos(np.pi / 2 * x**2)),))
def fresnel_cosine(x: Any) -> Any:
    """Integral of `cos(pi / 2 * t**2)` from 0 to `x`."""
    return _fresnel(x)[1]


@composite(arrays=("x",))
def fresnel(x: Any) -> tuple[Any, Any]:
    """The Fresnel integrals of `sin(pi / 2 * t**2)` and `cos(pi / 2 * t**2)` from 0 to `x`.

    >>> sine, cosine = fresnel(1.0)
    >>> print(f"{sine:.4f} {cosine:.4f}")
    0.4383 0.7799
    """
    return fresnel_sine(x), fresnel_cosine(x)
