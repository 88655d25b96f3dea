"""Names that take turns in a loop: what one round made anew is no object of the round before."""

import copy
from typing import Any

import numpy as np
import pytest

import overt
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_way


def leapfrog(x: Any) -> Any:
    before, now = np.array([x, 1.0, 2.0]), np.array([1.0, x, 2.0])
    for _ in range(4):
        after = 2.0 * now - before + 0.1
        before, now = now, after
    now[0] = x
    return np.sum(now) + before[0]


def leapfrog_and_a_view(x: Any) -> Any:
    before, now = np.array([x, 1.0, 2.0]), np.array([1.0, x, 2.0])
    for _ in range(4):
        before, now = now, 2.0 * now - before + 0.1
    inner = now[1:-1]
    inner *= 0.5
    return np.sum(now * now) + before[1]


def walls_in_every_round(x: Any) -> Any:
    before, now = np.array([x, 1.0, 2.0]), np.array([1.0, x, 2.0])
    for _ in range(4):
        after = 2.0 * now - before + 0.1
        before = now
        now = after
        now[0] = 0.0
        edge = now[1:]
        edge *= 0.5
    return np.sum(now) + before[2]


def taken_back_dictionary(x: Any) -> Any:
    state = {"level": x}
    for _ in range(4):
        old = copy.deepcopy(state)
        state["level"] -= 0.1 * x
        if state["level"] < 0.8:
            state = old
    return state["level"]


def taken_back_list(x: Any) -> Any:
    state = [x, 1.0]
    for _ in range(4):
        old = list(state)
        state[0] -= 0.1 * x
        state[1] *= state[0]
        if state[0] < 0.8:
            state = old
    return state[0] + state[1]


def taken_back_array(x: Any) -> Any:
    state = np.array([x, 1.0])
    for _ in range(4):
        old = state.copy()
        state[0] -= 0.1 * x
        state[1] *= state[0]
        if state[0] < 0.8:
            state = old
    return state[0] + state[1]


def three_in_turn(x: Any) -> Any:
    a, b, c = [x, 1.0], [x, 2.0], [3.0, x]
    for _ in range(4):
        a, b, c = b, c, a
        a[0] *= x
    b[1] = 7.0 * x
    return a[0] + 10 * b[1] + 100 * c[0] + a[1]


def swapped_in_branch(x: Any) -> Any:
    p = np.zeros(3)
    q = np.arange(3.0) * x
    for k in range(4):
        q[0] = p[1] + x
        if k % 2 == 0:
            p, q = q, p
    return np.sum(p * q) + np.sum(q)


def swapped_by_data(x: Any) -> Any:
    p = np.zeros(3)
    q = np.arange(3.0) * x
    for _ in range(4):
        q[0] = p[1] + x
        if np.sum(q) > 1.0:
            p, q = q, p
    return np.sum(p * q) + np.sum(q)


PROGRAMS = (
    leapfrog, leapfrog_and_a_view, walls_in_every_round, taken_back_dictionary, taken_back_list,
    taken_back_array, three_in_turn, swapped_in_branch, swapped_by_data,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def one_under_two_names(x: Any) -> Any:
    a = np.array([x, 1.0])
    b = a
    for _ in range(3):
        a, b = b, a
        a[0] = a[0] * 2
    return a[0] + 10 * b[0]


def one_left_in_the_other(x: Any) -> Any:
    a, b = np.array([x, 1.0]), np.array([2.0, x])
    for i in range(3):
        c = a + b
        a = b
        b = c
        if i == 2:
            a = b
    b[0] = x * x
    return a[0] + 10 * b[0]


def kept_from_the_first_round(x: Any) -> Any:
    a = np.array([x, 1.0])
    kept = a
    for i in range(3):
        a = a * 2 if i else a
        a[1] = x * i
    return a[1] + 10 * kept[1]


def the_best_of_two_in_turn(x: Any) -> Any:
    a, b = np.array([x, 1.0]), np.array([x, 2.0])
    best = a
    for i in range(3):
        best = b if b[1] * x > i else a
        a, b = b, a
        a[1] = x * i
    return best[1] + a[1] + b[1] * 3


@pytest.mark.parametrize(
    "f",
    (
        one_under_two_names,
        one_left_in_the_other,
        kept_from_the_first_round,
        the_best_of_two_in_turn,
    ),
    ids=lambda f: f.__name__,
)
def test_what_really_is_one_object_is_refused(f: Any) -> None:
    for transformed in (overt.grad(f), overt.jit(f)):
        with pytest.raises(Refusal, match="may share its memory"):
            transformed(1.23)
    with pytest.raises(Refusal, match="may share its memory"):
        overt.vmap(f)(np.array([1.23, 0.7]))
