"""Loops over what only Python knows, such as texts, that data ends early; machines with a stack."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import overt
import overt.numpy as np
from overt.errors import StagingError
from tests.ways import assert_every_way

TAPE = [("add", 0.5), ("scale", 1.3), ("test", 0.0), ("bend", 0.0), ("add", -0.2)]


def tape(x):
    value, at = x, 0
    while at < len(TAPE):
        name, number = TAPE[at]
        at += 1
        if name == "add":
            value = value + number
        elif name == "scale":
            value = value * number
        elif name == "bend":
            value = np.sin(value) if not isinstance(value, float) else math.sin(value)
        elif value > 1.9:
            return value * at
    return value + at


def stack(x):
    held, at = [x], 0
    words = "dup mul dup over3 push add".split()
    while at < len(words):
        word = words[at]
        at += 1
        if word == "dup":
            held.append(held[-1])
        elif word == "push":
            held.append(0.7)
        elif word == "over3":
            if held.pop() > 3.0:
                break
        else:
            b, a = held.pop(), held.pop()
            held.append(a + b if word == "add" else a * b)
    return held[-1] * x


@pytest.mark.parametrize("f", [tape, stack])
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f, (0.61, 1.93))


def test_more_iterations_than_can_be_branches() -> None:
    def endless(x):
        at, tables = 0, [{"a": 1.0}, {"b": 2.0}]
        while True:
            x = x + len(tables[at % 2])
            at += 1
            if x > 1000.0:
                break
        return x

    with pytest.raises(StagingError, match="how often it runs"):
        overt.jit(endless)(0.5)
