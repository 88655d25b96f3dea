"""`any` and `all` of generators that set variables, and derivatives of starred generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import overt
from tests.ways import assert_every_way


def first_positive(x: Any) -> Any:
    values = [x - 1.0, x * x - 2.0, x]
    if any((top := v) > 0 for v in values):
        return top * x
    return x


def first_that_fails(x: Any) -> Any:
    if not all((low := v) > 0 for v in [x, x * x - 2.0, x - 1.0]):
        return low * x
    return x


def after_a_condition(x: Any) -> Any:
    values = [x - 1.0, x * x - 2.0, 9.0 * x, x]
    if x > 0 and any((top := v) > 0 for v in values if v < 5):
        return top * x
    return x


def in_a_loop_s_test(x: Any) -> Any:
    y, n = x, 0
    while n < 4 and any((top := y * r) > 1.0 for r in [0.5, 0.7, 2.0]):
        y = y * 0.8 + 0.1 * top
        n += 1
    return y * n


def in_a_sum(x: Any) -> Any:
    return sum((t := i * x) * t for i in range(4)) + t


@pytest.mark.parametrize(
    "f", [first_positive, first_that_fails, after_a_condition, in_a_loop_s_test, in_a_sum]
)
def test_generators_that_set_variables(f: Any) -> None:
    assert_every_way(f)


def three(x: Any, a: Any, b: Any, c: Any) -> Any:
    return x * a + x * x * b + c


def of_a_starred_generator(x: Any) -> Any:
    return three(x, *(v * 2 for v in (1.0, 2.0, 3.0)))


def left_before_a_loop(x: Any) -> Any:
    if x < 0.1:
        return x * 3.0
    total = 0.0
    for i in range(4):
        total += np.sin(x * i) * x
    return total


class Level:
    def __init__(self, value: Any) -> None:
        self.value = value


def of_an_object_and_a_branch(x: Any) -> Any:
    level, y = Level(x), x
    if x > 0.6:
        y += 3.0 * x * x
    while y > 2.0:
        y = y * 0.5
    return level.value * y


@pytest.mark.parametrize(
    "f", [of_a_starred_generator, left_before_a_loop, of_an_object_and_a_branch]
)
def test_derivatives(f: Any) -> None:
    assert_every_way(f)


@pytest.mark.usefixtures("x64")
def test_third_derivatives_of_a_loop_that_is_not_reached() -> None:
    f = left_before_a_loop
    second = overt.grad(overt.grad(f))
    want = (second(0.7 + 1e-5) - second(0.7 - 1e-5)) / 2e-5
    for run in (lambda x: overt.jvp(second, (x,), (1.0,))[1], overt.grad(second)):
        np.testing.assert_allclose(run(0.7), want, rtol=1e-5)
        np.testing.assert_allclose(overt.jit(run)(0.7), want, rtol=1e-5)
