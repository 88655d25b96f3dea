"""Trigonometric and hyperbolic functions, their inverses, and angles."""

from __future__ import annotations

from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.numpy.complex_lowerings import elementary
from overt.runtime.numpy.zeros import over, times
from overt.runtime.primitive import Primitive, composite

__all__ = [
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh",
    "unwrap",
]  # fmt: skip


def _of_one(name: str, operation: str, slope: Any, summary: str, at_zero: str) -> Primitive:
    """A function of one floating or complex array."""
    doc = f"{summary}\n\n>>> print(np.{name}(0.0))\n{at_zero}\n"
    return Primitive(
        name, elementwise=True, float_only=True, lower=elementary(operation), vjp=(slope,),
        doc=doc, arrays=("x",),
    )  # fmt: skip


sin = _of_one(
    "sin", "sine",
    lambda g, out, x: times(g, np.cos(x)),
    "Sine of an angle in radians.", "0.0",
)  # fmt: skip
cos = _of_one(
    "cos", "cosine",
    lambda g, out, x: -times(g, np.sin(x)),
    "Cosine of an angle in radians.", "1.0",
)  # fmt: skip
tan = _of_one(
    "tan", "chlo.tan",
    lambda g, out, x: times(g, 1 + out**2),
    "Tangent of an angle in radians.", "0.0",
)  # fmt: skip
arcsin = asin = _of_one(
    "arcsin", "chlo.asin",
    lambda g, out, x: over(g, np.sqrt(1 - x**2)),
    "Inverse sine, in radians from -pi/2 to pi/2.", "0.0",
)  # fmt: skip
arccos = acos = _of_one(
    "arccos", "chlo.acos",
    lambda g, out, x: -over(g, np.sqrt(1 - x**2)),
    "Inverse cosine, in radians from 0 to pi.", "1.5707964",
)  # fmt: skip
arctan = atan = _of_one(
    "arctan", "chlo.atan",
    lambda g, out, x: over(g, 1 + x**2),
    "Inverse tangent, in radians from -pi/2 to pi/2.", "0.0",
)  # fmt: skip
sinh = _of_one(
    "sinh", "chlo.sinh",
    lambda g, out, x: times(g, np.cosh(x)),
    "Hyperbolic sine.", "0.0",
)  # fmt: skip
cosh = _of_one(
    "cosh", "chlo.cosh",
    lambda g, out, x: times(g, np.sinh(x)),
    "Hyperbolic cosine.", "1.0",
)  # fmt: skip
tanh = _of_one(
    "tanh", "tanh",
    lambda g, out, x: times(g, (1 - out**2)),
    "Hyperbolic tangent.", "0.0",
)  # fmt: skip
arcsinh = asinh = _of_one(
    "arcsinh", "chlo.asinh",
    lambda g, out, x: over(g, np.cosh(out)),
    "Inverse hyperbolic sine.", "0.0",
)  # fmt: skip
arccosh = acosh = _of_one(
    "arccosh", "chlo.acosh",
    lambda g, out, x: over(over(g, np.sqrt(x - 1)), np.sqrt(x + 1)),
    "Inverse hyperbolic cosine; NaN below 1.", "nan",
)  # fmt: skip
arctanh = atanh = _of_one(
    "arctanh", "chlo.atanh",
    lambda g, out, x: over(g, 1 - x**2),
    "Inverse hyperbolic tangent; NaN outside [-1, 1].", "0.0",
)  # fmt: skip


@composite(
    arrays=("x", "y"),
    vjp=(
        lambda g, out, x, y: times(g, circle_inverse(y, x) ** 2 - out**2),
        lambda g, out, x, y: -2 * times(g, out * circle_inverse(y, x)),
    ),
    elementwise=True,
)
def circle_inverse(x: Any, y: Any) -> Any:
    """`x / (x**2 + y**2)` without overflow: a coordinate of a point's inverse in the unit circle.

    >>> print(circle_inverse(0.0, 2.0), circle_inverse(2.0, 0.0))
    0.0 0.5
    """
    size = np.hypot(x, y)
    return x / size / size


arctan2 = atan2 = Primitive(
    "arctan2",
    elementwise=True,
    float_only=True,
    lower="atan2",
    vjp=(
        lambda g, out, y, x: times(g, circle_inverse(x, y)),
        lambda g, out, y, x: -times(g, circle_inverse(y, x)),
    ),
    doc="""Angle of the point (x, y) from the positive x axis, in radians from -pi to pi.

    >>> print(np.arctan2(0.0, 1.0))
    0.0
    """,
)


@composite(arrays=("p",))
def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, period: float = 2 * numpy.pi
) -> Any:
    """Angles without jumps: multiples of `period` are added along `axis`.

    >>> print(np.unwrap(np.array([0.0, 3.0, 7.0]), period=4.0))
    [ 0. -1. -1.]
    """
    p = np.asarray(p)
    jumps = np.diff(p, axis=axis)
    if numpy.issubdtype(numpy.result_type(period), numpy.integer) and np.issubdtype(
        p.dtype, np.integer
    ):
        low, on_boundary = -(period // 2), period % 2 == 0
    else:
        low, on_boundary = -period / 2, True
    high = -low
    wrapped = np.remainder(jumps - low, period) + low
    if on_boundary:
        wrapped = np.where((wrapped == low) & (jumps > 0), high, wrapped)
    limit = high if discont is None else max(discont, high)
    correction = np.where(np.abs(jumps) < limit, 0, wrapped - jumps)
    if not p.shape[axis]:
        return p + 0 * period
    first = np.zeros_like(np.take(p, np.array([0]), axis=axis))
    return p + np.concatenate([first, np.cumsum(correction, axis=axis)], axis=axis)
