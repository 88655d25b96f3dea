"""Bessel functions of integer order of both kinds, and the modified ones of real order."""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import while_loop
from overt.runtime.numpy.zeros import times
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import horner, reals
from overt.runtime.scipy.gamma_functions import gammaln
from overt.runtime.scipy.slopes import derivative

__all__ = ["iv", "ive", "j0", "j1", "jn", "y0", "y1", "yn"]

# Rational approximations, highest power first.  Up to 5, of the order divided by its two zeros
# there (and by x for order 1), and of what the second kind has beside the logarithm, all in x**2;
# beyond, of the modulus and the phase of Hankel's expansion, in (5 / x)**2.
# Source: S. L. Moshier, Cephes mathematical library, j0.c and j1.c.
ZEROS = (
    (5.78318596294678452118, 30.4712623436620863991),
    (14.6819706421238932572, 49.2184563216946036703),
)
FIRST_NEAR = (
    ((-4.79443220978201773821e9, 1.95617491946556577543e12, -2.49248344360967716204e14,
      9.70862251047306323952e15),
     (1.0, 4.99563147152651017219e2, 1.73785401676374683123e5, 4.84409658339962045305e7,
      1.11855537045356834862e10, 2.11277520115489217587e12, 3.10518229857422583814e14,
      3.18121955943204943306e16, 1.71086294081043136091e18)),
    ((-8.99971225705559398224e8, 4.52228297998194034323e11, -7.27494245221818276015e13,
      3.68295732863852883286e15),
     (1.0, 6.20836478118054335476e2, 2.56987256757748830383e5, 8.35146791431949253037e7,
      2.21511595479792499675e10, 4.74914122079991414898e12, 7.84369607876235854894e14,
      8.95222336184627338078e16, 5.32278620332680085395e18)),
)  # fmt: skip
SECOND_NEAR = (
    ((1.55924367855235737965e4, -1.46639295903971606143e7, 5.43526477051876500413e9,
      -9.82136065717911466409e11, 8.75906394395366999549e13, -3.46628303384729719441e15,
      4.42733268572569800351e16, -1.84950800436986690637e16),
     (1.0, 1.04128353664259848412e3, 6.26107330137134956842e5, 2.68919633393814121987e8,
      8.64002487103935000337e10, 2.02979612750105546709e13, 3.17157752842975028269e15,
      2.50596256172653059228e17)),
    ((1.26320474790178026440e9, -6.47355876379160291031e11, 1.14509511541823727583e14,
      -8.12770255501325109621e15, 2.02439475713594898196e17, -7.78877196265950026825e17),
     (1.0, 5.94301592346128195359e2, 2.35564092943068577943e5, 7.34811944459721705660e7,
      1.87601316108706159478e10, 3.88231277496238566008e12, 6.20557727146953693363e14,
      6.87141087355300489866e16, 3.97270608116560655612e18)),
)  # fmt: skip
MODULUS = (
    ((7.96936729297347051624e-4, 8.28352392107440799803e-2, 1.23953371646414299388,
      5.44725003058768775090, 8.74716500199817011941, 5.30324038235394892183,
      9.99999999999999997821e-1),
     (9.24408810558863637013e-4, 8.56288474354474431428e-2, 1.25352743901058953537,
      5.47097740330417105182, 8.76190883237069594232, 5.30605288235394617618,
      1.00000000000000000218)),
    ((7.62125616208173112003e-4, 7.31397056940917570436e-2, 1.12719608129684925192,
      5.11207951146807644818, 8.42404590141772420927, 5.21451598682361504063,
      1.00000000000000000254),
     (5.71323128072548699714e-4, 6.88455908754495404082e-2, 1.10514232634061696926,
      5.07386386128601488557, 8.39985554327604159757, 5.20982848682361821619,
      9.99999999999999997461e-1)),
)  # fmt: skip
PHASE = (
    ((-1.13663838898469149931e-2, -1.28252718670509318512, -1.95539544257735972385e1,
      -9.32060152123768231369e1, -1.77681167980488050595e2, -1.47077505154951170175e2,
      -5.14105326766599330220e1, -6.05014350600728481186),
     (1.0, 6.43178256118178023184e1, 8.56430025976980587198e2, 3.88240183605401609683e3,
      7.24046774195652478189e3, 5.93072701187316984827e3, 2.06209331660327847417e3,
      2.42005740240291393179e2)),
    ((5.10862594750176621635e-2, 4.98213872951233449420, 7.58238284132545283818e1,
      3.66779609360150777800e2, 7.10856304998926107277e2, 5.97489612400613639965e2,
      2.11688757100572135698e2, 2.52070205858023719784e1),
     (1.0, 7.42373277035675149943e1, 1.05644886038262816351e3, 4.98641058337653607651e3,
      9.56231892404756170795e3, 7.99704160447350683650e3, 2.82619278517639096600e3,
      3.36093607810698293419e2)),
)  # fmt: skip


