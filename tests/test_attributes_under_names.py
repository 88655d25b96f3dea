"""Operators such as `+=` on a name for what an attribute of an object holds."""

from typing import Any

import numpy as np
import pytest

from tests.ways import assert_every_way


class Net:
    def __init__(self) -> None:
        self.h = np.zeros(3)
        self.t = 0.0
        self.log = [0.0]

    def add(self, xs: Any) -> Any:
        h = self.h
        h += xs
        return self.h.sum()

    def keep(self, xs: Any) -> Any:
        log = self.log
        log += [xs[0], xs[1]]
        return sum(log)

    def later(self, dt: Any) -> Any:
        t = self.t
        t += dt
        return t

    def later_too(self, dt: Any) -> Any:
        t, h = self.t, self.h
        t += dt
        h *= dt
        self.t = t
        return t


class Deep(Net):
    def twice(self, xs: Any) -> Any:
        h = self.h
        h -= xs
        same = self.h
        same *= 2.0
        return xs[0]


def an_array(x: Any) -> Any:
    net, total = Net(), 0.0
    for _ in range(3):
        total += net.add(np.array([x, x * x, 1.0]))
    return total + net.h[1]


def a_list(x: Any) -> Any:
    net, total = Net(), 0.0
    for _ in range(3):
        total += net.keep([x, 2.0 * x])
    return total + sum(net.log)


def a_number_is_no_part_of_the_object(x: Any) -> Any:
    net = Net()
    total = net.later(x) + net.later(2.0 * x) + net.add(x)
    return total + net.later_too(x) + 10.0 * net.t + 100.0 * net.h.sum()


def inherited(x: Any) -> Any:
    net, total = Deep(), 0.0
    for k in range(3):
        total += net.twice(np.array([x, k * x, 1.0])) + net.later_too(x)
    return total + 10.0 * net.t + net.h.sum()


@pytest.mark.parametrize(
    "f", (an_array, a_list, a_number_is_no_part_of_the_object, inherited), ids=lambda f: f.__name__
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)
