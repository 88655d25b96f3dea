"""Stores into what objects hold, in a module where attributes may be computed or set by methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed


class Checked:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Plain:
    def __init__(self, n):
        self.a = np.zeros(n)


def filled(x):
    s = Plain(3)
    for i in range(3):
        s.a[i] = x * i
    s.a[0] += x * x
    return (s.a**2).sum()


class Outer:
    def __init__(self):
        self.inner = Plain(3)


def deep(x):
    o = Outer()
    o.inner.a[1] = x
    o.inner.a[2] += x * x
    return (o.inner.a**2).sum()


class Computed:
    def __init__(self, n, x):
        self._grid = np.zeros(n)
        self.x = x

    @property
    def grid(self):
        return self._grid

    @property
    def middle(self):
        return self._grid[1:-1]

    def step(self):
        for i in range(1, 3):
            self.grid[i] = self.grid[i - 1] * 0.5 + self.x


def stepped(x):
    c = Computed(4, x)
    c.step()
    c.grid[0] = x
    c.step()
    return (c.grid**2).sum()


@pytest.mark.parametrize("f", [filled, deep, stepped])
def test_values_and_derivatives(f):
    check_transformed(f, (0.7, 1.9), twice=False)


def middle_changed(x):
    c = Computed(4, x)
    c.middle[0] = x
    return c.grid.sum()


class Twice:
    def __init__(self, n):
        self.a = np.zeros(n)
        self.b = self.a


def twice_held(x):
    s = Twice(3)
    s.a[1] = x
    return s.b.sum()


def named_elsewhere(x):
    s = Plain(3)
    t = Outer()
    t.inner.a = s.a
    s.a[1] = x
    return t.inner.a.sum()


class Named(NamedTuple):
    a: np.ndarray


def in_a_named_tuple(x):
    s = Named(np.array([x, 1.0]))
    s.a[0] = x * x
    return s.a.sum()


@pytest.mark.parametrize("f", [middle_changed, twice_held, named_elsewhere, in_a_named_tuple])
def test_what_would_be_lost_is_refused(f):
    with pytest.raises(NotImplementedError, match="chang"):
        overt.jit(f)(2.0)
