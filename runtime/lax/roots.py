"""Roots of functions, differentiated through the equation and not through its solver.

A solver is given values without derivatives.  To its result zero is added, once for each level of
differentiation: zero that has the derivative which the equation gives.

Source: J. Nocedal and S. Wright, "Numerical optimization", 2006, appendix A.2 (the implicit
function theorem).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.aval import aval_of
from overt.runtime.called import call
from overt.runtime.closures import Captures, captured_leaves
from overt.runtime.dual import jvp_call
from overt.runtime.lanes import Lanes
from overt.runtime.lax.linear_solves import custom_linear_solve
from overt.runtime.record import Differentiated
from overt.runtime.tree import tree_leaves, tree_map, tree_structure

__all__ = ["custom_root"]

Solver = Callable[[Callable, Any], Any]


def custom_root(
    f: Callable, initial_guess: Any, solve: Solver, tangent_solve: Solver, has_aux: bool = False
) -> Any:
    """The root of `f` that `solve(f, initial_guess)` finds; its derivative is that of the root.

    `tangent_solve(g, y)` finds the x with g(x) == y for a linear g.  With `has_aux`, `solve`
    returns a pair (root, aux).

    >>> def root_of(a):
    ...     newton = lambda f, x: a**0.5
    ...     return custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> float(root_of(9.0))
    3.0
    """
    aux: list[Any] = []
    if has_aux:
        solve = _without_aux(solve, aux)
    x = _root(f, initial_guess, solve, tangent_solve)
    return (x, aux[0]) if has_aux else x


def _without_aux(solve: Solver, kept: list[Any]) -> Any:
    """A solver that puts away what it returns besides the solution."""

    def alone(matvec: Callable, b: Any) -> Any:
        x, aux = call(solve, matvec, b)
        kept.append(aux)
        return x

    return alone


def _root(f: Callable, guess: Any, solve: Solver, tangent_solve: Solver) -> Any:
    functions = f, solve, tangent_solve
    level = max(map(_level, [*tree_leaves(guess), *_held(*functions)]), default=0)
    if not level:
        x = call(solve, f, guess)
        _check_like("solve", x, guess)
        return x
    f_below, *solvers = (_function_below(level, fn) for fn in functions)
    x = _root(f_below, tree_map(functools.partial(_below, level), guess), *solvers)
    # At the root f is zero: minus its value has the derivative of what is missing.
    missing = tree_map(np.negative, call(f, x))
    _check_like("f", missing, x)
    slope = functools.partial(_along, f, x)
    step = custom_linear_solve(slope, missing, tangent_solve, tangent_solve)
    # The step itself is what the solver left undone, and stays so.
    change = lambda x, s: x + (s - _below(level, s))
    return tree_map(change, x, step)


def _along(f: Callable, x: Any, y: Any) -> Any:
    """The derivative of `f` at `x`, along `y`."""
    return jvp_call(functools.partial(call, f), (x,), (y,))[1]


def _held(*functions: Callable) -> list[Any]:
    """The values with a derivative, or with lanes, that functions have captured."""
    followed = lambda x: getattr(x, "level", 0) > 0
    return [x for fn in functions for x in captured_leaves(fn, followed)]


def _level(x: Any) -> int:
    """The highest level of differentiation of a value; 0 if it has no derivative."""
    while type(x) is Lanes:
        x = x.value
    return x.level if isinstance(x, Differentiated) else 0


def _below(level: int, x: Any) -> Any:
    """The value without its derivative at a level."""
    if type(x) is Lanes:
        inner = _below(level, x.value)
        return x if inner is x.value else Lanes(inner, x.level)
    return x.primal if isinstance(x, Differentiated) and x.level == level else x


def _function_below(level: int, fn: Callable) -> Any:
    """The function with what it has captured without its derivative at a level."""
    captures = Captures(_held(fn))
    return captures.replaced(fn, [_below(level, x) for x in captures.values])


def _check_like(name: str, x: Any, b: Any) -> None:
    """Errors: TypeError unless two trees have one structure, ValueError unless the same shapes."""
    if tree_structure(x) != tree_structure(b):
        raise TypeError(
            f"{name} returned {tree_structure(x)} where it was given {tree_structure(b)}"
        )
    for one, other in zip(tree_leaves(x), tree_leaves(b), strict=True):
        if aval_of(one).shape != aval_of(other).shape:
            raise ValueError(f"{name} returned {aval_of(one)} where it was given {aval_of(other)}")
