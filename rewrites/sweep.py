"""Sweep: walks a flattened function backwards, building its reverse sweep and what it must save."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath

from overt.rewrites import core
from overt.rewrites.activity import Activity, is_reversed_record, iterated, plain_tuple
from overt.rewrites.algebra import plainer
from overt.rewrites.core import (
    Assign,
    Block,
    Carry,
    For,
    Function,
    If,
    Merge,
    Names,
    Stmt,
    While,
    With,
)
from overt.rewrites.flatten import is_cheap
from overt.rewrites.program import Program
from overt.rewrites.pushes import is_push, push
from overt.rewrites.refusal import Refusal
from overt.rewrites.rules import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    Application,
    applied,
)
from overt.rewrites.shapes import SCALAR, Shape, Shapes, operator_call

SPREAD = "@unreduce"


def is_of_containers(fn: object) -> bool:
    """Whether a function's values are containers, whose cotangents `+` does not add."""
    module, name = getattr(fn, "__module__", ""), getattr(fn, "__name__", "")
    if module in ("overt.runtime.containers", "overt.runtime.arranging", "overt.runtime.viewing"):
        return True
    return module == "overt.runtime.cotangents" and name in ("joined", "merged")


def changes_length(index: ast.expr, stored: ast.expr) -> bool:
    """Whether a store may make a list longer or shorter: `xs[1:2] = [a, b]`."""
    is_slice = isinstance(index, ast.Subscript) and isinstance(index.slice, ast.Slice)
    return is_slice and isinstance(stored, ast.List | ast.ListComp)


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


