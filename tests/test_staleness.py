"""Compiled functions are never stale: hidden state that changes between calls, of every kind.

The oracle is Python: after each change the compiled function gives what the function itself gives.
"""

from __future__ import annotations

import array
import collections
import contextvars
import dataclasses
import datetime
import functools
import gc
import itertools
import os
import pathlib
import random
import threading
import time
import types
import weakref
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from overt.errors import Refusal

CASES: list[Any] = []


def case(make):
    CASES.append(make)
    return make


class Node:
    def __init__(self, value, below=None):
        self.value = value
        self.below = below


def putter(holder, key, value):
    return lambda: holder.__setitem__(key, value)


def setter(holder, name, value):
    return lambda: setattr(holder, name, value)


# --- functions


@case
def defaults():
    def f(x, table={"k": 1.0}, k=2.0, *, named=[1.0]):  # noqa: B006
        return x * table["k"] * k * named[0]

    return f, [
        putter(f.__defaults__[0], "k", 5.0),
        setter(f, "__defaults__", ({"k": 3.0}, 7.0)),
        putter(f.__kwdefaults__["named"], 0, 6.0),
        putter(f.__kwdefaults__, "named", [9.0]),
    ]


@case
def defaults_of_helpers():
    def helper(x, k=1.0):
        return x * k

    return lambda x: helper(x) + 1.0, [setter(helper, "__defaults__", (9.0,))]


@case
def shared_variables_of_helpers():
    k = 1.0

    def helper(x):
        return k * x

    def change():
        nonlocal k
        k = 4.0

    return lambda x: helper(x), [change]


@case
def code_replaced():
    def f(x):
        return x

    def helper(x):
        return 2.0 * x

    def other(x):
        return 3.0 * x

    def g(x):
        return f(x) + helper(x)

    return g, [setter(helper, "__code__", other.__code__), setter(f, "__code__", other.__code__)]


@case
def attributes_of_functions():
    def f(x):
        return f.k * x

    f.k = 1.0
    return f, [setter(f, "k", 5.0)]


@case
def partials():
    def scaled(x, k=None):
        return k[0] * x

    held = functools.partial(scaled, k=[2.0])
    changes = [putter(held.keywords["k"], 0, 5.0), putter(held.keywords, "k", [7.0])]
    return lambda x: held(x), changes


@case
def bound_partial():
    def scaled(x, k=None):
        return k[0] * x

    held = functools.partial(scaled, k=[2.0])
    return held, [putter(held.keywords["k"], 0, 5.0), putter(held.keywords, "k", [7.0])]


@case
def functions_in_containers():
    k = [1.0]
    table = [lambda x: x * k[0]]
    return lambda x: table[0](x), [putter(k, 0, 4.0), putter(table, 0, lambda x: 9.0 * x)]


@case
def decorated():
    state = {"k": 1.0}

    def decorate(f):
        @functools.wraps(f)
        def wrapped(x):
            return f(x) * state["k"]

        return wrapped

    return decorate(lambda x: x + 1.0), [putter(state, "k", 4.0)]


@case
def cached_functions():
    state = [1.0]

    @functools.lru_cache
    def rate():
        return state[0]

    def change():
        state[0] = 5.0
        rate.cache_clear()

    return lambda x: rate() * x, [change]


@case
def returned_objects():
    node = Node(1.0)

    def get():
        return node

    return lambda x: get().value * x, [setter(node, "value", 4.0)]


@case
def transformed_helpers():
    k = [1.0]
    slope = overt.grad(lambda x: x * x * k[0])
    inner = overt.jit(lambda x: x + k[0])
    return lambda x: slope(x) + inner(x), [putter(k, 0, 4.0)]


# --- classes


def make_classes():
    class Base:
        scale = 1.0

    class Model(Base):
        rate = 2.0
        table = {"a": 1.0}

        def __init__(self):
            self.own = 1.0

        def value(self, x):
            return x * self.rate * self.table["a"] * self.scale

        @classmethod
        def of_class(cls, x):
            return x * cls.rate

        @staticmethod
        def plain(x):
            return x * Model.rate

        @property
        def factor(self):
            return self.rate * self.own

    return Base, Model


