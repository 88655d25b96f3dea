"""What `match`, `is True` and `isinstance` ask of numbers, where arrays stand in their place."""

from __future__ import annotations

import numbers

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_path

POINTS = (0.3, 0.7, 1.2)  # each takes another path


pytestmark = pytest.mark.usefixtures("quiet_x64")


def rows_of_flags(x):
    match (x > 0.5, x > 0.9):
        case (True, True):
            return x * x
        case (True, False):
            return np.sin(x)
        case (False, _):
            return x**3


def one_flag(x):
    match x > 0.5:
        case True:
            return x * x
        case False:
            return 3.0 * x


def flags_and_others(x):
    match (not x > 0.5, x > 0.9, "a"):
        case (False, True, "b"):
            return x
        case (False, True, "a") if x > 1.1:
            return x**3
        case (True, _, kind):
            return x * x * len(kind)
        case _:
            return np.cos(x)


def bound_by_the_last(x):
    match x > 0.5, x:
        case True, v if v > 0.9:
            return v * v
        case (True, v) | (False, v):
            return 3.0 * v * v


def bound_from_either_side(x):
    y = 0.0
    for pair in ((1, x), (x * x, 1), (2, 3)):
        match pair:
            case (int(1), v) | (v, int(1)):
                y = y + v
            case [a, b]:
                y = y * a + b
    return y


def within_a_dictionary(x):
    match {"late": x > 0.5}:
        case {"late": True}:
            return x * x
        case _:
            return 2.0 * x


def held_and_compared(x):
    late = x > 0.5
    very = x > 0.9
    y = x * x if late is True else x
    return y if very is not False else 3.0 * y


def numbers_by_kind(x):
    match x * 2.0:
        case int():
            y = 0.0
        case float(v):
            y = v * x
    return y + (x if isinstance(x, (int, float)) else x**3) + isinstance(y, numbers.Real)


def numbers_or_lists(x):
    def total(node):
        if isinstance(node, float | int):
            return node * node
        return sum(total(kid) for kid in node)

    return total([x, (2, [x * x])])


FUNCTIONS = [
    rows_of_flags, one_flag, flags_and_others, bound_by_the_last, bound_from_either_side,
    within_a_dictionary, held_and_compared, numbers_by_kind, numbers_or_lists,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_path(f):
    assert_every_path(f, POINTS, rtol=1e-8)


def test_what_is_no_number_stays_none():
    def kind(x):
        return 1.0 * x if isinstance(x, float) else 2.0 * np.sum(x)

    assert float(overt.jit(kind)(numpy.ones(3))) == 6.0
    assert float(overt.jit(lambda x: x * isinstance(x, int))(2.5)) == 0.0
    assert float(overt.jit(lambda x, flag: x if flag is True else -x)(2.5, 1)) == -2.5
