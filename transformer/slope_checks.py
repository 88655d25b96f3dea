"""Derivatives compared with differences of the function: for the tests of those who write rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from overt.runtime import dtypes
from overt.runtime.aval import aval_of
from overt.runtime.tree import tree_flatten, tree_map
from overt.transformer.jacobians import jvp, vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]

# The step that balances the error of a central difference, and what is left of it.
_STEP = {2: 2.0**-4, 4: 2.0**-8, 8: 2.0**-17}
_TOLERANCE = {2: 1e-1, 4: 5e-3, 8: 1e-5}


def check_jvp(
    f: Callable, f_jvp: Callable, args: Sequence[Any], atol: Any = None, rtol: Any = None,
    eps: Any = None, err_msg: str = "",
) -> None:  # fmt: skip
    """Compare `f_jvp(args, tangents)` with differences of `f` in one random direction.

    Errors: AssertionError where values or tangents differ.

    >>> import overt, overt.numpy as np
    >>> check_jvp(np.sin, lambda x, x_dot: overt.jvp(np.sin, x, x_dot), (0.5,))
    """
    args = tuple(args)
    tangents = _random_like(args, numpy.random.RandomState(0))
    out, out_dot = f_jvp(args, tangents)
    name = err_msg or "JVP"
    _check_close(out, f(*args), atol, rtol, f"{name} primal")
    _check_close(out_dot, _slope(f, args, tangents, eps), atol, rtol, f"{name} tangent")


def check_vjp(
    f: Callable, f_vjp: Callable, args: Sequence[Any], atol: Any = None, rtol: Any = None,
    eps: Any = None, err_msg: str = "",
) -> None:  # fmt: skip
    """Compare `f_vjp(*args)`, a result and a pullback, with differences of `f`.

    Errors: AssertionError where values, or products with random tangents and cotangents, differ.

    >>> import overt, overt.numpy as np
    >>> check_vjp(np.sin, lambda x: overt.vjp(np.sin, x), (0.5,))
    """
    args = tuple(args)
    random = numpy.random.RandomState(0)
    tangents = _random_like(args, random)
    out, pull = f_vjp(*args)
    name = err_msg or "VJP"
    _check_close(out, f(*args), atol, rtol, f"{name} primal")
    bars = _random_like(out, random)
    forward = _product(bars, _slope(f, args, tangents, eps))
    backward = _product(pull(bars), tangents)
    widths = [_width(x.dtype) for x in tree_flatten((bars, tangents))[0]]
    _check_close(
        backward, forward, atol, rtol, f"{name} cotangent projection", min(widths, default=8)
    )


def check_grads(
    f: Callable, args: Sequence[Any], order: int, modes: Sequence[str] = ("fwd", "rev"),
    atol: Any = None, rtol: Any = None, eps: Any = None,
) -> None:  # fmt: skip
    """Compare the derivatives of `f` at `args`, up to an order, with differences.

    One random direction is tried, so that the size of the arguments does not matter.

    Errors: AssertionError where they differ.

    >>> import overt.numpy as np
    >>> check_grads(lambda x: x * np.sin(x), (0.5,), order=2)
    """
    args = tuple(args)
    chosen = [modes] if isinstance(modes, str) else list(modes)
    if not set(chosen) <= {"fwd", "rev"}:
        raise ValueError(f"check_grads knows the modes 'fwd' and 'rev', got {modes!r}")
    _check_up_to(f, args, order, chosen, (atol, rtol, eps), "")


def _check_up_to(
    f: Callable, args: tuple, order: int, modes: list[str], tolerances: tuple, path: str
) -> None:
    atol, rtol, eps = tolerances
    if "fwd" in modes:
        name = f"{path} JVP".strip()
        check_jvp(f, partial(jvp, f), args, atol, rtol, eps, name)
        if order > 1:
            tangents = _random_like(args, numpy.random.RandomState(1))
            along = lambda *xs: _floats(jvp(f, xs, tangents)[1])  # noqa: E731
            _check_up_to(along, args, order - 1, modes, tolerances, f"{name} of")
    if "rev" in modes:
        name = f"{path} VJP".strip()
        check_vjp(f, partial(vjp, f), args, atol, rtol, eps, name)
        if order > 1:
            bars = _random_like(f(*args), numpy.random.RandomState(1))
            pulled = lambda *xs: _floats(vjp(f, *xs)[1](bars))  # noqa: E731
            _check_up_to(pulled, args, order - 1, modes, tolerances, f"{name} of")


def _floats(tree: Any) -> list[Any]:
    return [x for x in tree_flatten(tree)[0] if dtypes.is_inexact(aval_of(x).dtype)]


def _random_like(tree: Any, random: numpy.random.RandomState) -> Any:
    def one(x: Any) -> Any:
        aval = aval_of(x)
        if not dtypes.is_inexact(aval.dtype):
            return numpy.zeros(aval.shape, dtypes.float0)
        numbers = random.standard_normal(aval.shape)
        if dtypes.is_complex(aval.dtype):
            numbers = numbers + 1j * random.standard_normal(aval.shape)
        return numpy.asarray(numbers).astype(aval.dtype)

    return tree_map(one, tree)


def _slope(f: Callable, args: tuple, tangents: tuple, eps: Any) -> Any:
    """The central difference of `f` along `tangents`."""
    floats = [aval_of(x).dtype for x in tree_flatten(args)[0]]
    step = eps or max((_STEP[_width(d)] for d in floats if dtypes.is_inexact(d)), default=1.0)

    def moved(factor: float) -> Any:
        def one(x: Any, dot: Any) -> Any:
            x = numpy.asarray(x)
            return x if dot.dtype == dtypes.float0 else (x + factor * step * dot).astype(x.dtype)

        return f(*tree_map(one, args, tangents))

    def difference(after: Any, before: Any) -> Any:
        after, before = numpy.asarray(after), numpy.asarray(before)
        if not dtypes.is_inexact(after.dtype):
            return numpy.zeros(after.shape, dtypes.float0)
        wide = complex if dtypes.is_complex(after.dtype) else float
        return (after.astype(wide) - before.astype(wide)) / (2 * step)

    return tree_map(difference, moved(1.0), moved(-1.0))


def _product(bars: Any, dots: Any) -> float:
    """The sum of products of cotangents with tangents; the real part is what both modes share."""
    leaves, definition = tree_flatten(dots)
    total = 0.0
    for bar, dot in zip(definition.flatten_up_to(bars), leaves, strict=True):
        if bar is not None and dot.dtype != dtypes.float0 and aval_of(bar).dtype != dtypes.float0:
            total += float(numpy.sum(numpy.asarray(bar).astype(complex) * dot).real)
    return total


def _width(dtype: Any) -> int:
    """Bytes of a real number, or of each part of a complex one; integers set no limit."""
    if not dtypes.is_inexact(dtype):
        return 8
    return dtype.itemsize // (2 if dtypes.is_complex(dtype) else 1)


def _check_close(
    actual: Any, expected: Any, atol: Any, rtol: Any, what: str, width: int = 8
) -> None:
    leaves, definition = tree_flatten(actual)
    for x, y in zip(leaves, definition.flatten_up_to(expected), strict=True):
        x, y = numpy.asarray(x), numpy.asarray(y)
        if x.dtype == dtypes.float0 or y.dtype == dtypes.float0:
            continue
        usual = _TOLERANCE[min(width, _width(x.dtype))]
        wide = complex if dtypes.is_complex(x.dtype) else float
        numpy.testing.assert_allclose(
            x.astype(wide), y.astype(wide), usual if rtol is None else rtol,
            usual if atol is None else atol, err_msg=what,
        )  # fmt: skip
