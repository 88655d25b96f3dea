"""Programs that change what lives outside of them, under other names too."""

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


V_CTX_v1 = contextvars.ContextVar("V", default=0.0)


def v1(x):
    V_CTX_v1.set(V_CTX_v1.get() + x)
    return V_CTX_v1.get() * 2.0


V_CTX_v2 = contextvars.ContextVar("V", default=0.0)


def v2(x):
    t = V_CTX_v2.set(x * 3.0)
    r = V_CTX_v2.get() * x
    V_CTX_v2.reset(t)
    return r + V_CTX_v2.get()


V_CTX_v3 = contextvars.ContextVar("V")


def v3(x):
    V_CTX_v3.set(x)
    return V_CTX_v3.get() * 2.0


V_CTX_v4 = contextvars.ContextVar("V", default=0.0)


def use_v4(x):
    return V_CTX_v4.get() * x


def v4(x):
    V_CTX_v4.set(x * x)
    return use_v4(x)


class Reg_v9(collections.UserDict):
    pass


S_v9 = Reg_v9()


def v9(x):
    S_v9["b"] = x + S_v9.get("b", 0.0)
    return S_v9["b"]


S_v11 = collections.OrderedDict(a=1.0, b=2.0)


def v11(x):
    S_v11["a"] = x * S_v11["b"]
    S_v11.move_to_end("a")
    return S_v11["a"] + list(S_v11.values())[0]


class Acc_v12:
    total = 0.0

    def add(self, v):
        type(self).total += v
        return self


def v12(x):
    Acc_v12().add(x).add(x * x)
    return Acc_v12.total


class Acc_v13:
    n = 0

    def __init__(self, v):
        Acc_v13.n += 1
        self.v = v * Acc_v13.n


def v13(x):
    return Acc_v13(x).v + Acc_v13(x * x).v


@functools.lru_cache
def table_v16(n):
    return np.arange(1.0, n + 1.0)


def v16(x):
    t = table_v16(3)
    t[0] = x
    return t[0] * t[1]


S_v17 = [0.0, 0.0]


def v17(x):
    S_v17[:] = [x, x * x + S_v17[0]]
    return S_v17[1]


S_v18 = [1.0]


def v18(x):
    for i in range(3):
        S_v18.append(S_v18[-1] * x)
    return S_v18[-1]


it_v20 = itertools.count(1)


def v20(x):
    return x * next(it_v20)


S_v21 = Box(1.0)


def v21(x):
    S_v21.a, y = x, S_v21.a
    return y * x


S_v22 = Box(1.0)


def v22(x):
    vars(S_v22)["a"] = S_v22.a * x
    return S_v22.a


S_v23 = Box(1.0)


def v23(x):
    S_v23.__dict__.update(a=S_v23.a * x)
    return S_v23.a


S_v25 = Point(1.0)


def v25(x):
    S_v25.a *= x
    return S_v25.a + x


def counter_v26():
    n = 0.0

    def add_v26(v):
        nonlocal n
        n += v
        return n

    return add_v26


add_v26 = counter_v26()


def v26(x):
    return add_v26(x) * x


def gen_v27():
    s = 0.0
    while True:
        v = yield s
        s += v


g_v27 = gen_v27()
next(g_v27)


def v27(x):
    return g_v27.send(x) * x


S_v28 = collections.deque([1.0, 2.0, 3.0])


def v28(x):
    S_v28.rotate(1)
    S_v28[0] = S_v28[0] * x
    return S_v28[0] + S_v28[1]


S_v30 = [3.0, 1.0, 2.0]


def v30(x):
    random.Random(1).shuffle(S_v30)
    return S_v30[0] * x


S_v31 = [3.0, 1.0, 2.0]


def v31(x):
    operator.setitem(S_v31, 0, x)
    S_v31.__setitem__(1, S_v31[0] + S_v31[1])
    list.append(S_v31, x)
    return S_v31[0] * S_v31[1] + len(S_v31)


S_v32 = []


def v32(x):
    list(map(S_v32.append, [x, x * x]))
    return sum(S_v32)


S_v33 = {}


def v33(x):
    exec("S_v33['a'] = S_v33.get('a', 0.0) + 1.0", {"S_v33": S_v33})
    return S_v33["a"] * x


S_v34 = types.SimpleNamespace(v=1.0)


def v34(x):
    S_v34.__setattr__("v", S_v34.v * x)
    return S_v34.v


S_v35 = [1.0]


