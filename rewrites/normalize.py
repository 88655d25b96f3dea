"""Normalize: a function's syntax tree to core form, all desugaring done once.

x[i] += v                  x·1 = set_item(x·0, i·0, x·0[i·0] + v·0)
if (n := f(x)) > 0:   ->   n·0 = f(x·1); if n·0 > 0:
"""

from __future__ import annotations

import ast
from typing import Any

from overt.rewrites import core, exits
from overt.rewrites.added_items import with_added_items
from overt.rewrites.attempts import attempts_to_blocks, caught_by
from overt.rewrites.branching import Flows, version
from overt.rewrites.building import Text
from overt.rewrites.chosen_receivers import choices_outside
from overt.rewrites.conditions import loops_that_ask_inside
from overt.rewrites.core import Names
from overt.rewrites.ended_by_data import ended_by_data
from overt.rewrites.endless import without_endless
from overt.rewrites.foreign import (
    foreign_names,
    held_outside,
    lists_spread,
    run_over_outside,
    taken_from_globals,
    with_checks_of_arrays,
)
from overt.rewrites.generators import listed
from overt.rewrites.interleaved import keep_interleaved
from overt.rewrites.iterated_arrays import iterators_as_arrays
from overt.rewrites.iterators import iterators_as_lists
from overt.rewrites.kept_in_order import lists_kept_in_order
from overt.rewrites.kept_whole import is_kept, shared_with_kept
from overt.rewrites.late_reads import refuse_late_reads
from overt.rewrites.lengthened import lengthened_as_while
from overt.rewrites.managers import Managers
from overt.rewrites.nonlocals import shared_by_argument
from overt.rewrites.operated import shared_when_operated
from overt.rewrites.outputs import outputs_returned
from overt.rewrites.patterns import match_to_branches
from overt.rewrites.pushes import pushes_as_values
from overt.rewrites.read_by_index import read_by_index
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import Renamed, Scope, changed_names, locals_of, parameters
from overt.rewrites.shared_defaults import Default, shared_defaults
from overt.rewrites.stores_as_calls import calls_as_stores
from overt.rewrites.storing import names_of_arrays, names_of_numbers
from overt.rewrites.tail_calls import tail_calls_as_loop
from overt.rewrites.truth_values import truths_counted
from overt.rewrites.views import assigned_names, written_through


def normalize(node: ast.FunctionDef | ast.Lambda, text: Text) -> core.Function:
    """The function in core form; the tree itself is left as it is, to be read again."""
    node = pushes_as_values(copied(node), text.is_saved)
    if isinstance(node, ast.FunctionDef):
        for function in [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef)]:
            keep_interleaved(function, text.generator, text.methods)
        node = without_endless(node, text.generator, text.known)
        node = ended_by_data(node, text.generator, text.known)
    return truths_counted(Builder(Names(), text).function(node, {}, text.default), text.object)


