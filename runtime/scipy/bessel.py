"""Modified Bessel functions of the first kind, of order 0 and 1."""

from __future__ import annotations

from typing import Any

import overt.runtime.numpy as np
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import floating, special

__all__ = ["i0", "i0e", "i1", "i1e"]

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


@composite(arrays=("x",), vjp=(lambda g, out, x: g * (i1e(x) - np.sign(x) * out),))
def i0e(x: Any) -> Any:
    """`exp(-abs(x)) * i0(x)`.

    >>> print(np.round(i0e(0.0), 5))
    1.0
    """
    x = np.abs(floating(x))
    near = _chebyshev(0.5 * np.minimum(x, 8) - 2, NEAR)
    far = np.maximum(x, 8)
    return np.where(x <= 8, near, _chebyshev(32 / far - 2, FAR) / np.sqrt(far))


def slope_of_i1e(out: Any, x: Any) -> Any:
    """Derivative of `i1e`; 1/2 at zero.

    >>> print(np.round(slope_of_i1e(0.0, 0.0), 5))
    0.5
    """
    safe = np.where(x == 0, 1, x)
    return np.where(x == 0, 0.5, i0e(safe) - out * (np.sign(x) + 1 / safe))


i1e = special(
    "i1e", "chlo.bessel_i1e",
    (lambda g, out, x: g * slope_of_i1e(out, x),),
    """`exp(-abs(x)) * i1(x)`.

    >>> print(i1e(0.0))
    0.0
    """,
)  # fmt: skip


@composite(arrays=("x",), vjp=(lambda g, out, x: g * i1(x),))
def i0(x: Any) -> Any:
    """Modified Bessel function of order 0.

    >>> print(np.round(i0(0.0), 5))
    1.0
    """
    x = floating(x)
    return np.exp(np.abs(x)) * i0e(x)


@composite(arrays=("x",))
def i1(x: Any) -> Any:
    """Modified Bessel function of order 1.

    >>> print(i1(0.0))
    0.0
    """
    x = floating(x)
    return np.exp(np.abs(x)) * i1e(x)
