"""Class patterns with positional fields, and what a mapping pattern leaves over."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

import overt
import overt.numpy as np
from overt.rewrites.refusal import Refusal
from tests.ways import assert_every_path

pytestmark = pytest.mark.usefixtures("quiet_x64")

Move = namedtuple("Move", "dx dy weight", defaults=(1.0,))


@dataclass
class Pair:
    first: Any
    second: Any


class Named:
    __match_args__ = ("size", "shift")

    def __init__(self, size, shift):
        self.size, self.shift = size, shift


def every_kind(x):
    total = 0.0
    for move in (Move(x, 2.0), Move(1.0, x, weight=x), Pair(x, 3.0), Named(x, 2.0), Named(x, x)):
        match move:
            case Move(dx, dy, weight=1.0):
                total = total + dx * dy
            case Move(dx, dy, w):
                total = total * dx + dy * w
            case Pair(a, b) | Named(a, 2.0 as b):
                total = total * b - a
            case Named(size, shift=shift):
                total = total + size**2 * shift
    return total


def guarded_and_nested(x):
    match Pair(x, Pair(x * x, 1.0)):
        case Pair(a, Pair(b)) if a > b:
            return np.sin(a) + b
        case Pair(a, Pair(b, c)):
            return a * b + c


def others_of_a_mapping(x):
    match {"key": x, "item": x * x, "more": 2.0}:
        case {"missing": y, **others}:
            return y * len(others)
        case {"key": y, **others}:
            return y * sum(others.values()) * len(others)


def everything_in_a_loop(x):
    n = 0
    while n < 3:
        match {"x": x, "n": n}:
            case {**all_of_it}:
                x = all_of_it["x"] * 1.5 + all_of_it["n"]
        n += 1
    return x * x


FUNCTIONS = [every_kind, guarded_and_nested, others_of_a_mapping, everything_in_a_loop]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_path(f):
    assert_every_path(f, (0.3, 1.2), rtol=1e-8)


def test_a_class_whose_fields_are_not_known():
    def local_class(x):
        class Inner:
            __match_args__ = ("a",)

            def __init__(self, a):
                self.a = a

        match Inner(x):
            case Inner(a):
                return a * a

    with pytest.raises(Refusal, match="Name its fields"):
        overt.jit(local_class)(2.0)
