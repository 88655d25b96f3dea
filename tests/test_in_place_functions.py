"""NumPy's functions and methods that change an array: `fill_diagonal`, `put`, `out=`, `x.sort()`.

Each program runs with NumPy itself and, transformed, with ours.
"""

from __future__ import annotations

import types

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")

X = numpy.array([0.4, -0.8, 1.3, 0.6, -0.2, 0.9])


def diagonal_of_a_part(x):
    m = np.outer(x, x[:4])
    block = m[1:5, :]
    np.fill_diagonal(block, x[0] * 3.0)
    same = m
    np.fill_diagonal(m, 1.5, wrap=True)
    return same


def places_written(x):
    m = np.outer(x, x)
    np.put(m, [1, 3, 8], x[:2])
    np.put_along_axis(m, np.argmin(m, axis=0)[None, :], x[2], axis=0)
    np.place(m, m > 1.0, [0.5, 0.25])
    np.putmask(m, m < -0.5, x)
    return m


def copied_to(x):
    m = np.zeros((2, 6))
    np.copyto(m, x * 2.0)
    np.copyto(m[1], 7.0, where=x > 0.5)
    source = x * 3.0
    other = np.zeros(6)
    np.copyto(other, source)
    other[0] = 1.0
    return m, other, source


def sorted_parts(x):
    m = np.outer(x, x + 1.0)
    m.sort(axis=0)
    m[2].sort()
    for row in m:
        row[3:].sort()
    last = x * 1.0
    last.partition(2)
    return m, np.sum(last[:3]) * last[2]


def outputs_of_many_forms(x):
    rows = {"a": np.zeros((3, 6)), "b": np.empty(6)}
    np.multiply(x, 2.0, out=rows["a"][1])
    np.exp(x, rows["a"][2])
    np.sqrt(x, where=x > 0.0, out=rows["a"][0])
    np.clip(x, -0.5, 0.7, out=(rows["b"]))
    square = np.zeros((6, 6))
    np.outer(x, rows["b"], out=square)
    np.dot(square, x, rows["b"])
    np.cumsum(x, out=square[:, 2])
    return rows, square


def missing_replaced(x):
    y = np.where(x > 1.0, np.nan, x)
    np.nan_to_num(y, copy=False, nan=2.0)
    return y * x


def added_where_held(x):
    table = {"sums": np.zeros(3), "rows": [np.zeros(3), np.ones(3)]}
    for i in range(6):
        np.add.at(table["sums"], [i % 3, 0], x[i])
        np.maximum.at(table["rows"][i % 2], [i // 2], x[i])
    return table


class Sums:
    def __init__(self, n):
        self.total = np.zeros(n)

    def add(self, where, values):
        np.add.at(self.total, where, values)
        np.multiply(self.total, 2.0, out=self.total)


def added_in_an_object(x):
    sums = Sums(4)
    sums.add([0, 0, 3], x[:3])
    sums.add([1, 3, 3], x[3:])
    return sums.total


def returned_output(x):
    y = np.zeros(6)
    return np.sin(x, out=y)


PROGRAMS = [
    diagonal_of_a_part, places_written, copied_to, sorted_parts, outputs_of_many_forms,
    missing_replaced, added_where_held, added_in_an_object, returned_output,
]  # fmt: skip


def with_numpy(f):
    """The function, and the classes of this module, with NumPy itself."""
    mine = {**globals(), "np": numpy}
    for name, value in globals().items():
        if isinstance(value, types.FunctionType) and value.__globals__ is globals():
            mine[name] = types.FunctionType(value.__code__, mine, name)
    methods = {k: types.FunctionType(v.__code__, mine) for k, v in vars(Sums).items()
               if isinstance(v, types.FunctionType)}  # fmt: skip
    mine["Sums"] = type("Sums", (), methods)
    return types.FunctionType(f.__code__, mine)


def total(tree):
    """One number of all that a result holds."""
    if isinstance(tree, dict):
        return sum(total(tree[k]) for k in sorted(tree))
    if isinstance(tree, list | tuple):
        return sum(total(t) for t in tree)
    return (tree * tree).sum() + tree.ravel()[0]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    def ours(x):
        return total(f(x))

    def expected(x):
        return total(with_numpy(f)(x.copy()))

    value, derivative = overt.jit(overt.value_and_grad(ours))(X)
    numpy.testing.assert_allclose(value, expected(X), rtol=1e-10)
    wanted = [slope(lambda t, k=k: expected(numpy.where(numpy.arange(6) == k, t, X)), X[k])
              for k in range(6)]  # fmt: skip
    numpy.testing.assert_allclose(derivative, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", [sorted_parts, missing_replaced, returned_output])
def test_called_by_others(f):
    def ours(x):
        return total(f(x))

    expected = with_numpy(f)
    rows = numpy.stack([X, X[::-1]])
    sums = [total(expected(row.copy())) for row in rows]
    numpy.testing.assert_allclose(overt.vmap(ours)(rows), sums, rtol=1e-10)
    _, moved = overt.jvp(ours, (X,), (numpy.ones(6),))
    wanted = slope(lambda t: total(expected(X + t)), 0.0)
    numpy.testing.assert_allclose(moved, wanted, rtol=1e-5)
    with overt.disable_jit():
        numpy.testing.assert_allclose(overt.jit(ours)(X), sums[0], rtol=1e-10)


def test_outside_of_transformed_functions():
    a = np.ones((2, 2))
    for change in (
        lambda: np.fill_diagonal(a, 0.0), lambda: np.put(a, [0], 1.0),
        lambda: np.place(a, a > 0, [1.0]), lambda: np.put_along_axis(a, a > 0, 1.0, 0),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="arrays are immutable"):
            change()
    own = numpy.ones((2, 2))
    np.fill_diagonal(own, 0.0)
    assert own.trace() == 0.0


def scattered(x):
    a = numpy.zeros(5)
    numpy.add.at(a, [0, 1, 1, 3], numpy.array([1.0, 2.0, 3.0, 4.0]) * x)
    numpy.multiply.at(a, [0, 0, 2], x)
    numpy.maximum.at(a, [1, 2], 3.0 * x)
    return (a**2).sum() + a[0]


class Board:
    def __init__(self):
        self.moves = []

    def at(self, place, value):
        self.moves.append((place, value))


def placed(x):
    board = Board()
    place = 1.0
    board.at(place, x)
    board.at(place + 1.0, x * x)
    return sum(p * v for p, v in board.moves)


@pytest.mark.parametrize("f", [scattered, placed])
def test_numpys_own_and_methods_of_that_name(f):
    assert_every_way(f)
