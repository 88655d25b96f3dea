"""Keys of dictionaries that are data of a derivative: refused, since a key has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import overt
import overt.numpy


def made_of_keys(xs):
    d = {v: 3.0 * v for v in xs}
    return sum(d.values())


def read_again(xs):
    d = {}
    for v in xs:
        d[v] = v * v
    return sum(d[v] for v in xs)


def keys_in_a_sum(xs):
    d = {}
    for v in xs:
        d[v] = v * v
    return sum(k * w for k, w in d.items())


def only_keys(xs):
    d = {v: 1.0 for v in xs}
    return sum(k * 2.0 for k in d)


@pytest.mark.parametrize("f", [made_of_keys, read_again, keys_in_a_sum, only_keys])
def test_refused(f: Callable[[Any], Any]) -> None:
    ways = [
        lambda: overt.grad(f)([1.0, 2.0]),
        lambda: overt.grad(f)(np.array([1.0, 2.0])),
        lambda: overt.grad(lambda xs: sum(overt.grad(f)(xs)))([1.0, 2.0]),
        lambda: overt.grad(lambda a, b: f([a, b]))(1.0, 2.0),
    ]
    for run in ways:
        with pytest.raises(TypeError, match="unhashable"):
            run()


def by_name(p):
    out = {}
    for k in p:
        out[k] = p[k] * p[k]
    return sum(out[k] for k in out)


def by_whole_number(xs):
    counts = {}
    for v in xs:
        b = int(v)
        counts[b] = counts.get(b, 0.0) + v * v
    return counts[1] * counts[2]


def test_other_keys() -> None:
    assert overt.grad(by_name)({"a": 1.0, "b": 3.0}) == {"a": 2.0, "b": 6.0}
    np.testing.assert_allclose(overt.grad(by_whole_number)([1.0, 2.0]), [8.0, 4.0])


SHAPES = {True: lambda v: v * v, False: lambda v: 3.0 * v}


def by_comparison(x: Any) -> Any:
    weights = {True: x[0], False: x[1] * 3.0}
    signs = {(True, False): lambda v: v * v, (False, False): lambda v: 2.0 * v}
    big = x[2] > 2.0
    return weights[x[2] > 0.0] * x[2] + SHAPES[big](x[1]) + signs[x[0] > 2.0, x[1] < 0.0](x[2])


def by_comparison_in_a_loop(x: Any) -> Any:
    counts, sums = {True: 0, False: 0}, {True: 0.0, False: 0.0}
    for v in x:
        counts[v > 2.0] += 1
        sums[v > 2.0] += v * v
    return counts[False] * x[0] + sums[True] * sums[False]


@pytest.mark.parametrize("f", [by_comparison, by_comparison_in_a_loop])
def test_a_comparison_of_arrays_is_a_key(f: Callable[[Any], Any], x64: None) -> None:
    x = np.array([1.0, 1.5, 3.0])
    step = 1e-6 * np.eye(3)
    wanted = np.array([(f(x + s) - f(x - s)) / 2e-6 for s in step])
    for made in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        np.testing.assert_allclose(made(overt.numpy.array(x)), wanted, rtol=1e-5)
    along = overt.jvp(f, (overt.numpy.array(x),), (overt.numpy.array(x),))[1]
    np.testing.assert_allclose(along, wanted @ x, rtol=1e-5)


def test_arrays_as_members_are_refused_with_a_way_out() -> None:
    with pytest.raises(TypeError, match="unhashable type.*`int\\(k\\)`"):
        overt.grad(lambda x: x[0] * len({x[0] > 0.0, x[0] > 1.0}))(np.ones(2))
