"""Reverse of single operations: operators, functions with a rule, attributes, items, tuples."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.activity import plain_tuple
from overt.rewrites.algebra import plainer
from overt.rewrites.bars import Bar, Bars, np_call
from overt.rewrites.core import Assign, Stmt
from overt.rewrites.listed import joins_items
from overt.rewrites.ranks import rank_of
from overt.rewrites.refusal import Refusal
from overt.rewrites.rules import ARRAY_ATTRIBUTES, Application, applied
from overt.rewrites.shapes import SCALAR
from overt.rewrites.zeroed import operator_as_applied

SPREAD = "@unreduce"


class Operations(Bars):
    """What one assignment of core form does to the cotangents."""

    def assign(self, s: Assign) -> list[Stmt]:
        if isinstance(s.target, str):
            bar = self.take(s.target)
            if bar is None or not self.activity.expr(s.value):
                return [s]
            return self.operation(s, s.target, s.value, bar)
        if isinstance(s.value, ast.Tuple | ast.List) and plain_tuple(s.target, s.value):
            taken = [self.take(t) for t in s.target]
            done: list[Stmt] = []
            values = list(s.value.elts)
            for i in reversed(range(len(values))):
                bar = taken[i]
                if bar is None or not self.activity.expr(values[i]):
                    continue
                part = Assign(s.target[i], values[i], s.origin)
                new = self.operation(part, s.target[i], values[i], bar)
                if new != [part]:
                    done[:0] = new
                    values[i] = None  # type: ignore[call-overload]
            if not done:
                return [s]
            rest = [
                Assign(t, v, s.origin)
                for t, v in zip(s.target, values, strict=True)
                if v is not None
            ]
            return [*rest, *done]
        taken = [self.take(t) if t != "*" else None for t in s.target]
        if all(b is None for b in taken):
            return [s]
        if isinstance(s.value, ast.Call) and self.activity.expr(s.value):
            self.taken_out(s.value.args[0], s.target, taken)
            return [s]
        if not isinstance(s.value, ast.Name):
            return [s]
        parts = [
            self.full(t, b) if b is not None else core.constant(None)
            for t, b in zip(s.target, taken, strict=True)
        ]
        bars = core.tuple_of(parts)
        self.acc(s.value.id, core.call(core.name("@packed"), s.value, bars), array=False)
        return [s]

    def taken_out(self, items: ast.expr, target: tuple, bars: list[Bar | None]) -> None:  # type: ignore[type-arg]
        """The reverse of `x, xs = popped(xs, "pop")` of a list: an item is appended."""
        last, rest = (
            core.call(core.name("@zeros_like_tree"), core.name(t)) if b is None else self.full(t, b)
            for t, b in zip(target, bars, strict=True)
        )
        self.give(items, core.call(core.name("@appended"), rest, last), array=False)

    def operation(self, s: Assign, target: str, value: ast.expr, bar: Bar) -> list[Stmt]:
        """The reverse of `target = value`, one operation on names; gives the forward statements."""
        out = core.name(target)
        if isinstance(value, ast.Name):
            if target in self.wide:
                bar = replace(bar, expr=self.full(target, bar), lazy=False)
            self.acc(value.id, bar.expr, bar.lazy, bar.array, missing=bar.missing)
            return [s]
        if isinstance(value, ast.BinOp | ast.UnaryOp):
            application = operator_as_applied(value, self.program.resolver, self.zeroed)
            if application is None:
                raise Refusal("this operator has no derivative", "", value)
            self.apply(application, out, bar)
            return [s]
        if isinstance(value, ast.Attribute):
            self.attribute(value, out, bar)
            return [s]
        if isinstance(value, ast.Subscript):
            self.subscript(value, target, bar)
            return [s]
        if isinstance(value, ast.Tuple | ast.List | ast.Dict):
            self.give(value, self.full(target, bar), array=False)
            return [s]
        if isinstance(value, ast.Call):
            return self.call(s, target, value, bar)
        raise Refusal(f"an expression of kind {type(value).__name__} has no derivative", "", value)

    @abstractmethod
    def call(self, s: Assign, target: str, value: ast.Call, bar: Bar) -> list[Stmt]:
        """The reverse of a call; gives the forward statements."""

    def apply(self, application: Application, out: ast.Name, bar: Bar) -> None:
        """The rule of a function, for each operand with a derivative."""
        elementwise = application.rule.elementwise
        g = bar.expr
        if bar.missing:
            g = core.call(core.name("@materialize"), g, out)
        wide = out.id in self.wide
        if wide and not elementwise and not tolerant(application):
            g = self.full(out.id, bar)
        elif (
            not wide
            and bar.lazy
            and not (
                elementwise
                and all(
                    self.shape(x.id) == self.shape(out.id)
                    for x in application.operands
                    if isinstance(x, ast.Name) and self.activity.expr(x)
                )
            )
        ):
            g = self.full(out.id, bar)
        for i, x in enumerate(application.operands):
            if not self.activity.expr(x):
                continue
            part = application.derivative(i, g, out)
            if part is None:
                continue
            part = plainer(part)
            whole = isinstance(x, ast.Name) and x.id in self.temporary and x.id not in self.bars
            if not isinstance(x, ast.Name):
                numbers = all(self.shapes.of(e) == SCALAR for e in getattr(x, "elts", ()))
                flat = (
                    numbers
                    and application.rule.name in ("array", "stack")
                    and rank_of(out, self.shapes) == 1
                )
                self.pieces(x, g if flat else part)
            elif repeats(application) and self.may_be_list(x.id):
                self.acc(x.id, core.call(core.name("@sum_to"), part, x))
            elif bar.maybe_none and not whole and ast.dump(part) == ast.dump(g):
                # of `d + 1`, an int perhaps
                same = not elementwise or self.shape(x.id) == self.shape(out.id)
                given = part if same else core.call(core.name("@sum_to"), part, x)
                self.acc(x.id, given, array=not same)
            elif joins_items(application.rule):  # of a list, perhaps: then a list too
                self.acc(x.id, part, array=False, maybe_none=False)
            else:
                self.operand(x.id, part, out, elementwise)

    def may_be_list(self, name: str) -> bool:
        """Whether a name is a parameter of a helper, or what an unknown function gave."""
        if self.shape(name) == SCALAR or name in self.arrays_made:
            return False
        if self.function.name != self.program.main.name:
            if any(p.name == name for p in self.function.params):
                return True
        return any(
            isinstance(s, Assign) and s.target == name and self.is_of_unknown(s.value)
            for s in core.walk(self.function.body)
        )

    def is_of_unknown(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call) or isinstance(value.func, ast.Attribute):
            return False
        known = self.program.resolver.object(value.func) or self.program.callee(value.func)
        return known is None

    def operand(self, name: str, part: ast.expr, out: ast.Name, elementwise: bool) -> None:
        spread = whole_spread(part)
        if spread is not None:
            self.acc(name, spread, lazy=True)
            return
        if not elementwise:
            self.acc(name, part, array=not is_placed(part), maybe_none=False)
            return
        mine, whole = self.shape(name), self.wide.get(out.id) or self.shape(out.id)
        if mine == whole:
            self.acc(name, part, lazy=self.expr_shape(part) != whole)
        elif name in self.temporary and name not in self.bars:
            # undone where it reaches a name of the user's
            self.wide[name] = whole
            self.acc(name, part, lazy=self.expr_shape(part) != whole)
        elif mine == SCALAR:
            self.acc(name, np_call("sum", part))
        else:
            self.acc(name, core.call(core.name("@sum_to"), part, core.name(name)))

    def pieces(self, x: ast.expr, part: ast.expr) -> None:
        """An operand that is a list or tuple of names: its cotangent is a list."""
        if not isinstance(x, ast.Tuple | ast.List):
            raise Refusal("this argument cannot be differentiated", "Give it a name first.", x)
        held = [
            self.names.fresh(f"{core.base(e.id)}_bar")
            if self.activity.expr(e)
            else self.names.fresh("_")  # type: ignore
            for e in x.elts
        ]
        self.out.append(Assign(tuple(held), part))
        for e, h in zip(x.elts, held, strict=True):
            if isinstance(e, ast.Name):  # a list itself, perhaps: then its cotangent is one too
                number = self.shape(e.id) == SCALAR or e.id in self.shapes.ranks
                self.acc(e.id, core.name(h), array=number, maybe_none=False)

    def attribute(self, value: ast.Attribute, out: ast.Name, bar: Bar) -> None:
        import overt.runtime.numpy as ours

        assert isinstance(value.value, ast.Name)
        g = self.full(out.id, bar)
        if value.attr == "T":
            self.acc(value.value.id, ast.Attribute(g, "T", ast.Load()), array=bar.array)
            return
        function = ARRAY_ATTRIBUTES.get(value.attr)
        if function is not None:
            application = applied(getattr(ours, function), [value.value], [])
            if application is not None:
                self.apply(application, out, replace(bar, expr=g, lazy=False))
                return
        field = core.constant(value.attr)
        self.acc(
            value.value.id, core.call(core.name("@place_field"), g, value.value, field), array=False
        )

    def subscript(self, value: ast.Subscript, target: str, bar: Bar) -> None:
        from overt.rewrites.storing import index_of

        assert isinstance(value.value, ast.Name)
        name, index = value.value.id, index_of(value.slice)
        old = self.bars.get(name)
        key = isinstance(index, ast.Constant) and isinstance(index.value, str)
        grown = old is not None and not old.lazy and not old.maybe_none and not key
        fits = target in self.wide and not bar.lazy  # `place` and `add_at` undo a broadcast
        g = bar.expr if fits else self.full(target, bar)
        self.wide.pop(target, None)
        if old is not None and grown:
            if name in self.wide:
                old = replace(old, expr=self.full(name, old))
            held = self.names.fresh(f"{core.base(name)}_bar")
            self.shapes.known[held] = self.shape(name)
            self.out.append(Assign(held, core.call(core.name("@add_at"), old.expr, index, g)))
            array = name in self.arrays_made
            self.bars[name] = replace(old, expr=core.name(held), array=array)
            return
        place = core.call(core.name("@place"), g, value.value, index)
        self.acc(name, place, array=False, maybe_none=False)


def tolerant(application: Application) -> bool:
    """Whether a rule itself undoes a broadcast of its result, by `matmul_bar_x` and the like."""
    return application.rule.name in ("matmul", "dot")


def is_placed(part: ast.expr) -> bool:
    """Whether a cotangent has the type of what an item was taken from: a list, perhaps."""
    function = part.func if isinstance(part, ast.Call) else None
    return isinstance(function, ast.Name) and function.id.lstrip("@") == "place"


def repeats(application: Application) -> bool:
    """Whether an operation would give a list again and again: `2 * v`, `v + v`."""
    if application.rule.name == "add":
        left, right = application.operands[:2]
        return ast.dump(left) == ast.dump(right)
    whole = [x for x in application.operands if isinstance(x, ast.Constant)]
    return application.rule.name == "multiply" and any(type(x.value) is int for x in whole)


def whole_spread(node: ast.expr) -> ast.expr | None:
    """The cotangent under a spread over a whole array: a broadcast that can wait."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == SPREAD:
        if len(node.args) == 2 and not node.keywords:
            return node.args[0]
    return None
