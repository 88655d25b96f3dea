"""Programs that change what others hold in many ways: each call changes it once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.changing_programs import check

PROGRAMS = {
    "lists that grow by lists": """
A = [1.0, 2.0]
B = {"a": A, "n": 0.0}
class C:
    rows = [1.0]
def f(x):
    global A
    ys = [x, 2.0 * x]
    A += ys
    B["a"] += ys
    C.rows += ys
    t = B["a"]
    t += ys
    for i, v in enumerate([x, 2.0]):
        B["n"] += v
    return sum(A) * x + sum(C.rows) + B["n"]
def state():
    return [A, B["n"], C.rows]
""",
    "an object that is called": """
class V:
    def __init__(self):
        self.n = 0.0
    def __call__(self, x):
        self.n += 1.0
        return x * self.n
v = V()
def f(x):
    return v(x) + v(x * x)
def state():
    return v.n
""",
    "a property that is asked once": """
class P:
    def __init__(self):
        self._r, self.n = [1.0, 2.0], 0.0
    @property
    def rows(self):
        self.n += 1.0
        return self._r
    @rows.setter
    def rows(self, new):
        self.n += 10.0
        self._r = list(new)
p = P()
def f(x):
    p.rows[0] = x
    p.rows[1] += x
    return sum(p.rows) * x
def state():
    return [p._r, p.n]
""",
    "a new list in two places": """
G = {"n": 0.0}
def f(x):
    if "a" not in G:
        rows = [x]
        G["a"] = rows
        G["b"] = rows
        return x
    G["a"].append(x)
    return sum(G["b"]) * x
def state():
    return [G["a"], G["b"]]
""",
    "an own item store of a dictionary": """
class D(dict):
    def __setitem__(self, k, v):
        super().__setitem__(k, 2.0 * v)
d = D(a=1.0)
def f(x):
    d["a"] = d["a"] + x
    return d["a"] * x
def state(): return dict(d)
""",
    "an own item store of a list": """
class L(list):
    def __setitem__(self, k, v):
        super().__setitem__(k, 2.0 * v)
d = L([1.0, 2.0])
def f(x):
    d[0] = d[0] + x
    return d[0] * x
def state(): return list(d)
""",
    "the first attribute of itself": """
def f(x):
    f.count = getattr(f, "count", 0) + 1
    return x * x * f.count
def state(): return f.count
""",
    "the first attribute of another": """
def g(x): return x
def f(x):
    g.total = getattr(g, "total", 0.0) + x
    return x * x * g.total
def state(): return g.total
""",
    "an attribute if it has none": """
def g(x): 
    if not hasattr(g, "n"):
        g.n = 0.0
    g.n += x
    return x * g.n
def f(x):
    return g(x) * x
def state(): return g.n
""",
    "a cached list": """
@functools.lru_cache
def cached(n):
    return [1.0] * n
def f(x):
    t = cached(3)
    t.append(x)
    return sum(t) * x
def state(): return 0
""",
    "a cached dictionary": """
@functools.cache
def cached(n):
    return {"a": 1.0, "b": [2.0]}
def f(x):
    t = cached(3)
    t["a"] = t["a"] + x
    t["b"].append(x)
    return t["a"] * x + sum(cached(3)["b"])
def state(): return 0
""",
    "an item of a cached list": """
@functools.lru_cache
def cached(n):
    return [1.0] * n
def f(x):
    cached(3)[0] += x
    return sum(cached(3)) * x
def state(): return cached(3)
""",
    "a cache through a helper": """
@functools.lru_cache
def cached(n):
    return [1.0] * n
def g(n): return cached(n)
def f(x):
    g(3)[0] += x
    for i in range(3):
        g(3)[i] *= x
    return sum(g(3)) * x
def state(): return cached(3)
""",
    "a cache of its own": """
def memo(fn):
    cache = {}
    def run(*a):
        if a not in cache:
            cache[a] = fn(*a)
        return cache[a]
    run.cache = cache
    return run
@memo
def rows(n):
    return [1.0] * n
def f(x):
    t = rows(3)
    t.append(x)
    rows(2)[0] += x
    u = rows(2)
    u[1] = x
    return sum(t) * x + sum(rows(2)) * len(rows(3))
def state(): return list(rows.cache.values())
""",
    "a decorated getter": """
def deco(fn):
    @functools.wraps(fn)
    def run(*a, **k):
        return fn(*a, **k)
    return run
