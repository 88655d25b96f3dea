"""Loops that store into what they run over, further on or further back; NumPy is the oracle."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy

pytestmark = pytest.mark.usefixtures("quiet_x64")


def further_on(x, np):
    for i, v in enumerate(x):
        if i + 1 < len(x):
            x[i + 1] += 0.5 * v
    return x


def through_a_slice(x, np):
    for i, v in enumerate(x[:-1]):
        x[i + 1] += v * 2.0
    return x


def backwards_while_forwards(x, np):
    for i, v in enumerate(x[::-1]):
        x[i] = v + i
    return x


def counted_from_one(x, np):
    for n, v in enumerate(x, 1):
        x[n % len(x)] += n * v
    return x


def neighbours(x, np):
    for left, right in zip(x[:-1], x[1:], strict=False):
        x[0] += left * right
    return x


def with_others(x, np):
    for i, (w, v) in enumerate(zip((1.0, 2.0, 3.0), x, strict=False)):
        x[(i + 1) % 4] = x[i] * w - v * v
        if i == 2:
            break
    else:
        x[0] = 7.0
    return x


def plain_elements(x, np):
    total = 0.0
    for v in x:
        x[-1] = v * 3.0
        x[2:] += 0.5
        total = total + v
    return x * total


def rows(x, np):
    m = np.zeros((4, 2)) + x[:, None]
    for i, row in enumerate(m):
        m[i, 0] = row[1] * np.sum(row)
        if i:
            m[i, 1] += m[i - 1, 0]
        m[-1, -1] = row[0]
    return m


def rows_and_numbers(x, np):
    m = np.zeros((4, 2)) + x[:, None]
    for row, v in zip(m, x, strict=False):
        row[0] = v * row[1]
        x[0] = row[0] * 2.0
    return m * x[:, None]


def a_list(x, np):
    xs = [x[0], x[1], 2.0, x[2]]
    for i, v in enumerate(xs[:-1]):
        xs[i + 1] = xs[i + 1] * v
    for v in xs:
        xs[-1] = xs[-1] + v
    return np.stack(xs)


def dictionaries(x, np):
    d = {"a": x[0], "b": x[1], "all": 0.0 * x[0]}
    for k in d:
        d[k] = d[k] * 2.0
    for i, k in enumerate(d):
        d[k] = d[k] + i
    for k in d:
        d["all"] += d[k]
    return np.stack([d["a"], d["b"], d["all"]])


def inner_loops(x, np):
    for i in range(2):
        for j, v in enumerate(x):
            if j > i:
                x[j - i - 1] += v * 0.1
    return x


FUNCTIONS = [
    further_on, through_a_slice, backwards_while_forwards, counted_from_one, neighbours,
    with_others, plain_elements, rows, rows_and_numbers, a_list, dictionaries, inner_loops,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy(f):
    x = numpy.array([0.3, 0.7, 1.1, -0.4])
    expected = f(x.copy(), numpy)
    h = lambda x: f(x, overt.numpy)
    weights = numpy.linspace(0.5, 1.5, expected.size).reshape(expected.shape)

    def total(x):
        return overt.numpy.sum(f(x, overt.numpy) * weights)

    slope = numpy.zeros(4)
    for k, e in enumerate(1e-6 * numpy.eye(4)):
        slope[k] = numpy.sum((f(x + e, numpy) - f(x - e, numpy)) * weights) / 2e-6
    numpy.testing.assert_allclose(overt.jit(h)(x), expected, rtol=1e-12)
    numpy.testing.assert_allclose(overt.vmap(h)(numpy.stack([x, x]))[1], expected, rtol=1e-12)
    numpy.testing.assert_allclose(overt.grad(total)(x), slope, rtol=1e-6, atol=1e-8)
    numpy.testing.assert_allclose(overt.jit(overt.grad(total))(x), slope, rtol=1e-6, atol=1e-8)
    ones = numpy.ones(4)
    forward = overt.jvp(total, (x,), (ones,))[1]
    numpy.testing.assert_allclose(forward, slope.sum(), rtol=1e-6, atol=1e-8)


def test_an_array_has_a_copy_of_what_is_stored():
    def f(t, v, np):
        t[0, 1] = v
        t[..., 0] *= 2.0
        t[:, 0, 1:] += v[:2]
        t[1, 1, -1] = t[0, 0, 0] * t[0, 1, 0]
        return np.sum(t**2)

    t, v = numpy.arange(12.0).reshape(2, 2, 3), numpy.ones(3)
    assert float(overt.jit(lambda t, v: f(t, v, overt.numpy))(t, v)) == f(t.copy(), v, numpy)
