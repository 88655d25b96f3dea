"""A function of one number under every transformation, against itself in plain Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import overt


def slopes(f: Callable[[float], Any], x: float, step: float = 1e-4) -> tuple[float, float]:
    """First and second derivative by differences."""
    below, here, above = f(x - step), f(x), f(x + step)
    return (above - below) / (2 * step), (above - 2 * here + below) / step**2


def check_transformed(
    f: Callable[[float], Any], points: Sequence[float], twice: bool = True
) -> None:
    """Value and derivatives of `f`, whose oracle is `f` itself run by Python with NumPy.

    The points are also the lanes of one batch, so they should take different paths.
    """
    values = numpy.array([f(x) for x in points])
    firsts, seconds = numpy.array([slopes(f, x) for x in points]).T
    first, lanes = points[0], numpy.array(points)
    found: dict[str, tuple[Any, Any]] = {}
    with overt.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", overt.errors.RecordedWarning)
        whole = overt.vmap(f)
        compiled, slope = overt.jit(f), overt.jit(overt.grad(f))
        found["jit"] = [compiled(x) for x in points], values
        found["grad"] = [overt.grad(f)(x) for x in points], firsts
        found["jvp"] = [overt.jvp(f, (x,), (1.0,))[1] for x in points], firsts
        found["jit of grad"] = [slope(x) for x in points], firsts
        found["vmap"] = whole(lanes), values
        found["jit of vmap"] = overt.jit(whole)(lanes), values
        found["vmap of grad"] = overt.vmap(overt.grad(f))(lanes), firsts
        found["grad of vmap"] = overt.grad(lambda xs: whole(xs).sum())(lanes), firsts
        if twice:
            found["grad of grad"] = overt.grad(overt.grad(f))(first), seconds[0]
            found["jvp of grad"] = overt.jvp(overt.grad(f), (first,), (1.0,))[1], seconds[0]
    for name, (actual, expected) in found.items():
        numpy.testing.assert_allclose(
            numpy.asarray(actual), expected, 1e-4, 1e-4, err_msg=f"{f.__name__}: {name}"
        )
