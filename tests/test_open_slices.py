"""Slices whose ends depend on a loop's counter, on data or on the lane."""

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import NonConcreteBooleanIndexError


def prefixes(x):
    s = 0.0
    for i in range(1, 7):
        s = s + np.sum(x[:i] * x[:i]) - np.mean(x[i:]) + np.max(x[1 : i + 1]) + x[:i].sum()
    return s


def windows(x):
    s = 0.0
    for i in range(5):
        s = s + np.dot(x[i : i + 3], x[i + 1 : i + 4]) * x[i]
    return s


def edges(x):
    s = 0.0
    for i in range(8):
        s = s + x[i : i + 3].mean() + x[i - 2 : i].sum() + x[-i:].sum() + len(x[:i])
    return s


def unset_places(x):
    s = 0.0
    y = np.zeros_like(x)
    for i in range(1, 8):
        y[i] = x[i] + 1.0
        s = s + np.sum(np.log(y[1 : i + 1])) + np.sum(np.sqrt(y[1:i]))
    return s


def stores(x):
    y = np.zeros_like(x)
    for i in range(1, 6):
        y[:i] = x[i]
        y[i:] += 1.0
        y[2:i] *= 2.0
    return np.sum(y * x)


def reversed_prefixes(x):
    y = np.zeros_like(x)
    for i in range(1, 8):
        y[i] = np.sum(x[:i] * x[:i][::-1])
    return y.sum()


def kept(x):
    out = []
    for i in range(1, 4):
        out.append(x[:i])
    return np.concatenate(out).sum()


def carried(x):
    y = x[:2]
    for i in range(3, 5):
        y = x[:i]
    return y.sum() + y.shape[0]


def of_matrices(x):
    m = x.reshape(2, 4)
    s = 0.0
    for i in range(1, 4):
        s = s + m[:, :i].sum() + np.sum(m[1, :i]) + (m[:, i:] ** 2).sum(axis=0).max()
        s = s + m[i // 2, :i].sum() + (m[:, i:].T @ m[:, :1]).sum()
    return s


def factor(x):
    a = np.outer(x, x) / 100 + np.eye(8) * 9
    low = np.zeros((8, 8))
    for j in range(8):
        low[j, j] = np.sqrt(a[j, j] - np.sum(low[j, :j] ** 2))
        for i in range(j + 1, 8):
            low[i, j] = (a[i, j] - np.sum(low[i, :j] * low[j, :j])) / low[j, j]
    return np.sum(low)


PROGRAMS = (
    prefixes, windows, edges, unset_places, stores, reversed_prefixes, kept, carried, of_matrices,
    factor,
)  # fmt: skip
X = numpy.arange(1.0, 9.0)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_numpy(f):
    plain = type(f)(f.__code__, {**globals(), "np": numpy}, f.__name__)
    assert numpy.allclose(overt.jit(f)(X), plain(X.copy()), rtol=1e-4)
    step = 1e-6 * numpy.eye(8)
    slope = numpy.array([(plain(X + h) - plain(X - h)) / 2e-6 for h in step])
    assert numpy.allclose(overt.jit(overt.grad(f))(X), slope, rtol=1e-2, atol=1e-2)


def test_many_prefixes_are_one_loop():
    def sample(w, start):
        x = np.zeros(w.shape[0])
        x[0] = start
        for i in range(1, w.shape[0]):
            x[i] = np.tanh(np.sum(w[:i] * x[:i]) + 0.1)
        return x

    w = numpy.sin(numpy.arange(300.0)) * 0.3
    want = numpy.zeros(300)
    want[0] = 0.5
    for i in range(1, 300):
        want[i] = numpy.tanh(numpy.sum(w[:i] * want[:i]) + 0.1)
    assert numpy.allclose(overt.jit(sample)(w, 0.5), want, atol=1e-4)
    assert len(overt.jit(sample).lower(w, 0.5).as_text()) < 40_000


def test_bounds_from_data():
    @overt.jit
    def sums(packed, sizes):
        out = np.zeros(sizes.shape[0])
        offset = 0
        for i in range(sizes.shape[0]):
            out[i] = np.sum(packed[offset : offset + sizes[i]])
            offset += sizes[i]
        return out

    got = sums(numpy.arange(10.0), numpy.array([3, 1, 4, 2]))
    assert numpy.array_equal(got, [3, 3, 22, 17])

    @overt.jit
    def below(x, total):
        k = 0
        while x[k] < total:
            k = k + 1
        x[:k] = 0.0
        return x, x[k:].sum()

    x, rest = below(numpy.arange(6.0), 2.5)
    assert numpy.array_equal(x, [0, 0, 0, 3, 4, 5]) and rest == 12.0


def test_an_argument_still_gives_the_length():
    f = overt.jit(lambda x, n: x[:n])
    assert f(X, 3).shape == (3,) and f(X, 5).shape == (5,)


def test_a_length_that_is_needed_is_refused():
    @overt.jit
    def f(x, counts):
        return x[: counts.sum()]

    with pytest.raises(NonConcreteBooleanIndexError, match="a slice selects.*dynamic_slice"):
        f(X, numpy.array([1, 2]))


def test_windows_of_lanes():
    def window(x, start, n):
        end = start + n
        return x[start:end]

    starts = numpy.array([1, 4, 0])
    want = numpy.stack([X[s : s + 2] for s in starts])
    mapped = overt.vmap(lambda s: window(np.array(X), s, 2))
    assert numpy.array_equal(mapped(starts), want)
    assert numpy.array_equal(overt.jit(mapped)(starts), want)
    total = overt.grad(lambda x: np.sum(overt.vmap(lambda s: x[s : s + 2])(starts)))
    assert numpy.array_equal(total(np.array(X)), [1, 2, 1, 0, 1, 1, 0, 0])
    sums = overt.vmap(lambda s: np.sum(np.array(X)[s : s + 3]))(numpy.array([0, 7]))
    assert numpy.array_equal(sums, [6.0, 8.0])  # the last one is cut off


def test_prefixes_of_lanes():
    f = overt.vmap(lambda x, n: np.sum(x[:n] ** 2), in_axes=(None, 0))
    assert numpy.array_equal(f(np.array(X), numpy.array([0, 2, 8])), [0.0, 5.0, 204.0])
