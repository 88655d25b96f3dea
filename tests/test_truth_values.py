"""Truth values: masks as factors, Python's own as numbers, `is` on values, builtins as values."""

from __future__ import annotations

import functools
import itertools

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_way


def masks(x):
    positive, large = x > 0.1, np.isfinite(x) & (x < 9)
    kept = positive if x > 5 else large
    return positive * x - (x > 0.3) * x + kept * x + (x > 0.2) * x * kept


def masks_in_containers(x):
    d = {"a": x > 0.3, "b": x < 5}
    pair = (x > 0.1, x < 3)
    first, second = pair
    total = d["a"] * x - d["b"] * x + pair[0] * x + first * x - second * x
    for mask in [x > 0, x > 0.2]:
        total = total + mask * x
    return total


def counted(x):
    near = any(v > 0.5 for v in [x, x * 2])
    far = not x > 9
    both = (near + far) * x + (-near) * x * 3
    return both + (bool(x > 0.5) + all([x > 0.1])) * x * x


def builtins_as_values(x):
    rows = [[x, 1.0], [x * x, 0.2]]
    most = max if len(rows) == 2 else min
    least = {"max": max, "min": min}["min"]
    total = sum(map(max, rows)) + functools.reduce(max, rows[0]) + max(map(min, rows))
    total += sum(itertools.starmap(max, rows)) + max(rows, key=max)[0] + min(rows, key=sum)[1]
    total += sorted(rows, key=min)[0][0] + list(map(max, *rows))[0] + most(rows[1]) * least(rows[0])
    return total + any(map(bool, [x > 1])) * x + (lambda *a, op=max: op(a))(x, 1.2)


@pytest.mark.parametrize("f", [masks, masks_in_containers, counted, builtins_as_values])
def test_every_way(f):
    assert_every_way(f)


WIDE = numpy.array([True, False, True])
SMALL = numpy.array([200, 100, 3], numpy.uint8)


def of_globals(x):
    return numpy.sum(WIDE * x) + numpy.sum(WIDE * x) + numpy.sum(SMALL * x + SMALL * x - SMALL * x)


def test_masks_and_small_numbers_outside():
    x = numpy.array([0.5, 1.5, 2.5])
    wanted = 2.0 * WIDE + SMALL.astype(float)
    numpy.testing.assert_allclose(overt.grad(of_globals)(x), wanted)
    numpy.testing.assert_allclose(overt.jit(overt.grad(of_globals))(x), wanted)


def chosen(x):
    value = x if x > 0.1 else 2.0
    return value * 3 if value is x else value


def best(x):
    found, options = None, [x, x * 2, 1.5]
    for option in options:
        if found is None or option > found:
            found = option
    return found * (3 if found is options[1] else 2)


@pytest.mark.parametrize("f", [chosen, best])
def test_is_on_values_that_data_chose(f):
    assert float(overt.grad(f)(0.7)) == pytest.approx((f(0.701) - f(0.699)) / 0.002)
    for way in (overt.jit(f), overt.jit(overt.grad(f))):
        with pytest.raises(overt.errors.ConcretizationTypeError, match="compare them, `a == b`"):
            way(0.7)


def test_is_on_values_made_anew():
    def f(x):
        y = x
        z = y * 1.0
        return (y * 2 if y is x else 0.0) + (z if z is x else 3 * z)

    assert float(overt.jit(f)(0.7)) == pytest.approx(f(0.7))


def kinds_given(x):
    a = np.array([x, 2.5], float)
    flags = np.zeros(2, bool)
    n = a.astype(int).sum() + np.asarray(x, int) if isinstance(x, (int, float)) else flags.sum()
    return a.sum() * 2 + n * x


def test_kinds_given_to_functions_stay_kinds():
    assert_every_way(kinds_given, plain=lambda x: (x + 2.5) * 2 + (int(x) + 2 + int(x)) * x)


def of_one_kind(x):
    v = 1 if x > 1 else 2.0
    return x * 2 if isinstance(v, int) else x * 3


def test_the_kind_of_a_number_that_data_chose():
    assert float(overt.grad(of_one_kind)(1.9)) == 2.0
    for way in (overt.jit(of_one_kind), overt.jit(overt.grad(of_one_kind))):
        with pytest.raises(NotImplementedError, match="(?s)test_truth_values.py:.*isinstance"):
            way(1.9)
