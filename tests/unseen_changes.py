"""Programs with changes by functions that are not seen, and iterators over what changes."""

# ruff: noqa: B006, B007, B023, B905, E731, B009, F401, F841
from __future__ import annotations

import bisect
import collections
import contextlib
import contextvars
import copy
import dataclasses
import functools
import heapq
import itertools
import operator
import random
import threading
import types
from typing import Any, NamedTuple

import overt.numpy as np


class Box:
    def __init__(self, a):
        self.a = a


class Pair(NamedTuple):
    a: Any
    b: Any = None


@dataclasses.dataclass
class Point:
    a: Any
    b: Any = None


def ident(a):
    return a


def o1(x):
    a = [x, x * x, 3.0 * x, 1.0]
    random.Random(3).shuffle(a)
    return a[0] * 2.0 + a[1] * 3.0 - a[2]


def o2(x):
    a = [x, x * x, 3.0 * x, 1.0]
    r = random.Random(3)
    r.shuffle(a)
    return a[0] * 2.0 + a[1] * 3.0 - a[2]


def o3(x):
    o = {"y": 1.0}
    exec("y = x * x", {"x": x}, o)
    return o["y"] * x


def o4(x):
    a = []
    list(map(a.append, [x, x * 2.0]))
    return a[0] * a[1]


def o5(x):
    a = []
    collections.deque(map(a.append, [x, x * 2.0]), maxlen=0)
    return a[0] * a[1]


def o6(x):
    a = [x, 1.0]
    operator.iadd(a, [x * x])
    return a[2] * a[0]


def o7(x):
    a = [x, 1.0]
    operator.setitem(a, 1, x * x)
    return a[1] * a[0]


def o8(x):
    d = {}
    dict.__setitem__(d, "y", x * x)
    return d["y"]


def o9(x):
    a = np.array([x, 1.0, 2.0])
    b = a
    functools.reduce(operator.iadd, [a, x, x * x])
    return b[0] * a[1]


def o10(x):
    a = np.array([x, 1.0, 2.0])
    b = functools.reduce(operator.iadd, [a, x, x * x])
    return b[0] * a[1]


def o11(x):
    b = functools.reduce(operator.add, [np.array([x, 1.0]), x, x * x])
    return b[0] * x


def o12(x):
    a = []
    _ = [a.append(x * k) for k in range(3)]
    return a[1] * a[2]


def o13(x):
    a = []
    add = functools.partial(a.insert, 0)
    add(x)
    add(x * x)
    return a[0] * a[1] * a[1]


def o14(x):
    a = [x]
    u = 0
    while u < 40:
        list(map(a.append, [a[-1] * 0.9]))
        u += 1
    return a[40] + a[-1]


def o15(x):
    a = [x, 2.0]
    u = x
    while u < 5.0:
        operator.setitem(a, 1, a[1] + u)
        u = u * 2.0
    return a[1]


def o16(x):
    a = [x, 2.0]
    if x > 0.5:
        operator.setitem(a, 1, x * x)
    return a[1]


def o17(x):
    a = [x, 2.0]
    if x > 0.5:
        list.append(a, x * x)
    else:
        list.append(a, x)
    return a[2]


def o19(x):
    d = {}
    if x > 0.5:
        dict.__setitem__(d, "y", x * x)
    else:
        d["y"] = x
    return d["y"]


def o20(x):
    a = [x * k for k in range(4)]
    del a[1]
    a.insert(0, x * x)
    a.reverse()
    return a[0] * 3.0 + a[-1]


def o21(x):
    a = [x * k for k in range(4)]
    operator.delitem(a, 1)
    return a[0] * 3.0 + a[1] * a[2]


def o22(x):
    a = [1.0] * 3
    list(itertools.starmap(a.__setitem__, [(0, x), (1, x * x)]))
    return a[0] * 3.0 + a[1] * a[2]


def o23(x):
    s = types.SimpleNamespace()
    for k, v in zip("ab", [x, x * x]):
        setattr(s, k, v)
    return s.a * s.b


def o24(x):
    s = types.SimpleNamespace()
    list(map(functools.partial(setattr, s), "ab", [x, x * x]))
    return s.a * s.b


def o26(x):
    s = types.SimpleNamespace(a=1.0)
    object.__setattr__(s, "a", x * x)
    return s.a * x


def o27(x):
    a = [3.0 * x, x, 2.0 * x]
    b = sorted(a)
    a.sort(key=lambda v: -v)
    return b[0] * a[0] + a[1]


def o28(x):
    c = itertools.count()
    h = []
    for v in [3.0 * x, x, 2.0 * x]:
        heapq.heappush(h, (v, next(c)))
    return heapq.heappop(h)[0] * h[0][0] + h[0][1]


def o29(x):
    q = collections.deque(maxlen=2)
    q.extend([x, x * x, x**3])
    q.extendleft([1.0])
    return q[0] + q[1] * 2.0


