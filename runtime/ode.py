"""Ordinary differential equations, by the method of Dormand and Prince.

Source: Dormand and Prince, "A family of embedded Runge-Kutta formulae", 1980; Shampine, "Some
practical Runge-Kutta formulas", 1986 (values between steps); Hairer, Norsett and Wanner, "Solving
ordinary differential equations I", 1993, II.4 (the first step); Chen, Rubanova, Bettencourt and
Duvenaud, "Neural ordinary differential equations", 2018 (the adjoint).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime import dtypes
from overt.runtime.batching import vmap_call
from overt.runtime.control import for_loop, loop_range, while_loop
from overt.runtime.custom import CustomRule
from overt.runtime.derivatives import is_inexact
from overt.runtime.dual import jvp_call
from overt.runtime.lax.linear_solves import Closed
from overt.runtime.over_lanes import OverLanes
from overt.runtime.primitive import composite
from overt.runtime.record import vjp_call
from overt.runtime.tree import tree_flatten, tree_map, tree_structure
from overt.runtime.vectors_of_trees import ravel_pytree

__all__ = ["odeint"]

TIMES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (
    35 / 384 - 1951 / 21600, 0, 500 / 1113 - 22642 / 50085, 125 / 192 - 451 / 720,
    -2187 / 6784 + 12231 / 42400, 11 / 84 - 649 / 6300, -1 / 60,
)  # fmt: skip
MIDDLE = (
    6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0


def odeint(
    func: Callable, y0: Any, t: Any, *args: Any, rtol: Any = 1.4e-8, atol: Any = 1.4e-8,
    mxstep: Any = math.inf, hmax: Any = math.inf,
) -> Any:  # fmt: skip
    """The solution y of `dy/dt = func(y, t, *args)` with y = `y0` at `t[0]`, at all times `t`.

    Steps are as long as keeps their error within `atol + rtol * abs(y)`, at most `hmax`. y is NaN
    from where more than `mxstep` steps would be needed to the next time, or shorter ones than
    numbers can tell. Reverse mode solves the adjoint equation backwards in time, forward mode the
    equation of the tangents beside the first; both are accurate to the tolerances. Long ways are
    much quicker under `jit`.

    Shapes: `y0` is an array or a tree of them, `t` a vector of increasing or decreasing times; the
    result has an axis of times in front.
    Errors: ValueError or TypeError where these do not fit.

    >>> y = odeint(lambda y, t: -y, np.array(1.0), np.array([0.0, 1.0]), rtol=1e-4, atol=1e-4)
    >>> print(np.round(1000 * y))
    [1000.  368.]
    """
    if np.ndim(t) != 1 or np.shape(t)[0] < 1:
        raise ValueError(f"odeint: t must be a vector of times, its shape is {np.shape(t)}")
    for name, x in (("rtol", rtol), ("atol", atol), ("mxstep", mxstep), ("hmax", hmax)):
        if np.ndim(x):
            raise TypeError(f"odeint: {name} must be a number")
    y0 = tree_map(_floats, y0)
    vector, tree_of = ravel_pytree(y0)
    function = Closed(func)

    def flow(operands: Any, y: Any, t: Any) -> Any:
        held, args = operands
        out = function.with_values(held)(tree_of(y), t, *args)
        if tree_structure(out) != tree_structure(y0):
            raise TypeError(
                f"odeint: func must give what has the structure of y0, {tree_structure(y0)}, not "
                f"{tree_structure(out)}"
            )
        return ravel_pytree(out)[0].astype(y.dtype)

    times = _floats(t).astype(dtypes.real_type(vector.dtype))
    limits = tuple(_constant(x) for x in (rtol, atol, mxstep, hmax))
    ys = Trajectory(flow, limits)((function.values, args), vector, times)
    return vmap_call(tree_of, (ys,))


def _floats(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(dtypes.to_inexact(x.dtype))


def _constant(x: Any) -> Any:
    from overt.runtime.lax.convert import stop_gradient

    return x if isinstance(x, (int, float)) else stop_gradient(x)


class Trajectory(CustomRule):
    """The solution at given times, as a function of operands of the flow, the start and the times.

    `flow(operands, y, t)` is the slope of the vector y.
    """

    def __init__(self, flow: Callable, limits: tuple) -> None:
        super().__init__(self.solution)
        self.__name__ = "odeint"
        self.flow, self.limits = flow, limits

    def positional(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        return args

    def check(self) -> None:
        """It is differentiable."""

    def solution(self, operands: Any, y0: Any, ts: Any) -> Any:
        """y at all times: (times, variables)."""
        # Time runs forward in what follows; where it does not, it is counted backwards.
        sign = np.where(ts[-1] < ts[0], -1, 1).astype(ts.dtype)
        return integrated(
            lambda y, s: sign.astype(y.dtype) * self.flow(operands, y, sign * s), y0, sign * ts,
            *self.limits,
        )  # fmt: skip

    def slopes(self, operands: Any, ys: Any, ts: Any) -> Any:
        """The slopes of y at all times."""

        def one(i: Any, found: Any) -> Any:
            return found.at[i].set(self.flow(operands, ys[i], ts[i]))

        return for_loop(loop_range(0, ts.shape[0], 1), one, np.zeros_like(ys))

    def plain(self, out: Any) -> Any:
        """What of the result has a derivative."""
        return out

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        operands, y0, ts = primals
        dots = tree_map(lambda x, d: d if is_inexact(x) else None, operands, tangents[0])
        y0_dot, ts_dot = tangents[1:]
        n = y0.shape[0]

        def beside(given: Any, z: Any, t: Any) -> Any:
            operands, dots = given
            primals, along = (operands, z[:n], t), (dots, z[n:], None)
            return np.concatenate(jvp_call(self.flow, primals, along))

        out = self(*primals)
        slopes = self.slopes(operands, out, ts)
        start = np.concatenate([y0, y0_dot - slopes[0] * ts_dot[0]])
        both = Trajectory(beside, self.limits)((operands, dots), start, ts)
        return out, both[:, n:] + slopes * ts_dot[:, None]

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        out = self(*primals)
        return out, lambda out_bar: self.pulled(primals, out, out_bar)

    def pulled(self, primals: tuple, ys: Any, ys_bar: Any) -> tuple:
        """The cotangents, from those of y at all times, by the adjoint equation."""
        operands, y0, ts = primals
        leaves, definition = tree_flatten(operands)
        floats = [i for i, x in enumerate(leaves) if is_inexact(x)]
        weights, leaves_of = ravel_pytree([leaves[i] for i in floats])
        weights = weights.astype(np.result_type(weights.dtype, y0.dtype))
        n, count = y0.shape[0], ts.shape[0]

        def with_floats(leaves: Any, values: Any) -> Any:
            every = list(leaves)
            for i, value in zip(floats, values, strict=True):
                every[i] = value
            return definition.unflatten(every)

        def back(leaves: Any, z: Any, s: Any) -> Any:
            def slope(values: Any, y: Any, t: Any) -> Any:
                return self.flow(with_floats(leaves, values), y, t)

            given = [leaves[i] for i in floats]
            f, pull = vjp_call(slope, given, z[:n].astype(y0.dtype), -s)
            bars, y_bar, t_bar = pull(z[n : 2 * n].astype(y0.dtype))
            parts = [-f, y_bar, np.reshape(t_bar, 1), ravel_pytree(bars)[0]]
            return np.concatenate([part.astype(z.dtype) for part in parts])

        adjoint = Trajectory(back, self.limits)
        slopes = self.slopes(operands, ys, ts)
        ts_bar = np.sum(slopes * ys_bar, -1)

        def interval(k: Any, y_bar: Any, t_bar: Any, weights_bar: Any) -> Any:
            i = count - 1 - k
            z = np.concatenate([ys[i], y_bar, np.reshape(t_bar - ts_bar[i], 1), weights_bar])
            end = adjoint(leaves, z, np.stack([-ts[i], -ts[i - 1]]))[1]
            return end[n : 2 * n] + ys_bar[i - 1], end[2 * n], end[2 * n + 1 :]

        dtype = np.result_type(weights.dtype, y0.dtype)
        start = (ys_bar[-1].astype(dtype), np.zeros((), dtype), np.zeros_like(weights))
        y_bar, t_bar, weights_bar = for_loop(loop_range(0, count - 1, 1), interval, start)
        ts_bar = ts_bar.at[0].set(t_bar.astype(ts_bar.dtype))
        bars: list[Any] = [None] * len(leaves)
        found = _unraveled(weights_bar, [leaves[i] for i in floats])
        for i, bar in zip(floats, found, strict=True):
            bars[i] = bar
        return definition.unflatten(bars), y_bar, np.real(ts_bar)

    def over_lanes(self, axes: tuple, lanes: int, fixed: tuple) -> CustomRule:
        return OverLanes(self, axes, lanes)


def _unraveled(vector: Any, like: list[Any]) -> list[Any]:
    parts, at = [], 0
    for x in like:
        size = int(numpy.prod(np.shape(x), dtype=int))
        parts.append(np.reshape(vector[at : at + size], np.shape(x)))
        at += size
    return parts


# integration --------------------------------------------------------------------------------------


def integrated(
    flow: Callable, y0: Any, ts: Any, rtol: Any, atol: Any, mxstep: Any, hmax: Any
) -> Any:
    """y at increasing times, by steps of the length that the error allows."""
    f0 = flow(y0, ts[0])
    h = np.clip(first_step(flow, y0, f0, ts[0], rtol, atol), 0, hmax).astype(ts.dtype)

    def up_to(i: Any, ys: Any, y: Any, f: Any, t: Any, h: Any, before: Any, curve: Any) -> Any:
        target = ts[i]

        def test(y: Any, f: Any, t: Any, h: Any, before: Any, curve: Any, k: Any) -> Any:
            return (t < target) & (t + h > t) & (k < mxstep)

        def body(y: Any, f: Any, t: Any, h: Any, before: Any, curve: Any, k: Any) -> Any:
            slopes = [f]
            for c, stage in zip(TIMES[1:], STAGES, strict=True):
                slopes.append(flow(moved(y, slopes, h, stage), t + c * h))
            ratio, new, path = judged(y, slopes, h, rtol, atol)
            good = ratio <= 1
            y, f = np.where(good, new, y), np.where(good, slopes[-1], f)
            curve, before = np.where(good, path, curve), np.where(good, t, before)
            t = np.where(good, t + h, t)
            return y, f, t, np.clip(next_step(h, ratio), 0, hmax), before, curve, k + 1

        start = (y, f, t, h, before, curve, np.asarray(0))
        y, f, t, h, before, curve, _ = while_loop(test, body, start)
        there = along(curve, (target - before) / np.where(t > before, t - before, 1))
        return ys.at[i].set(np.where(t >= target, there, np.nan)), y, f, t, h, before, curve

    ys = np.zeros((ts.shape[0], *y0.shape), y0.dtype).at[0].set(y0)
    flat = np.concatenate([np.zeros((4, *y0.shape), y0.dtype), y0[None]])
    start = (ys, y0, f0, ts[0], h, ts[0], flat)
    return for_loop(loop_range(1, ts.shape[0], 1), up_to, start)[0]


def _size(x: Any) -> Any:
    return np.sqrt(np.mean(np.abs(x) ** 2)) if x.size else np.zeros(())


def first_step(flow: Callable, y0: Any, f0: Any, t0: Any, rtol: Any, atol: Any) -> Any:
    """A length for the first step, from the slope and how much that changes in a tiny one."""
    scale = atol + np.abs(y0) * rtol
    d0, d1 = _size(y0 / scale), _size(f0 / scale)
    small = (d0 < 1e-5) | (d1 < 1e-5)
    h0 = np.where(small, 1e-6, 0.01 * d0 / np.where(small, 1, d1)).astype(t0.dtype)
    f1 = flow(y0 + h0.astype(y0.dtype) * f0, t0 + h0)
    d2 = _size((f1 - f0) / scale) / h0
    most = np.maximum(d1, d2)
    flat = most <= 1e-15
    h1 = np.where(flat, np.maximum(1e-6, h0 * 1e-3), (0.01 / np.where(flat, 1, most)) ** (1 / 5))
    return np.minimum(100 * h0, h1)


def _mixed(slopes: Any, weights: tuple) -> Any:
    return sum(w * k for w, k in zip(weights, slopes, strict=True) if w)


@composite(arrays=("y", "slopes", "h"))
def moved(y: Any, slopes: Any, h: Any, weights: tuple) -> Any:
    """y after a step along a mean of slopes."""
    return y + h.astype(y.dtype) * _mixed(slopes, weights)


@composite(arrays=("y", "slopes", "h", "rtol", "atol"))
def judged(y: Any, slopes: Any, h: Any, rtol: Any, atol: Any) -> Any:
    """The error of a step over what is allowed, its end, and the polynomial on the way."""
    h = h.astype(y.dtype)
    new = y + h * _mixed(slopes[:-1], STAGES[-1])
    error = h * _mixed(slopes, ERRORS)
    scale = atol + rtol * np.maximum(np.abs(y), np.abs(new))
    middle = y + h * _mixed(slopes, MIDDLE)
    d, e = h * slopes[0], h * slopes[-1]
    path = np.stack([
        2 * (e - d) - 8 * (y + new) + 16 * middle,
        5 * d - 3 * e + 18 * y + 14 * new - 32 * middle,
        e - 4 * d - 11 * y - 5 * new + 16 * middle,
        d,
        y,
    ])  # fmt: skip
    return _size(error / scale), new, path


@composite(arrays=("h", "ratio"))
def next_step(h: Any, ratio: Any) -> Any:
    """The length of the next step, from the error of this one."""
    safe = np.where(ratio > 0, ratio, 1)
    factor = np.clip(SAFETY * safe ** (-1 / 5), np.where(ratio < 1, 1, SHRINK), GROW)
    factor = np.where(np.isnan(ratio), SHRINK, np.where(ratio > 0, factor, GROW))
    return h * factor.astype(h.dtype)


@composite(arrays=("curve", "x"))
def along(curve: Any, x: Any) -> Any:
    """The polynomial of a step, a share x of the way."""
    x = x.astype(curve.dtype)
    value = curve[0]
    for coefficient in curve[1:]:
        value = value * x + coefficient
    return value
