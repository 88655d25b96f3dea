"""Operators of a class of the user's have derivatives as text, over the fields of their objects.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

from typing import Any

import pytest

import overt
from tests.growing import grown_in_place, hooks
from tests.ways import assert_every_way


class Complex:
    def __init__(self, re, im):
        self.re = re
        self.im = im

    def __mul__(self, o):
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __add__(self, o):
        return Complex(self.re + o.re, self.im + o.im)

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def __rmul__(self, scale):
        return Complex(scale * self.re, scale * self.im)

    def conj(self):
        return Complex(self.re, -self.im)

    def abs2(self):
        return self.re**2 + self.im**2


def mandelbrot(x):
    z, k = Complex(0.1, 0.2), Complex(x, 0.5)
    k = Complex(x, 0.5)
    z = Complex(0.1, 0.2)
    for _ in range(3):
        z = z * z + k
    return z.re * z.im


def operators(x):
    a = Complex(x, 1.0)
    b = Complex(0.5, x * x)
    total = Complex(0.0, 0.0)
    for k in range(3):
        total += 2.0 * a * b.conj() + Complex(k * x, 1.0)
        if total.abs2() > 3:
            total = -total
    return (total + a).abs2() + (a * b).re


def on_a_side(x):
    a = Complex(x, 1.0)
    b = Complex(1.0, x)
    return (a * b).re if x > 1 else (a + b).im * x


@pytest.mark.parametrize("f", [mandelbrot, operators, grown_in_place, on_a_side, hooks])
def test_operators_of_objects(f: Any) -> None:
    assert_every_way(f)


@pytest.mark.parametrize("f", [operators])
def test_operators_are_text(f: Any) -> None:
    assert "vjp_of" not in str(overt.source(overt.grad(f)))
