"""Lifting: control flow becomes `cond`, `while_loop` and `for_loop`, for values known only later.

while x > 1:                  def test(x):
    x = x / 2                     return x > 1
return x              ->
                              def body(x):
                                  return x / 2

                              return while_loop(test, body, x)
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.callees import Callees, SourceOf
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
    Source,
    While,
    With,
)
from overt.rewrites.effects import (
    effects_of,
    every,
    has_effects,
    must_stay,
    outer_names,
    sets_outside,
    takes_out,
    writes,
)
from overt.rewrites.grown import Grown
from overt.rewrites.lift_expressions import LITERALS, Expressions
from overt.rewrites.liveness import prune
from overt.rewrites.raising import as_check, checked, raised_later, waits
from overt.rewrites.scopes import is_not_in_place, new_name
from overt.rewrites.selections import selections

LOOPS = {
    range: "loop_range",
    zip: "loop_zip",
    enumerate: "loop_enumerate",
    reversed: "loop_reversed",
}
# What NumPy makes of plain values alone; with values being staged inside they must be ours.
MAKING = frozenset(
    "array asarray asanyarray ascontiguousarray zeros ones full empty eye arange".split()
)
ASKING = frozenset(("@is_a", "@is_sequence", "@is_mapping"))  # helpers as good as what they replace
SHORT = 60  # the longest branch that is written as a lambda


def lift(source: Source, source_of: SourceOf | None = None, outermost: bool = True) -> Source:
    """The source with its control flow lifted; `source_of` reads the user's functions it calls.

    The arguments of an `outermost` function are the user's: each is None, or surely is not.
    """
    module = Module(source, source_of, outermost=outermost)
    for f in source.functions:
        module.add(f)
    return module.finished()


def survey(source: Source) -> tuple[bool, list[types.FunctionType]]:
    """Whether a function has something to lift itself, and which user's functions it calls."""
    module = Module(source, None, surveying=True)
    for f in source.functions:
        FunctionLifter(module, f).function(f)
    return module.changed or module.makes_arrays() or module.stores(), module.called


def functions_to_lift(source: Source) -> set[str]:
    """Functions with something to lift, or that call one that has; the main one always."""
    changed = {source.main.name}
    for f in source.functions[:-1]:
        if survey(replace(source, functions=(f,)))[0]:
            changed.add(f.name)
    while True:
        more = {f.name for f in source.functions if core.globals_of(f) & changed} - changed
        if not more:
            return changed
        changed |= more


def writes_elsewhere(f: Function) -> Callable[[core.Stmt], bool]:
    """Tells statements that change an object which the function did not make itself."""
    made = {
        s.target
        for s in core.walk(f.body)
        if isinstance(s, Assign) and isinstance(s.value, ast.Call)
    }

    def check(s: core.Stmt) -> bool:
        if not writes(s):
            return False
        if isinstance(s, Do) and isinstance(s.node, ast.Assign):
            root: ast.expr = s.node.targets[0]
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            return not (isinstance(root, ast.Name) and root.id in made)
        return not (isinstance(s, Do) and isinstance(s.node, ast.Global | ast.Nonlocal | ast.Raise))

    return check


HELD = ast.List | ast.ListComp | ast.Tuple | ast.Dict | ast.DictComp


