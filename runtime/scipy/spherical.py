"""Spherical harmonics."""

from __future__ import annotations

import math
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.control import for_loop
from overt.runtime.primitive import composite
from overt.runtime.scipy.error_functions import reals

__all__ = ["sph_harm_y"]


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Any:
    """Spherical harmonic of degree `n` and order `m` at polar angle `theta` and azimuth `phi`.

    The polar angle is from 0 to pi.  `n_max`, at least every degree, is needed where the degrees
    are not known when compiling.
    Source: W. H. Press et al., Numerical Recipes, 3rd edition, section 6.7.
    Errors: NotImplementedError for `diff_n`; `grad` and `jacfwd` give derivatives.

    >>> print(f"{sph_harm_y(1, 0, 0.0, 0.0).real:.4f}")
    0.4886
    """
    if diff_n is not None:
        raise NotImplementedError(
            "sph_harm_y with diff_n: take derivatives of the function by theta and phi instead"
        )
    n = np.asarray(n)
    if n_max is None:
        n_max = int(np.max(n, initial=0))
    return _harmonic(n, m, theta, phi, n_max)


@composite(arrays=("n", "m", "theta", "phi"))
def _harmonic(n: Any, m: Any, theta: Any, phi: Any, n_max: int) -> Any:
    theta, phi = reals("sph_harm_y", theta, phi)
    n, m, theta, phi = np.broadcast_arrays(n, m, theta, phi)
    order = np.abs(m).astype(theta.dtype)
    across, along = np.sin(theta), np.cos(theta)
    across = np.where(across < 0, -across, across)

    def next_degree(k: Any, before: Any, last: Any) -> Any:
        """Degree k from the two before, along the diagonal of equal degree and order at first."""
        degree = np.astype(k, theta.dtype)
        diagonal = -np.sqrt((2 * degree + 1) / (2 * degree)) * across * last
        above = degree > order
        span = np.where(above, degree**2 - order**2, 1)
        inner = np.where(above, (degree - 1) ** 2 - order**2, 0)
        step = along * last - np.sqrt(inner / np.maximum(4 * (degree - 1) ** 2 - 1, 1)) * before
        new = np.where(above, np.sqrt((4 * degree**2 - 1) / span) * step, diagonal)
        reached = degree > n
        before = np.where(above, last, 0)
        return np.where(reached, 0, before), np.where(reached, last, new)

    zero = np.zeros_like(theta)
    first = (zero, zero + 1 / math.sqrt(4 * math.pi))
    _, value = for_loop(range(1, n_max + 1), next_degree, first)
    value = np.where((m < 0) & (m % 2 == 1), -value, value)
    value = np.where((order <= n) & (n >= 0), value, 0)
    return value * np.exp(1j * m * phi)