def _ratio(table: tuple[tuple[float, ...], ...], x: Any) -> Any:
    return horner(table[0], x) / horner(table[1], x)


def _far(order: int, x: Any) -> tuple[Any, Any]:
    """Both kinds beyond 5, where order 1 is order 0 a quarter of a turn later."""
    p = _ratio(MODULUS[order], 25 / x**2)
    q = 5 / x * _ratio(PHASE[order], 25 / x**2)
    scale = 1 / np.sqrt(np.pi * np.where(np.isinf(x), 1, x))
    safe = np.where(np.isinf(x), 0, x)
    c, s = np.cos(safe), np.sin(safe)
    turn, across = scale * (c + s), scale * (s - c)  # of cosine and sine of x - pi / 4
    if order:
        turn, across = across, -turn
    first, second = p * turn - q * across, p * across + q * turn
    return np.where(np.isinf(x), 0, first), np.where(np.isinf(x), 0, second)


def _first(order: int, x: Any) -> Any:
    size = np.abs(x)
    z = np.minimum(size, 5) ** 2
    near = (z - ZEROS[order][0]) * (z - ZEROS[order][1]) * _ratio(FIRST_NEAR[order], z)
    near = near * np.minimum(size, 5) if order else near
    value = np.where(size <= 5, near, _far(order, np.maximum(size, 5))[0])
    return np.where(x < 0, -value, value) if order else value


def _second(order: int, x: Any) -> Any:
    small = np.where((x > 0) & (x <= 5), x, 1)
    near = _ratio(SECOND_NEAR[order], small**2)
    if order:
        near = small * near + 2 / np.pi * (_first(1, small) * np.log(small) - 1 / small)
    else:
        near = near + 2 / np.pi * np.log(small) * _first(0, small)
    value = np.where(x <= 5, near, _far(order, np.maximum(x, 5))[1])
    return np.where(x == 0, -np.inf, np.where(x < 0, np.nan, value))


@composite(arrays=("x",), vjp=(lambda g, out, x: -times(g, j1(x)),))
def j0(x: Any) -> Any:
    """Bessel function of the first kind of order 0.

    >>> round(float(j0(1.0)), 5)
    0.7652
    """
    return _first(0, *reals("j0", x))


@composite(
    arrays=("x",), vjp=(lambda g, out, x: times(g, (j0(x) - quotient_at_zero(out, x, 0.5))),)
)
def j1(x: Any) -> Any:
    """Bessel function of the first kind of order 1.

    >>> round(float(j1(1.0)), 5)
    0.44005
    """
    return _first(1, *reals("j1", x))


@composite(arrays=("x",), vjp=(lambda g, out, x: -times(g, y1(x)),))
def y0(x: Any) -> Any:
    """Bessel function of the second kind of order 0; NaN for negative numbers.

    >>> round(float(y0(1.0)), 5)
    0.08826
    """
    return _second(0, *reals("y0", x))


@composite(
    arrays=("x",), vjp=(lambda g, out, x: times(g, (y0(x) - quotient_at_zero(out, x, -np.inf))),)
)
def y1(x: Any) -> Any:
    """Bessel function of the second kind of order 1; NaN for negative numbers.

    >>> round(float(y1(1.0)), 5)
    -0.78121
    """
    return _second(1, *reals("y1", x))


def quotient_at_zero(value: Any, x: Any, at_zero: float) -> Any:
    """`value / x`, with its limit at zero.

    >>> print(quotient_at_zero(0.0, 0.0, 0.5))
    0.5
    """
    return np.where(x == 0, at_zero, value / np.where(x == 0, 1, x))


# ---- any integer order ----


def _integers(function: str, n: Any, x: Any) -> tuple[Any, Any]:
    (x,) = reals(function, x)
    n = np.asarray(n)
    if not np.issubdtype(n.dtype, np.integer):
        raise TypeError(f"{function} takes integer orders here, not orders of dtype {n.dtype}")
    n, x = np.broadcast_arrays(n, x)
    return n.astype(x.dtype), x


def _odd(n: Any, value: Any) -> Any:
    return np.where(n % 2 == 1, -value, value)


