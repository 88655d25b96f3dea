"""What functions change outside of themselves: the same under every transformation as in Python.

The oracle is Python: the function called once, or once for each lane.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np

pytestmark = pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
XS = (0.5, 1.5)


class Slots:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 0.0


class Counting:
    """Counts the times that its value is set."""

    def __init__(self):
        self.sets, self.value = 0, 0.0

    def __setattr__(self, name, value):
        if name == "value":
            object.__setattr__(self, "sets", self.sets + 1)
        object.__setattr__(self, name, value)


class Box:
    made = 0

    def __init__(self):
        self.value, self.count = 0.0, 0
        self.log: list = []
        self.other_log: list = []
        self.table: dict = {}
        self.last: Any = collections.deque(maxlen=3)
        self.names: set = set()
        self._hidden = 0.0
        self.on_step = lambda v: self.log.append(v)

    @property
    def hidden(self):
        return self._hidden

    @hidden.setter
    def hidden(self, value):
        self._hidden = 2.0 * value

    def add(self, x):
        self.value = self.value + x
        self.count += 1
        self.log.append(x)

    @classmethod
    def bump(cls):
        cls.made += 1


BOX, SLOTS, COUNTING = Box(), Slots(), Counting()
LOG: list = []
TABLE: dict = {}
TOTAL = 0.0
HOOK = lambda v: LOG.append(v)  # noqa: E731


def start():
    global BOX, SLOTS, COUNTING, TOTAL
    BOX, SLOTS, COUNTING, TOTAL = Box(), Slots(), Counting(), 0.0
    Box.made = 0
    LOG.clear()
    TABLE.clear()
    TABLE.update(total=0.0, kept=[])


def shown(x):
    if isinstance(x, (list, tuple, collections.deque)):
        return [type(x).__name__, *map(shown, x)]
    if isinstance(x, dict):
        return {k: shown(v) for k, v in x.items()}
    if isinstance(x, set):
        return sorted(x)
    if isinstance(x, Slots):
        return shown(x.value)
    if isinstance(x, (Box, Counting)):
        return {k: shown(v) for k, v in vars(x).items() if not callable(v)}
    return x if isinstance(x, str) or x is None else round(float(numpy.asarray(x)), 5)


def state():
    return shown([BOX, SLOTS, COUNTING, TOTAL, LOG, TABLE, Box.made])


def put(xs, x):
    xs.append(x)


def get():
    return LOG


class Complex:
    def __init__(self, re, im):
        self.re, self.im = re, im

    def __mul__(self, other):
        return Complex(
            self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        )

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)


# --- functions with effects


def attribute(x):
    BOX.value = x * x
    return 2.0 * x


def counter(x):
    BOX.count += 1
    return x * x * BOX.count


def by_method(x):
    BOX.add(3.0 * x)
    return x * BOX.value


def in_loop_and_branch(x):
    for i in range(3):
        BOX.log.append(x * i)
        BOX.value = BOX.value + x
    if x > 1.0:
        BOX.table["last"] = x
        BOX.count = BOX.count + 1.0
    else:
        BOX.table["last"] = -x
    return x * x


def in_containers(x):
    BOX.log.extend([x, x * x])
    BOX.log += [x]
    BOX.last.append(x)
    BOX.last.append(2.0 * x)
    TABLE["total"] += x
    TABLE["kept"].append(x)
    BOX.table.setdefault("all", []).append(x)
    BOX.names.add("seen")
    return x * x


def global_variable(x):
    global TOTAL
    TOTAL = TOTAL + x
    return x * TOTAL


def memo(x):
    if "first" not in TABLE:
        TABLE["first"] = x * x
    return TABLE["first"] * x


def class_counter(x):
    Box.bump()
    return x * x * Box.made


def setters(x):
    SLOTS.value = x * x
    COUNTING.value = x * x
    BOX.hidden = x
    return x * BOX.hidden * COUNTING.sets


def callbacks(x):
    HOOK(x)
    BOX.on_step(x * x)
    return x * x


def local_names(x):
    log, table, names = BOX.log, TABLE, BOX.names
    log.append(x)
    log += [2.0 * x]
    log[0] = 3.0 * x
    table["total"] = x
    table["kept"] = []
    kept = table["kept"]
    kept.append(x)
    names.add("seen")
    chosen = get()
    chosen.append(x)
    put(chosen, x)
    put(LOG, x)
    put(BOX.other_log, 2.0 * x)
    return x * log[0]


def loops_over_containers(x):
    for log in (BOX.log, LOG):
        log.append(x)
    for log in TABLE.values():
        if isinstance(log, list):
            log.append(x)
    return x * x


def put_outside_first(x):
    rows: list = []
    BOX.table["rows"] = rows
    for i in range(2):
        rows.append(x * i)
    return x * rows[1]


def taken_away(x):
    BOX.log.append(x)
    BOX.log.append(2.0 * x)
    del BOX.log[0]
    TABLE["a"] = x
    del TABLE["a"]
    table = TABLE
    table["b"] = x
    del table["b"]
    y = BOX.log.pop()
    return x * y


EFFECTS = [
    attribute, counter, by_method, in_loop_and_branch, in_containers, global_variable, memo,
    class_counter, setters, callbacks, local_names, loops_over_containers, put_outside_first,
    taken_away,
]  # fmt: skip


def left_by(run):
    start()
    run()
    return state()


@pytest.mark.parametrize("f", EFFECTS, ids=lambda f: f.__name__)
def test_effects_happen_once_a_call(f):
    forms = {
        "jit": lambda: overt.jit(f)(XS[0]),
        "grad": lambda: overt.grad(f)(XS[0]),
        "jvp": lambda: overt.jvp(f, (XS[0],), (1.0,)),
        "jit of grad": lambda: overt.jit(overt.grad(f))(XS[0]),
        "grad of jit": lambda: overt.grad(overt.jit(f))(XS[0]),
        "jvp of grad": lambda: overt.jvp(overt.grad(f), (XS[0],), (1.0,)),
        "grad of grad": lambda: overt.grad(overt.grad(f))(XS[0]),
    }
    once = left_by(lambda: f(XS[0]))
    for name, form in forms.items():
        assert left_by(form) == once, name


@pytest.mark.parametrize("f", EFFECTS, ids=lambda f: f.__name__)
def test_effects_are_those_of_a_loop_over_the_lanes(f):
    xs = np.array(XS)
    forms = {
        "jit": lambda: [g := overt.jit(f), g(XS[0]), g(XS[1])],
        "vmap": lambda: overt.vmap(f)(xs),
        "jit of vmap": lambda: overt.jit(overt.vmap(f))(xs),
        "vmap of grad": lambda: overt.vmap(overt.grad(f))(xs),
        "grad of vmap": lambda: overt.grad(lambda v: np.sum(overt.vmap(f)(v)))(xs),
    }
    looped = left_by(lambda: [f(x) for x in XS])
    for name, form in forms.items():
        assert left_by(form) == looped, name


@pytest.mark.parametrize("f", EFFECTS, ids=lambda f: f.__name__)
def test_values_and_slopes_are_pythons(f):
    start()
    wanted = [float(numpy.asarray(f(x))) for x in XS]
    start()
    found = overt.vmap(f)(np.array(XS))
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-5)

    def plain(x):
        start()
        return float(f(numpy.float64(x)))

    slope = (plain(XS[0] + 1e-5) - plain(XS[0] - 1e-5)) / 2e-5
    start()
    assert float(overt.grad(f)(XS[0])) == pytest.approx(slope, rel=1e-4)


def test_prints_appear_once(capsys):
    def f(x):
        print("before")
        BOX.add(x)
        print("after")
        return x * BOX.value

    start()
    overt.grad(f)(1.0)
    assert capsys.readouterr().out == "before\nafter\n"
    overt.jit(overt.grad(f))(1.0)
    assert capsys.readouterr().out == "before\nafter\n"
    overt.vmap(f)(np.array(XS))
    assert capsys.readouterr().out.count("before") == 2


def test_lanes_in_long_programs_and_on_named_axes_are_refused():
    start()
    with pytest.raises(overt.errors.StagingError, match="Box.value outside of itself"):
        overt.jit(overt.vmap(attribute))(np.arange(100.0))
    with pytest.raises(overt.errors.StagingError, match="named axis"):
        overt.vmap(attribute, axis_name="i")(np.arange(3.0))
    assert BOX.value == 0.0


def test_what_every_lane_leaves_alike_needs_no_loop():
    def f(x):
        BOX.table["scale"] = 3.0
        return x * BOX.table["scale"]

    start()
    assert overt.vmap(f, axis_name="i")(np.arange(3.0)).tolist() == [0.0, 3.0, 6.0]
    assert BOX.table == {"scale": 3.0}


def test_nothing_half_written_when_staging_fails():
    def f(x):
        BOX.log.append(x)
        BOX.log = []
        BOX.value = x
        TABLE["missing"]
        return x

    start()
    before = state()
    with pytest.raises(KeyError):
        overt.jit(f)(1.0)
    assert state() == before


def test_variables_that_get_another_object_in_a_loop():
    def f(x):
        z, k = Complex(0.1, 0.2), Complex(x, 0.5)
        for _ in range(3):
            z = z * z + k
        return z.re * z.im

    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    for form in (overt.grad(f), overt.jit(overt.grad(f)), overt.grad(overt.jit(f))):
        assert float(form(0.7)) == pytest.approx(slope, rel=1e-4)


def test_objects_made_in_a_program_are_new_each_time():
    @overt.jit
    def f(x):
        made = Complex(x, [2.0 * x])
        BOX.table["made"] = made
        BOX.log.append(Complex(made.re, made))
        return Complex(x + 1.0, None)

    start()
    with pytest.raises(overt.errors.StagingError, match="stored in several places"):
        f(1.0)
    assert BOX.table == {} and BOX.log == []

    @overt.jit
    def g(x):
        made = Complex(x, [2.0 * x])
        BOX.log.append(made)
        made.re = 3.0 * x
        return Complex(x + 1.0, None)

    results = [g(1.0), g(2.0)]
    assert [float(r.re) for r in results] == [2.0, 3.0]
    assert [(float(m.re), float(m.im[0])) for m in BOX.log] == [(3.0, 2.0), (6.0, 4.0)]
