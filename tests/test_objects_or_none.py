"""Containers and objects that are None on some paths, as only the running program knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed


def roots(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return None
    s = np.sqrt(d)
    return (-b - s) / (2 * a), (-b + s) / (2 * a)


def sum_of_roots(x):
    found = roots(1.0, 2 * x, 1.0)
    if found is None:
        return x * x
    low, high = found
    return low * high * x + high


class Pair(NamedTuple):
    a: float
    b: float


def pair(x):
    if x > 1:
        return Pair(x, x * x)
    return None


def named_pair(x):
    p = pair(x)
    return p.a * p.b if isinstance(p, Pair) else 2 * x


def true_pair(x):
    p = pair(x)
    if not p:
        return x * x
    return p[0] * p[1]


def two_pairs(x):
    p, q = pair(x), pair(2 * x)
    if p is not None and q is not None:
        return p.a * q.b
    return x if q is None else q.a + q.b


@dataclass
class Hit:
    t: float
    normal: np.ndarray


@dataclass
class Sphere:
    center: np.ndarray
    r: float

    def hit(self, o, d):
        oc = o - self.center
        b = oc @ d
        disc = b * b - (oc @ oc - self.r**2)
        if disc < 0:
            return None
        t = -b - np.sqrt(disc)
        if t < 1e-3:
            return None
        return Hit(t, (o + t * d - self.center) / self.r)


def nearest(x):
    scene = [Sphere(np.array([0.0, 0.0, 3.0]), x), Sphere(np.array([0.3, 0.0, 2.0]), 0.5 * x)]
    o, d = np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.0, 1.0])
    first = scene[0].hit(o, d)
    second = scene[1].hit(o, d)
    if first is None:
        return 0.1 * x
    if second is not None and second.t < first.t:
        return second.normal @ np.array([0.0, 1.0, -1.0]) + second.t * x
    return first.normal @ np.array([0.0, 1.0, -1.0]) + first.t


class Body:
    def __init__(self, p, e):
        self.p = p
        self.e = e

    def kick(self, v):
        self.p = self.p + v


def best_of(x):
    bodies = [Body(x * c, (x * c - 1) ** 2) for c in [0.3, 1.2, 0.8]]
    best = None
    for b in bodies:
        if b.p > 1.0 and (best is None or b.e < best.e):
            best = b
    if best is not None:
        best.kick(x * x)
    return sum(b.p * (i + 1) for i, b in enumerate(bodies))


def made_or_not(x):
    found = Body(x, 2 * x) if x > 1 else None
    return np.sin(x) if found is None else found.p * found.e


def table_or_none(x):
    found = {"a": x, "b": 2 * x} if x > 1 else None
    return x**3 if found is None else found["a"] * found["b"]


def kept_since(x):
    state = None
    total = 0.0
    for c in [0.5, 1.0, 1.5, 0.3, 2.0]:
        v = c * x
        if v > 0.9:
            state = (v, 1) if state is None else (state[0] + v, state[1] + 1)
        elif state is not None:
            total = total + state[0] * state[1]
            state = None
    return total if state is None else total + state[0]


def until_far(x):
    best = None
    v = x
    while v < 10:
        v = v * 1.7
        if best is None or abs(v - 5) < best[1]:
            best = (v, abs(v - 5))
    return best[0] + best[1]


def word(x):
    if x > 1:
        return "large"
    return None


def by_word(x):
    w = word(x)
    if w == "large":
        return x * x
    return 2 * x if w is None else 0.0


def which(x):
    a, b = Body(x, x), Body(x, x)
    best = a if x > 1 else None
    total = 0.0
    for each in [a, b]:
        total = total + (each.p * 2 if each is best else x * x)
    return total


ONCE = (two_pairs, nearest, best_of, kept_since)  # second derivatives take their time


@pytest.mark.parametrize(
    "f",
    [sum_of_roots, named_pair, true_pair, two_pairs, nearest, best_of, made_or_not,
     table_or_none, kept_since, until_far, by_word, which],
)  # fmt: skip
def test_values_and_derivatives(f):
    check_transformed(f, (0.7, 1.9), twice=f not in ONCE)


def test_a_compiled_function_gives_none_or_the_container():
    give = overt.jit(pair)
    assert give(0.5) is None
    assert type(give(2.0)) is Pair and give(2.0).b == 4.0
    with pytest.raises(overt.errors.StagingError, match="in some lanes"):
        overt.vmap(pair)(np.array([0.5, 2.0]))


def test_none_used_as_a_container_is_told():
    def f(x):
        p = pair(x)
        return p.a * p.b

    assert overt.jit(f)(2.0) == 8.0
    with pytest.raises(TypeError, match="is None on the path taken and used as a Pair"):
        overt.jit(f)(0.5)


@dataclass
class Moved:
    p: float


def chosen_until(x):
    a, b = Moved(x), Moved(2 * x)
    best = a
    v = x
    while v < 6:
        v = v * 1.5
        if v > 3:
            best = a
        elif v > 2:
            best = b
    best.p = best.p * x
    return a.p + 2 * b.p


def chosen_in_many(x):
    a, b = Moved(x), Moved(2 * x)
    best = b
    for i in range(40):
        if x * i > 30:
            best = a
        elif x * i > 20:
            best = b
    best.p = best.p * x
    return a.p + 2 * b.p


@pytest.mark.parametrize("f", [chosen_until, chosen_in_many])
@pytest.mark.parametrize("way", [overt.jit, overt.vmap])
def test_a_dataclass_that_a_loop_chose_is_changed_itself_or_refused(f, way):
    xs = np.array([0.7, 1.9])
    try:
        found = overt.vmap(f)(xs) if way is overt.vmap else [overt.jit(f)(x) for x in xs]
    except TypeError as error:
        assert "must keep the types" in str(error) or "chosen by data" in str(error)
    else:
        np.testing.assert_allclose(found, [f(x) for x in xs], 1e-5)


def chosen_row(x):
    rows = [[x, 1.0], [2 * x, x]]
    best = rows[0]
    for r in rows:
        if r[0] > 1.5:
            best = r
    best.append(x)
    return sum(sum(r) for r in rows)


@pytest.mark.parametrize("way", [overt.jit, overt.grad])
def test_a_list_that_data_chose_among_others_is_not_appended_to(way):
    with pytest.raises(NotImplementedError, match="is changed that another variable"):
        way(chosen_row)(1.0)
