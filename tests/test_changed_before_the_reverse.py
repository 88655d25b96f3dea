"""State that changes between a read and the reverse sweep; the oracles are differences of plain
Python, each run from the same state.
"""

from __future__ import annotations

import contextlib
import math
import warnings

import numpy
import pytest

import overt
from overt.runtime.config import enable_x64
from overt.runtime.errors import RecordedWarning

X = 0.7
STEP = 1e-4


class Stepper:
    """Fields that hold numbers and arrays, read by methods."""

    scale = 2.0

    def __init__(self, dt):
        self.dt = dt
        self.gains = {"p": 1.5}
        self.w = numpy.array([1.0, 2.0, 3.0])

    def step(self, x):
        return x + self.dt * math.sin(x) * x

    def scaled(self, x):
        return self.scale * x * x

    def weighted(self, x):
        return numpy.sum(self.w * x * x)

    def gained(self, x):
        return self.gains["p"] * x * x

    def __call__(self, x):
        return x * x * self.dt

    @property
    def rate(self):
        return 1.0 / self.dt

    @classmethod
    def rescale(cls, by):
        cls.scale = by

    @contextlib.contextmanager
    def faster(self):
        before, self.dt = self.dt, self.dt * 10
        try:
            yield self
        finally:
            self.dt = before

    def bump(self):
        self.w[0] += 4.0


P = Stepper(0.1)
W = numpy.array([1.0, 2.0, 3.0])
M = numpy.arange(6.0).reshape(2, 3)
LAYERS = [numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])]
CONFIG = {"gain": 2.0, "w": numpy.array([2.0, 5.0])}
RATE = 3.0
FLAG = True


def start():
    global P, RATE, FLAG
    P = Stepper(0.1)
    Stepper.scale, RATE, FLAG = 2.0, 3.0, True
    W[:] = [1.0, 2.0, 3.0]
    M[:] = numpy.arange(6.0).reshape(2, 3)
    LAYERS[0][:], LAYERS[1][:] = [1.0, 2.0], [3.0, 4.0]
    CONFIG["gain"], CONFIG["w"] = 2.0, numpy.array([2.0, 5.0])


def set_rate(rate):
    global RATE
    RATE = rate


def turn():
    global FLAG
    FLAG = not FLAG


def gained(x):
    return CONFIG["gain"] * x * x


def rated(x):
    return RATE * x * x


def weighted(x):
    return W * x * x


def total(w, x):
    return numpy.sum(w * x * x)


def field(x):
    y = P.step(x)
    P.dt = 5.0
    return y * P.step(y)


def field_by_name(x):
    y = P.step(x)
    setattr(P, "dt", 5.0)  # noqa: B010
    return y * x


def block(x):
    with P.faster():
        y = P.step(x)
    return P.step(y)


def callable_object(x):
    y = P(x)
    P.dt = 5.0
    return P(y)


def of_class(x):
    y = P.scaled(x)
    Stepper.rescale(7.0)
    return y + P.scaled(x)


def from_property(x):
    y = x * x * P.rate
    P.dt = 5.0
    return y + x * P.rate


def item_of_field(x):
    y = P.gained(x)
    P.gains["p"] = 9.0
    return y + P.gained(x)


def item(x):
    y = gained(x)
    CONFIG["gain"] = 9.0
    return y * gained(x)


def number(x):
    y = rated(x)
    set_rate(11.0)
    return y * rated(x)


def schedule(x):
    for rate in (1.0, 2.0, 4.0):
        set_rate(rate)
        x = x + 0.1 * rated(x)
    return x


def flag(x):
    y = x * x if FLAG else x * 3
    turn()
    if FLAG:
        y = y * x
    else:
        y = y + x**3
    return y


def array(x):
    y = numpy.sum(W * x * x)
    W[0] = 5.0
    return y + numpy.sum(W * x)


def array_in_helper(x):
    y = numpy.sum(weighted(x))
    W[0] = 5.0
    return y + numpy.sum(weighted(x))


def array_handed_on(x):
    y = total(W, x)
    W[0] = 5.0
    return y


def array_in_loop(x):
    y = 0.0
    for i in range(3):
        W[i] *= 2.0
        y = y + numpy.sum(W * x * x)
    return y


def array_filled(x):
    y = numpy.sum(W * x * x)
    W.fill(0.0)
    return y


def array_copied_to(x):
    y = numpy.sum(numpy.exp(-((x - W) ** 2) / W))
    numpy.copyto(W, 1.0)
    return y


def part(x):
    y = numpy.sum(W[1:] * x * x)
    W[1] = 7.0
    return y


def whole(x):
    global W
    y = numpy.sum(W[1:] * x * x)
    W += 1.0
    return y + numpy.sum(W * x)


def row(x):
    y = numpy.sum(M[0] * x * x) + numpy.sum(M.T * x * x)
    M[0] = 7.0
    return y


def other_name(x):
    w = W
    y = numpy.sum(w * x * x)
    W[1] = 7.0
    return y


def layers(x):
    y = numpy.sum(LAYERS[0] * x * x)
    LAYERS[0][0] = 9.0
    return y


def item_array(x):
    y = numpy.sum(CONFIG["w"] * x * x)
    CONFIG["w"][0] = 9.0
    return y


def field_array(x):
    y = numpy.sum(P.w * x * x)
    P.w[0] = 9.0
    return y + P.weighted(x)


def field_array_in_methods(x):
    y = P.weighted(x)
    P.bump()
    return y * P.weighted(x)


PROGRAMS = [
    *(field, field_by_name, block, callable_object, of_class, from_property, item_of_field),
    *(item, number, schedule, flag, array, array_in_helper, array_handed_on, array_in_loop),
    *(array_filled, array_copied_to, part, whole, row, other_name, layers, item_array),
    *(field_array, field_array_in_methods),
]


def from_start(call, *args):
    start()
    with enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        return float(call(*args))


def disturbed(f):
    """The derivative by `vjp`, with all state changed before it is pulled back."""

    def slope(x):
        _, pull = overt.vjp(f, x)
        P.dt = Stepper.scale = P.gains["p"] = CONFIG["gain"] = 77.0
        set_rate(77.0)
        for x in (W, M, *LAYERS, CONFIG["w"], P.w):
            x[:] = 77.0
        return pull(1.0)[0]

    return slope


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_reads_count_as_they_were(f):
    low, here, high = (from_start(f, x) for x in (X - STEP, X, X + STEP))
    slope, bend = (high - low) / (2 * STEP), (high - 2 * here + low) / STEP**2
    tangent = lambda g: lambda x: overt.jvp(g, (x,), (1.0,))[1]
    for name, way, wanted in [
        ("grad", overt.grad(f), slope),
        ("grad of jit", overt.grad(overt.jit(f)), slope),
        ("jvp", tangent(f), slope),
        ("vjp", disturbed(f), slope),
        ("jvp of grad", tangent(overt.grad(f)), bend),
        ("grad of grad", overt.grad(overt.grad(f)), bend),
    ]:
        got = from_start(way, X)
        numpy.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4, err_msg=name)
