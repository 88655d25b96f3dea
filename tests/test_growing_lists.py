"""Lists, sets and dictionaries of which data decides what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from overt.runtime.errors import StagingError

pytestmark = pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")

ROWS = numpy.array([[0.5, -0.3, 0.9, 0.1, 0.7], [-0.5, 0.3, 0.1, 0.8, -0.6]], numpy.float32)


def the_mean(xs: Any) -> Any:
    big = []
    for v in xs:
        if v > 0.2:
            big.append(v * v)
    if not big:
        return xs[0]
    return sum(big) / len(big)


def the_extremes(xs: Any) -> Any:
    big = [v * v for v in xs if v > 0.2]
    return max(big) - 3.0 * min(big) + big[-1] * big[0]


def a_loop_over_it(xs: Any) -> Any:
    big = []
    for v in xs:
        if v > 0.2:
            big.append(v * v)
    total = 0.0
    for k, b in enumerate(big):
        total = 0.5 * total + b * (k + 1)
    return total


def an_array_of_it(xs: Any) -> Any:
    big = []
    for v in xs:
        if v > 0.2:
            big.append(v * v)
    found = np.array(big)
    return found.sum() + np.mean(found)


def two_lists(xs: Any) -> Any:
    low, high = [], []
    for v in xs:
        if v > 0.2:
            high.append(v * v)
        else:
            low.append(v * 3.0)
    return sum(high) * len(low) + sum(low) * len(high)


def a_stack(xs: Any) -> Any:
    stack = [xs[0]]
    for v in xs:
        if v > 0.2:
            stack.append(v * v)
        elif stack:
            stack.pop()
    return sum(stack)


def neighbours(xs: Any) -> Any:
    big = [v * v for v in xs if v > 0.2]
    return sum(a * b for a, b in zip(big, big[1:], strict=False)) + sum(big[:2])


def in_order(xs: Any) -> Any:
    big = sorted([v * v for v in xs if v > 0.2])
    return big[0] + 2.0 * big[-1]


def a_dictionary(xs: Any) -> Any:
    found = {}
    for i, v in enumerate(xs):
        if v > 0.2:
            found[i] = v * v
    total = found.get(3, 0.5 * xs[0])
    for k, v in found.items():
        total = total + k * v
    return total + sum(found.values())


def joined_and_repeated(xs: Any) -> Any:
    big = [v * v for v in xs if v > 0.2]
    every = [xs[1], *big, *(2 * big), 2.0]
    return every[0] + 2.0 * every[2] + sum(every) + len(every)


def merged(xs: Any) -> Any:
    found = {i: v * v for i, v in enumerate(xs) if v > 0.2}
    known = {0: xs[1], 1: xs[2]}
    known.update(found)
    both = {**found, 3: xs[0] * xs[1]}
    return known[0] + 2.0 * known[1] + sum(list(both.values())) * len(known) + sum(found) * xs[0]


def drained(xs: Any) -> Any:
    stack = [xs[0], xs[1] * xs[1], 0.4]
    total = 0.1
    while stack and total < xs[0] + xs[3]:
        total = total + stack.pop()
    return total * len(stack)


def sets(xs: Any) -> Any:
    big = {i for i, v in enumerate(xs) if v > 0.2}
    even = {0, 2, 4}
    both, less, more = big & even, even - big, big | even
    return xs[0] * len(both) + xs[1] * len(less) + xs[2] * len(more) * sum(big)


CASES = [
    the_mean, the_extremes, a_loop_over_it, an_array_of_it, two_lists, a_stack, neighbours,
    in_order, a_dictionary, joined_and_repeated, merged, sets,
    drained,
]  # fmt: skip


def in_python(f: Callable, xs: Any) -> Any:
    """The user's function as Python and NumPy run it."""
    plain = type(f)(f.__code__, {**f.__globals__, "np": numpy})
    return plain(xs)


def slopes(f: Callable, xs: Any) -> Any:
    steps = 1e-5 * numpy.eye(len(xs))
    wide = xs.astype(float)
    return [(in_python(f, wide + h) - in_python(f, wide - h)) / 2e-5 for h in steps]


