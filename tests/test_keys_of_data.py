"""Keys of dictionaries that are data of a derivative: refused, since a key has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import overt


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
