"""Lists read, shortened and searched at places of data, and given to functions of NumPy's."""

from __future__ import annotations

import bisect
import itertools
from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.ways import assert_every_way


def of_copy(items: Any, k: Any) -> Any:
    stack = list(items)
    return stack[k] * stack[0]


def read_of_an_argument(x: Any) -> Any:
    return of_copy([x, x * x, 2 * x, 1.0], int(x * 1.5))


def popped(x: Any) -> Any:
    items = [x, x * x, 2 * x, 1.0]
    item = items.pop(int(x * 1.5))
    return item * items[0] + items[-1] + sum(items)


def popped_from_the_end(x: Any) -> Any:
    items = [x, x * x, 2 * x, 1.0]
    item = items.pop(-int(x * 1.5) - 1)
    return item * items[0] + items[-1]


def inserted(x: Any) -> Any:
    items = [x, x * x, 2 * x, 1.0]
    items.insert(int(x * 1.5), x * 3)
    items.insert(-int(x * 1.5), x * 5)
    items.insert(int(x * 50.0), x * 7)
    return items[0] * items[1] + items[2] * items[3] + 2 * items[-1] * items[4]


def deleted(x: Any) -> Any:
    items = [x, x * x, 2 * x, 1.0]
    del items[int(x * 1.5)]
    return items[0] * items[1] + items[2] * 2 + items[-1]


def bisected(x: Any) -> Any:
    levels = [0.0, 1.0, 2.0, 3.0]
    costs = [x * 0.1, x, 2 * x, 4 * x]
    near = bisect.bisect_left(levels, x) + bisect.bisect_right(costs, 1.5, 0, 3)
    return costs[near - 1] * x + bisect.bisect([5, 3, 1], x, key=lambda v: -v)


def largest_so_far(x: Any) -> Any:
    found = list(itertools.accumulate([x, x * x, 3.0, x], max))
    return found[1] * found[-1]


def of_numpy(x: Any) -> Any:
    items = [v * x for v in (1.0, 2.0, 0.5)]
    items.append(x * x)
    low = np.min(items) + np.argmax(items) + np.mean(np.sin(items))
    return low + np.dot(items, items) + np.std(items) + np.cumsum([x, 2 * x])[1]


def of_a_deque(x: Any) -> Any:
    last: Any = deque(maxlen=3)
    for i in range(5):
        last.append(x * i)
    return np.sum(np.stack(last) ** 2) + np.array(last)[0] * x


@pytest.mark.parametrize(
    "f",
    [
        read_of_an_argument,
        popped,
        popped_from_the_end,
        inserted,
        deleted,
        bisected,
        largest_so_far,
        of_numpy,
        of_a_deque,
    ],
)
def test_lists_at_places_of_data(f: Any) -> None:
    assert_every_way(f)
