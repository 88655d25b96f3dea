"""Random programs of nested branches and loops, run and differentiated in every way."""

import random

import numpy
import pytest
from test_control import staged

import overt.runtime.numpy as np
from overt.runtime.batching import vmap_call
from overt.runtime.branches import cond
from overt.runtime.config import config
from overt.runtime.control import for_loop, loop_range, loop_zip, while_loop
from overt.runtime.dual import jvp_call
from overt.runtime.record import vjp_call
from overt.runtime.saved import Saved

LANES = [(0.3, -0.4, 2), (-0.8, 0.9, 0), (1.1, 0.2, 3)]


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    config.update("overt_enable_x64", True)
    yield
    config.update("overt_enable_x64", False)


def statements(rng, depth):
    return [statement(rng, depth) for _ in range(rng.randint(1, 3))]


def statement(rng, depth):
    kind = rng.choice(["set", "set", "if", "for", "while", "save"]) if depth else "set"
    c, m = rng.uniform(-1, 1), rng.randint(0, 4)
    if kind == "set":
        return set_one(rng.randrange(2), rng.choice(sorted(FORMULAS)), c)
    body = statements(rng, depth - 1)
    if kind == "if":
        return branch(c / 2, rng.randrange(2), body, statements(rng, depth - 1))
    if kind == "while":
        return repeat(m + 1, body, 0.3 + abs(c))
    stop = rng.choice([lambda n: m, lambda n: n + m - 2, lambda n: n * 2 - m])
    if kind == "for":
        return count(stop, body, abs(c) + 1 if rng.random() < 0.4 else None)
    return record(stop if rng.random() < 0.7 else None, m, body)


FORMULAS = {
    "sin": lambda v, w, c: np.sin(v + w),
    "product": lambda v, w, c: v * w * 0.5 + c,
    "sum": lambda v, w, c: v + c * w,
    "tanh": lambda v, w, c: np.tanh(v * 2),
    "constant": lambda v, w, c: c if c > 0 else 1,
    "bell": lambda v, w, c: v * c + np.exp(-w * w),
}


def run(program, x, y, n):
    for step in program:
        x, y = step(x, y, n)
    return x, y


def set_one(i, formula, c):
    def step(x, y, n):
        if i == 0:
            return FORMULAS[formula](x, y, c), y
        return x, FORMULAS[formula](y, x, c)

    return step


def branch(c, i, then, orelse):
    return lambda x, y, n: cond(
        (x, y)[i] > c,
        lambda x, y: run(then, x, y, n),
        lambda x, y: run(orelse, x, y, n),
        (x, y),
    )


def count(stop, body, limit):
    def step(x, y, n):
        def once(i, x, y, done):
            x, y = run(body, x, y, n)
            x = x + 0.1 * i
            return x, y, False if limit is None else np.abs(x) > limit

        until = None if limit is None else 2
        return for_loop(loop_range(stop(n)), once, (x, y, False), until=until)[:2]

    return step


def repeat(most, body, limit):
    def step(x, y, n):
        def test(x, y, k):
            return np.logical_and(k < most, np.abs(x) + np.abs(y) < limit * 2)

        def once(x, y, k):
            x, y = run(body, x, y, n)
            return x + 0.05, y, k + 1

        return while_loop(test, once, (x, y, 0))[:2]

    return step


def record(stop, m, body):
    def step(x, y, n):
        def once(i, x, y, saved):
            saved = saved.pushed(x, i)
            return *run(body, x, y, n), saved

        def once_more(x, y, k, saved):
            x, y, saved = once(k, x, y, saved)
            return x + 0.05, y, k + 1, saved

        if stop is None:
            test = lambda x, y, k, saved: np.logical_and(k < m + n, np.abs(x) < 2)  # noqa: E731
            x, y, _, saved = while_loop(test, once_more, (x, y, 0, Saved()))
        else:
            x, y, saved = for_loop(loop_range(stop(n)), once, (x, y, Saved()))

        def back(r, y, out):
            return y * 0.9 + r[0] * 0.1 + r[1] * 0.01, out.pushed(r[0] * y)

        y, out = for_loop(saved.reversed(), back, (y, Saved()))
        pairs = loop_zip(saved, out.reversed())
        y = for_loop(pairs, lambda pair, y: y * 0.8 + pair[0][0] * pair[1] * 0.1, y)
        return for_loop(out.flipped(), lambda r, x: np.tanh(x + r), x), y

    return step


def close(found, expected):
    for x, y in zip(found, expected, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(x, float), numpy.asarray(y, float), 1e-8, 1e-8)


@pytest.mark.parametrize("seed", [0, 5, 9])
def test_random_program(seed):
    program = statements(random.Random(seed), 2)

    def f(x, y, n):
        x, y = run(program, x, y, n)
        return x * 1.3 + y * 0.7

    def value_and_slopes(x, y, n):
        out, pullback = vjp_call(f, x, y, n)
        return out, *pullback(np.ones_like(out) * 1.0)[:2]

    def along(x, y, n):
        return jvp_call(f, (x, y, n), (1.0, 0.0, None))[1]

    expected = [value_and_slopes(*lane) for lane in LANES]
    for lane, (out, slope, _) in zip(LANES, expected, strict=True):
        h = 1e-6
        up, down = (f(lane[0] + s * h, *lane[1:]) for s in (1, -1))
        if abs(float(up - down)) < 1e-4:  # not across a jump
            assert abs((up - down) / (2 * h) - slope) < 1e-4 * (1 + abs(slope))
        close([f(*lane), along(*lane)], [out, slope])
    close(staged(value_and_slopes)(*LANES[0]), expected[0])
    close([staged(along)(*LANES[2])], [expected[2][1]])
    stacked = [numpy.array(column) for column in zip(*LANES, strict=True)]
    wanted = [numpy.stack([numpy.asarray(x, float) for x in column]) for column in zip(*expected)]  # noqa: B905
    close(vmap_call(value_and_slopes, stacked), wanted)
    close(staged(lambda *args: vmap_call(value_and_slopes, args))(*stacked), wanted)
