"""Named tuples made anew in loops and branches; globals that managers change between reads."""

from collections import namedtuple
from contextlib import contextmanager
from typing import NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope


@pytest.fixture(autouse=True)
def wide():
    with overt.enable_x64(True):
        yield


class Body(NamedTuple):
    pos: float
    vel: float = 0.5
    name: str = "b"


State = namedtuple("State", "mode level")


def by_keyword(x):
    b = Body(x * 2, vel=x**2)
    return b.vel * b.pos + b[1]


def made_in_a_loop(x):
    b = Body(x)
    for _ in range(3):
        b = Body(b.pos + 0.1 * b.vel, b.vel - x * b.pos, name="c")
    return b.pos * b[1]


def made_until_data_ends(x):
    b = Body(x, 1.0)
    while b.pos < 5.0:
        if b.vel > 3.0:
            b = Body(b.pos * 2, b.vel / 2, "fast")
        else:
            b = Body(b.pos + b.vel, b.vel * x, "slow")
    return b.pos * b.vel


def tank(x):
    s = State("fill", 0.2)
    total = 0.0
    for _ in range(9):
        if s.mode == "fill":
            if s.level < 1.0:
                s = State("fill", s.level + x * 0.3)
            else:
                s = s._replace(mode="drain")
        elif s.level > 0.3:
            s = State("drain", s.level * 0.6)
        else:
            s = s._replace(mode="fill")
        total += s.level**2
    return total


def with_an_array(x):
    s = State("sum", np.sin(x * np.arange(3.0)))
    s = State(mode=s.mode, level=s.level[1:] * x)
    return np.sum(s.level**2)


BASE = [2.0]


class Scope:
    def __init__(self, unit):
        self.unit = unit

    def __enter__(self):
        BASE.append(self.unit)
        return self

    def __exit__(self, *failure):
        BASE.pop()
        return False


class Listed:
    def __init__(self, v):
        self.v = v
        BASE.append(v)


SCOPE = Scope(4.0)


@contextmanager
def temporarily(v):
    BASE.append(v)
    yield v
    BASE.pop()


def around(x):
    y = x * BASE[-1]
    with Scope(3.0) as s:
        y = np.sin(y * BASE[-1]) * s.unit
    return y * x * BASE[-1]


def around_of_an_old_one(x):
    with SCOPE:
        y = np.sin(x * BASE[-1])
    return y * x * BASE[-1]


def around_by_a_generator(x):
    with temporarily(5.0) as five:
        y = np.sin(x * BASE[-1]) * five
        for k in range(2):
            with temporarily(k + 2.0):
                y = y + BASE[-1] * x * x
    return y * x * BASE[-1]


def listed_when_made(x):
    y = x * x * BASE[-1]
    v = Listed(3.0).v
    y = np.sin(y * BASE[-1]) * v
    BASE.pop()
    return y * x * BASE[-1]


PROGRAMS = (
    by_keyword, made_in_a_loop, made_until_data_ends, tank, with_an_array, around,
    around_of_an_old_one, around_by_a_generator, listed_when_made,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    numpy.testing.assert_allclose(overt.jit(f)(1.3), f(1.3), rtol=1e-12)
    expected = slope(f, 1.3)
    for derived in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        numpy.testing.assert_allclose(derived(1.3), expected, rtol=1e-7)
    for g in (f, overt.jit(f)):
        numpy.testing.assert_allclose(overt.jvp(g, (1.3,), (1.0,))[1], expected, rtol=1e-7)
    lanes = numpy.array([1.3, 1.7])
    slopes = [expected, slope(f, 1.7)]
    numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(lanes), slopes, rtol=1e-7)
    numpy.testing.assert_allclose(overt.vmap(f)(lanes), [f(1.3), f(1.7)], rtol=1e-12)
    assert BASE == [2.0]


def test_fields_take_their_parts_of_the_cotangent():
    text = overt.source(overt.grad(made_in_a_loop))
    assert "vjp_of" not in text
    assert "part(b_bar, 0)" in text
