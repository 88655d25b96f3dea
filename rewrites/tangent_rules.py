"""Tangent rules: the tangent of one operation, from the rule of the function that it applies.

y = x * w     ->  y_dot = x_dot * w + x * w_dot
y = f(x)      ->  y, y_dot = f_jvp(x, x_dot)             f is a function of the user's
y = f(x)      ->  y, y_dot = jvp_of(f, (x,), (x_dot,))   f known late
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import overt.runtime
import overt.runtime.numpy as ours
from overt.rewrites import core
from overt.rewrites.core import Assign
from overt.rewrites.pushes import is_push, push
from overt.rewrites.refusal import Refusal
from overt.rewrites.reverse_calls import bind
from overt.rewrites.rules import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    Application,
    Written,
    applied,
    as_function_of_array,
    rule_text,
)
from overt.rewrites.zeroed import operator_as_applied

if TYPE_CHECKING:
    from overt.rewrites.tangents import Tangents

LINEAR_UPDATES = ("set", "add", "subtract", "sub", "get")
UPDATES = (*LINEAR_UPDATES, "multiply", "mul", "divide", "power", "min", "max")
ONCE = ("map", "zip", "filter", "iter", "reversed", "enumerate")  # what they give is read once
MOVING_METHODS = ("items", "values", "copy")

# What derivative code calls that is linear in one argument: its position.
LINEAR_HELPERS = {
    getattr(overt.runtime, name): place
    for name, place in {
        "part": 0, "without_last": 0, "packed": 1, "with_items": 1, "chosen": 0, "place_field": 0,
        "rows": 0, "rows_backwards": 0, "spread_to": 0, "spread_over": 0, "added_up": 0,
        "head_of": 0, "tail_of": 0, "kept_items": 0, "taken_over": 0, "fresh": 0,
    }.items()
}  # fmt: skip


@dataclass(frozen=True)
class Tangent:
    """The tangent of a value; `narrow`: it may still have to be broadcast to the value's shape."""

    expr: ast.expr
    narrow: bool = False


Found = Tangent | ast.Call | None  # a call gives value and tangent together


