"""The language around the numbers: shared variables, late closures, `try`, unset variables.

The oracle is the function itself on NumPy numbers, and central differences of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import overt
from overt.rewrites.refusal import Refusal
from overt.runtime.config import enable_x64
from overt.runtime.errors import StagingError

POINTS = (0.7, 1.9)
TABLE = {1: 2.0, 2: 3.0}


# --- variables that nested functions share


def counter(x: Any) -> Any:
    total = 0.0

    def add(value: Any) -> None:
        nonlocal total
        total = total + value * x

    add(1.0)
    add(x)
    add(x**2)
    return total


def calls_inside_expressions(x: Any) -> Any:
    total = 0.0

    def add(v: Any) -> Any:
        nonlocal total
        total = total + v * x
        return total

    y = total + add(1.0) * 2 + total
    return y + add(x)


def call_in_the_test_of_a_loop(x: Any) -> Any:
    n = 0.0

    def step(v: Any) -> Any:
        nonlocal n
        n += 1.0
        return v * 1.5 + 0.1

    y = x
    while step(y) < 4.0:
        y = y * 1.3
    return y * n


def one_calls_the_other(x: Any) -> Any:
    a, b = 0.0, x

    def grow() -> None:
        nonlocal a
        a += b

    def both(v: Any) -> Any:
        nonlocal b
        grow()
        b = b * v
        if v > 1.0:
            return v
        grow()
        return a

    for i in range(3):
        q = both(x + i)
        if q > 2.0:
            both(q)
    return a * b + both(0.5)


def read_late(x: Any) -> Any:
    out = 0.0

    def twice() -> Any:
        return out * 2.0

    scaled = lambda k: out * k  # noqa: E731
    for _ in range(3):
        out = out + x
        out = twice()
    return out + scaled(x)


def kept_in_a_list(x: Any) -> Any:
    found = []
    for i in range(3):
        found.append(lambda v: v * i)  # noqa: B023
    return sum(g(x) for g in found)


def appended_by_a_nested_function(x: Any) -> Any:
    path = []

    def note(v: Any) -> Any:
        path.append(v)
        return v * 2.0

    y = note(note(x))
    return y * path[0] + path[-1] * len(path)


def shared_in_a_comprehension(x: Any) -> Any:
    s = 0.0

    def add(v: Any) -> Any:
        nonlocal s
        s = s + v
        return s

    ys = [add(x * i) for i in range(3)]
    return sum(ys) + s


# --- try


def loop_in_try(x: Any) -> Any:
    notes = []
    y = x
    try:
        while y < 2.0:
            y = y * 1.6
    except ValueError:
        y = 0.0
    finally:
        notes.append("done")
    return y * x * len(notes)


def branch_in_try(x: Any) -> Any:
    try:
        if x > 1:
            y = x * x
        else:
            y = np.sin(x)
    finally:
        z = 3.0
    return y * z


class Valve:
    def __init__(self) -> None:
        self.open = 1.0


def finally_that_stores(x: Any) -> Any:
    valve = Valve()
    try:
        s = 0.0
        for i in range(3):
            s = s + x * i
        y = s * valve.open * x
    finally:
        valve.open = 0.5
    return y + valve.open


def not_taken_handlers(x: Any) -> Any:
    total = x
    for k in (1, 2):
        try:
            total = total + TABLE[k] * x
        except KeyError as error:
            total = total * 2 + len(str(error))
        else:
            total = total + 1.0
    return total


def handled(x: Any) -> Any:
    y = x
    try:
        v = int("zz")
        y = v * 2.0
    except (TypeError, KeyError):
        y = 7.0
    except ValueError as error:
        y = y * len(error.args)
    else:
        y = 5.0
    return y * x


def handled_in_a_loop(x: Any) -> Any:
    y = 0.0
    for i in range(4):
        try:
            y = y + [1.0, 2.0][i] * x
        except IndexError:
            y = y + x * x
    return y


def returned_from_try(x: Any) -> Any:
    try:
        return x * TABLE[7]
    except KeyError:
        return x**2


# --- conditions that set variables, patterns


def walrus_behind_and(x: Any) -> Any:
    n, y = 0, 0.0
    while n < 3 and (y := x * n) < 10:
        n += 1
    if (z := y * 2) > 4 and (w := z - 1) > 0:
        return z * 3 + w
    return y + n


def read_before_it_is_popped(x: Any) -> Any:
    xs = [x, 2 * x, 3 * x]
    return xs[0] * 10 + xs.pop(0) + xs[0]


def popped_on_one_side(x: Any) -> Any:
    xs = [x, 2 * x]
    y = xs.pop() if x > 0.2 else xs.pop(0)
    return y * xs[0] + len(xs)


def walrus_in_a_comprehension(x: Any) -> Any:
    i = 5.0
    vs = [v for i in range(4) if (v := x * i) is not None]
    return sum(vs) + v + i


def kinds(x: Any) -> Any:
    s = 0.0
    for kind in ("sq", ("cube", 3), {"p": 2.0}, 7, None):
        match kind:
            case "sq":
                s = s - x * x
            case (_, n) if n > 2:
                s = s + x**n
            case {"p": p}:
                s = s + p * x
            case int(k):
                s = s + k * x
            case _:
                s = s + 1.0
    return s


PROGRAMS = [
    counter,
    calls_inside_expressions,
    call_in_the_test_of_a_loop,
    one_calls_the_other,
    read_late,
    kept_in_a_list,
    appended_by_a_nested_function,
    shared_in_a_comprehension,
    loop_in_try,
    branch_in_try,
    finally_that_stores,
    not_taken_handlers,
    handled,
    handled_in_a_loop,
    returned_from_try,
    walrus_behind_and,
    read_before_it_is_popped,
    popped_on_one_side,
    walrus_in_a_comprehension,
    kinds,
]


def slope(f: Callable, x: float) -> float:
    h = 1e-6
    return (f(x + h) - f(x - h)) / (2 * h)


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f: Callable) -> None:
    xs = np.array(POINTS)
    values, slopes = [f(x) for x in POINTS], [slope(f, x) for x in POINTS]
    with enable_x64(True):
        staged = overt.jit(f)
        assert np.allclose([float(staged(x)) for x in POINTS], values)
        assert np.allclose(overt.vmap(f)(xs), values)
        tangents = [float(overt.jvp(f, (x,), (1.0,))[1]) for x in POINTS]
        assert np.allclose(tangents, slopes, atol=1e-5)
        reverse = overt.jit(overt.grad(f))
        assert np.allclose([float(overt.grad(f)(x)) for x in POINTS], slopes, atol=1e-5)
        assert np.allclose([float(reverse(x)) for x in POINTS], slopes, atol=1e-5)
        assert np.allclose(overt.vmap(overt.grad(f))(xs), slopes, atol=1e-5)


def shared_on_one_side(x: Any) -> Any:
    s = 0.0

    def add(v: Any) -> Any:
        nonlocal s
        s = s + v
        return s

    return (add(x) if x > 1 else add(-2 * x)) + s


def test_a_shared_variable_changed_on_one_side() -> None:
    wanted = [float(shared_on_one_side(x)) for x in POINTS]
    assert np.allclose([float(overt.jit(shared_on_one_side)(x)) for x in POINTS], wanted)
    assert np.allclose(overt.vmap(shared_on_one_side)(np.array(POINTS, np.float32)), wanted)


# --- what cannot be done is said


def asks_inside_try(x: Any) -> Any:
    try:
        y = [1.0, 2.0][int(x)]
    except Exception:
        y = -1.0
    return y


def test_an_error_of_staging_is_never_handled_by_the_user() -> None:
    assert float(overt.jit(asks_inside_try, static_argnums=0)(1)) == 2.0
    with contextlib.suppress(StagingError, Refusal):
        assert float(overt.jit(asks_inside_try)(1.0)) == 2.0


# --- variables set on one path only


def one_sided(x: Any) -> Any:
    if x > 0.0:
        z = x
    return z


def one_sided_container(x: Any) -> Any:
    if x > 0.0:
        z = {"a": x, "b": [x, 2 * x]}
    if x > 0.0:
        return z["a"] + z["b"][1]
    return x


def set_in_a_while_loop(x: Any) -> Any:
    y = x
    while y < 2.0:
        y = y * 1.5
        z = y
    return z


def set_in_some_iteration(x: Any) -> Any:
    for i in range(4):
        if x > i:
            best = x * i
    return best


UNSET = [
    (one_sided, 1.0, -1.0, "z"),
    (set_in_a_while_loop, 1.0, 3.0, "z"),
    (set_in_some_iteration, 2.5, -1.0, "best"),
]


@pytest.mark.parametrize("f, good, bad, name", UNSET, ids=lambda v: getattr(v, "__name__", None))
def test_unset_variable(f: Callable, good: float, bad: float, name: str) -> None:
    expected = np.float32(f(good))
    for run in (overt.jit(f), lambda x: overt.vmap(f)(np.array([x, x], np.float32))[1]):
        assert np.allclose(run(good), expected)
        with pytest.raises(UnboundLocalError, match=name):
            np.asarray(run(bad))
    assert np.isfinite(overt.jit(overt.grad(f))(good))
    with pytest.raises(UnboundLocalError, match=name):
        float(overt.jit(overt.grad(f))(bad))


def test_unset_variable_that_is_not_read() -> None:
    for x, value, slope in ((1.0, 3.0, 3.0), (-1.0, -1.0, 1.0)):
        assert float(overt.jit(one_sided_container)(x)) == value
        assert float(overt.jit(overt.grad(one_sided_container))(x)) == slope
    assert np.allclose(overt.vmap(one_sided_container)(np.array([1.0, -1.0], np.float32)), [3, -1])


# --- names


def add(a: Any, b: Any) -> Any:
    return a * b


def names_of_helpers(x: Any) -> Any:
    n = add(3, 4)
    d = {"a": x}
    e = {"b": d, "c": d}
    s = 0.0
    for k in ("b", "c"):
        s = s + e[k]["a"] ** 2 * n
    return s + d["a"] * d["a"]


def stale_attribute(x: Any) -> Any:
    valve = Valve()
    y = x * valve.open
    valve.open = 0.5
    return y * y + valve.open


@pytest.mark.parametrize("f", [names_of_helpers, stale_attribute], ids=lambda f: f.__name__)
def test_gradient(f: Callable) -> None:
    with enable_x64(True):
        assert np.isclose(float(overt.grad(f)(0.7)), slope(f, 0.7))
