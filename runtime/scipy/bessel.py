"""Bessel functions of the first kind: the modified ones of order 0 and 1, and those of integers."""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import for_loop, while_loop
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import horner, reals, special

__all__ = ["bessel_jn", "i0", "i0e", "i1", "i1e"]

# Chebyshev coefficients of i0e in [0, 8], and of sqrt(x) i0e beyond, highest order first.
# Source: S. L. Moshier, Cephes mathematical library, i0.c.
NEAR = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16,
    1.71539128555513303061e-15, -1.16853328779934516808e-14, 7.67618549860493561688e-14,
    -4.85644678311192946090e-13, 2.95505266312963983461e-12, -1.72682629144155570723e-11,
    9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7,
    1.11738753912010371815e-6, -4.41673835845875056359e-6, 1.64484480707288970893e-5,
    -5.75419501008210370398e-5, 1.88502885095841655729e-4, -5.76375574538582365885e-4,
    1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2,
    1.71620901522208775349e-1, -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
FAR = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17,
    3.46122286769746109310e-17, -2.82762398051658348494e-16, -3.42548561967721913462e-16,
    1.77256013305652638360e-15, 3.81168066935262242075e-15, -9.55484669882830764870e-15,
    -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11,
    -3.14991652796324136454e-11, 1.18891471078464383424e-11, 4.94060238822496958910e-10,
    3.39623202570838634515e-9, 2.26666899049817806459e-8, 2.04891858946906374183e-7,
    2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


def _chebyshev(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Clenshaw's recurrence."""
    b0: Any = 0.0
    b1: Any = 0.0
    b2: Any = 0.0
    for c in coefficients:
        b0, b1, b2 = x * b0 - b1 + c, b0, b1
    return 0.5 * (b0 - b2)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, (i1e(x) - np.sign(x) * out)),))
def i0e(x: Any) -> Any:
    """`exp(-abs(x)) * i0(x)`.

    >>> print(np.round(i0e(0.0), 5))
    1.0
    """
    x = np.abs(*reals("i0e", x))
    near = _chebyshev(0.5 * np.minimum(x, 8) - 2, NEAR)
    far = np.maximum(x, 8)
    return np.where(x <= 8, near, _chebyshev(32 / far - 2, FAR) / np.sqrt(far))


# Coefficients in x**2 of the power series of I1 / x, highest power first.
I1_OVER_X = tuple(
    1 / (2 * 4**k * math.factorial(k) * math.factorial(k + 1)) for k in range(10, -1, -1)
)


def slope_of_i1e(out: Any, x: Any) -> Any:
    """Derivative of `i1e`; 1/2 at zero.

    >>> print(np.round(slope_of_i1e(0.0, 0.0), 5))
    0.5
    """
    small = np.abs(x) < 1
    near, far = np.where(small, x, 0), np.where(small, 1, x)
    series = np.exp(-np.sign(near) * near) * horner(I1_OVER_X, near**2)
    return i0e(x) - np.sign(x) * out - np.where(small, series, out / far)


i1e = special(
    "i1e", "chlo.bessel_i1e",
    (lambda g, out, x: times(g, slope_of_i1e(out, x)),),
    """`exp(-abs(x)) * i1(x)`.

    >>> print(i1e(0.0))
    0.0
    """,
)  # fmt: skip


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, i1(x)),))
def i0(x: Any) -> Any:
    """Modified Bessel function of order 0.

    >>> print(np.round(i0(0.0), 5))
    1.0
    """
    (x,) = reals("i0", x)
    return np.exp(np.abs(x)) * i0e(x)


def slope_of_i1(out: Any, x: Any) -> Any:
    """Derivative of `i1`; 1/2 at zero.

    >>> print(np.round(slope_of_i1(0.0, 0.0), 5))
    0.5
    """
    small = np.abs(x) < 1
    near, far = np.where(small, x, 0), np.where(small, 1, x)
    return i0(x) - np.where(small, horner(I1_OVER_X, near**2), out / far)


@composite(arrays=("x",), vjp=(lambda g, out, x: times(g, slope_of_i1(out, x)),))
def i1(x: Any) -> Any:
    """Modified Bessel function of order 1.

    >>> print(i1(0.0))
    0.0
    """
    (x,) = reals("i1", x)
    return np.exp(np.abs(x)) * i1e(x)


# ---- all orders up to one ----


def slopes_of_bessel_jn(z: Any, v: int, n_iter: int) -> Any:
    """Derivatives of the orders 0 to `v`."""
    orders = bessel_jn(z, v=v + 1, n_iter=n_iter)
    return np.concatenate([-orders[1:2], (orders[:v] - orders[2:]) / 2])


