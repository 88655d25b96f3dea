"""Random programs under every transformation; NumPy and finite differences are the oracles.

`pytest -m nightly tests/test_programs.py` runs five thousand of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from tests import programs

W = programs.WIDE
EVERY = [*range(50), *range(W, W + 50)]  # seeds whose gradient is checked
STAGED = EVERY[::10]  # seeds that are compiled as well, which takes a second each
NIGHT = [*range(1000, 2500), *range(W + 1000, W + 4500)]
FOUND = [2155, 2432, 3477, 4456, 4547, 12576, 13470]  # seeds whose second derivative was wrong once
COMPILED = [1130, 2250, 3120, 4220]  # seeds that were wrong or refused once, when compiled
LANES = [13940]  # and over lanes


pytestmark = pytest.mark.usefixtures("x64")


def points(seed: int) -> list[numpy.ndarray]:
    """Two places where a program is tried: a, b and the three elements of v."""
    return [numpy.random.default_rng(7 * seed + k).uniform(-1.2, 1.2, 5) for k in range(2)]


def oracle(seed: int) -> Callable[[numpy.ndarray], float]:
    """The program as NumPy runs it."""
    f = programs.program(seed, numpy)
    return lambda x: float(f(x[0], x[1], numpy.array(x[2:])))


def arguments(x: numpy.ndarray) -> tuple[Any, ...]:
    return tuple(np.asarray(part) for part in (x[..., 0], x[..., 1], x[..., 2:]))


def slope(f: Callable, x: numpy.ndarray, step: float = 1e-5) -> numpy.ndarray:
    """The gradient by fourth-order central differences."""
    rows = numpy.eye(len(x)) * step
    near = [f(x + d) - f(x - d) for d in rows]
    far = [f(x + 2 * d) - f(x - 2 * d) for d in rows]
    return (8 * numpy.array(near) - numpy.array(far)) / (12 * step)


def flat(parts: Any) -> numpy.ndarray:
    return numpy.concatenate([numpy.ravel(numpy.asarray(p)) for p in parts])


def close(found: Any, wanted: Any, tolerance: float, seed: int) -> None:
    numpy.testing.assert_allclose(
        numpy.asarray(found), wanted, rtol=tolerance, atol=tolerance, err_msg=programs.text_of(seed)
    )


def check_gradient(seed: int) -> None:
    g = overt.grad(programs.program(seed, np), argnums=(0, 1, 2))
    for x in points(seed):
        close(flat(g(*arguments(x))), slope(oracle(seed), x), 3e-5, seed)


def check_second_derivative(seed: int) -> None:
    """Reverse over reverse, against differences of the first derivative, itself checked."""
    g = overt.grad(programs.program(seed, np))
    x, step = points(seed)[0], 1e-5

    def first(a: float) -> float:
        return float(g(*arguments(numpy.array([a, *x[1:]]))))

    wanted = (first(x[0] + step) - first(x[0] - step)) / (2 * step)
    close(overt.grad(g)(*arguments(x)), wanted, 1e-5, seed)


def check_staged(seed: int) -> None:
    with unrecorded(seed):
        check_compiled(seed)


@contextmanager
def unrecorded(seed: int) -> Iterator[None]:
    with warnings.catch_warnings():
        if seed >= W:  # what a mask selects in a `while`, a sort by lanes, has no text of its own
            warnings.simplefilter("ignore", overt.errors.RecordedWarning)
        yield


def check_compiled(seed: int) -> None:
    f, value = programs.program(seed, np), oracle(seed)
    staged, slopes = overt.jit(f), overt.jit(overt.grad(f, argnums=(0, 1, 2)))
    for x in points(seed):
        close(staged(*arguments(x)), value(x), 1e-9, seed)
        close(flat(slopes(*arguments(x))), slope(value, x), 3e-5, seed)


def check_lanes(seed: int) -> None:
    f, value = programs.program(seed, np), oracle(seed)
    lanes = arguments(numpy.stack(points(seed)))
    slopes = [slope(value, x)[0] for x in points(seed)]
    with unrecorded(seed):
        close(overt.vmap(f)(*lanes), [value(x) for x in points(seed)], 1e-9, seed)
        close(overt.vmap(overt.grad(f))(*lanes), slopes, 3e-5, seed)
        batched = overt.grad(lambda a, b, v: np.sum(overt.vmap(f)(a, b, v)))
        close(batched(*lanes), slopes, 3e-5, seed)


def check_forward(seed: int) -> None:
    f, value = programs.program(seed, np), oracle(seed)
    x, direction = points(seed)[0], numpy.linspace(0.5, 1.5, 5)
    out, dot = overt.jvp(f, arguments(x), arguments(direction))
    close(out, value(x), 1e-9, seed)
    close(dot, slope(value, x) @ direction, 3e-5, seed)


@pytest.mark.parametrize("seed", [*EVERY, 5717])
def test_gradient(seed: int) -> None:
    check_gradient(seed)


@pytest.mark.parametrize("seed", EVERY[::4])
def test_forward(seed: int) -> None:
    check_forward(seed)


@pytest.mark.parametrize("seed", [*EVERY[::4], *FOUND])
def test_second_derivative(seed: int) -> None:
    check_second_derivative(seed)


@pytest.mark.parametrize("seed", [*STAGED, *COMPILED])
def test_staged(seed: int) -> None:
    check_staged(seed)


@pytest.mark.parametrize("seed", [*STAGED, *LANES])
def test_lanes(seed: int) -> None:
    check_lanes(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", NIGHT)
def test_night(seed: int) -> None:
    check_gradient(seed)
    check_forward(seed)
    check_second_derivative(seed)
    if seed % 10 == 0:
        check_staged(seed)
        check_lanes(seed)