class Sweep:
    """The reverse sweep of one function."""

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
        self.wide: dict[str, Shape] = {}
        self.records: set[str] = set()  # cotangents that surely are records, not None for zero

    # --- cotangents

    def seed(self, result: ast.expr, paired: bool = False) -> None:
        """Start from the cotangent 1 of the result (of its first part, if it is a pair)."""
        one: ast.expr = core.constant(1.0)
        if paired:
            self.give(result, core.tuple_of([one, core.constant(None)]), array=False)
            return
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
        if name not in self.activity.names or is_none(g):
            return
        maybe_none = not array if maybe_none is None else maybe_none
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

    def take(self, name: str) -> Bar | None:
        return self.bars.pop(name, None)

    def full(self, name: str, bar: Bar) -> ast.expr:
        """The cotangent with the value's own shape."""
        if name in self.wide:
            del self.wide[name]
            return core.call(core.name("@sum_to"), bar.expr, core.name(name))
        if not bar.lazy or self.shape(name) == SCALAR:
            return bar.expr
        held = self.names.fresh(f"{core.base(name)}_bar")
        self.shapes.known[held] = self.shape(name)
        spread = np_call("full_like", core.name(name), bar.expr)
        self.out.append(Assign(held, spread))
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

    # --- blocks

    def run(self) -> tuple[Block, Block]:
        """The forward body, perhaps with more saved, and the reverse sweep."""
        try:
            forward = self.block(self.function.body)
        except Refusal as refusal:
            raise self.program.located(refusal, self.function) from None
        return forward, tuple(self.out)

    def block(self, block: Block) -> Block:
        forward: list[Stmt] = []
        for s in reversed(block):
            mark = len(self.out)
            try:
                forward[:0] = self.statement(s)
                for i, t in enumerate(self.out[mark:], mark):
                    self.out[i] = replace(t, origin=core.undoing(t.origin, s.origin))
            except Refusal as refusal:
                if not refusal.line and s.origin.line:
                    refusal.line = s.origin.line
                raise
        return tuple(forward)

    def statement(self, s: Stmt) -> list[Stmt]:
        if isinstance(s, Assign):
            return self.assign(s)
        if isinstance(s, If):
            return [self.branch(s)]
        if isinstance(s, For | While):
            return [self.loop(s)]
        if isinstance(s, With):
            return [replace(s, body=self.within(s))]
        return [s]

    def within(self, s: With) -> Block:
        """The reverse of a block; where it caught an exception there is none."""
        mark = len(self.out)
        body = self.block(s.body)
        for item in s.items:
            if isinstance(item.optional_vars, ast.Name) and "@caught" in core.reads(
                item.context_expr
            ):
                refuse = ast.Attribute(item.optional_vars, "has_no_derivative", ast.Load())
                if len(self.out) > mark:
                    self.out.insert(mark, core.Do(ast.Expr(ast.Call(refuse, [], []))))
        return body

    # --- assignments

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
        if all(b is None for b in taken) or not isinstance(s.value, ast.Name):
            return [s]
        parts = [
            self.full(t, b) if b is not None else core.constant(None)
            for t, b in zip(s.target, taken, strict=True)
        ]
        bars = core.tuple_of(parts)
        self.acc(s.value.id, core.call(core.name("@packed"), s.value, bars), array=False)
        return [s]

    def operation(self, s: Assign, target: str, value: ast.expr, bar: Bar) -> list[Stmt]:
        """The reverse of `target = value`, one operation on names; gives the forward statements."""
        out = core.name(target)
        if isinstance(value, ast.Name):
            self.acc(value.id, bar.expr, bar.lazy, bar.array, missing=bar.missing)
            return [s]
        if isinstance(value, ast.BinOp | ast.UnaryOp):
            application = operator_call(value, self.program.resolver)
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
            self.give(value, bar.expr, array=False)
            return [s]
        if isinstance(value, ast.Call):
            return self.call(s, target, value, bar)
        raise Refusal(f"an expression of kind {type(value).__name__} has no derivative", "", value)

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
            if isinstance(x, ast.Name):
                self.operand(x.id, part, out, elementwise)
            else:
                self.pieces(x, part)

    def operand(self, name: str, part: ast.expr, out: ast.Name, elementwise: bool) -> None:
        spread = whole_spread(part)
        if spread is not None:
            self.acc(name, spread, lazy=True)
            return
        if not elementwise:
            self.acc(name, part)
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
            if isinstance(e, ast.Name):
                self.acc(e.id, core.name(h))

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
        from overt.rewrites.normalize import index_of

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
            self.bars[name] = replace(old, expr=core.name(held), array=False)
            return
        place = core.call(core.name("@place"), g, value.value, index)
        self.acc(name, place, array=False, maybe_none=False)

    # --- calls

    def call(self, s: Assign, target: str, value: ast.Call, bar: Bar) -> list[Stmt]:
        if is_push(value):
            self.pushed(value, bar)
            return [s]
        if isinstance(value.func, ast.Name) and self.program.resolver.object(value.func) is partial:
            self.bound(value, self.full(target, bar))
            return [s]
        fn = self.program.resolver.object(value.func)
        args, keywords = value.args, value.keywords
        if (
            fn is None
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ARRAY_METHODS
        ):
            import overt.runtime.numpy as ours

            fn = getattr(ours, value.func.attr, None)
            args = [value.func.value, *args]
            if value.func.attr in ("reshape", "transpose") and len(args) > 2:
                args = [args[0], core.tuple_of(list(args[1:]))]
        if isinstance(value.func, ast.Name) and value.func.id == "@set_item" and len(args) == 3:
            if changes_length(args[1], args[2]):
                return self.unknown(s, target, value, bar)
            self.store(args, target, bar)
            return [s]
        out = core.name(target)
        if isinstance(value.func, ast.Attribute) and fn is None and not keywords:
            if value.func.attr in ("copy", "astype") and isinstance(value.func.value, ast.Name):
                self.acc(value.func.value.id, self.full(target, bar), array=bar.array)
                return [s]
        if fn is not None:
            application = applied(fn, args, keywords)
            if application is not None and not application.rule.reversible:
                return self.unknown(s, target, value, bar)
            if application is not None and not any(
                self.activity.expr(v) for v in application.static.values()
            ):
                if is_of_containers(fn):
                    self.contain(application, target, bar)
                else:
                    self.apply(application, out, bar)
                return [s]
        inner = self.program.callee(value.func)
        if inner is not None and self.program.is_straight(inner):
            bound = bind(inner, args, keywords)
            if bound is not None:
                self.straight(inner, bound, target, bar)
                return [s]
        elif inner is not None:
            bound = bind(inner, args, keywords)
            if bound is not None:
                paired = self.paired(s, inner, bound, target, bar)
                if paired is not None:
                    return [paired]
        return self.unknown(s, target, value, bar)

    def store(self, args: list[ast.expr], target: str, bar: Bar) -> None:
        """The reverse of a store: what was stored takes its part of the cotangent out."""
        holder, index, item_ = args
        g = self.full(target, bar)
        active = [self.activity.expr(holder), self.activity.expr(item_)]
        plain = isinstance(holder, ast.Name) and isinstance(item_, ast.Name | ast.Constant)
        if not (all(active) and plain):
            if active[0]:
                self.give(holder, core.call(core.name("@erase"), g, index), array=False)
            if active[1]:
                self.give(item_, core.call(core.name("@taken"), g, index, item_), array=False)
            return
        taken = self.names.fresh(f"{core.base(item_.id)}_bar")  # type: ignore[attr-defined]
        left = self.names.fresh(f"{core.base(holder.id)}_bar")  # type: ignore[attr-defined]
        self.shapes.known[taken] = self.shape(item_.id)  # type: ignore[attr-defined]
        self.shapes.known[left] = self.shape(holder.id)  # type: ignore[attr-defined]
        called = core.call(core.name("@withdrawn"), g, index, item_)
        self.out.append(Assign((taken, left), called))
        self.acc(item_.id, core.name(taken), array=False, maybe_none=False)  # type: ignore[attr-defined]
        self.acc(holder.id, core.name(left), array=False, maybe_none=False)  # type: ignore[attr-defined]

    def bound(self, value: ast.Call, g: ast.expr) -> None:
        """`partial(f, a, k=b)`: its cotangent is that of the arguments that it holds."""
        held, named = item(g, core.constant(0)), item(g, core.constant(1))
        for i, a in enumerate(value.args[1:]):
            self.give(a, item(held, core.constant(i)), array=False)
        for k in value.keywords:
            self.give(k.value, item(named, core.constant(k.arg)), array=False)

    def pushed(self, value: ast.Call, bar: Bar) -> None:
        """A record's cotangent goes to its fields."""
        for i, field in enumerate(value.args):
            g = bar.expr if len(value.args) == 1 else item(bar.expr, core.constant(i))
            self.give(field, g, array=False, missing=True)

    def contain(self, application: Application, target: str, bar: Bar) -> None:
        """The rule of an operation on containers: cotangents may be containers, or None."""
        g = self.full(target, bar)
        for i, x in enumerate(application.operands):
            if self.activity.expr(x):
                part = application.derivative(i, g, core.name(target))
                if part is None:
                    continue
                if application.rule.name == "stored_back" and i == 0 and isinstance(x, ast.Name):
                    self.acc(x.id, part, array=False, maybe_none=False)
                else:
                    self.give(x, part, array=False)

    def straight(self, inner: Function, bound: list[ast.expr], target: str, bar: Bar) -> None:
        active = [i for i, a in enumerate(bound) if self.activity.expr(a)]
        name = self.program.bwd(inner, frozenset(inner.params[i].name for i in active))
        called = ast.Call(core.name(name), [*bound, self.full(target, bar)], [])
        self.returned(inner, bound, active, called)

    def paired(
        self, s: Assign, inner: Function, bound: list[ast.expr], target: str, bar: Bar
    ) -> Assign | None:
        """A call of a function with loops: `y, saved = f_fwd(x)`; undone by `f_bwd(saved, bar)`."""
        active = [i for i, a in enumerate(bound) if self.activity.expr(a)]
        pair = self.program.pair(inner, frozenset(inner.params[i].name for i in active))
        if pair is None:
            return None
        fwd, bwd = pair
        saved = self.names.fresh(f"{inner.name}_saved")
        self.activity.names.add(saved)
        called = ast.Call(core.name(bwd), [core.name(saved), self.full(target, bar)], [])
        self.returned(inner, bound, active, called)
        return Assign((target, saved), ast.Call(core.name(fwd), bound, []), s.origin)

    def arrays(self, names: Iterable[str]) -> frozenset[str]:
        """Those names whose cotangents are surely arrays: they may be of lists, or of functions."""
        bars = ((n, self.bars.get(n)) for n in names)
        return frozenset(n for n, bar in bars if bar is not None and bar.array)

    def returned(
        self, inner: Function, bound: list[ast.expr], active: list[int], called: ast.Call
    ) -> None:
        """Give the cotangents that a backward function returns to the arguments that are active."""
        key = inner.name, frozenset(inner.params[i].name for i in active)
        arrays = self.program.arrays.get(key, frozenset())

        def is_array(i: int) -> bool:
            return isinstance(bound[i], ast.Name) and inner.params[i].name in arrays

        if len(active) == 1:
            self.give(bound[active[0]], called, array=is_array(active[0]))
            return
        held = []
        for i in active:
            a = bound[i]
            stem = core.base(a.id) if isinstance(a, ast.Name) else "argument"
            held.append(self.names.fresh(f"{stem}_bar"))
            if isinstance(a, ast.Name):
                self.shapes.known[held[-1]] = self.shape(a.id)
        self.out.append(Assign(tuple(held), called))
        for i, h in zip(active, held, strict=True):
            self.give(bound[i], core.name(h), array=is_array(i))

    def unknown(self, s: Assign, target: str, value: ast.Call, bar: Bar) -> list[Stmt]:
        """A call that is resolved when it is reached: `y, y_pull = vjp_of(f, x)`."""
        stars = [a for a in value.args if isinstance(a, ast.Starred)]
        if len(stars) > 1:
            raise Refusal(
                "two starred arguments in one call cannot be differentiated",
                "Join them into one list first.",
                value,
            )
        pull = self.names.fresh(f"{core.base(target)}_pull")
        called = ast.Call(core.name("@vjp_of"), [value.func, *value.args], value.keywords)
        called = ast.copy_location(called, value)
        forward = Assign((target, pull), called, s.origin)
        self.activity.names.add(pull)
        g = self.full(target, bar)
        pattern: list[object] = []
        after: list[tuple[ast.expr, str, bool]] = []

        def slot(a: ast.expr, star: bool = False) -> None:
            if not self.activity.expr(a):
                held = self.names.fresh("_")
            else:
                stem = core.base(a.id) if isinstance(a, ast.Name) else "argument"
                held = self.names.fresh(f"{stem}_bar")
                after.append((a, held, star))
            pattern.append(("*", held) if star else held)

        receiver = value.func.value if isinstance(value.func, ast.Attribute) else value.func
        slot(receiver)
        for a in value.args:
            slot(a.value, True) if isinstance(a, ast.Starred) else slot(a)
        if value.keywords:
            given = self.names.fresh("keywords_bar")
            pattern.append(given)
        bars: ast.expr = ast.Call(core.name(pull), [g], [])
        if value.keywords and all(k.arg is None for k in value.keywords):
            spare = core.call(core.name("@spare"), *(k.value for k in value.keywords))
            bars = core.call(core.name("@joined"), bars, spare)
        self.out.append(Assign(tuple(pattern), bars))
        for a, held, star in after:
            bars = core.name(held)
            if star:
                bars = core.call(core.name("@packed"), a, bars)
            self.give(a, bars, array=False)
        for k in value.keywords:
            if not self.activity.expr(k.value):
                continue
            if k.arg is None:
                part: ast.expr = core.call(core.name("@chosen"), core.name(given), k.value)
            else:
                part = item(core.name(given), core.constant(k.arg))
            self.give(k.value, part, array=False)
        return [forward]

    # --- branches

    def branch(self, s: If) -> If:
        given = []
        for m in s.merges:
            bar = self.take(m.name)
            if bar is not None:
                given.append((m, replace(bar, expr=self.full(m.name, bar), lazy=False)))
        if not given:
            return s
        before, outer = dict(self.bars), self.out
        sides = []
        for side, block in (("then", s.then), ("orelse", s.orelse)):
            self.bars, self.out = dict(before), []
            for m, bar in given:
                self.give(getattr(m, side), bar.expr, bar.array, bar.missing)
            forward = self.block(block)
            own = core.assigned(block)
            self.bars = {n: b for n, b in self.bars.items() if n not in own}
            for n, b in list(self.bars.items()):
                if b is not before.get(n):
                    self.bars[n] = replace(b, expr=self.full(n, b), lazy=False)
            sides.append((forward, self.bars, tuple(self.out)))
        self.bars, self.out = before, outer
        (then, then_bars, then_out), (orelse, else_bars, else_out) = sides
        merges = []
        for n in sorted({*then_bars, *else_bars}):
            one_bar, two_bar, old = then_bars.get(n), else_bars.get(n), before.get(n)
            if one_bar is old and two_bar is old:
                continue
            array = all(x.array for x in (one_bar, two_bar) if x is not None)
            one = one_bar.expr if one_bar is not None else self.zero(n, array)
            two = two_bar.expr if two_bar is not None else self.zero(n, array)
            held = self.names.fresh(f"{core.base(n)}_bar")
            self.shapes.known[held] = self.shape(n)
            merges.append(Merge(held, one, two))
            missing = any(x.missing for x in (one_bar, two_bar) if x is not None)
            self.bars[n] = Bar(core.name(held), False, array, missing=missing)
        exports: list[Merge] = []
        then_out = self.exported(then, then_out, merges, s, "then", exports)
        else_out = self.exported(orelse, else_out, merges, s, "orelse", exports)
        if merges or then_out or else_out:
            self.out.append(If(s.test, then_out, else_out, tuple(merges), core.NOWHERE))
        return replace(s, then=then, orelse=orelse, merges=(*s.merges, *exports))

    def exported(
        self,
        forward: Block,
        reverse: Block,
        merges: list[Merge],
        s: If,
        side: str,
        exports: list[Merge],
    ) -> Block:
        """What a branch's reverse reads of its forward: computed again if cheap, or handed out."""
        own = core.assigned(forward)
        ends = set().union(*[core.reads(getattr(m, side)) for m in merges]) if merges else set()
        needed = (core.free(reverse) | ends) & own
        table: dict[str, ast.expr] = {}
        again: list[Stmt] = []
        definitions = {
            t.target: t for t in forward if isinstance(t, Assign) and isinstance(t.target, str)
        }
        exposed = {v.id: m.name for m in s.merges if isinstance(v := getattr(m, side), ast.Name)}
        order = [t.target for t in forward if isinstance(t, Assign) and isinstance(t.target, str)]
        wanted = set(needed)
        for n in reversed(order):
            if n in wanted and n not in exposed and is_cheap(definitions[n].value):
                wanted |= core.reads(definitions[n].value) & own
        cheap = [
            n for n in order if n in wanted and n not in exposed and is_cheap(definitions[n].value)
        ]
        for n in sorted(wanted - set(cheap)):
            if n in exposed:
                table[n] = core.name(exposed[n])
                continue
            held = self.names.fresh(n)
            self.shapes.known[held] = self.shape(n)
            undefined = core.name("@Undefined")
            then, orelse = (
                (core.name(n), undefined) if side == "then" else (undefined, core.name(n))
            )
            exports.append(Merge(held, then, orelse))
            table[n] = core.name(held)
        for n in cheap:
            held = self.names.fresh(n)
            self.shapes.known[held] = self.shape(n)
            again.append(Assign(held, core.substitute(definitions[n].value, table)))
            table[n] = core.name(held)
        for i, m in enumerate(merges):
            merges[i] = replace(m, **{side: core.substitute(getattr(m, side), table)})
        return tuple(again) + core.map_exprs(reverse, lambda e: core.substitute(e, table))

    # --- loops

    def loop(self, s: For | While) -> For | While:
        given: dict[str, Bar] = {}
        for c in s.carries:
            bar = self.take(c.out)
            if bar is not None:
                given[c.name] = replace(bar, expr=self.full(c.out, bar), lazy=False)
        if not given:
            return s
        records = {n: given.pop(n) for n in list(given) if record_of(s, n) is not None}
        loose = {n for n, bar in given.items() if bar.missing}
        flowing, outer, loose = self.fixpoint(s, set(given), set(records), loose)
        return LoopReversal(self, s, given, flowing, outer, records, loose).build()

    def fixpoint(
        self, s: For | While, flowing: set[str], records: set[str], loose: set[str]
    ) -> tuple[set[str], set[str], set[str]]:
        """Which carried cotangents are not zero, which names around the loop receive some, and
        which of the carried ones may be missing."""
        own = core.assigned(s.body) | {c.name for c in s.carries}
        if isinstance(s, For):
            own |= set(core.pattern_names(s.target))
        while True:
            kept = (self.bars, self.out, copy.copy(self.names.count), dict(self.shapes.known))
            active = set(self.activity.names)
            self.bars, self.out = {}, []
            for c in s.carries:
                trial = core.name(f"{core.base(c.name)}_bar{core.SEPARATOR}trial")
                if c.name in flowing:
                    self.give(c.next, trial, c.name not in loose, c.name in loose)
                if c.name in records and isinstance(c.next, ast.Name):
                    self.bars[c.next.id] = Bar(trial, False, False)
            self.block(s.body)
            reached = set(self.bars) - records
            ends = {n for n in reached if self.bars[n].missing} & {c.name for c in s.carries}
            self.bars, self.out, self.names.count, self.shapes.known = kept
            self.activity.names = active
            new = flowing | {c.name for c in s.carries if c.name in reached}
            if new != flowing:
                flowing = new
            elif ends <= loose:
                return flowing, reached - own, loose
            else:
                loose = loose | ends


