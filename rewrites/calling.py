"""Calling: what calls give back, what they keep of their arguments, and what they change."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Function
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import CHANGING
from overt.rewrites.sharing import ARRAY_MAKERS, is_store
from overt.rewrites.sites import (
    CHANGES,
    COPYING,
    DEEP,
    DERIVING,
    FRESH,
    HOLDING,
    ITEMS,
    MAKING,
    MAYBE,
    NOTHING,
    PART,
    PASSING,
    VIEWING,
    Call,
    Change,
    Known,
    Objects,
    Ref,
    Refs,
    Summary,
    is_given,
    is_made,
)  # fmt: skip
from overt.runtime.containers import OPERATORS

# Iterators that give one object several times.
REPEATING = frozenset("repeat cycle tee product combinations_with_replacement".split())

PER_STEP = 32  # how many references take as long as an object


class Calls(Objects):
    """The part of `Pointing` that looks at calls."""

    known: Known

    def of(self, node: ast.expr | None) -> Refs:
        raise NotImplementedError

    def call(self, node: ast.Call) -> Refs:
        self.called.add(id(node.func))
        args = [self.of(a) for a in node.args]
        named = {k.arg or "": self.of(k.value) for k in node.keywords}
        every = NOTHING.union(*args, *named.values())
        if any(isinstance(a, ast.Starred) for a in node.args):
            args = [*args, *[every] * 6]
        if is_store(node):
            return self.stored(node, args)
        if core.is_call_of(node, "@in_place", "@change_there"):
            self.change(args[0], False)
            self.by_method(node, args[0])
            return args[0]
        if core.is_call_of(node, "@changed_too"):
            return every
        kind = self.known.kind(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            for r in self.of(node.func.value):
                inner = frozenset(r for r in self.items(every) if not r.view)
                self.hold(r.site, ITEMS, every | inner)
                self.store(r.site, every | inner, id(node))
        if kind == DERIVING:
            self.derivatives.add(id(node))
        if kind in (FRESH, DERIVING):
            if getattr(node.func, "attr", "") in ARRAY_MAKERS:
                self.arrays.add(id(node))
            return self.new(id(node))
        f = node.func
        receiver = self.of(f.value) if isinstance(f, ast.Attribute) else NOTHING
        if kind == VIEWING:
            return frozenset(Ref(r.site, max(PART, r.view)) for r in receiver or every)
        if kind == HOLDING:
            inner = self.items(NOTHING.union(*args))
            self.twin_as(id(node), NOTHING.union(*args))
            held = inner.union(self.items(inner), *named.values())
            return self.container(id(node), held, ITEMS, inner, *named.values())
        if kind == COPYING:  # of an array nothing
            held = frozenset(r for r in self.items(receiver | every) if not r.view)
            self.hold(id(node), ITEMS, held)
            self.twin_as(id(node), receiver | every)
            return frozenset([Ref(id(node))])
        if kind == CHANGES:
            self.change(args[0] if args else NOTHING, False)
        if kind == PASSING and getattr(f, "attr", "") == "fromkeys":
            self.twin(id(node))
            return self.container(id(node), NOTHING.union(*args[1:], *named.values()))
        if kind in (PASSING, CHANGES):
            if getattr(f, "attr", getattr(f, "id", "")) in REPEATING:
                self.twin(id(node))
            held = receiver | every
            if any(map(self.changes, node.args)):  # `reduce(operator.iadd, xs)`
                self.change(held | self.items(held), False)
            self.twin_as(id(node), held)
            inner = self.items(held)
            for r in held:  # `map(f, xs)`, `sorted(xs, key=f)`
                inner |= self.invoke(Call(r, (self.items(held - {r}),) * 3), id(node))
            if isinstance(f, ast.Name) and f.id in ("max", "min", "sorted"):
                # Chosen by data, where the running code makes a new array of all.
                inner = frozenset(r._replace(view=max(r.view, PART)) for r in inner)
                return inner | self.container(id(node), inner)
            return held | inner | self.container(id(node), held | inner)
        functions = self.known.callees(node)
        self.parts.pop(id(node), None)
        if kind == MAKING:
            return self.made(node, functions, args, named)
        if not functions:
            callees = self.of(f)
            if callees and {r.site for r in callees} <= self.derivatives:
                return self.new(id(node))
            found = NOTHING
            for r in callees:
                found |= self.invoke(Call(r, (*args, *named.values())), id(node))
            held = receiver | every | callees
            held |= frozenset(r for r in self.items(held) if not r.view)
            maybe = frozenset(r._replace(view=MAYBE) for r in held)
            return found | maybe | self.container(id(node), held)
        found = NOTHING
        for function, first in functions:
            given = [receiver, *args] if first else args
            found |= self.applied(id(node), self.known.summary(function), given, named)
        if len(functions) > 1:
            self.parts.pop(id(node), None)
        return found

    def changes(self, node: ast.expr) -> bool:
        """Whether an argument is a library's function that changes what it is given."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        return self.known.kind(ast.Call(node, [], [])) == CHANGES

    def global_functions(self, node: ast.expr) -> Refs:
        """The functions that a name of the module stands for, or that a table there holds."""
        found = set()
        for function, _ in self.known.functions(node):
            site = "function", id(function)
            self.functions[site] = function, None
            self.containers.add(site)
            table = "table", ast.dump(node)
            self.container(table, frozenset([Ref(site)]))
            found |= {Ref(site), Ref(table)}
        return frozenset(found)

    def global_data(self, name: str) -> Refs:
        """The object that a variable of the module stands for."""
        kind, site = self.known.data(name), ("given", name)
        if kind == "container":
            self.containers.add(site)
        return frozenset([Ref(site)]) if kind else NOTHING

    def methods(self, node: ast.Attribute, holder: Refs) -> Refs:
        """`o.step` as a value: the methods that it may be, bound to what `o` may be."""
        found: set[Ref] = set()
        for i, (function, first) in enumerate(self.known.functions(node)):
            site = "method", id(node), i
            self.functions[site] = function, holder if first else None
            found |= self.container(site, holder)
        return frozenset(found)

    def invoke(self, call: Call, at: Any) -> Refs:
        """A call of an object: a function, a method, a `partial`, what a parameter brings."""
        site = call.callee.site
        if site in self.running:
            return NOTHING
        if site in self.changers:
            self.change(self.changers[site], False)
        if is_given(site):
            key = at, call.callee
            args = zip_longest(call.args, self.calls.get(key, call).args, fillvalue=NOTHING)
            merged = call._replace(args=tuple(a | b for a, b in args))
            if self.calls.get(key) != merged:
                self.calls[key] = merged
                self.grown = True
            return NOTHING
        if site in self.functions:
            function, first = self.functions[site]
            args_ = list(call.args if first is None else (first, *call.args))
            self.running.add(site)
            given = self.applied(site, self.known.summary(function), args_, {})
            self.running.discard(site)
            return given
        found: Refs = NOTHING
        if site in self.partials:  # the order of what is bound does not count
            bound = self.inner(site, ITEMS)
            every = bound.union(*call.args)
            for r in bound:
                if r.site in self.functions:
                    found |= self.invoke(Call(r, (every,) * 6), at)
        return found

    def stored(self, node: ast.Call, args: list[Refs]) -> Refs:
        """The same object, changed."""
        nested = len(node.args) > 2 and is_store(node.args[2])
        if not nested:
            self.change(args[0])
        if getattr(node, "changes_item", False):
            self.change((r for r in self.items(args[0]) if not r.view), False)
        grows = core.is_call_of(node, "@appended", "@changed")
        kept = NOTHING.union(*args[1 if grows else 2 :])
        functions = self.by_method(node, args[0])
        if not functions and (grows or not any(map(is_of_array, node.args[1:2]))):
            for r in args[0]:
                self.hold(r.site, ITEMS, kept)
                again = nested or core.is_call_of(node, "@stored_back")  # it is there already
                if not again and not getattr(node, "changes_item", False):
                    self.store(r.site, kept, id(node))
        return args[0]

    def by_method(self, node: ast.Call, holder: Refs) -> list[tuple[Function, int]]:
        """The methods of a user's object that a store or an operator may be; what they do."""
        method = method_called(node)
        functions = self.known.callees(method) if method is not None else []
        for function, first in functions:
            given = [self.of(a) for a in method.args]  # type: ignore[union-attr]
            given = [holder, *given] if first else given
            self.applied(id(node), self.known.summary(function), given, {})
        return functions

    def made(
        self, node: ast.Call, functions: list[tuple[Function, int]], args: list[Refs],
        named: dict[str, Refs],
    ) -> Refs:  # fmt: skip
        """A new object of a class: what its `__init__` says, else it holds all that it is given."""
        new = frozenset([Ref(id(node))])
        if self.loops:
            self.repeated.add(id(node))
        for function, _ in functions:
            self.applied(id(node), self.known.summary(function), [new, *args], named)
        if not functions:
            held = NOTHING.union(*args)
            inner = frozenset(r for r in self.items(held) if not r.view)
            self.container(id(node), held | inner)
            self.partials.add(id(node))
            for name, refs in named.items():
                self.hold(id(node), name, refs)
                self.hold(id(node), ITEMS, refs)
            if getattr(node.func, "attr", getattr(node.func, "id", "")) == "defaultdict":
                made = "made", id(node)  # what its factory gives
                self.repeated.add(made)
                self.hold(id(node), ITEMS, self.container(made, NOTHING))
        return new

    def applied(self, at: Any, summary: Summary, args: list[Refs], named: dict[str, Refs]) -> Refs:
        """What a call of a known function gives; its changes are noted."""
        plain = [p.name for p in summary.params if p.kind in ("positional", "normal")]
        given = dict(zip(plain, args, strict=False))
        named = dict(named)
        for p in summary.params:
            if core.base(p.name) in named:
                given[p.name] = named.pop(core.base(p.name))
        others = self.items(named.pop("", NOTHING))  # `**options`
        given |= {p.name: others for p in summary.params if p.name not in given}
        rest = NOTHING.union(*args[len(plain) :]), NOTHING.union(*named.values())
        for p in summary.params:
            if "star" in p.kind:
                new = ("rest", at, p.name)
                given[p.name] = self.container(new, rest["double" in p.kind])
        made = (at, id(summary))
        known: dict[Any, Refs] = {}

        def sites(site: Any) -> Refs:
            if site not in known:
                known[site] = found_for(site)
            return known[site]

        def found_for(site: Any) -> Refs:
            self.spend(1)
            if isinstance(site, tuple) and site[0] == "given":
                return given[site[1]] if site[1] in given else self.of(core.name(site[1]))
            if isinstance(site, tuple) and site[0] == "inside":
                found: Refs = NOTHING
                for r in sites(site[1]):
                    found |= self.items(frozenset([r])) if not site[2] else self.inner(
                        r.site, site[2])  # fmt: skip
                return found
            deep = is_made(site) and is_made(site[1])  # calls in calls in calls: all one object
            return frozenset([Ref((made, DEEP) if deep else (made, site))])

        def mapped(refs: Iterable[Ref]) -> Refs:
            found = [Ref(new.site, max(new.view, r.view)) for r in refs for new in sites(r.site)]
            self.spend(len(found) // PER_STEP)
            return frozenset(found)

        for (site, place), refs in list(summary.held.items()):
            for r in sites(site):
                if not is_given(site):
                    self.containers.add(r.site)
                    if self.loops:
                        self.repeated.add(r.site)
                self.hold(r.site, place, mapped(refs))
                if site in summary.twins:
                    self.twin(r.site)
        for site, refs in summary.changers.items():
            for r in sites(site):
                self.changers[r.site] = mapped(refs)
        for r, surely in list(summary.changed.items()):
            owner, owners = r.site, NOTHING
            while owner[0] == "inside" and not owner[2]:
                owner = owner[1]
            if owner[0] == "inside":
                owners = sites(owner[1])
            self.change(mapped([r]), surely, frozenset(o.site for o in owners))
        for key, call in enumerate(summary.calls):
            inner = tuple(map(mapped, call.args))
            for r in mapped([call.callee]):
                self.invoke(Call(r, inner), (at, key))
        if summary.parts:
            self.parts[at] = list(map(mapped, summary.parts))
        return mapped(summary.result)

    def spend(self, steps: int) -> None:
        """Count what has been looked at.

        Errors: Refusal where that is so much that the analysis would take minutes.
        """
        self.known.steps[0] -= steps
        if self.known.steps[0] < 0:
            raise Refusal(
                "the functions that this one calls share more objects than can be followed",
                "Transform parts of it.",
            )

    def changes_of(self, call: ast.Call) -> dict[Change, bool]:
        """What a call changes."""
        before, self.changed = self.changed, {}
        self.call(call)
        found, self.changed = self.changed, before
        return found


def method_called(node: ast.expr) -> ast.Call | None:
    """The call that a store, an operator or `changed(o, "add", v)` is if `o` has such a method."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    holder, *args = node.args
    if core.is_call_of(node, "@changed", "@popped", "@in_place"):
        method, *args = args
        if not isinstance(method, ast.Constant):
            return None
        name = str(method.value)
        name = OPERATORS[name][0] if name in OPERATORS else name
    elif core.is_call_of(node, "@appended", "@set_item"):
        name = "append" if core.is_call_of(node, "@appended") else "__setitem__"
    else:
        return None
    call = ast.Call(ast.Attribute(holder, name, ast.Load()), args, [])
    if not core.is_call_of(node, "@changed", "@popped"):
        call.alike = True  # type: ignore[attr-defined]  # mostly of lists and arrays
    return call


def is_of_array(index: ast.expr) -> bool:
    """Whether an index, as an argument, surely is one of an array, which copies what it is given.

    Or a slice of a list, which copies, too.
    """
    return isinstance(index, ast.Tuple | ast.Subscript)