def v35(x, s=S_v35):
    s[0] = s[0] + x
    return S_v35[0] * x


G_w1 = {"l": [1.0]}


def get_w1():
    return G_w1["l"]


def w1(x):
    t = get_w1()
    t.append(x)
    return t[-1] * len(t)


G_w2 = [1.0]


def w2(x):
    t = G_w2
    t.append(x)
    return t[-1] * len(t)


G_w3 = [1.0]


def w3(x):
    t = ident(G_w3)
    t[0] = t[0] + x
    return t[0] * x


G_w4 = {"a": {"b": 1.0}}


def w4(x):
    t = G_w4["a"]
    t["b"] = t["b"] * x
    return t["b"] + x


G_w5 = {"a": {"b": 1.0}}


def w5(x):
    t = G_w5.get("a")
    t["b"] = t["b"] * x
    return t["b"] + x


G_w6 = {"a": {"b": 1.0}}


def w6(x):
    for t in G_w6.values():
        t["b"] = t["b"] * x
    return G_w6["a"]["b"] + x


G_w7 = [[1.0], [2.0]]


def w7(x):
    for t in G_w7:
        t.append(t[-1] * x)
    return G_w7[0][-1] + G_w7[1][-1] * len(G_w7[1])


G_w8 = [[1.0], [2.0]]


def w8(x):
    a, b = G_w8
    a[0] = a[0] + x
    b.append(x)
    return a[0] * len(b)


G_w9 = [[1.0], [2.0]]


def w9(x):
    t = max(G_w9, key=len)
    t.append(x)
    return t[-1] * len(t)


G_w10 = [[1.0], [2.0]]


def w10(x):
    t = next(iter(G_w10))
    t.append(x)
    return t[-1] * len(t)


G_w12 = types.SimpleNamespace(h=[1.0])


def w12(x):
    h = G_w12.h
    h.append(x)
    return sum(h) * x


G_w13 = types.SimpleNamespace(h=[1.0])


def w13(x):
    h = getattr(G_w13, "h")
    h.append(x)
    return sum(h) * x


G_w14 = types.SimpleNamespace(h=[1.0])


def w14(x):
    h = vars(G_w14)["h"]
    h.append(x)
    return sum(h) * x


class R_w15:
    items = []

    @classmethod
    def all(cls):
        return cls.items


def w15(x):
    t = R_w15.all()
    t.append(x)
    return sum(t) * x


class R_w16:
    def __init__(self):
        self.items = [1.0]

    @property
    def all(self):
        return self.items


G_w16 = R_w16()


def w16(x):
    t = G_w16.all
    t.append(x)
    return sum(t) * x


G_w17 = [[1.0], [2.0]]


def w17(x):
    t = sorted(G_w17)[0]
    t.append(x)
    return t[-1] * len(t)


G_w18 = [[1.0], [2.0]]


def w18(x):
    t = [g for g in G_w18 if len(g) > 0]
    t[0].append(x)
    return t[0][-1] * len(t[0])


G_w19 = [[1.0], [2.0]]


def w19(x):
    t = list(G_w19)
    t[0].append(x)
    return t[0][-1] * len(t[0])


G_w20 = [[1.0], [2.0]]


def w20(x):
    t = G_w20[:]
    t[1][0] = t[1][0] * x
    return t[1][0]


G_w21 = [[1.0], [2.0]]


def w21(x):
    t = dict(enumerate(G_w21))
    t[1][0] = t[1][0] * x
    return t[1][0]


G_w22 = [[1.0], [2.0]]


def w22(x):
    t = G_w22.copy()
    t[1][0] = t[1][0] * x
    return t[1][0]


G_w23 = [[1.0], [2.0]]


def w23(x):
    t = (G_w23[0], 1)
    t[0][0] = t[0][0] * x
    return t[0][0]


G_w24 = [[1.0], [2.0]]


def w24(x):
    o = Box(G_w24[0])
    o.a[0] = o.a[0] * x
    return o.a[0]


G_w26 = [[1.0], [2.0]]


def w26(x):
    def inner():
        return G_w26[0]

    t = inner()
    t[0] = t[0] + x
    return t[0]


G_w27 = [[1.0], [2.0]]


def w27(x):
    t = (lambda: G_w27[0])()
    t[0] = t[0] + x
    return t[0]


G_w28 = [[1.0], [2.0]]


def w28(x, t=G_w28[0]):
    t[0] = t[0] + x
    return t[0]


G_w29 = [[1.0], [2.0]]


