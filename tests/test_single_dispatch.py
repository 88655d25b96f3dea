"""Functions that choose by the type of an argument, and helpers that are given constants."""

from __future__ import annotations

from functools import singledispatch

import pytest

import overt.numpy as np
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


@singledispatch
def weight_of(node):
    return node * 1.5


@weight_of.register
def _(node: list):
    return sum(weight_of(kid) for kid in node)


@weight_of.register
def _(node: dict):
    return sum(len(key) * weight_of(kid) for key, kid in node.items())


def dispatched(x):
    return weight_of([x, {"ab": x * x, "c": [x**3, 2, 0.5]}, 1.0]) ** 2


def wave(x):
    return np.sin(x)


def scaled(x, y):
    return x * wave(y)


def constants_given(x):
    return scaled(x, 2.0) * wave(3.0) * x + sum(wave(v) for v in [x, 1.0, 2]) + scaled(2.0, 1)


@pytest.mark.parametrize("f", [dispatched, constants_given], ids=lambda f: f.__name__)
def test_every_way(f):
    assert_every_way(f)