G = [[1.0, 2.0], [3.0]]
@deco
def first(n):
    return G[n]
def f(x):
    t = first(0)
    t.append(x)
    t[0] += x
    return sum(G[0]) * x
def state(): return G
""",
    "a getter that holds a table": """
def make():
    cache = {}
    def get(k, x):
        if k not in cache:
            cache[k] = []
        cache[k].append(x)
        return cache[k]
    return get, cache
get, cache = make()
def f(x):
    t = get("a", x)
    t.append(2.0 * x)
    u = get("a", 3.0)
    u[0] *= x
    return sum(t) * x
def state(): return cache
""",
    "one of two, changed by a helper": """
G = [[1.0, 2.0], [3.0, 4.0]]
def push(a, b, c, x):
    t = a if c else b
    t.append(x)
    return t
def f(x):
    t = push(G[0], G[1], True, x)
    t.append(2.0 * x)
    return sum(t) + sum(G[0])
def state(): return G
""",
    "a local name of an item": """
G = [[1.0, 2.0], [3.0, 4.0]]
def f(x):
    t = G[0]
    t[0] = x
    put(t, x * 2)
    return sum(G[0]) * x
def put(a, x):
    a[1] = x
def state(): return G
""",
    "a loop over rows": """
G = [[1.0, 2.0], [3.0, 4.0]]
def f(x):
    for r in G:
        r[0] += x
    return sum(G[0]) * x
def state(): return G
""",
    "a counter": """
C = collections.Counter({"a": 1.0})
def f(x):
    C["a"] += x
    C.update({"b": x})
    return C["a"] * x + C["b"]
def state(): return dict(C)
""",
    "a counter in a branch": """
C = collections.Counter({"a": 1.0})
def f(x):
    if x > 0.8:
        C["a"] += x
    else:
        C["a"] = x * x
    return C["a"] * x
def state(): return dict(C)
""",
    "an ordered dictionary": """
D = collections.OrderedDict(a=1.0, b=2.0)
def f(x):
    D["a"] += x
    D.move_to_end("a")
    k, v = D.popitem(last=False)
    D[k] = v * x
    return v * x
def state(): return [list(map(ord, D)), list(D.values())]
""",
    "a chain of dictionaries": """
A, B = {"a": 1.0}, {"b": 2.0}
M = collections.ChainMap(A, B)
def f(x):
    M["b"] = M["b"] + x
    M["a"] += x
    return M["a"] * M["b"]
def state(): return [A, B]
""",
    "values of a thread": """
L = threading.local()
L.v = 1.0
def f(x):
    L.v = L.v + x
    return L.v * x
def state(): return L.v
""",
    "a weak reference": """
class N: pass
o = N(); o.v = 1.0
w = weakref.ref(o)
def f(x):
    w().v += x
    return o.v * x
def state(): return o.v
""",
    "a queue": """
Q = collections.deque([1.0, 2.0], maxlen=3)
def f(x):
    Q.append(x)
    Q.appendleft(x * 2.0)
    Q.rotate(1)
    return Q[0] * x + Q[-1]
def state(): return Q
""",
    "rows that change places": """
M = [[0.0] * 2 for _ in range(2)]
R = M[1]
def f(x):
    M[1][0] += x
    R[1] += M[1][0] * x
    M[0], M[1] = M[1], M[0]
    return R[0] * M[0][1]
def state(): return [M, R]
""",
    "methods in a chain": """
class V:
    def __init__(self): self.n = []
    def add(self, o):
        self.n.append(o)
        return self
v = V()
def f(x):
    v.add(x).add(x * x).n[0] = 5.0 * x
    return sum(v.n) * x
def state(): return v.n
""",
    "an item of what a call gives": """
class M:
    def __init__(self): self.items = [1.0, 2.0]
m = M()
def get(): return m
def rows(): return m.items
def f(x):
    get().items[0] += x
    rows()[1] *= x
    rows().append(x)
    rows()[:1] = [x, 2.0]
    return sum(m.items) * x
def state(): return m.items
""",
    "a property that counts": """
class P:
    def __init__(self): self._v = 1.0; self.log = []
    @property
    def v(self): return self._v
    @v.setter
    def v(self, new):
        self._v = new * 2.0
        self.log.append(new)
p = P()
def f(x):
    p.v += x
    p.v = p.v * x
    return p.v
