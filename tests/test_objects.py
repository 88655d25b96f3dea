"""Objects that change: values stored by methods, helpers and nested functions, in every transform.

The oracles are plain Python, finite differences in float64, and a loop for `vmap`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import RecordedWarning
from tests.numeric import slope

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
POINTS = (0.5, 1.3)


class Store:
    """Keeps values in attributes, in a list and in a dictionary."""

    def __init__(self, value):
        self.value = value
        self.log = []
        self.table = {}

    def push(self, x):
        self.log.append(x)

    def put(self, key, x):
        self.table[key] = x

    def scaled(self, k):
        self.value = self.value * k
        return self

    def add(self, x):
        self.value += x

    def __call__(self, k):
        self.value = self.value + k
        return self.value

    def __setitem__(self, key, x):
        self.table[key] = x

    def __getitem__(self, key):
        return self.table[key]


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any = 0.0

    def bump(self, k):
        self.a = self.a + k
        return self


@overt.tree_util.register_dataclass
@dataclasses.dataclass
class Registered:
    a: Any
    b: Any = 0.0

    def bump(self, k):
        self.a = self.a + k
        return self


def assign(holder, x):
    holder.value = x


def by_method_into_list(x):
    store = Store(1.0)
    store.push(x * x)
    return store.log[0]


def by_method_into_dictionary(x):
    store = Store(1.0)
    store.put("a", x * x)
    return store.table["a"]


def by_setattr(x):
    store = Store(1.0)
    setattr(store, "value", x * x)  # noqa: B010
    return store.value


def by_helper(x):
    store = Store(1.0)
    assign(store, x * x)
    return store.value


def by_nested_function(x):
    store = Store(1.0)

    def inner():
        store.value = x * x

    inner()
    return store.value


def by_name_of_a_list_method(x):
    store = Store(0.0)
    store.add(x)
    store.add(x * x)
    return store.value * 2.0


def into_its_list(x):
    store = Store(0.0)
    store.log.append(x * x)
    return store.log[0]


def by_setitem(x):
    store = Store(0.0)
    store["a"] = x * x
    return store["a"] * 2.0


def by_call_with_result(x):
    store = Store(1.0)
    return store(x) * store(x * x)


def chained(x):
    return Store(x).scaled(x).scaled(2.0).value


def dataclass_by_method(x):
    pair = Pair(x)
    pair.bump(x * x)
    return pair.a


def registered_by_method(x):
    pair = Registered(x)
    return pair.bump(x * x).a + pair.a


def in_a_loop(x):
    store = Store(0.0)
    for k in range(3):
        store.add(x * k)
        store.push(store.value * x)
    return store.value * 2.0 + store.log[-1]


def result_not_used(x):
    store = Store(1.0)
    _ = store(x * x)
    return store.value


class Gate:
    """Remembers what it was asked about."""

    def __init__(self):
        self.seen = 0.0

    def accepts(self, x):
        self.seen = x * x
        return x > 0.0

    @property
    def twice(self):
        return self.seen * 2.0


def in_a_test(x):
    gate = Gate()
    if gate.accepts(x):
        return gate.twice
    return 0.0 * x


def in_an_assertion(x):
    gate = Gate()
    assert gate.accepts(x)
    return gate.twice


def in_a_comprehension(x):
    store = Store(1.0)
    count = len([store(x) for _ in range(3)])
    return store.value * count


def by_map(x):
    store = Store(1.0)
    list(map(store.add, [x, x * x]))
    return store.value


def passed_on(x):
    def run(f):
        f(x * x)
        return 1.0

    store = Store(1.0)
    run(store.push)
    return store.log[0]


KINDS = [
    by_method_into_list, by_method_into_dictionary, by_setattr, by_helper, by_nested_function,
    by_name_of_a_list_method, into_its_list, by_setitem, by_call_with_result, chained,
    dataclass_by_method, registered_by_method, in_a_loop, result_not_used, in_a_test,
    in_an_assertion, in_a_comprehension, by_map, passed_on,
]  # fmt: skip


def curvature(f, x, h=1e-3):
    sides = 16 * (f(x + h) + f(x - h)) - (f(x + 2 * h) + f(x - 2 * h))
    return (sides - 30 * f(x)) / (12 * h * h)


def plain(f):
    return lambda x: float(f(numpy.float64(x)))


def check(f, points=POINTS, second=True):
    """Values, slopes and curvatures under every transformation against plain Python."""
    reference, xs = plain(f), numpy.array(points)
    values = [reference(x) for x in points]
    slopes = [slope(reference, x) for x in points]
    pushed = lambda x: overt.jvp(f, (x,), (1.0,))  # noqa: E731
    pulled = lambda x: overt.vjp(f, x)[1](1.0)[0]  # noqa: E731
    forms = [
        (overt.jit(f), values), (overt.jit(overt.vmap(f)), values),
        (lambda x: pushed(x)[0], values), (lambda x: pushed(x)[1], slopes),
        (overt.grad(f), slopes), (overt.jit(overt.grad(f)), slopes),
        (overt.grad(overt.jit(f)), slopes), (pulled, slopes),
        (overt.vmap(overt.grad(f)), slopes),
    ]  # fmt: skip
    if second:
        bends = [curvature(reference, x) for x in points]
        forms += [
            (overt.grad(overt.grad(f)), bends),
            (lambda x: overt.jvp(overt.grad(f), (x,), (1.0,))[1], bends),
        ]
    for i, (form, wanted) in enumerate(forms):
        whole = i in (1, 8)
        found = form(np.asarray(xs)) if whole else [form(x) for x in points]
        numpy.testing.assert_allclose(
            numpy.asarray([float(v) for v in found]), wanted, rtol=1e-4, atol=1e-6, err_msg=str(i)
        )


@pytest.mark.parametrize("f", KINDS, ids=lambda f: f.__name__)
def test_stored_values_keep_their_derivative(f):
    with overt.enable_x64(True):
        check(f, second=f in (by_helper, chained, dataclass_by_method, in_a_loop))


# --- classes with operators of their own


@dataclasses.dataclass
class Complex:
    a: Any
    b: Any

    def __mul__(self, other):
        a, b = self.a, self.b
        return Complex(a * other.a - b * other.b, a * other.b + b * other.a)


class Vector(NamedTuple):
    x: Any
    y: Any

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)


def product_of_dataclasses(x):
    q = Complex(x, 1.0)
    for _ in range(3):
        q = q * Complex(1.0, x)
    return q.a + q.b


def product_on_one_side(x):
    q = Complex(x, 1.0)
    if x > 0.6:
        q = q * q
    return q.a * q.b


def named_tuples(x):
    v = Vector(x, 2.0 * x)
    for _ in range(2):
        v = v + v * x
    return v.x * v.y


@pytest.mark.parametrize("f", [product_of_dataclasses, product_on_one_side, named_tuples])
def test_operators_of_a_class(f):
    with overt.enable_x64(True):
        check(f, second=False)


# --- in branches and loops that data decides


class Integrator:
    """Steps a differential equation; its clock and state are attributes."""

    def __init__(self, y):
        self.t, self.y, self.steps = 0.0, y, 0
        self.state = "rising"

    def step(self, h):
        self.y = self.y + h * (self.t - self.y * self.y)
        self.t = self.t + h
        self.steps += 1


class Running:
    """Mean and squared deviations of what it has seen, by Welford's method."""

    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def update(self, x):
        self.n += 1
        before = x - self.mean
        self.mean += before / self.n
        self.m2 += before * (x - self.mean)


