"""Sums, counts and questions over the items that a condition on data keeps."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy
import pytest

import overt
from tests.ways import assert_every_path

POINTS = (0.7, -0.4, 1.3)  # each keeps other items
WEIGHTS = numpy.array([0.5, -0.2, 0.9])


pytestmark = pytest.mark.usefixtures("quiet_x64")


def counted(x):
    return x * x * sum(1 for v in WEIGHTS * x if v > 0.2) + x


def measured(x):
    return x * len([v for v in WEIGHTS * x if v > 0.2]) + x


def summed(x):
    return sum(v * v for v in WEIGHTS * x if v > 0.2) + x


def summed_from_a_start(x):
    xs = WEIGHTS * x
    return sum([v * v * k for k, v in enumerate(xs) if k != 1 and v > 0.2 if v < 0.6], 2.0) * x


def of_pairs(x):
    return sum(a * b for a in [x, -x, 0.5] for b in WEIGHTS * x if a < b if a > -1.0) + x


def asked(x):
    xs = WEIGHTS * x
    if any(v > 0.5 for v in xs if v > 0.1) and all(v > 0.2 for v in xs if v > 0.0):
        return x * x
    return 3.0 * x


def of_a_dictionary(x):
    d = {"a": x, "b": 0.2, "c": x * x}
    kept = sum(v for k, v in d.items() if v > 0.3 and k != "z")
    return kept * sum(k for k in range(4) if k != 2) + x


FUNCTIONS = [
    counted, measured, summed, summed_from_a_start, of_pairs, asked, of_a_dictionary,
]  # fmt: skip


class Interval(NamedTuple):
    low: Any
    high: Any

    def half(self, f):
        middle = 0.5 * (self.low + self.high)
        return self._replace(high=middle) if f(middle) > 0 else self._replace(low=middle)


def method_given_a_closure(x):
    interval = Interval(-3.0, 4.0 * x * x)
    for _ in range(3):
        interval = interval.half(lambda t: t - x)
    return interval.high * x


def function_given_a_partial(x):
    def larger(f, v):
        if f(v) > 0:
            return v * v
        return 2.0 * v

    return larger(functools.partial(lambda a, v: v - a, x), 0.8) * x


@pytest.mark.parametrize(
    "f", [*FUNCTIONS, method_given_a_closure, function_given_a_partial], ids=lambda f: f.__name__
)
def test_every_path(f):
    assert_every_path(f, POINTS, rtol=1e-7)


def test_gradients_that_are_integers_in_the_text():
    def scaled(x, n):
        return x * n + 1

    for way in (overt.grad, overt.jacrev, overt.jacfwd):
        assert float(way(overt.grad(scaled))(0.7, 3)) == 0.0
    value, second = overt.value_and_grad(overt.grad(scaled))(0.7, 3)
    assert value.dtype == second.dtype == numpy.float64
    assert float(value) == 3.0 and float(second) == 0.0
