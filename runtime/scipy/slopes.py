"""Derivatives of functions that are computed in loops, in forward mode."""

from __future__ import annotations

from collections.abc import Callable

import overt.runtime.numpy as np
from overt.runtime.dual import jvp_call

__all__ = ["derivative"]


def derivative(f: Callable, along: tuple[int, ...]) -> Callable:
    """The derivative of an elementwise function of arrays of one shape.

    It is that by the arguments at the positions `along`, one after the other.  Rules use it, so
    that reverse mode need not go through loops that stop when a sum has converged.

    >>> print(derivative(lambda x, y: x**2 * y, (0, 0))(np.array(1.0), np.array(3.0)))
    6.0
    """
    if not along:
        return f
    inner, position = derivative(f, along[:-1]), along[-1]

    def slope(*args: object) -> object:
        dots = [np.ones_like(x) if i == position else None for i, x in enumerate(args)]
        return jvp_call(inner, args, dots)[1]

    return slope
