"""Solutions of linear equations whose derivatives are solutions of linear equations again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import overt.runtime.numpy as np
from overt.runtime.array import Array
from overt.runtime.called import call
from overt.runtime.closures import Captures, captured_leaves
from overt.runtime.custom import CustomRule
from overt.runtime.derivatives import is_inexact
from overt.runtime.dual import jvp_call
from overt.runtime.over_lanes import OverLanes
from overt.runtime.record import vjp_call
from overt.runtime.tree import tree_map

__all__ = ["custom_linear_solve"]


def custom_linear_solve(
    matvec: Callable,
    b: Any,
    solve: Callable,
    transpose_solve: Callable | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The x with `matvec(x) == b`, found by `solve(matvec, b)`, differentiated as such.

    Its tangent is the solution for that of `b` less that of `matvec` at x; its cotangent is found
    by `transpose_solve(vecmat, x_bar)`, or by `solve` for a `symmetric` matvec. How `solve` gets
    there has no derivative. With `has_aux` the solvers return (x, aux).

    Errors: TypeError where reverse mode needs a `transpose_solve` that was not given.

    >>> a = np.array([[2.0, 1.0], [0.0, 4.0]])
    >>> x = custom_linear_solve(lambda x: a @ x, a @ np.ones(2), lambda _, b: np.linalg.solve(a, b))
    >>> print(x)
    [1. 1.]
    """
    back = solve if symmetric and transpose_solve is None else transpose_solve
    function, solver = Closed(matvec), Closed(solve)
    back_solver = None if back is None else Closed(back)
    held = [] if back_solver is None else back_solver.values
    rule = LinearSolve(function, solver, back_solver, symmetric, has_aux)
    return rule(function.values, solver.values, held, b)


class Closed:
    """A function, and the values under transformation that it has captured and that may change."""

    def __init__(self, fn: Callable):
        self.fn = fn
        self.captures = Captures(captured_leaves(fn, _has_level))
        self.values = list(self.captures.values)

    def with_values(self, values: Sequence[Any]) -> Callable:
        """The function with other values in their places."""
        fn = self.captures.replaced(self.fn, values)
        return lambda *args: call(fn, *args)


def _has_level(x: Any) -> bool:
    return isinstance(x, Array) and x.level > 0


class LinearSolve(CustomRule):
    """Solving for one function, as a function of what it and the solvers have captured and of b."""

    def __init__(
        self, matvec: Any, solve: Any, back: Any, symmetric: bool, has_aux: bool,
        transposed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(self.solution)
        self.__name__ = "custom_linear_solve"
        self.matvec, self.solver, self.back = matvec, solve, back
        self.symmetric, self.has_aux, self.transposed = symmetric, has_aux, transposed

    def positional(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        return args

    def check(self) -> None:
        """It is differentiable."""

    def product(self, held: Any, x: Any) -> Any:
        """The function, or its transpose, at x."""
        fn = self.matvec.with_values(held)
        if not self.transposed or self.symmetric:
            return fn(x)
        _, pull = vjp_call(fn, tree_map(np.zeros_like, x))
        return pull(x)[0]

    def solution(self, held: Any, solver_held: Any, back_held: Any, b: Any) -> Any:
        """What the solver gives."""
        solve = self.solver.with_values(solver_held)
        return solve(lambda x: self.product(held, x), b)

    def turned(self) -> LinearSolve:
        """The same for the transposed function."""
        if self.back is None:
            raise TypeError(
                "custom_linear_solve needs transpose_solve= to be differentiated in reverse, or "
                "symmetric=True"
            )
        return LinearSolve(
            self.matvec, self.back, self.solver, self.symmetric, self.has_aux, not self.transposed
        )

    def plain(self, out: Any) -> Any:
        """The solution alone."""
        return out[0] if self.has_aux else out

    def forward(
        self, fixed: tuple, primals: tuple, tangents: tuple, active: Any = None
    ) -> tuple[Any, Any]:
        held, solver_held, back_held, b = primals
        out = self(*primals)
        x = self.plain(out)
        right = tree_map(_tangent, tangents[3], b)
        if held:
            dots = [
                dot if is_inexact(v) else None for dot, v in zip(tangents[0], held, strict=True)
            ]
            _, moved = jvp_call(lambda values: self.product(values, x), (held,), (dots,))
            right = tree_map(np.subtract, right, moved)
        x_dot = self.plain(self(held, solver_held, back_held, right))
        if not self.has_aux:
            return out, x_dot
        return out, (x_dot, tree_map(lambda a: None, out[1]))

    def reverse(self, fixed: tuple, primals: tuple, active: Any = None) -> tuple[Any, Callable]:
        out = self(*primals)
        return out, lambda out_bar: self.pulled(primals, self.plain(out), self.plain(out_bar))

    def pulled(self, primals: tuple, x: Any, x_bar: Any) -> tuple:
        """The cotangents of all arguments."""
        held, solver_held, back_held, b = primals
        b_bar = self.plain(self.turned()(held, back_held, solver_held, x_bar))
        held_bar = []
        if held:
            _, pull = vjp_call(lambda values: self.product(values, x), held)
            held_bar = pull(tree_map(np.negative, b_bar))[0]
        nothing = [[None] * len(solver_held), [None] * len(back_held)]
        return held_bar, *nothing, b_bar

    def over_lanes(self, axes: tuple, lanes: int, fixed: tuple) -> CustomRule:
        return OverLanes(self, axes, lanes)


def _tangent(dot: Any, x: Any) -> Any:
    return dot if is_inexact(x) and dot is not None else np.zeros_like(x)
