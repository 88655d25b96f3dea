"""`remove`, `index` and `count` of lists whose items are known only when the program runs."""

from __future__ import annotations

import pytest

import overt
import overt.numpy as np
from tests.ways import assert_every_path

pytestmark = pytest.mark.usefixtures("quiet_x64")


def constant_removed(x):
    xs = [x, 1.0, x * x, 1.0]
    xs.remove(1.0)
    xs.remove(1.0)
    return xs[0] * xs[1] * len(xs)


def largest_removed(x):
    xs = [x, 0.5, x * x]
    top = max(xs)
    xs.remove(top)
    return sum(xs) * top


def removed_in_a_loop(x):
    xs, total = [x, 0.5, x * x, 2.0], 0.0
    for k in range(3):
        low = min(xs)
        xs.remove(low)
        total = total + low * (k + 1)
    return total * xs[0]


def place_of_the_smallest(x):
    xs = (x, 0.5, x * x, 0.5)
    k = xs.index(min(xs))
    return x * k + xs[k] + xs.count(0.5)


def place_by_number(x):
    k = 0
    while k * x < 2.0:
        k += 1
    return x * [2, 3, 4, 7].index(k) + [7, 3, 7].count(k)


def place_from_here_on(x):
    xs = [x, 0.5, x * x, 0.5]
    return x * xs.index(0.5, 2) + xs.index(x * x, 1, 3)


def dictionaries_and_sets(x):
    names, found = {"a", "b"}, {"a": x}
    names.remove("b")
    return found.get("b", x * x) + found.get("c", 2.0) * len(names)


FUNCTIONS = [
    constant_removed, largest_removed, removed_in_a_loop, place_of_the_smallest, place_by_number,
    place_from_here_on, dictionaries_and_sets,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_path(f):
    assert_every_path(f, (0.3, 0.6, 0.9), rtol=1e-8)


def test_nothing_to_find():
    def find(x):
        return [x, 2.0].index(1.0)

    def remove(x):
        xs = [x, 2.0]
        xs.remove(1.0)
        return xs[0]

    assert int(overt.jit(find)(1.0)) == 0
    for f in (find, remove):
        for run in (f, overt.jit(f)):
            with pytest.raises(ValueError, match="not in list"):
                overt.block_until_ready(run(3.0))
    with pytest.raises(ValueError, match="not in list"):
        overt.grad(remove)(3.0)


def test_a_dictionary_of_which_nothing_is_read():
    def f(x, n):
        return {2: x, 3: np.sin(x)}.get(n, 0.0) * 2.0

    assert [float(overt.grad(f)(0.0, n)) for n in (2, 3, 4)] == [2.0, 2.0, 0.0]
