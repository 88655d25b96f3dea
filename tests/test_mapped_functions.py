"""Branches and loops in what `vectorize` and its kind call; roots with zeros at an end."""

from __future__ import annotations

import numpy as onp
import pytest

import overt
import overt.numpy as np


def larger(a, b):
    if a > b:
        return a
    return b * 2.0


def doubled_up(a):
    steps = 0
    while a < 10.0:
        a = a * 2.0
        steps = steps + 1
    return a + steps


def kept(row):
    total = 0.0
    for v in row:
        if v > 1.0:
            total = total + v**2
        else:
            total = total - 1.0
    return total


X = onp.array([1.0, 5.0, 3.5])
ROWS = onp.array([[3.0, 1.0, 2.0], [0.5, 5.0, 1.5]])


@pytest.mark.parametrize("make", [np.vectorize, lambda f: np.frompyfunc(f, 2, 1)])
def test_branches_of_a_function_of_numbers(make):
    f = make(larger)
    want = [larger(float(a), 3.0) for a in X]
    for run in (f, overt.jit(lambda a, b: f(a, b))):
        assert run(np.asarray(X), 3.0).tolist() == want
    grad = overt.grad(lambda a, b: np.sum(f(a, b)), argnums=(0, 1))
    for run in (grad, overt.jit(grad)):
        a, b = run(np.asarray(X), 3.0)
        assert a.tolist() == [0.0, 1.0, 1.0] and float(b) == 2.0
    table = f(np.asarray(X)[:, None], np.asarray(X))
    assert table.tolist() == [[larger(float(a), float(b)) for b in X] for a in X]


def test_loops_of_a_function_of_numbers():
    f = np.vectorize(doubled_up)
    want = [doubled_up(float(a)) for a in X]
    assert f(np.asarray(X)).tolist() == want
    assert overt.jit(lambda x: f(x))(np.asarray(X)).tolist() == want
    total = lambda x: np.sum(f(x))
    assert overt.grad(total)(np.asarray(X)).tolist() == [16.0, 2.0, 4.0]
    value, slope = overt.jvp(total, (np.asarray(X),), (np.ones(3),))
    assert float(value) == sum(want) and float(slope) == 22.0
    assert overt.vmap(total)(np.asarray(ROWS)).tolist() == [
        sum(doubled_up(float(v)) for v in row) for row in ROWS
    ]


@pytest.mark.parametrize("axis", [0, 1])
def test_functions_of_lines(axis):
    f = lambda m: np.apply_along_axis(kept, axis, m)
    want = onp.apply_along_axis(kept, axis, ROWS)
    for run in (f, overt.jit(f)):
        assert np.allclose(run(np.asarray(ROWS)), want)
    grad = overt.grad(lambda m: np.sum(f(m)))
    for run in (grad, overt.jit(grad)):
        assert np.allclose(run(np.asarray(ROWS)), onp.where(ROWS > 1.0, 2.0 * ROWS, 0.0))


def test_functions_over_axes():
    def half(a, axis):
        s = np.sum(a, axis)
        return s / 2.0 if np.ndim(s) else s

    assert np.apply_over_axes(half, np.ones((2, 4)), [0, 1]).tolist() == [[2.0]]


@pytest.mark.parametrize(
    "p", [[0, 1, -3, 2, 0], [1, -3, 2, 0, 0], [0, 0, 2, -4], [0, 0], [5], [0, 3, 0], []]
)
def test_roots_with_zeros_at_the_ends(p):
    got = np.roots(np.array(p, float))
    want = onp.roots(p)
    assert got.shape == want.shape
    assert np.allclose(np.sort(np.real(got)), onp.sort(onp.real(want)), atol=1e-4)


def test_roots_compiled_and_differentiated():
    p = np.array([1.0, -3.0, 2.0])
    largest = lambda p: np.max(np.real(np.roots(p)))
    assert np.allclose(overt.jit(largest)(p), 2.0, atol=1e-4)
    # dr / dp_k = -r**(2 - k) / p'(r), at r = 2
    for run in (overt.grad(largest), overt.jit(overt.grad(largest))):
        assert np.allclose(run(p), np.array([-4.0, -2.0, -1.0]), atol=1e-3)
    assert np.allclose(overt.grad(largest)(np.array([0.0, 1.0, -3.0, 2.0]))[1:], run(p), atol=1e-3)
