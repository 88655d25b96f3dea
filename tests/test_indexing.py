"""Indexing: any index NumPy accepts, reads and writes, their derivatives, batching, staging."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numeric import assert_same, check_batch, check_derivatives

import overt
import overt.runtime.numpy as np
from overt.runtime.aval import aval_of
from overt.runtime.errors import StagingError
from overt.runtime.numpy.indexing import add_at, erase, getitem, place, set_item, taken, withdrawn
from overt.runtime.record import vjp_call
from overt.runtime.staging import stage

pytestmark = pytest.mark.usefixtures("x64")


def staged(f: Any, *args: Any) -> Any:
    """Run `f` as one compiled program."""
    values = [np.asarray(a) for a in args]
    many = []

    def program(*xs: Any) -> list[Any]:
        out = f(*xs)
        many.append(isinstance(out, tuple))
        return list(out) if many[-1] else [out]

    results = stage(program, [aval_of(x) for x in values]).run(values)
    return results if many[-1] else results[0]


@st.composite
def slices(draw: Any, n: int) -> slice:
    ends = st.none() | st.integers(-n - 2, n + 2)
    return slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, 3, -1, -2])))


@st.composite
def arrays_and_indices(draw: Any, unique: bool = False) -> tuple[Any, Any]:
    """An array of up to three axes and an index into it."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    x = numpy.random.default_rng(draw(st.integers(0, 99))).normal(size=shape)
    common = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    index: list[Any] = []
    axis = 0
    ellipsis = False
    while axis < len(shape) and draw(st.integers(0, 9)) > 0:
        n = shape[axis]
        kind = draw(st.sampled_from(["int", "slice", "array", "mask", "none", "dots"]))
        if kind == "int":
            index.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            index.append(draw(slices(n)))
        elif kind == "array":
            numbers = st.integers(-n, n - 1)
            count = int(numpy.prod(common))
            flat = draw(st.lists(numbers, min_size=count, max_size=count))
            index.append(numpy.array(flat, int).reshape(common))
        elif kind == "mask" and not any(isinstance(i, numpy.ndarray) for i in index):
            bits = draw(st.lists(st.booleans(), min_size=n, max_size=n))
            index.append(numpy.array(bits))
            common = (int(sum(bits)),) if sum(bits) else (1,)
        elif kind == "dots" and not ellipsis:
            ellipsis = True
            index.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis))
            if axis < len(shape):
                index.append(slice(None))
                axis += 1
            continue
        else:
            index.append(None)
            continue
        axis += 1
    index = index[:5]
    try:
        x[tuple(index)]
    except IndexError:
        index = [0]
    return x, tuple(index)


@given(arrays_and_indices())
@settings(max_examples=60)
def test_reads_as_numpy(case: Any) -> None:
    x, index = case
    assert_same(np.asarray(x)[index], x[index])


@given(arrays_and_indices())
@settings(max_examples=40)
def test_staged_reads_and_writes_as_numpy(case: Any) -> None:
    x, index = case
    expected = x.copy()
    value = numpy.arange(numpy.size(x[index]), dtype=float).reshape(numpy.shape(x[index]))
    expected[index] = value
    read, written, filled = staged(
        lambda x, v: (x[index], set_item(x, index, v), set_item(x, index, 7.0)), x, value
    )
    assert_same(read, x[index])
    assert_same(written, expected)
    expected[index] = 7.0
    assert_same(filled, expected)


@given(arrays_and_indices())
@settings(max_examples=25)
def test_writes_as_numpy(case: Any) -> None:
    x, index = case
    value = numpy.random.default_rng(0).normal(size=numpy.shape(x[index]))
    expected = x.copy()
    expected[index] = value
    assert_same(set_item(np.asarray(x), index, value), expected)
    assert_same(set_item(np.asarray(x), index, value[None]), expected)  # NumPy allows it
    accumulated = x.copy()
    numpy.add.at(accumulated, index, value)
    assert_same(np.asarray(x).at[index].add(value), accumulated)


@given(arrays_and_indices())
@settings(max_examples=15)
def test_derivatives(case: Any) -> None:
    x, index = case
    value = numpy.random.default_rng(0).normal(size=numpy.shape(x[index]))
    check_derivatives(lambda x: x[index] ** 2, x)
    check_derivatives(lambda x, v: set_item(x, index, v * v) * x, x, value)


