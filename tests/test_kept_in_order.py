"""Lists that `heapq` and `bisect` keep in order, and stacks of tuples."""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from heapq import heappop, heappush

import numpy as np
import pytest

import overt
from tests.transformed import check_transformed


def by_priority(x):
    heap, total, n = [], 0.0, 1
    for k, v in ((3, x), (1, x * x), (2, 5 * x)):
        heapq.heappush(heap, (k, v))
    while heap:
        k, v = heapq.heappop(heap)
        total = total + n * v * k
        n += 1
    return total


def cheapest_path(x):
    roads = {"a": [("b", 1.0, x), ("c", 4.0, x * x)], "b": [("c", 2.0, 3 * x)], "c": []}
    far, cost, todo = {"a": 0.0}, {"a": 0.0}, [(0.0, "a")]
    while todo:
        d, here = heapq.heappop(todo)
        for there, length, price in roads[here]:
            if d + length < far.get(there, 1e9):
                far[there] = d + length
                cost[there] = cost[here] + price
                heapq.heappush(todo, (d + length, there))
    return cost["c"] * x


def two_largest(x):
    heap = []
    for v in (3 * x, x, x * x, 5 * x):
        heappush(heap, v)
        if len(heap) > 2:
            heappop(heap)
    return heap[0] * heap[1] + sum(heapq.nlargest(2, [x, 3 * x, x * x])) * min(heap)


def merged_by_weight(x):
    heap, cost = [0.1 * x, 0.4, 0.2 * x, 0.3], 0.0
    heapq.heapify(heap)
    while len(heap) > 1:
        a, b = heappop(heap), heappop(heap)
        cost = cost + a + b
        heappush(heap, a + b)
    return cost


def replaced(x):
    heap = [(2, x), (5, x * x)]
    a = heapq.heappushpop(heap, (1, 3 * x))
    b = heapq.heapreplace(heap, (9, x * x * x))
    return a[1] * b[1] + heap[0][1] * heap[1][1]


def inserted(x):
    ks, sure = [0.1, 0.9], [(1, x), (4, x * x)]
    bisect.insort(ks, x)
    bisect.insort(sure, (2, 5 * x))
    return sum(k * i for i, k in enumerate(ks)) * sure[1][1]


def stack_of_pairs(x):
    stack, total = [(x, 0)], 0.0
    while stack:
        v, depth = stack.pop()
        total = total + v * v
        if depth < 2:
            stack.append((v / 2, depth + 1))
            stack.append((v * x, depth + 1))
    return total


def moving_average(x):
    window, total = deque(maxlen=3), 0.0
    for k in range(6):
        window.append(x * k)
        total = total + sum(window) / len(window)
    return total * x


def split_by_place(x):
    low, high = [1.0], [1.0]
    for k, y in enumerate([0.2, 1.5, 3.0]):
        (low if k % 2 else high).append(y * x)
    both = {"low": [0.0, x], "high": [x, 0.0]}
    (both["low"] if len(low) > 5 else both["high"])[1] += x * x
    return sum(low) * sum(high) * both["high"][1]


EACH = [
    moving_average, split_by_place, by_priority, cheapest_path, two_largest, merged_by_weight,
    replaced, inserted, stack_of_pairs,
]  # fmt: skip


@pytest.mark.parametrize("f", EACH, ids=lambda f: f.__name__)
def test_agrees_with_python(f):
    check_transformed(f, [0.53, 0.97, 0.21], twice=f is not cheapest_path)


def test_a_loop_whose_test_changes_no_variable_ends():
    def doubled(x):
        rest = [1, 2, 3]
        pop = rest.pop
        while rest:
            x = x * pop()
        return x

    assert overt.jit(doubled)(2.0) == 12.0

    def asked_by_method(x):
        rest = [1, 2, 3]
        pop, size = rest.pop, rest.__len__
        while size():
            x = x * pop()
        return x

    assert overt.jit(asked_by_method)(2.0) == 12.0
    assert overt.jit(overt.grad(asked_by_method))(2.0) == 6.0


def test_changes_in_a_condition_are_refused():
    def asked(x):
        heap = [3.0, 1.0]
        if heapq.heappop(heap) > 2.0:
            x = x * x
        return x * heap[0]

    with pytest.raises(overt.errors.Refusal, match="`heappop` changes a list in a condition"):
        overt.grad(asked)(1.0)


WEIGHTS = np.array([1.0, 2.0])


def test_arrays_of_the_module_are_no_hindrance():
    def weighed(x):
        return (WEIGHTS * x).sum()

    assert overt.grad(weighed)(2.0) == 3.0


def test_a_list_chosen_by_a_condition_is_not_changed_under_two_names():
    def chosen(x):
        low, high = [1.0], [x]
        if x > 0:
            side = low
        else:
            side = high
        side.append(x)
        return sum(low) * sum(high)

    with pytest.raises(overt.errors.Refusal, match="'side' may be"):
        overt.jit(chosen)(1.0)