def state(): return [p._v, p.log]
""",
    "calls made once: attributes": """
class P:
    def __init__(self): self.r = [1.0, 2.0]
p = P()
S = {"n": 0.0}
def get():
    S["n"] += 1.0
    return p
def f(x):
    get().r[0] = x
    get().r[1] += x * x
    get().r.append(x)
    get().v = x
    get().v += x
    del get().r[0]
    return sum(p.r) * p.v
def state(): return [p.r, p.v, S["n"]]
""",
    "calls made once: items": """
S = {"n": 0.0}
D = {"a": [1.0, 2.0]}
def get():
    S["n"] += 1.0
    return D
def f(x):
    get()["a"][0] = x
    get()["a"][1] += x * x
    get()["a"].append(x)
    get()["b"] = x
    get()["b"] += x
    return sum(D["a"]) * D["b"]
def state(): return [D["a"], D["b"], S["n"]]
""",
    "dictionaries that change places": """
M = {"a": [1.0], "b": [2.0]}
def f(x):
    M["c"] = M["a"]
    M["a"] = M["b"]
    M["b"] = M["c"]
    M["c"].append(x)
    return sum(M["a"]) * sum(M["b"])
def state(): return M
""",
    "a class attribute": """
class A:
    total = 0.0
    def add(self, v):
        type(self).total += v
        return self
def f(x):
    A().add(x).add(x * x)
    return A.total
def state(): return A.total
""",
    "a new list of old objects": """
class A:
    def __init__(self, v): self.v = v
G = [A(1.0), A(2.0)]
def f(x):
    c = list(G)
    c[0].v = x
    d = sorted(G, key=lambda a: -a.v)
    d[0].v += x
    return G[0].v * G[1].v
def state(): return [G[0].v, G[1].v]
""",
    "new containers of old lists": """
G = [[1.0], [2.0]]
def f(x):
    c = list(G)
    c[0][0] = x
    d = copy.copy(G)
    d[1].append(x)
    e = dict(a=G[0])
    e["a"].append(2.0)
    h = [*G, *G]
    h[2][0] += x
    return sum(G[0]) * sum(G[1])
def state(): return G
""",
    "a loop that data ends, in a helper": """
G = [[1.0, 2.0], [3.0, 4.0]]
def put(a, x):
    while x < 3.0:
        a[0] = a[0] + x
        x = x * 2.0
    return a
def f(x):
    put(G[0], x)
    return sum(G[0]) * x
def state(): return G
""",
    "a loop that data ends": """
G = [{"a": 1.0}, {"b": 4.0}]
def f(x):
    t = G[0]
    y = x
    while x < 3.0:
        t["a"] = t["a"] + x
        x = x * 2.0
    return G[0]["a"] * y
def state(): return G
""",
    "a loop that data ends, in a method": """
G = [{"a": 1.0}, {"b": 4.0}]
class C:
    def put(self, x):
        t = G[0]
        while x < 3.0:
            t["a"] = t["a"] + x
            x = x * 2.0
c = C()
def f(x):
    c.put(x)
    return G[0]["a"] * x
def state(): return G
""",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_changed_once(name: str, tmp_path: Path) -> None:
    check(PROGRAMS[name], tmp_path)


LOST = {
    "a method": """
class T:
    def __init__(self): self.rows = [[1.0], [2.0]]
    def push(self, row, x):
        row.append(x)
        return row
t = T()
def f(x):
    r = t.push(t.rows[0], x)
    r.append(2.0 * x)
    return sum(t.rows[0]) * x
def state(): return t.rows
""",
    "a function of a function": """
G = [[1.0, 2.0], [3.0, 4.0]]
def put(a, x):
    def inner():
        a[0] = x
    inner()
    return a
def f(x):
    t = put(G[0], x)
    t[1] = x
    return sum(G[0]) * x
def state(): return G
""",
    "an expression as a function": """
G = [[1.0, 2.0], [3.0, 4.0]]
put = lambda a, x: a.append(x) or a
def f(x):
    t = put(G[0], x)
    t[1] = 2.0 * x
    return sum(G[0]) * x
def state(): return G
""",
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_changes_that_would_be_lost(name: str, tmp_path: Path) -> None:
    """The function changes a version of its own: a list of others is refused."""
    check(LOST[name], tmp_path, refused=("jit", "grad", "vmap", "jit of grad"))