@given(arrays_and_indices())
@settings(max_examples=10)
def test_rules_of_generated_code(case: Any) -> None:
    """`place`, `erase` and `taken` are the transposes that the rules say."""
    x, index = case
    value = numpy.random.default_rng(0).normal(size=numpy.shape(x[index]))
    g = numpy.random.default_rng(1).normal(size=x.shape)
    xs, vs, gs = np.asarray(x), np.asarray(value), np.asarray(g)
    dots = numpy.sum(numpy.asarray(place(vs, xs, index)) * g)
    assert_same(dots, numpy.sum(value * g[index]))
    # out = set_item(x, index, v) is linear in both: <g, out> = <erase(g), x> + <taken(g), v>
    total = numpy.sum(numpy.asarray(erase(gs, index)) * x)
    total += numpy.sum(numpy.asarray(taken(gs, index, vs)) * value)
    assert_same(total, numpy.sum(g * numpy.asarray(set_item(xs, index, vs))))


def test_second_order() -> None:
    x = numpy.random.default_rng(3).normal(size=(4, 3))
    rows = numpy.array([0, 2, 2])
    check_derivatives(lambda x: np.sin(x)[rows] * x[0], x, order=2)
    check_derivatives(lambda x: set_item(x * x, (slice(1, 3), 0), x[0, :2] ** 2), x, order=2)
    check_derivatives(lambda x: np.square(x).at[rows].add(x[1] ** 2), x, order=2)


@pytest.mark.parametrize("how", ["multiply", "min", "max", "divide", "power"])
def test_other_updates(how: str) -> None:
    x = numpy.random.default_rng(3).uniform(0.5, 1.5, size=(4, 2))
    v = numpy.random.default_rng(4).uniform(0.5, 1.5, size=(3, 2))
    rows = numpy.array([0, 2, 2])
    expected = x.copy()
    ufunc = {"min": "minimum", "max": "maximum"}.get(how, how)
    getattr(numpy, ufunc).at(expected, rows, v)
    assert_same(getattr(np.asarray(x).at[rows], how)(v), expected)
    check_derivatives(lambda x, v: getattr(np.asarray(x).at[rows], how)(v), x, v)


