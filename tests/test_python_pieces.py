"""Tables of results, partials of partials, deques that turn, endless things sliced, texts read."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.ways import assert_every_way


def remembering(fun: Callable) -> Callable:
    results: dict[Any, Any] = {}

    @functools.wraps(fun)
    def run(*key: int) -> Any:
        if key not in results:
            results[key] = fun(*key)
        return results[key]

    return run


def a_table_of_results(x: Any) -> Any:
    @remembering
    def chebyshev(n: int) -> Any:
        if n < 2:
            return (1.0, x)[n]
        return 2.0 * x * chebyshev(n - 1) - chebyshev(n - 2)

    return chebyshev(4) + chebyshev(3)


def blend(low: Any, high: Any, at: Any) -> Any:
    return low * (1.0 - at) + high * at * at


def partials_of_partials(x: Any) -> Any:
    half = functools.partial(blend, x, at=0.5)
    parts = [half, functools.partial(half, x * x), functools.partial(half, at=x)]
    whole = functools.partial(functools.partial(parts[1], at=0.25), at=x * 0.1)
    return parts[0](2.0) * parts[1]() + parts[2](high=x) + whole()


def a_deque_that_turns(x: Any) -> Any:
    last = deque([x, 1.0], maxlen=3)
    total = 0.0
    for k in range(3):
        last.append(last[0] * last[-1] + k)
        total = total + last[1] * x
    last.rotate(-1)
    return total * last.popleft() + last[0]


def doublings(x: Any) -> Iterator[Any]:
    v = x
    while True:
        yield v
        v = 2.0 * v + 1.0


def a_slice_advanced(x: Any) -> Any:
    some = itertools.islice(doublings(x), 1, 5)
    total = next(some)
    for k, v in enumerate(some, 2):
        total = total + v * v / k
    return total


def a_text_read(x: Any) -> Any:
    text, i = "a3bc12a", 0
    counts: Counter[str] = Counter()
    while i < len(text):
        letter, digits = text[i], ""
        i += 1
        while i < len(text) and text[i].isdigit():
            digits += text[i]
            i += 1
        counts[letter] += int(digits or 1)
    return sum(n * x ** (k + 1.0) for k, (_, n) in enumerate(sorted(counts.items())))


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize("f", [
    a_table_of_results, partials_of_partials, a_deque_that_turns, a_slice_advanced, a_text_read,
])  # fmt: skip
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f)
