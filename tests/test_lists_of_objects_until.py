"""Loops over lists of objects, which an iteration changes and data ends."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.ways import assert_every_path


class Source:
    def __init__(self, limit: Any) -> None:
        self.limit, self.given = limit, 0.0

    @property
    def spare(self) -> Any:
        return self.limit - self.given


def dispatched(x):
    sources = [Source(0.8), Source(0.7), Source(1.5)]
    left = x
    for source in sources:
        used = source.spare if left > source.spare else left
        source.given = used * used
        left = left - used
        if left < 1e-9:
            break
    return left + sum(s.given * (k + 1) for k, s in enumerate(sources))


def returned_early(x):
    sources = [Source(0.8), Source(0.7), Source(1.5)]
    for k, source in enumerate(sources):
        source.given += 0.5 * x * (k + 1)
        x = x - 0.5
        if x < 0.0:
            return x * source.spare + sources[0].given
    return x + sum(s.given * (k + 1) for k, s in enumerate(sources))


@pytest.mark.usefixtures("quiet_x64")
@pytest.mark.parametrize("f", [dispatched, returned_early])
def test_every_path(f: Callable[[Any], Any]) -> None:
    assert_every_path(f, (0.47, 0.9, 1.63), 1e-6)