class TangentRules:
    """Finds the tangent of one operation on names."""

    def __init__(
        self, walk: Tangents, callee: Callable[[core.Function, tuple[int, ...]], str | None]
    ) -> None:
        self.walk, self.callee = walk, callee
        self.resolver = walk.program.resolver
        self.at: dict[str, tuple[ast.expr, ast.expr | None]] = {}  # `x.at` and `x.at[i]` by name

    def tangent(self, target: str, value: ast.expr) -> Found:
        """The tangent of `target = value`."""
        walk = self.walk
        if not walk.activity.expr(value):
            return None
        if isinstance(value, ast.Name):
            found = walk.dot(value)
            return Tangent(found, value.id in walk.narrow) if found is not None else None
        if isinstance(value, ast.BinOp | ast.UnaryOp):
            application = operator_as_applied(value, self.resolver, walk.zeroed)
            if application is None:
                raise Refusal("this operator has no derivative", "", value)
            return self.by_rule(target, application, value)
        if isinstance(value, ast.Tuple | ast.List | ast.Dict):
            found = walk.dot(value)
            return Tangent(found) if found is not None else None
        if isinstance(value, ast.Attribute):
            return self.attribute(target, value)
        if isinstance(value, ast.Subscript):
            return self.subscript(target, value)
        if isinstance(value, ast.Call):
            return self.call(target, value)
        raise Refusal(f"an expression of kind {type(value).__name__} has no derivative", "", value)

    def attribute(self, target: str, value: ast.Attribute) -> Found:
        holder = value.value
        if value.attr == "at":
            self.at[target] = (holder, None)
        dot = self.walk.full(holder)
        if value.attr in ARRAY_ATTRIBUTES:
            return Tangent(ast.Attribute(dot, value.attr, ast.Load()))
        return Tangent(runtime("field_dot", dot, holder, core.constant(value.attr)))

    def subscript(self, target: str, value: ast.Subscript) -> Found:
        if isinstance(value.value, ast.Name) and value.value.id in self.at:
            x, index = self.at[value.value.id]
            if index is None:
                self.at[target] = (x, value.slice)
        if self.walk.dot(value.value) is None:
            return None
        return Tangent(ast.Subscript(self.walk.full(value.value), value.slice, ast.Load()))

    # --- calls

    def call(self, target: str, value: ast.Call) -> Found:
        walk = self.walk
        if is_push(value):
            record = value.func.value  # type: ignore[attr-defined]
            fields = [
                walk.full(a) if walk.leaves or walk.dot(a) is not None else core.constant(None)
                for a in value.args
            ]
            walk.records[target] = tuple(
                walk.records.get(getattr(a, "id", ""), walk.dot(a) is not None) for a in value.args
            )
            return Tangent(push(walk.full(record), fields))
        f, args, keywords = value.func, value.args, value.keywords
        fn = self.resolver.object(f)
        if fn is None and isinstance(f, ast.Attribute):
            update = self.update(f, value)
            if update is not None:
                return update
            if (
                f.attr in MOVING_METHODS
                and not args
                and not keywords
                and walk.dot(f.value) is not None
            ):
                if f.attr == "items":
                    return Tangent(runtime("items_dot", walk.full(f.value)))
                return Tangent(
                    ast.Call(ast.Attribute(walk.full(f.value), f.attr, ast.Load()), [], [])
                )
            users = self.resolver.is_users_method(f.attr)
            if f.attr in (*ARRAY_METHODS, "astype") and not users:
                read = as_function_of_array(value, walk.activity.expr)
                if read is None:
                    return self.unknown(value)
                fn, args = read
                f = ast.Attribute(core.name("@np"), f.attr, ast.Load())
                value = ast.Call(f, args, keywords)
        if fn is overt.runtime.place_field and walk.dot(args[1]) is not None:
            dots = [walk.full(args[0]), walk.full(args[1])]
            return Tangent(runtime("place_field_dot", *dots, *args))
        if isinstance(f, ast.Name) and f.id == "@with_items" and keywords:
            moving = [ast.keyword(k.arg, walk.full(k.value)) for k in keywords if walk.dot(k.value)]
            return Tangent(ast.Call(f, args, moving)) if moving else None
        place = LINEAR_HELPERS.get(fn) if isinstance(fn, types.FunctionType) else None
        if place is not None and not keywords and len(args) > place:
            if not any(isinstance(a, ast.Starred) for a in args):
                found = walk.dot(args[place])
                if found is None:
                    return None
                return Tangent(
                    ast.Call(f, [*args[:place], walk.full(args[place]), *args[place + 1 :]], [])
                )
        if fn is sum and len(args) == 1 and not keywords and walk.dot(args[0]) is not None:
            return Tangent(ast.Call(f, [walk.iterated(args[0])], []))
        if fn in (float, complex) and len(args) == 1 and not isinstance(args[0], ast.Starred):
            found = walk.dot(args[0])
            return (
                Tangent(found, isinstance(args[0], ast.Name) and args[0].id in walk.narrow)
                if found
                else None
            )
        if fn in (list, tuple) and len(args) == 1 and isinstance(args[0], ast.Name):
            return Tangent(ast.Call(f, [walk.iterated(args[0])], []))
        if fn is not None:
            application = applied(fn, args, keywords)
            if application is not None and not any(
                walk.activity.expr(v) for v in application.static.values()
            ):
                applied_rule = self.by_rule(target, application, value)
                if not isinstance(applied_rule, str):
                    return applied_rule
        inner = walk.program.callee(f)
        if inner is not None:
            bound = bind(inner, args, keywords)
            if bound is not None and not any(isinstance(b, ast.Starred) for b in bound):
                active = tuple(i for i, a in enumerate(bound) if walk.activity.expr(a))
                made = self.callee(inner, active)
                if made is not None:
                    dots = [walk.full(bound[i]) for i in active]
                    return ast.copy_location(ast.Call(core.name(made), [*bound, *dots], []), value)
        return self.unknown(value)

    def update(self, f: ast.Attribute, value: ast.Call) -> Found:
        """`x.at[i].set(v)` and its kin."""
        if not isinstance(f.value, ast.Name) or f.attr not in UPDATES:
            return None
        x, index = self.at.get(f.value.id, (None, None))
        if x is None or index is None:
            return None
        walk = self.walk
        if f.attr in LINEAR_UPDATES and not any(
            walk.activity.expr(k.value) for k in value.keywords
        ):
            place = ast.Subscript(ast.Attribute(walk.full(x), "at", ast.Load()), index, ast.Load())
            keywords = [k for k in value.keywords if k.arg != "fill_value"]
            if f.attr == "get" and value.keywords:
                keywords.append(ast.keyword("fill_value", core.constant(0.0)))
            args = [walk.full(a) for a in value.args]
            return Tangent(ast.Call(ast.Attribute(place, f.attr, ast.Load()), args, keywords))
        held = ast.Subscript(core.name("@at"), index, ast.Load())
        call = ast.Call(
            core.name("@updated"), [x, core.constant(f.attr), held, *value.args], value.keywords
        )
        return self.unknown(ast.copy_location(call, value))

    def unknown(self, value: ast.Call) -> ast.Call:
        """A call that is resolved when it is reached."""
        walk = self.walk
        self.listed(value)
        args = [self.operand(a) for a in value.args]
        called = [value.func, core.tuple_of(list(value.args)), core.tuple_of(args)]
        named: list[ast.keyword] = []
        if value.keywords:
            names: list[ast.expr | None] = [
                core.constant(k.arg) if k.arg else None for k in value.keywords
            ]
            called.append(ast.Dict(names, [k.value for k in value.keywords]))
            moving = [k for k in value.keywords if walk.activity.expr(k.value)]
            if moving:
                names = [core.constant(k.arg) if k.arg else None for k in moving]
                called.append(ast.Dict(names, [walk.full(k.value) for k in moving]))
        f_dot: ast.expr | None = None
        if isinstance(value.func, ast.Attribute):
            holder = walk.dot(value.func.value)
            if holder is not None:
                held = walk.full(value.func.value)
                f_dot = runtime("field_dot", held, value.func.value, core.constant(value.func.attr))
        else:
            f_dot = walk.dot(value.func)
        if f_dot is not None:
            named.append(ast.keyword("f_dot", f_dot))
        return ast.copy_location(ast.Call(core.name("@jvp_of"), called, named), value)

    def listed(self, value: ast.Call) -> None:
        """Make a list of an iterator that a call spreads: its tangents are spread beside it."""
        for a in value.args:
            name = (
                a.value.id if isinstance(a, ast.Starred) and isinstance(a.value, ast.Name) else ""
            )
            for i, s in enumerate(self.walk.out if name else ()):
                if not (isinstance(s, Assign) and s.target == name) or s.origin.line:
                    continue
                if core.is_call_of(s.value, *ONCE):
                    self.walk.out[i] = replace(s, value=core.call("list", s.value))

    def operand(self, a: ast.expr) -> ast.expr:
        if isinstance(a, ast.Starred):
            return ast.Starred(self.walk.iterated(a.value), ast.Load())
        return self.walk.full(a) if self.walk.activity.expr(a) else core.constant(None)

    # --- rules

    def by_rule(self, target: str, application: Application, value: ast.expr) -> Found:
        """The tangent by a function's rule."""
        walk, rule = self.walk, application.rule
        if rule.zero:
            return None
        active = [i for i, x in enumerate(application.operands) if walk.dot(x) is not None]
        if not active:
            return None
        if isinstance(application, Written):
            assert isinstance(value, ast.Call)
            first, *rest = (self.with_operands(application, value, [i]) for i in active)
            return Tangent(
                functools.reduce(lambda x, y: ast.BinOp(x, ast.Add(), y), rest, first)  # type: ignore
            )
        spread = rule.jvp is not None and takes_any_number(rule.jvp)
        if rule.jvp is not None and not spread:
            found = self.same_call(application, value, active)
            expr = found if found is not None else self.by_jvp(target, application, active)
            if expr is None:
                return None
            if (
                "dtype" in application.static
                and not core.is_none(application.static["dtype"])
                or ("." not in rule.name and isinstance(getattr(ours, rule.name, None), type))
            ):
                return Tangent(runtime("tangent_for", expr, core.name(target)))
            return Tangent(expr)
        if (
            (rule.elementwise or spread)
            and rule.vjp is not None
            and not (rule.linear and len(rule.arrays) == 1)
        ):
            if not all(isinstance(application.operands[i], ast.Name) for i in active):
                assert isinstance(value, ast.Call)
                return self.unknown(value)
            return self.elementwise(target, application, active)
        if rule.linear:
            if (
                rule.name == "add"
                and len(active) == 1
                and isinstance(application.operands[active[0]], ast.Name)
            ):
                return Tangent(walk.full(application.operands[active[0]]))
            return Tangent(self.on_tangents(application, value))
        assert isinstance(value, ast.Call)
        return self.unknown(value)

    def elementwise(
        self, target: str, application: Application, active: list[int]
    ) -> Tangent | None:
        """The sum over the operands of their tangents times the slopes."""
        walk = self.walk
        total: ast.expr | None = None
        whole = False
        shape = walk.shapes.known.get(target, frozenset([target]))
        for i in active:
            x = application.operands[i]
            assert isinstance(x, ast.Name)
            dot = walk.dot(x)
            assert dot is not None
            part = application.derivative(i, dot, core.name(target))
            if part is None:
                continue
            same = x.id not in walk.narrow and walk.shapes.of(x) == shape
            whole = whole or same or walk.has_shape(part, target)
            total = part if total is None else ast.BinOp(total, ast.Add(), part)
        if total is None:
            return None
        return Tangent(total, not (whole or walk.has_shape(total, target)))

    def on_tangents(self, application: Application, value: ast.expr) -> ast.expr:
        """A linear function, applied to the tangents."""
        if isinstance(value, ast.UnaryOp):
            return ast.UnaryOp(value.op, self.walk.full(value.operand))
        assert isinstance(value, ast.Call)
        return self.with_operands(application, value, range(len(application.operands)))

    def with_operands(self, application: Application, value: ast.Call, places: Any) -> ast.Call:
        """The user's call with operands replaced by their tangents."""
        chosen = {id(application.operands[i]) for i in places}

        def moved(a: ast.expr) -> ast.expr:
            return self.walk.full(a) if id(a) in chosen else a

        keywords = [ast.keyword(k.arg, moved(k.value)) for k in value.keywords]
        return ast.Call(value.func, [moved(a) for a in value.args], keywords)

    def same_call(
        self, application: Application, value: ast.expr, active: list[int]
    ) -> ast.expr | None:
        """The user's call on the tangent alone, if that is what the rule says in more words."""
        if not isinstance(value, ast.Call) or 0 not in active:
            return None
        params, body, _ = rule_text(application.rule.jvp)
        if not isinstance(body, ast.Call) or not body.args or not params.positional:
            return None
        name = getattr(body.func, "attr", getattr(body.func, "id", ""))
        dots = params.positional[0]
        if name != application.rule.name or position(body.args[0], dots) != 0:
            return None
        given = {id(a) for a in [*value.args, *(k.value for k in value.keywords)]}
        mentioned = {position(n, dots) for n in ast.walk(body)}
        places = [i for i in mentioned if i is not None and id(application.operands[i]) in given]
        said = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)}
        for k, v in application.static.items():
            if id(v) in given and k not in said and k != "dtype":
                return None
        return self.with_operands(application, value, places)

    def by_jvp(self, target: str, application: Application, active: list[int]) -> ast.expr | None:
        """The text of a rule's jvp; terms of a sum that are zero are left out."""
        count = len(application.operands)
        holders: list[ast.expr] = [core.name(f"dot{core.SEPARATOR}{i}?") for i in range(count)]
        text = application.tangent(core.tuple_of(holders), core.name(target))
        text = Chosen().visit(core.substitute(text, {"": core.constant(None)}))
        zeros = {h.id for i, h in enumerate(holders) if i not in active}  # type: ignore[attr-defined]
        moving = {h.id for i, h in enumerate(holders) if i in active}  # type: ignore[attr-defined]
        if not core.reads(text) & moving:
            return None
        text = without_zeros(text, zeros, moving) or text
        wanted = core.reads(text)
        table = {
            h.id: self.walk.full(x)  # type: ignore[attr-defined]
            for h, x in zip(holders, application.operands, strict=True)
            if h.id in wanted  # type: ignore[attr-defined]
        }
        return core.substitute(text, table)


