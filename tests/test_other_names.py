"""What changes under another name: as NumPy has it, or refused; never silently different.

Names come out of containers and objects here, functions out of tables and arguments.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
import warnings
from typing import Any, NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import RecordedWarning, Refusal
from tests.numeric import slope
from tests.test_shared_memory import in_numpy

pytestmark = pytest.mark.usefixtures("quiet_x64")


def bump(a: Any) -> None:
    a += 1.0


def scale(a: Any, k: Any) -> None:
    a *= k


def put(a: Any, v: Any) -> None:
    a[0] = v


def apply(f: Any, a: Any) -> None:
    f(a)


def same(a: Any) -> Any:
    return a


def shifted(f: Any, y: Any) -> Any:
    dy = f(y)
    dy[0] = 0.0
    return dy


class Box:
    def __init__(self, a: Any) -> None:
        self.a = a

    def step(self) -> None:
        self.a[1] = self.a[1] * 2.0

    def again(self) -> None:
        self.a = self.a * 2.0

    def add(self, v: Any) -> None:
        self.a[0] = v


class Inherits(Box):
    def __init__(self, a: Any) -> None:
        super().__init__(a)


class Slots:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a


@dataclasses.dataclass
class Point:
    a: Any
    b: Any = 0


class Pair(NamedTuple):
    a: Any
    n: int = 0


TABLE = {"bump": bump, "put": put}


def step_of(box: Any) -> None:
    box.a[1] = box.a[1] * 2.0


def of_a_table(x: Any) -> Any:
    a = np.ones(3) * x
    functions = [bump, step_of]
    functions[0](a)
    return np.sum(a * a)


def of_a_table_outside(x: Any) -> Any:
    a = np.ones(3) * x
    TABLE["put"](a, 5.0)
    return np.sum(a * a)


def of_a_loop(x: Any) -> Any:
    a = np.ones(3) * x
    for f in (bump, bump):
        f(a)
    return np.sum(a * a)


def of_a_comprehension_beside(x: Any) -> Any:
    a = np.ones(3) * x
    b = a
    [bump(u) for u in [a]]
    return b[0] * x


def in_a_loop_of_the_program(x: Any) -> Any:
    a = np.ones(3) * x
    box = Box(a)
    for i in range(3):
        box.a[i] = x * i
    return np.sum(a * a)


def of_an_object_that_data_chooses(x: Any) -> Any:
    one, other = Box(np.ones(3) * x), Box(np.ones(3))
    box = one if x > 0.3 else other
    b = one.a
    box.step()
    return np.sum(b) * x


def chosen_function(x: Any) -> Any:
    a = np.ones(3) * x
    (bump if x > 0.3 else np.sum)(a)
    return np.sum(a * a)


def partial_function(x: Any) -> Any:
    a = np.ones(3) * x
    functools.partial(scale, k=2.0)(a)
    return np.sum(a * a)


def function_given(x: Any) -> Any:
    a = np.ones(3) * x
    apply(bump, a)
    return np.sum(a * a)


def mapped(x: Any) -> Any:
    rows = np.ones((2, 2)) * x
    list(map(bump, rows))
    return np.sum(rows * rows)


def in_a_comprehension(x: Any) -> Any:
    m = np.ones((2, 3)) * x
    [bump(row) for row in m]
    return np.sum(m * m)


def a_lambda(x: Any) -> Any:
    a = np.ones(3) * x
    change = lambda v: put(v, 5.0 * x)  # noqa: E731
    change(a)
    return np.sum(a * a)


def bound_method(x: Any) -> Any:
    box = Box(np.ones(3) * x)
    b = box.a
    add = box.add
    add(x * x)
    return np.sum(b * b)


def in_place_function(x: Any) -> Any:
    m = np.ones(3) * x
    b = m
    operator.iadd(m, 5.0)
    return np.sum(b * b)


def method_between(x: Any) -> Any:
    box = Box(np.ones(3) * x)
    b = box.a
    box.step()
    b[0] = 5.0 * x
    return np.sum(box.a * box.a) + b[1]


def helper_between(x: Any) -> Any:
    box = Box(np.ones(3) * x)
    b = box.a
    step_of(box)
    return np.sum(b * b)


def named_like_that_of_a_set(x: Any) -> Any:
    box = Box(np.ones(3) * x)
    b = box.a
    box.add(x * x)
    return np.sum(b * b)


def two_boxes(x: Any) -> Any:
    a = np.ones(3) * x
    one, other = Box(a), Box(a)
    one.step()
    return np.sum(other.a * other.a)


def inherited(x: Any) -> Any:
    a = np.ones(3) * x
    box = Inherits(a)
    a[0] = 5.0
    return np.sum(box.a * a)


def slots(x: Any) -> Any:
    a = np.ones(3) * x
    box = Slots(a)
    box.a[0] = 5.0
    return np.sum(a * a)


def a_dataclass(x: Any) -> Any:
    a = np.ones(3) * x
    point = Point(a)
    point.a[0] = 5.0
    return np.sum(a * a)


def a_dataclass_with_a_view(x: Any) -> Any:
    a = np.ones(3) * x
    point = Point(a[1:])
    a[1] = 5.0
    return np.sum(point.a) * x


def a_named_tuple(x: Any) -> Any:
    a = np.ones(3) * x
    pair = Pair(a)
    a[0] = 5.0
    return np.sum(pair.a * a)


def a_namespace(x: Any) -> Any:
    a = np.ones(3) * x
    space = types.SimpleNamespace(a=a)
    space.a[0] = 5.0
    return np.sum(a * a)


def replaced(x: Any) -> Any:
    point = Point(np.ones(3) * x)
    other = dataclasses.replace(point, b=2)
    other.a[0] = 5.0
    return np.sum(point.a * point.a)


def points_in_a_list(x: Any) -> Any:
    a = np.ones(3) * x
    points = [Point(a) for _ in range(2)]
    points[0].a[0] = 5.0
    return np.sum(points[1].a * points[1].a)


def of_an_iterator(x: Any) -> Any:
    a = np.ones(3) * x
    b = next(iter([a]))
    b[0] = 5.0
    return np.sum(a * a)


def row_of_an_iterator(x: Any) -> Any:
    m = np.ones((2, 3)) * x
    row = next(iter(m))
    row[0] = 5.0
    return np.sum(m * m)


def popped(x: Any) -> Any:
    a = np.ones(3) * x
    b = [a].pop()
    b[0] = 5.0
    return np.sum(a * a)


def deep_in_containers(x: Any) -> Any:
    a = np.ones(3) * x
    held = {"k": {"j": [a]}}
    b = held["k"]["j"][0]
    b[0] = 5.0
    return np.sum(a * a)


def values_of_a_dictionary(x: Any) -> Any:
    a = np.ones(3) * x
    for v in {"k": a}.values():
        v[0] = 5.0
    return np.sum(a * a)


def view_of_a_view_held(x: Any) -> Any:
    m = np.ones((2, 2)) * x
    row = m[0]
    held = [row[1:]]
    m[0, 1] = 9.0
    return held[0][0] * x


def appended_to_an_attribute(x: Any) -> Any:
    v = np.ones(3) * x
    box = Box([])
    box.a.append(v)
    v[1] = 9.0
    return np.sum(box.a[0]) * x


def chosen_by_data(x: Any) -> Any:
    a = np.ones(3) * x
    b = max([a, a * 0.5], key=lambda v: v[0])
    a[1] = x + 1.0
    return np.sum(a * a) + b[1]


def appended_again(x: Any) -> Any:
    rows = [np.ones(2) * x, np.ones(2)]
    rows.append(rows[-1])
    rows[2][1] += x
    return sum(np.sum(row * row) for row in rows)


def an_item_under_two_names(x: Any) -> Any:
    rows = [np.ones(2) * x, np.ones(2)]
    a = rows[0]
    a += 2.0
    b = rows[0]
    np.multiply(b, x, out=b)
    return np.sum(a * b)


CHANGED = [
    chosen_by_data, appended_again, an_item_under_two_names,
    of_a_comprehension_beside, in_a_loop_of_the_program, of_an_object_that_data_chooses,
    of_a_table, of_a_table_outside, of_a_loop, chosen_function, partial_function, function_given,
    mapped, in_a_comprehension, a_lambda, bound_method, in_place_function, method_between,
    helper_between, named_like_that_of_a_set, two_boxes, inherited, slots, a_dataclass,
    a_dataclass_with_a_view, a_named_tuple, a_namespace, replaced, points_in_a_list,
    of_an_iterator, row_of_an_iterator, popped, deep_in_containers, values_of_a_dictionary,
    view_of_a_view_held, appended_to_an_attribute,
]  # fmt: skip


@pytest.mark.parametrize("f", CHANGED, ids=lambda f: f.__name__)
def test_never_silently_different(f: Any) -> None:
    oracle = in_numpy(f)
    x = 0.7
    for way, want in (
        (overt.jit(f), oracle(x)),
        (overt.grad(f), slope(oracle, x)),
        (lambda x: overt.vmap(f)(np.array([x, x]))[1], oracle(x)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordedWarning)
            try:
                found = way(x)
            except (Refusal, NotImplementedError):
                continue
        numpy.testing.assert_allclose(found, want, rtol=1e-6)


# --- what is followed


def no_axes_under_two_names(x: Any) -> Any:
    b = c = np.where(x > 0, x, 1.0)
    c += 1.0
    n = m = np.sum(np.ones(3) * x)
    m += 1.0
    return b * 2.0 + c * n * m


def no_axes_and_a_helper(x: Any) -> Any:
    b = np.array(x)
    bump(b)
    return b * 2.0 * x


def view_of_no_axes(x: Any) -> Any:
    a = np.ones(3) * x
    b = a[0, ...]
    b += x
    return np.sum(a * a) + b


def attribute_under_two_names(x: Any) -> Any:
    box = Box(np.ones(3) * x)
    b, c = box.a, box.a
    b[0] = 3.0 * x
    return np.sum(c * c)


def set_anew_between(x: Any) -> Any:
    box = Box(np.ones(3) * x)
    b = box.a
    box.again()
    b[0] = 5.0 * x
    return np.sum(box.a * box.a) + b[0]


def unknown_function(x: Any) -> Any:
    y = np.ones(3) * x
    k = shifted(lambda y: y * y, y)
    return np.sum(k) + np.sum(y)


def two_arrays_of_an_object(x: Any) -> Any:
    a, b = np.ones(3) * x, np.ones(3)
    point = Point(a, b)
    point.a[0] = 5.0 * x
    return np.sum(point.a * point.b) + np.sum(b)


def changed_in_a_loop(x: Any) -> Any:
    a, b = np.ones(3) * x, np.ones(4)
    point = Point(a, b)
    for i in range(3):
        point.a[i] = point.b[i] * x
    return np.sum(point.a) * x + np.sum(b)


def objects_in_a_list(x: Any) -> Any:
    boxes = [Box(np.ones(3) * x), Box(np.ones(3))]
    for _ in range(2):
        for box in boxes:
            box.step()
    return np.sum(boxes[0].a * boxes[1].a)


def rows_of_a_copy(x: Any) -> Any:
    a = np.ones((4, 4)) * x
    corner = a[:2, :2].copy()
    a[:2, :2] = a[2:, :2] * 2.0
    return np.sum(a * a) + np.sum(corner)


def element_put_into_another(x: Any) -> Any:
    a, b = np.ones(3) * x, np.ones(3) * 2.0
    a[0] = b[1]
    b[2] = 5.0 * x
    return np.sum(a * b)


FOLLOWED = [
    objects_in_a_list, rows_of_a_copy,
    element_put_into_another,
    no_axes_under_two_names, no_axes_and_a_helper, view_of_no_axes, attribute_under_two_names,
    set_anew_between, unknown_function, two_arrays_of_an_object, changed_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f: Any) -> None:
    oracle = in_numpy(f)
    x = 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        numpy.testing.assert_allclose(overt.jit(f)(x), oracle(x), rtol=1e-12)
        numpy.testing.assert_allclose(overt.grad(f)(x), slope(oracle, x), rtol=1e-6)
        both = overt.vmap(f)(np.array([x, 1.1]))
        numpy.testing.assert_allclose(both, [oracle(x), oracle(1.1)], rtol=1e-12)


def test_the_object_of_the_caller_changes() -> None:
    def changed(box: Any, x: Any) -> Any:
        b = box.a
        b[0] = x
        return np.sum(b)

    box = Box(np.ones(3))
    assert float(changed_by(changed, box, 5.0)) == 7.0
    assert box.a.tolist() == [5.0, 1.0, 1.0]


def changed_by(f: Any, box: Any, x: float) -> Any:
    with overt.disable_jit():
        return overt.jit(lambda x: f(box, x))(x)
