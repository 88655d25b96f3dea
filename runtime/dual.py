"""Forward mode at run time, for functions that have no derivative rule: values with tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.aval import aval_of
from overt.runtime.derivatives import is_array, is_inexact, materialize
from overt.runtime.differentiation import tangent
from overt.runtime.levels import new_level
from overt.runtime.primitive import Rule
from overt.runtime.record import Differentiated
from overt.runtime.tree import tree_flatten, tree_map

__all__ = ["Dual", "jvp_call"]


class Dual(Differentiated):
    """A value and its tangent, at one level."""

    __slots__ = ("primal", "tangent", "level", "aval")

    def __init__(self, primal: Any, tangent: Any, level: int):
        self.primal = primal
        self.tangent = tangent
        self.level = level
        self.aval = aval_of(primal)

    def call(self, rule: Rule, fn: Callable, operands: Sequence[Any], params: dict) -> Any:
        """Call a function of primals and tangents."""
        return _dual_call(self.level, rule, fn, operands, params)

    def __str__(self) -> str:
        return str(self.primal)

    def __repr__(self) -> str:
        """That of the value: a text of it may be used as one."""
        return repr(self.primal)


def primal_at(level: int, x: Any) -> Any:
    """The value below a level."""
    return x.primal if type(x) is Dual and x.level == level else x


def tangent_at(level: int, x: Any) -> Any:
    """The tangent at a level; None is zero."""
    return x.tangent if type(x) is Dual and x.level == level else None


def dual(primal: Any, dot: Any, level: int) -> Any:
    """A value with its tangent; the value alone where the tangent is zero."""
    return primal if dot is None or not is_inexact(primal) else Dual(primal, dot, level)


def _tangent_tree(level: int, x: Any) -> Any:
    if is_array(x):
        return tangent_at(level, x)
    leaves, definition = tree_flatten(x)
    dots = [tangent_at(level, leaf) for leaf in leaves]
    if all(dot is None for dot in dots):
        return None
    return definition.unflatten(
        materialize(dot, primal_at(level, leaf)) for dot, leaf in zip(dots, leaves, strict=True)
    )


def _dual_call(level: int, rule: Rule, fn: Callable, operands: Sequence[Any], params: dict) -> Any:
    primals = [tree_map(lambda leaf: primal_at(level, leaf), x) for x in operands]
    out = fn(*primals, **params)
    if rule.zero:
        return out
    dots = [_tangent_tree(level, x) for x in operands]
    out_dot = tangent(rule, fn, dots, out, primals, params)
    if out_dot is None:
        return out
    if isinstance(out, (tuple, list)):
        make = getattr(out, "_make", type(out))  # named tuples are built by _make
        return make(dual(o, d, level) for o, d in zip(out, out_dot, strict=True))
    return dual(out, out_dot, level)


def jvp_call(fn: Callable, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Run `fn(*primals)` along `tangents`: its result, and the result's tangent.

    All are trees; a None among the tangents is a zero.  Integers have the tangent None.

    >>> from overt.runtime import numpy as np
    >>> out, out_dot = jvp_call(lambda x: x * x, (np.array(3.0),), (np.array(1.0),))
    >>> float(out_dot)
    6.0
    """
    leaves, definition = tree_flatten(tuple(primals))
    dots = definition.flatten_up_to(tuple(tangents))
    with new_level() as level:
        inputs = [dual(x, dot, level) for x, dot in zip(leaves, dots, strict=True)]
        out = fn(*definition.unflatten(inputs))
    results, out_definition = tree_flatten(out)
    values = [primal_at(level, x) for x in results]
    out_dots = [materialize(tangent_at(level, x), v) for x, v in zip(results, values, strict=True)]
    return out_definition.unflatten(values), out_definition.unflatten(out_dots)
