"""Program: the functions that one derivative needs, each generated once."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Collection
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.changing import Changing
from overt.rewrites.core import Assign, For, Function, If, Source, While, With
from overt.rewrites.finiteness import (
    handles_nan,
    plain_quotients,
    plain_where_finite,
    unbounded_names,
)
from overt.rewrites.functional_updates import spelled
from overt.rewrites.hoist import hoist
from overt.rewrites.refusal import Refusal
from overt.rewrites.rules import Resolver
from overt.rewrites.scopes import SET_ITEM, is_not_in_place
from overt.rewrites.simplify import simplify
from overt.rewrites.sinking import answered
from overt.runtime.primitive import rule_of

# Functions after which a cotangent may be exactly zero in places: dividing by zero there must give
# zero. The first of them choose values by conditions.
CHOOSING = frozenset("where select select_n cond switch piecewise choose nan_to_num".split())
SELECTING = CHOOSING | frozenset(
    "clip maximum minimum fmax fmin max min getitem nansum nanprod nanmean nanvar nanstd nanmax "
    "nanmin nanmedian nanquantile nanpercentile nancumsum nancumprod".split()
)


class Program:
    """Functions in core form by name, and those generated from them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.functions = {f.name: f for f in source.functions}
        self.main = source.main
        self.resolver = Resolver(source.namespace)
        self.resolver.functions = self.functions
        self.resolver.load = source.load
        self.generated: dict[str, Function] = {}
        # parameters of functions whose cotangents are surely arrays, by name and active ones
        self.arrays: dict[tuple[str, frozenset[str]], frozenset[str]] = {}
        self.made: dict[tuple[str, str, frozenset[str]], str] = {}
        self.unbounded: set[str] = set()  # what forward functions save that may be infinite
        self.loaded: dict[int, Function | None] = {}
        self.pure: set[str] = set()
        self.of_pair = False  # whether another function's derivative calls what is generated
        self.number_keys = False  # whether keys of dictionaries may be numbers
        self.imports = set(source.imports)

    # --- functions that the text names

    def callee(self, node: ast.expr) -> Function | None:
        """The user's function that a call surely reaches, in core form."""
        if not isinstance(node, ast.Name) or core.is_local(node.id):
            return None
        if node.id in self.functions:
            return self.functions[node.id]
        fn = self.resolver.object(node)
        if (
            not isinstance(fn, types.FunctionType)
            or fn.__closure__
            or self.source.load is None
            or fn.__globals__ is not getattr(self.source.namespace, "globals", None)
            or fn.__name__ != node.id
        ):
            return None
        if id(fn) not in self.loaded:
            self.loaded[id(fn)] = self.load(fn)
        return self.loaded[id(fn)]

    def load(self, fn: types.FunctionType) -> Function | None:
        try:
            function = self.source.load(fn)
        except Refusal:
            return None
        if function is None:
            return None
        single = hoist(Source((function,), self.source.namespace))
        if len(single.functions) > 1:
            return None
        return single.main

    def is_straight(self, f: Function, seen: tuple[str, ...] = ()) -> bool:
        """Whether a function has no loop, no effect and calls nothing but such functions."""
        if asks(f):
            return False  # as it stands in the user's text, arrays would raise nothing in it
        if f.name in seen or any(p.kind not in ("positional", "normal") for p in f.params):
            return False
        for s in core.walk(f.body):
            if not isinstance(s, Assign | If):
                return False
        if Changing(f, self.resolver, lasts=True).reads(f):
            return False  # its backward function, called later, would read something else
        return all(self.is_plain_call(c, (*seen, f.name)) for c in calls(f))

    def is_plain_call(self, node: ast.Call, seen: tuple[str, ...]) -> bool:
        if isinstance(node.func, ast.Name) and node.func.id == "@appended":
            return True
        if is_not_in_place(node) or isinstance(node.func, ast.Name) and node.func.id in SET_ITEM:
            return False  # as it stands in the user's text, it would store into the array itself
        if isinstance(node.func, ast.Attribute) and self.resolver.object(node.func) is None:
            return node.func.attr in (
                "sum",
                "mean",
                "max",
                "min",
                "reshape",
                "astype",
                "copy",
                "dot",
            )
        fn = self.resolver.object(node.func)
        if fn is not None and (rule_of(fn) is not None or fn in (len, range, float, int, abs)):
            return True
        module = getattr(fn, "__module__", None) or ""
        if fn is not None and module.partition(".")[0] in ("numpy", "overt", "math"):
            return True
        inner = self.callee(node.func)
        return inner is not None and self.is_straight(inner, seen)

    # --- functions made from them

    def fresh_global(self, stem: str) -> str:
        stem = stem.lstrip("_")  # two underscores in front mean something in a class
        name, number = stem, 2
        while name in self.functions or name in self.generated or name in self.source.namespace:
            name, number = f"{stem}_{number}", number + 1
        return name

    def bwd(self, f: Function, active: frozenset[str]) -> str:
        """The name of the backward function of a straight one."""
        from overt.rewrites.reverse import build_bwd

        key = ("bwd", f.name, active)
        if key not in self.made:
            made = build_bwd(self, f, active)
            self.made[key] = made.name
            self.pure |= {made.name, f.name}
            self.generated[made.name] = simplify(made, self)
        return self.made[key]

    def pair(self, f: Function, active: frozenset[str]) -> tuple[str, str] | None:
        """Names of a function's forward and backward function; None where it has no such pair."""
        from overt.rewrites.reverse import build_pair

        if any(p.kind not in ("positional", "normal") for p in f.params):
            return None
        key = ("pair", f.name, active)
        if key not in self.made:
            fwd_name, bwd_name = (
                self.fresh_global(f"{f.name}_fwd"),
                self.fresh_global(f"{f.name}_bwd"),
            )
            self.made[key] = f"{fwd_name} {bwd_name}"  # known at once: the function may call itself
            self.generated[fwd_name] = self.generated[bwd_name] = f
            fwd, bwd = build_pair(self, f, active, only_active=True)
            self.generated[fwd_name] = simplify(replace(fwd, name=fwd_name), self)
            self.generated[bwd_name] = simplify(replace(bwd, name=bwd_name), self)
        fwd_name, _, bwd_name = self.made[key].partition(" ")
        return fwd_name, bwd_name

    def handling(self, f: Function) -> Function:
        """The function, calling in their rewritten form those that ask what numbers would raise."""
        table: dict[str, ast.expr] = {}
        for call in calls(f):
            inner = self.callee(call.func)
            if inner is not None and inner.name not in self.functions and self.must_ask(inner):
                key: tuple[str, str, frozenset[str]] = ("handling", inner.name, frozenset())
                if key not in self.made:
                    name = self.made[key] = self.fresh_global(f"{inner.name}_handling")
                    self.generated[name] = inner
                    own = replace(self.handling(inner), name=name)
                    self.generated[name] = simplify(own, self)
                table[inner.name] = core.name(self.made[key])
        return core.map_function(f, core.Renaming(table)) if table else f

    def must_ask(self, f: Function, seen: tuple[str, ...] = ()) -> bool:
        """Whether a function, or one that it calls, asks what numbers would raise."""
        if f.name in seen:
            return False
        inner = [c for call in calls(f) if (c := self.callee(call.func)) is not None]
        return asks(f) or any(self.must_ask(c, (*seen, f.name)) for c in inner)

    # --- the result

    def finished(self, function: Function) -> Source:
        """The source of a generated function, and of all others that it uses."""
        function = self.handling(function)
        self.generated |= {n: self.handling(f) for n, f in [*self.generated.items()]}
        made = {**self.generated, function.name: function}
        safe = self.of_pair or self.selects(made.values())
        chooses = self.of_pair or self.chooses(made.values())
        # what a function that is not called first is given may be anything
        called = self.of_pair or self.is_of_pair()
        nan = any(map(handles_nan, self.functions.values())) or called and self.given_selects
        given = {n: self.given_names(f) if nan else set() for n, f in made.items()}
        risky = {
            n: unbounded_names(f, (), given[n])
            for n, f in made.items()
            if not f.name.endswith("_bwd")
        }
        for n in risky:
            if n.endswith("_fwd"):
                self.unbounded |= set(map(core.base, risky[n]))
        risky |= {
            n: unbounded_names(f, self.unbounded, given[n])
            for n, f in made.items()
            if n not in risky
        }
        done = {
            n: core.map_function(
                answered(
                    simplify(
                        plain_where_finite(f, risky[n], chooses)
                        if safe
                        else core.map_function(f, plain_quotients),
                        self,
                    )
                ),
                spelled,
            )
            for n, f in made.items()
        }
        main = without_empty_parts(done.pop(function.name))
        reached = self.reached(main, done)
        done = {n: f for n, f in done.items() if n in reached}
        done[function.name] = main
        used = set().union(*map(core.globals_of, done.values()))
        helpers: dict[str, Function] = {}
        pending = [n for n in self.functions if n in used and self.functions[n] is not self.main]
        while pending:
            n = pending.pop()
            if n not in helpers:
                helpers[n] = self.functions[n]
                pending += [
                    m
                    for m in core.globals_of(helpers[n])
                    if m in self.functions and m not in helpers
                ]
        ordered = [f for n, f in self.functions.items() if n in helpers]
        if self.main.name in used and len(self.functions) > 1 and self.main.name not in helpers:
            ordered.append(self.main)
        return replace(
            self.source,
            functions=(*ordered, *done.values()),
            imports=frozenset(self.imports),
        )

    def given_names(self, f: Function) -> set[str]:
        """The names of what a function is given or finds outside, cotangents left out."""
        found = {p.name for p in f.params if not core.base(p.name).endswith("_bar")}
        for n in core.globals_of(f):
            held = self.resolver.object(core.name(n))
            if not n.startswith("@") and not callable(held) and type(held) is not types.ModuleType:
                found.add(n)
        return found

    def reached(self, main: Function, made: dict[str, Function]) -> set[str]:
        """The generated functions that one of them calls, directly or not."""
        found: set[str] = set()
        pending = list(core.globals_of(main))
        while pending:
            n = pending.pop()
            if n in made and n not in found:
                found.add(n)
                pending += core.globals_of(made[n])
        return found

    def selects(self, made: Collection[Function]) -> bool:
        """Whether a cotangent may be exactly zero where the derivative is infinite."""
        loaded = [f for f in self.loaded.values() if f]
        if self.given_selects or self.any_selects(loaded) or any(map(has_zeros_of_a_side, made)):
            return True
        return (
            any(
                isinstance(n, ast.Name) and n.id == "@vjp_of"
                for f in self.generated.values()
                for n in core.nodes(f)
            )
            or self.is_of_pair()
        )

    def is_of_pair(self) -> bool:
        """Whether what is differentiated is itself part of another function's derivative."""
        return self.main.name.endswith(("_fwd", "_bwd"))

    @functools.cached_property
    def given_selects(self) -> bool:
        """Whether a value of the functions that are differentiated may be zero by selection."""
        given = list(self.functions.values())
        return self.any_selects(given) or any(map(has_zeros_of_a_side, given))

    def chooses(self, made: Collection[Function]) -> bool:
        """Whether a cotangent may be zero because another value was chosen by a condition."""
        given = [*self.functions.values(), *(f for f in self.loaded.values() if f)]
        if any(self.called_name(c) in CHOOSING for f in given for c in calls(f)):
            return True
        return any(map(has_zeros_of_a_side, [*made, *given]))

    def called_name(self, node: ast.Call) -> str:
        """The name of a function that a call surely reaches."""
        fn = self.resolver.object(node.func)
        rule = rule_of(fn) if fn is not None else None
        return rule.name if rule is not None else getattr(fn, "__name__", "")

    def any_selects(self, functions: Collection[Function]) -> bool:
        """Whether functions call any that selects, or store into arrays."""
        for f in functions:
            for node in core.nodes(f):
                if isinstance(node, ast.Call):
                    fn = self.resolver.object(node.func)
                    name = self.called_name(node)
                    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                    if isinstance(node.func, ast.Name) and node.func.id == "@vjp_of":
                        return True  # what it pulls through may select
                    record = method in ("pushed", "reversed")
                    if name in SELECTING or method and fn is None and not record:
                        return True
                    if isinstance(node.func, ast.Name) and node.func.id in SET_ITEM:
                        return True
                if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                    if core.is_local(node.value.id) and has_slice(node.slice):
                        return True
        return False

    def located(self, refusal: Refusal, function: Function) -> Refusal:
        origin = function.origin
        if refusal.file or not origin.file:
            return refusal
        line = refusal.line or origin.line
        text = ""
        for s in core.walk(function.body):
            if s.origin.line == line:
                text = s.origin.text
                break
        else:
            if function.result_origin.line == line:
                text = function.result_origin.text
        import linecache

        return refusal.located(origin.file, line, text or linecache.getline(origin.file, line))


