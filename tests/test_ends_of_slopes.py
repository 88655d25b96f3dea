"""Slopes at the ends of the range, where squares overflow and differences cancel."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

import overt
import overt.nn as nn
import overt.numpy as np
import overt.scipy.special as special

# Functions, points and slopes there, exact but for the last digits of a float32.
CASES: list[tuple[Any, float, float]] = [
    (np.arcsinh, 3e19, 1 / 3e19), (np.arcsinh, -1e30, 1e-30), (np.arcsinh, 0.75, 0.8),
    (np.arccosh, 3e19, 1 / 3e19), (np.arccosh, 1.25, 1 / 0.75), (np.arccosh, 1e30, 1e-30),
    (np.arctan, 1e30, 0.0), (np.hypot, 1e30, 0.0), (special.digamma, 1e30, 1e-30),
    (special.digamma, 1.0, numpy.pi**2 / 6), (special.i1, 1e-30, 0.5), (special.i1, 1e-38, 0.5),
    (special.spence, 2.0, -numpy.log(2.0)), (nn.log_sigmoid, 20.0, 2.0611537e-9),
    (nn.log_sigmoid, -20.0, 1.0), (nn.silu, 20.0, 1.0 + 20 * 2.0611537e-9),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wanted"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_slopes(f: Any, x: float, wanted: float) -> None:
    if f is np.hypot:
        f, wanted = (lambda x: np.hypot(x, 2e30)), 1 / 5**0.5
    slope = overt.grad(f)
    for found in (slope(x), overt.jit(slope)(x), overt.jvp(f, (x,), (1.0,))[1]):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=0)


def test_complex_arccosh_on_the_left() -> None:
    z = np.asarray(-2.0 - 0.5j)
    found = overt.grad(np.arccosh, holomorphic=True)(z)
    h = 1e-6
    z = complex(z)
    numpy.testing.assert_allclose(
        found, (numpy.arccosh(z + h) - numpy.arccosh(z - h)) / (2 * h), rtol=1e-4
    )


def test_dilogarithm_of_the_smallest_number() -> None:
    numpy.testing.assert_allclose(special.spence(np.float32(3e-45)), numpy.pi**2 / 6, rtol=1e-6)


def at_the_origin(x: Any, y: Any) -> Any:
    return np.hypot(x, y) * 2.0


def test_hypot_has_no_slope_at_the_origin() -> None:
    for f in (at_the_origin, lambda x, y: 2.0 * math.hypot(x, y)):
        for grad in (overt.grad(f, (0, 1)), overt.jit(overt.grad(f, (0, 1)))):
            assert [float(v) for v in grad(0.0, 0.0)] == [0.0, 0.0]
            numpy.testing.assert_allclose(grad(3.0, -4.0), [1.2, -1.6], rtol=1e-6)
        assert float(overt.jvp(f, (0.0, 0.0), (1.0, 1.0))[1]) == 0.0
        numpy.testing.assert_allclose(overt.grad(overt.grad(f))(3.0, 4.0), 0.256, rtol=1e-5)


@pytest.mark.parametrize("name", ["max", "min"])
def test_parts_no_larger_or_smaller_than_a_number(name: str) -> None:
    weights = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        part = x.at[1:]
        return np.sum(getattr(x.at[0], name)(0.5) * weights) + np.sum(
            (part.max(0.5) if name == "max" else part.min(0.5)) * weights
        )

    x = numpy.array([0.1, 0.9, 0.3], "float32")
    kept = x > 0.5 if name == "max" else x < 0.5
    wanted = numpy.array([1.0, 2.0, 3.0]) * [kept[0], 1, 1] + [1.0, 2.0 * kept[1], 3.0 * kept[2]]
    for found in (overt.grad(f)(x), overt.jit(overt.grad(f))(x), overt.jacfwd(f)(x)):
        numpy.testing.assert_allclose(found, wanted)


def scaled(x: Any, a: Any, b: Any) -> Any:
    return x * a + b * x


def test_iterators_spread_into_calls() -> None:
    def f(x: Any) -> Any:
        return scaled(x, *map(lambda c: c * 2.0, [1.0, 2.0]))

    for found in (overt.grad(f)(3.0), overt.jvp(f, (3.0,), (1.0,))[1], overt.jacfwd(f)(3.0)):
        assert float(found) == 6.0
