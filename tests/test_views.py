"""Stores that show under another name: views, rows, second names, arguments of helpers."""

from __future__ import annotations

import types

import numpy
import pytest

import overt
import overt.numpy as np
from overt.rewrites.refusal import Refusal
from tests.numeric import slope

pytestmark = pytest.mark.usefixtures("quiet_x64")


def row_written(x):
    a = np.ones((2, 3)) * x
    row = a[0]
    row[1] = x * x
    return np.sum(a * a)


def rows_written_in_loop(x):
    a = np.ones((2, 3)) * x
    for i in range(2):
        row = a[i]
        row[i] = x * x * (i + 1)
    return np.sum(a * a)


def loop_over_rows(x):
    a = np.ones((2, 3)) * x
    for row in a:
        row[0] = 3 * x
        row *= 2.0
    return np.sum(a * a)


def transpose_written(x):
    a = np.ones((2, 3)) * x
    t = a.T
    t[0] = x * x
    return np.sum(a * a)


def reshape_written(x):
    a = np.arange(8.0) * x
    m = a.reshape(2, 4)
    m[:, 0] *= 3
    return np.sum(a * a * x)


def every_second(x):
    a = np.arange(6.0) * x
    even = a[::2]
    even += x
    return np.sum(a * a)


def array_written_under_row(x):
    a = np.ones((2, 3)) * x
    row = a[0]
    a[0, 1] = 5 * x
    return np.sum(row * row)


def second_name_of_list(x):
    l = [x]
    m = l
    m.append(3.0 * x)
    return l[-1] * l[0]


def list_in_list(x):
    g = [[x, 1.0], [2.0, x]]
    r = g[0]
    r[1] = x * x
    r.append(x)
    return g[0][1] * g[0][2] + g[1][1]


def second_name_of_array(x):
    a = np.ones(4) * x
    b = a
    b[0] = x * x
    a[1] = 2 * x
    return np.sum(a * b)


def slice_written(x):
    a = np.ones(4) * x
    h = a[1:3]
    h[0] = x * x
    h[1] += x
    return np.sum(a * a)


def slice_of_list(x):
    l = [x, 2 * x, 3 * x]
    h = l[1:3]
    h[0] = 9 * x
    return l[1] * h[0]


def enumerated_rows(x):
    a = np.ones((3, 3)) * x
    for i, r in enumerate(a):
        r[i] = 0.0
    return np.sum(a * a)


def list_in_dictionary(x):
    d = {"p": [x], "q": [2 * x]}
    p = d["p"]
    p.append(x * x)
    return d["p"][1] * d["q"][0]


def row_divided(x):
    a = np.ones((2, 2)) * x
    for i in range(2):
        n = a[i]
        n /= np.sum(n) * x * 2.0
    return np.sum(a)


def number_under_two_names(x):
    s = x
    t = s
    t += 1.0
    return s * t


def number_from_array(x):
    a = np.ones(3) * x
    s = a[0]
    for i in range(1, 3):
        s += a[i]
    return s * a[0]


def lists_in_loop(x):
    grid = [[0.0] * 3 for _ in range(2)]
    for r in grid:
        r[1] = x
    return grid[0][1] * grid[1][1]


def buffers_swapped(x):
    a = np.ones((2, 3)) * x
    b = np.zeros((2, 3))
    for k in range(2):
        a, b = b, a
        a[k] = x * (k + 1)
    return np.sum(a * b + a)


def name_of_one_branch(x):
    a = np.ones(3) * x
    if x > 0.2:
        b = a
    else:
        b = np.zeros(3)
    b[0] = x * x
    return np.sum(b)


def column_filled(x):
    a = np.ones((2, 3)) * x
    c = a[:, 1]
    c[:] = x * x
    return np.sum(a * a)


def picked_by_array(x):
    a = np.ones(3) * x
    idx = np.array([0, 1])
    p = a[idx]
    p[0] = x * x
    return np.sum(a) * p[0]


def copied_by_slice(x):
    m = [x, 2 * x]
    n = m[:]
    n[0] = x * x
    return m[0] * n[0]


def fill_two(buf, k, v):
    buf[k] = v
    buf[k + 1] += 0.5 * v


def fill_and_return(buf, v):
    if v > 0.4:
        buf[0] = v
        return v * 2
    buf[1] = v
    return v


def nested_helper(x):
    def fill(buf, k, v):
        buf[k] = v
        buf[k + 1] += 0.5 * v

    buf = np.zeros(5)
    for k in range(3):
        fill(buf, k, x * (k + 1))
    return np.sum(buf**2)


def helper(x):
    buf = np.zeros(5)
    for k in range(3):
        fill_two(buf, k, x * (k + 1))
    return np.sum(buf**2)


def helper_with_result(x):
    b = np.ones(2) * x
    t = fill_and_return(b, x * x)
    u = fill_and_return(b, x * 2)
    return t * u + np.sum(b * b)


