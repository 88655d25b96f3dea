"""Texts of values that only the running program knows: printed and raised, never used as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from overt.runtime.errors import StagingError

pytestmark = pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")

ROW = numpy.array([0.5, -0.25, 0.75], numpy.float32)


def printing(xs: Any) -> Any:
    big = [v for v in xs if v > 0.2]
    each = ", ".join(f"{v:.2f}" for v in xs)
    width = 8
    print(" ".join(map(str, xs)))
    print("all: " + each, "%d of %s" % (len(big), xs.shape), f"{{{xs[0]:{width}.3f}}}")  # noqa: UP031
    print("{:.1f}".format(xs[2]), str(xs[1]) + "!", format(len(big), "03d"))  # noqa: UP032
    return xs[0]


LINES = "0.5 -0.25 0.75\nall: 0.50, -0.25, 0.75 2 of (3,) {   0.500}\n0.8 -0.25! 002\n"


def test_printed_when_the_program_runs(capfd: Any) -> None:
    for way in (overt.jit(printing), overt.jit(overt.grad(printing)), printing):
        way(np.array(ROW))
        assert capfd.readouterr().out == LINES
    overt.vmap(printing)(np.array([ROW, ROW]))
    found = capfd.readouterr().out.splitlines()
    assert sorted(found) == sorted(2 * LINES.splitlines())


def printing_a_list(xs: Any) -> Any:
    found = {i: i * i for i, v in enumerate(xs) if v > 0.2}
    print(found, len(found))
    return sum(found.values()) * xs[0]


def test_a_container_is_printed_as_python_does(capfd: Any) -> None:
    overt.jit(printing_a_list)(np.array(ROW))
    assert capfd.readouterr().out == "{0: 0, 2: 4} 2\n"


def raising(xs: Any) -> Any:
    message = f"{xs[0]:.2f} is too much"
    if xs[0] > 5.0:
        raise ValueError(message)
    assert xs[1] < 5.0, "second: " + str(xs[1])
    return xs[0]


def test_raised_when_the_program_runs() -> None:
    run = overt.jit(raising)
    assert run(np.array(ROW)) == 0.5
    with pytest.raises(ValueError, match=r"^7\.50 is too much"):
        run(np.array([7.5, 0.0, 0.0]))
    with pytest.raises(AssertionError, match=r"^second: 6\.5"):
        run(np.array([0.5, 6.5, 0.0]))


def raising_at_once(xs: Any, n: int) -> Any:
    if n > 2:
        raise ValueError(f"{n} is too much for {xs[0]:.2f}")
    return xs[0]


def test_raised_before_the_program_runs() -> None:
    with pytest.raises(ValueError, match=r"3 is too much for "):
        overt.jit(raising_at_once, static_argnums=1)(np.array(ROW), 3)


def layers(xs: Any) -> Any:
    weights = {"layer0": 1.0, "layer1": 2.0, "layer2": 3.0}
    total = 0.0
    for i in range(3):
        total = total + weights[f"layer{i}"] * xs[i] + weights["layer" + str(i)]
    return total


def test_texts_of_counters_are_keys() -> None:
    numpy.testing.assert_allclose(overt.jit(layers)(np.array(ROW)), layers(ROW))


VALUES: list[Callable] = [
    lambda xs: len(str(xs[0])) * xs[0],
    lambda xs: len(f"{xs[0]:.3f}") * xs[0],
    lambda xs: xs[0] if "%s" % xs[0] == "0.5" else xs[1],  # noqa: UP031
    lambda xs: {"0.5": xs[0]}["{}".format(xs[0])],  # noqa: UP032
    lambda xs: len(repr([v for v in xs if v > 0.2])) * xs[0],
    lambda xs: len(str(len([v for v in xs if v > 0.2]))) * xs[0],
    lambda xs: str(xs[0]).upper() and xs[0],
]


@pytest.mark.parametrize("f", VALUES)
def test_refused_as_a_value(f: Callable) -> None:
    ways = overt.jit(f), overt.jit(overt.grad(f)), lambda x: overt.vmap(f)(np.stack([x, x - 0.6]))
    for way in ways:
        with pytest.raises(StagingError, match="a text is used as a value"):
            way(np.array(ROW))


SELECTIONS: list[Callable] = [
    lambda xs: sum(list(xs[xs > 0])),
    lambda xs: sum(v for v in xs[xs > 0]),
    lambda xs: np.stack([*xs[xs > 0]]).sum(),
    lambda xs: np.stack([v for v in xs if v > 0]).sum(),
]


@pytest.mark.parametrize("f", SELECTIONS)
def test_selections_are_not_taken_whole(f: Callable) -> None:
    with pytest.raises(StagingError, match="only|needs to know"):
        overt.jit(f)(np.array(ROW))