def test_modes() -> None:
    x = np.arange(3.0)
    far = np.array([1, 7])
    assert_same(x.at[far].get(mode="fill"), numpy.array([1.0, numpy.nan]))
    assert_same(x.at[far].get(mode="fill", fill_value=-1), numpy.array([1.0, -1.0]))
    assert_same(x.at[far].get(mode="clip"), numpy.array([1.0, 2.0]))
    assert_same(x.at[7].get(), numpy.array(2.0))
    assert_same(x.at[-7].get(), numpy.array(0.0))
    assert_same(x.at[7].get(mode="fill", fill_value=-1), numpy.array(-1.0))
    assert_same(x.at[far].set(5.0), numpy.array([0.0, 5.0, 2.0]))
    assert_same(x.at[far].set(5.0, mode="clip"), numpy.array([0.0, 5.0, 5.0]))
    assert_same(x.at[7].set(5.0), numpy.arange(3.0))
    assert_same(x.at[np.array([0, 0])].apply(lambda y: y + 1), numpy.array([2.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match="unknown mode"):
        x.at[0].set(1.0, mode="bounce")


def test_index_errors() -> None:
    x = np.zeros((3, 2))
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        x[5]
    with pytest.raises(IndexError, match="index -3 is out of bounds for axis 1 with size 2"):
        x[0, -3]
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        x[numpy.array([0, 9])]
    with pytest.raises(IndexError, match="too many indices"):
        x[0, 0, 0]
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[numpy.array([True, False])]
    with pytest.raises(IndexError, match="integer or boolean"):
        x[numpy.array([0.5])]
    with pytest.raises(IndexError, match="only integers"):
        x["name"]
    with pytest.raises(IndexError, match="out of bounds"):
        staged(lambda x: x[5], numpy.zeros(3))
    with pytest.raises(ValueError, match="cannot store"):
        set_item(x, 0, numpy.zeros(5))


def test_symbolic_indices() -> None:
    x = numpy.arange(5.0)
    for k in (0, 3, -1, -5, 7, -9):
        clamped = x[min(max(k + 5 if k < 0 else k, 0), 4)]
        stored = x.copy()
        if -5 <= k < 5:
            stored[k] = 10.0
        read, written = staged(lambda x, k: (x[k], set_item(x, k, 10.0)), x, k)
        assert_same(read, clamped, what=f"x[{k}]")
        assert_same(written, stored, what=f"x[{k}] = 10")


def test_symbolic_masks() -> None:
    x = numpy.array([1.0, -2.0, 3.0, -4.0])
    y = numpy.array([[1.0, 2.0], [3.0, -4.0]])
    result = staged(lambda x: set_item(x, x < 0, 0.5), x)
    assert_same(result, numpy.array([1.0, 0.5, 3.0, 0.5]))
    rows = staged(lambda y, v: set_item(y, y[:, 1] < 0, v), y, numpy.array([7.0, 8.0]))
    assert_same(rows, numpy.array([[1.0, 2.0], [7.0, 8.0]]))
    added = staged(lambda x: x.at[x < 0].add(10.0), x)
    assert_same(added, numpy.array([1.0, 8.0, 3.0, 6.0]))
    with pytest.raises(StagingError, match="where"):
        staged(lambda x: x[x < 0], x)
    with pytest.raises(StagingError, match="where"):
        staged(lambda x, v: set_item(x, x < 0, v), x, numpy.ones(2))
    # a mask that does not depend on arguments is known while staging
    assert_same(staged(lambda x: x[np.arange(4) > 1], x), numpy.array([3.0, -4.0]))


def test_selections_by_symbolic_masks() -> None:
    x = numpy.array([1.0, -2.0, 3.0, -4.0])
    y = numpy.array([[1.0, 2.0], [3.0, -4.0], [-1.0, 5.0]])

    def squared(x: Any) -> Any:
        mask = x < 0
        return set_item(x, mask, x[mask] ** 2 + 1.0)

    assert_same(staged(squared, x), numpy.array([1.0, 5.0, 3.0, 17.0]))
    twice = staged(lambda x: set_item(x, x < 0, np.exp(x[x < 0])), x)
    assert_same(twice, numpy.where(x < 0, numpy.exp(x), x))
    for name in ("sum", "mean", "max", "min", "prod", "std"):
        reduction = getattr(np, name)
        found = staged(lambda x, f=reduction: f(x[x > 0]), x)
        assert_same(found, getattr(numpy, name)(x[x > 0]), what=name)
    rows = staged(lambda y: np.sum(y[y[:, 0] > 0], axis=0), y)
    assert_same(rows, y[y[:, 0] > 0].sum(axis=0))
    column = staged(lambda y: set_item(y, (y[:, 0] > 0, 1), y[y[:, 0] > 0, 1] * 2.0), y)
    expected = y.copy()
    expected[y[:, 0] > 0, 1] *= 2.0
    assert_same(column, expected)
    assert_same(staged(lambda x: np.sum(x[x > 0]) / x[x > 0].size, x), numpy.float64(2.0))
    check_batch(squared, numpy.stack([x, -x]))
    for wrong in (
        lambda x: set_item(x, x > 0, x[x < 0]),
        lambda x: np.cumsum(x[x < 0]),
        lambda x: x[x < 0] + x,
        lambda x: len(x[x < 0]),
    ):
        with pytest.raises(StagingError, match="where"):
            staged(wrong, x)


def test_selections_have_derivatives() -> None:
    x = np.array([1.0, -2.0, 3.0, -4.0])

    def loss(x: Any) -> Any:
        mask = x > 0
        return np.sum(set_item(x, mask, np.log(x[mask]))) + np.mean(x[mask] ** 2)

    def gradient(x: Any) -> Any:
        out, pullback = vjp_call(loss, x)
        return pullback(np.ones(()))[0]

    expected = numpy.array([1.0 + 1.0, 1.0, 1 / 3 + 3.0, 1.0])
    assert_same(staged(gradient, x), expected)


def test_batching() -> None:
    rng = numpy.random.default_rng(5)
    x, v = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 2))
    k, rows = numpy.array([0, -1, 2]), numpy.array([[0, 1], [3, 3], [2, -1]])
    check_batch(lambda x: x[1:, ::-1], x)
    check_batch(lambda x, k: x[k], x, k)
    check_batch(lambda x, k: x[k, 1], x, k)
    check_batch(lambda x, k: x[:, k % 2], x, k)
    check_batch(lambda x, rows: x[rows], x, rows)
    check_batch(lambda x, rows: x[rows, numpy.array([[0], [1]])], x, rows)
    check_batch(lambda x, k, v: set_item(x, k, v), x, k, v)
    check_batch(lambda x, k, v: set_item(x, (slice(None), k % 2), v[0]), x, k, v)
    check_batch(lambda x, rows, v: x.at[rows].add(v), x, rows, v)
    check_batch(lambda x, v: set_item(x, (slice(1, 3),), v), x, v)
    check_batch(lambda x, v: set_item(x, x[:, 0] > 0, v), x, v)