@composite(
    arrays=("n", "x"),
    vjp=(
        None,
        lambda g, out, n, x: times(g, (jn(n - 1, x) - jn(n + 1, x)) / 2),
    ),
    elementwise=True,
)
def jn(n: Any, x: Any) -> Any:
    """Bessel function of the first kind of integer order `n`.

    Errors: TypeError for orders that are no integers.
    Source: upwards from orders 0 and 1 below `x`, else Miller's recurrence downwards;
    W. Gautschi, Computational aspects of three-term recurrence relations, 1967.

    >>> print(np.round(jn(2, 1.0), 5))
    0.1149
    """
    n, x = _integers("jn", n, x)
    order, size = np.abs(n), np.abs(x)
    up = _upwards(order, np.where(size > order, size, order + 1), j0, j1)
    down = _downwards(order, np.where((size > order) | (size == 0), 1, size))
    down = np.where(size == 0, np.where(order == 0, 1, 0), down)
    value = np.where(size > order, up, down)
    value = np.where((n < 0) ^ (x < 0), _odd(order, value), value)
    return np.where(np.isnan(x), x, value)


@composite(
    arrays=("n", "x"),
    vjp=(
        None,
        lambda g, out, n, x: times(g, (yn(n - 1, x) - yn(n + 1, x)) / 2),
    ),
    elementwise=True,
)
def yn(n: Any, x: Any) -> Any:
    """Bessel function of the second kind of integer order `n`; NaN for negative numbers.

    Errors: TypeError for orders that are no integers.

    >>> print(np.round(yn(2, 1.0), 5))
    -1.65068
    """
    n, x = _integers("yn", n, x)
    order = np.abs(n)
    value = _upwards(order, np.where(x > 0, x, 1), y0, y1)
    value = np.where(x == 0, -np.inf, np.where(x < 0, np.nan, value))
    return np.where(np.isnan(x), x, np.where(n < 0, _odd(order, value), value))


def _upwards(order: Any, x: Any, zero: Any, one: Any) -> Any:
    def step(k: Any, before: Any, last: Any) -> tuple[Any, Any, Any]:
        after = np.where(np.isinf(last), last, 2 * k / x * last - before)
        more = k < order
        return k + 1, np.where(more, last, before), np.where(more, after, last)

    top = np.max(order, initial=0)
    _, _, last = while_loop(lambda k, *_: k < top, step, (np.ones_like(top), zero(x), one(x)))
    return np.where(order == 0, zero(x), last)


def _downwards(order: Any, x: Any) -> Any:
    """Order `order` at `x <= order`, from orders where it is negligible."""
    big = 1e15 if x.dtype.itemsize < 8 else 1e100
    start = order + np.ceil(12 * np.cbrt(order)) + 20

    def step(k: Any, value: Any, above: Any, total: Any, found: Any) -> tuple[Any, ...]:
        """Order k - 1 from k and k + 1; the total is that of all even orders, 1 in the end."""
        below = np.where(k == start, 1, 2 * k / x * value - above)
        total = total + np.where(k % 2 == 1, np.where(k == 1, 1, 2) * below, 0)
        found = np.where(k - 1 == order, below, found)
        factor = np.where(np.abs(below) > big, 1 / big, 1)
        return k - 1, below * factor, value * factor, total * factor, found * factor

    zero = np.zeros_like(x)
    first = (np.max(start, initial=1), zero, zero, zero, zero)
    _, _, _, total, found = while_loop(lambda k, *_: k > 0, step, first)
    return found / total


# ---- the modified ones ----


def slope_by_orders(function: Any, v: Any, x: Any, out: Any) -> Any:
    """Derivative of `iv` by `x`: from both neighbours, which are smooth at zero, where there are.

    >>> print(np.round(slope_by_orders(iv, 1.0, 0.0, 0.0), 5))
    0.5
    """
    order = np.abs(v)
    both = order >= 1
    below, above = function(np.where(both, order - 1, 0), x), function(order + 1, x)
    return np.where(both, (below + above) / 2, above + order_over(np.where(both, 0, v), x, out))


@composite(
    arrays=("v", "x"),
    vjp=(
        lambda g, out, v, x: times(g, iv_by_order(v, x)),
        lambda g, out, v, x: times(g, slope_by_orders(iv, v, x, out)),
    ),
    elementwise=True,
)
def iv(v: Any, x: Any) -> Any:
    """Modified Bessel function of the first kind of real order `v`.

    NaN for a negative order that is no integer, and for a negative `x` with such an order.

    >>> print(np.round(iv(0.5, 1.0), 5))
    0.93767
    """
    v, x = np.broadcast_arrays(*reals("iv", v, x))
    scaled, size = ive(v, x), np.abs(x)
    return np.where(np.isinf(size), x + scaled, grown(scaled, size))


