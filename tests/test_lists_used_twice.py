"""A list of active values that several functions of arrays read: its cotangents are added.

Oracles: the same in NumPy and finite differences of it, and a loop over the points for `vmap`.
"""

from __future__ import annotations

import itertools
import types

import numpy
import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_way


def array_and_mean_of_array(x):
    big = [x, x * x, 3.0 * x]
    return np.array(big).sum() + np.mean(np.array(big)) ** 2


def sum_and_mean(x):
    big = [x, x * x, 3.0 * x]
    return np.sum(big) * np.mean(big)


def nested_lists(x):
    big = [[x, x * x], [3.0 * x, 2.0]]
    rows = np.stack([np.array(row) for row in big])
    return np.array(big).sum() + np.mean(np.array(big)[0] ** 2) + np.sum(big) * np.max(rows)


def lists_of_arrays(x):
    big = [x * np.ones(3), x * np.arange(3.0)]
    return np.sum(np.stack(big) ** 2) + np.sum(np.concatenate(big) ** 3) + np.sum(big[0] * big[1])


def lists_in_a_dictionary(x):
    p = {"a": [x, 2 * x], "b": (x, x * x)}
    return np.array(p["a"]).sum() * np.array(p["b"]).sum() + np.dot(p["a"], p["b"])


def lists_carried_by_a_loop(x):
    s = [x, 2.0 * x]
    for _ in range(3):
        a = np.array(s)
        s = [np.sum(a * a) * 0.1, np.sum(np.array(s)) * 0.2 + s[0]]
    return np.array(s).sum() + np.prod(np.array(s))


def lists_joined_twice(x):
    a, b = [x, 2.0 * x], [x * x]
    joined = np.concatenate([a, b, a])
    return np.sum(joined**2) + np.hstack([a, b]).sum() * np.concatenate((b, a))[0]


def parts(x):
    return [x, x * x, 2.0 * x]


def list_of_a_helper(x):
    p = parts(x)
    chosen = np.where(np.array([True, False, True]), np.array(p), 1.0)
    return np.array(p).sum() * np.array(p).mean() + np.sum(p) * np.mean(p) + chosen.sum()


@pytest.mark.parametrize(
    "f",
    [
        array_and_mean_of_array, sum_and_mean, nested_lists, lists_of_arrays,
        lists_in_a_dictionary, lists_carried_by_a_loop, lists_joined_twice, list_of_a_helper,
    ],
)  # fmt: skip
def test_every_way(f):
    in_numpy = types.FunctionType(f.__code__, {**f.__globals__, "np": numpy})
    assert_every_way(f, plain=in_numpy)


READERS = {
    "array": lambda m, l: m.array(l).sum() * 1.5,
    "asarray": lambda m, l: m.prod(m.asarray(l)),
    "sum": lambda m, l: m.sum(l),
    "max": lambda m, l: m.max(l),
    "stack": lambda m, l: m.sum(m.stack(l) ** 2),
    "dot": lambda m, l: m.dot(l, m.array([1.0, 2.0, 3.0])),
    "where": lambda m, l: m.sum(m.where(m.array([True, False, True]), l, 2.0)),
    "einsum": lambda m, l: m.einsum("i,i->", l, m.array([1.0, 2.0, 3.0])),
    "std": lambda m, l: m.std(l),
    "concatenate": lambda m, l: m.sum(m.concatenate([l, l]) ** 2),
    "matmul": lambda m, l: m.matmul(m.ones((2, 3)), l)[0],
    "item": lambda m, l: l[1] * 1.0,
    "sum of Python": lambda m, l: sum(l),
}


@pytest.mark.parametrize("first, second", list(itertools.combinations_with_replacement(READERS, 2)))
@pytest.mark.usefixtures("x64")
def test_a_parameter_read_by_two_functions(first, second):
    def f(m, items):
        return READERS[first](m, items) + 0.7 * READERS[second](m, items)

    for kind in (list, tuple):
        at = [1.3, 1.69, 3.9]
        want = []
        for k in range(3):
            high, low = list(at), list(at)
            high[k] += 1e-6
            low[k] -= 1e-6
            want.append((f(numpy, kind(high)) - f(numpy, kind(low))) / 2e-6)
        got = overt.grad(lambda items: f(np, items))(kind(at))
        assert type(got) is kind
        assert [float(g) for g in got] == pytest.approx(want, rel=1e-5, abs=1e-6)


MAKERS = {
    "tuple": lambda x: (x, x * x, 3.0 * x),
    "comprehension": lambda x: [x * k for k in (1.0, 2.0, 3.5)],
    "with an integer": lambda x: [x, 2, x * x],
}


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.usefixtures("x64")
def test_forward_of_lists_that_are_made(made):
    make = MAKERS[made]
    for read in READERS.values():
        f = lambda m, x: read(m, make(x)) * read(m, make(x))  # noqa: B023
        want = (f(numpy, 1.3 + 1e-6) - f(numpy, 1.3 - 1e-6)) / 2e-6
        dots = overt.jvp(lambda x: f(np, x), (1.3,), (1.0,))[1], overt.grad(lambda x: f(np, x))(1.3)  # noqa: B023
        assert [float(d) for d in dots] == pytest.approx([want] * 2, rel=1e-5, abs=1e-6)
