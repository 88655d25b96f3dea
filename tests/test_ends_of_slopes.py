"""Slopes at the ends of the range, where squares overflow and differences cancel."""

from __future__ import annotations

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
