"""State that calls share: default values, partials, globals; the oracle is Python with pairs of
a value and its derivative, run in a module of its own.
"""

from __future__ import annotations

import importlib.util
import warnings

import numpy
import pytest

import overt


class Pair(float):
    """A number with its derivative; what state keeps of it after a call is the number."""

    def __new__(cls, value, slope=0.0):
        self = float.__new__(cls, value)
        self.slope = slope
        return self

    def __add__(self, y):
        return Pair(float(self) + float(y), self.slope + slope(y))

    __radd__ = __add__

    def __sub__(self, y):
        return Pair(float(self) - float(y), self.slope - slope(y))

    def __rsub__(self, y):
        return Pair(float(y) - float(self), slope(y) - self.slope)

    def __mul__(self, y):
        return Pair(float(self) * float(y), self.slope * float(y) + float(self) * slope(y))

    __rmul__ = __mul__

    def __neg__(self):
        return Pair(-float(self), -self.slope)

    def __truediv__(self, y):
        return self * Pair(1 / float(y), -slope(y) / float(y) ** 2)

    def __pow__(self, n):
        return Pair(float(self) ** n, n * float(self) ** (n - 1) * self.slope)


def slope(y):
    return getattr(y, "slope", 0.0)


def settled(x, seen=()):
    """State with plain numbers in the places of pairs."""
    if type(x) is Pair:
        return float(x)
    if type(x) in (list, tuple):
        items = [settled(v, seen) for v in x]
        if type(x) is list:
            x[:] = items
            return x
        return tuple(items)
    if isinstance(x, dict):
        for k in list(x):
            x[k] = settled(x[k], seen)
        return x
    if type(x).__module__.startswith("made_") and hasattr(x, "__dict__") and id(x) not in seen:
        for k, v in vars(x).items():
            setattr(x, k, settled(v, (*seen, id(x))))
    return x


def module_of(tmp_path, source, name):
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


XS = (2.0, -1.0, 3.0)


def python(module, xs):
    """Values and slopes of the calls one after another, as Python has them."""
    values, slopes = [], []
    for x in xs:
        out = module.f(Pair(x, 1.0))
        values.append(float(out))
        slopes.append(slope(out))
        for name, value in list(vars(module).items()):
            if not name.startswith("_"):
                setattr(module, name, settled(value))
            for default in getattr(value, "__defaults__", None) or ():
                settled(default)
    return values, slopes


WAYS = {
    "jit": lambda f: overt.jit(f),
    "grad": lambda f: overt.grad(f),
    "jit forward": lambda f: overt.jit(lambda x: overt.jvp(f, (x,), (1.0,))[1]),
}


