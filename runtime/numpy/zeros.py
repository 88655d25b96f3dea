"""Products and quotients of a cotangent: where the cotangent is zero, so is the result.

`where(x > 0, log(x), 0)` sends a zero cotangent to `log(0)`, whose slope is infinite, and `0 * inf`
would be NaN.  Rules multiply and divide cotangents with `times` and `over`, so a side that was not
taken contributes exactly zero.  Both are bilinear where they are finite, and their own rules use
them again, so that holds in every order.  In the generated code of functions without a selection
they are written as plain `*` and `/`.

Products of matrices add up before a zero could win, so there what a zero cotangent meets is left
out of the sum: `reached`.  What is made of a whole matrix is zero with its cotangent:
`unless_zero`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from overt.runtime.aval import Aval
from overt.runtime.primitive import Primitive, composite

__all__ = ["kept", "over", "reached", "times", "times_both", "unless_zero"]


def _zero_or(b: Any, g: Any, value: Any) -> Any:
    zero = b.full(b.shape(g), 0, b.dtype(g))
    return b.select(b.compare("EQ", g, zero), zero, value)


times = Primitive(
    "times",
    elementwise=True,
    lower=lambda b, g, slope, *, avals, out: _zero_or(b, g, b.binary("multiply", g, slope)),
    vjp=(
        lambda h, out, g, slope: times(h, slope),
        lambda h, out, g, slope: times_both(g, h),
    ),
    doc="""`g * slope`, and exactly zero where `g` is zero, whatever `slope` is there.

    >>> print(times(0.0, np.inf), times(2.0, 3.0))
    0.0 6.0
    """,
)

times_both = Primitive(
    "times_both",
    elementwise=True,
    lower=lambda b, g, h, *, avals, out: _zero_or(b, g, _zero_or(b, h, b.binary("multiply", g, h))),
    vjp=(
        lambda k, out, g, h: times_both(k, h),
        lambda k, out, g, h: times_both(k, g),
    ),
    doc="""The product of two cotangents, exactly zero where either is zero.

    >>> print(times_both(np.inf, 0.0), times_both(2.0, 3.0))
    0.0 6.0
    """,
)

over = Primitive(
    "over",
    elementwise=True,
    float_only=True,
    lower=lambda b, g, x, *, avals, out: _zero_or(b, g, b.quotient(g, x)),
    vjp=(
        lambda h, out, g, x: over(h, x),
        lambda h, out, g, x: -over(times_both(out, h), x),
    ),
    doc="""`g / x`, and exactly zero where `g` is zero, whatever `x` is there.

    >>> print(over(0.0, 0.0), over(6.0, 3.0))
    0.0 2.0
    """,
)


def _lower_kept(b: Any, met: Any, x: Any, *, avals: Any, out: Any) -> Any:
    mask = Aval(out.shape, numpy.dtype(bool), False)
    finite = lower_isfinite(b, x, avals=avals, out=mask)
    return b.select(b.binary("or", b.convert(met, bool), finite), x, b.full_like(x, 0))


kept = Primitive(
    "kept",
    elementwise=True,
    unpromoted=(0,),
    lower=_lower_kept,
    vjp=(None, lambda g, out, met, x: kept(met, g)),
    doc="""`x`, with zeros for what is infinite or NaN and not met by anything.

    >>> print(kept(np.array([True, False, False]), np.array([np.inf, np.inf, 2.0])))
    [inf  0.  2.]
    """,
)


@composite(
    arrays=("x", "g"),
    vjp=(lambda h, out, x, g, *, axis: reached(h, g, axis), None),
    jvp=lambda dots, out, x, g, *, axis: reached(dots[0], g, axis),
)
def reached(x: Any, g: Any, axis: Any = ()) -> Any:
    """`x`, with zeros for what is infinite or NaN where `g` is zero all along some axes.

    >>> print(reached(np.array([np.inf, 2.0]), np.array([[0.0, 0.0], [0.0, 1.0]]), 0))
    [0. 2.]
    """
    return kept(_any_to(np.any(g != 0, axis, keepdims=True), np.shape(x)), x)


def _any_to(mask: Any, shape: tuple[int, ...]) -> Any:
    """Whether any is true of what broadcasting has made of one element."""
    mask = np.any(mask, tuple(range(np.ndim(mask) - len(shape))))
    single = tuple(k for k in range(-np.ndim(mask), 0) if shape[k] == 1)
    return np.any(mask, single, keepdims=True)


@composite(
    arrays=("g", "bar"),
    vjp=(None, lambda h, out, g, bar: unless_zero(g, np.where(is_lost(g, bar), 0, h))),
    jvp=lambda dots, out, g, bar: unless_zero(g, np.where(is_lost(g, bar), 0, dots[1])),
)
def unless_zero(g: Any, bar: Any) -> Any:
    """`bar`, made of the cotangent `g` of a matrix or what is computed of one, and zero with it.

    >>> print(unless_zero(0.0, np.array([[np.nan, 1.0]])))
    [[0. 0.]]
    """
    met = is_met(g, bar)
    return kept(met, np.where(_are_finite(bar) | met, bar, 0))


def _are_finite(bar: Any) -> Any:
    return np.all(np.isfinite(bar), tuple(range(-min(np.ndim(bar), 2), 0)), keepdims=True)


@composite(arrays=("g", "bar"), zero_derivative=True)
def is_met(g: Any, bar: Any) -> Any:
    """Whether `g` has anything but zeros for a matrix `bar`."""
    rank = max(np.ndim(bar) - 2, 0)
    met: Any = False
    for part in g if isinstance(g, list) else [g]:
        found = np.any(part != 0, tuple(range(rank, np.ndim(part))))
        if np.shape(found) != np.shape(bar)[:rank]:
            found = np.any(found)
        met = met | (np.expand_dims(found, (-1, -2)) if np.ndim(found) else found)
    return met


@composite(arrays=("g", "bar"), zero_derivative=True)
def is_lost(g: Any, bar: Any) -> Any:
    """Whether a matrix `bar` is infinite or NaN somewhere, though `g` is zero."""
    return ~(_are_finite(bar) | is_met(g, bar))


def zero_with(bar_of: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes the cotangent of a matrix of another: zero with it."""

    @functools.wraps(bar_of)
    def made(g: Any, *args: Any, **how: Any) -> Any:
        parts = [part for part in g if part is not None] if isinstance(g, tuple | list) else g
        return unless_zero(parts, bar_of(g, *args, **how))

    return made


import overt.runtime.numpy as np  # noqa: E402
from overt.runtime.numpy.logic import lower_isfinite  # noqa: E402
