"""Generated text without placeholders, copies and names that a person would not write."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import overt
from overt.rewrites.emit import module_text
from overt.rewrites.forward import jvp
from overt.transformer.transformed import source_of
from tests.ways import assert_every_way


def bent(x: Any) -> Any:
    if x > 1.5:
        y = x * x
    elif x > 0.9:
        y = np.sin(x)
    else:
        y = np.exp(x) - 2.0
    return y * 3.0


def cycled(x: Any) -> Any:
    total = x
    for k in range(5):
        match k % 3:
            case 0:
                total = total + x * k
            case 1:
                total = total * x + 1.0
            case _:
                total = total - x**2
    return total


def worded(x: Any) -> Any:
    for word in ("grow", "bend", "grow", "stop"):
        if word == "grow" and x > 1.0:
            x = x * 0.5
        elif word == "bend":
            x = np.sin(x) - 0.2
    return x


def swung(x: Any) -> Any:
    v = 0.0
    for _ in range(4):
        x, v = x + 0.1 * v, v - 0.1 * x
    return x * v


def logistic(x: Any) -> Any:
    y = 0.4
    for _ in range(3):
        y = y + 0.1 * x * y * (1.0 - y)
    return y


def underscored(x: Any) -> Any:
    total = x
    for _ in range(1, 4):
        total = total * x + _
    for i, _ in enumerate((2.0, 3.0)):
        total = total + i * x**2
    return total


def legendre(x: Any, n: int = 4) -> Any:
    if n == 0:
        return 1.0
    if n == 1:
        return x
    return ((2 * n - 1) * x * legendre(x, n - 1) - (n - 1) * legendre(x, n - 2)) / n


def popped(x: Any) -> Any:
    xs = [x, x**2, 3.0 * x]
    last = xs.pop()
    xs = [last, *xs]
    return xs[0] * xs[1] + xs.pop()


def mapped(x: Any) -> Any:
    doubled = overt.vmap(lambda row, u: np.tanh(row) * u, in_axes=(0, None))
    return np.sum(doubled(np.stack([x, x + 1.0]), x))


def table_of_paths(x: Any) -> Any:
    a = np.array([0.1, 0.5, 1.2]) * x
    b = np.array([0.2, 0.9])
    table = np.full((len(a) + 1, len(b) + 1), 10.0)
    table[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            near = np.array([table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]])
            low = np.min(near)
            table[i, j] = (a[i - 1] - b[j - 1]) ** 2 + low - np.log(np.sum(np.exp(low - near)))
    return table[-1, -1]


def rows_summed(x: Any) -> Any:
    grid = np.zeros((2, 3))
    for i in range(2):
        grid[i, 1] = x**2 + i
        grid[i] = grid[i] * x + grid[0, 1]
    return np.sum(grid * grid)


def steps_kept(x: Any) -> Any:
    path = np.zeros(5)
    path[0] = x
    for k in range(1, 5):
        path[k] = path[k - 1] + 0.1 * np.sin(path[k - 1]) * x
    return np.stack([path[1], path[4], x * path[2]]).max() + path[3]


FUNCTIONS = [bent, cycled, worded, swung, logistic, underscored, legendre, popped]
FUNCTIONS += [table_of_paths, rows_summed, steps_kept]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_way(f: Any) -> None:
    assert_every_way(f)


def texts(f: Any) -> list[str]:
    return [overt.source(t(f)) for t in (overt.grad, overt.vmap, overt.jit)]


@pytest.mark.parametrize("f", [bent, cycled, worded, logistic])
def test_no_placeholder_and_no_copy(f: Any) -> None:
    for text in texts(f):
        assert "Undefined" not in text
        copies = re.findall(r"^ +(\w+) = \1_(?:\d+|new|old)$", text, re.MULTILINE)
        assert not copies, text


def test_branch_that_prepares_for_its_reverse_is_asked_once() -> None:
    assert overt.source(overt.grad(bent)).count("> 1.5") == 1


def test_lambdas_stay_in_place() -> None:
    for text in (overt.source(overt.vmap(mapped)), overt.source(overt.jit(mapped))):
        assert "vmap(lambda row, u: " in text and "= lambda" not in text


def test_names_that_are_read_are_not_underscores() -> None:
    text = overt.source(overt.grad(underscored))
    assert not re.search(r"[*+(] ?_\b(?!,)", text), text


def test_a_loop_that_records_nothing_is_undone_as_often() -> None:
    twice = overt.grad(overt.grad(swung))
    np.testing.assert_allclose(overt.jit(twice)(0.7), twice(0.7), rtol=1e-6)


def test_three_branches_on_one_test() -> None:
    def f(x: Any) -> Any:
        y = x
        try:
            while y < 2.0:
                y = y * 1.6
        except ValueError:
            y = 0.0
        return y * x

    assert_every_way(f)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_items_of_one_number_that_are_no_scalars(shape: tuple[int, ...]) -> None:
    def f(xs: Any, scale: Any) -> Any:
        table = np.zeros((3, 2))
        for i in range(3):
            table[i, 1] = xs[i] ** 2 * scale
        return np.sum(table**2)

    xs, scale = np.reshape(np.array([1.0, 2.0, 3.0]), (3, *shape)), np.full(shape, 0.5)
    for transformed in (overt.grad(f, (0, 1)), overt.jit(overt.grad(f, (0, 1)))):
        xs_bar, scale_bar = transformed(xs, scale)
        assert xs_bar.shape == xs.shape and scale_bar.shape == scale.shape
        np.testing.assert_allclose(xs_bar, xs**3, rtol=1e-6)
        np.testing.assert_allclose(scale_bar, np.sum(xs**4) * np.ones(shape), rtol=1e-6)


def test_no_broadcast_is_undone_where_items_are_numbers() -> None:
    text = overt.source(overt.grad(table_of_paths))
    assert "withdrawn" not in text and "array_bar" not in text
    assert "table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]" in text


def between(image: Any, u: Any, v: Any) -> Any:
    i, j = int(np.floor(u)), int(np.floor(v))
    a, b = u - i, v - j
    top = (1 - b) * image[i, j] + b * image[i, j + 1]
    bottom = (1 - b) * image[i + 1, j] + b * image[i + 1, j + 1]
    return (1 - a) * top + a * bottom


def test_no_name_is_left_that_nothing_reads() -> None:
    ones = overt.jvp(between, (np.eye(3), 0.3, 1.2), (np.ones((3, 3)), 1.0, 0.0))[1]
    step = 1e-6
    ends = [between(np.eye(3) + t, 0.3 + t, 1.2) for t in (step, -step)]
    np.testing.assert_allclose(ones, (ends[0] - ends[1]) / (2 * step), rtol=1e-5)
    text = module_text(jvp(source_of(between)))
    for name in re.findall(r"^ +(\w+) = ", text, re.MULTILINE):
        assert len(re.findall(rf"\b{name}\b", text)) > 1, text


def rated(x: Any) -> Any:
    return np.var(10 ** (x / 4))


def test_numbers_that_are_written_out_are_not_asked_about() -> None:
    x = np.array([0.1, -0.4, 0.3])
    ends = [[rated(x + t * row) for row in np.eye(3)] for t in (1e-6, -1e-6)]
    wanted = (np.array(ends[0]) - np.array(ends[1])) / 2e-6
    np.testing.assert_allclose(overt.grad(rated)(x), wanted, rtol=1e-4)
    for text in (overt.source(overt.grad(rated)), module_text(jvp(source_of(rated)))):
        assert "np.log(10)" in text and "None" not in text, text


def capped(x: Any) -> Any:
    return np.minimum(1.0, x) * np.maximum(0.0, x)


def test_numbers_stand_behind_what_is_compared_with_them() -> None:
    text = overt.source(overt.grad(capped))
    assert "x == 1.0" in text and "x == 0.0" in text, text
    found = [float(overt.grad(capped)(x)) for x in (-1.0, 0.5, 2.0)]
    np.testing.assert_allclose(found, [0.0, 1.0, 1.0])