class LoopReversal:
    """Builds the reverse of one loop, and the saving that its forward needs."""

    def __init__(
        self,
        sweep: Sweep,
        s: For | While,
        given: dict[str, Bar],
        flowing: set[str],
        outer: set[str],
        records: dict[str, Bar],
        loose: set[str],
    ) -> None:
        self.sweep, self.s, self.given, self.records = sweep, s, given, records
        self.loose = loose
        self.flowing, self.outer = flowing, sorted(outer)
        self.names = sweep.names

    def build(self) -> For | While:
        sweep, s = self.sweep, self.s
        around, outer_out = dict(sweep.bars), sweep.out
        carried = [c for c in s.carries if c.name in self.flowing]
        sweep.bars, sweep.out = {}, []
        carries: list[
            tuple[str, ast.expr, str, str]
        ] = []  # inside, init, name that it is of, after
        for c in carried:
            inside = self.fresh(c.name)
            bar = self.given.get(c.name)
            init = bar.expr if bar is not None else self.zero_before(c)
            carries.append((inside, init, c.name, self.fresh(c.name)))
            missing = c.name in self.loose
            array = not missing and (bar is None or bar.array)
            sweep.give(c.next, core.name(inside), array, missing)
        for n in self.outer:
            inside = self.fresh(n)
            old = around.get(n)
            if old is not None:
                outer_out_len = len(sweep.out)
                init = sweep.full(n, old)
                outer_out += sweep.out[outer_out_len:]
                del sweep.out[outer_out_len:]
            else:
                init = sweep.zero(n, True)
            carries.append((inside, init, n, self.fresh(n)))
            missing = old is not None and old.missing
            if missing:
                self.loose.add(n)
            mine = sweep.bars.get(n)
            if mine is not None:
                sweep.acc(n, core.name(inside), array=mine.array and not missing, missing=missing)
            else:
                sweep.bars[n] = Bar(core.name(inside), array=not missing, missing=missing)
        self.read_records()
        forward_body = sweep.block(s.body)
        for n in self.records:
            sweep.bars.pop(n, None)
        collected = self.collect()
        ends = []
        kinds: dict[str, tuple[bool, bool]] = {}  # an array? perhaps missing?
        for _, _, n, _ in carries:
            bar = sweep.bars.get(n)
            kinds[n] = (bar.array, bar.missing) if bar is not None else (True, False)
            if n in self.loose:  # and stays so where no iteration runs
                kinds[n] = (False, True)
            ends.append(sweep.full(n, bar) if bar is not None else self.zero_inside(n))
        body = tuple(sweep.out)
        sweep.bars, sweep.out = around, outer_out
        for c in carried:
            sweep.bars.pop(c.out, None)
        new_carries = [
            Carry(inside, init, end, after)
            for (inside, init, _, after), end in zip(carries, ends, strict=True)
        ]
        leaf_bars = []
        for leaf, pushed, inside, after in collected:
            body = (*body, pushed)
            init = core.call(core.name("@Saved"))
            new_carries.append(Carry(inside, init, core.name(pushed.target), after))
            leaf_bars.append((leaf, after))
        forward, reverse = self.paired(forward_body, body, tuple(new_carries))
        sweep.out.append(reverse)
        inits = {c.name: c.init for c in carried}
        for _, _, n, after in carries:
            if n not in inits:
                array, missing = kinds[n]
                sweep.bars[n] = Bar(core.name(after), False, array, missing=missing)
        for _, _, n, after in carries:  # the loop may start with one of the names it reads
            if n in inits:
                sweep.give(inits[n], core.name(after), *kinds[n])
        for leaf, after in leaf_bars:
            sweep.give(leaf, self.gathered(after, leaf), array=False)
        return forward

    def gathered(self, after: str, leaf: ast.expr) -> ast.expr:
        """The cotangent of what the loop ran over, from those of its items, the last one first."""
        if isinstance(self.s, For) and is_reversed_record(self.s.items):
            self.sweep.records.add(after)
            return core.name(after)  # they were read backwards, so this is their order
        backwards = (
            isinstance(self.s, For)
            and isinstance(self.s.items, ast.Call)
            and (self.sweep.program.resolver.object(self.s.items.func) is reversed)
        )
        bars: ast.expr = core.name(after)
        if backwards:
            bars = ast.Call(ast.Attribute(bars, "flipped", ast.Load()), [], [])
        return core.call(core.name("@rows"), bars, leaf)

    def read_records(self) -> None:
        """Cotangents of what the loop recorded: read beside what the reverse loop runs over."""
        self.parallel: list[tuple[core.Pattern, ast.expr]] = []
        for c in self.s.carries:
            bar = self.records.get(c.name)
            if bar is None or not isinstance(c.next, ast.Name):
                continue
            record = record_of(self.s, c.name)
            assert record is not None
            names = [self.field_name(f) for f in record.args]
            target = names[0] if len(names) == 1 else tuple(names)
            fields: list[ast.expr] = [core.name(n) for n in names]
            whole = fields[0] if len(fields) == 1 else core.tuple_of(fields)
            self.sweep.bars[c.next.id] = Bar(whole, False, False)
            self.sweep.activity.names.add(c.next.id)
            bars = bar.expr
            if not (isinstance(bars, ast.Name) and bars.id in self.sweep.records):
                bars = core.call(core.name("@materialize"), bars, core.name(c.out))
            items = ast.Call(ast.Attribute(bars, "reversed", ast.Load()), [], [])
            self.parallel.append((target, items))

    def field_name(self, field: ast.expr) -> str:
        if isinstance(field, ast.Name) and self.sweep.activity.expr(field):
            return self.fresh(field.id)
        return self.names.fresh("_")

    def fresh(self, name: str) -> str:
        held = self.names.fresh(f"{core.base(name)}_bar")
        self.sweep.shapes.known[held] = self.sweep.shape(name)
        return held

    def zero_before(self, c: Carry) -> ast.expr:
        """Zero with the shape of the value after the last iteration."""
        return self.sweep.zero(c.out)

    def zero_inside(self, name: str) -> ast.expr:
        """Zero for a carried value that the body does not read, of the next one's shape."""
        for c in self.s.carries:
            if c.name == name and isinstance(c.next, ast.Name):
                name = c.next.id
                break
        return self.sweep.zero(name)

    def collect(self) -> list[tuple[ast.expr, Assign, str, str]]:
        """Cotangents of the items that the loop runs over, one record an iteration."""
        s, sweep = self.s, self.sweep
        if not isinstance(s, For):
            return []
        done: list[tuple[ast.expr, Assign, str, str]] = []
        for target, leaf in iterated(s.target, s.items, sweep.program.resolver):
            if not sweep.activity.expr(leaf) or not isinstance(leaf, ast.Name | ast.Call):
                continue
            bar = self.pattern_bar(target)
            if bar is None:
                continue
            stem = f"{core.base(leaf.id)}_bars" if isinstance(leaf, ast.Name) else "item_bars"
            inside, new, after = (self.names.fresh(stem) for _ in range(3))
            pushed = Assign(new, push(core.name(inside), [bar]))
            done.append((leaf, pushed, inside, after))
        return done

    def pattern_bar(self, target: core.Pattern) -> ast.expr | None:
        if isinstance(target, str):
            bar = self.sweep.take(target)
            return self.sweep.full(target, bar) if bar is not None else None
        parts = [self.pattern_bar(t) for t in target if t != "*"]
        if all(p is None for p in parts):
            return None
        return core.tuple_of([p if p is not None else core.constant(None) for p in parts])

    def paired(
        self, forward_body: Block, body: Block, carries: tuple[Carry, ...]
    ) -> tuple[For | While, For]:
        """The forward loop that saves, and the reverse loop that reads what it saved."""
        s = self.s
        own = core.assigned(forward_body) | {c.name for c in s.carries}
        targets = set(core.pattern_names(s.target)) if isinstance(s, For) else set()
        own |= targets
        read = core.free(body) | set().union(*[core.reads(c.next) for c in carries], set())
        needed = [n for n in self.order(forward_body) if n in read & own]
        body, carries, needed = self.recompute(forward_body, body, carries, needed, own)
        origin = core.Origin(comment=self.undoes())
        if (
            isinstance(s, For)
            and s.until is None
            and not self.parallel
            and set(needed) <= targets
            and self.can_reverse(s.items)
        ):
            table = {n: core.name(self.names.fresh(n)) for n in targets}
            target = core.map_pattern(lambda n: table[n].id, s.target)
            items: ast.expr = core.call(core.name("reversed"), s.items)
            return self.marked(replace(s, body=forward_body)), self.loop_over(
                target, items, body, carries, table, origin
            )
        inside, new, out = (self.names.fresh("saved") for _ in range(3))
        pushed = Assign(new, push(core.name(inside), [core.name(n) for n in needed]))
        position = self.position(forward_body, needed)
        forward_body = (*forward_body[:position], pushed, *forward_body[position:])
        carry = Carry(inside, core.call(core.name("@Saved")), core.name(new), out)
        forward = replace(s, body=forward_body, carries=(*s.carries, carry))
        table = {n: core.name(self.names.fresh(n)) for n in needed}
        fields = [table[n].id for n in needed]
        target = (
            fields[0] if len(fields) == 1 else tuple(fields) if fields else self.names.fresh("_")
        )
        items = ast.Call(ast.Attribute(core.name(out), "reversed", ast.Load()), [], [])
        if self.parallel:
            target = (target, *[t for t, _ in self.parallel])
            items = core.call(core.name("zip"), items, *[x for _, x in self.parallel])
        return self.marked(forward), self.loop_over(target, items, body, carries, table, origin)

    def loop_over(
        self,
        target: core.Pattern,
        items: ast.expr,
        body: Block,
        carries: tuple[Carry, ...],
        table: dict[str, ast.Name],
        origin: core.Origin,
    ) -> For:
        expressions = dict(table)
        body = core.map_exprs(body, lambda e: core.substitute(e, expressions))
        carries = tuple(replace(c, next=core.substitute(c.next, expressions)) for c in carries)
        for n, new in table.items():
            self.sweep.shapes.known[new.id] = self.sweep.shape(n)
        return For(target, items, carries, body, None, origin)

    def marked(self, s: For | While) -> For | While:
        """The forward loop, its comment or else its place kept."""
        if not s.origin.comment and s.origin.line:
            return replace(s, origin=replace(s.origin, comment=f"# {self.place()}"))
        return s

    def place(self) -> str:
        origin = self.s.origin
        return f"{PurePath(origin.file).name}:{origin.line}"

    def undoes(self) -> str:
        return f"# undoes {self.place()}" if self.s.origin.line else ""

    def can_reverse(self, items: ast.expr) -> bool:
        if isinstance(items, ast.Name):
            return core.is_local(items.id)
        if isinstance(items, ast.Call) and self.sweep.program.resolver.object(items.func) is range:
            return all(is_cheap(a) for a in items.args)
        return False

    def order(self, block: Block) -> list[str]:
        """Names of an iteration in the order in which they are set."""
        s = self.s
        found = [c.name for c in s.carries]
        if isinstance(s, For):
            found += core.pattern_names(s.target)
        for statement in block:
            found += sorted(core.assigned((statement,)))
        return found

    def recompute(
        self,
        forward: Block,
        body: Block,
        carries: tuple[Carry, ...],
        needed: list[str],
        own: set[str],
    ) -> tuple[Block, tuple[Carry, ...], list[str]]:
        """Leave out of the record what is cheap to compute again from the rest of it."""
        definitions = {
            t.target: t.value
            for t in forward
            if isinstance(t, Assign) and isinstance(t.target, str)
        }
        again: list[Stmt] = []
        table: dict[str, ast.expr] = {}
        kept = list(needed)
        for n in reversed(needed):
            value = definitions.get(n)
            if value is None or n not in self.sweep.temporary or not is_cheap(value):
                continue
            if not core.reads(value) & own <= set(kept) - {n}:
                continue
            kept.remove(n)
            held = self.names.fresh(n)
            self.sweep.shapes.known[held] = self.sweep.shape(n)
            again.insert(0, Assign(held, value))
            table[n] = core.name(held)
        if not again:
            return body, carries, needed
        again = [replace(a, value=core.substitute(a.value, table)) for a in again]  # type: ignore
        body = tuple(again) + core.map_exprs(body, lambda e: core.substitute(e, table))
        carries = tuple(replace(c, next=core.substitute(c.next, table)) for c in carries)
        return body, carries, kept

    def position(self, block: Block, needed: list[str]) -> int:
        """Right after the last statement that sets something to save."""
        last = 0
        for i, statement in enumerate(block):
            if core.assigned((statement,)) & set(needed):
                last = i + 1
        return last


