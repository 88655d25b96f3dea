"""Loops over the places of long lists: statements where these are shorter than one region."""

from __future__ import annotations

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope

pytestmark = pytest.mark.usefixtures("quiet_x64")
X = 0.7


def table_of_best_ways(x):
    n = 5
    t = [[0.0] * n for _ in range(n)]
    for i in range(1, n):
        for j in range(1, n):
            t[i][j] = max(t[i - 1][j], t[i][j - 1]) + np.sin(x * i * j)
    return t[-1][-1]


def knapsack(x):
    best = [0.0] * 9
    for weight, value in [(2, x), (3, x * x), (4, 2 * x)]:
        for w in range(8, weight - 1, -1):
            best[w] = max(best[w], best[w - weight] + value)
    return best[8]


def ragged(x):
    rows = [[0.0] * (i + 1) for i in range(4)]
    for j in range(4):
        rows[3][j] = x * j * j
    for i in range(2, -1, -1):
        for j in range(i + 1):
            rows[i][j] = 0.5 * rows[i + 1][j + 1] + 0.4 * rows[i + 1][j]
    return rows[0][0]


def fibonacci(x):
    found = [x, x * x] + [0.0] * 10
    for i in range(2, 12):
        found[i] = 0.5 * found[i - 1] + 0.3 * found[i - 2]
    return found[-1]


def chosen_by_data(x):
    found = [x * i for i in range(9)]
    k = int(np.argmax(np.array(found)))
    for _ in range(3):
        found[k] = found[k - 1] * 0.5
    return found[k]


def few_items_in_a_long_loop(x):
    buffer = [x, 2 * x, 3 * x]
    for i in range(200):
        buffer[i % 3] = buffer[(i + 1) % 3] * 0.99
    return buffer[0]


@pytest.mark.parametrize(
    "f, regions",
    [
        (table_of_best_ways, 0),
        (knapsack, 0),
        (ragged, 3),
        (fibonacci, 0),
        (chosen_by_data, 1),
        (few_items_in_a_long_loop, 1),
    ],
    ids=lambda f: getattr(f, "__name__", None),
)
def test_loop(f, regions):
    assert overt.jit(f).lower(X).as_text().count("stablehlo.while") == regions
    numpy.testing.assert_allclose(overt.jit(f)(X), f(X), rtol=1e-12)
    numpy.testing.assert_allclose(overt.jit(overt.grad(f))(X), slope(f, X), rtol=1e-6)
    numpy.testing.assert_allclose(overt.vmap(f)(np.array([X, X])), [f(X)] * 2, rtol=1e-12)


def test_the_same_loop_over_another_list():
    """What was unrolled for one list is asked anew for the next."""

    def f(items):
        for i in range(1, len(items)):
            items[i] = items[i - 1] * 1.5
        return items[-1]

    staged = overt.jit(f)
    for n in (9, 3, 12):
        numpy.testing.assert_allclose(staged([X] * n), f([X] * n), rtol=1e-12)


def nested_sums(x):
    return sum([sum([x * k for k in range(3)]) * j for j in range(3)])


def nested_sums_of_squares(x):
    return sum([sum([x * x * k for k in range(3)]) * j for j in range(3)])


@pytest.mark.parametrize("f, second", [(nested_sums, 0.0), (nested_sums_of_squares, 18.0)])
def test_lists_in_records_of_loops(f, second):
    """Nothing flows back into the inner lists where the function is linear."""
    numpy.testing.assert_allclose(overt.grad(overt.grad(f))(X), second, atol=1e-12)
    numpy.testing.assert_allclose(overt.jit(overt.grad(overt.grad(f)))(X), second, atol=1e-12)
