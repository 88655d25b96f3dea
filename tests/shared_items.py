"""Programs that change what is known or held elsewhere too."""

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


def change_c1(s, v):
    s[0][0] = v


def c1(x):
    a = np.array([x, 1.0])
    s = (a, 2.0)
    change_c1(s, x * x)
    return s[0][0] * 3.0 + a[0]


def change_c2(s, v):
    s["a"] += v


def c2(x):
    s = {"a": np.array([x, 1.0])}
    t = dict(s)
    change_c2(s, x * x)
    return s["a"][0] * 3.0 + t["a"][0]


def change_c3(s, v):
    s["a"] += v


def c3(x):
    s = {"a": np.array([x, 1.0])}
    change_c3(s, x * x)
    return s["a"][0] * 3.0


def change_c4(s, v):
    s["a"] += v
    return s


def c4(x):
    s = {"a": np.array([x, 1.0])}
    t = change_c4(s, x * x)
    t["a"] += x
    return s["a"][0] * 3.0


def change_c5(s, v):
    s["a"] += v
    return s["a"]


def c5(x):
    s = {"a": np.array([x, 1.0])}
    t = change_c5(s, x * x)
    t += x
    return s["a"][0] * 3.0


def change_c6(s, v):
    s[0][0] = v


def c6(x):
    a = np.array([x, 1.0])
    s = [a, a]
    change_c6(s, x * x)
    return s[1][0] * 3.0


def change_c7(s, v):
    s[0] += v


def c7(x):
    a = np.array([x, 1.0])
    s = [a, a]
    change_c7(s, x * x)
    return s[1][0] * 3.0


def change_c8(s, v):
    for r in s:
        r += v


def c8(x):
    a = np.array([x, 1.0])
    s = [a, np.ones(2)]
    change_c8(s, x * x)
    return a[0] * s[1][0]


def change_c9(s, v):
    for r in s:
        r[0] = v


def c9(x):
    a = np.array([x, 1.0])
    s = [a, np.ones(2)]
    change_c9(s, x * x)
    return a[0] * s[1][0]


def change_c10(s, v):
    for r in s:
        r[0] = v


def c10(x):
    s = [np.zeros(2), np.ones(2)]
    change_c10(s, x * x)
    return s[0][0] * s[1][1]


def change_c11(s, v):
    s.append(v)
    s[0][0] = v


def c11(x):
    a = np.array([x, 1.0])
    s = [a]
    change_c11(s, x * x)
    return s[1] * a[0]


def change_c12(s, k, v):
    s[k][k] = v


def c12(x):
    s = [np.zeros(2), np.ones(2)]
    change_c12(s, 1, x * x)
    change_c12(s, 0, x)
    return s[0][0] * s[1][1]


def change_c13(s, v):
    s.a[0] = v


def c13(x):
    s = Point(np.array([x, 1.0]))
    change_c13(s, x * x)
    return s.a[0] * s.a[1]


def change_c14(s, v):
    s.a += v


def c14(x):
    a = np.array([x, 1.0])
    s = Point(a)
    change_c14(s, x * x)
    return s.a[0] * a[0]


def change_c15(s, v):
    s.a += v


def c15(x):
    a = np.array([x, 1.0])
    s = Point(a.copy())
    change_c15(s, x * x)
    return s.a[0] * a[0]


def c20(x):
    a = np.array([x, 1.0])
    s = Pair(a)
    s.a[0] = x * x
    return a[0] * s.a[1]


def c21(x):
    s = Pair(np.array([x, 1.0]))
    s[0][0] = x * x
    return s.a[0] * s.a[1]


def c22(x):
    s = (np.array([x, 1.0]), np.ones(2))
    s[0][0] = x * x
    s[1][:] = x
    return s[0][0] * s[1][1]


def c23(x):
    s = (np.array([x, 1.0]), np.ones(2))
    t = s
    s[0][0] = x * x
    return t[0][0] * s[1][1]


def c24(x):
    s = Pair(np.array([x, 1.0]), np.ones(2))
    a, b = s
    a[0] = x * x
    return s.a[0] * b[1]


def change_c27(s, k):
    r = s[k]
    r *= 2.0
    return r


