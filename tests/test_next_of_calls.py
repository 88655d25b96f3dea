"""`next` of a generator that is called, filtered or sliced where it is used."""

from __future__ import annotations

import itertools

import pytest

import overt.numpy as np
from tests.ways import assert_every_path

pytestmark = pytest.mark.usefixtures("quiet_x64")


def sequence(a, b):
    while True:
        yield a
        a, b = b, a + b


def sums(xs, start=0.0):
    total = start
    for x in xs:
        total = total + x
        yield total


def means(xs):
    for n, total in enumerate(sums(xs), 1):
        yield total / n


def first_of_each(x):
    return next(sequence(x, 1.0)) * next(means([x * x, 2.0])) + next(sums([x], 3.0), 0.0)


def nothing_to_take(x):
    return next(sums([]), x * x) + next((v for v in sums([x]) if v > 5.0), x)


def the_fourth(x):
    return next(itertools.islice(sequence(x, 1.0), 3, None)) * x


def first_that_is_large(x):
    return next(v for v in sequence(x, x * x) if v > 2.0) * x


def first_multiple(x):
    n = next(n for n in itertools.count(1) if n * x > 2.0)
    return n * np.sin(x)


def number_and_value(x):
    n, v = next((n, v) for n, v in enumerate(sequence(x, 1.0)) if v > 3.0)
    return n * v * x


def searched_in_a_loop(x):
    total = 0.0
    for c in range(3):
        total = total + next(v for v in sequence(x, x + c) if v * c > 0.5 or c == 0)
    return total * x


FUNCTIONS = [
    first_of_each, nothing_to_take, the_fourth, first_that_is_large, first_multiple,
    number_and_value, searched_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_path(f):
    assert_every_path(f, (0.3, 0.7), rtol=1e-8)
