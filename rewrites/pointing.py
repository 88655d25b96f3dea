"""Pointing: which objects the names of a function may stand for, and what those may hold.

    o = Box(a)          `o` is a new object, which holds what `a` stands for
    b = o.item          `b` may be that
    r = f(b)            nothing is known of `f`: `r` may be that, too, or may hold it

All statements count, in any order, so that the answer is never too small where the text tells
enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from overt.rewrites import core
from overt.rewrites.callees import METHODS
from overt.rewrites.calling import Calls
from overt.rewrites.core import Assign, Block, Define, Do, For, Function, If, While, With, is_local
from overt.rewrites.sharing import VIEWS, has_slice, is_list, picks_copies
from overt.rewrites.sites import (
    ITEM,
    ITEMS,
    MAYBE,
    NOTHING,
    PART,
    Known,
    Ref,
    Refs,
    Summary,
    is_attribute_of_given,
    is_given,
)  # fmt: skip

# Attributes of arrays that give numbers.
NUMBERS = frozenset("shape size ndim dtype itemsize nbytes at".split())


class Pointing(Calls):
    """One function: `points` of its names, `held` of the objects, and which `changed`."""

    def __init__(self, body: Block, known: Known, foreign: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.known, self.foreign = known, foreign
        self.assigned = core.assigned(body)
        self.reads: dict[int, ast.Attribute] = {}  # of what is stored; nodes are told apart
        while self.grown:
            self.grown, self.now = False, 0
            self.block(body)

    # --- statements

    def block(self, block: Block) -> None:
        for s in block:
            self.now += not self.loops
            self.times[id(s)] = self.now
            if isinstance(s, Assign):
                value = self.of(s.value)
                if s.in_place and isinstance(s.value, ast.BinOp):
                    value |= self.of(s.value.left)
                    self.change(self.of(s.value.left), False)
                parts = self.parts.get(id(s.value), [])
                if isinstance(s.value, ast.Tuple):
                    parts = list(map(self.of, s.value.elts))
                if not isinstance(s.target, str) and len(parts) == len(s.target) and parts:
                    if "*" not in {t[0] for t in s.target if not isinstance(t, str)}:
                        for t, refs in zip(s.target, parts, strict=True):
                            self.bind(t, refs)
                        continue
                self.bind(s.target, value, popped=core.is_call_of(s.value, "@popped"))
            elif isinstance(s, Do):
                self.do(s.node)
            elif isinstance(s, If):
                self.of(s.test)
                self.block(s.then)
                self.block(s.orelse)
                for m in s.merges:
                    self.give(m.name, self.of(m.then) | self.of(m.orelse))
            elif isinstance(s, For | While):
                if isinstance(s, For):
                    self.bind(s.target, self.items(self.of(s.items)))
                for c in s.carries:
                    self.give(c.name, self.of(c.init) | self.of(c.next))
                    self.give(c.out, self.of(core.name(c.name)))
                self.loops += 1
                self.block(s.body)
                self.loops -= 1
            elif isinstance(s, With):
                for item in s.items:
                    entered = self.of(item.context_expr)
                    for method in ("__enter__", "__exit__"):
                        if self.known.callees(called := method_of(item, method)):
                            entered |= self.of(called)
                    if isinstance(item.optional_vars, ast.Name):
                        self.give(item.optional_vars.id, entered)
                self.block(s.body)
            elif isinstance(s, Define):
                free = self.all(core.name(n) for n in core.free_of_function(s.function))
                self.functions[s.name] = s.function, None
                self.give(s.name, self.container(s.name, free))

    def do(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            value = self.of(node.value)
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    for ref in self.of(target.value):
                        self.hold(ref.site, target.attr, value)
                    if getattr(node.value, "changes_item", False):
                        old = ast.Attribute(target.value, target.attr, ast.Load())
                        self.change(self.of(self.reads.setdefault(id(target), old)), False)
                elif isinstance(target, ast.Subscript):
                    holder = self.of(target.value)
                    if not stands_for(target.value, self.foreign) and is_local(root_of(target)):
                        self.change(holder)
                    if getattr(node.value, "changes_item", False):
                        self.change(self.items(holder), False)
                    for ref in holder:
                        self.hold(ref.site, ITEMS, value)
                        self.store(ref.site, value, id(node))
            return
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.of(part)

    def bind(self, target: core.Pattern, refs: Refs, popped: bool = False) -> None:
        if isinstance(target, str):
            self.give(target, refs)
        elif popped:
            self.bind(target[0], self.items(refs))
            self.bind(target[1], refs)
        elif target and target[0] == "*":
            self.bind(target[1], self.container(("rest", str(target)), refs))
        else:
            starred = any(not isinstance(t, str) and t[:1] == ("*",) for t in target)
            for i, t in enumerate(target):
                self.bind(t, self.items(refs) if starred else self.item(refs, i))

    # --- expressions

    def all(self, nodes: Iterable[ast.expr | None]) -> Refs:
        return NOTHING.union(*(self.of(n) for n in nodes if n is not None))

    def of(self, node: ast.expr | None) -> Refs:
        if isinstance(node, ast.Name):
            if node.id in self.points:
                return self.points[node.id]
            if not is_local(node.id):
                return self.global_functions(node) or self.global_data(node.id)
            if node.id in self.assigned:
                return NOTHING
            self.given.add(node.id)
            return frozenset([Ref(("given", node.id))])
        if isinstance(node, ast.Constant) or node is None:
            return NOTHING
        if isinstance(node, ast.Attribute):
            held = self.of(node.value)
            if node.attr in VIEWS:
                return frozenset(Ref(r.site, max(PART, r.view)) for r in held)
            if node.attr in NUMBERS:
                return NOTHING
            if node.attr == "__dict__":
                return held
            if node.attr in ("sort", "fill"):  # of an array, as a value
                self.changers["changer", id(node)] = held
                held |= {Ref(("changer", id(node)))}
            found = NOTHING.union(*(self.inner(r.site, node.attr) for r in held))
            if held and node.attr in METHODS and id(node) not in self.called:
                found |= self.container(id(node), held)  # a method with its object
            changers = frozenset(r for r in held if r.site in self.changers)
            return found | changers | self.methods(node, held - changers)
        if isinstance(node, ast.Subscript):
            held = self.of(node.value)
            self.of(node.slice)
            if picks_copies(node.slice):
                return NOTHING
            if not has_slice(node.slice):
                index = getattr(node.slice, "value", None)
                return self.item(held, index) if type(index) is int else self.items(held)
            inner = frozenset(r for r in self.items(held) if r.view != ITEM)
            self.twin_as(id(node), held)
            parts = frozenset(
                Ref(r.site, max(PART, r.view)) for r in held if r.site not in self.containers
            )
            return self.container(id(node), inner) | parts
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return self.display(node, node.elts)
        if isinstance(node, ast.Dict):
            return self.display(node, node.values)
        if isinstance(node, ast.Starred):
            return self.items(self.of(node.value))
        if isinstance(node, ast.IfExp):
            self.of(node.test)
            return self.of(node.body) | self.of(node.orelse)
        if isinstance(node, ast.BoolOp):
            return self.all(node.values)
        if isinstance(node, ast.BinOp):
            sides = self.of(node.left), self.of(node.right)
            ours = any(refs and {r.site for r in refs} <= self.containers for refs in sides)
            listed = ours or is_list(node.left) or is_list(node.right)
            if listed and isinstance(node.op, ast.Add | ast.Mult | ast.BitOr):
                halves = [self.items(side) for side in sides]
                self.twin_as(id(node), sides[0] | sides[1])
                if isinstance(node.op, ast.Mult):
                    halves *= 2
                return self.container(id(node), halves[0] | halves[1], ITEMS, *halves)
            return self.new(id(node))
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            return self.comprehension(node)
        if isinstance(node, ast.Lambda):
            free = [core.name(n) for n in core.reads(node)]
            if id(node) not in self.functions:
                self.functions[id(node)] = function_of(node), None
            return self.container(id(node), self.all(free))
        if isinstance(node, ast.Call):
            return self.call(node)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.of(part)
        return NOTHING

    def comprehension(self, node: Any) -> Refs:
        for part in node.generators:
            items = self.items(self.of(part.iter))
            for n in ast.walk(part.target):
                if isinstance(n, ast.Name):
                    self.bound.add(n.id)
                    self.give(n.id, items if n is part.target else items | self.items(items))
        value = node.value if isinstance(node, ast.DictComp) else node.elt
        self.loops += 1
        found = self.of(value)
        self.loops -= 1
        own = {n.id for part in node.generators for n in ast.walk(part.target)
               if isinstance(n, ast.Name)}  # fmt: skip
        around = self.reach(self.all(core.name(n) for n in core.reads(value) - own))
        if any(r.site in around and r.site not in self.repeated for r in found):
            self.twin(id(node))
        self.twin_as(id(node), self.all(part.iter for part in node.generators))
        return self.container(id(node), found)

    def display(self, node: ast.expr, parts: list[ast.expr]) -> Refs:
        for part in parts:
            if isinstance(part, ast.Starred):
                self.twin_as(id(node), self.of(part.value))
        held = [self.of(part) for part in parts]
        if isinstance(node, ast.Tuple) and not any(isinstance(p, ast.Starred) for p in parts):
            self.container(id(node), NOTHING, ITEMS, *held)
            for i, refs in enumerate(held):
                self.container(id(node), refs, str(i))
            return frozenset([Ref(id(node))])
        return self.container(id(node), NOTHING.union(*held), ITEMS, *held)


def method_of(item: ast.withitem, name: str) -> ast.Call:
    """The call of a context manager's method that a `with` makes; always the same node."""
    calls = item.__dict__.setdefault("calls", {})
    if name not in calls:
        calls[name] = ast.Call(ast.Attribute(item.context_expr, name, ast.Load()), [], [])
    return calls[name]


