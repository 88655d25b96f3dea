"""`x[mask]` and `np.nonzero` where only the running program knows what they select."""

from __future__ import annotations

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed

XS = np.array([0.2, 1.5, 3.0, 0.7, 2.5, 2.9])


def reduced(x):
    v = XS * x
    w = v[v > 0.25]
    return w.sum() * w.mean() + w.max() - w.min() + w.std() + w.size * x + w.shape[0] * x


def by_position(x):
    v = XS * x
    w = v[v > 0.25]
    return w[0] ** 2 + w[-1] * np.sort(w)[1] + w[np.argmax(w)] * w[np.argsort(w)[0]]


def two_masks(x):
    v = XS * x
    w = v[v > 0.25]
    u = 2 * v
    return w[w < 1.4].sum() + v[v > 0.3][u[v > 0.3] < 2.4].sum()


def places(x):
    v = XS * x
    i = np.flatnonzero(v > 0.25)
    (j,) = np.nonzero(v > 0.5)
    first = np.nonzero(v > 0.25)[0][0]
    return v[i[-1]] * len(i) + v[j].sum() * x + v[first] ** 2 + v[np.argwhere(v > 0.5)[0, 0]]


def running(x):
    v = XS * x
    w = v[v > 0.25]
    return np.cumsum(w)[-1] + np.diff(w).sum() + (w[1:] - w[:-1]).max() + np.median(w)


def products(x):
    v = XS * x
    m = v > 0.25
    return v[m] @ v[m] + np.linalg.norm(v[m]) + np.concatenate([v[m], v[v < 0.2]]).sum()


def rows(x):
    a = np.reshape(np.concatenate([XS, XS]), (6, 2)) * x
    return a[a[:, 0] > 0.25].sum() + a[a[:, 0] > 0.25].mean(axis=0)[1] + a[a > 0.5].size * x


def walked(x):
    v = XS * x
    total = 0.0
    for y in v[v > 0.25]:
        total = total + y * y
    return total * np.unique(np.round(v)).size


def spread(x):
    v = XS * x
    m = v > 0.25
    v[m] = v[m] - v[m].mean()
    return (v**2).sum()


EACH = [reduced, by_position, two_masks, places, running, products, rows, walked, spread]


@pytest.mark.parametrize("f", EACH, ids=lambda f: f.__name__)
def test_agrees_with_numpy(f):
    check_transformed(f, [0.53, 0.97, 0.21], twice=f is reduced)


def test_length_in_a_condition():
    def longest(x):
        v = XS * x
        w = v[v > 0.6]
        if len(w) > 3:
            return w.max()
        return w.sum() * 2

    compiled = overt.jit(longest)
    for x in (0.3, 0.53, 0.97):
        assert abs(compiled(x) - longest(x)) < 1e-5


def test_a_selection_as_a_result_is_refused():
    with pytest.raises(overt.errors.NonConcreteBooleanIndexError, match="write np.where"):
        overt.jit(lambda v: v[v > 0.5])(XS)


def test_arrays_like_a_selection_are_as_long():
    @overt.jit
    def f(x):
        positive = x[x > 0]
        ones, threes = np.ones_like(positive), np.full_like(positive, 3)
        return (
            ones.sum(),
            threes.sum(),
            np.sum(np.zeros_like(positive) + 1),
            np.sum(ones * positive),
        )

    assert [float(v) for v in f(np.array([1.0, -2.0, 3.0, -4.0]))] == [2, 6, 2, 4]
    g = overt.grad(lambda x: np.sum(np.full_like(x[x > 0], x[0])))
    assert np.array_equal(overt.jit(g)(np.array([1.0, -2.0, 3.0])), [2, 0, 0])
