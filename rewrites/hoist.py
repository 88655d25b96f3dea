"""Hoist: nested functions go to the module, what they captured becomes their first parameters.

def f(a, x):                          def scale(a, x, v):
    def scale(v):                         return a * v + x
        return a * v + x       ->
    return scale(x), twice(scale)     def f(a, x):
                                          return scale(a, x, x), twice(partial(scale, a, x))
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Define, Function, Param, Source, reads
from overt.rewrites.effects import changed_in_place
from overt.rewrites.literals import is_literal
from overt.rewrites.refusal import Refusal
from overt.rewrites.unset import with_placeholders

PARTIAL = "from functools import partial"


def hoist(source: Source) -> Source:
    """Every function of the source without nested ones."""
    taken = {f.name for f in source.functions} | {
        n for f in source.functions for n in core.globals_of(f)
    }
    done: list[Function] = []
    uses_partial = False
    for f in source.functions:
        work = Hoist(taken)
        hoisted = work.function(f)
        done += [*work.done, hoisted]
        uses_partial = uses_partial or work.uses_partial
    imports = source.imports | ({PARTIAL} if uses_partial else frozenset())
    return replace(source, functions=tuple(done), imports=imports)


class Hoist:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.done: list[Function] = []
        self.uses_partial = False

    def function(self, f: Function) -> Function:
        defines = [s for s in core.walk(f.body) if isinstance(s, Define)]
        if not defines:
            return f
        shared = sorted(f.cells & {n for d in defines for n in names_outside(d.function)})
        if shared:
            raise Refusal(
                f"the nested functions share the variable {shared[0]!r}, which changes",
                "Return the new value from the function instead.",
                recordable=True,
            ).located(f.origin.file, f.origin.line, f.origin.text)
        self.check_rebinding(f, defines)
        captured = {
            d.name: core.free_of_function(without_local_defaults(d.function)) for d in defines
        }
        given = {d.name: reads_of_defaults(d.function) for d in defines}
        while True:
            wider = {
                n: seen | {m for o in seen & set(captured) for m in captured[o] | given[o]}
                for n, seen in captured.items()
            }
            if wider == captured:
                break
            captured = wider
        names = {d.name: self.new_name(core.base(d.name)) for d in defines}
        values = {n: sorted(seen - set(captured)) for n, seen in captured.items()}
        rewrite = Uses(names, values, {d.name: local_defaults(d.function) for d in defines})
        rewrite.changing = {
            d.name for d in defines
            if changed_in_place(d.function) & core.free_of_function(d.function)
        }  # fmt: skip
        rewrite.params = {d.name: [core.base(p.name) for p in d.function.params] for d in defines}
        for d in defines:
            params = tuple(Param(v) for v in values[d.name])
            inner = core.map_function(without_local_defaults(d.function), rewrite.visit)
            inner = replace(
                inner, name=names[d.name], params=params + inner.params, is_lambda=False
            )
            self.done.append(self.function(inner))
        body = core.map_exprs(without_defines(f.body), rewrite.visit)
        result = rewrite.visit(f.result)
        body = with_placeholders(body, rewrite.handed_on)  # which the function may not read
        self.uses_partial = self.uses_partial or rewrite.uses_partial
        return replace(f, body=body, result=result)

    def new_name(self, stem: str) -> str:
        name, number = stem, 2
        while name in self.taken:
            name, number = f"{stem}_{number}", number + 1
        self.taken.add(name)
        return name

    def check_rebinding(self, f: Function, defines: Sequence[Define]) -> None:
        """A nested function sees later values of what it captured; refuse where that matters."""
        order = list(core.walk(f.body))
        for d in defines:
            start = order.index(d)
            seen = {core.base(n) for n in core.free_of_function(d.function)} - {core.base(d.name)}
            changed_at = None
            for s in order[start + 1 :]:
                if changed_at is not None and d.name in own_reads(s):
                    raise changed_later(sorted(seen & changed_at)[0], d)
                now = {core.base(n) for n in own_targets(s)}
                if now & seen:
                    changed_at = now
            if changed_at is not None and d.name in reads(f.result):
                raise changed_later(sorted(seen & changed_at)[0], d)


def names_outside(f: Function) -> frozenset[str]:
    return f.cells | core.globals_of(f)


def local_defaults(function: Function) -> dict[str, tuple[int, ast.expr]]:
    """Parameters whose default is no literal: their place and that value."""
    return {
        core.base(p.name): (sys.maxsize if p.kind == "keyword" else i, p.default)
        for i, p in enumerate(function.params)
        if p.default is not None and not is_literal(p.default)
    }


def reads_of_defaults(function: Function) -> set[str]:
    """Variables that the default values read, which whoever calls the function passes to it."""
    return {n for _, d in local_defaults(function).values() for n in reads(d) if core.is_local(n)}


def without_local_defaults(function: Function) -> Function:
    """The function with such defaults left to whoever calls it."""
    names = local_defaults(function)
    params = tuple(
        replace(p, default=core.constant(None)) if core.base(p.name) in names else p
        for p in function.params
    )
    return replace(function, params=params)


def own_reads(s: core.Stmt) -> set[str]:
    found: set[str] = set()

    def visit(node):  # type: ignore[no-untyped-def]
        found.update(reads(node))
        return node

    core.map_stmt(s, visit)
    return found


def own_targets(s: core.Stmt) -> set[str]:
    if isinstance(s, core.Assign):
        return set(core.pattern_names(s.target))
    if isinstance(s, core.If):
        return {m.name for m in s.merges}
    if isinstance(s, core.For | core.While):
        return {c.out for c in s.carries}
    return set()


def without_defines(block: core.Block) -> core.Block:
    kept: list[core.Stmt] = []
    for s in block:
        if isinstance(s, Define):
            continue
        if isinstance(s, core.If):
            s = replace(s, then=without_defines(s.then), orelse=without_defines(s.orelse))
        elif isinstance(s, core.For | core.While | core.With):
            s = replace(s, body=without_defines(s.body))
        kept.append(s)
    return tuple(kept)


class Uses(ast.NodeTransformer):
    """Uses of hoisted functions, with what they captured passed along."""

    def __init__(
        self,
        names: dict[str, str],
        values: dict[str, list[str]],
        defaults: dict[str, dict[str, tuple[int, ast.expr]]],
    ) -> None:
        self.names, self.values, self.defaults = names, values, defaults
        self.uses_partial = False
        self.params: dict[str, list[str]] = {}
        self.changing: set[str] = set()  # functions that change what they have captured
        self.handed_on: set[str] = set()  # variables, as parameters of their own names

    def visit(self, node: ast.AST) -> Any:
        if not reads(node) & set(self.names):
            return node
        return super().visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        fields = {}
        for key, value in ast.iter_fields(node):
            if isinstance(value, list):
                value = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST):
                value = self.visit(value)
            fields[key] = value
        return ast.copy_location(type(node)(**fields), node)

    def captured(self, name: str) -> list[ast.expr]:
        self.handed_on.update(self.values[name])
        return [core.name(v) for v in self.values[name]]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        f = node.func
        if isinstance(f, ast.Name) and f.id in self.names:
            args = self.captured(f.id) + [self.visit(a) for a in node.args]
            for a, param in zip(node.args, self.params.get(f.id, ()), strict=False):
                if isinstance(a, ast.Name) and core.base(a.id) == param:
                    self.handed_on.add(a.id)
            keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
            given = {k.arg for k in keywords}
            for name, (place, default) in self.defaults[f.id].items():
                if name not in given and place >= len(node.args):
                    keywords.append(ast.keyword(name, self.visit(default)))
            return ast.copy_location(ast.Call(core.name(self.names[f.id]), args, keywords), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        if node.id in self.changing:
            raise Refusal(
                f"the nested function {core.base(node.id)!r} changes what it has from around it, "
                "and is used as a value",
                "Return the new value from the function instead.",
                recordable=True,
            )
        name = core.name(self.names[node.id])
        defaults = self.defaults[node.id]
        if not self.values[node.id] and not defaults:
            return name
        self.uses_partial = True
        keywords = [ast.keyword(n, self.visit(d)) for n, (_, d) in defaults.items()]
        return ast.Call(core.name("partial"), [name, *self.captured(node.id)], keywords)


def changed_later(name: str, d: Define) -> Refusal:
    """The refusal of a variable that gets another value after a function captured it."""
    function, origin = core.base(d.name), d.origin
    at = max(origin.text.find(function), 0)
    place = ast.Pass(
        lineno=origin.line, col_offset=at, end_lineno=origin.line, end_col_offset=at + len(function)
    )
    return Refusal(
        f"the variable {name!r} changes after the nested function {function!r} captured it",
        "Pass it to the function as an argument.",
        place,
    ).located(origin.file, origin.line, origin.text)
