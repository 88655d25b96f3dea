"""Products and quotients of a cotangent: where the cotangent is zero, so is the result.

`where(x > 0, log(x), 0)` sends a zero cotangent to `log(0)`, whose slope is infinite, and `0 * inf`
would be NaN.  Rules multiply and divide cotangents with `times` and `over`, so a side that was not
taken contributes exactly zero.  Both are bilinear where they are finite, and their own rules use
them again, so that holds in every order.  In the generated code of functions without a selection
they are written as plain `*` and `/`.
"""

from __future__ import annotations

from typing import Any

from overt.runtime.primitive import Primitive

__all__ = ["over", "times", "times_both"]


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
    lower=lambda b, g, x, *, avals, out: _zero_or(b, g, b.binary("divide", g, x)),
    vjp=(
        lambda h, out, g, x: over(h, x),
        lambda h, out, g, x: -over(times_both(g, h), x**2),
    ),
    doc="""`g / x`, and exactly zero where `g` is zero, whatever `x` is there.

    >>> print(over(0.0, 0.0), over(6.0, 3.0))
    0.0 2.0
    """,
)

import overt.runtime.numpy as np  # noqa: E402, F401  (for the examples)
