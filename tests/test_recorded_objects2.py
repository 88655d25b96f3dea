"""Objects under differentiation, more of them: loops that remake them, stores into their arrays.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

from typing import Any

import pytest

import overt.numpy as np
from tests.ways import assert_every_way


class Complex:
    def __init__(self, re, im):
        self.re = re
        self.im = im

    def __mul__(self, o):
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __add__(self, o):
        return Complex(self.re + o.re, self.im + o.im)


class Slotted:
    __slots__ = ("re", "im")

    def __init__(self, re, im):
        self.re = re
        self.im = im

    def __mul__(self, o):
        return Slotted(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __add__(self, o):
        return Slotted(self.re + o.re, self.im + o.im)


class Controller:
    def __init__(self, gain, limit):
        self.gain = gain
        self.limit = limit
        self.integral = 0.0

    def update(self, e):
        self.integral = self.integral + 0.1 * e
        c = self.gain * e + 0.5 * self.integral
        if c > self.limit:
            return self.limit
        if c < -self.limit:
            return -self.limit
        return c


class Grid:
    def __init__(self, n):
        self.cells = np.zeros((n, n))

    def deposit(self, x, y, a):
        if x > 0.5:
            self.cells[1, 1] += a * x
        else:
            self.cells[0, 1] += a * y


def orbit(x):
    z, k = Complex(0.1, 0.2), Complex(x, 0.5)
    for _ in range(3):
        z = z * z + k
    return z.re * z.im


def slotted_orbit(x):
    z, k = Slotted(0.1 * x, 0.2), Slotted(x, 0.5)
    for _ in range(3):
        z = z * z + k
    return z.re * z.im


def controlled(x):
    controller = Controller(x, 0.6)
    y = 0.0
    for _ in range(3):
        u = controller.update(0.8 - y)
        y = y + 0.4 * u
    return y + controller.integral


@pytest.mark.parametrize("f", [orbit, slotted_orbit, controlled])
def test_objects_that_loops_change(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


def deposits(x):
    grid = Grid(2)
    for v in (x, 0.3 * x):
        grid.deposit(v, x, 1.0)
    return np.sum(grid.cells**2)


def test_stores_into_an_array_of_an_object() -> None:
    assert_every_way(deposits, (0.63, 1.87), lambda x: (1.69 if x > 5 / 3 else 2.0) * x**2)
