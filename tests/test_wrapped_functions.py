"""Derivatives within functions of decorated functions, and of scalars that containers hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import overt
import overt.numpy as np
from overt.rewrites.reverse import pullback_pair
from overt.transformer.transformed import source_of
from tests.ways import assert_every_way

GRID = numpy.array([0.3, -0.4, 1.1])


def doubled(f: Callable) -> Callable:
    @functools.wraps(f)
    def run(*values: Any, **named: Any) -> Any:
        return 2.0 * f(*values, **named)

    return run


def with_penalty(weight: float) -> Callable:
    def wrap(f: Callable) -> Callable:
        @functools.wraps(f)
        def penalised(x: Any, *rest: Any) -> Any:
            return f(x, *rest) + weight * x**4

        return penalised

    return wrap


def signed(f: Callable) -> Callable:
    def run(a: Any, b: Any) -> Any:
        return f(a, b) * a

    run.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
    return run


@doubled
def wave(phase: Any, speed: Any) -> Any:
    return np.sin(phase * speed) * speed


@with_penalty(0.25)
def bend(height: Any, load: Any) -> Any:
    return height**3 * load


@signed
def named(first: Any, second: Any) -> Any:
    return first**2 * second


def of_wrapped(x: Any) -> Any:
    return overt.grad(wave)(x, x * x) + overt.grad(wave, 1)(x, 0.7)


def of_penalty(x: Any) -> Any:
    return overt.grad(bend)(x, x) * x


def of_signature(x: Any) -> Any:
    return overt.grad(named)(x, 3.0 * x)


def of_local(x: Any) -> Any:
    @with_penalty(0.5)
    def local(height: Any, load: Any) -> Any:
        return np.cos(height * load)

    return overt.grad(local)(x, 1.3) + overt.jvp(local, (x, x), (1.0, 0.0))[1]


@pytest.mark.parametrize("f", [of_wrapped, of_penalty, of_signature, of_local])
def test_derivative_of_decorated(f: Callable[[Any], Any], x64: None) -> None:
    assert_every_way(f)


def in_a_tuple(x: Any, held: Any) -> Any:
    return np.sum(np.cos(GRID * held[0]) * held[0] * x + held[1])


def in_a_dict(x: Any, held: Any) -> Any:
    return np.sum(GRID * held["a"] * held["a"] + GRID * held["a"] * x)


@pytest.mark.parametrize("f, make", [
    (in_a_tuple, lambda c: (c, 2.0 * c)),
    (in_a_tuple, lambda c: [c, c * c]),
    (in_a_dict, lambda c: {"a": c}),
])  # fmt: skip
def test_scalar_in_a_container_used_twice(f: Callable, make: Callable, x64: None) -> None:
    step = 1e-5
    wanted = (f(0.6, make(0.9 + step)) - f(0.6, make(0.9 - step))) / (2 * step)
    _, pull = overt.vjp(f, 0.6, make(0.9))
    _, bars = pull(1.0)
    leaves, slopes = (
        overt.tree_util.tree_leaves(bars),
        overt.tree_util.tree_leaves(overt.jacfwd(make)(0.9)),
    )
    assert all(leaf.shape == () for leaf in leaves)
    total = sum(float(leaf) * float(s) for leaf, s in zip(leaves, slopes, strict=True))
    numpy.testing.assert_allclose(total, wanted, rtol=1e-6)


def test_unknown_parameters_are_no_silent_zeros() -> None:
    with pytest.raises(ValueError, match="has no parameters"):
        pullback_pair(source_of(in_a_tuple), ("phase",))
