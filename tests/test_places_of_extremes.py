"""`min`, `max` and `sorted` of places, by keys that data gives, in every transformation."""

import pytest

from tests.ways import assert_every_way

pytestmark = pytest.mark.usefixtures("quiet_x64")


def earliest_first(x):
    finish = [x, 0.9, 1.13]
    for job in (0.52, 0.97 * x):
        k = min(range(3), key=lambda i: finish[i])
        finish[k] = finish[k] + job
    return max(finish) * 2.0 + finish[0] * finish[1]


def largest_and_order(x):
    xs = [x, 1.0, 2.0 * x]
    i = max(range(3), key=xs.__getitem__)
    first, *_, last = sorted(range(3), key=lambda k: -xs[k])
    return xs[i] * (i + 1) + xs[first] * xs[last]


@pytest.mark.parametrize("f", [earliest_first, largest_and_order])
def test_places(f):
    assert_every_way(f)