def copied(node: Any) -> Any:
    """A tree of its own, with all that is noted on its nodes."""
    if isinstance(node, list):
        return [copied(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    new = type(node).__new__(type(node))  # fields follow: Python 3.13 wants them in a call
    for key, value in vars(node).items():
        setattr(new, key, copied(value))
    return new


class Builder(Flows):
    """Builds one function (and those nested in it)."""

    around: Builder | None = None  # what builds the function around this one

    # --- functions

    def function(
        self, node: ast.FunctionDef | ast.Lambda, outer: dict[str, str], live: Default | None = None
    ) -> core.Function:
        """`live` gives the default values of a function that is not nested in another."""
        a = node.args
        if isinstance(node, ast.FunctionDef):
            node = tail_calls_as_loop(node, self.text.object, bool(outer))
            node = with_added_items(node, self.text.known)
            taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            node = listed(node, taken)
            refuse_late_reads(node, self.text.known)
            node = iterators_as_lists(node, self.text.known, self.text.generator, taken)
            given: frozenset[str] = getattr(node, "outside", frozenset())
            shared = shared_defaults(node, live) | given
            local = locals_of(node)
            outside = held_outside(node, local, self.text)
            lists_spread(node.body, local, outside.found | given)
            sure, unsure, held = foreign_names(node, local, self.text, shared, outside)
            self.run_over = run_over_outside(node, local, outside)
            self.found_outside = shared_when_operated(node.body, local, self.text.object)
            self.foreign |= sure | given
            self.unsure |= unsure - given
            node, stays = shared_by_argument(node, self.foreign)
            scope = Scope(node)
            scope.cells |= stays | shared_with_kept(node)
        else:
            scope = Scope(node)
            self.foreign |= shared_defaults(node, live)
        self.cells = scope.cells | scope.outer
        self.numbers = names_of_numbers(node) - self.cells
        self.arrays = names_of_arrays(node, self.text.object) - self.cells - set(outer)
        without_default = len(a.posonlyargs) + len(a.args) - len(a.defaults)
        defaults: list[ast.expr | None] = [*[None] * without_default, *a.defaults]
        kinds = [(p, "positional") for p in a.posonlyargs] + [(p, "normal") for p in a.args]
        self.env = dict(outer)
        self.outer = outer
        around = self.around or self
        shown, shown_keywords = (
            [None if d is None else around.expr(d) for d in given]
            for given in (defaults, a.kw_defaults)
        )
        for gone in scope.assigned | scope.outer:
            self.env.pop(gone, None)
        self.enclosing -= scope.outer
        self.local = scope.assigned | {p.arg for p, _ in kinds}
        params = []

        self.first = kinds[0][0].arg if kinds else ""  # the parameter that `super()` stands for

        def add(p: ast.arg, kind: str, default: ast.expr | None) -> None:
            self.local.add(p.arg)
            params.append(core.Param(self.bind(p.arg), kind, default))

        for (p, kind), default in zip(kinds, shown, strict=True):
            add(p, kind, default)
        if a.vararg:
            add(a.vararg, "star", None)
        for p, default in zip(a.kwonlyargs, shown_keywords, strict=True):
            add(p, "keyword", default)
        if a.kwarg:
            add(a.kwarg, "double star", None)
        if isinstance(node, ast.Lambda):
            body: list[ast.stmt] = []
            value, doc = node.body, ""
            read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            name = "function" if "function" not in read else "the_function"
        else:
            name = node.name
            body, doc = without_doc(node.body)
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            names |= self.local
            body = with_checks_of_arrays(body, local, self.foreign, held)
            body = [choices_outside(s) for s in body]
            body = iterators_as_arrays(body, self.text.object)
            own = self.own(body, scope) - self.foreign
            body = calls_as_stores(body, own, self.text.object, self.text.has_method)
            body = lists_kept_in_order(body, own, names, self.text.object)
            own = self.own(body, scope) - self.foreign
            variants = getattr(node, "variants", {})
            definition = self.text.definition
            others = self.foreign | taken_from_globals(body, local, self.unsure)
            body = outputs_returned(
                body, own, names, definition, others, variants, self.text.object,
                held.outside, getattr(node, "in_place", {}),
            )  # fmt: skip
            own = self.own(body, scope) - self.foreign
            body = lengthened_as_while(body, own, names)
            own = self.own(body, scope) - self.foreign
            body = read_by_index(body, own, names)
            own = self.own(body, scope) - self.foreign
            body = written_through(body, own, names, definition, self.text.is_computed)
            self.local |= self.own(body, scope)
            taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | self.local
            last, known = body[-1] if body else None, set(taken)
            fixed = parameters(node) | self.enclosing | self.cells
            managers = Managers(self.text.object, self.text.definition, self.text.methods)
            body = [loops_that_ask_inside(match_to_branches(s, self.text.object)) for s in body]
            body = attempts_to_blocks(body, fixed, taken, managers)
            body, value = exits.single_exit(body, taken)
            self.local |= taken - known
            self.made |= taken - known
            if isinstance(last, ast.Return):
                value.lineno = last.lineno
        self.block(body)
        if getattr(value, "lineno", 0):
            self.origin = self.text.origin(value.lineno)
        result = self.expr(value)
        return core.Function(
            name,
            tuple(params),
            tuple(self.out),
            result,
            doc,
            isinstance(node, ast.Lambda),
            self.text.origin(node.lineno),
            self.origin,
            frozenset(self.cells),
            made=frozenset(self.made),
            foreign=frozenset(self.foreign),
        )

    def own(self, body: list[ast.stmt], scope: Scope) -> set[str]:
        """The names that statements set and nested functions do not share."""
        found = {n for s in body for n in assigned_names(s)}
        return (self.local | found) - self.cells - scope.outer

    def nested(self, node: ast.FunctionDef | ast.Lambda) -> core.Function:
        inner = Builder(self.names, self.text)
        inner.around = self
        inner.enclosing = self.enclosing | (self.local - self.cells)
        inner.foreign = set(self.foreign)
        if self.itself in parameters(node):
            inner.itself = ""
        return inner.function(node, self.env)

    # --- statements

    def do_Pass(self, s: ast.Pass) -> None:
        pass

    def do_Global(self, s: ast.Global) -> None:
        self.emit(core.Do(s, self.origin))

    do_Nonlocal = do_Global

    def do_Expr(self, s: ast.Expr) -> None:
        if isinstance(s.value, ast.Constant):
            return
        self.unused = s.value
        value = self.expr(s.value)
        if isinstance(value, ast.Name) and value.id.startswith("ignored"):
            return  # the value of a changing method, hoisted
        self.emit(core.Do(ast.Expr(value), self.origin))

    def do_Assert(self, s: ast.Assert) -> None:
        message = self.expr(s.msg) if s.msg else None
        self.emit(core.Do(ast.Assert(self.expr(s.test), message), self.origin))

    def do_Raise(self, s: ast.Raise) -> None:
        cause = self.expr(s.cause) if s.cause else None
        self.emit(core.Do(ast.Raise(self.expr(s.exc) if s.exc else None, cause), self.origin))

    def do_Import(self, s: ast.Import | ast.ImportFrom) -> None:
        for alias in s.names:
            shown = alias.asname or alias.name.partition(".")[0]
            self.cells.add(shown)
        self.emit(core.Do(s, self.origin))

    do_ImportFrom = do_Import

    def do_With(self, s: ast.With) -> None:
        items = []
        for item in s.items:
            manager = self.expr(item.context_expr)
            target = None
            if item.optional_vars is not None:
                if not isinstance(item.optional_vars, ast.Name):
                    raise Refusal("`with ... as` takes one name here", node=s)
                target = core.name(self.bind(item.optional_vars.id))
            items.append(ast.withitem(manager, target))
        origin = self.origin
        before = dict(self.env)
        self.emit(core.With(tuple(items), self.inner(s.body), origin))
        error = caught_by(s)
        if error is not None:  # after an exception names have the values from before
            test = self.expr(ast.Name(error, ast.Load()))
            changed = [n for n, v in self.env.items() if before.get(n) != v and n != error]
            undone = [(n, version(before.get(n)), version(self.env[n])) for n in changed]
            merges = tuple(core.Merge(self.bind(n), old, new) for n, old, new in undone)
            self.emit(core.If(test, (), (), merges, origin))

    def do_FunctionDef(self, s: ast.FunctionDef) -> None:
        if is_kept(s):
            self.do_ClassDef(s)
            return
        decorators = [self.expr(d) for d in s.decorator_list if not is_wraps(d)]
        self.define(s.name, s)
        for decorator in reversed(decorators):
            plain = self.expr(ast.Name(s.name, ast.Load()))
            self.assign(self.bind(s.name), ast.Call(decorator, [plain], []))

    def do_ClassDef(self, s: ast.ClassDef | ast.FunctionDef) -> None:
        """What is kept as it is shares the variables that it takes from around it."""
        self.emit(core.Do(s, self.origin))

    def define(self, name: str, node: ast.FunctionDef | ast.Lambda) -> str:
        origin = self.origin
        held = self.ahead.pop(name, None) or self.bind(name)
        function = self.nested(node)
        self.emit(core.Define(held, core.replace(function, name=name), origin))
        return held

    def opaque(self, s: ast.stmt) -> None:
        """A statement kept as it is; each name that it sets has one version from here on."""
        names = sorted(changed_names(s) - self.cells)
        table = {}
        for n in names:
            old = self.env.get(n)
            new = self.bind(n)
            if old is not None:
                self.assign(new, core.name(old))
            table[n] = new
        kept = Renamed(self.env).visit(s)
        self.emit(core.Do(kept, self.origin))


def without_doc(body: list[ast.stmt]) -> tuple[list[ast.stmt], str]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:], first.value.value
    return body, ""


def is_wraps(node: ast.expr) -> bool:
    """`@functools.wraps(f)` copies a name and a docstring, nothing that matters here."""
    callee = node.func if isinstance(node, ast.Call) else node
    name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
    return name == "wraps"
