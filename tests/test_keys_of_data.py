"""Dictionaries and tables of lists read and stored into by numbers that only data decides."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from ways import assert_every_path, assert_every_way

import overt
import overt.numpy as np
from overt.runtime.config import enable_x64
from overt.runtime.errors import StagingError

pytestmark = pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")

WEIGHTS = {0: 1.5, 1: 2.5, 2: -1.0}


def read(x: Any) -> Any:
    d = {0: x, 1: x * x, 2: 2.0 * x}
    return d[int(x * 1.5)] * WEIGHTS[int(x)] + 0.5 * {False: x, True: x**3}[bool(x > 1.0)]


def counted(x: Any) -> Any:
    counts, sums = {0: 0, 1: 0, 2: 0}, {0: 0.0, 1: 0.0, 2: 0.0}
    for v in [x, 0.5 * x, x * x]:
        label = int(v) % 3
        counts[label] += 1
        sums[label] += v * v
    return counts[0] * x + counts[1] * x * x + sums[0] * sums[1] + sums[2]


def stored(x: Any) -> Any:
    d = {0: 1.0, 1: 2.0, 2: x}
    d[int(x)] = x * x
    d[int(x * 0.9)] *= 3.0
    return d[0] + d[1] * x + sum(d.values()) * len(d)


def by_extreme(x: Any) -> Any:
    d = {1: x, 2: x * x, 3: 1.2 * x}
    k = max(d, key=d.get)
    return d[k] * k


def decoded(x: Any) -> Any:
    choice, score = [], [x, 0.5 * x * x]
    for t in range(3):
        row, new = [], []
        for j in range(2):
            each = [score[i] + 0.3 * x * ((i + j + t) % 3) for i in range(2)]
            best = 0 if each[0] > each[1] else 1
            row.append(best)
            new.append(each[best] * 1.1)
        choice.append(row)
        score = new
    s = 0 if score[0] > score[1] else 1
    best_score, path = score[s], [s]
    for row in reversed(choice):
        s = row[s]
        path.append(s)
    return best_score + 0.01 * sum(path) * x


def memoized(x: Any) -> Any:
    memo = {0: x, 1: x * x}
    for k in range(2, 5):
        memo[k] = memo[k - 1] * x + memo[k - 2]
    return memo[4] * memo[int(x)]


def counter(x: Any) -> Any:
    c = collections.Counter()
    for i, v in enumerate([x, x * x, 0.5 * x]):
        c[i % 2] += v * v
    return c[0] * c[1] + c["nothing"]


def keys_are_numbers(x: Any) -> Any:
    d = {1: x, 2: x * x}
    first, second = list(d)
    return (sum(d) + max(d, key=d.get) + sorted(d)[0] + first * second) * x


@pytest.mark.parametrize(
    "f", [read, counted, stored, by_extreme, memoized, counter, keys_are_numbers]
)
def test_every_way(f: Callable) -> None:
    assert_every_way(f, (0.63, 1.87))


def test_rows_of_tables() -> None:
    with enable_x64(True):
        assert_every_path(decoded, (0.63, 1.87), 1e-6)


def test_a_missing_key_is_an_error_when_the_program_runs() -> None:
    f = overt.jit(lambda x: {0: x, 1: 2.0 * x}[int(x)])
    assert f(1.5) == 3.0
    with pytest.raises(KeyError):
        f(2.5)


def new_keys(xs: Any) -> Any:
    d = {0: 0.0}
    for v in xs:
        d[int(v)] = v
    return sum(d.values())


def test_keys_that_are_new_are_refused_or_an_error() -> None:
    with pytest.raises((StagingError, KeyError)):
        overt.jit(new_keys)(np.array([1.5, 2.5]))


def test_counters_are_containers() -> None:
    f = lambda c: c["a"] * c["b"] ** 2
    given = collections.Counter(a=2.0, b=3.0)
    bars = overt.jit(overt.grad(f))(given)
    assert type(bars) is collections.Counter
    numpy.testing.assert_allclose([bars["a"], bars["b"]], [9.0, 12.0])
