"""Lifting one function: its branches, its loops, the functions nested in it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from overt.rewrites import core
from overt.rewrites.core import (
    NOWHERE,
    Assign,
    Define,
    Do,
    For,
    Function,
    If,
    Origin,
    Param,
    While,
    With,
)
from overt.rewrites.effects import (
    changed_in_place,
    effects_of,
    every,
    has_effects,
    must_stay,
    outer_names,
    sets_outside,
    takes_out,
    takes_turns,
)
from overt.rewrites.grown import Grown
from overt.rewrites.lift_expressions import LITERALS, Expressions
from overt.rewrites.lift_survey import calls_in, lists_in, passed_in, writes_elsewhere
from overt.rewrites.lifted_results import direct, settled
from overt.rewrites.liveness import prune
from overt.rewrites.number_kinds import kinds_chosen
from overt.rewrites.raising import as_check, checked, raised_later, waits
from overt.rewrites.selections import selections

if TYPE_CHECKING:
    from overt.rewrites.lift import Module

LOOPS = {
    range: "loop_range",
    zip: "loop_zip",
    enumerate: "loop_enumerate",
    reversed: "loop_reversed",
}
SHORT = 60  # the longest branch that is written as a lambda


class FunctionLifter:
    """Lifts one function with those nested in it."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module, self.callees = module, module.callees
        main = module.source.main
        mine = module.outermost and (function.name, function.origin) == (main.name, main.origin)
        self.given = {p.name for p in function.params if mine}
        self.selections, self.masks = selections(function.body)
        self.chosen = kinds_chosen(function.body)
        self.file = function.origin.file
        self.grown = Grown(function.body, function.result)
        self.names = core.Names()
        self.names.reserve(function)
        self.plain: set[str] = set()
        self.cells: set[str] = set(function.cells)
        self.not_the_users: set[str] = set(function.made)
        self.foreign: set[str] = set(function.foreign)
        self.lifted_here: set[str] = set()
        self.functions: set[str] = set()  # local names that are called, so hold functions
        self.lists = lists_in(function)
        self.passed = passed_in(function)
        self.called_names: set[str] = set()  # those called now or by a derivative
        self.effectful = effects_of(function)
        self.in_place = changed_in_place(function)
        self.globals = {
            n
            for s in every(function.body)
            if isinstance(s, Do) and isinstance(s.node, ast.Global)
            for n in s.node.names
        }
        self.place: dict[str, int] = {}
        self.raw = self.transformed_functions(function)
        self.survey(function)

    # --- what is known beforehand

    def survey(self, function: Function) -> None:
        """Number the user's names in the order in which they are first set."""
        for p in function.params:
            self.place.setdefault(core.base(p.name), len(self.place))
        for s in core.walk(function.body):
            targets: Iterable[str] = ()
            if isinstance(s, Assign):
                targets = core.pattern_names(s.target)
            elif isinstance(s, For):
                targets = core.pattern_names(s.target)
            elif isinstance(s, Define):
                self.functions.add(s.name)
                self.cells |= s.function.cells
                self.not_the_users |= s.function.made
                self.survey(s.function)
            for t in targets:
                self.place.setdefault(core.base(t), len(self.place))
        for node in calls_in(function.body, function.result):
            if isinstance(node.func, ast.Name) and core.is_local(node.func.id):
                self.functions.add(node.func.id)
                self.called_names.add(node.func.id)
            elif core.is_call_of(node, "@vjp_of", "@jvp_of"):
                self.called_names |= core.reads(ast.Tuple(node.args[:2], ast.Load()))

    def transformed_functions(self, function: Function) -> set[str]:
        """Nested functions given to `grad` and its kin, which read source: they stay native."""
        defined = {s.name for s in core.walk(function.body) if isinstance(s, Define)}
        found: set[str] = set()
        for node in calls_in(function.body, function.result):
            target = self.callees.object(node.func)
            module = getattr(target, "__module__", "") or ""
            if module.startswith("overt.transformer"):
                for a in [*node.args, *[k.value for k in node.keywords]]:
                    found |= core.reads(a) & defined
        return found

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Names in the order in which the user first sets them."""
        unseen = len(self.place)
        return sorted(names, key=lambda n: (self.place.get(core.base(n), unseen), n))

    # --- functions

    def function(self, f: Function) -> Function:
        f = prune(f, self.callees.namespace)
        f = replace(f, body=raised_later(f.body))
        params = tuple(
            replace(p, default=self.expr(p.default) if p.default is not None else None)
            for p in f.params
        )
        body = self.block(f.body)
        result = self.expr(f.result)
        changes = takes_out(f.result) or any(
            map(writes_elsewhere(f, self.callees.object), core.walk(body))
        )
        said = "@in_turn" if takes_turns(f) else "@once_a_call" if changes else ""
        if said:
            self.module.changed = True
            body = (Do(ast.Expr(core.call(core.name(said))), NOWHERE), *body)
        return direct(replace(f, params=params, body=body, result=result))

    def made(
        self,
        stem: str,
        params: list[str],
        body: core.Block,
        results: list[ast.expr],
        origin: Origin,
    ) -> Define:
        """A function of a branch or loop."""
        result: ast.expr = results[0] if len(results) == 1 else core.tuple_of(results)
        if not results:
            result = core.constant(None)
        function = Function(
            stem, tuple(Param(p) for p in params), body, result, result_origin=NOWHERE
        )
        function = self.told_apart(function)
        above = Origin(origin.file, origin.line, origin.text)
        name = self.names.fresh(stem)
        self.lifted_here.add(name)
        return Define(name, direct(settled(function)), above)

    def told_apart(self, f: Function) -> Function:
        """The function with parameters of different names: `i, last_i` for what was twice `i`."""
        seen: set[str] = set()
        params, table = [], {}
        for p in f.params:
            if core.base(p.name) in seen:
                new = self.names.fresh(f"last_{core.base(p.name)}")
                table[p.name] = core.name(new)
                p = Param(new)
            seen.add(core.base(p.name))
            params.append(p)
        if not table:
            return f
        return replace(core.map_function(f, core.Renaming(table)), params=tuple(params))

    # --- statements

    def block(self, block: core.Block) -> core.Block:
        done: list[core.Stmt] = []
        for s, before in zip(block, (None, *block), strict=False):
            if before is not None and s.origin.comment and s.origin == before.origin:
                s = replace(s, origin=replace(s.origin, comment="", above=()))  # said already
            done += self.statement(s)
        return tuple(done)

    def statement(self, s: core.Stmt) -> list[core.Stmt]:
        method = getattr(self, f"lift_{type(s).__name__}", None)
        return method(s) if method else [s]

    def expr(self, node: ast.expr) -> ast.expr:
        return Expressions(self).visit(node)

    def is_plain(self, node: ast.expr) -> bool:
        return Expressions(self).plain(node)

    def lift_Assign(self, s: Assign) -> list[core.Stmt]:
        if isinstance(s.target, str) and s.target not in self.in_place and self.is_plain(s.value):
            self.plain.add(s.target)
        if s.target in self.called_names:
            found = Expressions(self).item_of(s.value)
            if found is not None:
                return [replace(s, value=found)]
        return [replace(s, value=self.expr(s.value))]

    def lift_Define(self, s: Define) -> list[core.Stmt]:
        if s.name in self.raw:
            return [s]
        self.lifted_here.add(s.name)
        return [replace(s, function=self.function(s.function))]

    def lift_With(self, s: With) -> list[core.Stmt]:
        for i in s.items:
            if core.reads(i.context_expr) & {"@caught"}:
                self.plain |= core.reads(i.optional_vars)
        items = tuple(ast.withitem(self.expr(i.context_expr), i.optional_vars) for i in s.items)
        return [replace(s, items=items, body=self.block(s.body))]

    def lift_Do(self, s: Do) -> list[core.Stmt]:
        node = s.node
        if isinstance(node, ast.Assert) and not self.is_plain(node.test):
            message = [] if node.msg is None else [self.expr(node.msg)]
            call = self.helper("check", self.expr(node.test), *message)
            return [replace(s, node=ast.Expr(call))]
        if isinstance(node, ast.Raise) and waits(node):
            call = as_check(self, node, core.constant(True))
            return [replace(s, node=ast.Expr(call))]
        return [replace(s, node=Expressions(self).visit(node))]

    def helper(self, name: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
        self.module.changed = True
        return core.call(core.name(f"@{name}"), *args, **keywords)

    def defined(self, value: ast.expr, joined: core.Merge | core.Carry) -> ast.expr:
        """A value; that of a variable of the user's that is not set names it."""
        if isinstance(value, ast.Name) and value.id == core.UNDEFINED:
            name = core.base(joined.name)
            if name not in self.not_the_users:
                return core.call(core.name(core.UNDEFINED), core.constant(name))
        return value

    # --- branches

    def merged(self, m: core.Merge) -> core.Merge:
        """What a branch of Python's gives; of a variable not set a placeholder, if it is passed."""
        sides = [
            core.name(f"@{core.UNDEFINED}")
            if m.name in self.passed and isinstance(v, ast.Name) and v.id == core.UNDEFINED
            else self.expr(v)
            for v in (m.then, m.orelse)
        ]
        return core.Merge(m.name, *sides)

    def lift_If(self, s: If) -> list[core.Stmt]:
        done = None if self.is_plain(s.test) else checked(self, s)
        if done is not None:
            return done
        if self.is_plain(s.test) or self.must_stay(s):
            return [
                replace(
                    s,
                    test=self.expr(s.test),
                    then=self.block(s.then),
                    orelse=self.block(s.orelse),
                    merges=tuple(map(self.merged, s.merges)),
                )
            ]
        test = self.expr(s.test)
        merges = sorted(s.merges, key=lambda m: (self.place.get(core.base(m.name), 9999), m.name))
        blocks = [
            self.noted(s.then, self.block(s.then)),
            self.noted(s.orelse, self.block(s.orelse)),
        ]
        results = [
            [self.expr(self.defined(m.then, m)) for m in merges],
            [self.expr(self.defined(m.orelse, m)) for m in merges],
        ]
        if isinstance(test, ast.Call) and core.reads(test.func) == {"@not_"}:
            test = test.args[0]
            blocks, results = blocks[::-1], results[::-1]
        short = self.in_one_line(s, blocks, results)
        if short is not None:
            sides = [ast.Lambda(no_arguments(), v) for v in short]
            value = self.helper("if_else", test, *sides)
            return [Assign(merges[0].name, value, s.origin)]
        operands = self.operands([(b, r) for b, r in zip(blocks, results, strict=True)])
        defines = [
            self.made(stem, operands, block, result, s.origin)
            for stem, block, result in zip(("then", "orelse"), blocks, results, strict=True)
        ]
        call = self.helper(
            "cond",
            test,
            *[core.name(d.name) for d in defines],
            core.tuple_of([core.name(n) for n in operands]),
        )
        return self.called([m.name for m in merges], call, defines, s.origin)

    def must_stay(self, s: If | For | While) -> bool:
        """Whether a statement does what may happen only when Python itself gets there."""
        blocks = [s.then, s.orelse] if isinstance(s, If) else [s.body]
        if isinstance(s, For) and sets_outside(s.target):
            return True
        return any(map(must_stay, blocks))

    def noted(self, source: core.Block, block: core.Block) -> core.Block:
        """A lifted block which says first that it changes objects, if it does."""
        if not has_effects(source, self.effectful, self.callees):
            return block
        start: list[core.Stmt] = []
        for kind, names in ((ast.Global, True), (ast.Nonlocal, False)):
            mine = sorted(n for n in outer_names(source) if (n in self.globals) is names)
            if mine:
                start.append(Do(kind(mine), NOWHERE))
        guard = Do(ast.Expr(core.call(core.name("@once_a_call"))), NOWHERE)
        return (*start, guard, *block)

    def in_one_line(
        self, s: If, blocks: list[core.Block], results: list[list[ast.expr]]
    ) -> list[ast.expr] | None:
        """Both sides as expressions, if they are short and say nothing more."""
        if len(s.merges) != 1 or s.origin.comment or s.origin.above:
            return None
        sides = []
        for block, (value,) in zip(blocks, results, strict=True):
            if block:
                only = block[0]
                if len(block) > 1 or not isinstance(only, Assign) or only.origin.comment:
                    return None
                if not (isinstance(value, ast.Name) and value.id == only.target):
                    return None
                value = only.value
            sides.append(value)
        if any(contains_lifted(v) for v in sides) or all(blocks):
            return None
        width = sum(len(ast.unparse(ast.fix_missing_locations(v))) for v in sides)
        return sides if width <= SHORT else None

    def operands(self, sides: list[tuple[core.Block, list[ast.expr]]]) -> list[str]:
        """Names from around the branches that they read, functions apart."""
        found: set[str] = set()
        for block, results in sides:
            inside = core.free(block)
            for r in results:
                inside |= {n for n in core.reads(r) if core.is_local(n)} - core.assigned(block)
            found |= inside
        found -= self.functions | self.lifted_here
        # A copy of a container that others hold too would not show them what changes.
        found -= {n for n in found if core.base(n) in self.foreign} | self.in_place
        seen: dict[str, str] = {}
        for n in self.ordered(found):
            seen.setdefault(n, n)
        return list(seen)

    def called(
        self, outs: list[str], call: ast.Call, defines: list[Define], origin: Origin
    ) -> list[core.Stmt]:
        """The functions, then the call with its results."""
        first = replace(defines[0], origin=replace(defines[0].origin, above=origin.above))
        origin = replace(origin, above=())
        if not outs:
            return [first, *defines[1:], Do(ast.Expr(call), origin)]
        target = outs[0] if len(outs) == 1 else tuple(outs)
        return [first, *defines[1:], Assign(target, call, origin)]

    # --- loops

    def lift_While(self, s: While) -> list[core.Stmt]:
        if self.nothing_to_carry(s) or self.must_stay(s):
            return [self.native(s)]
        loop = Loop(self, s)
        test = self.made("test", loop.params, (), [self.expr(s.test)], s.origin)
        comment = replace(s.origin, above=())
        test = replace(test, function=replace(test.function, result_origin=comment))
        body = self.made("body", loop.params, loop.body, loop.results, s.origin)
        call = self.helper(
            "while_loop", core.name(test.name), core.name(body.name), loop.start, **loop.until
        )
        return self.called(loop.outs, call, [test, body], replace(s.origin, comment=""))

    def lift_For(self, s: For) -> list[core.Stmt]:
        if self.nothing_to_carry(s) or self.must_stay(s) or self.unrolls(s):
            return [self.native(s)]
        loop = Loop(self, s)
        start: list[core.Stmt] = []
        item = s.target
        if not isinstance(item, str):
            item = self.names.fresh("item")
            start = [Assign(s.target, core.name(item))]
        block = (*start, *loop.body)
        stem = "undo" if s.origin.comment.startswith("# undoes") else "body"
        body = self.made(stem, [item, *loop.params], block, loop.results, s.origin)
        items = self.items(s.items)
        call = self.helper("for_loop", items, core.name(body.name), loop.start, **loop.until)
        return self.called(loop.outs, call, [body], s.origin)

    def nothing_to_carry(self, s: For | While) -> bool:
        """Whether a loop sets no variable and changes no object, not even for its end."""
        if s.carries or s.until is not None:
            return False
        return not has_effects(s.body, self.effectful, self.callees)

    def unrolls(self, s: For) -> bool:
        """Whether Python has to run a loop: over the parts of a container written out."""
        if s.until is not None or self.grown.is_grown(s.items):
            return False
        if isinstance(s.items, LITERALS):
            return True
        f = s.items.func if isinstance(s.items, ast.Call) else None
        return isinstance(f, ast.Attribute) and f.attr in ("items", "keys", "values")

    def items(self, node: ast.expr, within: Expressions | None = None) -> ast.expr:
        """What a loop runs over, in a form that may be known only later."""
        expressions = within or Expressions(self)
        if isinstance(node, ast.Call):
            for builtin, name in LOOPS.items():
                if self.callees.is_builtin(node.func, builtin):
                    args = [self.items(a, within) for a in node.args]
                    keywords = {k.arg: expressions.visit(k.value) for k in node.keywords if k.arg}
                    return self.helper(name, *args, **keywords)
        return expressions.visit(node)

    def native(self, s: For | While) -> core.Stmt:
        inits = [self.defined(c.init, c) if c.name in self.passed else c.init for c in s.carries]
        carries = tuple(
            core.Carry(c.name, self.expr(init), self.expr(c.next), c.out)
            for c, init in zip(s.carries, inits, strict=True)
        )
        until = self.expr(s.until) if s.until is not None else None
        if isinstance(s, For):
            s = replace(s, items=self.expr(s.items))
        else:
            s = replace(s, test=self.expr(s.test))
        return replace(s, carries=carries, body=self.block(s.body), until=until)