def test_containers() -> None:
    assert set_item([1, 2, 3], 1, 9) == [1, 9, 3]
    assert set_item([1, 2, 3], slice(0, 2), [7]) == [7, 3]
    assert set_item((1, 2), 0, 5) == (5, 2)
    original = {"a": 1}
    assert set_item(original, "b", 2) == {"a": 1, "b": 2}
    assert original == {"a": 1}
    host = numpy.zeros(3)
    assert isinstance(set_item(host, 0, 1.0), numpy.ndarray)
    assert host[0] == 0
    assert_same(set_item(host, 0, np.array(1.0)), numpy.array([1.0, 0.0, 0.0]))
    assert getitem([1, 2], 1) == 2
    assert place(2.0, [1.0, 1.0], 1) == [0.0, 2.0]
    assert add_at([1.0, 2.0], 0, 3.0) == [4.0, 2.0]
    assert erase({"a": 1.0, "b": 2.0}, "a") == {"a": 0.0, "b": 2.0}
    assert taken([1.0, 2.0], 1, 0.0) == 2.0


def test_last_write_wins() -> None:
    x, v = numpy.zeros(3), numpy.array([1.0, 2.0, 3.0])
    where = np.array([1, 1, 0])
    assert_same(set_item(np.asarray(x), where, v), numpy.array([3.0, 2.0, 0.0]))
    bar = taken(np.array([10.0, 20.0, 30.0]), where, v)
    assert_same(bar, numpy.array([0.0, 20.0, 10.0]))
    check_derivatives(lambda x, v: set_item(x, where, v * v), x, v)


def test_fill_loops_run_in_place() -> None:
    from overt.runtime import control

    def fill(x: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            return set_item(x, i, np.sin(i * 1.0))

        return control.for_loop(control.loop_range(0, x.shape[0], 1), body, x)

    n = 200_000
    x = np.zeros(n)
    program = stage(lambda x: [fill(x)], [aval_of(x)])
    numpy.asarray(program.run([x])[0])
    start = time.perf_counter()
    result = numpy.asarray(program.run([x])[0])
    assert time.perf_counter() - start < 1.0
    assert_same(result, numpy.sin(numpy.arange(n)))


def test_withdrawn() -> None:
    g = numpy.arange(1.0, 5.0)
    for index in (2, -1, slice(1, 3), numpy.array([0, 2])):
        part, rest = withdrawn(np.asarray(g), index, g[index] * 0.0)
        left = g.copy()
        left[index] = 0.0
        assert_same(part, g[index])
        assert_same(rest, left)
    for k in (1, -2, 9):
        part, rest = staged(lambda g, k: withdrawn(g, k, 0.0), g, k)
        assert_same(part, g[k] if -4 <= k < 4 else numpy.float64(0.0))
        assert_same(rest, numpy.where(numpy.arange(4) == k % 4, 0, g) if -4 <= k < 4 else g)
    check_batch(lambda g, k: withdrawn(g, k, 0.0)[1], numpy.stack([g, -g]), numpy.array([1, -1]))
    check_derivatives(lambda g: withdrawn(g * g, 1, 0.0)[1] * withdrawn(g, 2, 0.0)[0], g, order=2)


def test_reading_and_erasing_in_a_loop_runs_in_place() -> None:
    from overt.runtime import control

    def reverse(x: Any) -> Any:
        def body(i: Any, x_bar: Any, out_bar: Any) -> Any:
            value_bar, out_bar = withdrawn(out_bar, i, 0.0)
            return add_at(x_bar, i, np.cos(x[i]) * value_bar), out_bar

        count = control.loop_range(0, x.shape[0], 1)
        return control.for_loop(count, body, (np.zeros_like(x), x))[0]

    n = 100_000
    x = np.linspace(0.0, 1.0, n)
    program = stage(lambda x: [reverse(x)], [aval_of(x)])
    numpy.asarray(program.run([x])[0])
    start = time.perf_counter()
    result = numpy.asarray(program.run([x])[0])
    assert time.perf_counter() - start < 1.0
    assert_same(result, numpy.cos(x) * numpy.asarray(x))


def test_overlapping_slices() -> None:
    """XLA:CPU stores overlapping shifted slices wrongly by dynamic-update-slice."""

    def shift(b: Any) -> Any:
        b = set_item(b, slice(1, None), b[:-1])
        return np.reshape(b, (1, b.shape[0])) * 1.0

    assert_same(staged(shift, numpy.arange(6.0)), numpy.array([[0.0, 0, 1, 2, 3, 4]]))


@pytest.mark.parametrize("value, error", [(math.nan, ValueError), (math.inf, OverflowError)])
def test_what_is_no_integer_is_not_stored_as_one(value, error):
    def stored(x):
        x[1] = value
        return x

    with pytest.raises(error):
        numpy.zeros(3, int)[1] = value
    whole, half = np.zeros(3, int), np.zeros(3)
    for store in (overt.jit(stored), lambda x: x.at[1].set(value)):
        with pytest.raises(error):
            store(whole)
        assert not math.isfinite(float(store(half)[1]))
