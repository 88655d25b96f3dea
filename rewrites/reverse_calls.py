"""Reverse of calls: by a rule, by a backward function, by a pair, or resolved when reached."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from overt.rewrites import core
from overt.rewrites.bars import Bar, item
from overt.rewrites.changing import has_own_code
from overt.rewrites.core import Assign, Function, Stmt
from overt.rewrites.pushes import is_push
from overt.rewrites.ranks import rank_of
from overt.rewrites.refusal import Refusal
from overt.rewrites.reverse_operations import Operations
from overt.rewrites.rules import ARRAY_METHODS, Application, applied, as_function_of_array
from overt.rewrites.scopes import SET_ITEM
from overt.runtime import dtypes


class Calls(Operations):
    """What one call does to the cotangents."""

    def call(self, s: Assign, target: str, value: ast.Call, bar: Bar) -> list[Stmt]:
        if is_push(value):
            self.pushed(value, bar)
            return [s]
        if isinstance(value.func, ast.Name) and self.program.resolver.object(value.func) is partial:
            self.bound(value, self.full(target, bar))
            return [s]
        if isinstance(value.func, ast.Name) and value.func.id == "@with_items" and value.keywords:
            self.items(value, self.full(target, bar))
            return [s]
        fn = self.program.resolver.object(value.func)
        args, keywords = value.args, value.keywords
        if (
            fn is None
            and isinstance(value.func, ast.Attribute)
            and (
                value.func.attr in ARRAY_METHODS
                or value.func.attr == "astype"
                and not is_floating(args[0] if args else None, self.program.resolver)
            )
            and not self.program.resolver.is_users_method(value.func.attr)
        ):
            read = as_function_of_array(value, self.activity.expr)
            if read is None or value.func.attr in ("min", "max") and self.is_part(value.func.value):
                return self.unknown(s, target, value, bar)
            fn, args = read
        if isinstance(value.func, ast.Name) and value.func.id in SET_ITEM and len(args) == 3:
            if changes_length(args[1], args[2]):
                return self.unknown(s, target, value, bar)
            self.store(args, target, bar)
            return [s]
        if fn is sum and len(args) == 1 and not keywords and self.activity.is_list(args[0]):
            g = core.call(core.name("@spread_over"), self.full(target, bar), args[0])
            self.give(args[0], g, array=False)
            return [s]
        if is_named_tuple(fn) and not any(isinstance(a, ast.Starred) for a in args):
            self.fields(fn._fields, value, self.full(target, bar))
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
        place = ast.Subscript(g, index, ast.Load())
        if isinstance(g, ast.Name) and rank_of(ast.Subscript(holder, index), self.shapes) == 0:
            zero = core.call(core.name("@set_item"), g, index, core.constant(0.0))
            self.out += [Assign(taken, place), Assign(left, zero)]
        else:
            called = core.call(core.name("@withdrawn"), g, index, item_)
            self.out.append(Assign((taken, left), called))
        self.acc(item_.id, core.name(taken), array=False, maybe_none=False)  # type: ignore[attr-defined]
        self.acc(holder.id, core.name(left), array=False, maybe_none=False)  # type: ignore[attr-defined]

    def items(self, value: ast.Call, g: ast.expr) -> None:
        """`with_items(x, w=w_bar)`: each item takes its part of the cotangent."""
        for k in value.keywords:
            part = item(g, core.constant(k.arg))
            self.give(k.value, core.call(core.name("@spread_to"), part, k.value), array=False)

    def fields(self, names: tuple[str, ...], value: ast.Call, g: ast.expr) -> None:
        """`State(p, v)`, a named tuple: its fields take their parts of the cotangent."""
        given = [*zip(names, value.args, strict=False), *((k.arg, k.value) for k in value.keywords)]
        for name, field in given:
            if self.activity.expr(field):
                part = item(g, core.constant(names.index(name)))
                self.give(field, part, array=False)

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

    def is_part(self, holder: ast.expr) -> bool:
        """Whether an object is `x.at[i]`, whose `min` and `max` are updates."""
        part = self.given(holder)
        places = self.given(part.value) if isinstance(part, ast.Subscript) else None
        return isinstance(places, ast.Attribute) and places.attr == "at"

    def given(self, node: ast.expr) -> ast.expr:
        """What a name is given; anything else as it is."""
        if isinstance(node, ast.Name):
            for s in core.walk(self.function.body):
                if isinstance(s, Assign) and s.target == node.id:
                    return s.value
        return node

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


def is_named_tuple(made: Any) -> bool:
    """Whether a class is one of named tuples that are made of their fields and nothing else."""
    if not isinstance(made, type) or not issubclass(made, tuple) or has_own_code(made):
        return False
    plain = made.__getitem__ is tuple.__getitem__
    return plain and isinstance(getattr(made, "_fields", None), tuple)


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


def is_floating(dtype: ast.expr | None, resolver: Any) -> bool:
    """Whether a dtype in the text is for certain one of floats, as `float` and `np.float32` are."""
    value = dtype.value if isinstance(dtype, ast.Constant) else None
    if value is None and dtype is not None:
        value = resolver.object(dtype)
    if value is None:
        return False
    try:
        return dtypes.is_inexact(dtypes.canonicalize(value))
    except TypeError:
        return False
