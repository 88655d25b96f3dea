"""Classes defined inside a transformed function, and members named like those of arrays."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from tests.ways import assert_every_way


def plain(x: Any) -> Any:
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

        def __add__(self, other: Any) -> Any:
            return Pair(self.a + other.a, self.b + other.b)

        def __mul__(self, k: Any) -> Any:
            return Pair(self.a * k, self.b * k)

        __rmul__ = __mul__

    p = 2.0 * (Pair(x, 1.0) + Pair(x * x, 2.0) * x)
    return p.a * p.b


def of_records(x: Any) -> Any:
    @dataclass
    class Point:
        a: Any
        b: Any = 2.0

        def dot(self) -> Any:
            return self.a * self.b

    class Named(NamedTuple):
        a: Any
        b: Any

        def max(self) -> Any:
            return self.a * self.b

    Other = namedtuple("Other", "a b")
    other = Other(x, x * x)
    return Point(x).dot() + Point(x, x).dot() * Named(x, 3.0).max() + other.a * other.b


def closing_over(x: Any) -> Any:
    y = x * x

    class Base:
        scale = 3.0

        def __call__(self, t: Any) -> Any:
            return t * y * self.scale

    class Derived(Base):
        def __call__(self, t: Any) -> Any:
            return super().__call__(t) * x

    return Derived()(x)


def without_an_argument(x: Any) -> Any:
    class Holder:
        def value(self) -> Any:
            return x * x * x

    return Holder().value()


def made_by_a_function(x: Any) -> Any:
    def make(k: Any) -> Any:
        class Scaled:
            def value(self) -> Any:
                return k * x

        return Scaled()

    return make(2.0).value() * make(x).value()


def with_a_changing_object(x: Any) -> Any:
    class Mode(enum.Enum):
        ONCE = 1
        TWICE = 2

    class Total:
        def __init__(self) -> None:
            self.items: list = []

        def add(self, v: Any) -> None:
            self.items.append(v)

    total = Total()
    for i in range(3):
        total.add(x**i * Mode.TWICE.value)
    if x > 1.0:
        total.add(x)
    else:
        total.add(x * x)
    return sum(total.items)


# --- members named like those of arrays


@dataclass
class Area:
    a: Any
    b: Any = 2.0

    def sum(self, k: Any) -> Any:
        return self.a * self.b * k

    @property
    def size(self) -> Any:
        return self.a * self.a

    @property
    def T(self) -> Any:
        return self.a * self.a * self.b


class Signal(NamedTuple):
    real: Any
    shape: Any

    def any(self) -> Any:
        return self.real * self.real

    def item(self) -> Any:
        return self.shape * self.real


def named_like_arrays(x: Any) -> Any:
    area, signal = Area(x), Signal(x * x, x)
    first = area.sum(x) + area.size * area.T
    return first + signal.any() * signal.item() + signal.real * signal.shape


class Meter:
    def __init__(self) -> None:
        self.total = 0.0

    def get(self, v: Any) -> Any:
        self.total = self.total + v
        return self.total

    def mean(self, v: Any) -> None:
        self.total = self.total + v * v

    def values(self) -> list:
        return [self.total]


def methods_named_like_harmless_ones(x: Any) -> Any:
    meter = Meter()
    meter.get(x)
    unused = meter.get(x * x)  # noqa: F841
    meter.mean(x)
    return meter.total * meter.values()[0]


def scaled(x: Any) -> Any:
    return x


def counting_in_inner_loops(x: Any) -> Any:
    @dataclass
    class Optimiser:
        rate: Any
        steps: int = 0

        def direction(self, scaled: Any) -> Any:  # a name of the module, but the method's own
            return scaled

        def step(self, u: Any, scaled: Any) -> Any:
            self.steps += 1
            return u - self.rate * self.direction(scaled) / self.steps

    optimisers = Optimiser(0.2), Optimiser(0.4)
    for optimiser in optimisers:
        for _ in range(3):
            x = optimiser.step(x, scaled(x) * x)
    return x * optimisers[1].steps


def collecting_in_inner_loops(x: Any) -> Any:
    class Log:
        def __init__(self) -> None:
            self.last = 0.0

        def add(self, v: Any) -> Any:
            self.last = 0.5 * self.last + v
            return self.last

    log = Log()
    for _ in range(2):
        for _ in range(2):
            x = x * 0.5 + log.add(x * x)
    return x + log.last


@pytest.mark.parametrize(
    "f",
    [
        plain, counting_in_inner_loops, collecting_in_inner_loops,
        of_records, closing_over, without_an_argument, made_by_a_function,
        with_a_changing_object, named_like_arrays,
        methods_named_like_harmless_ones,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_every_way(f: Any) -> None:
    assert_every_way(f)
