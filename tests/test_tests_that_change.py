"""Loops whose test changes an object: a tokenizer that moves on, a counter of calls, a stepper.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

from collections import deque

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
XS, YS = (0.8, 2.1, 0.2), (1.4, 0.3, 2.9)


class Tokens:
    def __init__(self, text):
        self.text, self.i = text, -1

    def take(self):
        self.i += 1
        return self.text[self.i] if self.i < len(self.text) else ""

    def more(self):
        self.i += 1
        return self.i < len(self.text)


def tokenizer(x, y):
    tokens = Tokens("+x*y+y")
    value = 0.0
    while tokens.more():
        sign = tokens.text[tokens.i]
        operand = x if tokens.take() == "x" else y
        value = value + operand if sign == "+" else value * operand
    return value


def until_a_mark(x, y):
    tokens = Tokens("xxy.x")
    value = 1.0
    while tokens.take() != ".":
        value = value * x + y
    return value * tokens.i


def digits_of_a_queue(x, y):
    symbols, total = deque("C2H6O12"), x
    while symbols:
        element, digits = symbols.popleft(), ""
        while symbols and symbols[0].isdigit():
            digits += symbols.popleft()
        total = total * y + int(digits or "1") * (x if element == "H" else 1.0)
    return total


class Stepper:
    def __init__(self, value):
        self.value, self.steps = value, 0

    def step(self, k):
        self.value = self.value * k
        self.steps += 1
        return self.value < 5.0


def stepper_with_break(x, y):
    stepper = Stepper(x)
    total = 0.0
    while stepper.step(1.5):
        total = total + stepper.value
        if total > 4.0 + y:
            break
    return total + stepper.steps * stepper.value


def steppers_in_a_loop(x, y):
    total = 0.0
    for i in range(3):
        stepper = Stepper(x + i)
        while stepper.step(1.5):
            total = total + stepper.value
        total = total * y
    return total


def counted_calls(x, y):
    def f(v):
        f.calls += 1
        return v**3 + x * v

    f.calls = 0
    v = y
    while f(v) < 30.0:
        v = v * 1.3
    return v * f.calls


@pytest.mark.parametrize(
    "f",
    [
        digits_of_a_queue,
        tokenizer,
        until_a_mark,
        stepper_with_break,
        steppers_in_a_loop,
        counted_calls,
    ],
)
def test_tests_that_change_objects(f, x64):
    values = [f(x, y) for x, y in zip(XS, YS, strict=True)]
    slopes = [slope(lambda t, y=y: f(t, y), x) for x, y in zip(XS, YS, strict=True)]
    fast, fast_slope = overt.jit(f), overt.jit(overt.grad(f))
    for x, y, value, expected in zip(XS, YS, values, slopes, strict=True):
        numpy.testing.assert_allclose(fast(x, y), value, rtol=1e-12)
        numpy.testing.assert_allclose(overt.grad(f)(x, y), expected, rtol=1e-6)
        numpy.testing.assert_allclose(fast_slope(x, y), expected, rtol=1e-6)
    lanes = overt.vmap(f)
    numpy.testing.assert_allclose(lanes(np.array(XS), np.array(YS)), values, rtol=1e-12)
    numpy.testing.assert_allclose(overt.jit(lanes)(np.array(XS), np.array(YS)), values, rtol=1e-12)
