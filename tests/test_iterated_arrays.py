"""Loops by NumPy's iterators, functions of `vectorize`, tables of lists, lists given for arrays."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope

pytestmark = pytest.mark.usefixtures("quiet_x64")
X = numpy.array([[0.31, 1.27, 0.74], [2.05, 0.52, 1.13]])


def enumerated(a):
    total = 0.0
    for (i, j), v in numpy.ndenumerate(a):
        total += v * v * (i + 2 * j)
    return total


def indexed(a):
    b = numpy.zeros_like(a)
    for place in numpy.ndindex(*a.shape):
        b[place] = a[place] ** 2 + sum(place)
    return (b * a).sum()


def in_turn(a):
    total = 1.0
    for v in numpy.nditer(a):
        total = total * 0.5 + v**2
    return total


@numpy.vectorize
def grown(v, rate):
    while v < 5.0:
        v = v * rate + 0.1
    return v


def of_each(a):
    return (grown(a, 1.7) * grown(a[0], a[1, 0])).sum()


def edited(a):
    s, t = a[0], a[1]
    n, m = len(s), len(t)
    costs = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        costs[i][0] = costs[i - 1][0] + abs(s[i - 1])
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            change = (s[i - 1] - t[j - 1]) ** 2
            costs[i][j] = min(costs[i - 1][j] + 0.3, costs[i - 1][j - 1] + change, costs[i][j - 1])
    return costs[n][m] + sum(costs[1])


def stored_lists(a):
    a[0] = [a[1, 0], 2.0, a[0, 1]]
    a[0:2, :2] = [[1.0, a[1, 1]], [a[1, 0] * a[0, 2], a[1, 2]]]
    a[-1:] *= (2.0, 3.0, 1.0)
    a[:1] += [[1.0, a[1, 2], 0.0]]
    return (a * a * a).sum()


@pytest.mark.parametrize("f", [enumerated, indexed, in_turn, of_each, edited, stored_lists])
def test_in_every_transformation(f):
    def along(t):
        return float(f(X + t * numpy.eye(2, 3)))

    value, want = along(0.0), slope(along, 0.0)
    d = numpy.eye(2, 3)
    numpy.testing.assert_allclose(overt.jit(f)(X), value, rtol=1e-12)
    for g in (overt.grad(f), overt.jit(overt.grad(f))):
        numpy.testing.assert_allclose((g(X) * d).sum(), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (d,))[1], want, rtol=1e-6)
    lanes = overt.vmap(f)(np.stack([X, X + 0.01 * d]))
    numpy.testing.assert_allclose(lanes, [value, along(0.01)], rtol=1e-12)


def test_lists_held_between_bounds():
    f = lambda p: np.sum(np.clip(p, 0.0, 1.0) * np.array([1.0, 2.0, 3.0]))
    p = [0.3, 1.5, -0.2]
    numpy.testing.assert_allclose(overt.grad(f)(p), [1.0, 0.0, 0.0])
    numpy.testing.assert_allclose(overt.jvp(f, (p,), ([1.0, 1.0, 1.0],))[1], 1.0)


def pairs_as_lists(a):
    rows = [list(r) for r in zip(a[0], a[1], [1, 2, 3], strict=True)]
    rows[0][1] = rows[0][1] * 2
    return sum(p * p * q * k for p, q, k in rows)


def pairs_by_one_name(a):
    total = 0.0
    for i, r in enumerate(zip(a[0], a[1], strict=True)):
        if r[0] > 1.0:
            continue
        total += i * r[0] * max(r) + total * r[1]
    for r, z in zip(zip(a[1], a[0], strict=True), a[0], strict=True):
        total += r[0] * r[1] * z + sum(sorted(r)[1:])
    for r in enumerate(a[1]):
        total += r[0] * r[1] ** 2
    return total


@pytest.mark.parametrize("f", [pairs_as_lists, pairs_by_one_name])
def test_a_name_for_what_is_paired(f: Any) -> None:
    units = numpy.eye(6).reshape(2, 3, 2, 3)
    parts = [slope(lambda t, u=u: f(X + t * u), 0.0) for row in units for u in row]
    wanted = numpy.reshape(parts, (2, 3))
    for made in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        numpy.testing.assert_allclose(made(np.array(X)), wanted, rtol=1e-5)
    along = overt.jvp(f, (np.array(X),), (np.ones_like(X),))[1]
    numpy.testing.assert_allclose(along, wanted.sum(), rtol=1e-5)
