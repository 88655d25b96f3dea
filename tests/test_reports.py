"""What users of JAX and its peers reported as wrong, as kinds: values by NumPy and differences."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np


def slopes(f: Any, x: numpy.ndarray, step: float = 1e-6) -> numpy.ndarray:
    """Central differences of a scalar function of a vector."""
    units = step * numpy.eye(x.size)
    ends = [(f(np.asarray(x + u)), f(np.asarray(x - u))) for u in units]
    return numpy.array([float(above - below) / (2 * step) for above, below in ends])


# --- x.at[...] -----------------------------------------------------------------------------------

X = numpy.array([2.0, 3.0, 4.0])
W = numpy.arange(1.0, 4.0)
ROWS = {"one": 1, "two": numpy.array([1, 2]), "twice": numpy.array([1, 1])}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("how", ["set", "add", "subtract", "multiply", "divide", "power", "max"])
def test_at_passes_derivatives_to_the_array_and_the_values(how: str, rows: str) -> None:
    index = ROWS[rows]

    def f(x):
        return np.sum(getattr(x.at[index], how)(x[0] * 0.8) * W)

    with overt.enable_x64(True):
        wanted = slopes(f, X)
        numpy.testing.assert_allclose(overt.grad(f)(X), wanted, rtol=1e-6)
        numpy.testing.assert_allclose(overt.jacfwd(f)(X), wanted, rtol=1e-6)
        numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(X[None])[0], wanted, rtol=1e-6)


def test_at_written_out_kept_and_passed_on() -> None:
    def written(x):
        return np.sum(x.at[1].multiply(x[0]) ** 2 * W)

    def kept(x):
        place = x.at[1]
        return np.sum(place.add(x[0]) ** 2 * W)

    def passed(x):
        return np.sum(doubled(x.at[1]) ** 2 * W)

    def in_loop(x):
        for i in range(3):
            x = x.at[i].multiply(2.0)
            if i == 1:
                x = x.at[0].add(x[1])
        return np.sum(x**2)

    with overt.enable_x64(True):
        for f in (written, kept, passed, in_loop):
            wanted = slopes(f, X)
            numpy.testing.assert_allclose(overt.grad(f)(X), wanted, rtol=1e-6)
            numpy.testing.assert_allclose(overt.jit(overt.grad(f))(X), wanted, rtol=1e-6)
            second = [slopes(lambda x, i=i, f=f: overt.grad(f)(x)[i], X) for i in range(3)]
            numpy.testing.assert_allclose(overt.hessian(f)(X), second, rtol=1e-5, atol=1e-7)
            numpy.testing.assert_allclose(
                overt.jacrev(overt.grad(f))(X), second, rtol=1e-5, atol=1e-7
            )


def doubled(place: Any) -> Any:
    return place.mul(2.0)


# --- methods named like those of lists and sets --------------------------------------------------


class Account:
    def __init__(self, value: Any) -> None:
        self.value = value

    def add(self, x: Any) -> Any:
        return self.value + x

    def update(self, x: Any) -> Any:
        self.value = self.value * x
        return self.value, x


def test_a_users_method_named_like_one_that_changes_a_container_returns_its_value() -> None:
    def f(x):
        account = Account(x)
        before = account.add(1.0)
        new, step = account.update(x)
        return before * new + step

    for x in (2.0, 3.0):
        assert float(overt.jit(f)(x)) == (x + 1) * x * x + x
    with pytest.warns(overt.errors.RecordedWarning):
        assert float(overt.grad(f)(2.0)) == pytest.approx(3 * 4 + 2 * 2 + 1)

    def of_set(x, seen):
        result = seen.add(4)
        return x if result is None else -x

    assert float(overt.jit(lambda x: of_set(x, {1}))(3.0)) == 3.0


# --- what is kept in classes and in static arguments ----------------------------------------------


class Counted:
    count = 0
    total = 0.0

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def step(self, x: Any) -> Any:
        type(self).count += 1
        Counted.total = Counted.total + x
        return self.scale * x


def test_numbers_kept_in_a_class_change_at_every_call() -> None:
    step = overt.jit(Counted(2.0).step)
    assert [float(step(x)) for x in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert int(Counted.count) == 3
    assert float(Counted.total) == 6.0


def test_attributes_of_a_static_argument_are_never_stale() -> None:
    step = overt.jit(lambda thing, x: thing.scale * x, static_argnums=0)
    thing = Counted(2.0)
    assert float(step(thing, 3.0)) == 6.0
    thing.scale = 5.0
    assert float(step(thing, 3.0)) == 15.0
    assert float(step(Counted(7.0), 3.0)) == 21.0
