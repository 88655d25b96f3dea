"""Generators that a test ends, written out in the loops over them.

    def powers(x):                          def total(x):
        p = x                                   found = 0.0
        while p < 9.0:                          p = x
            yield p                 ->          while p < 9.0:
            p = p * x                               v = p
                                                    found += v
    def total(x):                                   p = p * x
        found = 0.0                             return found
        for v in powers(x):
            found += v
        return found

A list of what they yield has as many items as data says, which a compiled program cannot have.
Other uses of them, and other generators, are lists (`generators`).
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from overt.rewrites.endless import Definition, Known, load, store
from overt.rewrites.exits import contains, negated
from overt.rewrites.foreign import changes_others
from overt.rewrites.scopes import (
    NESTED,
    Renamed,
    free_names,
    locals_of,
    new_name,
    own_nodes,
    parameters,
)
from overt.rewrites.statement_walk import StatementWalk

Stmts = list[ast.stmt]
LEAVING = ast.Return | ast.Break | ast.Continue | ast.Try | ast.Global | ast.Nonlocal


def ended_by_data(node: ast.FunctionDef, definition: Definition, known: Known) -> ast.FunctionDef:
    """The function with the loops over such generators, and sums of them, as loops of its own."""
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | parameters(node)
    work = WrittenOut(definition, known, taken)
    body = work.function(node)
    if not work.found:
        return node
    made = ast.FunctionDef(node.name, node.args, body, node.decorator_list, node.returns)
    return ast.fix_missing_locations(ast.copy_location(made, node))


class Parts:
    """A generator of one loop, taken apart: what comes before it, its test, and its body."""

    def __init__(self, node: ast.FunctionDef) -> None:
        *self.start, loop = node.body
        assert isinstance(loop, ast.While)
        self.node, self.test, self.body = node, loop.test, list(loop.body)
        first = self.body[0]
        if is_true(self.test) and isinstance(first, ast.If):  # `while True: if p: return`
            self.test, self.body = negated(first.test), self.body[1:]
        self.place = next((i for i, s in enumerate(self.body) if yielded(s) is not None), -1)

    @staticmethod
    def of(node: ast.FunctionDef | None) -> Parts | None:
        """None for a function that is not a generator, or not of this form."""
        if node is None or node.decorator_list or not isinstance(node.body[-1], ast.While):
            return None
        a = node.args
        constant = all(isinstance(d, ast.Constant) for d in [*a.defaults, *a.kw_defaults] if d)
        if a.vararg or a.kwarg or not constant or node.body[-1].orelse:
            return None
        found = Parts(node)
        inside = [n for s in [*found.start, *found.body] for n in own_nodes(s)]
        yields = [n for n in inside if isinstance(n, ast.Yield | ast.YieldFrom)]
        if len(yields) != 1 or found.place < 0 or is_true(found.test):
            return None
        if is_true(node.body[-1].test) and not leaves(node.body[-1].body[0]):
            return None
        if any(isinstance(n, (LEAVING, *NESTED)) for n in inside):  # type: ignore[arg-type]
            return None
        if any(isinstance(n, ast.NamedExpr) for n in [*inside, *ast.walk(found.test)]):
            return None
        return None if getattr(node, "interleaved", False) or changes_others(node) else found


class WrittenOut(StatementWalk):
    """Rewrites the statements of one function."""

    def __init__(self, definition: Definition, known: Known, taken: set[str]) -> None:
        self.definition, self.known, self.taken = definition, known, taken
        self.nested: dict[str, ast.FunctionDef] = {}
        self.local: set[str] = set()
        self.ahead: Stmts = []
        self.found = False

    def function(self, node: ast.FunctionDef) -> Stmts:
        outer = self.nested, self.local
        self.nested = {n.name: n for n in own_nodes(node) if isinstance(n, ast.FunctionDef)}
        self.local = self.local | locals_of(node)
        body = self.block(node.body)
        self.nested, self.local = outer
        return body

    def parts(self, call: ast.expr) -> Parts | None:
        """What a loop runs over, if that is a call of such a generator."""
        f = call.func if isinstance(call, ast.Call) else None
        if not isinstance(f, ast.Name):
            return None
        found = self.nested.get(f.id)
        if found is None and f.id not in self.local:
            found = self.definition(f.id)
            if found is not None and free_names(found) & self.local:
                return None
        parts = Parts.of(found)
        return None if parts is None or arguments(parts.node, call) is None else parts

    # --- statements

    def block(self, body: Stmts) -> Stmts:
        done: Stmts = []
        for s in body:
            outer, self.ahead = self.ahead, []
            new = self.statement(s)
            done += [*self.ahead, *new]
            self.ahead = outer
        return done

    def statement(self, s: ast.stmt) -> Stmts:
        if isinstance(s, ast.FunctionDef):
            s.body = self.function(s)
            return [s]
        if isinstance(s, ast.ClassDef):
            return [s]
        if isinstance(s, ast.For):
            counted = isinstance(s.iter, ast.Call) and self.known(s.iter.func)
            call = s.iter.args[0] if counted == "builtins.enumerate" else s.iter  # type: ignore
            parts = self.parts(call)
            if counted == "builtins.zip" and not s.orelse:
                zipped = self.zipped(s)
                return [s] if zipped is None else zipped
            if parts is not None:
                first = None
                if call is not s.iter:
                    more = s.iter.args[1:] + [k.value for k in s.iter.keywords]  # type: ignore
                    first = more[0] if more else ast.Constant(0)
                return self.loop(s, parts, call, first)
        self.walk(s)
        return [s]

    def loop(self, s: ast.For, parts: Parts, call: ast.expr, first: ast.expr | None) -> Stmts:
        """`for v in g(...): ...`, or over `enumerate(g(...), first)`, as the loop of `g`."""
        written = Written(self, parts, call)
        number: Stmts = []
        if first is not None:
            name = new_name("number", self.taken)
            number = [store(name, self.visit(first))]
            written.value = ast.Tuple([load(name), written.value], ast.Load())
            written.steps.insert(0, store(name, ast.BinOp(load(name), ast.Add(), ast.Constant(1))))
        made = ast.While(written.test, written.body(s.target, self.block(s.body)), [])
        made.orelse = self.block(s.orelse)
        return [*(placed(b, s) for b in (*written.given, *number)), *written.start, placed(made, s)]

    def zipped(self, s: ast.For) -> Stmts | None:
        """`for a, v in zip(items, g(...)): ...`, as a loop over the items."""
        assert isinstance(s.iter, ast.Call)
        args, targets = s.iter.args, getattr(s.target, "elts", [])
        places = [i for i, a in enumerate(args) if self.parts(a) is not None]
        strict = any(not is_false(k.value) for k in s.iter.keywords)
        if len(places) != 1 or len(args) != len(targets) or len(args) < 2 or strict:
            self.walk(s)
            return None
        (i,) = places
        parts = self.parts(args[i])
        assert parts is not None
        written = Written(self, parts, args[i])
        stop = ast.If(negated(written.test), [ast.Break()], [])
        items, names = ([*x[:i], *x[i + 1 :]] for x in (args, targets))
        target, source = names[0], items[0]
        if len(items) > 1:
            target = ast.Tuple(names, ast.Store())
            source = ast.Call(s.iter.func, items, s.iter.keywords)
        body = [placed(stop, s), *written.body(targets[i], self.block(s.body))]
        made = ast.For(target, self.visit(source), body, [])
        return [*(placed(b, s) for b in written.given), *written.start, placed(made, s)]

    # --- sums

    def visit_Call(self, node: ast.Call) -> ast.expr:
        source = node.args[0] if len(node.args) in (1, 2) and not node.keywords else None
        if self.fixed or self.known(node.func) != "builtins.sum" or source is None:
            return self.generic_visit(node)  # type: ignore[return-value]
        if not isinstance(source, ast.GeneratorExp) or len(source.generators) > 1:
            return self.generic_visit(node)  # type: ignore[return-value]
        (g,) = source.generators
        call = g.iter
        if isinstance(call, ast.Call) and self.known(call.func) == "builtins.enumerate":
            call = call.args[0]
        if self.parts(call) is None:
            return self.generic_visit(node)  # type: ignore[return-value]
        bound = {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        own = Renamed({n: new_name(n, self.taken) for n in bound})
        total = new_name("total", self.taken)
        step: ast.stmt = store(total, ast.BinOp(load(total), ast.Add(), own.visit(source.elt)))
        for test in reversed(g.ifs):
            step = ast.If(own.visit(test), [step], [])
        start = self.visit(node.args[1]) if len(node.args) == 2 else ast.Constant(0)
        loop = ast.For(own.visit(g.target), g.iter, [step], [])
        self.ahead += self.block([placed(b, node) for b in (store(total, start), loop)])
        return load(total)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.body = self.inside(node.body)
        return node


class Written:
    """The parts of a generator with names of their own, for one loop over it."""

    def __init__(self, work: WrittenOut, parts: Parts, call: ast.expr) -> None:
        work.found = True
        names = {n: new_name(n, work.taken) for n in sorted(locals_of(parts.node))}

        def own(node: Any) -> Any:
            return Renamed(names).visit(copy.deepcopy(node))

        given = arguments(parts.node, call)
        assert given is not None
        self.given: Stmts = [store(names[p], work.visit(value)) for p, value in given]
        self.start: Stmts = list(map(own, parts.start))
        self.test = own(parts.test)
        self.before: Stmts = list(map(own, parts.body[: parts.place]))
        self.value = own(yielded(parts.body[parts.place]))
        self.steps: Stmts = list(map(own, parts.body[parts.place + 1 :]))

    def body(self, target: ast.expr, body: Stmts) -> Stmts:
        """One iteration: a value, what the loop makes of it, the step to the next value."""
        done = [*self.before, ast.Assign([target], self.value)]
        if any(contains(b, ast.Continue) for b in body):  # one step ahead
            return [*done, *self.steps, *body]
        return [*done, *body, *self.steps]


def arguments(node: ast.FunctionDef, call: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Each parameter and its value in a call, in order; None if that is not so simple."""
    assert isinstance(call, ast.Call)
    a = node.args
    params = [p.arg for p in (*a.posonlyargs, *a.args)]
    if any(isinstance(x, ast.Starred) for x in call.args) or len(call.args) > len(params):
        return None
    values = dict(zip(params, call.args, strict=False))
    for k in call.keywords:
        if k.arg is None or k.arg in values:
            return None
        values[k.arg] = k.value
    defaults = dict(zip(reversed(params), reversed(a.defaults), strict=False))
    defaults |= {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d}
    every = [*params, *(p.arg for p in a.kwonlyargs)]
    if set(values) - set(every) or any(p not in values and p not in defaults for p in every):
        return None
    return [*values.items(), *((p, defaults[p]) for p in every if p not in values)]


def yielded(s: ast.stmt) -> ast.expr | None:
    """What a statement yields, if it does nothing else."""
    if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
        return s.value.value
    return None


def leaves(s: ast.stmt) -> bool:
    """Whether a statement is `if p: break`, or with a `return` of nothing."""
    if not isinstance(s, ast.If) or s.orelse or len(s.body) != 1:
        return False
    last = s.body[0]
    return isinstance(last, ast.Break) or isinstance(last, ast.Return) and last.value is None


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def placed(s: ast.stmt, at: ast.AST) -> ast.stmt:
    return ast.copy_location(s, at)