def tolerant(application: Application) -> bool:
    """Whether a rule itself undoes a broadcast of its result, by `matmul_bar_x` and the like."""
    return application.rule.name in ("matmul", "dot")


def record_of(s: For | While, carried: str) -> ast.Call | None:
    """The push that makes a carried name a record of the loop; None if it is an ordinary value."""
    c = next(c for c in s.carries if c.name == carried)
    for statement in s.body:
        if (
            isinstance(statement, Assign)
            and isinstance(c.next, ast.Name)
            and is_push(statement.value)
        ):
            if statement.target == c.next.id:
                return statement.value  # type: ignore[return-value]
    return None


def np_call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(core.name("@np"), function, ast.Load()), list(args), [])


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def item(g: ast.expr, index: ast.expr) -> ast.expr:
    """One part of a cotangent, taken apart now if its parts are known."""
    if isinstance(g, ast.Tuple | ast.List) and isinstance(index, ast.Constant):
        if isinstance(index.value, int) and index.value < len(g.elts):
            return g.elts[index.value]
    return core.call(core.name("@part"), g, index)


def whole_spread(node: ast.expr) -> ast.expr | None:
    """The cotangent under a spread over a whole array: a broadcast that can wait."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == SPREAD:
        if len(node.args) == 2 and not node.keywords:
            return node.args[0]
    return None


def bind(
    inner: Function, args: list[ast.expr], keywords: list[ast.keyword]
) -> list[ast.expr] | None:
    """The arguments of a call, one a parameter; None if that takes more than names and defaults."""
    if any(isinstance(a, ast.Starred) for a in args) or len(args) > len(inner.params):
        return None
    bound: list[ast.expr | None] = [*args, *[None] * (len(inner.params) - len(args))]
    places = {core.base(p.name): i for i, p in enumerate(inner.params)}
    for k in keywords:
        if k.arg is None or k.arg not in places or bound[places[k.arg]] is not None:
            return None
        bound[places[k.arg]] = k.value
    for i, p in enumerate(inner.params):
        if bound[i] is None:
            if not isinstance(p.default, ast.Constant):
                return None
            bound[i] = p.default
    return bound  # type: ignore[return-value]