def check(tmp_path, source, ways=WAYS, refused=()):
    """Compare with Python; `refused` names the ways that must refuse."""
    values, slopes = python(module_of(tmp_path, source, "made_plain"), XS)
    for i, (way, transform) in enumerate(ways.items()):
        f = transform(module_of(tmp_path, source, f"made_{i}").f)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if way in refused:
                with pytest.raises((NotImplementedError, TypeError, ValueError)):
                    [f(x) for x in XS]
                continue
            found = [float(f(x)) for x in XS]
        expected = values if way == "jit" else slopes
        numpy.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=way)
    module = module_of(tmp_path, source, "made_lanes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "vmap" in refused:
            with pytest.raises((NotImplementedError, TypeError, ValueError)):
                overt.vmap(module.f)(numpy.array(XS))
            return
        found = overt.vmap(module.f)(numpy.array(XS))
    numpy.testing.assert_allclose(found, values, rtol=1e-5, err_msg="vmap")


DEFAULTS = {
    "dict": """
def f(x, seen={}):
    seen[len(seen)] = 1
    return x * len(seen)
""",
    "dict, keyword": """
def f(x, *, seen={}):
    if "n" in seen:
        return x * 0.5
    seen["n"] = 1
    return x
""",
    "list": """
def f(x, seen=[]):
    seen.append(1)
    return x * len(seen)
""",
    "set": """
def f(x, seen=set()):
    seen.add(len(seen))
    return x * len(seen)
""",
    "list in a dict": """
def f(x, seen={}):
    seen.setdefault("a", []).append(1)
    return x * len(seen["a"])
""",
    "default dict": """
import collections

def f(x, seen=collections.defaultdict(int)):
    seen["a"] += 1
    return x * seen["a"]
""",
    "deque": """
import collections

def f(x, seen=collections.deque(maxlen=2)):
    seen.append(1)
    return x * len(seen)
""",
    "another name": """
def f(x, seen=[]):
    s = seen
    s.append(1)
    return x * len(seen)
""",
    "helper": """
def put(s):
    s.append(1)

def f(x, seen=[]):
    put(seen)
    return x * len(seen)
""",
    "helper's default": """
def count(x, seen={}):
    seen[len(seen)] = 1
    return x * len(seen)

def f(x):
    return count(x) + count(x)
""",
    "in a branch": """
def f(x, seen={"n": 0}):
    if x > 0:
        seen["n"] += 1
    return x * seen["n"]
""",
    "data": """
def f(x, seen={"n": 0.0}):
    y = x * seen["n"]
    seen["n"] = x * 3.0
    return y
""",
    "named in a global": """
TABLE = {}

def f(x, seen=TABLE):
    seen[len(seen)] = 1
    return x * len(TABLE)
""",
    "memo": """
def fib(n, x, memo={}):
    if n < 2:
        return x
    if n in memo:
        return memo[n]
    memo[n] = fib(n - 1, x, memo) + fib(n - 2, x, memo)
    return memo[n]

def f(x):
    return fib(6, x, {}) + fib(5, x)
""",
    "given as an argument": """
def put(x, v, out=[]):
    out.append(x * v)
    return out

def f(x):
    mine = [x]
    first = mine[0] * 2.0
    put(x, 2.0, out=mine)
    put(x, 3.0, mine)
    return mine[1] + mine[2] + first + len(mine)
""",
}  # fmt: skip


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_that_are_changed(tmp_path, name):
    check(tmp_path, DEFAULTS[name])


REFUSED = {
    "nested": """
def f(x):
    def inner(y, seen={}):
        seen[len(seen)] = 1
        return y * len(seen)
    return inner(x) + inner(x)
""",
    "array": """
import numpy

def f(x, seen=numpy.zeros(3)):
    seen[0] += 1.0
    return x * seen[0]
""",
    "partial": """
import functools

def g(seen, x):
    seen[len(seen)] = 1
    return x * len(seen)

f = functools.partial(g, {})
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_changes_that_are_refused(tmp_path, name):
    check(tmp_path, REFUSED[name], refused=(*WAYS, "vmap"))


LANES = {
    "module": """
import types
cfg = types.ModuleType("cfg")
cfg.n = 0

def f(x):
    cfg.n += 1
    return x * cfg.n
""",
    "namespace": """
import types
cfg = types.SimpleNamespace(n=0)

def f(x):
    cfg.n += 1
    return x * cfg.n
""",
    "objects made": """
class Base:
    made = 0

    def __init__(self):
        Base.made += 1

def f(x):
    Base()
    return x * Base.made
""",
    "setattr": """
class S:
    n = 0

s = S()

def f(x):
    setattr(s, "n", s.n + 1)
    return x * s.n
""",
    "generator": """
def steps():
    n = 0
    while True:
        n += 1
        yield n

numbers = steps()

def f(x):
    return x * next(numbers)
""",
    "count": """
import itertools
numbers = itertools.count(1)

def f(x):
    return x * next(numbers)
""",
    "heap": """
import heapq
H = [5.0, 7.0, 9.0]

def f(x):
    v = heapq.heappop(H)
    heapq.heappush(H, v + 10.0)
    return x * v
""",
    "NumPy's array": """
import numpy
A = numpy.zeros(3)

def f(x):
    A[0] += 1.0
    return x * A[0]
""",
    "rotated": """
import collections
D = collections.deque([1.0, 2.0, 3.0])

def f(x):
    D.rotate(1)
    return x * D[0]
""",
    "globals": """
N = 1

def f(x):
    globals()["N"] = N + 1
    return x * N
""",
}  # fmt: skip


@pytest.mark.parametrize("name", LANES)
def test_lanes_find_what_the_one_before_has_left(tmp_path, name):
    values, slopes = python(module_of(tmp_path, LANES[name], "made_plain_lanes"), XS)
    close = lambda found, expected: numpy.testing.assert_allclose(found, expected, rtol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = module_of(tmp_path, LANES[name], "made_values").f
        close(overt.vmap(f)(numpy.array(XS)), values)
        f = module_of(tmp_path, LANES[name], "made_slopes").f
        close(overt.vmap(overt.grad(f))(numpy.array(XS)), slopes)


def test_a_file_that_is_written_again_is_read_again(tmp_path):
    for factor in (2.0, 3.0, 5.0):
        source = f"def g(x):\n    return x * {factor}\n\ndef f(x):\n    return g(x) + {factor}\n"
        module = module_of(tmp_path, source, "made_again")
        assert float(overt.grad(module.f)(1.0)) == factor
        assert float(overt.jit(module.f)(1.0)) == 2 * factor
