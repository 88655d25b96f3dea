"""What an expression changes and reads outside the function happens in Python's order, and a
derivative reads what was there then.
"""

from __future__ import annotations

import pytest

import overt

N = [3]
L: list[int] = []


class Steps:
    def __init__(self):
        self.n = 2

    def step(self):
        self.n += 1
        return self.n


STEPS = Steps()


def count():
    N[0] += 1
    return N[0]


def twice(x):
    return count() * 10.0 + x * count()


def in_a_tuple(x):
    return (L.append(1), x * len(L))[1]


def in_a_list(x):
    return [count(), x * count(), count()][1] * x


def before_a_product(x):
    return (L.append(1) or 1.0) + x * len(L)


def after_a_read(x):
    return len(L) + x * (L.append(1) or len(L))


def read_around(x):
    return x * N[0] + count() * x + N[0]


def attribute_around(x):
    return STEPS.n + x * STEPS.step() + STEPS.n * x


def read_before_a_statement(x):
    y = x * N[0]
    count()
    return y


def attribute_before_a_statement(x):
    y = x * STEPS.n
    STEPS.step()
    return y * STEPS.n


def length_before_a_statement(x):
    y = x * len(L)
    L.append(1)
    return y * len(L)


def in_a_loop(x):
    y = 0.0
    for _ in range(3):
        y = y + x * N[0]
        count()
    return y * x


FUNCTIONS = [
    twice, in_a_tuple, in_a_list, before_a_product, after_a_read, read_around, attribute_around,
    read_before_a_statement, attribute_before_a_statement, length_before_a_statement, in_a_loop,
]  # fmt: skip


def started(run):
    N[:], L[:], STEPS.n = [3], [1], 2
    return float(run())


@pytest.mark.parametrize("f", FUNCTIONS)
def test_order_is_python_s(f):
    value = started(lambda: f(2.0))
    slope = (started(lambda: f(2.0 + 1e-4)) - started(lambda: f(2.0 - 1e-4))) / 2e-4
    near = lambda expected: pytest.approx(expected, rel=1e-3)
    assert started(lambda: overt.value_and_grad(f)(2.0)[0]) == near(value)
    assert started(lambda: overt.grad(f)(2.0)) == near(slope)
    assert started(lambda: overt.jvp(f, (2.0,), (1.0,))[0]) == near(value)
    assert started(lambda: overt.jvp(f, (2.0,), (1.0,))[1]) == near(slope)
    assert started(lambda: overt.jit(overt.grad(f))(2.0)) == near(slope)
