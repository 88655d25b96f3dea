"""Cotangents: what is known so far of the cotangent of each name, and how more is added to it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from overt.rewrites import core
from overt.rewrites.activity import Activity
from overt.rewrites.core import Assign, Function, Names, Stmt
from overt.rewrites.program import Program
from overt.rewrites.shapes import SCALAR, Shape, Shapes
from overt.rewrites.zeroed import zeroed_names


@dataclass(frozen=True)
class Bar:
    """The cotangent of a name so far.

    `lazy`: still to be broadcast to the value's shape.  `array`: surely an array or a number, so
    that it can be added with `+`; otherwise it may be a container, and where `maybe_none`, None for
    zero.  `missing`: read from a record in which it may be None, though it is of a number or array.
    """

    expr: ast.expr
    lazy: bool = False
    array: bool = True
    maybe_none: bool = False
    missing: bool = False


class Bars:
    """The cotangents of one function's names, and the statements that compute them."""

    def __init__(
        self, program: Program, function: Function, activity: Activity, shapes: Shapes, names: Names
    ) -> None:
        self.program, self.function = program, function
        self.activity, self.shapes, self.names = activity, shapes, names
        self.bars: dict[str, Bar] = {}
        self.out: list[Stmt] = []
        # Values that the user gave no name: their cotangent may keep the shape of what they are
        # part of.
        self.temporary = {
            s.target
            for s in core.walk(function.body)
            if isinstance(s, Assign) and isinstance(s.target, str) and not s.origin.line
        }
        self.arrays_made = self.shapes.arrays(function.body)
        self.wide: dict[str, Shape] = {}
        self.zeroed = zeroed_names(function) if program.given_selects else None
        self.records: set[str] = set()  # cotangents that surely are records, not None for zero
        self.of_records: set[str] = set()  # cotangents read from records, perhaps None for zero

    # --- giving

    def seed(self, result: ast.expr) -> None:
        """Start from the cotangent 1 of the result."""
        one: ast.expr = core.constant(1.0)
        if isinstance(result, ast.Name) and not self.is_computed(result.id):
            one = np_call("ones_like", result)
        self.shapes.force_scalar(result, self.function)
        self.give(result, one)

    def is_computed(self, name: str) -> bool:
        """Whether a plain statement computes the name; its cotangent can start as the number 1."""
        return any(isinstance(s, Assign) and s.target == name for s in self.function.body)

    def give(self, node: ast.expr, g: ast.expr, array: bool = True, missing: bool = False) -> None:
        """Add a cotangent to a value: a name, or a container of names."""
        if isinstance(node, ast.Name):
            self.acc(node.id, g, array=array, missing=missing)
        elif isinstance(node, ast.Tuple | ast.List):
            for i, e in enumerate(node.elts):
                self.give(e, item(g, core.constant(i)), array=False)
        elif isinstance(node, ast.Dict):
            for k, v in zip(node.keys, node.values, strict=True):
                if k is not None:
                    self.give(v, item(g, k), array=False)
        elif self.activity.expr(node):
            raise AssertionError(f"an active expression was not flattened: {ast.dump(node)[:200]}")

    def acc(
        self,
        name: str,
        g: ast.expr,
        lazy: bool = False,
        array: bool = True,
        maybe_none: bool | None = None,
        missing: bool = False,
    ) -> None:
        """Add `g` to the cotangent of a name."""
        if name not in self.activity.names or core.is_none(g):
            return
        maybe_none = not array if maybe_none is None else maybe_none
        array = array or (not maybe_none and name in self.arrays_made)
        old = self.bars.get(name)
        if old is not None:
            if name in self.wide:
                old = replace(old, expr=self.full(name, old), lazy=False)
            if old.array and array:
                g = ast.BinOp(old.expr, ast.Add(), g)
                lazy = lazy and old.lazy
            else:
                before = np_call("full_like", core.name(name), old.expr) if old.lazy else old.expr
                now = np_call("full_like", core.name(name), g) if lazy else g
                g, lazy = core.call(core.name("@add"), before, now), False
            array, maybe_none = array and old.array, maybe_none and old.maybe_none
            missing = missing and old.missing
        if not isinstance(g, ast.Name | ast.Constant):
            held = self.names.fresh(f"{core.base(name)}_bar")
            full = self.wide.get(name) or self.shape(name)
            self.shapes.known[held] = full if not lazy else self.expr_shape(g)
            self.out.append(Assign(held, g))
            g = core.name(held)
        self.bars[name] = Bar(g, lazy, array, maybe_none, missing)

    # --- reading

    def take(self, name: str) -> Bar | None:
        return self.bars.pop(name, None)

    def full(self, name: str, bar: Bar) -> ast.expr:
        """The cotangent with the value's own shape."""
        if name in self.wide:
            del self.wide[name]
            if self.shape(name) == SCALAR:
                whole = np_call("sum", bar.expr)
            else:
                whole = core.call(core.name("@sum_to"), bar.expr, core.name(name))
        elif not bar.lazy or self.shape(name) == SCALAR:
            return bar.expr
        else:
            whole = np_call("full_like", core.name(name), bar.expr)
        held = self.names.fresh(f"{core.base(name)}_bar")
        self.shapes.known[held] = self.shape(name)
        self.out.append(Assign(held, whole))
        return core.name(held)

    def shape(self, name: str) -> Shape:
        return self.shapes.known.get(name, frozenset([name]))

    def expr_shape(self, node: ast.expr) -> Shape:
        shape = self.shapes.of(node)
        return shape if shape is not None else frozenset(["?"])

    def zero(self, name: str, array: bool = True) -> ast.expr:
        if array and self.shape(name) == SCALAR:
            return core.constant(0.0)
        return core.call(core.name("@zeros_like_tree"), core.name(name))

    def final(self, name: str, position: int | None) -> ast.expr:
        """The cotangent of a parameter to return."""
        bar = self.bars.get(name)
        if position is not None:
            if bar is None:
                part = ast.Subscript(core.name(name), core.constant(position), ast.Load())
                return core.call(core.name("@zeros_like_tree"), part)
            return item(bar.expr, core.constant(position))
        if bar is None:
            return core.call(core.name("@zeros_like_tree"), core.name(name))
        if isinstance(bar.expr, ast.Constant):
            return np_call("full_like", core.name(name), bar.expr)
        return self.full(name, bar)

    def arrays(self, names: Iterable[str]) -> frozenset[str]:
        """Those names whose cotangents are surely arrays: they may be of lists, or of functions."""
        bars = ((n, self.bars.get(n)) for n in names)
        return frozenset(n for n, bar in bars if bar is not None and bar.array)


def np_call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(core.name("@np"), function, ast.Load()), list(args), [])


def item(g: ast.expr, index: ast.expr) -> ast.expr:
    """One part of a cotangent, taken apart now if its parts are known."""
    if isinstance(g, ast.Tuple | ast.List) and isinstance(index, ast.Constant):
        if isinstance(index.value, int) and index.value < len(g.elts):
            return g.elts[index.value]
    return core.call(core.name("@part"), g, index)