def without_empty_parts(f: Function) -> Function:
    """No headings where there is no forward sweep to tell apart."""
    notes = [i for i, s in enumerate(f.body) if isinstance(s, core.Note)]
    if len(notes) == 2 and (notes[1] == notes[0] + 1 or notes[1] == len(f.body) - 1):
        return replace(f, body=tuple(s for s in f.body if not isinstance(s, core.Note)))
    return f


def has_slice(index: ast.expr) -> bool:
    """Whether an index may leave items of an array out: `x[:, None]` does not."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if all(isinstance(p, ast.Slice) and ast.unparse(p) == ":" or is_spread(p) for p in parts):
        return False
    return not isinstance(index, ast.Constant)


def is_spread(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value in (None, ...)


def asks(f: Function) -> bool:
    """Whether a function asks if numbers, which arrays stand for, would raise an exception."""
    return any(core.is_call_of(n, "@is_zero", "@lacks", "@raises") for n in core.nodes(f))


def calls(f: Function) -> list[ast.Call]:
    return [n for n in core.nodes(f) if isinstance(n, ast.Call)]


def has_zeros_of_a_side(f: Function) -> bool:
    """Whether a cotangent is zero because the branch that was taken does not read the value."""
    zeros = zero_carries(f)
    for s in core.walk(f.body):
        if isinstance(s, If) and any(map(is_of_an_item, core.walk((*s.then, *s.orelse)))):
            return True

    def untouched(node: ast.expr) -> bool:
        return is_zero(node) or isinstance(node, ast.Name) and node.id in zeros

    return any(
        untouched(m.then) != untouched(m.orelse)
        for s in core.walk(f.body)
        if isinstance(s, If)
        for m in s.merges
        if core.base(m.name).endswith("_bar")
    )


def is_of_an_item(s: core.Stmt) -> bool:
    """Whether a statement makes a cotangent that is zero for all items of a container but one."""
    return isinstance(s, core.Assign) and core.is_call_of(s.value, "@place", "@add_at")


def zero_carries(f: Function) -> set[str]:
    """What loops carry that is zero until an iteration adds to it."""
    found: set[str] = set()
    for s in core.walk(f.body):  # an outer loop before those in it
        if isinstance(s, core.For | core.While):
            for c in s.carries:
                if is_zero(c.init) or isinstance(c.init, ast.Name) and c.init.id in found:
                    found.add(c.name)
    return found


def is_zero(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and node.value in (0, 0.0)
        or core.is_call_of(node, "@zeros_like_tree")
    )


__all__ = ["Program", "For", "While", "With"]