def grown(scaled: Any, size: Any) -> Any:
    """`exp(size) * scaled`, also where only the first factor overflows."""
    return np.exp(size / 2) * scaled * np.exp(size / 2)


@composite(arrays=("v", "x"))
def iv_by_order(v: Any, x: Any) -> Any:
    """Derivative of `iv` by `v`."""
    return grown(ive_along(v, x, (0,)), np.abs(x))


@composite(
    arrays=("v", "x"),
    vjp=(
        lambda g, out, v, x: times(g, ive_along(v, x, (0,))),
        lambda g, out, v, x: times(g, (slope_by_orders(ive, v, x, out) - np.sign(x) * out)),
    ),
    elementwise=True,
)
def ive(v: Any, x: Any) -> Any:
    """`exp(-abs(x)) * iv(v, x)`.

    Source: the power series up to 30; beyond, the expansion for large arguments, for orders that
    it does not reach from their fractional part with the ratios of neighbours:
    M. Abramowitz and I. A. Stegun, 9.6.10, 9.7.1; D. E. Amos, Computation of modified Bessel
    functions and their ratios, 1974.

    >>> print(np.round(ive(1.0, 1.0), 5))
    0.20791
    """
    return _ive(*np.broadcast_arrays(*reals("ive", v, x)))


@composite(
    arrays=("v", "x"),
    vjp=(
        lambda g, out, v, x, *, along: times(g, ive_along(v, x, (*along, 0))),
        lambda g, out, v, x, *, along: times(g, ive_along(v, x, (*along, 1))),
    ),
    elementwise=True,
)
def ive_along(v: Any, x: Any, along: tuple[int, ...]) -> Any:
    """Derivative of `ive` by the arguments at the positions `along`, one after the other."""
    return derivative(_ive, along)(*np.broadcast_arrays(*reals("ive", v, x)))


def _ive(v: Any, x: Any) -> Any:
    whole = v == np.floor(v)
    order, size = np.abs(v), np.abs(x)
    near, direct = size <= 30, size > 2 * order**2
    value = np.where(
        near,
        _series(order, np.where(near & (size > 0), size, 1)),
        np.where(
            direct,
            _expansion(np.where(direct, order, 0), np.where(near, 31, size)),
            _by_ratios(np.where(near | direct, 0, order), np.where(near | direct, 31, size)),
        ),
    )
    value = np.where(size == 0, np.where(order == 0, 1, 0), value)
    value = np.where((x < 0) & whole, _odd(order, value), value)
    value = np.where(np.isinf(size), 0, value)
    return np.where(((v < 0) | (x < 0)) & ~whole | np.isnan(v) | np.isnan(x), np.nan, value)


def order_over(v: Any, x: Any, value: Any) -> Any:
    """`abs(v) / x * value`, with its limit at zero.

    >>> print(order_over(1.0, 0.0, 0.0))
    0.5
    """
    order = np.abs(v)
    limit = np.where(order == 1, 0.5, np.where((order > 0) & (order < 1), np.inf, 0))
    return np.where(x == 0, limit, order * value / np.where(x == 0, 1, x))


def _series(v: Any, x: Any) -> Any:
    eps = float(np.finfo(x.dtype).eps)

    def step(k: Any, term: Any, total: Any) -> tuple[Any, Any, Any]:
        term = term * (x / 2) ** 2 / (k * (k + v))
        return k + 1, term, total + term

    one = np.ones_like(x)
    _, _, total = while_loop(
        lambda k, term, total: np.any(term > eps * total / 4), step, (1.0, one, one)
    )
    return total * np.exp(v * np.log(x / 2) - gammaln(v + 1) - x)


def _expansion(v: Any, x: Any) -> Any:
    term = total = np.ones_like(x)
    for k in range(1, 25):
        term = -term * (4 * v**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total = total + term
    return total / np.sqrt(2 * math.pi * x)


def _by_ratios(v: Any, x: Any) -> Any:
    """From order `v - floor(v)` by the product of the ratios of neighbouring orders."""
    base = v - np.floor(v)
    top = np.ceil(v + 20 + 8 * np.sqrt(x))

    def step(k: Any, ratio: Any, product: Any) -> tuple[Any, Any, Any]:
        """The ratio of orders base + k and base + k - 1."""
        ratio = np.where(k > top, 0, 1 / (2 * (base + k) / x + ratio))
        return k - 1, ratio, product * np.where(base + k <= v, ratio, 1)

    first = (np.max(top, initial=0), np.zeros_like(x), np.ones_like(x))
    _, _, product = while_loop(lambda k, *_: k > 0, step, first)
    return product * _expansion(base, x)
