"""Infinite and NaN values that a selection leaves out have no part in any derivative.

Each case is `where(inside, alive, x**3)` in some form; outside, the slopes are those of `x**3`.
Inside they are compared with finite differences.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import overt
import overt.lax as lax
import overt.numpy as np
import overt.scipy.special as special


def roots(x: Any) -> Any:
    s = np.sqrt(x)
    return np.where(x > 0, s * np.sin(s) / s, x**3)


def reciprocals(x: Any) -> Any:
    r = 1.0 / x
    return np.where(x != 0, r * r * x, x**3)


def angles(x: Any) -> Any:
    return np.where(np.abs(x) < 1, np.arccos(x) ** 2 * np.arcsin(x), x**3)


def powers(x: Any) -> Any:
    return np.where(x > 0, np.power(x, -1.5) * np.cos(1.0 / x), x**3)


def bounded_functions(x: Any) -> Any:
    y = np.log(x)
    all_of_them = np.sin(y) + np.arctan(y) + special.expit(1.0 / x) + special.erf(y)
    return np.where(x > 0, all_of_them * np.tanh(y), x**3)


def of_two(x: Any) -> Any:
    y = np.log(x)
    return np.where(x > 0, np.arctan2(x, y) * np.hypot(x, y) + np.logaddexp(y, 1.0 / x), x**3)


def special_functions(x: Any) -> Any:
    return np.where(x > 0, special.gammaln(x) * special.digamma(x) + special.xlogy(x, x), x**3)


def moments(x: Any) -> Any:
    a = np.array([np.log(x), x * x, 1.0])
    return np.where(x > 0, np.var(a) + np.mean(a) + np.prod(a), x**3)


def before_a_branch(x: Any) -> Any:
    r = np.log(x)
    s = r * np.sin(r)
    y = x**3
    if x > 0:
        y = y * s
    return y


def parts(x: Any) -> Any:
    return np.log(x), 1.0 / x


def from_a_helper(x: Any) -> Any:
    a, b = parts(x)
    c = a * b * np.cos(a)
    if x > 0:
        return c * c
    return x**3


def in_a_loop(x: Any) -> Any:
    t, a = 0.0, np.log(x)
    for _ in range(2):
        a = a * a + x
        if x > 0:
            t = t + a
        else:
            t = t + x**3 / 2
    return t


class Inverse:
    def of(self, x: Any) -> Any:
        return 1.0 / x


def from_a_method(x: Any) -> Any:
    y = Inverse().of(x)
    return np.where(x != 0, y * y, x**3)


def in_a_loop_of_lax(x: Any) -> Any:
    s = np.log(x)
    y = lax.fori_loop(0, 2, lambda i, c: np.where(x > 0, c * s, c), x)
    return np.where(x > 0, y, x**3)


def from_a_list(x: Any) -> Any:
    ys = [np.sqrt(x), np.log(x), x**3]
    return ys[2] if x <= 0 else ys[0] * ys[1]


def in_a_cond(x: Any) -> Any:
    s = np.log(x)
    return lax.cond(x > 0, lambda: s * s, lambda: x**3)


# Those whose first derivatives are compared, with points outside.
FIRST = [
    (from_a_method, (0.0,)), (in_a_loop_of_lax, (0.0, -0.5)), (from_a_list, (0.0, -0.5)),
    (in_a_cond, (0.0, -0.5)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "outside"), FIRST, ids=lambda x: getattr(x, "__name__", ""))
def test_first_derivatives(f: Any, outside: Any, x64: None) -> None:
    h = 1e-5
    ends = [float(f(np.asarray(0.6 + d))) for d in (-h, h)]
    wanted = [*(3 * x**2 for x in outside), (ends[1] - ends[0]) / (2 * h)]
    forward = lambda x: overt.jvp(f, (x,), (1.0,))[1]
    for way in (overt.grad(f), overt.jit(overt.grad(f)), forward):
        found = [float(way(x)) for x in (*outside, 0.6)]
        numpy.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


# Functions, points outside and inside.
CASES = [
    (roots, (0.0, -0.5), 0.6), (reciprocals, (0.0,), 0.6), (angles, (1.0, 1.7), 0.4),
    (powers, (0.0, -0.5), 0.6), (bounded_functions, (0.0, -0.5), 0.6), (of_two, (0.0, -0.5), 0.6),
    (special_functions, (0.0, -0.5), 0.6), (moments, (0.0, -0.5), 0.6),
    (before_a_branch, (0.0, -0.5), 0.6), (from_a_helper, (0.0, -0.5), 0.6),
    (in_a_loop, (0.0, -0.5), 0.6),
]  # fmt: skip


@pytest.mark.parametrize(
    ("f", "outside", "inside"), CASES, ids=lambda x: getattr(x, "__name__", "")
)
def test_first_and_second_derivatives(f: Any, outside: Any, inside: float, x64: None) -> None:
    slope, bend = overt.grad(f), overt.grad(overt.grad(f))
    points = numpy.array([*outside, inside])
    h = 1e-4
    ends = [float(f(np.asarray(inside + d))) for d in (-h, 0.0, h)]
    slopes = [*(3 * x**2 for x in outside), (ends[2] - ends[0]) / (2 * h)]
    bends = [*(6 * x for x in outside), (ends[2] - 2 * ends[1] + ends[0]) / h**2]
    forward = lambda x: overt.jvp(f, (x,), (1.0,))[1]
    for wanted, ways in [
        (slopes, (slope, overt.jit(slope), forward)),
        (bends, (bend, overt.jit(bend), lambda x: overt.jvp(slope, (x,), (1.0,))[1])),
        (bends, (overt.grad(forward), overt.grad(overt.jit(slope)))),
    ]:
        for way in ways:
            found = [float(way(x)) for x in points]
            numpy.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    if f is not moments:
        numpy.testing.assert_allclose(overt.vmap(bend)(points), bends, rtol=1e-4, atol=1e-4)


def test_missing_data(x64: None) -> None:
    data = np.array([1.0, np.nan, 3.0, np.inf])

    def loss(w: Any, c: Any) -> Any:
        y = w * data + np.sin(c * data)
        return np.nansum(np.where(np.isfinite(data), y * y, np.nan))

    for grad in (overt.grad(loss, (0, 1)), overt.jit(overt.grad(loss, (0, 1)))):
        kept = numpy.array([1.0, 3.0])
        y = 0.5 * kept + numpy.sin(0.7 * kept)
        by_w, by_c = grad(0.5, 0.7)
        numpy.testing.assert_allclose(by_w, (2 * y * kept).sum())
        numpy.testing.assert_allclose(by_c, (2 * y * kept * numpy.cos(0.7 * kept)).sum())
    bend = overt.grad(overt.grad(loss))(0.5, 0.7)
    numpy.testing.assert_allclose(bend, 2 * (kept**2).sum())
