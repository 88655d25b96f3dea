"""Items of dictionaries by objects that data chooses and by tuples of numbers that data gives;
lists of a dictionary or tuple that data fills, summed and counted."""

import enum

import numpy
import pytest

import overt


class Mode(enum.Enum):
    IDLE = 0
    HEAT = 1
    COOL = 2


def by_member(x):
    mode = Mode.IDLE
    if x[0] > 0:
        mode = Mode.HEAT
    elif x[1] > 0:
        mode = Mode.COOL
    return {Mode.IDLE: x[0], Mode.HEAT: x[1] ** 2, Mode.COOL: 0.5}[mode]


def counted_by_member(x):
    heat = {Mode.IDLE: 0.0, Mode.HEAT: 0.0}
    for v in x:
        mode = Mode.HEAT if v > 0.2 else Mode.IDLE
        heat[mode] += v * v
    return heat[Mode.HEAT] * 2.0 + heat[Mode.IDLE]


def by_two_signs(x):
    table = {
        (False, False): lambda v: v,
        (True, False): lambda v: v * v,
        (False, True): lambda v: 3.0 * v,
        (True, True): lambda v: v**3,
    }
    number = 1 if x[0] > 0 else 0
    square = {(i, j): x[0] * (i + 2.0 * j) for i in range(2) for j in range(2)}
    square[number, 0] = square[number, 0] + x[1]
    one, other = x[0] > 0, x[1] > 0
    return table[one, other](x[2]) + square[number, 1 - number] + square[1, 0]


def grouped(x):
    groups = {"low": [], "high": []}
    for v in x:
        groups["high" if v > 0.1 else "low"].append(v * v)
    means = {k: sum(g) / len(g) if g else 0.0 for k, g in groups.items()}
    return means["low"] + 2.0 * means["high"]


def picked(x):
    low, high = [], [x[0]]
    for v in x:
        (high if v > 0 else low).append(v * v)
    pair = [low, high]
    first = pair[0]
    return sum(first) / max(len(first), 1) + sum(pair[1])


def loop_over_groups(x):
    groups = {"low": [], "high": []}
    for v in x:
        groups["high" if v > 0 else "low"].append(v)
    total = 0.0
    for k, g in enumerate(groups.values()):
        if g:
            total += (k + 1) * sum(g) / len(g)
    return total + sum([len(g) for g in groups.values()])


LANES = numpy.array([[0.5, -0.3, 0.9], [-0.4, 0.7, 0.15], [-0.2, -0.6, -0.1]], numpy.float32)
PROGRAMS = [by_member, counted_by_member, by_two_signs, grouped, picked, loop_over_groups]


@pytest.mark.filterwarnings("ignore::overt.errors.RecordedWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_slopes(f):
    want = [f(list(map(float, lane))) for lane in LANES]
    jitted, mapped = overt.jit(f), overt.vmap(f)(LANES)
    for lane, got, expected in zip(LANES, mapped, want, strict=True):
        numpy.testing.assert_allclose(got, expected, rtol=1e-5)
        numpy.testing.assert_allclose(jitted(lane), expected, rtol=1e-5)
        slope = overt.jit(overt.grad(f))(lane)
        for i in range(3):
            up, down = lane.astype(float), lane.astype(float)
            up[i] += 1e-5
            down[i] -= 1e-5
            exact = (f(list(map(float, up))) - f(list(map(float, down)))) / 2e-5
            numpy.testing.assert_allclose(slope[i], exact, atol=1e-3)


def test_missing_keys_are_errors():
    @overt.jit
    def f(x):
        mode = Mode.HEAT if x > 0 else Mode.IDLE
        return {Mode.HEAT: x, Mode.COOL: 2.0}[mode]

    @overt.jit
    def g(x):
        return {(True, 0): x, (True, 1): 2.0}[x > 0, 1]

    assert float(f(3.0)) == 3.0 and float(g(3.0)) == 2.0
    for missing in (f, g):
        with pytest.raises(KeyError):
            missing(-3.0)
