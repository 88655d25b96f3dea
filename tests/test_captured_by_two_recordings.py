"""Second derivatives, compiled, of branches whose variables get other values afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import overt
from overt.runtime.config import enable_x64


class Source:
    def __init__(self, limit: Any) -> None:
        self.limit, self.given = limit, 0.0


def first_given(x):
    sources = [Source(0.8), Source(0.7)]
    left = x
    for source in sources:
        source.given = (source.limit if left > source.limit else left) ** 2
        left = left - 0.3
        if left < 1e-9:
            break
    return sources[0].given


def all_given(x):
    sources = [Source(0.8), Source(0.7), Source(1.5)]
    left = x
    for source in sources:
        used = source.limit if left > source.limit else left
        source.given = used * used
        left = left - used
        if left < 1e-9:
            break
    return left + sum(s.given * (k + 1) for k, s in enumerate(sources))


@pytest.mark.parametrize(
    ("f", "x", "second"), [(first_given, 0.47, 2.0), (all_given, 0.47, 2.0), (all_given, 0.9, 4.0)]
)
@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
def test_second_derivative(f: Callable[[Any], Any], x: float, second: float) -> None:
    with enable_x64(True):
        twice = overt.grad(overt.grad(f))
        assert float(twice(x)) == pytest.approx(second)
        assert float(overt.jit(twice)(x)) == pytest.approx(second)