def lists_in(function: Function) -> set[str]:
    """Local names that hold lists or dictionaries, as far as the function's text shows."""
    found: set[str] = set()
    makers = ("@appended", "@set_item", "@changed", "list")

    def is_list(value: ast.expr) -> bool:
        if isinstance(value, ast.Name):
            return value.id in found
        if isinstance(value, ast.Subscript):  # of a list perhaps another one
            return not isinstance(value.slice, ast.Slice) and is_list(value.value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            name = value.func.id
            if name == "reversed":
                return is_list(value.args[0])
            return name in ("list", "dict") or name in makers and is_list(value.args[0])
        return isinstance(value, HELD)

    for s in every(function.body):
        if isinstance(s, Assign) and isinstance(s.target, str) and is_list(s.value):
            found.add(s.target)
        elif isinstance(s, Assign) and isinstance(s.value, ast.Tuple):
            pairs = zip(s.target, s.value.elts, strict=False)
            found |= {t for t, value in pairs if isinstance(t, str) and is_list(value)}
        elif isinstance(s, For | While):
            found |= {n for c in s.carries if is_list(c.init) for n in (c.name, c.out)}
            if isinstance(s, For) and isinstance(s.target, str) and is_list(s.items):
                found.add(s.target)  # perhaps
        elif isinstance(s, If):
            found |= {m.name for m in s.merges if is_list(m.then) or is_list(m.orelse)}
    return found


def passed_in(function: Function) -> set[str]:
    """Names that branches and loops read which are functions in lifted code."""
    found: set[str] = set()
    for s in every(function.body):
        if isinstance(s, If):
            found |= core.free((*s.then, *s.orelse))
            found |= {n for m in s.merges for n in core.reads(m.then) | core.reads(m.orelse)}
    return found


class Module:
    """The lifted module being built: its functions, and those lifted because they are called."""

    def __init__(
        self,
        source: Source,
        source_of: SourceOf | None,
        surveying: bool = False,
        outermost: bool = True,
    ) -> None:
        self.source, self.source_of, self.surveying = source, source_of, surveying
        self.outermost = outermost and not surveying
        self.callees = Callees(source.namespace, source_of)
        self.changed = False
        self.called: list[types.FunctionType] = []
        self.done: list[Function] = []
        self.taken = {f.name for f in source.functions}
        for f in source.functions:
            self.taken |= core.globals_of(f)
        self.own: dict[str, str] = {}
        if not surveying:
            changed = functions_to_lift(source)
            for f in source.functions:
                self.own[f.name] = self.named(f.name, "lifted") if f.name in changed else f.name
        self.siblings: dict[types.CodeType, str] = {}
        self.imports = set(source.imports)

    def named(self, name: str, suffix: str) -> str:
        """A name for what a function becomes."""
        if name.endswith(f"_{suffix}"):
            return name  # what was lifted before is lifted again under its own name
        return new_name(f"{name.strip('_')}_{suffix}", self.taken)

    def add(self, function: Function) -> None:
        lifted = FunctionLifter(self, function).function(function)
        self.done.append(replace(lifted, name=self.own[function.name]))

    def sibling(self, name: str) -> str | None:
        """The lifted name of a function of this source."""
        return None if self.surveying else self.own.get(name)

    def lifted_sibling(self, node: ast.expr, value: Any) -> str | None:
        """The lifted name of a user's function, lifted into this module if it is not there yet."""
        if not isinstance(node, ast.Name) or not self.callees.has_sibling(value):
            return None
        known = self.siblings.get(value.__code__)
        if known is not None:
            return known
        source = self.source_of(value) if self.source_of else None
        if source is None or len(source.functions) != 1:
            return None
        name = self.named(value.__name__, "lifted")
        self.siblings[value.__code__] = name
        lifted = FunctionLifter(self, source.main).function(source.main)
        self.done.append(replace(lifted, name=name))
        return name

    def makes_arrays(self) -> bool:
        """Whether plain NumPy makes arrays here, which may hold values being staged."""
        return bool(self.numpy_aliases())

    def stores(self) -> bool:
        """Whether something is stored into here: as it stands, that changes the object itself.

        Then the text has helpers in the place of what the user wrote.
        """
        for f in self.source.functions:
            if takes_out(f.result) or any(map(writes_elsewhere(f), core.walk(f.body))):
                return True
        return any(
            isinstance(node.func, ast.Name)
            and node.func.id.startswith("@")
            and node.func.id not in ASKING
            or is_not_in_place(node)
            for f in self.source.functions
            for node in calls_in(f.body, f.result)
        )

    def numpy_aliases(self) -> set[str]:
        found = set()
        for f in [*self.source.functions, *self.done]:
            for node in calls_in(f.body, f.result):
                place = node.func
                if isinstance(place, ast.Attribute) and place.attr in MAKING:
                    module = self.callees.object(place.value)
                    if isinstance(module, types.ModuleType) and module.__name__ == "numpy":
                        found |= core.reads(place.value)
        return found

    def finished(self) -> Source:
        # A function named as a value stays as it is: whoever takes it rewrites it itself.
        while values := [f for f in self.source.functions if self.is_missing(f)]:
            self.done[:0] = values
        for alias in sorted(self.numpy_aliases()):
            self.imports.add(f"import overt.numpy as {alias}")
        return replace(self.source, functions=tuple(self.done), imports=frozenset(self.imports))

    def is_missing(self, function: Function) -> bool:
        """Whether a function of this source is named here under its own name, but not there."""
        if any(d.name == function.name for d in self.done):
            return False
        if isinstance(self.callees.object(core.name(function.name)), types.FunctionType):
            return False  # it is the user's, with the attributes that it may have
        return any(function.name in core.globals_of(d) for d in self.done)


def calls_in(block: core.Block, *more: ast.expr) -> list[ast.Call]:
    found: list[ast.Call] = []

    def visit(node: Any) -> Any:
        found.extend(n for n in ast.walk(node) if isinstance(n, ast.Call))
        return node

    core.map_exprs(block, visit)
    for node in more:
        visit(node)
    return found


class FunctionLifter:
    """Lifts one function with those nested in it."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module, self.callees = module, module.callees
        main = module.source.main
        mine = module.outermost and (function.name, function.origin) == (main.name, main.origin)
        self.given = {p.name for p in function.params if mine}
        self.selections, self.masks = selections(function.body)
        self.grown = Grown(function.body)
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
        changes = takes_out(f.result) or any(map(writes_elsewhere(f), core.walk(body)))
        if f.name not in ("__init__", "__post_init__") and changes:
            guard = Do(ast.Expr(core.call(core.name("@once_a_call"))), NOWHERE)
            body = (guard, *body)
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
        if isinstance(s.target, str) and self.is_plain(s.value):
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
        found -= {n for n in found if core.base(n) in self.foreign}
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
        """Whether a loop sets no variable and changes no object."""
        return not s.carries and not has_effects(s.body, self.effectful, self.callees)

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
        carries = tuple(
            core.Carry(c.name, self.expr(c.init), self.expr(c.next), c.out) for c in s.carries
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


def direct(f: Function) -> Function:
    """`x = value; return x` is `return value`; so for several names, if they come from one call."""
    if not f.body or not isinstance(f.body[-1], Assign):
        return f
    last = f.body[-1]
    shown = pattern_of(f.result)
    if shown is None:
        return f
    if isinstance(last.target, str):
        if shown != last.target or not core.is_local(last.target):
            return f
    elif shown != last.target or not isinstance(last.value, ast.Call):
        return f
    merged = last.origin
    if merged.above and f.result_origin.above:
        merged = replace(merged, above=(*merged.above, *f.result_origin.above))
    if f.result_origin.comment and not merged.comment:
        merged = replace(merged, comment=f.result_origin.comment)
    return replace(f, body=f.body[:-1], result=last.value, result_origin=merged)


def settled(f: Function) -> Function:
    """Constants set last are returned directly: `x = True; return x, y` is `return True, y`."""
    table: dict[str, ast.expr] = {}
    body = f.body
    while body:
        s = body[-1]
        if not (isinstance(s, Assign) and isinstance(s.target, str) and core.is_local(s.target)):
            break
        if not isinstance(s.value, ast.Constant) or s.origin.comment or s.origin.above:
            break
        table[s.target] = s.value
        body = body[:-1]
    return replace(f, body=body, result=core.substitute(f.result, table)) if table else f


def pattern_of(value: ast.expr) -> core.Pattern | None:
    """The pattern of names that an expression spells out, if it is one."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Tuple) and all(isinstance(e, ast.Name) for e in value.elts):
        return tuple(e.id for e in value.elts)  # type: ignore[attr-defined]
    return None
