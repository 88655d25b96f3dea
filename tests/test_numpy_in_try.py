"""Dividing by what NumPy has computed raises nothing in a `try`; the oracle is NumPy itself."""

from __future__ import annotations

import types
import warnings

import numpy
import pytest

import overt
import overt.numpy as np


def direct(v):
    try:
        return 1.0 / np.sum(v)
    except ZeroDivisionError:
        return -1.0


def by_name(v):
    n = np.sum(v)
    n = n * 2.0
    try:
        r = 1.0 / n
    except ZeroDivisionError:
        r = -1.0
    return r


def of_python(v):
    n = float(np.sum(v))
    try:
        r = 1.0 / n
    except ZeroDivisionError:
        r = -1.0
    return r


def helper(v):
    m = np.mean(v)
    return 3.0 / m


def in_a_helper(v):
    try:
        return helper(v)
    except ZeroDivisionError:
        return -1.0


def divided(x):
    return 3.0 / x


def as_argument(v):
    try:
        return divided(np.mean(v))
    except ZeroDivisionError:
        return -1.0


def count_as_argument(v):
    try:
        return divided(len(v) - 2)
    except ZeroDivisionError:
        return -1.0


def method(v):
    s = v.sum()
    try:
        return 2.0 / s
    except ZeroDivisionError:
        return -1.0


def with_else(v):
    k = np.exp(np.sum(v)) - 1.0
    try:
        r = (2.0 * k) ** -1.0
    except (ZeroDivisionError, OverflowError):
        r = -1.0
    else:
        r = r + 1.0
    finally:
        last = 3.0
    return r + last


def beside_a_number(v):
    z = 0.0 * len(v)
    try:
        r = 1.0 / np.sum(v) + 1.0 / z
    except ZeroDivisionError:
        r = -1.0
    return r


FUNCTIONS = [
    direct, by_name, of_python, in_a_helper, as_argument, count_as_argument, method, with_else,
    beside_a_number,
]  # fmt: skip


def with_numpy(f):
    """The function as it is with NumPy in the place of `np`."""
    space = {**globals(), "np": numpy}
    for name in ("helper", "divided"):
        space[name] = types.FunctionType(globals()[name].__code__, space)
    return types.FunctionType(f.__code__, space)


@pytest.mark.parametrize("v", [(1.0, -1.0), (1.0, 2.0)])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_values_are_numpy_s(f, v):
    v = numpy.array(v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = float(with_numpy(f)(v))
    close = lambda out: numpy.testing.assert_allclose(float(out), expected, rtol=1e-5)
    close(overt.jit(f)(v))
    close(overt.value_and_grad(f)(v)[0])
    close(overt.vmap(f)(v[None])[0])