class Loop:
    """The parts that a lifted `while` and a lifted `for` have in common."""

    def __init__(self, lifter: FunctionLifter, s: For | While) -> None:
        carries = sorted(
            s.carries, key=lambda c: (lifter.place.get(core.base(c.name), 9999), c.name)
        )
        self.body = lifter.noted(s.body, lifter.block(s.body))
        self.params = [c.name for c in carries]
        self.outs = [c.out for c in carries]
        inits = [lifter.expr(lifter.defined(c.init, c)) for c in carries]
        self.results = [lifter.expr(lifter.defined(c.next, c)) for c in carries]
        self.until: dict[str, ast.expr] = {}
        if s.until is not None:
            self.stop(lifter, s, carries, inits)
        self.start: ast.expr = inits[0] if len(inits) == 1 else core.tuple_of(inits)

    def stop(
        self,
        lifter: FunctionLifter,
        s: For | While,
        carries: list[core.Carry],
        inits: list[ast.expr],
    ) -> None:
        """Carry the flag that ends the loop."""
        assert s.until is not None
        for i, c in enumerate(carries):
            if isinstance(s.until, ast.Name) and same_name(c.next, s.until):
                self.until = {"until": core.constant(i)}
                return
        stem = s.until.id if isinstance(s.until, ast.Name) else "done"
        self.params.append(lifter.names.fresh(stem))
        self.outs.append(lifter.names.fresh(stem))
        inits.append(core.constant(False))
        self.results.append(lifter.expr(s.until))
        self.until = {"until": core.constant(len(inits) - 1)}


def same_name(a: ast.expr, b: ast.expr) -> bool:
    return isinstance(a, ast.Name) and isinstance(b, ast.Name) and a.id == b.id


def contains_lifted(node: ast.expr) -> bool:
    words = ("@cond", "@while_loop", "@for_loop", "@if_else")
    return any(n in words for n in core.reads(node))


def no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])
