"""Numerical checks shared by tests: values, derivatives and batching of array functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

import overt.runtime.numpy as np
from overt.runtime.batching import vmap_call
from overt.runtime.dual import jvp_call
from overt.runtime.record import vjp_call


def assert_same(actual: Any, expected: Any, rtol: float = 1e-6, what: str = "") -> None:
    """Equal shapes, dtypes of one kind, and close numbers (NaN equals NaN)."""
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), what
        for a, e in zip(actual, expected, strict=True):
            assert_same(a, e, rtol, what)
        return
    actual, expected = numpy.asarray(actual), numpy.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: {actual.shape} != {expected.shape}"
    assert actual.dtype.kind == expected.dtype.kind, f"{what}: {actual.dtype} != {expected.dtype}"
    numpy.testing.assert_allclose(actual, expected, rtol, rtol, err_msg=what)


def difference(f: Callable, args: Sequence[Any], directions: Sequence[Any], step: float) -> Any:
    """Central difference of fourth order of `f` along `directions`."""

    def at(t: float) -> Any:
        moved = [a if d is None else a + t * d for a, d in zip(args, directions, strict=True)]
        return numpy.asarray(f(*moved))

    near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
    return (8 * near - far) / (12 * step)


def slope(f: Callable, x: Any, step: float = 1e-4) -> Any:
    """The derivative of a function of one number by the same differences."""
    return difference(f, (x,), (1.0,), step)


def slopes_of_both_orders(f: Callable, x: float) -> tuple[Any, Any]:
    """First and second derivative of a function of one number, by differences."""

    def first(x: float, step: float = 1e-3) -> Any:
        return slope(lambda y: float(f(y)), x, step)

    return first(x, 1e-4), slope(first, x, 1e-3)


def check_derivatives(
    f: Callable, *args: Any, order: int = 1, step: float = 1e-4, rtol: float = 1e-6
) -> None:
    """jvp and vjp of `f` agree with differences along random directions, up to an order.

    Needs 64-bit dtypes. Floating arguments are varied, all others held.
    """
    rng = numpy.random.default_rng(0)
    args = tuple(numpy.asarray(a) for a in args)
    varied = [a.dtype.kind == "f" for a in args]
    directions = [
        rng.normal(size=a.shape) if vary else None for a, vary in zip(args, varied, strict=True)
    ]
    dots = [d if d is None else np.asarray(d) for d in directions]
    expected = difference(f, args, directions, step)
    arrays = [np.asarray(a) for a in args]
    out, out_dot = jvp_call(f, arrays, dots)
    assert_same(out_dot, expected, rtol, "jvp")

    weights = rng.normal(size=numpy.shape(out))
    out, pullback = vjp_call(f, *arrays)
    bars = pullback(np.asarray(weights))
    for bar, a, vary in zip(bars, args, varied, strict=True):
        if vary:
            assert numpy.shape(bar) == a.shape, "the cotangent has another shape"
    total = sum(
        numpy.sum(numpy.asarray(bar) * d)
        for bar, d in zip(bars, directions, strict=True)
        if d is not None
    )
    assert_same(total, numpy.sum(weights * expected), rtol, "vjp")
    if order > 1:
        check_derivatives(
            lambda *xs: _slope(f, xs, dots, weights), *args, order=order - 1, step=step,
            rtol=max(rtol, 1e-5),
        )  # fmt: skip


def _slope(f: Callable, xs: Sequence[Any], dots: Sequence[Any], weights: Any) -> Any:
    """The gradient of a weighted sum of results along `dots`: as reverse mode computes it."""
    _, pullback = vjp_call(f, *(np.asarray(x) for x in xs))
    bars = pullback(np.asarray(weights))
    return np.array(0.0) + sum(
        np.sum(bar * d) for bar, d in zip(bars, dots, strict=True) if d is not None
    )


def check_batch(f: Callable, *args: Any, rtol: float = 1e-6) -> None:
    """Batching `f` over the first axis equals a loop; also with each argument held alone."""
    patterns = [[0] * len(args)]
    if len(args) > 1:
        patterns += [[None if i == j else 0 for i in range(len(args))] for j in range(len(args))]
    for axes in patterns:
        given = [a if axis == 0 else a[0] for a, axis in zip(args, axes, strict=True)]
        rows = [
            f(*(np.asarray(a[i] if axis == 0 else a) for a, axis in zip(given, axes, strict=True)))
            for i in range(len(args[0]))
        ]
        batched = vmap_call(f, [np.asarray(a) for a in given], tuple(axes))
        expected = numpy.stack([numpy.asarray(row) for row in rows])
        assert_same(batched, expected, rtol, f"batch over {axes}")
