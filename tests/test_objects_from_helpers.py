"""Objects that helpers return, which hold values or functions of values, in derivatives."""

import functools
import itertools
import operator
from types import SimpleNamespace

import pytest

import overt.numpy as np
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


class Stage:
    def __init__(self, run):
        self.run = run

    def __or__(self, other):
        return Stage(lambda x: other(self(x)))

    def __call__(self, x):
        return self.run(x)


def gain(k):
    return Stage(lambda x: k * x)


def smoothed(alpha):
    def run(x):
        out = [x]
        for value in (2.0, 0.5):
            out.append(alpha * value + (1.0 - alpha) * out[-1] ** 2)
        return out[-1]

    return Stage(run)


def objects_that_hold_functions(x):
    chain = smoothed(np.sin(x)) | gain(x) | Stage(np.tanh)
    return chain(x) + gain(x**2)(x)


def stores(start, x):
    box = SimpleNamespace(level=start, rate=x)
    box.level = box.level * box.rate
    box.rate += 0.5
    return box.level * box.rate + box.level**2


def a_helper_that_stores(x):
    return stores(2.0 * x, x) * x


def a_helper_of_iterators(x):
    def run(x):
        steps = [np.sin(k * x) for k in range(1, 4)]
        product = functools.reduce(operator.mul, itertools.accumulate(steps))
        return product + sum(a * b for a, b in itertools.combinations(steps, 2))

    return run(x) * x


@pytest.mark.parametrize(
    "f", [objects_that_hold_functions, a_helper_that_stores, a_helper_of_iterators]
)
def test_helpers(f):
    assert_every_way(f)