@case
def class_attributes():
    base, model = make_classes()
    made = model()

    def f(x):
        return made.value(x) + model.of_class(x) + model.plain(x) + model.rate * made.factor

    return f, [
        setter(model, "rate", 3.0),
        putter(model.table, "a", 9.0),
        setter(base, "scale", 4.0),
        setter(model, "scale", 5.0),
    ]


@case
def classes_of_local_objects():
    _, model = make_classes()

    def change():
        model.value = lambda self, x: 5.0 * x

    return lambda x: model().value(x), [setter(model, "rate", 3.0), change]


@case
def bound_methods():
    _, model = make_classes()
    made = model()
    changes = [setter(model, "rate", 3.0), setter(made, "rate", 6.0)]
    return made.value, changes


@case
def methods_replaced():
    class Model:
        def inner(self, x):
            return x

        def outer(self, x):
            return self.inner(x)

    class Other(Model):
        def inner(self, x):
            return 7.0 * x

    made = Model()
    return made.outer, [
        setter(Model, "inner", lambda self, x: 5.0 * x),
        setter(made, "inner", lambda x: 6.0 * x),
        lambda: made.__dict__.pop("inner"),
        setter(made, "__class__", Other),
    ]


@case
def operators_and_parents_replaced():
    class Parent:
        def twice(self, x):
            return 2.0 * x

    class Child(Parent):
        def twice(self, x):
            return super().twice(x) + 1.0

        def __mul__(self, x):
            return x

        def __len__(self):
            return 2

    made = Child()
    return lambda x: made.twice(x) + made * x + len(made), [
        setter(Parent, "twice", lambda self, x: 10.0 * x),
        setter(Child, "__mul__", lambda self, x: 3.0 * x),
        setter(Child, "__len__", lambda self: 5),
    ]


@case
def metaclasses_and_descriptors():
    class Meta(type):
        scale = 1.0

    class Described:
        def __init__(self, value):
            self.value = value

        def __get__(self, instance, owner=None):
            return self.value

    class Model(metaclass=Meta):
        field = Described(1.0)

    made = Model()
    changes = [setter(Meta, "scale", 4.0), setter(vars(Model)["field"], "value", 3.0)]
    return lambda x: Model.scale * made.field * x, changes


@case
def singletons():
    class Only:
        made = None

        @classmethod
        def get(cls):
            if cls.made is None:
                cls.made = cls()
                cls.made.k = 1.0
            return cls.made

    Only.get()
    return lambda x: Only.get().k * x, [setter(Only.made, "k", 4.0)]


# --- modules and globals

RATE = 1.0
DEEP = {"a": [[{"b": (1.0, [2.0])}]]}


@case
def modules():
    module = types.ModuleType("of_the_user")
    module.rate = 1.0
    module.sub = types.ModuleType("of_the_user.sub")
    module.sub.rate = 2.0
    held = {"module": module}

    def f(x):
        alias = module
        deep = alias.sub.rate * held["module"].rate
        return module.rate * getattr(module, "rate") * deep * x  # noqa: B009

    return f, [setter(module, "rate", 3.0), setter(module.sub, "rate", 5.0)]


def set_rate(value):
    globals()["RATE"] = value


@case
def globals_by_name():
    set_rate(1.0)
    return lambda x: globals()["RATE"] * x, [lambda: set_rate(4.0)]


@case
def deep_globals():
    DEEP["a"][0][0]["b"][1][0] = 2.0
    return lambda x: DEEP["a"][0][0]["b"][1][0] * x, [putter(DEEP["a"][0][0]["b"][1], 0, 7.0)]


@case
def builtins_shadowed():
    globals().pop("sum", None)
    changes = [lambda: globals().__setitem__("sum", lambda v: 100.0), lambda: globals().pop("sum")]
    return lambda x: sum([x, x]), changes


# --- objects and containers


@case
def long_chains():
    chain = last = Node(1.0)
    for _ in range(40):
        chain = Node(1.0, chain)

    def f(x):
        node = chain
        while node.below is not None:
            node = node.below
        return node.value * x

    return f, [setter(last, "value", 9.0)]


