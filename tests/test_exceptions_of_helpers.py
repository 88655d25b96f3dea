"""Exceptions of data in helpers, closures, classes and linear algebra, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import overt
from tests.test_exceptions_of_data import check_against_python

ERRORS = (ValueError, ZeroDivisionError)


def kinds_by_a_name(x):
    try:
        y = 1.0 / x + math.sqrt(x)
    except ERRORS:
        y = 3.0 * x
    return y


def tried_again(x):
    n = 0.0
    while True:
        try:
            y = 1.0 / (x - n)
            break
        except ZeroDivisionError:
            n = n + 1.0
    return y * n + y


def tried_again_with_more(x):
    v = x
    while True:
        try:
            y = math.log(v)
            break
        except ValueError:
            v = v + 2.0
    return y * x


class Model:
    def __init__(self, k):
        self.k = k

    def inv(self, x):
        if x * self.k == 0:
            raise ValueError("singular")
        return 1.0 / (self.k * x)

    def safe(self, x):
        try:
            y = 1.0 / (self.k * x)
        except ZeroDivisionError:
            y = self.k * 4.0 * x
        return y


def safe_div(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return a * 10.0


def helpers_that_handle(x):
    return safe_div(x + 1.0, x) + safe_div(1.0, x - 0.5)


def helper_that_handles_in_a_try(x):
    try:
        y = safe_div(1.0, x) + math.sqrt(x - 1.0)
    except ValueError:
        y = 2.0 * x
    return y


def checks(x):
    assert x > 0, "neg"
    return x * x


def assert_of_a_helper(x):
    try:
        y = checks(x)
    except AssertionError as e:
        y = -x * len(e.args)
    return y


class Base(Exception):
    pass


class Sub(Base):
    pass


class Other(Base):
    pass


def classes_of_exceptions(x):
    try:
        if x > 2.0:
            raise Sub("a")
        if x > 1.0:
            raise Other("bb")
        y = x
    except Sub:
        y = 2.0 * x
    except Base as e:
        y = 3.0 * x + len(e.args[0])
    return y


def arguments_of_the_exception(x):
    try:
        for k in range(4):
            if k * x > 1.0:
                raise ValueError(k * x, k)
        y = x
    except ValueError as e:
        y = e.args[0] * x + e.args[1]
    return y


def raised_by_a_closure(x):
    a = 2.0 * x

    def g(v):
        if v == 0:
            raise ZeroDivisionError("mine")
        return a / v

    try:
        y = g(x) + x
    except ZeroDivisionError as e:
        y = a + len(e.args[0])
    return y


def returned_from_a_loop(x):
    try:
        for k in range(5):
            if 1.0 / (x - k) > 0.9:
                return k * x
        y = x
    except ZeroDivisionError:
        y = 20.0 * x
    return y


def long_handler_of_two(x):
    try:
        a = 1.0 / x
        b = 1.0 / (x - 1.0)
        y = a + b
    except ZeroDivisionError:
        y = x * x
        for k in range(2):
            y = y + k * x
    return y


def within_a_call(x):
    try:
        y = max(1.0 / x, 2.0) + abs(x)
    except ZeroDivisionError:
        y = 3.0 * x
    return y


def in_a_generator(x):
    try:
        y = sum(1.0 / (x - k) for k in (0.0, 1.0))
    except ZeroDivisionError:
        y = 3.0 * x
    return y


def helper_called_twice(x):

    def pick(v):
        if v < 0:
            raise ValueError
        if v > 2:
            return v * 2.0
        return v * 3.0

    try:
        return pick(x) + pick(x + 1.0)
    except ValueError:
        return x


def attribute(x):
    m = Model(1.0)
    try:
        m.k = 1.0 / x
    except ZeroDivisionError:
        m.k = 3.0 * x
    return m.k * 2.0


def item_stored(x):
    v = np.zeros(3) + x
    try:
        v[1] = 1.0 / x
    except ZeroDivisionError:
        v[1] = 5.0 * x
    return v[0] + v[1]


def singular(x):
    a = np.array([[1.0, 2.0], [2.0, 4.0]]) + x * np.eye(2)
    try:
        y = np.linalg.inv(a)[0, 0]
    except np.linalg.LinAlgError:
        y = 3.0 * x
    return y


def not_positive(x):
    a = np.array([[1.0, 0.5], [0.5, 1.0]]) * x
    try:
        y = np.linalg.cholesky(a)[0, 0]
    except np.linalg.LinAlgError:
        y = 3.0 * x
    return y


PROGRAMS = [
    (kinds_by_a_name, {0.0: 3.0, -1.0: None, 0.5: None}),
    (tried_again, {0.0: -2.0, 1.0: -1.0, 0.5: None}),
    (tried_again_with_more, {-3.5: None, 0.5: None}),
    (helpers_that_handle, {0.0: 6.0, 0.5: -4.0, 0.7: None}),
    (helper_that_handles_in_a_try, {0.5: None, 2.0: None}),
    (assert_of_a_helper, {-1.0: None, 2.0: None}),
    (classes_of_exceptions, {3.0: None, 1.5: None, 0.5: None}),
    (arguments_of_the_exception, {0.6: None, 0.2: None}),
    (long_handler_of_two, {0.0: 1.0, 1.0: 3.0, 0.5: None}),
    (singular, {0.0: 3.0, 0.5: None}),
    (not_positive, {-1.0: None, 0.5: None}),
    (in_a_generator, {0.0: 3.0, 0.5: None}),
    (attribute, {0.0: 6.0, 0.5: None}),
    (item_stored, {0.0: 6.0, 0.5: None}),
    (helper_called_twice, {-2.0: None, -0.5: None, 0.5: None, 1.5: None, 3.0: None}),
    (raised_by_a_closure, {0.0: 2.0, 0.5: None}),
    (returned_from_a_loop, {0.5: None, 2.5: None}),
    (within_a_call, {0.0: 3.0, 0.3: None, 2.0: None}),
]


@pytest.mark.parametrize(("f", "points"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_agrees_with_python(f, points):
    check_against_python(f, points)


def test_what_python_raises_in_a_branch_of_the_program_is_refused():
    def f(x):
        try:
            y = math.factorial(-1) * x if x > 1.0 else x * x
        except ValueError:
            y = 2.0 * x
        return y

    assert (f(0.5), f(2.0)) == (0.25, 4.0)
    assert overt.grad(f)(2.0) == 2.0
    for way in (
        overt.jit(f),
        overt.jit(overt.grad(f)),
        lambda x: overt.vmap(f)(np.array([x, 2.0])),
    ):
        with pytest.raises(overt.errors.StagingError, match="handled in a loop or branch"):
            way(0.5)


def test_handlers_that_would_never_run_are_refused():
    def f(x):
        with np.errstate(all="raise"):
            try:
                y = 1.0 / x
            except FloatingPointError:
                y = 3.0 * x
        return y

    for way in (overt.jit(f), overt.grad(f), overt.vmap(f)):
        with pytest.raises(overt.errors.Refusal, match="FloatingPointError.*never run"):
            way(np.ones(2))


class TooLarge(Exception):
    def __init__(self, value, *, why):
        super().__init__(f"{why}: {value}")


def behind_a_statement(x):
    n = 1.0
    if x > 1.0:
        n = n + x
        raise ValueError(f"bad {x:.2f} {n}")
    return x * n


def from_a_handler(x):
    try:
        y = 1.0 / (x - 2.0)
    except ZeroDivisionError as e:
        raise ValueError(f"zero at {x}") from e
    return y


def again_after_a_print(x):
    try:
        y = 1.0 / (x - 2.0)
    except ZeroDivisionError:
        print("failed at", x)
        raise
    return y


def from_a_loop(x):
    for k in range(3):
        if x > k + 1:
            print("left at", k)
            raise ValueError("large", k)
    return x


def with_an_argument_by_name(x):
    if x > 1.0:
        raise TooLarge(x, why="too large")
    return x


def made_before(x):
    if x > 1.0:
        error = ValueError("stored")
        raise error
    return x


def on_both_sides(x):
    if x > 1.0:
        if x > 5.0:
            raise TypeError("larger")
        else:
            raise ValueError("large")
    return x


UNCAUGHT = [
    on_both_sides,
    behind_a_statement, from_a_handler, again_after_a_print, from_a_loop,
    with_an_argument_by_name, made_before,
]  # fmt: skip


@pytest.mark.parametrize("f", UNCAUGHT, ids=lambda f: f.__name__)
def test_uncaught_exceptions(f, capsys):
    """The program raises what Python does, with the line of the `raise`; else nothing happens."""
    with pytest.raises(Exception) as python:
        f(2.0)
    said = capsys.readouterr().out
    slopes = overt.jit(overt.vmap(overt.grad(f)))
    for way in (overt.jit(f), overt.jit(overt.grad(f))):
        assert np.isfinite(way(0.5))
    np.testing.assert_allclose(slopes(np.array([0.5, 0.25]))[0], overt.grad(f)(0.5), rtol=1e-6)
    assert not capsys.readouterr().out
    ways = (overt.jit(f), overt.jit(overt.grad(f)), lambda x: overt.vmap(f)(np.array([0.5, x])))
    for way in ways:
        with pytest.raises(type(python.value)) as ours:
            way(2.0)
        assert ours.value.args == python.value.args
        assert capsys.readouterr().out == said
        assert any("raise" in note for note in ours.value.__notes__)
