"""Objects under differentiation, more of them: loops that remake them, stores into their arrays.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_way


class Complex:
    def __init__(self, re, im):
        self.re = re
        self.im = im

    def __mul__(self, o):
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __add__(self, o):
        return Complex(self.re + o.re, self.im + o.im)


class Slotted:
    __slots__ = ("re", "im")

    def __init__(self, re, im):
        self.re = re
        self.im = im

    def __mul__(self, o):
        return Slotted(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __add__(self, o):
        return Slotted(self.re + o.re, self.im + o.im)


class Controller:
    def __init__(self, gain, limit):
        self.gain = gain
        self.limit = limit
        self.integral = 0.0

    def update(self, e):
        self.integral = self.integral + 0.1 * e
        c = self.gain * e + 0.5 * self.integral
        if c > self.limit:
            return self.limit
        if c < -self.limit:
            return -self.limit
        return c


class Grid:
    def __init__(self, n):
        self.cells = np.zeros((n, n))

    def deposit(self, x, y, a):
        if x > 0.5:
            self.cells[1, 1] += a * x
        else:
            self.cells[0, 1] += a * y


def orbit(x):
    z, k = Complex(0.1, 0.2), Complex(x, 0.5)
    for _ in range(3):
        z = z * z + k
    return z.re * z.im


def slotted_orbit(x):
    z, k = Slotted(0.1 * x, 0.2), Slotted(x, 0.5)
    for _ in range(3):
        z = z * z + k
    return z.re * z.im


def controlled(x):
    controller = Controller(x, 0.6)
    y = 0.0
    for _ in range(3):
        u = controller.update(0.8 - y)
        y = y + 0.4 * u
    return y + controller.integral


@pytest.mark.parametrize("f", [orbit, slotted_orbit, controlled])
def test_objects_that_loops_change(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


def deposits(x):
    grid = Grid(2)
    for v in (x, 0.3 * x):
        grid.deposit(v, x, 1.0)
    return np.sum(grid.cells**2)


def test_stores_into_an_array_of_an_object() -> None:
    assert_every_way(deposits, (0.63, 1.87), lambda x: (1.69 if x > 5 / 3 else 2.0) * x**2)


@functools.lru_cache
def squared(x):
    return x * x


@functools.lru_cache
def weights(n):
    return np.exp(-np.arange(n) * 0.1)


@functools.cache
def factors(n):
    made = []
    for i in range(n):
        made.append(1.0 if i < 2 else 2.0 * i)
    return tuple(made)


class Cached:
    def __init__(self, a):
        self.a = a

    @functools.lru_cache  # noqa: B019
    def scaled(self, x):
        return self.a * x * x

    @functools.cached_property
    def area(self):
        return self.a**2 if self.a > 1.0 else self.a * 3.0


def cached_functions(x):
    return squared(x) + squared(x) * squared(2.0) + factors(3)[-1] * x


def cached_method(x):
    thing = Cached(x)
    return thing.scaled(3.0) + thing.scaled(x)


def cached_property(x):
    thing = Cached(x)
    before = thing.area
    thing.a = 3.0 * x
    return before * thing.area + thing.a


@pytest.mark.parametrize("f", [cached_functions, cached_method, cached_property])
def test_caches(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


def weighted(x):
    return (weights(3) * x * x).sum() + (weights(3) * x).sum()


def test_a_cache_keeps_nothing_of_a_program() -> None:
    w = numpy.exp(-numpy.arange(3) * 0.1).sum()
    weights.cache_clear()
    numpy.testing.assert_allclose(overt.jit(weighted)(0.7), w * (0.49 + 0.7), rtol=1e-5)
    numpy.testing.assert_allclose(weighted(0.7), w * (0.49 + 0.7), rtol=1e-5)
    numpy.testing.assert_allclose(overt.jit(overt.grad(weighted))(0.7), w * 2.4, rtol=1e-5)


@dataclasses.dataclass(frozen=True)
class Settings:
    rate: float = 0.1
    steps: int = 3

    def step(self, y):
        return y - self.rate * y * y


SETTINGS = Settings(0.2, 2)


def by_settings(x):
    mine = dataclasses.replace(SETTINGS, rate=SETTINGS.rate * x)
    y = x
    for _ in range(SETTINGS.steps):
        y = mine.step(SETTINGS.step(y))
    return y * SETTINGS.rate


@dataclasses.dataclass
class Logging:
    w: Any
    log: list = dataclasses.field(default_factory=list)

    def __call__(self, x):
        self.log.append(x)
        return self.w * x


def by_logging(x):
    layer = Logging(x)
    y = layer(layer(x))
    return y + sum(layer.log)


@dataclasses.dataclass(order=True)
class Job:
    priority: float
    value: Any = dataclasses.field(compare=False)


def by_jobs(x):
    r = 0.0
    for job in sorted([Job(3.0, x), Job(1.0, x * x), Job(2.0, 2.0)]):
        r = r * x + job.value
    return r


@pytest.mark.parametrize("f", [by_settings, by_logging, by_jobs])
def test_dataclasses(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


class Tolerant:
    def __init__(self):
        self.seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.seen += 1
        return True


def whole_block(x):
    with Tolerant() as tolerant:
        y = x * x
    return y * tolerant.seen


def ended_block(x):
    y = x
    with Tolerant():
        y = 3 * x
        unused = 1 / 0  # noqa: F841
        y = 5 * x
    return y * x


@pytest.mark.parametrize("f", [whole_block, ended_block])
def test_managers_that_end_exceptions(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


def ended_by_an_attribute(x):
    tolerant, y = [Tolerant()], x
    with tolerant[0]:
        y = 3 * x
        int("?")
    return y


def test_an_unknown_manager_that_ends_exceptions_is_refused() -> None:
    for way in (overt.jit, overt.grad, overt.vmap):
        x = numpy.ones(2) if way is overt.vmap else 1.0
        with pytest.raises(NotImplementedError, match="Tolerant ends this ValueError"):
            way(ended_by_an_attribute)(x)


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return Vector(self.x + o.x, self.y + o.y)

    def __iadd__(self, o):
        self.x += o.x
        self.y += o.y
        return self

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)


class Body:
    def __init__(self, position, velocity):
        self.position = position
        self.velocity = velocity

    def step(self, dt):
        self.position += self.velocity * dt


class Events:
    def __init__(self):
        self.handlers = []

    def __iadd__(self, handler):
        self.handlers.append(handler)
        return self

    def fire(self, x):
        return sum(handler(x) for handler in self.handlers)


def in_place_of_two_names(x):
    s = Vector(x, 1.0)
    t = s
    s += Vector(x, x)
    s = s + t
    return s.x * t.y


def in_place_of_an_attribute(x):
    body = Body(Vector(x, 1.0), Vector(1.0, x))
    position = body.position
    for _ in range(3):
        body.step(0.5)
    return position.x * position.y + body.position.x


def in_place_in_a_branch(x):
    s = Vector(x, 1.0)
    t = s
    if x > 1.0:
        s += Vector(x, x)
    return t.x * s.y


def in_place_of_handlers(x):
    events = Events()
    events += lambda v: v * x
    events += lambda v: v**3
    total = 0.0
    for _ in range(2):
        total += events.fire(x)
    return total


@pytest.mark.parametrize(
    "f",
    [in_place_of_two_names, in_place_of_an_attribute, in_place_in_a_branch, in_place_of_handlers],
)
def test_operators_in_place(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


class Recorder:
    """Has methods of the same names as those of other classes, which store."""

    def __init__(self):
        self.last = None

    def apply(self, v):
        self.last = v
        return v

    def scale(self, v):
        self.last = v
        return v


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any = 1.0

    def apply(self, x):
        y = self.scale(x)
        return y + self.b

    def scale(self, x):
        return self.w * x


def by_one_layer(x):
    layer, y = Layer(0.5), x
    for _ in range(3):
        y = layer.apply(y)
    return y * y


def by_many_layers(x):
    layers, y = [Layer(0.5), Layer(x)], x
    for layer in layers:
        y = layer.apply(y)
    return y


@pytest.mark.parametrize("f", [by_one_layer, by_many_layers])
def test_a_method_of_the_same_name_elsewhere_costs_no_text(f: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        overt.grad(f)(0.7)
    assert "vjp_of(layer.apply" in str(overt.source(overt.grad(f)))
    assert_every_way(f, (0.63, 1.87))


def by_recorder(x):
    recorder = Recorder()
    y = recorder.apply(x * x)
    return y + recorder.last


def test_a_method_that_stores_is_seen() -> None:
    assert_every_way(by_recorder, (0.63, 1.87))


class Node:
    def __init__(self, v):
        self.v = v
        self.next = None
        self.before = None

    def __add__(self, o):
        return Node(self.v + o.v)


class Chain:
    def __init__(self):
        self.head = None
        self.tail = None
        self.nodes = []

    def push(self, v):
        node = Node(v)
        self.nodes.append(node)
        if self.tail is None:
            self.head = self.tail = node
        else:
            node.before = self.tail
            self.tail.next = node
            self.tail = node


class Stack:
    def __init__(self, *items):
        self.items = list(items)

    def __bool__(self):
        return bool(self.items)

    def pop(self):
        return self.items.pop()


def chosen_by_a_loop(x):
    nodes = [Node(x), Node(1.0), Node(x * x)]
    best = nodes[0]
    for k in range(3):
        best = nodes[k]
    best.v = best.v * 2.0
    return sum(node.v for node in nodes)


def kept_by_a_loop(x):
    a = Node(x)
    kept = [a]
    for _ in range(3):
        n = a + a
        kept.append(n)
        a = n
    a.v = a.v * 2.0
    return kept[-1].v + kept[0].v


def two_names_of_one(x):
    a = Node(x)
    b = a
    for _ in range(3):
        a = a + Node(1.0)
        b = a
    b.v = b.v * 2.0
    return a.v + b.v


def doubly_linked(x):
    chain = Chain()
    for k in range(3):
        chain.push(x * (k + 1.0))
    chain.nodes[1].v = x * x
    r, node = 0.0, chain.tail
    while node is not None:
        r = r * x + node.v
        node = node.before
    return r


def drained(x):
    stack = Stack(x, x * x, 2.0)
    r = 1.0
    while stack:
        r = r * stack.pop() + 1.0
    return r


@pytest.mark.parametrize(
    "f", [chosen_by_a_loop, kept_by_a_loop, two_names_of_one, doubly_linked, drained]
)
def test_objects_in_two_places(f: Any) -> None:
    assert_every_way(f, (0.63, 1.87))


@dataclasses.dataclass
class Point:
    v: Any

    def __add__(self, o):
        return Point(self.v + o.v)


def two_names_of_one_dataclass(x):
    a = Point(x)
    b = a
    for _ in range(3):
        a = a + Point(1.0)
        b = a
    b.v = b.v * 2.0
    return a.v + b.v


def test_a_dataclass_with_two_names() -> None:
    assert_every_way(two_names_of_one_dataclass, (0.63, 1.87))


class Sample:
    """Methods that decide, with names that arrays and containers have too."""

    def __init__(self):
        self.values = []
        self.best = 0.0

    def add(self, v):
        if v > 1.0:
            self.best = v
        self.values.append(v)

    def mean(self):
        m = sum(self.values) / len(self.values)
        return 2.0 * m if m > 1.0 else m

    def clip(self, most):
        clipped = Sample()
        for v in self.values:
            clipped.add(most if v > most else v)
        return clipped


def by_sample(x):
    sample = Sample()
    sample.add(x)
    sample.add(x * x)
    clipped = sample.clip(1.5)
    return sample.mean() * clipped.mean() + clipped.best * x + sample.best


def test_methods_with_names_of_arrays_methods() -> None:
    assert_every_way(by_sample, (0.63, 1.87))


def one_of_two_objects(x):
    a, b = Node(x), Node(x * x)
    best = a if x > 1.0 else b
    return best.v


def test_a_choice_of_objects() -> None:
    assert_every_way(one_of_two_objects, (0.63, 1.87))