def c27(x):
    s = [np.array([x, 1.0]), np.ones(2)]
    r = change_c27(s, 0)
    return s[0][0] * r[0]


def outer_c28(s, v):
    inner_c28(s["p"], v)


def inner_c28(p, v):
    p["a"] += v


def c28(x):
    s = {"p": {"a": np.array([x, 1.0])}}
    q = s["p"]
    outer_c28(s, x)
    return q["a"][0] * s["p"]["a"][0]


def outer_c29(s, v):
    inner_c29(s["p"], v)


def inner_c29(p, v):
    p["a"] += v


def c29(x):
    s = {"p": {"a": np.array([x, 1.0])}}
    outer_c29(s, x)
    return s["p"]["a"][0] * x


def step_c30(state, v):
    pos, vel = state
    pos += vel * v
    vel *= 0.9


def c30(x):
    state = (np.array([x, 1.0]), np.ones(2))
    for _ in range(3):
        step_c30(state, x)
    return state[0][0] * state[1][1]


def step_c31(pos, vel, v):
    pos += vel * v
    vel *= 0.9


def c31(x):
    pos, vel = np.array([x, 1.0]), np.ones(2)
    trace = []
    for _ in range(3):
        step_c31(pos, vel, x)
        trace.append(pos.copy())
    return pos[0] * vel[1] + trace[0][0]


def step_c32(pos, vel, v):
    pos += vel * v
    vel *= 0.9


def c32(x):
    pos, vel = np.array([x, 1.0]), np.ones(2)
    trace = []
    for _ in range(3):
        step_c32(pos, vel, x)
        trace.append(pos)
    return pos[0] * vel[1] + trace[0][0]


def c33(x):
    pos = np.array([x, 1.0])
    trace = []
    for _ in range(3):
        pos += x
        trace.append(pos)
    return pos[0] + trace[0][0]


def c34(x):
    pos = np.array([x, 1.0])
    trace = []
    for _ in range(3):
        pos[0] = pos[0] * x
        trace.append(pos)
    return trace[0][0] + trace[-1][1]


def c35(x):
    pos = np.array([x, 1.0])
    trace = []
    for _ in range(3):
        pos = pos + x
        trace.append(pos)
    return pos[0] + trace[0][0]


def c36(x):
    pos = np.array([x, 1.0])
    best = pos
    for _ in range(3):
        pos += x
        if pos[0] > 2.0:
            best = pos
    return best[0] * 2.0


def c37(x):
    pos = np.array([x, 1.0])
    best = pos.copy()
    for _ in range(3):
        pos += x
        if pos[0] > 1.5:
            best = pos.copy()
    return best[0] * 2.0


def get_c38(d):
    return d["k"]


def c38(x):
    d = {"k": np.array([x, 1.0])}
    v = get_c38(d)
    v += x
    return d["k"][0]


def get_c39(d):
    return d["k"]


def c39(x):
    d = {"k": np.array([x, 1.0])}
    v = get_c39(d)
    d["k"] += x
    return v[0]


def make_c40(a):
    def g(v):
        a[0] = v

    def h():
        return a[0]

    return g, h


def c40(x):
    a = np.array([x, 1.0])
    g, h = make_c40(a)
    g(x * x)
    return h() * a[0]


def make_c41(a):
    def g(v):
        a[0] = v
        return a[0] * 2.0

    return g


def c41(x):
    a = np.array([x, 1.0])
    g = make_c41(a)
    r = g(x * x)
    return r * a[0]


def change_c42(*arrays, v):
    for a in arrays:
        a[0] = v


def c42(x):
    a, b = np.array([x, 1.0]), np.ones(2)
    change_c42(a, b, v=x * x)
    return a[0] * b[0]


def change_c43(**named):
    named["a"][0] = named["v"]


def c43(x):
    a = np.array([x, 1.0])
    change_c43(a=a, v=x * x)
    return a[0] * 2.0


def change_c44(a, v):
    a[0] = v


def c44(x):
    a = np.array([x, 1.0])
    args = (a, x * x)
    change_c44(*args)
    return a[0] * 2.0


def change_c46(a, memo=[]):
    memo.append(a)
    return memo


def c46(x):
    u = change_c46(x)
    w = change_c46(x * x)
    return u[0] * w[1] + len(u)


