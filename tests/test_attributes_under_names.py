"""Operators such as `+=` on a name for what an attribute of an object holds."""

import contextlib
from typing import Any

import numpy as np
import pytest

import overt
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


class Held:
    def __init__(self, a: Any) -> None:
        self._a = a

    @property
    def a(self) -> Any:
        return self._a

    @a.setter
    def a(self, a: Any) -> None:
        self._a = 2.0 * a

    @property
    def first(self) -> Any:
        return self._a[:1]

    def add(self, x: Any) -> Any:
        h = self._a
        h += x
        return h

    def get(self) -> Any:
        return self._a

    def put(self, x: Any) -> None:
        h = self.get()
        h[0] = x


def the_kind_is_not_known(x: Any) -> Any:
    array, items, number = Held(np.zeros(3)), Held([1.0]), Held(1.0)
    array.add(x)
    items.add([x, x * x])
    return array.add(x * x).sum() * sum(items._a) + number.add(x) + 10.0 * number._a


def behind_a_property(x: Any) -> Any:
    held = Held(np.ones(2))
    h = held.a
    h += x
    h[0] *= x
    return held.a.sum()


@pytest.mark.parametrize(
    "f",
    (
        an_array,
        a_list,
        a_number_is_no_part_of_the_object,
        inherited,
        the_kind_is_not_known,
        behind_a_property,
    ),
    ids=lambda f: f.__name__,
)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def given_back(x: Any) -> Any:
    held = Held(np.zeros(2))
    held.put(x)
    return held._a.sum()


def held_by_an_object(x: Any) -> Any:
    ws = [np.ones(2) * x, np.ones(2)]
    held = Held(ws[1])
    for w in ws:
        w *= x
    return held._a.sum()


def part_by_a_property(x: Any) -> Any:
    held = Held(np.ones(2))
    h = held.first
    h += x
    return held._a.sum()


@pytest.mark.usefixtures("quiet_x64")
@pytest.mark.parametrize("f", (given_back, held_by_an_object, part_by_a_property))
def test_right_or_refused(f: Any) -> None:
    slope = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
    for way, wanted in ((overt.jit, f(2.0)), (overt.grad, slope)):
        with contextlib.suppress(NotImplementedError):
            assert float(way(f)(2.0)) == pytest.approx(wanted, rel=1e-4)


class Row:
    def __init__(self, d: Any) -> None:
        self.d = d

    def __iadd__(self, other: Any) -> Any:
        self.d += other.d
        return self

    def __setitem__(self, i: Any, v: Any) -> None:
        self.d[i] = v

    def append(self, v: Any) -> None:
        self.d[0] = v


def by_an_operator(x: Any) -> Any:
    d = np.ones(3)
    row = Row(d)
    row += Row(np.ones(3) * x)
    return d.sum()


def by_a_store(x: Any) -> Any:
    d = np.ones(3)
    row = Row(d)
    row[0] = x * x
    return d.sum()


def by_a_method_named_append(x: Any) -> Any:
    row = Row(np.ones(3))
    for k in range(2):
        row.append(x * k)
    d = row.d
    row.append(x * x)
    return d.sum()


class Tree:
    def __init__(self, v: Any, kids: Any = ()) -> None:
        self.v, self.kids = v, list(kids)

    def scale(self, s: Any) -> None:
        self.v *= s
        for kid in self.kids:
            kid.scale(s)


def by_a_method_that_calls_itself(x: Any) -> Any:
    leaf = np.ones(2) * x
    tree = Tree(np.ones(2), [Tree(np.ones(2), [Tree(leaf)])])
    tree.scale(x)
    return leaf.sum()


@pytest.mark.usefixtures("quiet_x64")
@pytest.mark.parametrize(
    "f", (by_an_operator, by_a_store, by_a_method_named_append, by_a_method_that_calls_itself)
)
def test_what_an_object_was_given_changes_with_it(f: Any) -> None:
    test_right_or_refused(f)