def function_of(node: ast.Lambda) -> Function:
    """A lambda that stands inside an expression, with names of its own."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    own = {n: f"{n}{core.SEPARATOR}lambda" for n in names}
    body = core.substitute(node.body, {n: core.name(m) for n, m in own.items()})
    return Function("lambda", tuple(core.Param(own[n]) for n in names), (), body)


def summary_of(function: Function, known: Known) -> Summary:
    """What a call of a function gives, keeps and changes."""
    work = Pointing(function.body, known, function.foreign)
    work.grown = True
    result: Refs = NOTHING
    while work.grown:
        work.grown = False
        result = work.of(function.result)
        work.block(function.body)
    changers, calls = changers_in(work), list(work.calls.values())
    seen = [*result, *(Ref(site) for site in work.held if is_given(site))]
    seen += [r for refs in changers.values() for r in refs]
    seen += [r for call in calls for refs in (frozenset([call.callee]), *call.args) for r in refs]
    outside = work.reach(seen)  # what the caller may see
    held = {
        (site, place): refs
        for site, places in work.held.items()
        if site in outside
        for place, refs in places.items()
        if refs - {Ref(("inside", site, place))}
    }
    changed: dict[Ref, bool] = {}
    for change, surely in work.changed.items():
        if is_given(change.ref.site) and change.ref.view != MAYBE:
            if core.base(given_name(change.ref.site)) in function.foreign:
                if is_attribute_of_given(change.ref.site):  # unless it is an array
                    changed.setdefault(change.ref, False)
                continue  # it is changed where it stands
            changed[change.ref] = surely or changed.get(change.ref, False)
    twins = frozenset(work.twins & outside.keys())
    changers = {site: refs for site, refs in changers.items() if site in outside}
    parts = function.result.elts if isinstance(function.result, ast.Tuple) else ()
    each = tuple(map(work.of, parts))
    return Summary(result, held, changed, calls, twins, changers, function.params, each)


def changers_in(work: Pointing) -> dict[Any, Refs]:
    """The nested functions that change what they see around them, and what that is."""
    found = dict(work.changers)
    for site, (function, _) in work.functions.items():
        own = {p.name for p in function.params}
        for r in work.known.summary(function).changed:
            root = r.site
            while root[0] == "inside":
                root = root[1]
            if root[1] not in own and is_local(root[1]):
                held = work.of(core.name(root[1]))
                inner = frozenset(work.reach(work.items(held))) if root != r.site else ()
                refs = held if root == r.site else frozenset(map(Ref, inner))
                found[site] = found.get(site, NOTHING) | refs
    return found


def stands_for(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is one of these names or a part of it."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and core.base(node.id) in names


def root_of(node: ast.expr) -> str:
    """The name that a place is, or is a part of; "" for none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def given_name(site: Any) -> str:
    """The parameter that an object is, or is held by."""
    while site[0] != "given":
        site = site[1]
    return site[1]
