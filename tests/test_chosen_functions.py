"""A function chosen by data: in branches, by loops, from tables, with values that it captured."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import overt
from tests.ways import assert_every_way


def square(t: Any) -> Any:
    return t * t if t > 0.0 else -t


def cube(t: Any) -> Any:
    return t**3


def halved(t: Any) -> Any:
    return t / 2.0


def of_a_library(x: Any) -> Any:
    f = np.sin if x > 1.0 else np.cos
    return f(x) * sum(map(f, [x, 2.0 * x]))


def with_captured_values(x: Any) -> Any:
    if x > 1.0:
        k = x * x
        g = lambda t: t * k
    else:
        g = lambda t: t * t * x
    return g(x) + g(2.0)


def partials(x: Any) -> Any:
    f = functools.partial(pow, x) if x > 1.0 else functools.partial(np.multiply, x)
    return f(2.0) * f(3.0)


def returned(x: Any) -> Any:
    def pick(t: Any) -> Any:
        if t > 1.0:
            return square
        return cube

    return pick(x)(x)


def carried_by_a_loop(x: Any) -> Any:
    f = square
    for i in range(3):
        if x > i:
            f = cube
        x = f(x) * 0.5
    return x


def from_a_table(x: Any) -> Any:
    table = [square, cube, halved]
    t, n = x, 0
    while t < 3.0 and n < 5:
        t = table[n % 3](t) + 1.0
        n = n + 1
    step = table[(x > 1.0) * 1]
    return t * step(x) + table[-1](x)


@pytest.mark.parametrize(
    "f",
    [of_a_library, with_captured_values, partials, returned, carried_by_a_loop, from_a_table],
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


class Scaled:
    def __init__(self, k: Any) -> None:
        self.k = k

    def __call__(self, t: Any) -> Any:
        return self.k * t


class Squared(Scaled):
    def __call__(self, t: Any) -> Any:
        return self.k * t * t


def objects(x: Any) -> Any:
    f = Scaled(2.0) if x > 1.0 else Squared(x)
    return f(x)


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
def test_objects_have_values_and_no_silent_derivative() -> None:
    for x in (0.7, 1.9):
        np.testing.assert_allclose(overt.jit(objects)(x), objects(x), rtol=1e-6)
    with pytest.raises(TypeError, match="Scaled.*Squared.* known only when the program runs"):
        overt.jit(overt.grad(objects))(0.7)


def test_which_function_it_is_cannot_be_asked() -> None:
    def asked(x: Any) -> Any:
        f = square if x > 0.0 else cube
        return 1.0 if f == square else 2.0

    with pytest.raises(NotImplementedError, match="cannot be compared"):
        overt.jit(asked)(1.0)


# --- lists read and changed at a place that depends on data


def item_by_a_loop(x: Any) -> Any:
    costs, i = [x, 1.2, 0.7 * x], 0
    while i < 2 and x * i < 0.5:
        i = i + 1
    return costs[i] * x


def stores_by_data(x: Any) -> Any:
    costs, k = [x, x * x, 2.0], (x > 1.0) * 1
    costs[k] = costs[k] * x
    return costs[0] * costs[1] + costs[k - 1] * costs[-k]


def rows_by_data(x: Any) -> Any:
    rows, k = [[x, 1.0], [x * x, 3.0]], (x > 1.0) * 1
    row = rows[k]
    return row[0] * row[1] + rows[1 - k][k]


@pytest.mark.parametrize(
    "f", [item_by_a_loop, stores_by_data, rows_by_data], ids=lambda f: f.__name__
)
def test_lists(f: Any) -> None:
    assert_every_way(f)


def test_items_of_different_types_are_refused() -> None:
    def f(x: Any) -> Any:
        mixed = [x, "a"]
        return mixed[(x > 1.0) * 1]

    with pytest.raises(TypeError, match="items of a list are of different types"):
        overt.jit(f)(1.0)


def asked_which(x: Any) -> Any:
    f = np.sin if x > 1.0 else np.cos
    scale = 2.0 if f is np.sin else 5.0
    if f is not np.cos:
        scale = scale + x
    return f(x) * scale


def test_which_function_it_is() -> None:
    assert_every_way(asked_which)
