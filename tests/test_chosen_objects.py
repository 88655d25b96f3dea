"""Objects chosen by data: what they hold, what they are asked for, and changes of the right one."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import numpy
import pytest

import overt
from tests.ways import assert_every_way

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
POINTS = (0.7, -0.4)


class Plain:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.w * x + self.b

    def scale(self, k):
        self.w = self.w * k
        return self


@dataclasses.dataclass
class Fields:
    w: Any
    b: Any

    def __call__(self, x):
        return self.w * x + self.b

    def scale(self, k):
        self.w = self.w * k
        return self


@overt.tree_util.register_dataclass
@dataclasses.dataclass
class Tree:
    w: Any
    b: Any

    def __call__(self, x):
        return self.w * x + self.b

    def scale(self, k):
        self.w = self.w * k
        return self


def of_class(kind):
    """Functions of one number that choose between objects of a class."""

    def read(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        layer = a if x > 0.3 else b
        return layer(x) + layer.w * layer.b

    def stored(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        layer = a if x > 0.3 else b
        layer.w = layer.w * 3.0 * x
        return a.w + 10 * b.w + layer.w

    def by_statement(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        if x > 0.3:
            layer = a
        else:
            layer = b
        layer.w += x
        a.w = a.w + x
        return a.w + 10 * b.w + layer.w

    def by_method(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        (a if x > 0.3 else b).scale(3.0 * x)
        return a.w + 10 * b.w

    def in_a_loop(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        for _ in range(4):
            layer = a if a.w < 3.3 else b
            layer.w = layer.w + abs(x) + 0.3
        return a.w + 10 * b.w

    def by_position(x):
        layers = [kind(2.0, x), kind(x, 1.0)]
        i = 0 if x > 0.3 else 1
        layers[i].scale(x)
        return layers[0].w + 10 * layers[1].w

    def searched(x):
        layers = [kind(2.0, x), kind(x + 1.0, 0.5), kind(0.5, 0.1)]
        best = None
        for each in layers:
            if best is None or each.b > best.b:
                best = each
        best.scale(x)
        return layers[0].w + 10 * layers[1].w + 3 * layers[2].w

    def largest(x):
        layers = [kind(2.0, x), kind(x + 1.0, 0.5)]
        best = max(layers, key=lambda each: each.b)
        best.w = best.w * 3 * x
        return layers[0].w + 10 * layers[1].w

    def in_order(x):
        layers = [kind(2.0, x), kind(x + 1.0, 0.5), kind(0.5, 0.1)]
        sorted(layers, key=lambda each: each.b)[0].scale(x)
        return layers[0].w + 10 * layers[1].w + 3 * layers[2].w

    def returned(x):
        def pick(p, q):
            if x > 0.3:
                return p
            return q

        a, b = kind(2.0, x), kind(x, 1.0)
        layer = pick(a, b)
        layer.w = layer.w * x
        return a.w + 10 * b.w if layer is a else a.w - b.w

    def swapped(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        if x > 0.3:
            a, b = b, a
        a.w = a.w * x
        return a.w + 10 * b.w

    def new_ones(x):
        layer = kind(x, x * x) if x > 0.3 else kind(2 * x, 1.0)
        layer.w = layer.w * x
        return layer.w + layer.b

    def kept(x):
        a, b = kind(2.0, x), kind(x, 1.0)
        holder = Plain(a, 0.0)
        if x > 0.3:
            holder.w = b
        holder.w.w = holder.w.w * x
        return a.w + 10 * b.w

    return locals()


CASES = {
    Plain: "read stored by_method by_position searched returned new_ones kept",
    Fields: "stored by_statement in_a_loop searched in_order swapped",
    Tree: "stored by_method by_position largest returned new_ones",
}


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(of_class(kind)[name], id=f"{kind.__name__}-{name}")
        for kind, names in CASES.items()
        for name in names.split()
    ],
)
def test_the_right_object_is_changed(f: Any) -> None:
    assert_every_way(f, POINTS)


class Mode(enum.Enum):
    OFF = 0
    SLOW = 1
    FAST = 2


def by_mode(x):
    mode = Mode.OFF if x < 0 else Mode.SLOW if x < 0.5 else Mode.FAST
    total = x
    for _ in range(3):
        if mode is Mode.FAST:
            total = total * x
            mode = Mode.SLOW
        elif mode == Mode.SLOW:
            total = total + 2 * x
            mode = Mode.OFF if total > 1 else Mode.FAST
        else:
            total = total - x * x
    return total * (1 + mode.value)


def test_enumerated_states() -> None:
    assert_every_way(by_mode, (0.7, 0.2))
    assert_every_way(by_mode, (-0.4, 1.3))


class Holder:
    current: Any = None


def test_objects_of_the_caller_stay_themselves() -> None:
    a, b, holder = Plain(1.0, 0.0), Plain(2.0, 0.0), Holder()

    @overt.jit
    def step(x):
        holder.current = a if x > 0 else b
        holder.current.w = holder.current.w + x
        return holder.current

    for x, wanted, values in ((1.0, a, (2.0, 2.0)), (-0.5, b, (2.0, 1.5)), (1.0, a, (3.0, 1.5))):
        assert step(x) is wanted and holder.current is wanted
        numpy.testing.assert_allclose((a.w, b.w), values)


def test_what_cannot_be_followed_is_refused() -> None:
    def growing(x):
        a, b = Plain([1.0], 0.0), Plain([2.0], 0.0)
        layer = a if x > 0 else b
        layer.w.append(x)
        return a.w[-1] + b.w[-1]

    with pytest.raises(TypeError, match="a list is changed that may be the one chosen by data"):
        overt.jit(growing)(1.0)

    def mixed(x):
        a = Plain(2.0, x)
        if x > 0.3:
            a = Plain(x, x)
        return a.w * a.b

    assert overt.jit(overt.grad(mixed))(1.0) == 2.0
    assert overt.jit(overt.grad(mixed))(0.2) == 2.0

    def listed(x):
        a = [Plain(2.0, x)]
        if x > 0.3:
            a[0] = Plain(x, x)
        return a[0].w * a[0].b

    with pytest.raises(TypeError, match="make a new one on both sides"):
        overt.jit(overt.grad(listed))(1.0)


def test_programs_know_which_places_hold_one_object() -> None:
    a, b, holder = Plain(1.0, 0.0), Plain(2.0, 0.0), Holder()

    def step(x):
        holder.current.w = holder.current.w + x
        a.w = a.w * 2
        b.w = b.w * 3
        return holder.current.w

    staged = overt.jit(step)
    for holder.current in (a, b, a, b):
        before = a.w, b.w
        found = float(staged(1.0)), float(a.w), float(b.w)
        a.w, b.w = before
        assert found == (step(1.0), a.w, b.w)