@case
def standard_containers():
    queue = collections.deque([1.0])
    base = {"a": 1.0}
    chain = collections.ChainMap({}, base)
    proxy = types.MappingProxyType(base)
    space = types.SimpleNamespace(a=types.SimpleNamespace(b=1.0))
    users = collections.UserDict(a=1.0)
    ordered = collections.OrderedDict(a=1.0)
    local = threading.local()
    local.a = 1.0

    def f(x):
        return (
            x * queue[0] * chain["a"] * proxy["a"] * space.a.b * users["a"] * ordered["a"] * local.a
        )

    return f, [
        putter(queue, 0, 2.0),
        putter(base, "a", 3.0),
        setter(space.a, "b", 2.0),
        putter(users, "a", 2.0),
        putter(ordered, "a", 2.0),
        setter(local, "a", 2.0),
    ]


@case
def subclasses_of_containers():
    class Table(dict):
        pass

    class Row(list):
        pass

    table, row = Table(a=1.0), Row([1.0])
    table.scale = row.scale = 1.0
    return lambda x: table["a"] * table.scale * row[0] * row.scale * x, [
        setter(table, "scale", 2.0),
        setter(row, "scale", 3.0),
        putter(row, 0, 4.0),
    ]


@case
def buffers():
    raw, numbers = bytearray([1]), array.array("d", [1.0])
    objects = numpy.array([Node(1.0)], dtype=object)
    plain = numpy.ones(2)
    return lambda x: np.sum(raw[0] * numbers[0] * objects[0].value * plain * x), [
        putter(raw, 0, 2),
        putter(numbers, 0, 3.0),
        setter(objects[0], "value", 4.0),
        putter(plain, 0, 5.0),
    ]


@case
def other_holders():
    variable = contextvars.ContextVar("variable", default=1.0)
    node = Node(1.0)
    reference = weakref.ref(node)
    members = {node}

    def f(x):
        return variable.get() * reference().value * sum(m.value for m in members) * x

    return f, [lambda: variable.set(3.0) and None, setter(node, "value", 4.0)]


@case
def the_environment():
    os.environ["OF_THE_TEST"] = "1"
    changes = [putter(os.environ, "OF_THE_TEST", "3")]
    return lambda x: float(os.environ["OF_THE_TEST"]) * float(os.getenv("OF_THE_TEST")) * x, changes


@case
def equal_but_not_the_same():
    state = {"k": 1}

    def f(x):
        if state["k"] is True:
            return 2.0 * x
        return 3.0 * x * float(numpy.copysign(1.0, state["k"].imag))

    changes = [True, 1.0, complex(1.0, 0.0), complex(1.0, -0.0)]
    return f, [putter(state, "k", v) for v in changes]


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_never_stale(make):
    f, changes = make()
    compiled = overt.jit(f)
    for change in [lambda: None, *changes]:
        change()
        expected = float(f(2.0))
        assert [float(compiled(2.0)), float(compiled(2.0))] == [expected, expected]


def test_derivatives_have_the_defaults_of_today():
    def helper(x, k=1.0):
        return x * k

    def f(x, k=2.0):
        return helper(x) * k

    compiled = overt.jit(overt.grad(f))
    for change in (lambda: None, setter(f, "__defaults__", (5.0,)),
                   setter(helper, "__defaults__", (7.0,))):  # fmt: skip
        change()
        slope = f(2.0) - f(1.0)
        assert float(overt.grad(f)(1.0)) == float(compiled(1.0)) == slope


# --- what a program cannot keep