def added_at(x):
    a = np.zeros(4)
    np.add.at(a, np.array([0, 1, 1]), x * np.array([1.0, 2.0, 3.0]))
    return np.sum(a * a)


def out_argument(x):
    z = np.ones(3) * x
    np.multiply(z, x, out=z)
    w = np.add(z, 1.0, out=z)
    return np.sum(z * w)


def helper_given_row(x):
    a = np.ones((2, 3)) * x
    for i in range(2):
        fill_two(a[i], 0, x * x)
    return np.sum(a * a)


def helper_given_view(x):
    a = np.ones((2, 3)) * x
    r = a[0]
    fill_two(r, 0, x * x)
    return np.sum(a * a) + r[1]


def push(xs, v):
    xs.append(v * v)


def helper_grows_list(x):
    xs = [x]
    push(xs, x)
    push(xs, 2 * x)
    return xs[1] * xs[2] + xs[0]


def fresh_array(x):
    u = np.ones(3) * x
    for _ in range(2):
        new = np.zeros(3)
        for i in range(3):
            new[i] = u[i] * u[i - 1]
        u = new
    return np.sum(u)


def fresh_list(x):
    prev = [0.0] * 3
    prev[0] = x
    for k in range(3):  # noqa: B007
        cur = [0.0] * 3
        for i in range(3):
            if i > 0:
                cur[i] = prev[i - 1] * x
            else:
                cur[i] = prev[i] + x
        prev = cur
    return prev[0] * prev[2] + prev[1]


def fresh_copy(x):
    u = np.ones(4) * x
    for _ in range(2):
        new = u.copy()
        for i in range(1, 3):
            new[i] = u[i - 1] + u[i + 1] * x
        u = new
    return np.sum(u * u)


def kept_name(x):
    u = np.ones(3) * x
    keep = u
    for _ in range(2):
        new = np.zeros(3)
        keep = new
        for i in range(3):
            new[i] = u[i] * x
        u = new
    return np.sum(keep * u)


FUNCTIONS = [
    kept_name,
    row_written,
    rows_written_in_loop,
    loop_over_rows,
    transpose_written,
    reshape_written,
    every_second,
    array_written_under_row,
    second_name_of_list,
    list_in_list,
    second_name_of_array,
    slice_written,
    slice_of_list,
    enumerated_rows,
    list_in_dictionary,
    row_divided,
    number_under_two_names,
    number_from_array,
    lists_in_loop,
    buffers_swapped,
    name_of_one_branch,
    column_filled,
    picked_by_array,
    copied_by_slice,
    nested_helper,
    helper,
    helper_with_result,
    added_at,
    out_argument,
    helper_given_row,
    helper_given_view,
    helper_grows_list,
    fresh_array,
    fresh_list,
    fresh_copy,
]
X = 0.5


def in_numpy(f):
    """The function run by NumPy, whose arrays change in place."""
    return types.FunctionType(f.__code__, {**f.__globals__, "np": numpy}, f.__name__)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    oracle = in_numpy(f)
    want = slope(oracle, X)
    numpy.testing.assert_allclose(overt.jit(f)(X), oracle(X), rtol=1e-12)
    for way in (overt.grad(f), overt.jit(overt.grad(f))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_over_lanes_and_twice(f):
    oracle = in_numpy(f)
    xs = numpy.array([0.5, 0.8])
    each = xs.tolist()
    numpy.testing.assert_allclose(overt.vmap(f)(xs), [oracle(x) for x in each], rtol=1e-12)
    slopes = [slope(oracle, x) for x in each]
    numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(xs), slopes, rtol=1e-6)
    second = slope(lambda x: slope(oracle, x), X)
    got = overt.jvp(overt.grad(f), (X,), (1.0,))[1]
    numpy.testing.assert_allclose(got, second, rtol=1e-4, atol=1e-6)


def one_buffer(x):
    u = np.ones(3) * x
    new = np.zeros(3)
    for _ in range(2):
        for i in range(3):
            new[i] = u[i] * x
        u = new
    return np.sum(u)


def test_what_is_not_sure_is_refused():
    with pytest.raises(Refusal, match="may share its memory"):
        overt.jit(one_buffer)(X)


def test_slices_stored_into_an_array_are_copies():
    def f(x, y):
        a = x.copy()
        a[::-2] = y[:3]
        a[4:1:-1] += y[:3]
        m = np.zeros((2, 3))
        m[:, None] = y[:3]
        m[1][2] = 9.0
        return a, m

    x, y = numpy.arange(6.0), numpy.array([10.0, 20.0, 30.0])
    a, m = overt.jit(f)(x, y)
    want = x.copy()
    want[::-2] = y
    want[4:1:-1] += y
    assert numpy.array_equal(a, want) and numpy.array_equal(m, [y, [10.0, 20.0, 9.0]])
