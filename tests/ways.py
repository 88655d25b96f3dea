"""A function of one number under every transformation, against itself in plain Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import overt
from overt.runtime.config import enable_x64
from overt.runtime.errors import RecordedWarning

POINTS = (0.7, 1.9)
STEP = 1e-4


def assert_every_way(f: Callable[[Any], Any], points: tuple[float, float] = POINTS) -> None:
    """Values, first and second derivatives agree with the function and its differences."""
    values = [float(f(x)) for x in points]
    slopes = [(float(f(x + STEP)) - float(f(x - STEP))) / (2 * STEP) for x in points]
    bends = [(float(f(x + STEP)) - 2 * float(f(x)) + float(f(x - STEP))) / STEP**2 for x in points]
    with enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        xs, x = np.array(points), points[0]
        forward = lambda x: overt.jvp(f, (x,), (1.0,))[1]
        second = lambda x: overt.jvp(overt.grad(f), (x,), (1.0,))[1]
        whole = lambda xs: overt.vmap(f)(xs).sum()
        for name, got, wanted in [
            ("jit", overt.jit(f)(x), values[0]),
            ("vmap", overt.vmap(f)(xs), values),
            ("jit of vmap", overt.jit(overt.vmap(f))(xs), values),
            ("grad", [overt.grad(f)(x) for x in points], slopes),
            ("jvp", forward(x), slopes[0]),
            ("jit of jvp", overt.jit(forward)(x), slopes[0]),
            ("jit of grad", overt.jit(overt.grad(f))(x), slopes[0]),
            ("grad of jit", overt.grad(overt.jit(f))(x), slopes[0]),
            ("vmap of grad", overt.vmap(overt.grad(f))(xs), slopes),
            ("grad of vmap", overt.grad(whole)(xs), slopes),
            ("jvp of grad", second(x), bends[0]),
            ("grad of grad", overt.grad(overt.grad(f))(x), bends[0]),
            ("jit of grad of grad", overt.jit(overt.grad(overt.grad(f)))(x), bends[0]),
        ]:
            np.testing.assert_allclose(
                np.asarray(got, float), wanted, rtol=2e-4, atol=2e-4, err_msg=name
            )