def a1(x):
    a = np.array([x, 1.0])
    xs = [a for _ in range(3)]
    xs[0][0] = x * x
    return xs[1][0] + xs[0][0]


def a2(x):
    a = np.array([x, 1.0])
    d = {k: a for k in "pq"}
    d["p"] += x
    return d["q"][0]


def a3(x):
    a = np.array([x, 1.0])
    xs = [None] * 3
    for i in range(3):
        xs[i] = a
    xs[0][0] = x * x
    return xs[1][0] + xs[0][0]


def a4(x):
    xs = []
    a = np.array([x, 1.0])
    for i in range(3):
        xs.append(a)
    xs[0] += x * x
    return xs[1][0] + xs[0][0]


def a5(x):
    xs = [np.array([x, 1.0]), np.array([x, 2.0])]
    ys = xs + xs
    ys[0] += x
    return ys[2][0]


def a6(x):
    xs = [np.array([x, 1.0]), np.array([x, 2.0])]
    ys = [*xs, *xs]
    ys[0][0] = x * x
    return ys[2][0]


def a7(x):
    a = np.array([x, 1.0])
    d = {}
    d["p"] = a
    d["q"] = a
    d["p"] += x
    return d["q"][0]


def a8(x):
    a = np.array([x, 1.0])
    d = {}
    d.setdefault("p", a)
    d.setdefault("q", a)
    d["p"] += x
    return d["q"][0]


def a9(x):
    a = np.array([x, 1.0])
    d = {"u": [a], "v": [a]}
    d["u"][0] += x
    return d["v"][0][0]


def a10(x):
    r = [np.array([x, 1.0])]
    d = {"u": r, "v": r}
    d["u"][0][0] = x * x
    return d["v"][0][0]


def a11(x):
    r = [np.array([x, 1.0])]
    d = {"u": r, "v": r}
    d["u"][0] = np.array([x * x, 1.0])
    return d["v"][0][0]


def twice_a12(a):
    return [a, a]


def a12(x):
    xs = twice_a12(np.array([x, 1.0]))
    xs[0] += x
    return xs[1][0]


def a13(x):
    xs = list(itertools.repeat(np.array([x, 1.0]), 2))
    xs[0] += x
    return xs[1][0]


def a14(x):
    xs = [np.array([x, 1.0])] * 2
    ys = list(xs)
    ys[0] += x
    return ys[1][0]


def a15(x):
    a = np.array([x, 1.0])
    xs = [a, a]
    xs[0], xs[1] = xs[1], xs[0]
    xs[0] += x
    return xs[1][0]


def a16(x):
    xs = [np.array([x, 1.0]), np.array([x, 2.0])]
    xs[0], xs[1] = xs[1], xs[0]
    xs[0] += x
    return xs[1][0] + xs[0][0]


def a17(x):
    xs = [np.array([x, 1.0]), np.array([x, 2.0])]
    for i in range(30):
        xs[i % 2] += x
    return xs[1][0] + xs[0][0]


def a18(x):
    xs = [np.array([x, 1.0]), np.array([x, 2.0])]
    xs[1] = xs[0]
    xs[0] += x
    return xs[1][0] + xs[0][0]


def a19(x):
    xs = [np.zeros(2) for _ in range(3)]
    for i in range(3):
        xs[i] += x
        xs[i][1] = x * i
    return xs[1][0] + xs[0][0] * xs[2][1]


def a20(x):
    xs = []
    for i in range(3):
        row = np.zeros(2)
        row += x
        xs.append(row)
    for i in range(3):
        xs[i] += x
        xs[i][1] = x * i
    return xs[1][0] + xs[0][0] * xs[2][1]


def a21(x):
    xs = [x, x]
    xs[0] += x
    return xs[1] * xs[0]


def a22(x):
    d = collections.defaultdict(list)
    a = np.array([x, 1.0])
    d["p"].append(a)
    d["q"].append(a)
    d["p"][0] += x
    return d["q"][0][0]


def a23(x):
    d = {"p": np.zeros(3), "q": np.zeros(3)}
    for k in d:
        d[k] += x
        d[k][1] = x * x
    return d["q"][0] * d["p"][1]


def a24(x):
    z = np.zeros(3)
    d = {"p": z, "q": z}
    for k in d:
        d[k] += x
    return d["q"][0] * d["p"][1]