class Momentum:
    def __init__(self, rate):
        self.rate, self.velocity = rate, None

    def __call__(self, x, slope):
        self.velocity = slope if self.velocity is None else 0.5 * self.velocity + slope
        return x - self.rate * self.velocity


def directly_on_one_side(x):
    store = Store(1.0)
    if x > 0.6:
        store.value = x * x
    else:
        store.value = 3.0
    return store.value * x


def by_method_on_both_sides(x):
    store = Store(1.0)
    if x > 0.6:
        store.add(x * x)
    else:
        store.scaled(3.0 * x)
    return store.value * x


def until_its_clock_stops(x):
    solver = Integrator(x)
    while solver.t < 0.45 * x:
        solver.step(0.1)
    return solver.y * solver.steps


def while_its_value_is_small(x):
    store = Store(x)
    while store.value < 4.0:
        store.add(store.value * x)
    return store.value


def mean_of_some(x):
    running = Running()
    for k in range(4):
        value = np.sin(x * k)
        if value > 0.3:
            running.update(value)
    return running.mean + running.m2


def over_many(x):
    running = Running()
    total = 0.0
    for k in range(100):
        running.update(np.sin(x * k))
        total += running.mean
    return total + running.m2


def in_its_dictionary(x):
    store = Store(0.0)
    store.table["w"] = x
    while store.table["w"] < 3.0:
        store.table["w"] = store.table["w"] * (1.0 + x)
    return store.table["w"]


