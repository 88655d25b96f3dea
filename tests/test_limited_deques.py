"""Deques of limited length, which drop what they hold first, in every transformation."""

import collections

import pytest

import overt.numpy as np
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


def read_as_a_whole(x):
    recent = collections.deque([1.0, x], maxlen=2)
    total = 0.0
    for k in range(4):
        recent.append(x * (k + 1))
        total = total + sum(recent) * recent[0] + max(recent)
        total = total + np.mean(np.array(recent)) + sum(v * v for v in recent)
    return total


def until_it_settles(x):
    errors = collections.deque([1.0, 1.0], maxlen=2)
    y = x
    for _ in range(20):
        error = y - 0.4 * np.sin(y) - x
        errors.append(error)
        if abs(errors[0]) + abs(errors[1]) < 1e-9:
            break
        y = y - error / (1.0 - 0.4 * np.cos(y))
    return y + sum(errors)


def from_both_ends(x):
    recent = collections.deque([1.0, x], maxlen=3)
    recent.appendleft(2.0 * x)
    recent.appendleft(3.0 * x)
    recent.extend([x, 4.0])
    first, *rest = recent
    return first * rest[0] + recent[2] ** 2 + list(recent)[1] + sum(rest)


@pytest.mark.parametrize("f", [read_as_a_whole, until_it_settles, from_both_ends])
def test_deques(f):
    assert_every_way(f)
