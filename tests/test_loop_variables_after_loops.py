"""What an inner loop sets, read after it, where Python runs the loop around it."""

import numpy
import pytest

from tests.ways import assert_every_way

XS = numpy.array([1.0, 2.0, 3.0])


def its_items(x):
    total = 0.0
    for weight in (0.1, x):
        for v, i in zip(XS, range(3), strict=True):
            last = v * i
        total = total + weight * v + i * x + last
    return total


def what_a_while_sets(x):
    total = 0.0
    for weight in (0.1, x):
        k = 0
        while k < 3:
            s = x * XS[k] * weight
            k += 1
        total = total + s
    return total


def where_it_stops(x):
    total = 0.0
    for weight in {"a": 1.0, "b": x}.values():
        for v in XS:
            if v > 1.3 * x:
                break
        total = total + v * weight
    return total


def two_loops_inside(x):
    total = 0.0
    for weight in (0.1, x):
        for i in range(3):
            for v in XS:
                s = v * weight + i
        total = total + s * v
    return total


@pytest.mark.usefixtures("quiet_x64")
@pytest.mark.parametrize("f", [its_items, what_a_while_sets, where_it_stops, two_loops_inside])
def test_every_way(f):
    assert_every_way(f)
