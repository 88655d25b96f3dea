"""Functions that count, or keep results, in attributes of their own."""

import functools
import math

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.usefixtures("quiet_x64")


def counted(times):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            wrapper.calls += 1
            wrapper.seen[wrapper.calls] = kwargs.get("rate", "default")
            out = f(*args, **kwargs)
            for _ in range(times - 1):
                out = f(out, **kwargs)
            return out

        wrapper.calls, wrapper.seen = 0, {}
        return wrapper

    return decorate


@counted(times=3)
def contract(x, *, rate=0.5):
    return x - rate * np.sin(x)


def tally(x):
    tally.total = tally.total + x
    return x * tally.weight


tally.total, tally.weight = 0.0, 2.0


def three_steps(x, rate):
    for _ in range(3):
        x = x - rate * math.sin(x)
    return x


def both(x, rate):
    return contract(x) + contract(2.0 * x, rate=rate) + len(contract.__name__)


def test_a_decorator_that_counts():
    expected = three_steps(0.7, 0.5) + three_steps(1.4, 0.2) + 8
    compiled = overt.jit(both)
    contract.calls = 0
    for k in (2, 4, 6):
        assert numpy.allclose(compiled(0.7, 0.2), expected, rtol=1e-12)
        assert contract.calls == k
    assert compiled.cache_size() <= 3
    h = 1e-6
    slope = (three_steps(0.7, 0.2 + h) - three_steps(0.7, 0.2 - h)) / (2 * h)
    for derived in (overt.grad, lambda f, place: overt.jit(overt.grad(f, place))):
        at = lambda x, rate: contract(x, rate=rate)
        assert numpy.allclose(derived(at, 1)(0.7, 0.2), slope, rtol=1e-8)


def test_attributes_that_hold_arrays():
    compiled = overt.jit(lambda x: tally(x) + tally(x * x))
    tally.total = 0.0
    assert float(compiled(3.0)) == 24.0 and float(tally.total) == 12.0
    tally.weight = 1.0
    assert float(compiled(2.0)) == 6.0 and float(tally.total) == 18.0
