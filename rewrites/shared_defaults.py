"""Default values that a function changes: all its calls share them, and see what others left.

def f(x, seen={}):
    seen[len(seen)] = x       # `seen` is foreign: it is changed where it stands
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import changed_names, root_name

Default = Callable[[str], Any]  # the default value of a parameter
CONSTANTS = (
    bool, int, float, complex, str, bytes, type(None), tuple, frozenset, range, type,
    types.FunctionType, types.BuiltinFunctionType, types.ModuleType, numpy.generic,
)  # fmt: skip


def shared_defaults(node: ast.FunctionDef | ast.Lambda, live: Default | None) -> set[str]:
    """The parameters whose default values are containers or objects, which may change.

    `live` gives the default value of a parameter; None for a nested function, which is made anew
    in each call of the one around it.  Errors: Refusal for arrays and in nested functions, if
    they are changed.
    """
    defaults = dict(defaults_of(node.args))
    changed = changed_defaults(node)
    for name in sorted(changed):
        if live is None or isinstance(live(name), numpy.ndarray):
            raise Refusal(
                f"the default value of {name!r} is changed, which all calls of the function share",
                f"Write `{name}=None`, and make a new one in the function.",
                defaults[name],
            )
    if live is None:
        return set()
    return {name for name in defaults if not isinstance(live(name), (*CONSTANTS, numpy.ndarray))}


def changed_defaults(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The parameters with default values that are no constants and that the function changes."""
    defaults = {name for name, default in defaults_of(node.args) if not is_constant(default)}
    return changed_among(defaults, node) if defaults else set()


def changed_among(names: set[str], node: ast.AST) -> set[str]:
    """Those of some parameters whose contents a function changes."""
    changed = changed_contents(node)
    others: dict[str, set[str]] = {}  # names of the same or of parts, by the parameter
    for n in ast.walk(node):
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name | ast.Subscript):
            for root in root_name(n.value) & names:
                others.setdefault(root, set()).update(
                    t.id for t in n.targets if isinstance(t, ast.Name)
                )
    return {name for name in names if changed & {name, *others.get(name, ())}}


def defaults_of(a: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have default values."""
    named = [*a.posonlyargs, *a.args]
    for p, default in zip(reversed(named), reversed(a.defaults), strict=False):
        yield p.arg, default
    for p, given in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        if given is not None:
            yield p.arg, given


def changed_contents(node: ast.AST) -> set[str]:
    """Names whose containers a function changes, which it does not only bind anew."""
    found: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load):
            found |= root_name(n)
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            found |= changed_names(n)
    return found


def is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand)
    if isinstance(node, ast.Tuple):
        return all(map(is_constant, node.elts))
    return isinstance(node, ast.Constant)
