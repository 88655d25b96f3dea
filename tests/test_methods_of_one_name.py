"""Methods of one name in several classes, of which one changes what the other has not."""

from __future__ import annotations

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed


class Layer:
    def __init__(self, w):
        self.w = w
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.w *= 1.1
        return (self.w * x).sum()


class Squashing:
    def __init__(self):
        self.last = None

    def forward(self, x):
        self.last = np.tanh(x)
        return self.last


class Net:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


def through_layers(x):
    net = Net([Layer(np.array([1.5, 0.5])), Squashing(), Layer(np.array([x, 1.0]))])
    y = net.forward(x)
    return net.forward(y) + net.layers[1].last + net.layers[0].calls * x


def through_shared_layers(x):
    w = np.array([1.0, 2.0])
    net = Net([Layer(w), Squashing(), Layer(w)])
    return net.forward(x) + net.layers[0].w.sum()


class Rule:
    def __init__(self):
        self.count = 0

    def note(self, o):
        self.count += 1


class Tally:
    def __init__(self):
        self.total = 0.0

    def note(self, o):
        self.total = self.total + o.v


class Noted:
    def __init__(self, v, rule):
        self.v = v
        self.rule = rule


def held(o):
    o.rule.note(o)
    return o.v


def noted(x):
    tally, rule = Tally(), Rule()
    a, b = Noted(x, tally), Noted(2 * x, rule)
    total = 0.0
    for _ in range(3):
        total = total + held(a) * held(b)
    return total * tally.total + rule.count


class Follower:
    def __init__(self, bodies):
        self.bodies = bodies
        self.body = None

    def choose(self, t):
        for b in self.bodies:
            if b.v > t:
                self.body = b

    def kick(self, v):
        if self.body is not None:
            self.body.v += v


def followed(x):
    follower = Follower([Noted(x, None), Noted(2 * x, None)])
    follower.choose(1.5)
    follower.kick(x * x)
    return follower.bodies[0].v + 2 * follower.bodies[1].v


@pytest.mark.parametrize("f", [through_layers, noted, followed])
def test_values_and_derivatives(f):
    check_transformed(f, (0.7, 1.9), twice=False)


def test_an_array_that_two_of_them_hold_is_not_changed_in_one():
    with pytest.raises(NotImplementedError, match="holds in several places"):
        overt.jit(through_shared_layers)(1.0)
    with pytest.raises(NotImplementedError, match="holds in several places"):
        overt.vmap(through_shared_layers)(np.array([0.7, 1.9]))
