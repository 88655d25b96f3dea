"""Lists that grow in a loop of known length, which data ends earlier."""

import pytest

from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


def collected(x):
    items, level = [], x
    for _ in range(5):
        if level > 3.0:
            break
        items.append(level)
        level = level * 1.6
    total = 0.0
    for n, s in enumerate(items, 1):
        total += s**2 / n
    return total * n + level


def test_lists():
    assert_every_way(collected)
