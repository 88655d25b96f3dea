"""Recursion: over trees, with early returns and later variables, and by data where Python can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import overt
from overt.runtime.errors import StagingError
from tests.ways import POINTS, STEP, assert_every_way


@dataclass
class Plus:
    left: Any
    right: Any


@dataclass
class Times:
    left: Any
    right: Any


@dataclass
class Named:
    name: str


@dataclass
class Number:
    value: Any


def value_of(e: Any, table: dict) -> Any:
    match e:
        case Plus(left=a, right=b):
            return value_of(a, table) + value_of(b, table)
        case Times(left=a, right=b):
            return value_of(a, table) * value_of(b, table)
        case Named(name=n):
            return table[n]
        case Number(value=v):
            return v


def by_patterns(x: Any) -> Any:
    tree = Plus(Times(Named("x"), Named("x")), Times(Number(3.0), Named("x")))
    return value_of(tree, {"x": x})


def evaluated(e: Any) -> Any:
    op, *args = e if isinstance(e, tuple) else ("n", e)
    if op == "n":
        return args[0]
    values = [evaluated(a) for a in args]
    if op == "+":
        return values[0] + values[1]
    if op == "*":
        return values[0] * values[1]
    if op == "sin":
        return np.sin(values[0])
    raise ValueError(op)


def by_names_of_operators(x: Any) -> Any:
    return evaluated(("+", ("*", x, ("sin", x)), 3.0))


def paths_of_a_tree(x: Any) -> Any:
    def paths(node: Any, prefix: str = "") -> dict:
        if isinstance(node, dict):
            items = [(k, node[k]) for k in sorted(node)]
        elif isinstance(node, list):
            items = list(enumerate(node))
        else:
            return {prefix: node}
        found: dict = {}
        for key, kid in items:
            found.update(paths(kid, f"{prefix}/{key}"))
        return found

    return sum(len(k) * v for k, v in paths({"a": [x, x * x], "b": 2.0}).items())


@pytest.mark.parametrize(
    "f", [by_patterns, by_names_of_operators, paths_of_a_tree], ids=lambda f: f.__name__
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def heron(t: Any, target: Any) -> Any:
    if abs(t * t - target) < 1e-6:
        return t
    return heron(0.5 * (t + target / t), target)


def halved(x: Any) -> Any:
    return x if x < 1 else halved(x / 2)


def tripled(x: Any, n: Any = 0) -> Any:
    """A recursion with a default value and a statement."""
    if x > 100.0:
        return n * x
    y = x * 3.0
    return tripled(y, n + 1)


def of_a_local_function(x: Any) -> Any:
    def grown(v: Any, k: Any) -> Any:
        return grown(v * 1.5, k + 1) if v < 10.0 else v * k

    return grown(x, 0)


def root(x: Any) -> Any:
    return heron(1.0, x)


@pytest.mark.parametrize(
    "f", [halved, tripled, of_a_local_function, root], ids=lambda f: f.__name__
)
def test_one_that_ends_by_data_and_calls_itself_last(f: Any) -> None:
    assert_every_way(f)


@overt.jit
def greatest_divisor(a: Any, b: Any) -> Any:
    return a if b == 0 else greatest_divisor(b, a % b)


def test_compiled_recursion_is_a_loop() -> None:
    assert greatest_divisor(12, 18) == 6
    assert greatest_divisor(35, 64) == 1
    assert "stablehlo.while" in greatest_divisor.lower(12, 18).as_text()


def summed(x: Any) -> Any:
    return x if x < 1 else x + summed(x / 2)


def test_others_that_end_by_data_are_refused_when_compiled() -> None:
    with overt.enable_x64(True):
        for x in POINTS:
            slope = (summed(x + STEP) - summed(x - STEP)) / (2 * STEP)
            np.testing.assert_allclose(overt.grad(summed)(x), slope, rtol=1e-4)
        with pytest.raises(StagingError, match="ends a recursion|recursion ends by a value"):
            overt.jit(summed)(2.0)