def a25(x):
    z = np.zeros(3) + x
    d = dict(p=z, q=z)
    d["p"][0] = x * x
    return d["q"][0] * d["p"][1]


def a26(x):
    z = np.zeros(3) + x
    d = dict(zip("pq", [z, z]))
    d["p"][0] = x * x
    return d["q"][0] * d["p"][1]


def a27(x):
    m = [[x] * 3] * 2
    m[0] += [x * x]
    return m[1][-1]


def a28(x):
    m = [[x] * 3 for _ in range(2)]
    m[0] += [x * x]
    m[1][0] += x
    return m[1][-1] + m[1][0] * m[0][3]


def a29(x):
    o = Box(np.array([x, 1.0]))
    xs = [o, o]
    xs[0].a += x
    return xs[1].a[0]


def a30(x):
    o = Box(np.array([x, 1.0]))
    p = Box(o.a)
    xs = [o, p]
    xs[0].a += x
    return xs[1].a[0]


def a31(x):
    o = Box(np.array([x, 1.0]))
    p = Box(o.a)
    o.a[0] = x * x
    return p.a[0]


def a32(x):
    d = {"a": np.array([x, 1.0])}
    e = [d]
    e[0]["a"] += x
    return d["a"][0]


def a33(x):
    d = {"a": np.array([x, 1.0])}
    e = d.copy()
    e["a"] += x
    return d["a"][0]


def a34(x):
    d = {"a": np.array([x, 1.0])}
    e = {**d}
    e["a"] *= x
    return d["a"][0]


def a35(x):
    d = {"a": np.array([x, 1.0])}
    e = d | {"b": 1.0}
    e["a"] *= x
    return d["a"][0]


def a36(x):
    d = {"a": np.array([x, 1.0])}
    e = tuple(d.values())
    d["a"] *= x
    return e[0][0]


def a37(x):
    d = {"a": np.array([x, 1.0])}

    def g():
        return d["a"][0]

    e = d["a"]

    def h():
        return e[0]

    d["a"] *= x
    return g() + h()


def a38(x):
    d = {"a": np.array([x, 1.0])}
    h = functools.partial(np.sum, d["a"])
    d["a"] *= x
    return h()


def a39(x):
    d = {"a": np.array([x, 1.0])}
    h = d["a"].sum
    d["a"] *= x
    return h()


def a40(x):
    xs = [np.array([x, 1.0]), np.array([2.0, x])]
    first, *rest = xs
    xs[1] *= x
    return rest[0][0] + rest[0][1]


def a41(x):
    xs = [np.array([x, 1.0]), np.array([2.0, x])]
    it = iter(xs)
    xs[1] *= x
    next(it)
    return next(it)[1]


def a42(x):
    q = collections.deque([np.array([x, 1.0])])
    y = q[0]
    q[0] *= x
    return y[0]


def a43(x):
    q = [np.array([x, 1.0])]
    y = max(q, key=lambda r: r[0])
    q[0] *= x
    return y[0]


def a44(x):
    q = [np.array([x, 1.0])]
    s = Pair(*q)
    q[0] *= x
    return s.a[0]


def a45(x):
    q = [np.array([x, 1.0])]
    s = Pair(q[0])
    t = s._asdict()
    t["a"] *= x
    return s.a[0] + q[0][0]


def a46(x):
    q = np.array([x, 1.0])
    s = [Point(q), Point(q)]
    for p in s:
        p.a += x
    return s[0].a[0] * q[0]


def a47(x):
    q = np.array([x, 1.0])
    s = [Point(q.copy()), Point(q.copy())]
    for p in s:
        p.a += x
    return s[0].a[0] * q[0]


def a48(x):
    q = np.array([[x, 1.0], [2.0, x]])
    rows = [q[0], q[1]]
    rows[0] += x
    return q[0, 0] * q[1, 0]


def a49(x):
    q = np.array([[x, 1.0], [2.0, x]])
    rows = list(q)
    rows[0][1] = x * x
    return q[0, 1] * q[1, 0]


def a50(x):
    q = np.array([[x, 1.0], [2.0, x]])
    o = Box(q[0])
    o.a += x
    return q[0, 1] * q[1, 0]


