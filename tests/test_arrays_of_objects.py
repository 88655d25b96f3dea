"""Arrays and lists that objects hold, changed through another name: the object sees it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import RecordedWarning
from tests.numeric import slope
from tests.test_shared_memory import in_numpy

pytestmark = pytest.mark.usefixtures("quiet_x64")


class Grid:
    def __init__(self, u: Any) -> None:
        self.u = u
        self.t = 0.0
        self.log: list[Any] = []

    def step(self, x: Any) -> None:
        u = self.u
        for i in range(1, 3):
            u[i] = u[i] * x + u[i - 1]
        self.t += x
        self.u = u

    def first_of_two_names(self, x: Any) -> Any:
        u, t = self.u, self.t
        u[1:] *= x
        t += 5.0
        v = self.u
        v[0] = v[0] + x
        return u[0] * t

    def through_a_slice(self, x: Any) -> None:
        part = self.u[1:3]
        part[0] = x * x
        part *= 2.0

    def every_row(self, x: Any) -> None:
        for row in self.u:
            row *= x

    def note(self, x: Any) -> None:
        log = self.log
        log.append(x * x)


class Pair(NamedTuple):
    w: Any
    n: int


def put(v: Any, x: Any) -> None:
    v[0] = x * v[0]


def another_name(x: Any) -> Any:
    g = Grid(np.zeros(3) + x)
    b = g.u
    b[0] = 5.0 * x * x
    return np.sum(g.u)


def read_again(x: Any) -> Any:
    g = Grid(np.zeros(3) + x)
    b = g.u
    g.u[0] = x * x
    g.u[1] += x
    return np.sum(b * g.u)


def stored_by_a_helper(x: Any) -> Any:
    g = Grid(np.zeros(3) + x)
    put(g.u, x)
    return np.sum(g.u)


def stored_and_set(x: Any) -> Any:
    g = Grid(np.ones(4))
    g.step(x)
    g.step(x)
    return np.sum(g.u * g.u) + g.t


def two_names(x: Any) -> Any:
    g = Grid(np.ones(4))
    q = g.first_of_two_names(x)
    return np.sum(g.u * g.u) + g.t * x + q


def by_slices(x: Any) -> Any:
    g = Grid(np.ones(4))
    g.through_a_slice(x)
    g.through_a_slice(x + g.u[1])
    return np.sum(g.u)


def by_rows(x: Any) -> Any:
    g = Grid(np.ones((2, 3)))
    g.every_row(x)
    g.every_row(x * x)
    return np.sum(g.u)


def noted(x: Any) -> Any:
    g = Grid(0.0)
    g.note(x)
    g.note(2.0 * x)
    return sum(g.log) * x


def of_a_tuple(x: Any) -> Any:
    p = Pair(np.zeros(3) + x, 2)
    w = p.w
    w[0] = 5.0 * x
    return np.sum(w) * p.n


def set_between(x: Any) -> Any:
    g = Grid(np.ones(4))
    b = g.u
    g.u = b * x
    b[0] = 100.0 * x
    return np.sum(b) + np.sum(g.u)


def in_a_branch(x: Any) -> Any:
    g = Grid(np.ones(4))
    b = g.u
    if x > 1.0:
        b[0] = x * x
    else:
        b[1] = 7.0 * x
    return np.sum(g.u) * x


def in_a_loop(x: Any) -> Any:
    g = Grid(np.ones(4))
    b = g.u
    for i in range(3):
        b[i + 1] = g.u[i] * x
    return np.sum(g.u)


def a_number(x: Any) -> Any:
    g = Grid(np.ones(4))
    t = g.t
    t += x
    return t * 3.0 + g.t


FUNCTIONS = [
    another_name, read_again, stored_by_a_helper, stored_and_set, two_names, by_slices, by_rows,
    noted, of_a_tuple, set_between, in_a_branch, in_a_loop, a_number,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy_has_it(f: Any) -> None:
    oracle = in_numpy(f)
    xs = [0.7, 1.6]
    values, slopes = [oracle(x) for x in xs], [slope(oracle, x) for x in xs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        for x, value, want in zip(xs, values, slopes, strict=True):
            numpy.testing.assert_allclose(overt.jit(f)(x), value, rtol=1e-12)
            numpy.testing.assert_allclose(overt.grad(f)(x), want, rtol=1e-6, atol=1e-8)
            numpy.testing.assert_allclose(overt.jvp(f, (x,), (1.0,))[1], want, rtol=1e-6, atol=1e-8)
        numpy.testing.assert_allclose(overt.vmap(f)(np.array(xs)), values, rtol=1e-12)
        batch = overt.jit(overt.vmap(overt.grad(f)))(np.array(xs))
        numpy.testing.assert_allclose(batch, slopes, rtol=1e-6, atol=1e-8)
        second = slope(lambda x: slope(oracle, x), 1.6)
        twice = overt.jvp(overt.grad(f), (1.6,), (1.0,))[1]
        numpy.testing.assert_allclose(twice, second, rtol=1e-4, atol=1e-4)
