"""Objects that a function keeps to itself have a derivative as text, over their fields.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

import abc
import dataclasses
import math
import warnings
from typing import Any

import numpy
import pytest

import overt
from overt.runtime.errors import RecordedWarning
from tests.ways import assert_every_way


class Body:
    """A body that moves."""

    def __init__(self, pos, vel, mass=2.0):
        self.pos, self.vel, self.mass = pos, vel, mass

    def kick(self, force, dt):
        """Change the velocity."""
        self.vel = self.vel + force / self.mass * dt

    def drift(self, dt):
        self.pos = self.pos + self.vel * dt

    def step(self, force, dt=0.1):
        self.kick(force, dt)
        self.drift(dt)
        return self.pos

    @property
    def energy(self):
        return 0.5 * self.mass * self.vel**2 + self.potential(self.pos)

    @staticmethod
    def potential(pos):
        return 0.5 * pos**2


class Damped(Body):
    drag = 0.3

    def __init__(self, pos, vel):
        super().__init__(pos, vel, mass=1.5)
        self.lost = 0.0

    def kick(self, force, dt):
        before = self.energy
        super().kick(force - self.drag * self.vel, dt)
        self.lost += before - self.energy


class Controller:
    """A controller whose output and whose memory are bounded."""

    bound = 0.8
    count = 0

    def __init__(self, gain):
        self.gain = gain
        self.reset()

    def reset(self):
        self.total = 0.0

    def clipped(self, u):
        if u > self.bound:
            return self.bound
        if u < -self.bound:
            return -self.bound
        return u

    def update(self, error):
        self.count += 1
        self.total = self.clipped(self.total + 0.5 * error)
        return self.clipped(self.gain * error + self.total) / self.count


@dataclasses.dataclass
class Mean:
    total: float = 0.0
    count: int = 0

    def add(self, x):
        self.total += x
        self.count += 1

    def value(self):
        return self.total / max(self.count, 1)


@dataclasses.dataclass
class Scaled:
    raw: float
    scale: float = 3.0

    def __post_init__(self):
        self.value = self.raw * self.scale


class Curve(abc.ABC):
    @abc.abstractmethod
    def at(self, t): ...

    def length(self, n):
        total = 0.0
        for k in range(n):
            total += abs(self.at((k + 1) / n) - self.at(k / n))
        return total


class Wave(Curve):
    def __init__(self, k):
        self.k = k

    def at(self, t):
        return math.sin(self.k * t)


class Polynomial:
    def __init__(self, *coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        return sum(c * x**i for i, c in enumerate(self.coefficients))


class Line:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __call__(self, x):
        return self.a * x + self.b

    def shifted(self, d):
        return Line(self.a, self.b + d * self.a)


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()


class Momentum:
    def __init__(self, rate):
        self.rate = rate
        self.v = 0.0

    def moved(self, w, g):
        self.v = 0.9 * self.v - self.rate * g
        return w + self.v


class Trainer:
    def __init__(self, w, rate):
        self.w = w
        self.rule = Momentum(rate)

    def fit(self, n):
        for _ in range(n):
            self.w = self.rule.moved(self.w, 2 * (self.w - 1.0))
        return self


def orbit(x):
    body = Body(x, 0.5)
    for _ in range(4):
        body.kick(-body.pos, 0.1)
        body.drift(0.1)
    return body.pos * body.vel


def stepped(x):
    b = Body(0.3, x)
    far = b.step(-x)
    far = far + b.step(far, dt=0.2) * b.energy
    return far


def damped(x):
    b = Damped(x, 1.0)
    for _ in range(3):
        b.step(-b.pos)
    return b.lost + b.pos * b.drag


def controlled(x):
    controller, y = Controller(x), 0.0
    for _ in range(3):
        y = y + controller.update(1.2 - y)
    return y * controller.total


def regulated(x):
    controller = Controller(x)
    y = 0.1
    for _ in range(3):
        y = y + controller.update(1.2 - y)
    return y * controller.total + controller.count


def averaged(x):
    mean = Mean()
    for k in range(4):
        if k % 2:
            mean.add(k * x)
        else:
            mean.add(x * x)
    return mean.value() * mean.count


def after_start(x):
    s = Scaled(x)
    t = Scaled(s.value, 0.5)
    return s.value * t.value


def arc(x):
    wave = Wave(x)
    return wave.length(5)


def called(x):
    line = Line(x, 2.0)
    moved = line.shifted(x)
    return line(x) * moved(0.5) if line(1.0) > 0 else moved(1.0)


def several(x):
    p = Polynomial(1.0, x, 0.5)
    return p(x)


def stacked(x):
    stack = Stack()
    stack.push(x)
    stack.push(x * x)
    top = stack.pop()
    return top * stack.pop() + len(stack.items)


def trained(x):
    trainer = Trainer(x, 0.05 * x)
    trainer.fit(3)
    return trainer.w


def made_in_a_loop(x):
    total = 0.0
    for k in range(3):
        line = Line(x, k)
        total += line(k + 1.0) * line.a
    return total


def made_again(x):
    b = Body(x, 1.0)
    b.step(0.5)
    b = Body(b.pos, b.vel * x)
    b.step(-0.5)
    return b.pos * b.mass


def in_a_branch(x):
    if x > 1:
        line = Line(x, 2.0)
    else:
        line = Line(2.0, x * x)
    line.b = line.b * x
    return line(3.0)


def early(x):
    b = Body(x, 0.0)
    for k in range(5):
        b.step(1.0)
        if b.pos > 1.5:
            return b.vel * k + b.pos**2
    return b.pos


def in_comprehensions(x):
    line = Line(x, 1.0)
    return sum(line(k) * line.a for k in range(3)) + line.b * line.a


def arguments_in_order(x):
    b = Body(x, 1.0)
    return math.hypot(b.step(1.0), b.vel) + b.pos * b.step(2.0, 0.3)


def changed_while_read(x):
    b = Body(x, 1.0)
    total = b.pos * x
    total += b.step(b.pos)
    b.pos += b.step(b.pos)
    return total * b.pos


def between_objects(x):
    a, c = Body(x, 0.0), Body(1.0, x)
    a = Body(x, 0.0)
    c = Body(1.0, x)
    for _ in range(2):
        a.step(c.pos - a.pos)
        c.step(a.pos - c.pos)
    return a.pos * c.vel


def cells(x):
    row = Body(numpy.zeros(3), numpy.ones(3) * x)
    for i in range(3):
        row.pos[i] = x * i
        row.pos[i] += row.vel[i]
    row.step(row.vel)
    return numpy.sum(row.pos**2)


AS_TEXT = [
    orbit, stepped, damped, regulated, averaged, after_start, arc, called, stacked, trained,
    made_in_a_loop, made_again, in_a_branch, early, in_comprehensions, cells,
]  # fmt: skip
# Right without a text of their own.
OTHERS = [controlled, several, arguments_in_order, changed_while_read, between_objects]


@pytest.mark.parametrize("f", AS_TEXT)
def test_derivatives_are_text(f: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RecordedWarning)
        text = str(overt.source(overt.grad(f)))
        assert "vjp_of" not in text
        overt.grad(f)(0.7)
    assert_every_way(f)


@pytest.mark.parametrize("f", OTHERS)
def test_others_are_as_right(f: Any) -> None:
    assert_every_way(f)


def test_the_text_has_fields_for_the_object() -> None:
    text = str(overt.source(overt.grad(orbit)))
    assert "body_vel" in text and "Body(" not in text


class Lazy:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return self.x + len(name)


class Guarded:
    def __init__(self, x):
        self.limit = x

    @property
    def limit(self):
        return self._limit

    @limit.setter
    def limit(self, value):
        self._limit = min(value, 1.0)


class Chain:
    def __init__(self, x):
        self.x = x

    def times(self, y):
        self.x = self.x * y
        return self

    def itself(self):
        return self


class Shadowing:
    scale = 2.0

    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x * scale_of_all


scale_of_all = 3.0


def missing_fields(x):
    lazy = Lazy(x)
    return lazy.x * lazy.four


def by_setter(x):
    g = Guarded(x)
    g.limit = g.limit * x
    return g.limit + x


def chained(x):
    c = Chain(x)
    c.times(x).times(2.0)
    other = c.itself()
    other.times(x)
    return c.x


def with_two_names(x):
    a = Chain(x)
    b = a
    b.times(3.0)
    return a.x * b.x


def in_a_list(x):
    every = [Chain(x), Chain(2.0)]
    one = Chain(x * x)
    every.append(one)
    for c in every:
        c.times(x)
    return one.x + every[0].x


def one_name_inside(x):
    scale_of_all = x  # a method means the global one
    s = Shadowing(x)
    return s.value() * scale_of_all * s.scale


def kept_by_a_function(x):
    c = Chain(x)

    def bump():
        c.times(x)

    bump()
    bump()
    return c.x


def by_a_variable(x):
    w = x
    line = Line(w, 1.0)
    w = 2.0 * x
    return line(w) + line.a


def by_a_loops_variable(x):
    total, line = 0.0, Line(x, 0.0)
    for a in (x, x * x, 3.0):
        total += line(2.0) * a
        line = Line(a, a)
    return total


@pytest.mark.parametrize(
    "f",
    [missing_fields, by_setter, chained, with_two_names, in_a_list,
     one_name_inside, kept_by_a_function, by_a_variable, by_a_loops_variable],
)  # fmt: skip
def test_what_fields_do_not_tell_is_as_right(f: Any) -> None:
    assert_every_way(f)


def test_methods_that_are_set_anew() -> None:
    def f(x):
        b = Body(x, 1.0)
        b.kick(x, 0.5)
        return b.vel

    assert overt.grad(f)(1.0) == 0.25
    kick = Body.kick
    try:
        Body.kick = lambda self, force, dt: setattr(self, "vel", self.vel * force)  # type: ignore
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordedWarning)
            assert overt.grad(f)(1.0) == 1.0
    finally:
        Body.kick = kick  # type: ignore[method-assign]
    assert overt.grad(f)(1.0) == 0.25
    Body.mark = lambda self: 1.0  # type: ignore[attr-defined]
    try:
        assert overt.grad(f)(1.0) == 0.25
    finally:
        del Body.mark  # type: ignore[attr-defined]


def test_methods_of_a_class_above_that_are_set_anew() -> None:
    def f(x):
        b = Damped(x, 1.0)
        b.kick(x, 0.3)
        return b.vel

    assert overt.grad(f)(1.0) == pytest.approx(0.2)
    kick = Body.kick
    try:
        Body.kick = lambda self, force, dt: setattr(self, "vel", self.vel * force)  # type: ignore
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordedWarning)
            assert overt.grad(f)(1.0) == pytest.approx(1.0)
    finally:
        Body.kick = kick  # type: ignore[method-assign]
    assert overt.grad(f)(1.0) == pytest.approx(0.2)


def test_attributes_of_a_class_are_read_when_the_code_runs() -> None:
    def f(x):
        c = Controller(x)
        return c.gain * c.bound

    assert overt.grad(f)(2.0) == pytest.approx(0.8)
    bound = Controller.bound
    try:
        Controller.bound = 5.0
        assert overt.grad(f)(2.0) == 5.0
        assert overt.jit(overt.grad(f))(2.0) == 5.0
    finally:
        Controller.bound = bound


def test_wrong_arguments_are_an_error_of_python() -> None:
    def f(x):
        b = Body(x)
        return b.pos

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        with pytest.raises(TypeError, match="vel"):
            overt.grad(f)(1.0)
