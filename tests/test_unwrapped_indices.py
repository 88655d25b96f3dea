"""`wrap_negative_indices=False`: negative indices lie outside, for reads, updates and slopes."""

import numpy
import pytest

import overt
import overt.numpy as np

X = numpy.arange(12.0, dtype=numpy.float32).reshape(3, 4) + 1
ROWS = numpy.array([-1, 0, 2, 3, -4])


def outside(i: numpy.ndarray, n: int) -> numpy.ndarray:
    return (i < 0) | (i >= n)


@pytest.mark.parametrize("jit", [False, True])
def test_reads_and_their_slopes(jit: bool) -> None:
    def filled(x, i):
        return x.at[i, 1:].get(mode="fill", fill_value=-7.0, wrap_negative_indices=False)

    def clipped(x, i):
        return x.at[..., i].get(mode="clip", wrap_negative_indices=False)

    t = overt.jit if jit else lambda f: f
    want = numpy.where(outside(ROWS, 3)[:, None], -7.0, X[numpy.clip(ROWS, 0, 2), 1:])
    assert numpy.array_equal(t(filled)(np.array(X), np.array(ROWS)), want)
    assert numpy.array_equal(t(clipped)(np.array(X), np.array(ROWS)), X[:, numpy.clip(ROWS, 0, 3)])
    g = t(overt.grad(lambda x, i: np.sum(filled(x, i) + clipped(x, i).sum())))(np.array(X), ROWS)
    count = numpy.zeros((3, 4))
    for i in ROWS:
        count[:, min(max(i, 0), 3)] += 15
        if 0 <= i < 3:
            count[i, 1:] += 1
    assert numpy.array_equal(g, count)
    dot = overt.jvp(lambda x: filled(x, ROWS), (np.array(X),), (np.ones((3, 4)),))[1]
    assert numpy.array_equal(dot, numpy.where(outside(ROWS, 3)[:, None], 0.0, numpy.ones((5, 3))))


@pytest.mark.parametrize("jit", [False, True])
def test_updates_leave_out_what_is_outside(jit: bool) -> None:
    t = overt.jit if jit else lambda f: f
    v = numpy.array([10.0, 20.0, 30.0, 40.0, 50.0], numpy.float32)

    def added(x, i, v):
        return x.at[1, i].add(v, wrap_negative_indices=False)

    want = X.copy()
    for i, value in zip(ROWS, v, strict=True):
        if 0 <= i < 4:
            want[1, i] += value
    assert numpy.array_equal(t(added)(np.array(X), np.array(ROWS), v), want)
    g = t(overt.grad(lambda v, i: np.sum(added(np.array(X), i, v))))(np.array(v), np.array(ROWS))
    assert numpy.array_equal(g, ~outside(ROWS, 4))
    set_one = t(lambda x, i: x.at[i].set(0.0, wrap_negative_indices=False))
    assert numpy.array_equal(set_one(np.array(X), np.array(-1)), X)
    assert numpy.array_equal(np.array(X).at[-1].set(0.0, wrap_negative_indices=False), X)
    small = np.zeros(300).at[np.array([-1, 5], np.int8)].set(1.0, wrap_negative_indices=False)
    assert float(small.sum()) == 1.0 and float(small[5]) == 1.0
