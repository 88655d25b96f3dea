"""Which names surely name a list or tuple: for them `+` joins and `*` repeats.

def halves(x): ...; return items
h = halves(x) + halves(y)       is of lists, since what `halves` gives is one
"""

from __future__ import annotations

import ast
import types
from typing import Any, TypeGuard

from overt.rewrites import core
from overt.rewrites.core import Assign, For, Function, If, While
from overt.rewrites.lift_survey import calls_in
from overt.rewrites.rules import Resolver


def lists_of(function: Function, resolver: Resolver) -> set[str]:
    """Names that surely name a list or tuple.

    `half()` says so of what calls of `half` give, `half()[1]` of an item of it.
    """
    called = {c.func.id for c in calls_in(function.body, function.result) if is_name(c.func)}
    found = {name + part for name in called for part in lists_given_by(name, resolver)}
    while True:
        before = len(found)
        for s in core.walk(function.body):
            if isinstance(s, Assign) and isinstance(s.target, str) and is_list(s.value, found):
                found.add(s.target)
            elif isinstance(s, Assign) and takes_last(s.value, found) and len(s.target) == 2:
                found.add(s.target[1])
            elif isinstance(s, Assign) and not isinstance(s.target, str):
                found |= unpacked_lists(s.target, s.value, found)
            elif isinstance(s, If):
                found |= {
                    m.name for m in s.merges if is_list(m.then, found) or is_list(m.orelse, found)
                }
            elif isinstance(s, For | While):
                for c in s.carries:
                    if is_list(c.init, found) or is_list(c.next, found):
                        found |= {c.name, c.out}
        if len(found) == before:
            return found


def unpacked_lists(target: tuple[Any, ...], value: ast.expr, lists: set[str]) -> set[str]:
    """Names of lists that what a function gives is unpacked to."""
    if not isinstance(value, ast.Call) or not is_name(value.func):
        return set()
    name = value.func.id
    return {t for i, t in enumerate(target) if isinstance(t, str) and f"{name}()[{i}]" in lists}


def is_name(node: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def lists_given_by(name: str, resolver: Resolver) -> set[str]:
    """What calls of the user's function of this name surely give as lists: `()`, `()[0]`."""
    known = resolver.lists
    if name not in known:
        known[name] = set()  # while it is looked at: it may call itself
        function = function_of(name, resolver)
        if function is not None:
            inside, result = lists_of(function, resolver), function.result
            items = result.elts if isinstance(result, ast.Tuple) else []
            known[name] = {f"()[{i}]" for i, e in enumerate(items) if is_list(e, inside)}
            known[name] |= {"()"} if is_list(result, inside) else set()
    return known[name]


def function_of(name: str, resolver: Resolver) -> Function | None:
    if core.is_local(name) or name in resolver.functions:
        return resolver.functions.get(name)
    fn = resolver.object(core.name(name))
    own = getattr(resolver.namespace, "globals", None)
    if resolver.load is None or not isinstance(fn, types.FunctionType) or fn.__globals__ is not own:
        return None
    return resolver.load(fn)


def takes_last(node: ast.expr, lists: set[str]) -> bool:
    """Whether a call takes the last item out of a list: `x, xs = popped(xs, "pop")`."""
    if not core.is_call_of(node, "@popped") or len(node.args) != 2:  # type: ignore[attr-defined]
        return False
    holder, method = node.args  # type: ignore[attr-defined]
    return isinstance(method, ast.Constant) and method.value == "pop" and is_list(holder, lists)


def is_list(node: ast.expr, lists: set[str]) -> bool:
    """Whether an expression surely gives a list or tuple."""
    if isinstance(node, ast.List | ast.ListComp | ast.Tuple):
        return True
    if isinstance(node, ast.Name):
        return node.id in lists
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return is_list(node.left, lists) or is_list(node.right, lists)
    if isinstance(node, ast.BoolOp):
        return any(is_list(v, lists) for v in node.values)
    if isinstance(node, ast.IfExp):
        return is_list(node.body, lists) or is_list(node.orelse, lists)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return is_list(node.value, lists)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("@appended", "@changed", "@set_item"):
            return is_list(node.args[0], lists)
        if node.func.id == "@read_again":  # of what it named before
            return is_list(node.args[-1], lists)
        if node.func.id in ("@joined", "@repetition"):
            return True
        return node.func.id in ("list", "tuple", "sorted") or f"{node.func.id}()" in lists
    return False


__all__ = ["is_list", "lists_of", "takes_last"]
