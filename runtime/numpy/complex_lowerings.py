"""Functions of complex numbers, with their values at infinities, NaN and signed zeros.

XLA's own complex functions are right at ordinary points and lose signs of zero, or return NaN, at
the others.  Here what they give is completed after annex G of the C standard, which the array API
standard repeats: every function below takes the parts of its argument and of XLA's result, and
returns the two parts of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from overt.runtime import dtypes
from overt.runtime.aval import Aval


class Parts:
    """The builder, with the questions that are asked of real and imaginary parts."""

    def __init__(self, b: Any):
        self.b = b

    def zero(self, v: Any) -> Any:
        return self.b.compare("EQ", v, self.b.full_like(v, 0))

    def nan(self, v: Any) -> Any:
        return self.b.compare("NE", v, v)

    def infinite(self, v: Any) -> Any:
        return self.is_(self.b.unary("abs", v), math.inf)

    def finite(self, v: Any) -> Any:
        return self.b.compare("LT", self.b.unary("abs", v), self.b.full_like(v, math.inf))

    def is_(self, v: Any, number: float) -> Any:
        return self.b.compare("EQ", v, self.b.full_like(v, number))

    def both(self, p: Any, q: Any) -> Any:
        return self.b.binary("and", p, q)

    def either(self, p: Any, q: Any) -> Any:
        return self.b.binary("or", p, q)

    def no(self, p: Any) -> Any:
        return self.b.unary("not", p)

    def pick(self, p: Any, x: Any, otherwise: Any) -> Any:
        """`x`, a value or a number, where `p` holds."""
        if isinstance(x, float):
            x = self.b.full_like(otherwise, x)
        return self.b.select(p, x, otherwise)

    def signed(self, v: Any, sign: Any) -> Any:
        """The magnitude of `v`, a value or a number, with the sign of `sign`; NaN stays NaN."""
        if isinstance(v, float):
            v = self.b.full_like(sign, v)
        one = self.b.full_like(sign, 1)
        # 1 / -0 is -inf, so the sign of a zero can be compared too
        side = self.b.select(self.zero(sign), self.b.binary("divide", one, sign), sign)
        minus = self.b.compare("LT", side, self.b.full_like(sign, 0))
        v = self.b.unary("abs", v)
        return self.b.select(minus, self.b.unary("negate", v), v)

    def times(self, x: Any, y: Any) -> Any:
        return self.b.binary("multiply", x, y)

    def minus(self, x: Any) -> Any:
        return self.b.unary("negate", x)


def _exp(c: Parts, x: Any, y: Any, re: Any, im: Any, bottom: float = 0.0) -> tuple:
    unbounded = c.no(c.finite(y))
    low = c.both(c.is_(x, -math.inf), unbounded)
    high = c.both(c.is_(x, math.inf), unbounded)
    im = c.pick(c.zero(y), y, im)
    re = c.pick(low, bottom, c.pick(high, math.inf, re))
    return re, c.pick(low, c.signed(0.0, y), c.pick(high, math.nan, im))


def _expm1(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    return _exp(c, x, y, re, im, bottom=-1.0)


def _log(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    return c.pick(c.either(c.infinite(x), c.infinite(y)), math.inf, re), im


def _sqrt(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    right, left = c.both(c.is_(x, math.inf), c.nan(y)), c.both(c.is_(x, -math.inf), c.nan(y))
    high = c.infinite(y)
    re = c.pick(c.either(right, high), math.inf, re)
    return re, c.pick(left, math.inf, c.pick(high, y, c.signed(im, y)))


def _cosh(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    unbounded = c.no(c.finite(y))
    re = c.times(c.b.unary("chlo.cosh", x), c.b.unary("cosine", y))
    im = c.times(c.b.unary("chlo.sinh", x), c.b.unary("sine", y))
    im = c.pick(c.zero(y), c.times(y, c.signed(1.0, x)), im)
    im = c.pick(c.both(c.zero(x), unbounded), x, im)
    return c.pick(c.both(c.infinite(x), unbounded), math.inf, re), im


def _sinh(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    unbounded = c.no(c.finite(y))
    re = c.times(c.b.unary("chlo.sinh", x), c.b.unary("cosine", y))
    im = c.times(c.b.unary("chlo.cosh", x), c.b.unary("sine", y))
    at_edge = c.both(c.either(c.zero(x), c.infinite(x)), unbounded)
    return c.pick(at_edge, x, re), c.pick(c.zero(y), y, im)


def _tanh(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    far, unbounded = c.infinite(x), c.no(c.finite(y))
    re, im = c.signed(re, x), c.pick(c.zero(y), y, im)
    undefined = c.both(unbounded, c.no(far))
    re = c.pick(undefined, math.nan, re)
    re = c.pick(c.both(c.zero(x), unbounded), x, c.pick(far, c.signed(1.0, x), re))
    return re, c.pick(far, c.signed(0.0, y), c.pick(undefined, math.nan, im))


def _asinh(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    im = c.signed(im, y)
    return c.signed(re, x), c.pick(c.both(c.nan(x), c.zero(y)), y, im)


def _acosh(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    upright = c.both(c.zero(x), c.nan(y))
    return c.signed(re, c.b.full_like(re, 1)), c.pick(upright, math.pi / 2, c.signed(im, y))


def _acos(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    upright = c.both(c.zero(x), c.nan(y))
    return c.pick(upright, math.pi / 2, re), c.signed(im, c.minus(y))


def _atanh(c: Parts, x: Any, y: Any, re: Any, im: Any) -> tuple:
    re, im = c.signed(re, x), c.signed(im, y)
    far = c.infinite(y)
    nan = c.either(c.nan(y), c.both(c.nan(x), c.no(far)))
    re, im = c.pick(nan, math.nan, re), c.pick(nan, math.nan, im)
    flat = c.both(c.nan(y), c.either(c.zero(x), c.infinite(x)))
    re = c.pick(flat, c.signed(0.0, x), re)
    return c.pick(far, c.signed(0.0, x), re), c.pick(far, c.signed(math.pi / 2, y), im)


_COMPLETED: dict[str, Callable] = {
    "exponential": _exp, "exponential_minus_one": _expm1, "log": _log, "log_plus_one": _log,
    "sqrt": _sqrt, "chlo.cosh": _cosh, "chlo.sinh": _sinh, "tanh": _tanh, "chlo.asinh": _asinh,
    "chlo.acosh": _acosh, "chlo.acos": _acos, "chlo.atanh": _atanh,
}  # fmt: skip
# f(z) = g(i z) where the second entry is false, else g(i z) / i
_TURNED = {
    "cosine": ("chlo.cosh", False), "sine": ("chlo.sinh", True), "chlo.tan": ("tanh", True),
    "chlo.asin": ("chlo.asinh", True), "chlo.atan": ("chlo.atanh", True),
}  # fmt: skip


def of_complex(b: Any, operation: str, z: Any) -> Any:
    """The value of a StableHLO or CHLO function of a complex `z`, completed at its edges."""
    x, y = b.real(z), b.imag(z)
    if operation in _TURNED:
        hyperbolic, back = _TURNED[operation]
        turned = of_complex(b, hyperbolic, b.complex(b.unary("negate", y), x))
        if not back:
            return turned
        return b.complex(b.imag(turned), b.unary("negate", b.real(turned)))
    plain = b.unary(operation, z)
    re, im = _COMPLETED[operation](Parts(b), x, y, b.real(plain), b.imag(plain))
    return b.complex(re, im)


def elementary(operation: str) -> Callable:
    """The lowering of an elementary function of real or complex numbers."""

    def lower(b: Any, x: Any, *, avals: Any, out: Aval) -> Any:
        if dtypes.is_complex(out.dtype):
            return of_complex(b, operation, x)
        return b.elementwise(operation, (x,), out)

    return lower
