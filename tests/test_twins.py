"""Objects that a container holds in two places, and rows that change places or are copied."""

import numpy as np
import pytest

import overt
from tests.ways import assert_every_way


@pytest.fixture(autouse=True)
def wide():
    with overt.enable_x64(True):
        yield


def items_of_the_same_list(x):
    data = [[1.0, 2.0], [3.0, 4.0]]
    data[1] = data[0]
    data[1][0] = x
    return data[0][0]


def items_of_the_same_dictionary(x):
    data = {"a": [1.0, 2.0], "b": [3.0]}
    first = data["a"]
    data["b"] = first
    data["b"].append(x)
    return data["a"][2]


def items_appended_again(x):
    data = [[1.0, 2.0]]
    data.append(data[0])
    data[1][0] = x
    return data[0][0]


@pytest.mark.parametrize(
    "f", [items_of_the_same_list, items_of_the_same_dictionary, items_appended_again]
)
def test_one_object_in_two_places_of_its_container_is_refused(f):
    assert f(5.0) == 5.0
    for transformed in (overt.jit(f), overt.grad(f)):
        with pytest.raises(NotImplementedError, match="several places"):
            transformed(5.0)


def eliminated(x):
    rows = [[x, 2.0, 1.0], [4.0, 3.0, 0.5], [1.0, 1.0, 2.0]]
    for i in range(3):
        best = i
        for r in range(i + 1, 3):
            if abs(rows[r][i]) > abs(rows[best][i]):
                best = r
        rows[i], rows[best] = rows[best], rows[i]
        for r in range(i + 1, 3):
            share = rows[r][i] / rows[i][i]
            for c in range(i, 3):
                rows[r][c] -= share * rows[i][c]
    return rows[0][0] * rows[1][1] * rows[2][2]


def copied_forward(x):
    rows = [[0.0] * 3 for _ in range(3)]
    rows[0][0] = x
    for i in range(1, 3):
        rows[i] = rows[i - 1].copy()
        rows[i][i] = rows[i - 1][0] * 2
        rows[i][0] += 1
    return sum(rows[2])


@pytest.mark.parametrize("f", [eliminated, copied_forward])
def test_rows_that_change_places_or_are_copied(f):
    step = 1e-6
    for x in (5.0, 0.5):
        np.testing.assert_allclose(overt.jit(f)(x), f(x), rtol=1e-9)
        slope = (f(x + step) - f(x - step)) / (2 * step)
        np.testing.assert_allclose(overt.grad(f)(x), slope, rtol=1e-6)
    lanes = overt.vmap(f)(np.array([5.0, 0.5]))
    np.testing.assert_allclose(lanes, [f(5.0), f(0.5)], rtol=1e-9)


class Ledger:
    def __init__(self, balance):
        self.balance = balance
        self.log = [("open", balance)]

    def deposit(self, amount):
        self.balance += amount
        self.log.append(("in", amount))
        return self


def a_number_in_two_places(x):
    book = Ledger(x).deposit(x**2).deposit(2.0)
    return book.balance * book.log[0][1] + len(book.log)


def test_a_number_that_an_object_holds_in_two_places_gets_a_new_value():
    assert_every_way(a_number_in_two_places)


def an_array_without_axes_in_two_places(x):
    book = Ledger(np.array(1.0))
    book.deposit(x)
    return book.balance * book.log[0][1]


def an_array_without_axes_and_a_name(x):
    start = np.array(1.0)
    book = Ledger(start)
    book.log = []
    book.deposit(x)
    return start * book.balance


@pytest.mark.parametrize(
    "f", [an_array_without_axes_in_two_places, an_array_without_axes_and_a_name]
)
def test_an_array_without_axes_that_an_object_changes_is_refused_elsewhere(f):
    assert f(1.5) == 6.25
    with pytest.raises(NotImplementedError, match="in Python"):
        overt.jit(f)(1.5)
