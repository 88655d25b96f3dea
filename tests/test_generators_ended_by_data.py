"""Generators whose end data decides, in every transformation."""

import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


def growth(level, rate, ceiling=2.0):
    while level < ceiling:
        yield level
        level = level * (1.0 + rate)


def halved(x, *, floor=0.3):
    k = 1.0
    while True:
        if x < floor:
            return
        half = 0.5 * x
        yield half, k
        x = half
        k = k + 1.0


def squares(x):
    total = 0.0
    for s in growth(x, 0.5):
        total += s**2
    return total


def numbered(x):
    total = x
    for n, s in enumerate(growth(x, rate=0.4, ceiling=3.0), start=1):
        total += s**2 / n
    return total * n + s


def leaves_early(x):
    level = 0.1  # a name of the generator's, too
    for n, s in enumerate(growth(x, 0.3, 4.0)):
        if n == 1:
            continue
        if n * s > 6.0:
            break
        level += s * x
    else:
        level += 3.0
    return level


def pairs(x):
    total = 0.0
    for half, k in halved(3.0 * x):
        total = total + half * k * x
    return total


def with_others(x):
    total = 0.0
    for a, s, k in zip((1.0, 2.0, 3.0), growth(x, 0.5, 9.0), range(5), strict=False):
        total += s * a * k
    for s, a in zip(growth(x, 0.5), [0.5 * x] * 9, strict=False):
        total += s**2 * a
    return total


def nested(x):
    rate = np.sin(x)

    def steps(start):
        while start * rate < 1.5:
            yield start * rate
            start = start + 0.4 * rate

    return sum(s * s * (n + 1) for n, s in enumerate(steps(x))) + sum(s for s in steps(0.0) if s)


@pytest.mark.parametrize("f", [squares, numbered, leaves_early, pairs, with_others, nested])
def test_loops(f):
    assert_every_way(f, (0.73, 1.57))


def test_items_are_lists_elsewhere():
    assert overt.grad(lambda x: max(growth(x, 1.0)) * x)(0.75) == 3.0


def test_python_numbers():
    def table(x, n):
        return [x**k for k in counted(n)]

    def counted(n):
        k = 0
        while k < n:
            yield k
            k += 1

    def picked(x, weights):
        return sum(weights[k] * x**k for k in counted(len(weights)))

    assert overt.jit(table, static_argnums=1)(2.0, 3) == [1.0, 2.0, 4.0]
    assert overt.jit(picked)(2.0, [1.0, 0.5, 0.25]) == 3.0
    assert overt.grad(picked)(2.0, [1.0, 0.5, 0.25]) == 1.5