def renewed_list(x):
    store = Store(0.0)
    store.log = [x, 1.0]
    while store.log[0] < 3.0:
        store.log = [v * (1.0 + x) for v in store.log]
    return store.log[0] + store.log[1]


def descent(x):
    step = Momentum(0.1)
    for _ in range(3):
        x = step(x, 2.0 * x * x)
    return x


def until_near(x):
    step = Momentum(0.3)
    step.velocity = 0.0 * x
    while x > 0.2:
        x = step(x, x)
    return x * step.velocity


def shared_variable(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v
        return total

    found = [add]
    while total < 2.1:
        found[0](x)
    return total * x


def both_of_two(x):
    first, second = Store(x), Store(2.0)
    for _ in range(70):
        if x > 0.6:
            second.value = second.value * (1.0 + 0.1 * x)
        first.add(second.value * 0.03)
    return first.value * second.value


def registered_until_large(x):
    pair = Registered(x)
    while pair.a < 3.1:
        pair.bump(x)
    return pair.a * x


CHANGING = [
    directly_on_one_side, by_method_on_both_sides, until_its_clock_stops, while_its_value_is_small,
    mean_of_some, over_many, in_its_dictionary, renewed_list, descent, until_near,
    shared_variable, both_of_two, registered_until_large,
]  # fmt: skip


@pytest.mark.parametrize("f", CHANGING, ids=lambda f: f.__name__)
def test_objects_change_in_branches_and_loops(f):
    with overt.enable_x64(True):
        check(f, second=f in (by_method_on_both_sides, until_its_clock_stops))


def test_a_list_of_an_object_that_grows_on_one_side():
    def f(x):
        store = Store(0.0)
        if x > 1.0:
            store.push(x)
        total = 0.0
        for v in store.log:
            total += v * v
        return total

    with overt.enable_x64(True):
        for x in (0.5, 2.0):
            assert overt.jit(f)(x) == f(x)
            for g in (overt.grad(f), overt.jit(overt.grad(f))):
                numpy.testing.assert_allclose(g(x), slope(f, x), rtol=1e-6)
        numpy.testing.assert_allclose(overt.vmap(f)(np.array([0.5, 2.0])), [f(0.5), f(2.0)])


def test_what_changes_outside_is_written_after_each_run():
    counter = Counter()

    def f(x):
        while x > 1.0:
            counter.keep(x)
            x = x / 2.0
        return x

    compiled = overt.jit(f)
    assert float(compiled(5.0)) == 0.625
    assert float(compiled(3.0)) == 0.75
    assert int(counter.calls) == 5
    assert float(counter.total) == 5.0 + 2.5 + 1.25 + 3.0 + 1.5


def test_it_is_said_that_the_derivative_is_recorded():
    class Cell:
        def __init__(self):
            self.value = 0.0

        def step(self, x):
            self.value = self.value + x
            return self.value

    def stepped(x):
        cell = Cell()
        return cell.step(x) * cell.step(x)

    with pytest.warns(RecordedWarning):
        overt.grad(stepped)(1.0)


class Counter:
    def __init__(self):
        self.calls, self.total = 0, 0.0

    def keep(self, x):
        self.calls += 1
        self.total = self.total + x
        return self.total


@pytest.mark.parametrize("derivative", ["grad", "vjp", "jvp", "jit"])
def test_an_object_outside_changes_once_and_keeps_plain_values(derivative):
    counter = Counter()

    def f(x):
        return counter.keep(x) * x

    forms = {
        "grad": lambda x: overt.grad(f)(x),
        "vjp": lambda x: overt.vjp(f, x)[1](1.0)[0],
        "jvp": lambda x: overt.jvp(f, (x,), (1.0,))[1],
        "jit": lambda x: overt.jit(overt.grad(f))(x),
    }
    first, second = (forms[derivative](x) for x in (2.0, 3.0))
    assert float(first) == 4.0  # x * x
    assert float(second) == 8.0  # (2 + x) * x: what was kept is a number
    assert (int(counter.calls), float(counter.total)) == (2, 5.0)


def test_containers_of_outer_functions_in_loops():
    seen, table = [], {"sum": 0.0}

    def three(x):
        for _ in range(3):
            seen.append(x)
            table["sum"] = table["sum"] + x
            x = x * 2
        return x

    assert float(overt.jit(three)(1.0)) == 8.0
    assert [float(x) for x in seen] == [1.0, 2.0, 4.0] and float(table["sum"]) == 7.0

    def push(x):
        seen.append(x)

    def some(x, n, add):
        for _ in range(n):
            table["sum"] = table["sum"] + x
            add(x)
            x = x * 2
        return x

    assert float(overt.jit(some, static_argnums=2)(1.0, 3, abs)) == 8.0
    assert float(table["sum"]) == 14.0
    # How long the list gets is known only when the program runs.
    with pytest.raises(TypeError, match="seen"):
        overt.jit(lambda x, n: some(x, n, push))(1.0, 3)


class Sum:
    def __init__(self) -> None:
        self.total = 0.0

    def add(self, value: Any) -> None:
        self.total = self.total + value


def passed_to_a_loop(x):
    found = Sum()

    def body(i, carry):
        found.add(x * x * i)
        return carry

    overt.lax.fori_loop(0, 3, body, 0)
    return found.total


def passed_to_map(x):
    found = Sum()

    def visit(value):
        found.add(value * x * x)

    list(map(visit, [1.0, 2.0]))
    return found.total


@pytest.mark.parametrize("f", [passed_to_a_loop, passed_to_map], ids=lambda f: f.__name__)
def test_functions_that_store_and_are_passed_on(f):
    for way in (overt.grad(f), overt.jit(overt.grad(f)), overt.vmap(overt.grad(f))):
        x = np.array([0.5]) if way.__class__.__name__ == "Vmap" else 0.5
        assert numpy.asarray(way(x)).item() == pytest.approx(3.0)
    assert float(overt.jvp(f, (0.5,), (1.0,))[1]) == pytest.approx(3.0)


@overt.tree_util.register_dataclass
@dataclasses.dataclass
class Walker:
    place: Any
    energy: Any
    steps: Any = 0


def test_numbers_in_a_dataclass_that_a_loop_replaces():
    def walked(x):
        w = Walker(x, 1.0)
        while w.energy > 0.5 and w.steps < 12:
            if w.place > 0.5:
                energy = w.energy * 0.8
                w = dataclasses.replace(w, place=w.place - 0.25, energy=energy, steps=w.steps + 1)
            else:
                w = dataclasses.replace(w, place=w.place + 0.5, steps=w.steps + 1)
        return w.place * w.energy + w.steps

    for x in (0.7, 0.1):
        assert float(overt.jit(walked)(x)) == pytest.approx(walked(x))
        slope = (walked(x + 1e-6) - walked(x - 1e-6)) / 2e-6
        assert float(overt.jit(overt.grad(walked))(x)) == pytest.approx(slope, rel=1e-4)
