"""Containers of values under differentiation: copied, sorted, merged, repeated, looped over."""

from __future__ import annotations

import copy
import functools
import math
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy
import pytest

import overt
from tests.numeric import slope

pytestmark = pytest.mark.usefixtures("quiet_x64")


@dataclass
class Pair:
    a: Any
    b: Any = 0.0


def merged_in_place(x):
    d = {"a": x}
    d |= {"d": d["a"] * 2.0}
    return d["d"]


def merged(x):
    d = {"a": x}
    e = d | {"b": x * x}
    return e["b"] + e["a"]


def repeated_in_place(x):
    l = [x, x]
    l *= 2
    return sum(l)


def repeated(x):
    l = [x, 2 * x]
    t = (x, x * x)
    return (l * 2)[3] + (t * 2)[3] * 3 + (2 * t)[1]


def repeated_display(x):
    l = [x] * 3
    l[0] = 2 * x
    return l[1] * l[0]


def number_keys(x):
    s = {1: x, 2: x}
    t = 0.0
    for k in s:
        t = t + k * s[k]
    return t


def number_items(x):
    s = {1: x, 2: x * x}
    t = 0.0
    for k, v in s.items():
        t += k * v
    return t


def sum_over_keys(x):
    s = {1: x, 2: x * x}
    return sum(k * s[k] for k in s)


def keys_of_display(x):
    t = 0.0
    for k in {1: x, 2: 3.0}:
        t += k * x
    return t


def replaced_field(x):
    s = Pair(x)
    s = replace(s, a=s.a + x * x)
    return s.a


def cached(x):
    @functools.cache
    def g():
        return x * x

    return g() + g()


def sorted_items(x):
    d = {"a": x, "b": 2.0 * x}
    return [v for k, v in sorted(d.items())][1]


def largest_value(x):
    d = {"a": x, "b": 2.0 * x}
    return max(d.values())


def ordered_dictionary(x):
    d = OrderedDict()
    d["u"] = x
    d["v"] = x * x
    return sum(v for _, v in d.items())


def grouped(x):
    g = defaultdict(list)
    for i, v in enumerate([x, 2 * x, x * x]):
        g[i % 2].append(v)
    return sum(g[0]) * sum(g[1])


def deep_copy(x):
    d = {"a": [x], "b": x}
    e = copy.deepcopy(d)
    e["a"][0] = e["a"][0] * 2
    return e["a"][0] * d["a"][0]


def recursion_with_branch(x):
    def walk(t, d):
        if t is None:
            return 0.0
        here = t[0] ** 2 if t[0] > 0 else t[0]
        return here / d + walk(t[1], d + 1)

    return walk((x, (2.0 * x, None)), 1)


def recursion_with_early_return(x):
    def g(n):
        if n == 0:
            return x
        a = g(n - 1)
        return a * x

    return g(3)


def sorted_values(x):
    xs = [x * x, x, 3 * x]
    return sorted(xs)[1] * 2


def columns(x):
    rows = [[x, 1.0], [2.0, x]]
    cols = [list(c) for c in zip(*rows)]  # noqa: B905
    return cols[0][1] * cols[1][1] * cols[0][0]


def largest_by_key(x):
    return max([x, 2 * x, x * x], key=lambda v: -v)


def dictionary_methods(x):
    d = dict(a=x)
    d.update(b=x * x)
    d.setdefault("c", 3 * x)
    return d["b"] * d["c"] + d.pop("a") + d.get("z", x)


def decorated(x):
    def deco(f):
        @functools.wraps(f)
        def w(*a, **kw):
            t = 0.0
            for _ in range(2):
                t = t + f(*a, **kw)
            return t

        return w

    @deco
    def g(u, scale=2.0):
        return u * u * scale

    return g(x) + g(x, scale=3.0)


def starred(x):
    a, *b = [x, 2 * x, 3 * x]
    b.reverse()
    return a * b[0] + b[1]


def sorted_in_place(x):
    xs = [x, 2 * x, 3 * x]
    xs.sort(key=lambda v: -v)
    return xs[0]


def unpacked_dictionary(x):
    a = {"p": x}
    b = {**a, "q": x * x}
    b["p"] = b["p"] * 2
    return b["p"] * b["q"] * a["p"]


def enumerated_pairs(x):
    s = 0.0
    for i, (u, v) in enumerate(zip([x, 2 * x], [1.0, x])):  # noqa: B905
        s = s + i * u * v + u
    return s


def joined_twice(x):
    xs = [x]
    ys = xs + [2 * x]
    zs = xs + [3 * x]
    return ys[0] * zs[0] + ys[1]


def tuple_given_twice(x):
    p = (x, 2 * x)

    def h(q, k):
        a, b = q
        return a * b * k

    return h(p, 2.0) + h(p, x)


def list_given_twice(x):
    p = [x, 2 * x]

    def h(q, k):
        t = 0.0
        for v in q:
            t = t + v * k
        return t

    return h(p, 2.0) * h(p, x)


def totals_by_key(x):
    g = defaultdict(float)
    for i, v in enumerate([x, 2 * x, x * x]):
        g[i % 2] += v
    return g[0] * g[1]


def loops_over_dictionary(x):
    p = {"w": x, "b": 2 * x}
    t = 0.0
    for k, v in p.items():  # noqa: B007
        t = t + v**2
    for k in p:
        t = t + p[k] ** 3
    for v in p.values():
        t = t * v
    return t