def without_zeros(node: ast.expr, zeros: set[str], moving: set[str]) -> ast.expr | None:
    """A sum without the terms that only zero tangents are in; None if nothing is left."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left = without_zeros(node.left, zeros, moving)
        right = without_zeros(node.right, zeros, moving)
        if left is not None and right is not None:
            return ast.BinOp(left, node.op, right)
        if right is not None and isinstance(node.op, ast.Sub):
            return ast.UnaryOp(ast.USub(), right)
        return left if left is not None else right
    seen = core.reads(node)
    return None if seen & zeros and not seen & moving else node


class Chosen(ast.NodeTransformer):
    """`(a, b)[0]` is `a`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Tuple) and isinstance(node.slice, ast.Constant):
            assert isinstance(node.slice.value, int)
            return node.value.elts[node.slice.value]
        return node


def position(node: ast.AST, dots: str) -> int | None:
    """Which tangent `dots[i]` is."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == dots
    ):
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return index if isinstance(index, int) else None
    return None


def takes_any_number(jvp: Any) -> bool:
    """Whether a jvp is a named function of `*operands`: its text is silent on each of them."""
    return jvp.__name__ != "<lambda>" and bool(jvp.__code__.co_flags & inspect.CO_VARARGS)


def runtime(helper: str, *args: ast.expr) -> ast.Call:
    return core.call(core.name(f"@{helper}"), *args)


def np_call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(core.name("@np"), function, ast.Load()), list(args), [])
