"""Lists, sets and dictionaries that change in branches of data, or by operators, and that more than
one variable, object or container holds."""

# ruff: noqa: B006, E701
from __future__ import annotations

import collections

import overt.numpy as np


class Box:
    def __init__(self, a):
        self.a = a

    def push(self, x):
        if x > 0:
            self.a.append(x)

    def push_named(self, x):
        a = self.a
        if x > 0:
            a.append(x)


class Shared:
    items = []

    def push(self, x):
        if x > 0:
            self.items.append(x)


class Table:
    def __init__(self):
        self.rows = {}

    def add(self, k, x):
        if x > 0:
            self.rows.setdefault(k, []).append(x)


G = [1.0, 2.0]
D = {"a": 1.0}
S = {1.0, 2.0}
N = [[1.0], [2.0]]
B = Box([1.0, 2.0])
C = Box(G)


def total(xs):
    s = 0.0
    for v in xs:
        s = s + v
    return s


def push(xs, x):
    if x > 0:
        xs.append(x)


# --- in branches


def g1(x):
    push(G, x)
    return total(G) * x


def g2(x):
    push(B.a, x)
    return total(B.a) * x


def g3(x):
    B.push_named(x)
    return total(B.a) * x


def g4(x):
    if x > 0:
        G.append(x)
    return total(C.a) * x


def g5(x):
    xs = G
    if x > 0:
        xs.append(x)
    return total(xs) * x


def g6(x):
    d = D
    if x > 0:
        d["b"] = x
    return D.get("b", 0.0) * x


def g7(x):
    b = Box([x])
    xs = b.a
    if x > 0:
        b.a.append(x)
    return total(xs) * x


def g8(x):
    xs = [x]
    Box(xs).push(x)
    return total(xs) * x


def g9(x):
    xs = G
    for i in range(3):
        if x > i:
            xs.append(x)
    return total(G) * x


def g10(x):
    for i in range(3):
        if x > i:
            G.append(x)
    return total(G) * x


def g11(x):
    s = S
    if x > 0:
        s.add(5.0)
    return (1.0 if 5.0 in S else 0.5) * x


def g12(x):
    row = N[0]
    if x > 0:
        N[0].append(x)
    return total(row) * x


def g13(x):
    xs = G
    if x > 0:
        xs.append(x)
    elif x > -1:
        xs.append(2.0)
    return total(G) * x


def g14(x):
    xs = G
    if x > 0:
        xs.append(x)
    return x


def g15(x):
    b = Box([])
    b.push(x)
    b.push(x - 1.0)
    b.push(x)
    return total(b.a) * x


def g16(x):
    t = Table()
    t.add("a", x)
    t.add("a", x - 1.0)
    t.add("b", x)
    return sum(total(t.rows[k]) for k in ("a", "b") if k in t.rows) * x


def g17(x):
    out = []

    def walk(v, n):
        if n == 0:
            return
        if v > 0:
            out.append(v)
        walk(v - 1.0, n - 1)

    walk(x, 3)
    return total(out) * x


def g18(x):
    b, c = Box([]), Box([])
    for v in (x, x - 1.0):
        if v > 0:
            b.push(v)
        else:
            c.push(-v)
    return total(b.a) * x - total(c.a)


def g19(x):
    s = Shared()
    s.push(x)
    s.push(x - 1.0)
    return total(Shared().items) * x


def g20(x):
    b = Box([x, 1.0])
    before = b.a
    if x > 0:
        b.a = [x]
    b.push(x)
    return total(before) * x + total(b.a)


def g21(x):
    xs = [x, 1.0]
    b = Box(list(xs))
    b.push(x)
    return total(b.a) * x + total(xs)


# --- by operators


def h1(x):
    xs = G
    xs *= 2
    return sum(G) * x


def h2(x):
    d = D
    d |= {"b": x}
    return sum(D.values()) * x


def h3(x):
    s = S
    s -= {1.0}
    return sum(S) * x


def h4(x):
    xs = B.a
    xs *= 2
    return sum(B.a) * x


def h5(x):
    xs = N[0]
    xs *= 3
    return sum(N[0]) * x


def h6(x):
    xs = B.a
    xs += (x, x)
    return sum(B.a) * x


def h7(x):
    xs = G
    if x > 0:
        xs *= 2
    return sum(G) * x


def doubled(xs):
    xs *= 2


def h8(x):
    doubled(G)
    return sum(G) * x


def h9(x):
    w = W.a
    w *= 2.0
    return np.sum(W.a) * x


W = Box(np.ones(3))


def h10(x):
    q = collections.deque([x, 1.0])
    r = q
    r *= 2
    return sum(q) * x


# --- copies, and what is taken out


def k1(x):
    xs = [1.0, 2.0, x]
    ys = xs[1:]
    del xs[0]
    return ys[0] * x + xs[0]


def k2(x):
    xs = [1.0, 2.0, x]
    ys = xs[:]
    xs.insert(0, 5.0)
    return ys[0] * x + xs[0]


def k3(x):
    d = {"a": [x]}
    row = d["a"]
    del d["a"]
    row.append(2.0)
    return sum(row) * x + len(d)


def k4(x):
    xs = [1.0, 2.0, x]
    ys = xs if x > 0 else [0.0]
    xs.insert(0, 7.0)
    return ys[0] * x


def k5(x):
    d = {"a": x}
    keys = d.keys()
    d["b"] = 1.0
    return len(keys) * x


def k6(x):
    xs = [1.0, 2.0, x]
    ys = xs
    xs.extend([x])
    return sum(ys) * x


# --- changed by the steps of `any` and `all`


def s1(x):
    xs = []
    all(not xs.append(v * x) for v in (1.0, 2.0))
    return sum(xs) * x


def s2(x):
    d = {}
    any(d.setdefault(k, v * x) is None for k, v in (("a", 1.0), ("b", 2.0)))
    return sum(d.values()) * x


def s3(x):
    seen = []
    found = any(v > 1.5 or seen.append(v * x) for v in (1.0, 1.2, 2.0, 3.0))
    return sum(seen) * x + (1.0 if found else 0.0)


# --- attributes whose reading changes the object


class Counting:
    def __init__(self):
        self.n = 0

    @property
    def read(self):
        self.n += 1
        return 2.0


class Numbered:
    def __get__(self, o, kind):
        if o is None:
            return self
        o.n += 1
        return o.n * 1.0


class Holding:
    number = Numbered()

    def __init__(self):
        self.n = 0


def t1(x):
    c = Counting()
    y = c.read * x
    return y + c.n


def t2(x):
    h = Holding()
    return h.number * x + h.number


def t3(x):
    h = Holding()
    s = 0.0
    for _ in range(3):
        s = s + h.number * x
    return s + h.n


RIGHT = "g15 g17 g18 g20 g21 h1 h2 h3 h4 h5 h6 h8 h10 k1 k2 k6 s1 s2 s3 t1 t2 t3".split()