def w29(x):
    t = copy.copy(G_w29)
    t[0][0] = t[0][0] + x
    return t[0][0]


G_w30 = [[1.0], [2.0]]


def w30(x):
    t = copy.deepcopy(G_w30)
    t[0][0] = t[0][0] + x
    return t[0][0]


G_w31 = {}


def w31(x):
    t = G_w31.setdefault("k", [])
    t.append(x)
    return sum(t) * x


G_w32 = collections.defaultdict(list)


def w32(x):
    t = G_w32["k"]
    t.append(x)
    return sum(t) * x


G_w34 = [[1.0], [2.0]]


def w34(x):
    *t, u = G_w34
    u[0] = u[0] + x
    t[0][0] = x
    return u[0] * G_w34[0][0]


G_w35 = [[1.0], [2.0]]


def w35(x):
    match G_w35:
        case [a, b]:
            b[0] = b[0] + x
    return G_w35[1][0]


G_w36 = [[1.0], [2.0]]


def w36(x):
    with contextlib.nullcontext(G_w36[0]) as t:
        t[0] = t[0] + x
    return G_w36[0][0]


G_w37 = [[1.0], [2.0]]


def w37(x):
    if (t := G_w37[0])[0] > 0:
        t[0] = t[0] + x
    return G_w37[0][0]


G_w38 = [[1.0], [2.0]]


def w38(x):
    t = u = G_w38[0]
    t[0] = t[0] + x
    return u[0]


G_w39 = [[1.0], [2.0]]


def w39(x):
    t = operator.itemgetter(0)(G_w39)
    t[0] = t[0] + x
    return t[0]


G_w40 = [[1.0], [2.0]]


def w40(x):
    t = functools.reduce(lambda a, b: b, G_w40)
    t[0] = t[0] + x
    return t[0]


G_w41 = [[1.0], [2.0]]


def w41(x):
    t = list(map(ident, G_w41))
    t[0][0] = t[0][0] + x
    return t[0][0]


G_w42 = [[1.0], [2.0]]


def w42(x):
    for i, t in enumerate(reversed(G_w42)):
        t[0] = t[0] + x * i
    return G_w42[0][0]


G_w43 = [[1.0], [2.0]]


def w43(x):
    for t, u in zip(G_w43, [1.0, x]):
        t[0] += u
    return G_w43[1][0] * G_w43[0][0]


G_w44 = [[1.0], [2.0]]


def w44(x):
    t = G_w44.pop()
    t[0] += x
    G_w44.append(t)
    return t[0]


class N_w46:
    def __init__(self, v, nxt=None):
        self.v, self.nxt = v, nxt


G_w46 = N_w46(1.0, N_w46(2.0))


def w46(x):
    n = G_w46
    while n is not None:
        n.v = n.v * x
        n = n.nxt
    return G_w46.nxt.v + G_w46.v


class R_w47:
    def __init__(self):
        self.c = {}

    def __call__(self, k):
        if k not in self.c:
            self.c[k] = [0.0]
        return self.c[k]


G_w47 = R_w47()


def w47(x):
    t = G_w47("a")
    t[0] += x
    return t[0] * x


class R_w48:
    def __init__(self):
        self.c = [0.0]

    def get(self):
        return self.c


G_w48 = R_w48()


def w48(x):
    t = G_w48.get()
    t[0] += x
    return t[0] * x


class R_w49:
    def __init__(self):
        self.c = [0.0]

    def __getitem__(self, k):
        return self.c


G_w49 = R_w49()


def w49(x):
    t = G_w49[0]
    t[0] += x
    return t[0] * x


class R_w50:
    def __init__(self):
        self.c = [0.0]

    def __iter__(self):
        return iter([self.c])


G_w50 = R_w50()


def w50(x):
    for t in G_w50:
        t[0] += x
    return G_w50.c[0] * x


G_u1 = {"a": Box(1.0)}


def u1(x):
    o = G_u1.get("a")
    o.a = o.a * x
    return o.a


G_u2 = {"a": Box(1.0)}


def find_u2(k):
    return G_u2[k]


def u2(x):
    o = find_u2("a")
    o.a = o.a * x
    return o.a


G_u3 = {"a": Box(1.0)}


def u3(x):
    o = getattr(types.SimpleNamespace(**G_u3), "a")
    o.a += x
    return o.a


G_u4 = [Box(1.0), Box(2.0)]


def u4(x):
    o = max(G_u4, key=lambda b: id(b) * 0)
    o.a += x
    return o.a


