"""What refusals and errors say: the user's file and line, its text, the reason and a way out."""

from __future__ import annotations

import re

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import Refusal

HERE = __file__


async def asynchronous(x):
    return x


def captured_too_early(a, v):
    v0 = v[0]

    def inner(x):
        return x * v0

    v[0] = a
    return inner(a)


def changed_default(x):
    def inner(y, seen=[]):  # noqa: B006
        seen.append(y)
        return seen[0]

    return inner(x)


@pytest.mark.parametrize(
    ("function", "args", "text", "marked"),
    [
        (asynchronous, (1.0,), "async def asynchronous(x):", ""),
        (captured_too_early, (1.0, numpy.ones(3)), "def inner(x):", "inner"),
        (changed_default, (1.0,), "def inner(y, seen=[]):", "[]"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_refusals_name_the_line(function, args, text, marked):
    with pytest.raises(Refusal) as caught:
        overt.grad(function)(*args)
    lines = str(caught.value).splitlines()
    place = re.fullmatch(rf"{re.escape(HERE)}:(\d+): .*", lines[0])
    assert place is not None
    with open(HERE) as file:
        assert file.read().splitlines()[int(place[1]) - 1].strip().startswith(text)
    assert lines[1].strip().startswith(text)
    if marked:
        start = lines[2].index("^")
        assert lines[1][start : len(lines[2])] == marked
    assert lines[-1].endswith(".")


def grown(y):
    while np.sum(y) < 10.0:
        y = np.concatenate([y, y])
    return y


def lengthened(x):
    parts, total = (), 0.0
    while total < x:
        parts, total = (*parts, total), total + 1.0
    return total


@pytest.mark.parametrize(("function", "x"), [(grown, numpy.ones(3)), (lengthened, 2.0)])
def test_loops_are_named_by_the_users_line(function, x):
    with pytest.raises(TypeError, match=rf"loop at {re.escape(HERE)}:\d+: variable"):
        overt.jit(function)(x)


def out_of_range(x):
    xs = [x, x]
    return xs[5]


def unpacked_wrongly(x):
    a, _ = [x, x, x]
    return a


def added_to_text(x):
    y = x * 2.0
    return y + "a"


def raised(x):
    if x > 0.0:
        raise RuntimeError("mine")
    return x


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (out_of_range, IndexError, r"return xs\[5\]"),
        (unpacked_wrongly, ValueError, r"a, _ = \[x, x, x\]"),
        (added_to_text, TypeError, r'return y \+ "a"'),
        (raised, RuntimeError, "mine|if x > 0.0:"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_errors_of_the_users_own_carry_the_line(function, error, text):
    forward = lambda f: lambda x: overt.jvp(f, (x,), (1.0,))
    for way in (overt.grad, overt.jit, forward, lambda f: lambda x: overt.vmap(f)(np.array([x]))):
        with pytest.raises(error) as caught:
            way(function)(1.0)
        told = [note for note in caught.value.__notes__ if HERE in note]
        assert any(re.search(text, note) for note in told)