GENERATOR = numpy.random.default_rng(0)
COUNTER = itertools.count()
REFUSED = {
    "random": lambda x: random.random() * x,
    "numpy.random": lambda x: numpy.random.rand() * x,
    "Generator": lambda x: GENERATOR.random() * x,
    "count": lambda x: next(COUNTER) * x,
    "time.perf_counter()": lambda x: time.perf_counter() * x,
    "datetime.now()": lambda x: datetime.datetime.now().year * x,
    "open()": lambda x: len(pathlib.Path(__file__).read_text()) * x,
    "random numbers of the system": lambda x: numpy.random.default_rng().random() * x,
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_differs_at_each_call_is_refused(what):
    with pytest.raises(Refusal, match="a compiled function") as caught:
        overt.jit(REFUSED[what])(1.0)
    assert what in str(caught.value) and "test_staleness.py" in str(caught.value)


def test_what_is_made_inside_may_be_used_up():
    def f(x):
        seeded = numpy.random.default_rng(0)
        numbers = itertools.count(1)
        return x * seeded.random() * next(numbers) + next(numbers)

    assert float(overt.jit(f)(2.0)) == pytest.approx(f(2.0))


def test_nothing_else_makes_a_new_program():
    """Programs are kept while what changes is nothing that the function could read."""
    node = Node(1.0)
    unread = {"calls": 0}

    def unused():
        return unread["calls"]

    compiled = overt.jit(lambda x: node.value * x)
    for i in range(4):
        unread["calls"] = i
        compiled(1.0)
    assert compiled.cache_size() == 1
    assert unused() == 3


class Settings:
    class Inner:
        bias = 0.0


def test_an_attribute_of_a_class_within_a_class():
    f = overt.jit(lambda x: x + Settings.Inner.bias)
    assert f(1.0) == 1.0
    Settings.Inner.bias = 2.0
    assert f(1.0) == 3.0
    Settings.Inner.bias = 0.0


def test_a_dropped_function_drops_what_it_closed_over():
    class Held(list):
        pass

    def made():
        held = Held([2.0])
        assert overt.jit(lambda x: x * held[0])(1.5) == 3.0
        assert overt.grad(lambda x: x * held[0])(1.5) == 2.0
        return weakref.ref(held)

    gone = made()
    gc.collect()
    assert gone() is None


class Plain:
    def __init__(self, rate):
        self.rate = rate


class Registered(Plain):
    """A node of trees, which may be a static argument all the same."""

    @functools.partial(overt.jit, static_argnums=0)
    def scaled(self, x):
        return self.rate * x


class Equal(Registered):
    def __hash__(self):
        return 1

    def __eq__(self, other):
        return True


for kind in (Registered, Equal):
    overt.tree_util.register_pytree_node(kind, lambda x: ((x.rate,), None), lambda _, x: Plain(*x))


@pytest.mark.parametrize("held", [lambda x: x, lambda x: (x, 3), lambda x: Registered(x)])
@pytest.mark.parametrize("kind", [Plain, Registered])
def test_static_objects_that_change(kind, held):
    def rate_of(x):
        x = x[0] if isinstance(x, tuple) else x
        return x.rate.rate if isinstance(x.rate, Plain) else x.rate

    f = overt.jit(lambda x, v: rate_of(x) * v, static_argnums=0)
    slope = overt.jit(overt.grad(lambda v, x: rate_of(x) * v * v), static_argnums=1)
    one = kind(2.0)
    for rate in (2.0, 5.0, 2.0, np.asarray(7.0)):
        one.rate = rate
        assert float(f(held(one), 3.0)) == rate * 3.0
        assert float(slope(3.0, held(one))) == rate * 6.0


def test_methods_of_nodes_with_a_static_self():
    one = Registered(2.0)
    assert float(one.scaled(3.0)) == 6.0
    one.rate = 5.0
    assert float(one.scaled(3.0)) == 15.0
    assert [float(Equal(rate).scaled(3.0)) for rate in (1.0, 2.0, 1.0)] == [3.0, 6.0, 3.0]


@dataclasses.dataclass(eq=False)
class Layer:
    weights: Any
    config: Any


overt.tree_util.register_dataclass(Layer, data_fields=["weights"], meta_fields=["config"])


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
def test_static_data_of_nodes_that_changes():
    config = Plain(2.0)

    def through(layers):
        layer = layers["first"][0]
        held = layer.config[0] if isinstance(layer.config, tuple) else layer.config
        return layer.weights * held.rate

    f, slope = overt.jit(through), overt.jit(overt.grad(lambda layers: through(layers) ** 2))
    for held in (config, (config, 1)):
        layers = {"first": [Layer(3.0, held)]}
        for rate in (2.0, 5.0, 2.0):
            config.rate = rate
            assert float(f(layers)) == 3.0 * rate
            assert float(slope(layers)["first"][0].weights) == 6.0 * rate**2