def stack_machine(x):
    stack = []
    for word in "x 3 * x x * + x".split():
        match word:
            case "+" | "*":
                b, a = stack.pop(), stack.pop()
                stack.append(a + b if word == "+" else a * b)
            case "x":
                stack.append(x)
            case _:
                stack.append(float(word))
    last = stack.pop()
    return sum(stack) * last


def stack_of_branches(x):
    stack = [x, 2.0]
    for k in range(4):
        if x * k > 1.2:
            stack.append(stack.pop() * x)
        else:
            stack.append(x + k)
    return stack.pop() * sum(stack[1:])


def taken_and_dropped(x):
    stack = [x, x * x, 4.0]
    stack.pop()
    y = stack.pop()
    stack.append(y * x)
    stack.pop()
    return sum([y, x, 2]) + sum(stack)


def sums_of_arrays(x):
    np = overt.numpy
    parts = [x, np.array([1.0, 2.0]) * x, np.ones((2, 2)) * x**2]
    while len(parts) < 5:
        parts.append(sum(parts) / 4)
    return np.sum(sum(parts) ** 2)


FUNCTIONS = [
    stack_machine,
    stack_of_branches,
    taken_and_dropped,
    sums_of_arrays,
    merged_in_place,
    merged,
    repeated_in_place,
    repeated,
    repeated_display,
    number_keys,
    number_items,
    sum_over_keys,
    keys_of_display,
    replaced_field,
    cached,
    sorted_items,
    largest_value,
    ordered_dictionary,
    grouped,
    deep_copy,
    recursion_with_branch,
    recursion_with_early_return,
    sorted_values,
    columns,
    largest_by_key,
    dictionary_methods,
    decorated,
    starred,
    sorted_in_place,
    unpacked_dictionary,
    enumerated_pairs,
    joined_twice,
    tuple_given_twice,
    list_given_twice,
    totals_by_key,
    loops_over_dictionary,
]
X = 0.5


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    want = slope(f, X)
    numpy.testing.assert_allclose(overt.jit(f)(X), f(X), rtol=1e-12)
    for way in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_over_lanes_and_twice(f):
    xs = numpy.array([0.5, 0.8])
    numpy.testing.assert_allclose(overt.vmap(f)(xs), [f(x) for x in xs.tolist()], rtol=1e-12)
    slopes = [slope(f, x) for x in xs.tolist()]
    numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(xs), slopes, rtol=1e-6)
    second = slope(lambda x: slope(f, x), X)
    got = overt.jvp(overt.grad(f), (X,), (1.0,))[1]
    numpy.testing.assert_allclose(got, second, rtol=1e-4, atol=1e-6)


def test_a_loop_that_starts_with_a_name_it_reads():
    def counted(x):
        count = 0.0

        def increase(v):
            nonlocal count
            count = count + v

        for k in range(3):
            increase(x * k)
        return count * x

    assert float(overt.grad(overt.grad(counted))(X)) == pytest.approx(6.0)
    assert float(overt.jit(overt.grad(overt.grad(counted)))(X)) == pytest.approx(6.0)


def pairs_to_dictionary(x):
    found = dict(zip("abc", overt.numpy.ones(3) * x, strict=True))
    found |= {"d": found["a"] * found["b"]}
    total = 0.0
    for key, value in found.items():
        total += value * (ord(key) - 96)
    return total


def of_math(x):
    return math.exp(x) * math.sqrt(x) + math.pi * x + math.hypot(x, 2.0)


@pytest.mark.parametrize("f", [pairs_to_dictionary, of_math], ids=lambda f: f.__name__)
def test_dictionaries_of_rows_and_functions_of_math(f):
    want = slope(f, X)
    for way in (overt.grad(f), overt.jit(overt.grad(f))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(numpy.array([X, X])), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.jit(f)(X), f(X), rtol=1e-12)


def functions_in_a_list(x):
    powers = [lambda v, k=k: v**k * x for k in range(3)]
    return sum(f(2.0 * x) for f in powers)


def functions_in_a_dictionary(x):
    table = {"scaled": lambda v: v * x, "shifted": lambda v: v + x * x}
    return table["scaled"](2.0) * table["shifted"](x)


@pytest.mark.parametrize(
    "f", [functions_in_a_list, functions_in_a_dictionary], ids=lambda f: f.__name__
)
def test_functions_in_containers(f):
    want = slope(f, X)
    numpy.testing.assert_allclose(overt.jit(f)(X), f(X), rtol=1e-12)
    numpy.testing.assert_allclose(overt.jvp(f, (X,), (1.0,))[1], want, rtol=1e-6)
    for way in (overt.grad(f), overt.jit(overt.grad(f))):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-6)
    numpy.testing.assert_allclose(overt.vmap(overt.grad(f))(numpy.array([X, X])), want, rtol=1e-6)


class Noted:
    """An object; storing into it by name makes a derivative a recorded one."""


def functions_made_by_a_loop(x):
    """Derivatives of this are recorded: the functions that the loop makes hold `x` and `y`."""
    powers = []
    for k in range(3):
        y = x * k
        powers.append(lambda v, k=k, y=y: v**k * x + v * y)
    noted = Noted()
    setattr(noted, "name", x)  # noqa: B010
    return sum(f(2.0 * x) for f in powers) + noted.name


@pytest.mark.filterwarnings("ignore::overt.runtime.errors.RecordedWarning")
def test_functions_made_by_a_recorded_loop():
    want = slope(functions_made_by_a_loop, X)
    for way in (
        overt.grad(functions_made_by_a_loop),
        overt.jit(overt.grad(functions_made_by_a_loop)),
    ):
        numpy.testing.assert_allclose(way(X), want, rtol=1e-5)
