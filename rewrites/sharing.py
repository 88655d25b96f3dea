"""Sharing: what the value of an expression has in common with the names that it reads.

    a[1:]               a slice of `a`
    [a[0], b]           something that holds an item of `a` and `b` itself
    list(rows), m.T     something that holds the items of `rows`; `m` itself
    rows[0][:]          a part of an item of `rows` if that is an array, else a list with its items

What the text cannot tell (whether `a` is an array, of how many axes) is left to the running code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from overt.rewrites.core import is_local
from overt.rewrites.scopes import SET_ITEM

WHOLE, SLICE, ITEM, PART, COPIED, DIAGONAL = "whole slice item part copied diagonal".split()

VIEWS = frozenset("T real imag flat mT".split())
VIEW_CALLS = frozenset(
    "reshape ravel view transpose swapaxes squeeze asarray atleast_1d atleast_2d atleast_3d "
    "moveaxis broadcast_to expand_dims rollaxis flip fliplr flipud rot90 items "
    "values real imag permute_dims matrix_transpose asanyarray ascontiguousarray require "
    "trim_zeros".split()
)
MAKERS = frozenset(
    "zeros ones empty full array arange linspace eye zeros_like ones_like empty_like "
    "full_like".split()
)
# NumPy's functions that give an array even where it has no axes, which arithmetic does not.
ARRAY_MAKERS = MAKERS | frozenset("where asarray squeeze broadcast_to reshape full_like".split())
STORES = frozenset(
    (
        *SET_ITEM,
        "@stored_back",
        "@appended",
        "@changed",
        "@popped",
        "@set_all",
        "@in_order",
        "@without_item",
    )
)
SPLITS = frozenset("split array_split hsplit vsplit dsplit unstack broadcast_arrays".split())
PICKING = frozenset("where nonzero flatnonzero argsort argwhere array arange unravel_index".split())
ITERATING = frozenset("list tuple set dict sorted reversed iter zip enumerate".split())
CHOOSING = frozenset("max min next".split())


class Share(NamedTuple):
    """A name, how much of its object, and how deep inside the value, at least, that is held.

    `depth` tells how deep inside the named object, at least, what is shared lies.
    """

    kind: str
    name: str
    inside: int = 0
    depth: int = 0


Shares = frozenset[Share]
NOTHING: Shares = frozenset()


class Sharing:
    """What expressions share; `returned` tells what a called function returns of its arguments."""

    def __init__(self, returned: Callable[[ast.Call], Shares] = lambda call: NOTHING) -> None:
        self.returned = returned

    def of(self, node: ast.expr | None, bound: Mapping[str, Shares] | None = None) -> Shares:
        bound = bound or {}
        if isinstance(node, ast.Name):
            if node.id in bound:
                return bound[node.id]
            return frozenset([Share(WHOLE, node.id)]) if is_local(node.id) else NOTHING
        if isinstance(node, ast.Subscript):
            held = self.of(node.value, bound)
            if has_slice(node.slice):
                return sliced(held)
            return NOTHING if picks_copies(node.slice) else items_of(held)
        if isinstance(node, ast.Attribute):
            return self.of(node.value, bound) if node.attr in VIEWS else NOTHING
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return inside(self.all(node.elts, bound))
        if isinstance(node, ast.Dict):
            return inside(self.all(node.values, bound))
        if isinstance(node, ast.Starred):
            return items_of(self.of(node.value, bound))
        if isinstance(node, ast.NamedExpr):
            return self.of(node.value, bound)
        if isinstance(node, ast.IfExp):
            return self.of(node.body, bound) | self.of(node.orelse, bound)
        if isinstance(node, ast.BoolOp):
            return self.all(node.values, bound)
        if isinstance(node, ast.BinOp):
            return self.of_lists(node, bound)
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            return self.of_comprehension(node, bound)
        return self.of_call(node, bound) if isinstance(node, ast.Call) else NOTHING

    def all(self, nodes: Iterable[ast.expr | None], bound: Mapping[str, Shares]) -> Shares:
        return NOTHING.union(*(self.of(n, bound) for n in nodes))

    def of_lists(self, node: ast.BinOp, bound: Mapping[str, Shares]) -> Shares:
        """`[a] * 3` and `[a] + rows` hold what the lists hold; arrays are made anew."""
        sides = (node.left, node.right)
        if not isinstance(node.op, ast.Add | ast.Mult) or not any(map(is_list, sides)):
            return NOTHING
        return inside(items_of(self.all(sides, bound)))

    def of_comprehension(self, node: ast.expr, bound: Mapping[str, Shares]) -> Shares:
        bound = dict(bound)
        for part in node.generators:  # type: ignore[attr-defined]
            items = items_of(self.of(part.iter, bound))
            for n in ast.walk(part.target):
                if isinstance(n, ast.Name):
                    bound[n.id] = items
        value = node.value if isinstance(node, ast.DictComp) else node.elt  # type: ignore
        return inside(self.of(value, bound))

    def of_call(self, node: ast.Call, bound: Mapping[str, Shares]) -> Shares:
        f = node.func
        if isinstance(f, ast.Name):
            if f.id in ITERATING:
                return inside(items_of(self.all(node.args, bound)))
            if f.id in CHOOSING:
                chosen = [k.value for k in node.keywords if k.arg == "default"]
                given = self.all(node.args, bound)
                found = items_of(given) if len(node.args) == 1 or f.id == "next" else given
                return found | self.all(chosen, bound)
            if f.id == "@changed_too":
                return self.all(node.args, bound)
            if f.id in ("@read_again", "@item_again"):
                held, index, part = node.args
                is_slice = isinstance(index, ast.Subscript)  # `at[1:3]`
                found = self.of(held, bound)
                found = sliced(found) if is_slice else items_of(found)
                return found | self.of(part, bound)
            return self.returned(node)
        if not isinstance(f, ast.Attribute):
            return NOTHING
        holder = self.of(f.value, bound)
        given = holder or (self.of(node.args[0], bound) if node.args else NOTHING)
        if f.attr in VIEW_CALLS:
            return given
        if f.attr in ("diag", "diagonal"):
            return frozenset(Share(DIAGONAL, s.name) for s in given if not s.inside)
        if f.attr in SPLITS:
            return inside(sliced(given))
        if f.attr == "get":
            return items_of(holder)
        if f.attr == "copy":
            return copied(given)
        return NOTHING


def items_of(held: Shares) -> Shares:
    """What an item of something shares: a row of an array, an object that a list holds."""
    found = set()
    for s in held:
        if not s.inside:
            found.add(Share(ITEM, s.name, 0, deeper(s)))
        elif s.inside > 1:
            found.add(s._replace(inside=s.inside - 1))
        elif s.kind != COPIED:
            found |= {s._replace(inside=0), s}
    return frozenset(found)


def inside(held: Shares, depth: int = 1) -> Shares:
    """What something that holds a value shares; told apart to a depth of three steps."""
    return frozenset(s._replace(inside=min(s.inside + depth, 3)) for s in held)


def deeper(s: Share) -> int:
    return min(s.depth + 1, 3)


def copied(held: Shares) -> Shares:
    """What a shallow copy shares: the objects in a list, nothing of an array."""
    return frozenset(Share(COPIED, s.name, 1, deeper(s)) for s in held)


def sliced(held: Shares) -> Shares:
    """What a slice shares: of a list the objects in it, of an array the memory."""
    found = {s for s in held if s.inside}
    for s in held - found:
        if s.kind in (ITEM, PART):
            found |= {Share(PART, s.name), Share(COPIED, s.name, 1, deeper(s))}
        else:
            found.add(Share(SLICE, s.name))
    return frozenset(found)


def has_slice(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        isinstance(p, ast.Slice) or isinstance(p, ast.Constant) and p.value in (..., None)
        for p in parts
    )


def picks_copies(index: ast.expr) -> bool:
    """Whether an index surely has a list or a mask in it: what it picks from an array is new."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        isinstance(p, ast.List | ast.ListComp | ast.Compare)
        or isinstance(p, ast.Call)
        and isinstance(p.func, ast.Attribute)
        and p.func.attr in PICKING
        for p in parts
    )


def is_list(node: ast.expr) -> bool:
    """Whether an expression surely is a list: `[a, b]`, `[0.0] * n`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return is_list(node.left) or is_list(node.right)
    return isinstance(node, ast.List | ast.ListComp)


def is_store(value: ast.expr) -> bool:
    """Whether an expression is what a holder, its first argument, is after a store into it."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in STORES
        and bool(value.args)
    )