@composite(
    arrays=("z",),
    vjp=(lambda g, out, z, *, v, n_iter: np.sum(g * slopes_of_bessel_jn(z, v, n_iter), 0),),
    jvp=lambda dots, out, z, *, v, n_iter: dots[0] * slopes_of_bessel_jn(z, v, n_iter),
)
def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """Bessel functions of the first kind of all orders from 0 to `v`, on a new first axis.

    `n_iter` is the least order that the recurrence starts from; it starts higher where that is
    needed.  Source: W. Gautschi, Computational aspects of three-term recurrence relations, 1967;
    beyond 1000 Hankel's expansion, M. Abramowitz and I. A. Stegun, 9.2.5.

    >>> print([f"{order:.4f}" for order in bessel_jn(1.0, v=1)])
    ['0.7652', '0.4401']
    """
    (z,) = reals("bessel_jn", z)
    if v < 0:
        raise ValueError(f"bessel_jn: the highest order v is not negative, not {v}")
    dtype = z.dtype
    z = z.astype(np.promote_types(dtype, "float32"))
    size = np.abs(z)
    far = size > max(1000, v)
    near = size < float(np.finfo(z.dtype).eps) ** 0.5
    orders = _downwards(np.where(far | near | np.isnan(z), 1, size), v, n_iter)
    large = _upwards(np.where(far & np.isfinite(size), size, 2000), v)
    orders = np.where(far, np.where(np.isinf(size), 0, large), orders)
    k = np.reshape(np.arange(v + 1), (-1, *[1] * z.ndim))
    factorials = np.reshape(np.array([math.gamma(i + 1) for i in range(v + 1)]), k.shape)
    orders = np.where(near, (size / 2) ** k / factorials.astype(z.dtype), orders)
    orders = np.where((z < 0) & (k % 2 == 1), -orders, orders)
    return np.where(np.isnan(z), z, orders).astype(dtype)


def _downwards(z: Any, v: int, n_iter: int) -> Any:
    """The orders 0 to v by Miller's recurrence, from where they are negligible."""
    big = 1e15 if z.dtype.itemsize < 8 else 1e100
    start = np.maximum(z, v)
    start = np.maximum(np.ceil(start + 12 * np.cbrt(start) + 20), n_iter)

    def lower(k: Any, value: Any, above: Any, total: Any) -> tuple[Any, Any, Any, Any]:
        """Order k - 1 from k and k + 1, and the factor by which all were made smaller."""
        below = np.where(k == start, 1, 2 * k / z * value - above)
        total = total + np.where(k % 2 == 1, 2 * below, 0)
        factor = np.where(np.abs(below) > big, 1 / big, 1)
        return below * factor, value * factor, total * factor, factor

    def skip(k: Any, value: Any, above: Any, total: Any) -> tuple[Any, Any, Any, Any]:
        return k - 1, *lower(k, value, above, total)[:3]

    def keep(i: Any, value: Any, above: Any, total: Any, orders: Any) -> tuple[Any, Any, Any, Any]:
        value, above, total, factor = lower(v - i, value, above, total)
        return value, above, total, (orders * factor).at[v - 1 - i].set(value)

    zero = np.zeros_like(z)
    first = (np.max(start, initial=v + 1.0), zero, zero, zero)
    _, value, above, total = while_loop(lambda k, *_: k > v, skip, first)
    orders = np.zeros((v + 1, *z.shape), z.dtype).at[v].set(value)
    value, _, total, orders = for_loop(range(v), keep, (value, above, total, orders))
    return orders / (total - value)  # where order 0 counts once, the others of even order twice


def _upwards(z: Any, v: int) -> Any:
    """The orders 0 to v for large z, from the first two."""
    c, s = np.cos(z), np.sin(z)
    turn, across = (c + s) / np.sqrt(np.pi * z), (s - c) / np.sqrt(np.pi * z)
    t = 1 / (8 * z)
    before, last = (
        p * (1 - (mu - 1) * (mu - 9) / 2 * t**2)
        - q * ((mu - 1) * t - (mu - 1) * (mu - 9) * (mu - 25) / 6 * t**3)
        for mu, p, q in ((0, turn, across), (4, across, -turn))
    )

    def keep(k: Any, before: Any, last: Any, orders: Any) -> tuple[Any, Any, Any]:
        return last, 2 * k / z * last - before, orders.at[k].set(last)

    orders = np.zeros((v + 1, *z.shape), z.dtype).at[0].set(before)
    return for_loop(range(1, v + 1), keep, (before, last, orders))[2]
