"""Variables that are None until data gives them a number, array or pair."""

from __future__ import annotations

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed

LEVELS = [0.2, 1.5, 3.0, 0.7, 2.5]


def first_above(x):
    found = None
    for y in np.array(LEVELS) * x:
        if found is None and y > 0.6:
            found = y * y
    return x if found is None else found


def best_row(x):
    best, arg = -10.0, None
    for row in np.array([[1.0, 2.0], [3.0, 0.5], [0.1, 0.2]]) * x:
        c = row.sum() - row.prod()
        if c > best:
            best, arg = c, row
    return (arg**2).sum()


def best_so_far(x):
    best = None
    for v in np.array(LEVELS):
        c = -((v * x - 1) ** 2)
        if best is None or c > best:
            best = c
    return best


def place_of_first(x):
    ys = np.array(LEVELS) * x
    place = None
    for i in range(len(LEVELS)):
        if place is None and ys[i] > 0.3:
            place = i
    return ys[place] ** 2


def until_settled(x):
    before, v = None, x
    while before is None or abs(v - before) > 1e-7:
        before = v
        v = 0.5 * (v + 2 * x / v)
    return v


def bracket(x):
    low, high = None, None
    for t in np.linspace(0.0, 9.0, 13):
        v = t * x - 1.0
        if v < 0:
            low = t * x
        elif high is None:
            high = t * x
    return low + 2 * high


def set_and_back(x):
    r = x
    for y in np.array(LEVELS) * x:
        if y > 1.0:
            r = None
        elif r is None:
            r = y * y
        else:
            r = r + y
    return x if r is None else r


def helper_gives_none(x):
    def large(v):
        if v > 0.7:
            return v * v

    found = large(x)
    return (found or 2 * x) * 3 if found != None else x  # noqa: E711


def passed_on(x):
    def scaled(v, scale=None):
        if scale is None:
            scale = 2.0
        return v * scale

    scale = None
    if x > 0.7:
        scale = x
    return scaled(x, scale)


def in_a_dictionary(x):
    state = {"first": None}
    for y in np.array(LEVELS) * x:
        if y > 0.6 and state["first"] is None:
            state["first"] = y * y
    return state["first"] or x


EACH = [
    first_above, best_row, best_so_far, place_of_first, until_settled, bracket, set_and_back,
    helper_gives_none, passed_on, in_a_dictionary,
]  # fmt: skip


@pytest.mark.parametrize("f", EACH, ids=lambda f: f.__name__)
def test_agrees_with_python(f):
    check_transformed(f, [0.53, 0.93, 0.21], twice=f in (first_above, best_so_far))


def test_none_used_as_a_number():
    def used(x):
        found, total = None, 0.0
        if x > 1.0:
            found, total = x, 1.0
        return found * 2.0 + total

    compiled = overt.jit(used)
    assert compiled(2.0) == 5.0
    with pytest.raises(TypeError, match="'found' is None on the path taken"):
        compiled(0.5)


def test_none_as_a_result():
    def given(x):
        if x > 1.0:
            return x

    compiled = overt.jit(given)
    assert compiled(2.0) == 2.0
    with pytest.raises(TypeError, match="None on the path taken"):
        compiled(0.5)


def test_checks_before_a_branch_in_a_compiled_loop():
    def grown(x):
        while x < 10:
            assert x > 0
            y = x * x if x > 3 else x + 1
            x = x + y
        return x

    assert overt.jit(grown)(1.0) == grown(1.0)
