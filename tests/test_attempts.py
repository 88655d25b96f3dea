"""`try`, `with` and `raise` in functions that are compiled, batched and differentiated."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed


def returned_from_the_block(x):
    try:
        if x > 0.7:
            return x * x
        y = 3 * x
    except ValueError:
        y = 0.0
    return y


def returned_from_a_loop(x):
    for k in range(4):
        try:
            if k * x > 1.2:
                return k * x * x
        except ValueError:
            pass
    return x


def finally_after_a_return(x):
    log = []

    def counted(v):
        try:
            if v > 0.7:
                return v * v
            v = 3 * v
        finally:
            log.append(1)
        return v

    return counted(x) * (1.0 + len(log)) + counted(2 * x) * len(log)


def raised_by_a_helper(x):
    def small(v, k):
        if k > 2:
            raise ValueError("k")
        return v * k

    total = 0.0
    for k in range(5):
        try:
            total = total + small(x, k) * x
        except ValueError:
            total = total - x
    return total


def parsed(x):
    total = 0.0
    for s in ["1.5", "a", "2"]:
        try:
            total = total + float(s) * x
        except ValueError:
            total = total + x * x
    return total


def remembered(x):
    known, total = {}, 0.0
    for k in "abab":
        try:
            c = known[k]
        except KeyError:
            c = known[k] = x * len(known) + 1.0
        total = total + c * x
    return total


def up_to_the_end(x):
    xs, total, k = [x, 2 * x, x * x], 0.0, 0
    while True:
        try:
            v = xs[k]
        except IndexError:
            break
        total = total + v * v
        k += 1
    return total


def popped_until_empty(x):
    xs, total = [x, 2 * x, x * x], 0.0
    while True:
        try:
            v = xs.pop()
        except IndexError:
            break
        total = total + v * v
    return total


def left_at_the_end(x):
    xs, total = [x, 2 * x, x * x], 0.0
    for k in range(5):
        try:
            total = total + xs[k] * x
        except IndexError:
            break
    return total


def divided(x):
    total = 0.0
    for k in range(-1, 2):
        try:
            total = total + x * (1 / k) + x * x
        except ZeroDivisionError:
            total = total + 5 * x * x
    return total


def suppressed(x):
    total = 0.0
    for s in ["1", "q", "3"]:
        with contextlib.suppress(ValueError):
            total = total + int(s) * x * x
    return total


@contextlib.contextmanager
def doubled(v):
    yield v * 2


def entered(x):
    with doubled(x) as y:
        z = y * x
    return z


def continued_in_a_block(x):
    total = 0.0
    for k in range(4):
        with np.errstate(all="ignore"):
            if k * x > 1.0:
                continue
            total = total + k * x
        total = total + x * x
    return total


def searched(x):
    for s in ["a", "b", "3"]:
        try:
            k = int(s)
            break
        except ValueError:
            continue
    else:
        k = 0
    return k * x * x


class TooLarge(ValueError):
    def __init__(self, value):
        super().__init__("too large")
        self.value = value


def carried_by_an_exception(x):
    def limited(k):
        if k > 1:
            raise TooLarge(k * x)
        return k * x

    total = 0.0
    for k in range(4):
        try:
            total = total + limited(k)
        except TooLarge as e:
            total = total + e.value * x
    return total


def changed_at_the_end(x):
    notes = []
    try:
        if x > 0.7:
            z = x * x
        else:
            z = x - 0.3
        notes.append("ok")
    except ArithmeticError:
        z = 0.0
    finally:
        z = z * 2.0
    return z**2 + len(notes)


EACH = [
    carried_by_an_exception, changed_at_the_end,
    returned_from_the_block, returned_from_a_loop, finally_after_a_return, raised_by_a_helper,
    parsed, remembered, up_to_the_end, popped_until_empty, left_at_the_end, divided, suppressed,
    entered, continued_in_a_block, searched,
]  # fmt: skip
TWICE = (raised_by_a_helper, remembered, returned_from_the_block)


@pytest.mark.parametrize("f", EACH, ids=lambda f: f.__name__)
def test_agrees_with_python(f):
    check_transformed(f, [0.53, 0.93], twice=f in TWICE)


def root(x):
    if x < 0:
        raise ValueError(f"{x:.1f} has no root")
    return np.sqrt(x)


def test_raise_that_depends_on_data():
    for f in (
        overt.jit(root),
        overt.jit(overt.grad(root)),
        lambda x: overt.vmap(root)(np.array([1.0, x])),
    ):
        f(4.0)
        with pytest.raises(ValueError, match="-1.0 has no root"):
            f(-1.0)
    assert overt.jit(root)(4.0) == 2.0
    assert overt.jit(overt.grad(root))(4.0) == 0.25


def test_no_warning_is_lost():
    def noisy(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("not shown", stacklevel=1)
            y = x * x
        return y

    check_transformed(noisy, [0.5])
