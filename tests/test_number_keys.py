"""Dictionaries whose keys are numbers that are computed with: keys have no derivative."""

from __future__ import annotations

import numpy
import pytest

import overt

D = {1: 2.0, 3: 5.0}
WAY = {1: 1.0, 3: 2.0}


def pairs(d):
    return sum(k * v for k, v in d.items())


def rest_of_items(d):
    (k, v), *rest = d.items()
    return k * v + sum(a * b for a, b in rest)


def sum_of_keys(d):
    return sum(d) * sum(d.values())


def sorted_items(d):
    s = 0.0
    for k, v in sorted(d.items()):
        s += v**k
    return s


def counted(d):
    s = 0.0
    for i, k in enumerate(d):
        s += (i + k) * d[k]
    for k in reversed(list(d)):
        s *= k
    return s + d.get(1)


def mapped_keys(d):
    total = sum(map(float, d)) + max(d) + len([*d])
    return total * d[1] * d.get(3)


def own_dictionary(d):
    c = {2: d[1], 5: d[3]}
    p, q = c
    listed = list(c.items())
    return p * d[1] * d[3] + q * sum(k * v for k, v in listed)


def emptied(d):
    s = 0.0
    while d:
        k, v = d.popitem()
        s += k * v * v
    return s


FUNCTIONS = [
    pairs, rest_of_items, sum_of_keys, sorted_items, counted, mapped_keys, own_dictionary, emptied,
]  # fmt: skip


def differences(f):
    """The slopes by differences, of the function as Python runs it."""
    found = {}
    for key in D:
        up, down = dict(D), dict(D)
        up[key] += 1e-6
        down[key] -= 1e-6
        found[key] = (f(up) - f(down)) / 2e-6
    return found


@pytest.mark.parametrize("f", FUNCTIONS)
def test_keys_that_are_numbers(f):
    expected = differences(f)
    along = sum(WAY[k] * expected[k] for k in D)
    close = lambda a, b: numpy.testing.assert_allclose(float(a), b, rtol=1e-4)
    close(overt.jvp(f, (dict(D),), (WAY,))[1], along)
    close(overt.linearize(f, dict(D))[1](WAY), along)
    close(overt.jit(lambda d: overt.jvp(f, (d,), (WAY,))[1])(dict(D)), along)
    for derivative in (overt.jacfwd(f), overt.grad(f)):
        slopes = derivative(dict(D))
        for key in D:
            close(slopes[key], expected[key])