def a51(x):
    q = np.array([[x, 1.0], [2.0, x]])
    o = Box(q[0])
    q += x
    return o.a[1] * q[1, 0]


def a52(x):
    q = np.array([[x, 1.0], [2.0, x]])
    o = Box(q.T)
    q[0, 1] = x * x
    return o.a[1, 0] * q[1, 0]


def a53(x):
    a = b = np.zeros(3)
    a += x
    return b[0] * 2.0


def a54(x):
    a = b = np.zeros(3)
    a[0] = x
    b[1] = x * x
    return b[0] * a[1]


def a55(x):
    a, b = np.ones(2) * x, np.ones(2)
    for i in range(5):
        a, b = b, a
        a += x
        b[0] = a[1]
    return a[0] * b[1] + b[0]


def a56(x):
    old, new = np.ones(4) * x, np.zeros(4)
    for _ in range(6):
        for i in range(1, 3):
            new[i] = old[i - 1] + old[i + 1] * x
        old, new = new, old
    return np.sum(old) + new[1]


def a57(x):
    old, new = np.ones(4) * x, np.zeros(4)
    for _ in range(6):
        new[1:-1] = old[:-2] + old[2:] * x
        old[:] = new
    return np.sum(old) + new[1]


def a58(x):
    old = np.ones(4) * x
    new = old
    for _ in range(3):
        new[1:-1] = old[:-2] + old[2:] * x
    return np.sum(old) + new[1]


def a59(x):
    xs = [np.ones(3) * x, np.ones(3)]
    for a in xs:
        a *= x
    return xs[0][0] + xs[1][1]


def a60(x):
    a, b = np.ones(3) * x, np.ones(3)
    for u, v in zip([a, b], [1.0, 2.0]):
        u += v * x
    return a[0] + b[1] * 3.0


def a61(x):
    d = {"a": np.ones(3) * x, "b": np.ones(3)}
    for u in d.values():
        u += x
    return d["a"][0] + d["b"][1] * 3.0


def a62(x):
    d = {"a": np.ones(3) * x, "b": np.ones(3)}
    for k, u in d.items():
        u[0] = x * x
    return d["a"][0] + d["b"][1] * 3.0


def a63(x):
    m = np.ones((3, 2)) * x
    for i, row in enumerate(m):
        row += i * x
        row[0] = x * x
    return m[2, 1] + m[1, 0]


def b1(x):
    s = [Box(np.array([x, 1.0])), Box(np.array([x, 2.0]))]
    for p in s:
        p.a += x
    return s[0].a[0] * s[1].a[1]


def b2(x):
    q = np.array([x, 1.0])
    s = [Box(q.copy()), Box(q.copy())]
    for p in s:
        p.a += x
    return s[0].a[0] * q[0]


def b3(x):
    q = np.array([x, 1.0])
    s = [Point(q.copy()), Point(q.copy())]
    for i in range(2):
        s[i].a += x
    return s[0].a[0] * q[0]


def b4(x):
    s = [Point(np.zeros(2)) for _ in range(3)]
    for p in s:
        p.a[0] = x
        p.a += x
    return s[0].a[0] * s[1].a[1]


def b5(x):
    d = {"a": np.array([x, 1.0])}

    def g():
        return d["a"][0]

    d["a"] *= x
    return g()


def b6(x):
    d = {"a": np.array([x, 1.0])}
    fs = [lambda: d["a"][0]]
    d["a"] *= x
    return fs[0]()


def b7(x):
    d = {"a": np.array([x, 1.0])}
    e = d["a"]
    fs = [lambda: e[0]]
    d["a"] *= x
    return fs[0]()


def b8(x):
    q = [np.array([x, 1.0]), np.array([2.0, x])]
    y = q[0][1:]
    q[0] *= x
    q[1] += 1.0
    return y[0] + q[1][0]


RIGHT = set(
    """
    c3 c4 c10 c12 c13 c15 c21 c22 c23 c24 c27 c29 c31 c35 c37 c38 c39 c46 a16 a17 a19 a20
    a21 a23 a28 a29 a42 a47 a53 a54 a56 a57 a58 a59 a63 b1 b2 b3 b5 b6 b8
    """.split()
)  # the others may be refused
