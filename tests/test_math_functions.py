"""Functions of `math` on values under every transformation, against Python's own."""

from __future__ import annotations

import math

import numpy
import pytest

import overt
from tests.numeric import slope

FUNCTIONS = [
    lambda x: math.log(x, 3) + math.log(x * x + 1.0, x + 2.0),
    lambda x: math.copysign(x * x, -x) + math.copysign(2.0, x) * x,
    lambda x: math.erf(x) * math.erfc(x) + math.lgamma(x) * math.gamma(x),
    lambda x: math.hypot(x, 2.0 * x, x * x) + math.dist([x, x * x], [1.0, 2.0]),
    lambda x: math.degrees(x) * math.radians(x * x),
    lambda x: math.fmod(x * x * 5.0, 2.0) * x + math.remainder(x * x * 5.0, 2.0) * x,
    lambda x: math.modf(x * 3.0)[0] * math.modf(x * 3.0)[1] * x,
    lambda x: math.floor(x * 3.0) * x + math.ceil(x) * x * x + math.trunc(-x * 3.0) * x,
    lambda x: math.isclose(x, x + 1e-12) * x + (1 - math.isnan(x)) * x + math.isfinite(x) * x * x,
    lambda x: math.prod([x, x], start=x) + math.fsum([x, x * x]) + math.ldexp(x * x, 3),
    lambda x: min([x, 2.0 * x], default=0.0) * max([], default=x * x) + max((x, x * x), default=1),
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_as_in_python(f, quiet_x64):
    x, xs = 1.27, numpy.array([1.27, 0.83])
    first = slope(f, x)
    second = slope(lambda y: slope(f, y), x, 1e-3)
    g = overt.grad(f)
    close = numpy.testing.assert_allclose
    close(overt.jit(f)(x), f(x), rtol=1e-12)
    close(overt.vmap(f)(xs), [f(float(y)) for y in xs], rtol=1e-12)
    close(g(x), first, rtol=1e-7)
    close(overt.jvp(f, (x,), (1.0,))[1], first, rtol=1e-7)
    close(overt.jit(g)(x), first, rtol=1e-7)
    close(overt.vmap(g)(xs)[0], first, rtol=1e-7)
    close(overt.grad(g)(x), second, rtol=1e-4, atol=1e-6)
