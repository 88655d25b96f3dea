"""Slices of lists are lists: joined by `+`, after stores into a slice, an insertion and a pop."""

from __future__ import annotations

import numpy as onp
import pytest

import overt
import overt.numpy as np


def backwards(x):
    xs = [x * k for k in range(5)]
    ys = xs[::-1] + xs[4:0:-2]
    return sum(v * (i + 1) for i, v in enumerate(ys))


def stored(x):
    xs = [x * k for k in range(5)]
    ys = xs[::-1]
    xs[1:3] = [x, x * 10.0, x * x * 100.0]
    return sum(v * (i + 1) for i, v in enumerate(ys + xs))


def inserted(x):
    xs = [x * k for k in range(5)]
    ys = xs[::2]
    xs.insert(1, x * x * 7.0)
    last = xs.pop()
    return sum(v * (i + 1) for i, v in enumerate(ys + xs)) + last


def of_tuples(x):
    pair = (x, x * x, 3.0 * x)
    rest = pair[1:] + pair[:1] * 2
    return rest[0] * rest[1] + rest[2] * rest[3]


def of_an_argument(xs):
    first = xs[:2]
    return np.sum(np.array(first + [xs[-1] * 2.0]) * np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("f", [backwards, stored, inserted, of_tuples])
def test_slopes_of_joined_slices(f):
    x = 1.5
    want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for grad in (overt.grad(f), overt.jit(overt.grad(f))):
        assert onp.allclose(grad(x), want, rtol=1e-5)
    assert onp.allclose(overt.jvp(f, (x,), (1.0,))[1], want, rtol=1e-5)
    assert onp.allclose(overt.jit(f)(x), f(x))


def test_slices_of_a_list_that_is_given():
    xs = [1.0, 2.0, 3.0, 4.0]
    for grad in (overt.grad(of_an_argument), overt.jit(overt.grad(of_an_argument))):
        assert [float(g) for g in grad(xs)] == [1.0, 2.0, 0.0, 6.0]
    arrays = overt.grad(lambda v: np.sum((v[:2] + v[1:]) ** 2))(np.array([1.0, 2.0, 4.0]))
    assert arrays.tolist() == [6.0, 18.0, 12.0]
