"""Derivatives of higher order along a path: truncated Taylor polynomials through functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.called import call
from overt.runtime.dual import jvp_call
from overt.runtime.tree import tree_flatten, tree_map

__all__ = ["jet"]


def jet(
    fun: Callable,
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
    **_: Any,
) -> tuple[Any, Any]:
    """`fun` along a path: its value, and its derivatives up to the order of `series`.

    The path of each argument starts at its primal; `series` has for each the derivatives of first,
    second, ... order there, or the coefficients of its Taylor polynomial where not
    `factorial_scaled`. The result has for each array of the value a list of the same kind.

    Each order is a derivative of the one before, so work doubles with the order.

    Errors: ValueError where the series are not as many as the primals or differ in length.

    >>> value, (first, second) = jet(lambda x: x**3, (2.0,), ((1.0, 0.0),))
    >>> float(value), float(first), float(second)
    (8.0, 12.0, 12.0)
    """
    primals, paths = tuple(primals), [list(terms) for terms in series]
    if len(primals) != len(paths):
        raise ValueError(f"jet: {len(primals)} primals need as many series, got {len(paths)}")
    orders = {len(terms) for terms in paths}
    if len(orders) > 1:
        raise ValueError(f"jet: all series must have one length, got {sorted(orders)}")
    order = orders.pop() if orders else 0

    def at(time: Any) -> list[Any]:
        return [call(fun, *map(lambda x, terms: _point(x, terms, time, scaled), primals, paths))]

    scaled = factorial_scaled
    derivatives: Callable = at
    for _level in range(order):
        derivatives = _one_more(derivatives)
    value, *terms = derivatives(0.0)
    leaves, definition = tree_flatten(value)
    columns = [definition.flatten_up_to(term) for term in terms]
    if not factorial_scaled:
        columns = [
            [x / math.factorial(k) for x in column] for k, column in enumerate(columns, 1)
        ]  # fmt: skip
    return value, definition.unflatten([
        [column[i] for column in columns] for i in range(len(leaves))
    ])  # fmt: skip


def _point(x: Any, terms: list[Any], time: Any, factorial_scaled: bool) -> Any:
    """The point of a path at a time, by Horner's rule."""
    total = tree_map(np.zeros_like, x)
    for k in range(len(terms), 0, -1):
        step = time / k if factorial_scaled else time
        total = tree_map(lambda a, b: (a + b) * step, total, terms[k - 1])  # noqa: B023
    return tree_map(lambda a, b: np.asarray(a) + b, x, total)


def _one_more(derivatives: Callable) -> Callable:
    def longer(time: Any) -> list[Any]:
        out, out_dot = jvp_call(derivatives, (time,), (1.0,))
        return [*out, out_dot[-1]]

    return longer
