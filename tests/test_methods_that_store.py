"""Methods that store into arrays which their objects hold."""

from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.usefixtures("quiet_x64")


class Grid:
    def __init__(self, values):
        self.values = values
        self.touched = 0

    def __setitem__(self, key, value):
        self.values[key] = value
        self.touched += 1


@overt.tree_util.register_dataclass
@dataclass
class Pair:
    x: Any
    y: Any

    def __add__(self, other):
        return Pair(self.x + other.x, self.y * other.y)


def stored(x):
    grid = Grid(x * 2.0)
    grid[0] = 5.0 * x[1]
    grid[1:] = grid.values[:2]
    return grid.values * grid.touched


def test_statement_by_statement():
    x = np.array([1.0, 2.0, 3.0])
    with overt.disable_jit():
        assert overt.jit(stored)(x).tolist() == [20.0, 20.0, 8.0]
    assert overt.jit(stored)(x).tolist() == [20.0, 20.0, 8.0]


def test_results_with_operators_have_tangents():
    def f(a, b):
        both = a + b
        return both, sum(v**2 for v in vars(both).values())

    given = Pair(1.0, 2.0), Pair(3.0, 4.0)
    (pair, total), (pair_dot, total_dot) = overt.jvp(f, given, given)
    assert (pair.x, pair.y, total) == (4.0, 8.0, 80.0)
    assert (pair_dot.x, pair_dot.y, total_dot) == (4.0, 16.0, 288.0)


def test_numbers_of_two_arrays_given_to_a_helper_that_changes_them():
    def bump(a, b):
        a += 1
        b -= 1
        return a, b

    def f(x, y):
        for i in range(x.shape[0]):
            x[i], y[i] = bump(y[i], x[i])
        return x, y

    x, y = numpy.arange(4.0), numpy.arange(4.0) * 10
    ours = overt.jit(f)(x, y)
    assert numpy.array_equal(ours[0], y + 1) and numpy.array_equal(ours[1], x - 1)
    with pytest.raises(NotImplementedError, match="in NumPy the change shows"):
        overt.jit(f)(x.reshape(2, 2), y.reshape(2, 2))