@pytest.mark.parametrize("f", CASES)
def test_every_way(f: Callable) -> None:
    values = [in_python(f, xs) for xs in ROWS]
    bars = [slopes(f, xs) for xs in ROWS]
    rows = np.array(ROWS)
    run, slope = overt.jit(f), overt.jit(overt.grad(f))
    close = lambda got, want: numpy.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-3)
    close([run(xs) for xs in rows], values)
    close([slope(xs) for xs in rows], bars)
    close(overt.grad(f)(rows[0]), bars[0])
    close(overt.vmap(f)(rows), values)
    close(overt.vmap(overt.grad(f))(rows), bars)
    close(overt.grad(lambda many: overt.vmap(f)(many).sum())(rows), bars)
    along = overt.jit(lambda xs: overt.jvp(f, (xs,), (np.ones_like(xs),))[1])
    close([along(xs) for xs in rows], numpy.sum(bars, axis=1))


@pytest.mark.parametrize("f", [the_mean, a_loop_over_it, a_stack])
def test_second_derivatives(f: Callable) -> None:
    xs, direction = np.array(ROWS[0]), np.array([1.0, -2.0, 0.5, 3.0, 1.0])
    second = overt.jit(lambda xs: overt.jvp(overt.grad(f), (xs,), (direction,))[1])(xs)
    step = 1e-3 * numpy.array(direction, float)
    wide = ROWS[0].astype(float)
    want = [(a - b) / 2e-3 for a, b in zip(slopes(f, wide + step), slopes(f, wide - step),
                                           strict=True)]  # fmt: skip
    numpy.testing.assert_allclose(second, want, rtol=5e-3, atol=5e-3)


def kind_of(some: Any) -> str:
    return "list" if type(some) is list and isinstance(some, list) else "other"


def test_it_is_a_list() -> None:
    @overt.jit
    def f(xs: Any) -> Any:
        big = [v for v in xs if v > 0.2]
        assert type(big) is list and isinstance(big, list) and not isinstance(big, tuple)
        return sum(big) if kind_of(big) == "list" else 100.0 * xs[0]

    numpy.testing.assert_allclose(f(np.array(ROWS[0])), 2.1, rtol=1e-6)


def unpacked(xs: Any) -> Any:
    first, *_ = [v * v for v in xs if v > 0.2]
    return first


def stored_into(xs: Any) -> Any:
    big = [v * v for v in xs if v > 0.2]
    big[0] = xs[1]
    return sum(big)


def inserted(xs: Any) -> Any:
    big = [xs[0]]
    for v in xs:
        if v > 0.2:
            big.insert(0, v)
    return big[0]


def compared(xs: Any) -> Any:
    return xs[0] if [v for v in xs if v > 0.2] > [xs[0]] else xs[1]


def stepped(xs: Any) -> Any:
    return sum([v for v in xs if v > 0.2][::2])


@pytest.mark.parametrize("f", [unpacked, stored_into, inserted, compared, stepped])
def test_what_is_refused(f: Callable) -> None:
    for way in (overt.jit(f), overt.jit(overt.grad(f))):
        with pytest.raises(StagingError, match="only the running program knows"):
            way(np.array(ROWS[0]))


def advanced(x: Any) -> Any:
    it, total = iter([1.0, 2.0, 3.0]), 0.0
    while total < x:
        total = total + next(it)
    return total * x


def test_an_iterator_that_a_loop_advances() -> None:
    for x in (0.5, 2.0, 3.5):
        slope = advanced(x) / x
        assert overt.jit(advanced)(x) == advanced(x)
        assert overt.grad(advanced)(x) == overt.jit(overt.grad(advanced))(x) == slope


def test_no_item_there() -> None:
    with pytest.raises(IndexError, match="out of range"):
        overt.jit(lambda xs: [v for v in xs if v > 2.0][0])(np.array(ROWS[0]))


def kept_by_numbers(x):
    xs = [k * v for k, v in enumerate((x, x * x, 0.5)) if k]
    ys = [3.0 * v for v in (x, 0.25 * x, 0.0) if v]
    return len(xs) * sum(xs) + len(ys) * sum(ys)


def test_conditions_that_are_numbers():
    points = numpy.array([0.4, 0.9])
    expected = [kept_by_numbers(x) for x in points.tolist()]
    numpy.testing.assert_allclose(overt.jit(kept_by_numbers)(0.4), expected[0], rtol=1e-6)
    numpy.testing.assert_allclose(overt.vmap(kept_by_numbers)(points), expected, rtol=1e-6)