G_u5 = [Box(1.0), Box(2.0)]


def u5(x):
    o = next(iter(G_u5))
    o.a += x
    return o.a


G_u6 = [Box(1.0), Box(2.0)]


def u6(x):
    for o in reversed(G_u6):
        o.a += x
    return G_u6[0].a * G_u6[1].a


G_u7 = [Box(1.0), Box(2.0)]


def u7(x):
    o, p = G_u7
    o.a, p.a = p.a * x, o.a
    return G_u7[0].a + 2.0 * G_u7[1].a


def make_u8(x):
    return Box(x)


def u8(x):
    o = make_u8(x)
    o.a += x
    return o.a


class Single_u10:
    _one = None
    v = 1.0

    @classmethod
    def get(cls):
        if cls._one is None:
            cls._one = cls()
        return cls._one


def u10(x):
    s = Single_u10.get()
    s.v = s.v * x
    return s.v


class Single_u11:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
            cls._one.v = 1.0
        return cls._one


def u11(x):
    s = Single_u11()
    s.v = s.v * x
    return s.v


G_u12 = Box(Box(1.0))


def u12(x):
    s = G_u12.a
    s.a = s.a * x
    return G_u12.a.a


G_g1 = {"a": np.zeros(2), "b": np.ones(2)}


def g1(x):
    for p in G_g1.values():
        p += x
    return G_g1["a"][0] * G_g1["b"][1]


G_g2 = {"a": np.zeros(2)}


def g2(x):
    t = G_g2["a"]
    t += x
    return G_g2["a"][0] * 3.0


G_g3 = {"a": 1.0, "b": 2.0}


def g3(x):
    s = 0.0
    for p in G_g3.values():
        p += x
        s += p * p
    return s


G_g4 = [np.zeros(2), np.ones(2)]


def g4(x):
    for i, p in enumerate(G_g4):
        p *= x
    return G_g4[1][0]


class L_g5:
    def __init__(self, w):
        self.rows = [w, w * 2.0]

    def up(self, k):
        for r in self.rows:
            r += k


def g5(x):
    l = L_g5(np.array([x, 1.0]))
    l.up(x)
    return l.rows[0][0] * l.rows[1][1]


class L_g6:
    def __init__(self, w):
        self.rows = [w, w * 2.0]

    def total(self, k):
        s = 0.0
        for r in self.rows:
            r = r + k
            s += np.sum(r)
        return s


def g6(x):
    l = L_g6(np.array([x, 1.0]))
    return l.total(x) * l.rows[1][1]


class L_g7:
    def __init__(self, w):
        self.w = w
        self.best = w

    def up(self, k):
        self.w += k


def g7(x):
    l = L_g7(np.array([x, 1.0]))
    l.up(x)
    return l.w[0] * l.best[1]


class L_g8:
    def __init__(self, w):
        self.w = w
        self.best = w.copy()

    def up(self, k):
        self.w += k
        if self.w[0] > 1.0:
            self.best = self.w.copy()


def g8(x):
    l = L_g8(np.array([x, 1.0]))
    l.up(x)
    l.up(x)
    return l.w[0] * l.best[1]


class Ctx_g9:
    def __init__(self, a):
        self.a = a

    def __enter__(self):
        self.a[0] = 3.0
        return self.a

    def __exit__(self, *e):
        self.a[1] = 4.0


def g9(x):
    a = np.array([x, x, x])
    with Ctx_g9(a) as b:
        b[2] = 5.0 * x
    return np.prod(a)


class Ctx_g10:
    def __init__(self, o):
        self.o = o

    def __enter__(self):
        self.old = self.o.a
        self.o.a = self.o.a * 2.0
        return self.o

    def __exit__(self, *e):
        self.o.a = self.old


def g10(x):
    o = Box(np.array([x, 1.0]))
    with Ctx_g10(o) as p:
        r = np.sum(p.a * o.a)
    return r * o.a[0]


class Ctx_g11:
    def __init__(self, a):
        self.a = a

    def __enter__(self):
        return self

    def __exit__(self, *e):
        pass

    def mul(self, k):
        return self.a * k


def g11(x):
    a = np.array([x, 1.0])
    with Ctx_g11(a) as c:
        r = c.mul(3.0)
    a[0] = 2.0
    return np.sum(r * a)


class L_g12:
    def __init__(self, w):
        self.p = {"w": w, "b": 0.5}

    def up(self, k):
        for n, v in self.p.items():
            v -= k
            self.p[n] = v