def o31(x):
    d = collections.ChainMap({}, {"a": x})
    d["b"] = x * x
    d["a"] = d["a"] + 1.0
    return d["a"] * d["b"] + d.maps[1]["a"]


def o32(x):
    d = {"a": x}
    u = d.items()
    d["b"] = x * x
    return sum(v for _, v in u)


def o33(x):
    d = {"a": x}
    u = d.values()
    d["b"] = x * x
    return sum(u)


def o34(x):
    d = {"a": x, "b": 2.0}
    it = iter(d.values())
    d["b"] = x * x
    next(it)
    return next(it)


def o35(x):
    a = [x, 2.0]
    it = iter(a)
    a.append(x * x)
    return sum(it)


def o36(x):
    a = [x, 2.0]
    r = reversed(a)
    a[0] = x * x
    next(r)
    return next(r)


def o37(x):
    a = [x, 2.0]
    z = zip(a, a)
    a[0] = x * x
    p, q = next(z)
    return p * q


def o38(x):
    a = np.array([x, 2.0])
    z = zip(a, a)
    a[0] = x * x
    p, q = next(z)
    return p * q


def o39(x):
    a = np.array([x, 2.0])
    g = (v * 2.0 for v in a)
    a[0] = x * x
    return sum(g)


def o40(x):
    a = [x, 2.0]
    g = (v * 2.0 for v in a)
    a.append(x * x)
    return sum(g)


def o41(x):
    a = [x, 2.0]
    k = 2.0
    g = (v * k for v in a)
    k = 3.0 * x
    return sum(g)


def o42(x):
    a = [x, 2.0]
    g = map(lambda v: v * k, a)
    k = 3.0 * x
    return sum(g)


def o43(x):
    fs = [lambda: x * i for i in range(3)]
    return fs[0]() + fs[1]()


def o44(x):
    fs = []
    for i in range(3):
        fs.append(lambda: x * i)
    return fs[0]() + fs[1]()


def o45(x):
    fs = []
    for i in range(3):
        fs.append(lambda i=i: x**i)
    return fs[0]() + fs[1]() + fs[2]()


def o46(x):
    def gen():
        s = x
        while True:
            k = yield s
            s = s * (k or x)

    g = gen()
    next(g)
    g.send(2.0)
    return next(g) + g.send(3.0)


def o47(x):
    @contextlib.contextmanager
    def scaled(o):
        o.a = o.a * 2.0
        yield o
        o.a = o.a + x

    o = Box(x)
    with scaled(o) as p:
        p.a = p.a * x
    return o.a


class Cm_o48:
    def __init__(self, d):
        self.d = d

    def __enter__(self):
        self.d["a"] *= 3.0
        return self.d

    def __exit__(self, *e):
        self.d["a"] += 1.0


def o48(x):
    d = {"a": x}
    with Cm_o48(d) as e:
        e["a"] = e["a"] * x
    return d["a"]


class Pr_o49:
    def __init__(self, x):
        self._x = x
        self.n = 0

    @property
    def x(self):
        self.n += 1
        return self._x * self.n

    @x.setter
    def x(self, v):
        self._x = v * 2.0


def o49(x):
    p = Pr_o49(x)
    p.x = p.x + p.x
    p.x += 1.0
    return p.x


class It_o50:
    def __init__(self, n):
        self.n = n
        self.s = 0.0

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.s = self.s + self.n
        return self.s


def o50(x):
    it = It_o50(4)
    t = 0.0
    for v in it:
        t = t + v * x
        if v > 4.0:
            it.s = x
    return t * it.s


def o51(x):
    a = np.array([x, 1.0, 2.0])
    g = a.fill
    g(x * x)
    return np.sum(a)


def o54(x):
    a = np.array([3.0 * x, x, 2.0])
    functools.partial(np.add.at, a)([0, 0], x)
    return np.sum(a)


def o56(x):
    a = [3.0 * x, x, 2.0]
    put = functools.partial(operator.setitem, a)
    put(0, x * x)
    return a[0] * a[1]


def o57(x):
    a = [3.0 * x, x, 2.0]
    put = a.__setitem__
    put(0, x * x)
    return a[0] * a[1]


def o58(x):
    d = {"a": x}
    g = d.update
    g(b=x * x)
    return d["a"] * d["b"]


def o59(x):
    d = {"a": x}
    g = d.setdefault
    v = g("b", x * x)
    return d["a"] * d["b"] * v


def o60(x):
    q = [x, x * x, 3.0]
    g = q.pop
    return g() * g() + q[0]


RIGHT = set(
    """
    o1 o2 o3 o4 o5 o6 o7 o8 o11 o12 o13 o14 o15 o16 o17 o19 o20 o21 o22 o23 o24 o26 o27 o28
    o29 o31 o43 o44 o45 o46 o47 o48 o49 o50 o56 o57 o58 o59 o60
    """.split()
)  # the others may be refused
