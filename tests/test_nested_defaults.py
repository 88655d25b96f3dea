"""Default values of nested functions, which derivatives move out of the function around them."""

from __future__ import annotations

import functools

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_path

pytestmark = pytest.mark.usefixtures("quiet_x64")

WEIGHT = 2.0


def negative(x):
    def f(v, k=-1.5):
        return v * k

    return f(x) + f(x, 2.0) * x


def shadowed(x, k=-5.0, other=WEIGHT):
    def f(v, k=-2.0, *, other=3.0):
        return v**2 * k + other

    return f(x) * k + sum(f(v, other=other) for v in [x, 3.0 * x])


def global_value(x):
    def power(v, n=3, k=WEIGHT):
        return v if n == 0 else power(v * k, n - 1)

    return power(x) + power(x * x, 2)


def tuples_grow(x):
    def walk(node, path=()):
        if isinstance(node, tuple):
            return sum(walk(kid, (*path, i)) for i, kid in enumerate(node))
        return node * len(path)

    return walk((x, (x, x * x)))


def recursive_generator(x):
    def walk(node, path=()):
        if isinstance(node, dict):
            for key in sorted(node):
                yield from walk(node[key], (*path, key))
        else:
            yield path, node

    found = dict(walk({"a": x, "b": {"c": x * x, "d": 3.0}}))
    return sum(v * len(path) for path, v in found.items()) * x


def passed_on(x):
    def f(v, scales=[1.0, -2.0], *, shift=WEIGHT / 4):  # noqa: B006
        return v * scales[0] * scales[1] + shift

    every = [f, lambda v, k=-3.0: v * k * x, lambda v, k=WEIGHT: v * k, functools.partial(f, x)]
    return sum(g(x) for g in every[:3]) + sum(map(f, [x, x * x]))


FUNCTIONS = [
    negative, shadowed, global_value, tuples_grow, recursive_generator, passed_on,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_path(f):
    assert_every_path(f, (0.3, 0.7), rtol=1e-8)


def test_the_functions_own_defaults_stay_the_users():
    def f(x, weights=numpy.array([1.0, 2.0]), k=-1.0):  # noqa: B008
        def g(v, k=-3.0):
            return v * k

        return np.sum(weights) * g(x) * k * x

    for slope in (overt.grad(f), overt.jit(overt.grad(f))):
        assert float(slope(0.5)) == 9.0
        f.__defaults__[0][:] = 2.0
        assert float(slope(0.5)) == 12.0
        f.__defaults__[0][:] = (1.0, 2.0)