def g12(x):
    l = L_g12(x)
    l.up(x * x)
    return l.p["w"] * l.p["b"]


class L_g13:
    def __init__(self, w):
        self.p = {"w": w}

    def up(self, k):
        for n, v in self.p.items():
            v -= k
            self.p[n] = v


def g13(x):
    l = L_g13(np.array([x, 1.0]))
    l.up(x * x)
    return l.p["w"][0]


class L_g14:
    def __init__(self, w):
        self.w = w

    def up(self, k):
        w = self.w
        w += k
        return np.sum(w)


def g14(x):
    l = L_g14(np.array([x, 1.0]))
    return l.up(x * x) * l.w[0]


class L_g15:
    def __init__(self, w):
        self.p = {"w": w}

    def up(self, k):
        w = self.p["w"]
        w += k
        return np.sum(w)


def g15(x):
    l = L_g15(np.array([x, 1.0]))
    return l.up(x * x) * l.p["w"][0]


class L_g16:
    def __init__(self, w):
        self.p = {"w": w}

    def up(self, k):
        w = self.p.get("w")
        w += k
        return np.sum(w)


def g16(x):
    l = L_g16(np.array([x, 1.0]))
    r = l.up(x * x)
    return r * l.p["w"][0]


class L_g17:
    def __init__(self, w):
        self.p = [w]

    def up(self, k):
        (w,) = self.p
        w[0] = k
        return np.sum(w)


def g17(x):
    l = L_g17(np.array([x, 1.0]))
    r = l.up(x * x)
    return r * l.p[0][0]


class L_g18:
    def __init__(self, w):
        self.p = [w]

    def up(self, k):
        for w in self.p:
            w[0] = k


def g18(x):
    l = L_g18(np.array([x, 1.0]))
    l.up(x * x)
    return l.p[0][0] * x


class L_g19:
    def __init__(self, w):
        self.p = [w]

    def up(self, k):
        w = next(iter(self.p))
        w[0] = k


def g19(x):
    l = L_g19(np.array([x, 1.0]))
    l.up(x * x)
    return l.p[0][0] * x


class L_g20:
    def __init__(self, w):
        self.p = [w]

    def first(self):
        return self.p[0]

    def up(self, k):
        w = self.first()
        w[0] = k
        w += k


def g20(x):
    l = L_g20(np.array([x, 1.0]))
    l.up(x * x)
    return l.p[0][0] * x


G_h1 = {"a": np.zeros(2)}


def h1(x):
    t = G_h1["a"]
    t += x
    return G_h1["a"][0] * 3.0


G_h2 = {"a": np.zeros(2)}


def h2(x):
    t = G_h2["a"]
    t[0] = x
    return t[0] + G_h2["a"][0] * 3.0


G_h3 = {"a": np.ones(2)}


def h3(x):
    t = G_h3["a"].copy()
    t[0] = x
    t += x
    return t[0] * G_h3["a"][0] * 3.0


G_h4 = {"a": 1.0}


def h4(x):
    t = G_h4["a"]
    t += x
    return t * G_h4["a"] * 3.0


G_h5 = {"a": np.ones(2)}


def h5(x):
    t = G_h5["a"] * 2.0
    t[0] = x
    return t[0] * t[1] * G_h5["a"][0] * 3.0


class L_h6:
    def __init__(self, w):
        self.p = {"w": w}

    def up(self, k):
        w = self.p.get("w")
        w += k
        return np.sum(w)


def h6(x):
    l = L_h6(np.array([x, 1.0]))
    r = l.up(x * x)
    return r * l.p["w"][0]


G_h7 = {"a": np.zeros(2)}


def h7(x):
    t = G_h7["a"]
    t = t + x
    t += x
    t[0] = x
    return t[0] + t[1]


RIGHT = set(
    """
    v2 v9 v11 v12 v13 v16 v17 v18 v21 v22 v23 v25 v26 v28 v30 v31 v32 v33 v34 v35 w1 w2 w3
    w4 w5 w6 w7 w8 w9 w10 w12 w13 w14 w15 w16 w17 w18 w19 w20 w21 w22 w23 w24 w26 w27 w28
    w29 w30 w31 w32 w34 w35 w36 w38 w39 w40 w41 w42 w44 w46 w47 w48 w49 w50 u1 u2 u3 u4 u5
    u6 u7 u8 u10 u11 u12 g3 g5 g6 g8 g10 g11 g12 g14 g15 h3 h4 h5 h7
    """.split()
)  # the others may be refused
