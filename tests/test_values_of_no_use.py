"""Values computed before a branch that does not read them: their slopes do not count.

The oracles are the slopes of what the path that is taken computes.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np


def root_before(x: Any) -> Any:
    r = np.sqrt(x)
    if x > 1:
        return r
    return 2.0 * x


def discriminant(x: Any) -> Any:
    r = np.sqrt(x - 1.0) * x
    y = 2.0 * x
    if x > 1:
        y = r * y
    return y


def logarithm_in_a_helper(x: Any) -> Any:
    def parts(v: Any) -> Any:
        return np.log(v), 1.0 / v

    a, b = parts(x)
    if x > 1:
        return a * b
    return 2.0 * x


# Functions, points, and the slopes there.
CASES = [
    (root_before, [0.0, 0.25, 4.0], [2.0, 2.0, 0.25]),
    (discriminant, [0.0, 1.0, 2.0], [2.0, 2.0, 12.0]),
    (logarithm_in_a_helper, [0.0, -1.0, 2.0], [2.0, 2.0, (1.0 - numpy.log(2.0)) / 4.0]),
]


@pytest.mark.parametrize(("f", "points", "slopes"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_slopes_are_those_of_the_path(f: Any, points: list, slopes: list, x64: None) -> None:
    grad = overt.grad(f)
    lanes = np.array(points)
    for found in (
        [grad(x) for x in points],
        [overt.jit(grad)(x) for x in points],
        overt.vmap(grad)(lanes),
        overt.grad(lambda xs: np.sum(overt.vmap(f)(xs)))(lanes),
        [overt.jvp(f, (x,), (1.0,))[1] for x in points],
    ):
        numpy.testing.assert_allclose(numpy.asarray(found, float), slopes, rtol=1e-9)


@pytest.mark.parametrize("f", [root_before, logarithm_in_a_helper], ids=lambda f: f.__name__)
def test_second_slopes(f: Any) -> None:
    assert float(overt.grad(overt.grad(f))(0.0)) == 0.0


def first_positive(ks: Any) -> Any:
    for k in ks:
        s = np.sqrt(k - 1.0) * k
        if s > 0:
            return s * k
    return 0.0


def test_iterations_that_are_left(x64: None) -> None:
    ks = numpy.array([0.3, 0.5, 2.0, 3.0])
    slope = 2.0**2 / (2.0 * 1.0) + 2.0 * 2.0  # of sqrt(k - 1) k^2 at 2
    for grad in (overt.grad(first_positive), overt.jit(overt.grad(first_positive))):
        numpy.testing.assert_allclose(grad(ks), [0.0, 0.0, slope, 0.0])
