"""Objects made anew in each iteration or branch, changed, and differentiated inside `jit`.

The oracle is finite differences of plain Python in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests.numeric import slope

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def grown(self, k):
        if self.b < 0.1:
            return type(self)(self.a * k, 0.0 * self.b)
        return type(self)(self.a * k, self.b + k)


@dataclass
class Data:
    a: Any
    b: Any

    def grown(self, k):
        if self.b < 0.1:
            return Data(self.a * k, 0.0 * self.b)
        return Data(self.a * k, self.b + k)


def branch_after_branch(kind, x):
    c = kind(x * 1.3, x) if x < 0.1 else kind(x + 1.3, x)
    c = kind(c.a * c.a, x) if x < 0.2 else kind(c.a + x * c.a, x)
    c.a = c.a - 1.0
    return c.a


def twice_grown(kind, x):
    c = kind(x, 0.2)
    for _ in range(2):
        c = c.grown(1.3)
        c.a = c.a - x
    return c.a * c.b


def list_made_anew(kind, x):
    cells = [kind(x, 1.3), kind(x * x, 2.0)]
    for _ in range(3):
        cells = [kind(c.a * 1.3, c.b + x) for c in cells]
        left, right = cells
        flow = left.a - right.a
        if flow > 0:
            left.a, right.a = left.a - flow, right.a + flow
        else:
            right.a += 0.5 * flow
    return cells[0].a * cells[1].b


def long_list_made_anew(kind, x):
    cells = [kind(x, 1.3)]
    for _ in range(80):
        cells = [kind(cells[0].a * 0.99, cells[0].b)]
        cells[0].a = cells[0].a + 0.01 * x
    return cells[0].a


def rows(x):
    for v in (x, x * x, 0.5):
        yield SimpleNamespace(a=v, b=v * x)


def rows_of_arrays(v, w):
    for a, b in zip(v, w, strict=True):
        yield SimpleNamespace(a=a, b=a * b)


def from_a_generator(kind, x):
    v = np.array([1.0, 2.0, 3.0]) * x if not isinstance(x, float) else [x, 2.0 * x, 3.0 * x]
    total = 0.0
    for row in rows_of_arrays(v, v):
        row.gap = row.b - row.a
        total = total + row.gap**2
    for row in rows(x):
        row.a = row.a * row.b
        total = total + row.a
    return total


@pytest.mark.parametrize("kind", [Plain, Data])
@pytest.mark.parametrize(
    "f",
    [branch_after_branch, twice_grown, list_made_anew, long_list_made_anew, from_a_generator],
)
def test_objects_made_anew(f, kind, x64):
    def of(x):
        return f(kind, x)

    compiled = overt.jit(overt.grad(of))
    for x in (0.7, 1.2):
        expected = slope(of, x)
        numpy.testing.assert_allclose(overt.grad(of)(x), expected, rtol=1e-6)
        numpy.testing.assert_allclose(compiled(x), expected, rtol=1e-6)
