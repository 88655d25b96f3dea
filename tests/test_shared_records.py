"""Second derivatives of recorded loops with values that stay what they were before the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ways import assert_every_way


class Trace:
    """Keeps a value, so that derivatives are recorded."""

    last: Any = None


def handed_on(x: Any) -> Any:
    trace = Trace()
    trace.last = x
    base, power = x * 1.0, x
    for _ in range(3):
        base, power = base, base * power
    return power * trace.last


def in_a_tuple(x: Any) -> Any:
    trace = Trace()
    trace.last = x
    state = (0.5, x * x, x)
    total = 0.0
    for _ in range(2):
        level, rate, value = state
        total = total + value * value * rate
        level = level + rate
        state = (level, rate, level * rate)
    return total + state[2]


def until_large(x: Any) -> Any:
    trace = Trace()
    trace.last = x
    rate, level = x + 1.0, x * x
    while level < 9.0:
        rate, level = rate, level * rate + x
    return level * trace.last


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
@pytest.mark.parametrize("f", [handed_on, in_a_tuple, until_large])
def test_every_way(f: Callable[[Any], Any]) -> None:
    assert_every_way(f)
