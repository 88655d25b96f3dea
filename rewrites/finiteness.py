"""Which values may be infinite or NaN, so that products with cotangents that are zero need a guard.

times(g, s) -> g * s    where s is surely finite, if what the function is given is

matmul_bar_y(g, x, y, zeros_win=True) -> matmul_bar_y(g, x, y)    where x is
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

import overt.runtime.numpy as ours
from overt.rewrites import core
from overt.rewrites.core import Assign, For, Function, If, While
from overt.rewrites.zeroed import is_zeroed, zeroed_names

TIMES = ("@times", "@times_both")
GUARDS = ("@over", *TIMES, "@reached_by", "@unless_zero")


class PlainQuotients(ast.NodeTransformer):
    """`over(g, x)` is `g / x`, `times(g, s)` is `g * s` where no cotangent is zero by selection."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node = core.substitute(node, {"": core.constant(None)})  # a copy
        self.generic_visit(node)
        return unguarded(node)


def unguarded(node: ast.Call) -> ast.expr:
    """A call without what lets a zero win."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "@over":
        return ast.BinOp(node.args[0], ast.Div(), node.args[1])
    if name in TIMES:
        return ast.BinOp(node.args[0], ast.Mult(), node.args[1])
    if name in GUARDS:
        return node.args[-1]
    if zeros_win(node):
        keywords = [k for k in node.keywords if k.arg != "zeros_win"]
        return ast.Call(node.func, node.args, keywords)
    return node


def zeros_win(node: ast.Call) -> bool:
    """Whether a call is of a function of products that says that a zero cotangent wins."""
    return any(k.arg == "zeros_win" for k in node.keywords)


def multiplied(node: ast.Call) -> list[ast.expr]:
    """What such a call multiplies the cotangent by."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name.endswith("_bar_x"):
        return node.args[2:3]
    return node.args[1:2] if name.endswith("_bar_y") else node.args[2:]


def is_guarded(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id in GUARDS) or (
        isinstance(node, ast.Call) and zeros_win(node)
    )


def plain_quotients(node: ast.expr) -> ast.expr:
    if any(map(is_guarded, ast.walk(node))):
        return PlainQuotients().visit(core.substitute(node, {"": core.constant(None)}))
    return node


# Functions whose value may be infinite or NaN for a finite argument.
UNBOUNDED = frozenset(
    "sqrt arcsin arccos arccosh asin acos acosh log log2 log10 log1p exp exp2 expm1 reciprocal tan "
    "sinh cosh arctanh power float_power divide true_divide lgamma gamma digamma logit over vjp_of "
    "power_slope square cumprod prod jvp_of norm_bar polygamma gammaln y0 y1 yn exp1 expi expn "
    "gamma_density beta_density product_of_others inv solve cholesky slogdet lstsq tensorinv "
    "tensorsolve cho_solve solve_triangular triangular_solve logsumexp cofactors "
    "circle_inverse".split()
)
CONTAINER_METHODS = frozenset("items keys values get pop append pushed reversed at set".split())


def is_risky(node: ast.AST, risky: set[str]) -> bool:
    """Whether an expression may be infinite or NaN where some names are."""
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id in risky:
            return True
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div):
            if not isinstance(n.right, ast.Constant):
                return True
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow):
            exponent = n.right.value if isinstance(n.right, ast.Constant) else None
            if not (isinstance(exponent, int | float) and exponent >= 1 and exponent % 1 == 0):
                return True
        if isinstance(n, ast.Call):
            name = n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")
            if name.lstrip("@") in UNBOUNDED or not name.startswith("@") and not is_library(name):
                return True
    return False


def is_library(name: str) -> bool:
    """Whether a function of this name is not the user's, as far as the name says it."""
    return hasattr(ours, name) or hasattr(builtins, name) or name in CONTAINER_METHODS


def handles_nan(f: Function) -> bool:
    """Whether a text says that what it is given may be infinite or NaN."""
    found = False

    def look(node: ast.expr) -> ast.expr:
        nonlocal found
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
                found |= n.func.attr.startswith(("isnan", "isfinite", "isinf", "nan"))
        return node

    core.map_function(f, look)
    return found


def unbounded_names(
    f: Function, saved: Collection[str] = (), given: Collection[str] = ()
) -> set[str]:
    """The names whose values may be infinite or NaN; of what is unpacked, those `saved` as such.

    `given` are names from outside that may hold such values.
    """
    risky = {
        n
        for s in f.body
        if isinstance(s, Assign) and not isinstance(s.target, str)
        for n in core.pattern_names(s.target)
        if core.base(n) in saved
    }
    risky |= set(given)
    while True:
        before = len(risky)
        for s in core.walk(f.body):
            if isinstance(s, Assign) and is_risky(s.value, risky):
                risky |= set(core.pattern_names(s.target))
            elif isinstance(s, If):
                ends = [(m.name, m.then, m.orelse) for m in s.merges]
                risky |= {n for n, *sides in ends if any(is_risky(v, risky) for v in sides)}
            elif isinstance(s, For | While):
                for c in s.carries:
                    if is_risky(c.init, risky) or is_risky(c.next, risky) or c.name in risky:
                        risky |= {c.name, c.out}
                if isinstance(s, For) and is_risky(s.items, risky):
                    risky |= set(core.pattern_names(s.target))
        if len(risky) == before:
            return risky


def quotient(above: ast.expr, below: ast.expr) -> ast.expr:
    return ast.BinOp(above, ast.Div(), below)


def is_positive(node: ast.expr, zero: bool = False) -> bool:
    """Whether an expression of finite names is surely above zero; with `zero`, or at it."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and (node.value > 0 or zero and node.value == 0)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add):
            sides = (node.left, node.right)
            return any(map(is_positive, sides)) and all(is_positive(n, True) for n in sides)
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
            even = isinstance(node.right.value, int) and node.right.value % 2 == 0
            return zero and even or is_positive(node.left, zero)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return zero and node.func.attr == "abs"
    return False


def plain_where_finite(f: Function, risky: set[str], chooses: bool) -> Function:
    """`times(g, s)` as `g * s` where the factor s is surely finite.

    What is made of whole matrices may be singular; it is guarded if the text `chooses` by data.
    """

    zeroed = zeroed_names(f)

    class Plain(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.expr:
            self.generic_visit(node)
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if zeros_win(node):
                found = any(is_risky(a, risky) for a in multiplied(node))
                return node if found else unguarded(node)
            if name not in GUARDS:
                return node
            if name == "@unless_zero":
                return node if chooses else unguarded(node)
            if name == "@reached_by":
                zero = is_zeroed(node.args[1], zeroed)
                return node if zero and is_risky(node.args[2], risky) else unguarded(node)
            first, second = (is_risky(a, risky) for a in node.args)
            if name == "@over":
                return node if second or not is_positive(node.args[1]) else quotient(*node.args)
            if second or first and name == "@times_both":
                return node
            return unguarded(node)

    def plain(node: ast.expr) -> ast.expr:
        if any(map(is_guarded, ast.walk(node))):
            return Plain().visit(core.substitute(node, {"": core.constant(None)}))
        return node

    return core.map_function(f, plain)
