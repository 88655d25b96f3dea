"""A function of one number under every transformation, against itself in plain Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import overt
from overt.runtime.config import enable_x64
from overt.runtime.errors import RecordedWarning
from tests.numeric import slope

POINTS = (0.7, 1.9)
STEP = 1e-4


def assert_every_way(
    f: Callable[[Any], Any],
    points: tuple[float, float] = POINTS,
    plain: Callable[[Any], Any] | None = None,
) -> None:
    """Values, first and second derivatives agree with the function and its differences.

    `plain` is the same in plain Python, where `f` is not that itself.
    """
    g = plain or f
    values = [float(g(x)) for x in points]
    slopes = [(float(g(x + STEP)) - float(g(x - STEP))) / (2 * STEP) for x in points]
    bends = [(float(g(x + STEP)) - 2 * float(g(x)) + float(g(x - STEP))) / STEP**2 for x in points]
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


def assert_every_path(f: Callable[[Any], Any], points: Sequence[float], rtol: float) -> None:
    """Values and first derivatives at points that take different paths, one by one and as lanes."""
    values, slopes = [float(f(x)) for x in points], [slope(f, x) for x in points]
    staged, g, h = overt.jit(f), overt.grad(f), overt.jit(overt.grad(f))
    for x, value, want in zip(points, values, slopes, strict=True):
        np.testing.assert_allclose(staged(x), value, rtol=1e-12)
        np.testing.assert_allclose(g(x), want, rtol=rtol)
        np.testing.assert_allclose(h(x), want, rtol=rtol)
        np.testing.assert_allclose(overt.jvp(f, (x,), (1.0,))[1], want, rtol=rtol)
    xs = np.array(points)
    np.testing.assert_allclose(overt.vmap(f)(xs), values, rtol=1e-12)
    np.testing.assert_allclose(overt.vmap(overt.grad(f))(xs), slopes, rtol=rtol)
    np.testing.assert_allclose(overt.jit(overt.vmap(f))(xs), values, rtol=1e-12)
