"""Lists read at a place that only the running program knows: as Python's, or IndexError."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
from tests.ways import assert_every_path

pytestmark = pytest.mark.usefixtures("quiet_x64")

CONSTANTS = [1.0, 2.0, 5.0]
CURVES = [numpy.sin, numpy.cos, numpy.tanh]


def of_a_list(x: Any) -> Any:
    xs = [x, 2.0 * x, x * x]
    return xs[int(x)] * x


def from_the_end(x: Any) -> Any:
    xs = (x, 2.0 * x, x * x)
    return xs[-int(x) - 1] + x


def of_constants(x: Any) -> Any:
    return CONSTANTS[int(x)] * x


def of_functions(x: Any) -> Any:
    return CURVES[int(x)](x)


def of_lists(x: Any) -> Any:
    table = [[x, 1.0, 2.0], [x * x, x, 4.0], [5.0, x, 6.0]]
    return table[int(x)][int(x)] * x


def stored(x: Any) -> Any:
    xs = [x, 2.0 * x, x * x]
    xs[int(x)] = 5.0 * x
    return sum(v * v for v in xs)


READERS = [of_a_list, from_the_end, of_constants, of_functions, of_lists, stored]


@pytest.mark.parametrize("f", READERS, ids=lambda f: f.__name__)
def test_values_and_errors(f: Any) -> None:
    assert_every_path(f, (0.7, 2.3, 1.4), rtol=1e-6)
    outside = 3.2
    with pytest.raises(IndexError) as wanted:
        f(outside)
    slopes = overt.vmap(overt.grad(f))
    lanes = numpy.array([0.7, outside])
    for way, x in (
        (overt.jit(f), outside),
        (overt.jit(overt.grad(f)), outside),
        (overt.grad(overt.jit(f)), outside),
        (lambda x: overt.jvp(overt.jit(f), (x,), (1.0,)), outside),
        (overt.vmap(f), lanes),
        (slopes, lanes),
        (overt.jit(slopes), lanes),
    ):
        with pytest.raises(IndexError) as found:
            way(x)
        assert str(found.value) == str(wanted.value)
        assert any(__file__ in note for note in found.value.__notes__)


def test_only_lanes_that_get_there() -> None:
    def f(x: Any) -> Any:
        xs = [x, 2.0 * x, x * x]
        return xs[int(x)] if x < 2.5 else -x

    assert_every_path(f, (0.7, 1.4, 7.0), rtol=1e-6)


def looped(x: Any) -> Any:
    total = 0.0
    for i in range(2, -1, -1):
        total = total + CONSTANTS[i] * CONSTANTS[i - 1] * x
    return total


def of_the_largest(x: Any) -> Any:
    return CONSTANTS[numpy.argmax(numpy.array([x, 1.0]))] * x


def folded(x: Any) -> Any:
    k = int(x)
    return CONSTANTS[k % 3] * CONSTANTS[min(max(k, 0), 2)] * CONSTANTS[numpy.clip(k, 0, 2)] * x


def of_a_test(x: Any) -> Any:
    return CONSTANTS[1 if x > 1.0 else 2] * CONSTANTS[(x > 1.0) + 1] * x


@pytest.mark.parametrize("f", [looped, of_the_largest, folded, of_a_test], ids=lambda f: f.__name__)
def test_surely_in_range_needs_no_check(f: Any) -> None:
    assert_every_path(f, (0.7, 1.4), rtol=1e-6)
    for way in (f, overt.grad(f)):
        assert "callback" not in overt.jit(way).lower(0.7).as_text()
    assert "callback" not in overt.jit(overt.vmap(f)).lower(numpy.ones(2)).as_text()


def test_out_of_range_within_try_is_handled() -> None:
    def f(x: Any) -> Any:
        xs = [x, 2.0 * x]
        try:
            y = xs[int(x)]
        except IndexError:
            y = -1.0
        return y

    assert_every_path(f, (0.5, 1.5, 2.5), rtol=1e-6)
