"""`continue`, `break` and `return` that leave a `try`, under every transformation."""

import numpy
import pytest
from numpy.testing import assert_allclose

import overt
import overt.numpy as np

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
RATES = {1: 2.0, 2: 0.5}


class Short(Exception):
    def __init__(self, need):
        super().__init__("short")
        self.need = need


def checked(lots, need):
    if lots > 2:
        raise Short(need)
    return lots


def continue_in_handler_and_finally(x):
    value = 0.0
    for lots in (1, 2, 3):
        try:
            size = checked(lots, x)
        except Short as short:
            value = value - short.need
            continue
        finally:
            value = value + 0.01
        value += size * x
    return value


def continue_in_body(x):
    value = 0.0
    for lots in (1, 2, 3):
        try:
            if lots == 2:
                continue
            size = lots
        finally:
            value = value + 0.01
        value += size * x
    return value


def loops_inside_every_part(x):
    value = 0.0
    for k in range(4):
        try:
            if k == 1:
                continue
            value = value + x
            for j in range(5):
                if j == 2:
                    break
                value = value + 0.1 * x
        except KeyError:
            value = -1.0
            continue
        else:
            if k == 2:
                continue
            value = value * 2.0
        finally:
            j = 0
            while True:
                j += 1
                if j == 3:
                    break
                value = value + 0.01
        value = value + x**2
    return value


def break_and_continue_in_handler(x):
    value = 0.0
    for k in range(1, 6):
        value = value + 0.1
        try:
            value = value * RATES[k]
        except KeyError:
            value = value + 1.0
            if k == 4:
                break
            continue
        else:
            value = value + x
            if k == 1:
                continue
        finally:
            value = value + 0.01
        value = value + x**2
    return value


def return_out_of_a_loop_inside(x):
    value = x
    for k in range(3):
        try:
            for j in range(4):
                value = value * x
                if j == k:
                    continue
                if j + k == 4:
                    return value * 3.0
        finally:
            value = value + len(str(k))
    return value


PROGRAMS = [
    continue_in_handler_and_finally,
    continue_in_body,
    loops_inside_every_part,
    break_and_continue_in_handler,
    return_out_of_a_loop_inside,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_jumps(f):
    x, h = 1.2, 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    xs = np.array([0.7, 1.2])
    for got, want in (
        (overt.jit(f)(x), f(x)),
        (overt.grad(f)(x), slope),
        (overt.jit(overt.grad(f))(x), slope),
        (overt.jvp(f, (x,), (1.0,))[1], slope),
        (overt.vmap(f)(xs), numpy.array([f(0.7), f(1.2)])),
    ):
        assert_allclose(numpy.asarray(got), want, rtol=1e-4)
