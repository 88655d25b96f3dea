"""Ghost cells, swaps and unpacked rows: stores whose later reads show the earlier ones."""

from __future__ import annotations

import types

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope
from tests.test_shared_memory import in_numpy

pytestmark = pytest.mark.usefixtures("quiet_x64")
X = 0.5


def table(x):
    return np.sin(np.arange(12.0)).reshape(4, 3) * x + x * x


def weighted(a):
    return np.sum(a * np.cos(np.arange(1.0 * a.size)).reshape(a.shape))


def ghost_cells(x):
    p = np.zeros(8)
    p[1:-1] = np.arange(1.0, 7.0) * x * x
    p[0], p[-1] = p[-2], p[1]
    return weighted(p * p)


def ghost_rows(x):
    p = np.zeros((6, 3))
    p[1:-1] = table(x)
    p[0], p[-1] = p[-2], p[1]
    return weighted(p * p)


def ghost_rows_and_columns(x):
    u = np.zeros((6, 5))
    u[1:-1, 1:-1] = table(x)
    u[0, :], u[-1, :] = u[-2, :], u[1, :]
    u[:, 0], u[:, -1] = u[:, -2], u[:, 1]
    return weighted(u * u)


def walls(x):
    u = table(x)
    u[0, 1:-1], u[-1, 1:-1] = u[-2, 1:-1], u[1, 1:-1]
    u[0], u[-1] = u[1], u[-2]
    return weighted(u * u)


def walls_of_two_rows(x):
    u = table(x)[:2] * 2.0
    u[0], u[-1] = u[1], u[-2]
    return weighted(u * u)


def walls_by_a_helper(x):
    u = table(x)
    for _ in range(2):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
        closed(u)
    return weighted(u * u)


def halves_swapped(x):
    a = np.arange(1.0, 7.0) * x
    a[:3], a[3:] = a[3:], a[:3]
    return weighted(a * a)


def numbers_swapped(x):
    a = np.arange(1.0, 7.0) * x
    for i in range(3):
        a[i], a[5 - i] = a[5 - i] * x, a[i]
    return weighted(a * a)


def lists_swapped(x):
    rows = [x, 2 * x, 3 * x, 4 * x]
    rows[:2], rows[2:] = rows[2:], rows[:2]
    rows[0], rows[-1] = rows[-1], rows[0]
    return weighted(np.array(rows) ** 2)


def name_bound_between(x):
    a = np.arange(1.0, 7.0) * x
    i = 0
    a[0], i, a[2] = a[1:2].sum(), 3, a[i]
    return weighted(a * a) + i


def rows_of_an_array(x):
    m = table(x)[:3]
    top, middle, bottom = m
    middle[1:] += top[:-1]
    bottom *= 2
    return weighted(m * m)


def rows_read_after_a_store(x):
    u = table(x)
    a, b, c, d = u
    u[0] = 5 * c
    u[1:] *= 2
    return weighted(a + b * c + d)


def items_of_a_list(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    a, b = rows
    a[0] = 3 * b[1]
    b *= 2
    return weighted(np.array(rows) * a)


def keys_of_a_dictionary(x):
    d = {0: x, 1: 2 * x}
    a, b = d
    d[0] = 5 * x
    a += 1
    return d[0] * a + d[1] * b


def columns(x):
    m = table(x)[:, :2] * 1.0
    a, b = m.T
    a[1:] -= b[:-1]
    b /= a + 9
    return weighted(m * m)


def arrays_of_a_tuple_in_a_list(x):
    layers = [(table(x)[0] * 1, table(x)[1] * 1), (table(x)[2] * 1, table(x)[3] * 1)]
    w, b = layers[1]
    w[0] = 5 * x
    b -= w
    return weighted(np.array([*layers[0], *layers[1]]) ** 2)


def item_of_a_tuple_in_a_list(x):
    pairs = [(table(x)[0] * 1, table(x)[1] * 1)]
    pair = pairs[0]
    first = pair[0]
    first[0] = 5 * x
    return weighted(pairs[0][0] * pair[1])


def longer_tuple(x):
    pairs = [(table(x)[0] * 1, table(x)[1] * 1)]
    pair = pairs[0]
    same = pair
    pair += (table(x)[2],)
    return weighted(pairs[0][0] * pair[2]) + len(pairs[0]) * x + len(same)


def item_before_another_is_replaced(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    first = rows[0]
    rows.append(table(x)[2])
    rows[1] = 3 * first
    first[0] = 5 * x
    return weighted(np.array(rows) ** 2)


def row_changed_in_turn(x):
    m = table(x)
    row = m[0]
    for i in range(2):
        row[0] = (5 + i) * x
        m[0] = m[2] * row[0]
    return weighted(m * m)


def replaced_item(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    row = rows[0]
    rows[0] = table(x)[2] * 1
    row[0] = 5 * x
    return weighted(rows[0] + row)


def item_moved(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    row = rows[-1]
    rows.append(table(x)[2] * 1)
    row[0] = 5 * x
    return weighted(rows[2] + row)


def item_replaced_in_turn(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    row = rows[0]
    for _ in range(2):
        row[0] = 5 * x
        rows[0] = table(x)[2] * 1
    return weighted(rows[0] + row)


def held_twice_and_named(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    row = rows[0]
    rows[1] = row
    row[0] = 5 * x
    return weighted(np.array(rows))


def appended_again(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    row = rows[0]
    rows.append(row)
    row[0] = 5 * x
    return weighted(np.array(rows))


def named_after_it_was_put_twice(x):
    rows = [table(x)[0] * 1, table(x)[1] * 1]
    rows[1] = rows[0]
    row = rows[0]
    row[0] = 5 * x
    return weighted(np.array(rows))


def listed_twice(x):
    one = table(x)[0] * 1
    rows = [one, one]
    row = rows[0]
    row[0] = 5 * x
    return weighted(np.array(rows))


def numbers_listed_twice(x):
    pair = [x, x]
    first = pair[0]
    first += 1.0
    return pair[0] * pair[1] * first


def closed(u):
    u[0, :], u[-1, :] = 0.0, u[-2, :]
    u[:, 0], u[:, -1] = u[:, 1], 1.0


REFUSED = [
    replaced_item, item_moved, item_replaced_in_turn, held_twice_and_named, appended_again,
    named_after_it_was_put_twice, listed_twice,
]  # fmt: skip
FOLLOWED = [
    f
    for f in list(globals().values())
    if isinstance(f, types.FunctionType) and f.__module__ == __name__
    if f not in (table, weighted, closed, *REFUSED)
]


@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f):
    oracle = in_numpy(f)
    value, want = oracle(X), slope(oracle, X)
    numpy.testing.assert_allclose(overt.jit(f)(X), value, rtol=1e-12)
    numpy.testing.assert_allclose(overt.grad(f)(X), want, rtol=1e-6, atol=1e-8)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6, atol=1e-8)
    grads = overt.vmap(overt.grad(f))(np.array([X, X]))
    numpy.testing.assert_allclose(grads, [want, want], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    """A store into what a list may hold no longer, or holds twice, is not followed."""
    for transformed in (overt.jit(f), overt.grad(f)):
        with pytest.raises(NotImplementedError, match="Put a copy"):
            transformed(X)
