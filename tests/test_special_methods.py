"""Special methods and properties with branches and loops on data, which Python calls itself."""

from __future__ import annotations

import dataclasses
import functools
import operator
from typing import Any, NamedTuple

import numpy
import pytest

import overt
from overt.runtime.program import Program
from tests.ways import assert_every_way

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
POINTS = (0.7, -0.4)


class Number:
    """Every operator takes another way for some values."""

    def __init__(self, v):
        self.v = v

    def __mul__(self, o):
        return Number(self.v * o.v if self.v > 0 else 2 * self.v * o.v)

    def __rmul__(self, k):
        return Number(k * max(self.v, 0.5 * self.v))

    def __add__(self, o):
        if self.v > o.v:
            r = self.v + o.v
        else:
            r = self.v + 3 * o.v
        return Number(r)

    def __radd__(self, k):
        return Number(k + (self.v if self.v > 0 else -self.v))

    def __neg__(self):
        return Number(-self.v if self.v > 0 else self.v * 2)

    def __abs__(self):
        return max(self.v, -self.v) * self.v

    def __pow__(self, n):
        r = self.v
        for _ in range(n - 1):
            r = r * self.v if r > 0 else r * self.v * 0.5
        return Number(r)

    def __matmul__(self, o):
        t, i = 0.0, 0
        while t < 1.0 and i < 5:
            t = t + abs(self.v * o.v)
            i = i + 1
        return t

    def __lt__(self, o):
        return self.v < o.v if self.v > -1.0 else False

    def __iadd__(self, k):
        if k > 0:
            self.v = self.v + k
        else:
            self.v = self.v - 2 * k
        return self


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any = 1.0

    def __add__(self, o):
        return Pair(self.a + o.a if self.a > 0 else o.a - self.a, max(self.b, o.b))

    def __getitem__(self, i):
        if i == 0:
            return self.a if self.a > 0 else 2 * self.a
        return self.b

    def __setitem__(self, i, v):
        if i == 0:
            self.a = v if v > 0 else -2 * v
        else:
            self.b = v

    def __iter__(self):
        yield self.a
        yield self.b if self.b > 0 else -self.b

    def __call__(self, t):
        s = self.a
        while s < 3.0:
            s = s * 1.5 + 2.0 + t * t
        return s


class Point(NamedTuple):
    x: Any
    y: Any

    def __add__(self, o):
        return Point(self.x + o.x if self.x > 0 else o.x, self.y + o.y)

    def __mul__(self, k):
        return Point(self.x * k, max(self.y * k, 0.1 * self.x))

    def __neg__(self):
        return Point(-self.x if self.x > 0 else self.x, -self.y)


class Tank:
    """A level that its setter keeps within bounds, and blocks that change it."""

    rate = 1.0

    def __init__(self, level):
        self.level = level

    @property
    def level(self):
        return self._level if self._level > 0.5 else 0.5 * self._level

    @level.setter
    def level(self, v):
        self._level = v if v > 0 else 0.1 * v

    @functools.cached_property
    def start(self):
        return self._level if self._level > 0 else -self._level

    def __enter__(self):
        self.level = self.level * 2 if self.level > 0 else self.level
        return self

    def __exit__(self, *error):
        self.level = max(self.level, 0.2)
        return False


class Bounded:
    """A descriptor."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        found = getattr(instance, self.name)
        return found if found > 0 else 0.3 * found

    def __set__(self, instance, value):
        setattr(instance, self.name, min(value, 1.5))


class Valve:
    opening = Bounded()

    def __init__(self, opening):
        self.opening = opening


class Checked:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value if value > 0 else -value)


def by_operators(x):
    a, b = Number(x), Number(x * x)
    return (a * b + 2.0 * a + (-b) ** 3).v + abs(a) + a @ b


def by_sums(x):
    numbers = [Number(x), Number(2 * x), Number(x * x)]
    product = functools.reduce(operator.mul, numbers)
    return sum(numbers, Number(0.1)).v + sum(numbers).v * product.v


def by_comparison(x):
    return x * x if Number(x) < Number(0.5) else 3 * x


def by_update(x):
    n = Number(1.0)
    n += x
    n += x * x
    return n.v * x


def carried(x):
    total = Number(1.0)
    for _ in range(4):
        total = total * Number(x) + Number(0.1)
    return total.v


def of_a_dataclass(x):
    p = Pair(x) + Pair(x * x, x)
    p[0] = p.a - 0.6
    first, second = p
    return p[0] * second + first


def iterated(x):
    total = 0.0
    for v in Pair(x, x * x - 1):
        total = total + v * v
    return total + sum(Pair(x, x * x - 1)) + Pair(x)(x)


def of_a_named_tuple(x):
    p = -(Point(x, x * x) * x)
    p = sum([p, Point(x, 1.0)], Point(0.1, 0.0))
    return p.x * p.y


def by_setter(x):
    tank = Tank(x)
    tank.level += x
    return tank.level * tank.start


def in_a_block(x):
    tank = Tank(x)
    with tank as same:
        y = same.level * x
    return y + 3 * x * tank.level


def by_descriptor(x):
    valve = Valve(3 * x)
    y = valve.opening
    valve.opening = x * x
    return y * valve.opening


def by_setattr(x):
    checked = Checked()
    checked.a = x
    checked.b = checked.a - 0.5
    return checked.a * checked.b


KINDS = [
    by_operators, by_sums, by_comparison, by_update, carried, of_a_dataclass, iterated,
    of_a_named_tuple, by_setter, in_a_block, by_descriptor, by_setattr,
]  # fmt: skip


@pytest.mark.parametrize("f", KINDS, ids=lambda f: f.__name__)
def test_methods_that_python_calls(f: Any) -> None:
    assert_every_way(f, POINTS)


def test_classes_are_as_they_were_afterwards() -> None:
    before = [dict(vars(kind)) for kind in (Number, Pair, Point, Tank, Bounded)]
    overt.jit(by_operators)(0.3)
    overt.vmap(by_setter)(numpy.array([0.3, -0.3]))
    with pytest.raises(ZeroDivisionError):
        overt.jit(lambda x: Number(x) * Number(1 / 0))(1.0)
    after = [dict(vars(kind)) for kind in (Number, Pair, Point, Tank, Bounded)]
    assert before == after


def test_programs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    staged: list[str] = []
    stage = Program._stage
    monkeypatch.setattr(Program, "_stage", lambda self: staged.append(self.name) or stage(self))
    inner = overt.jit(lambda x: (Number(x) * Number(x)).v)
    outer = overt.jit(lambda x: (-Number(x)).v + inner(x))
    counts = []
    for x in (0.5, -0.5, 0.7):
        wanted = (-Number(x)).v + (Number(x) * Number(x)).v
        numpy.testing.assert_allclose(outer(x), wanted, rtol=1e-6)
        inner(x)
        counts.append(len(staged))
    assert counts[0] > 0 and counts == counts[:1] * 3


def test_a_method_that_is_replaced_is_called() -> None:
    class Switch:
        def __init__(self, v):
            self.v = v

        def __neg__(self):
            return -self.v if self.v > 0 else self.v

    f = overt.jit(lambda x: -Switch(x))
    assert float(f(2.0)) == -2.0
    Switch.__neg__ = lambda self: 3 * self.v if self.v > 0 else self.v
    assert float(f(2.0)) == 6.0
