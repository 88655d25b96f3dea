"""Iterating over a dictionary gives its keys: they have no tangents, though they are numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np


def looped(d: Any) -> Any:
    t = 0.0
    for v in d:
        t = t + v * v
    return t


def beside_values(d: Any) -> Any:
    return sum(k * d[k] * v for k, v in zip(d, d.values(), strict=True))


def unpacked(d: Any) -> Any:
    a, b = d
    return a * b


def numbered(d: Any) -> Any:
    t = 0.0
    for i, v in enumerate(d):
        t = t + (i + 1) * v * d[v]
    return t


CASES: list[Callable[[Any], Any]] = [
    sum, looped, beside_values, unpacked, numbered,
    lambda d: list(d)[0],
    lambda d: tuple(d)[1] * d[1.5],
    lambda d: [v * v for v in d][0],
    lambda d: sum([*d]),
    lambda d: max(*d) + max(d) + min(d) + sorted(d)[0],
    lambda d: np.sum(np.array(list(d))),
    lambda d: functools.reduce(lambda a, b: a + b, d),
    lambda d: sum(map(lambda v: v * v, d)),
    lambda d: sum(a * b for a, b in zip(d, [1.0, 2.0], strict=True)),
    lambda d: sum(d["inner"]) * d["inner"][2.5] if "inner" in d else sum(d) * d[2.5],
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(CASES)))
def test_arguments(i: int, x64: None) -> None:
    f = CASES[i]
    x = {1.5: 1.3, 2.5: 1.69}
    x_dot = {1.5: 1.0, 2.5: 2.6}
    h = 1e-6
    ends = [float(f({k: x[k] + d * x_dot[k] for k in x})) for d in (-h, h)]
    wanted = (ends[1] - ends[0]) / (2 * h)
    forward = lambda a, b: overt.jvp(f, (a,), (b,))[1]
    for found in (forward(x, x_dot), overt.jit(forward)(x, x_dot)):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    numpy.testing.assert_allclose(overt.linearize(f, x)[1](x_dot), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("i", range(len(CASES)))
def test_dictionaries_made_inside(i: int, x64: None) -> None:
    given = CASES[i]

    def f(x: Any) -> Any:
        return given({1.5: x, 2.5: x * x})

    h = 1e-6
    wanted = (float(f(1.3 + h)) - float(f(1.3 - h))) / (2 * h)
    for found in (overt.jvp(f, (1.3,), (1.0,))[1], overt.grad(f)(1.3), overt.jacfwd(f)(1.3)):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_nested() -> None:
    x = {"inner": {1.5: 1.0, 2.5: 3.0}}
    _, found = overt.jvp(CASES[-1], (x,), ({"inner": {1.5: 1.0, 2.5: 2.0}},))
    assert float(found) == 8.0
