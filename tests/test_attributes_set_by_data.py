"""`hasattr` of attributes that an object only has where data says so."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import pytest

import overt
from overt.errors import RecordedWarning
from tests.ways import POINTS, STEP

pytestmark = pytest.mark.usefixtures("quiet_x64")


class Empty:
    pass


class Slotted:
    __slots__ = ("v",)


class Model:
    def fit(self, x: Any) -> None:
        if x > 1.0:
            self.v = x

    def out(self, x: Any) -> Any:
        if not hasattr(self, "v"):
            return 3.0 * x
        return x * self.v


def in_a_branch(x: Any) -> Any:
    e, s = Empty(), Slotted()
    if x > 1.0:
        e.v = x
        s.v = x
    known = hasattr(e, "v") and hasattr(s, "v")
    return x * x if known else 3.0 * x


def in_a_method(x: Any) -> Any:
    model = Model()
    model.fit(x)
    return model.out(x)


def set_once(x: Any) -> Any:
    e = Empty()
    for k in range(4):
        if x * k > 1.0 and not hasattr(e, "first"):
            e.first = k * x
    return e.first


def in_every_iteration(x: Any) -> Any:
    e = Empty()
    for k in range(2):
        if not hasattr(e, "first"):
            e.first = (k + 1) * x * x
    return e.first


def until_it_is_set(x: Any) -> Any:
    e, y = Empty(), x
    while not hasattr(e, "done"):
        y = y * 1.5
        if y > 3.0:
            e.done = True
    return y


@pytest.mark.parametrize(
    "f",
    (in_a_branch, in_a_method, set_once, in_every_iteration, until_it_is_set),
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    values = [f(x) for x in POINTS]
    slopes = [(f(x + STEP) - f(x - STEP)) / (2 * STEP) for x in POINTS]
    each = lambda g: lambda xs: [g(x) for x in xs]
    right = [
        (each(overt.jit(f)), values),
        (overt.vmap(f), values),
        (overt.jit(overt.vmap(f)), values),
        (each(overt.grad(f)), slopes),
        (each(lambda x: overt.jvp(f, (x,), (1.0,))[1]), slopes),
    ]
    or_refused = [(each(overt.jit(overt.grad(f))), slopes), (overt.vmap(overt.grad(f)), slopes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        for run, wanted in right:
            assert [float(y) for y in run(overt.numpy.array(POINTS))] == pytest.approx(wanted)
        for run, wanted in or_refused:
            with contextlib.suppress(NotImplementedError, UnboundLocalError):
                assert [float(y) for y in run(overt.numpy.array(POINTS))] == pytest.approx(wanted)


def read_in_a_try(x: Any) -> Any:
    e = Empty()
    if x > 1.0:
        e.v = x
    try:
        return e.v * x
    except AttributeError:
        return 3.0 * x


def a_variable_in_a_try(x: Any) -> Any:
    if x > 1.0:
        v = x
    try:
        return v * x
    except UnboundLocalError:
        return 3.0 * x


@pytest.mark.parametrize("f", (read_in_a_try, a_variable_in_a_try))
def test_read_in_a_try(f: Any) -> None:
    assert [float(overt.grad(f)(x)) for x in POINTS] == pytest.approx([3.0, 2.0 * POINTS[1]])
    with contextlib.suppress(UnboundLocalError, overt.errors.StagingError):
        got = overt.vmap(f)(overt.numpy.array(POINTS))
        assert [float(y) for y in got] == pytest.approx([3.0 * POINTS[0], POINTS[1] ** 2])
