"""Nonlocals: variables that nested functions share become arguments and results.

    def f(xs):                              def f(xs):
        total = 0.0                             total = 0.0

        def add(x):                             def add(total, x):
            nonlocal total           ->             total = total + x
            total += x                              return total

        add(xs[0])                              total = add(total, xs[0])

Only where every use is a direct call in a place that is surely evaluated.  Elsewhere the functions
keep sharing the variable as Python does.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from overt.rewrites import exits
from overt.rewrites.late import Timeline, changed_between, changed_late
from overt.rewrites.scopes import (
    Scope,
    changed_names,
    free_names,
    locals_of,
    new_name,
    own_nodes,
    parameters,
)

Stmts = list[ast.stmt]
BLOCKS = ast.stmt | ast.ExceptHandler | ast.match_case
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Escapes(Exception):
    """A nested function is used in a way that an argument cannot follow."""


@dataclass(frozen=True)
class Sharing:
    """What one nested function takes of the shared variables, and which of them it gives back."""

    passed: tuple[str, ...]
    changed: tuple[str, ...]
    has_value: bool
    filled: frozenset[str] = frozenset()  # those that it stores into and never sets anew


def shared_by_argument(
    node: ast.FunctionDef, foreign: set[str]
) -> tuple[ast.FunctionDef, set[str]]:
    """The function, what its nested ones share passed and returned; and what stays shared."""
    node = with_late_lambdas_named(node)
    nested = {n.name: n for n in own_nodes(node) if isinstance(n, ast.FunctionDef)}
    dropped: set[str] = set()
    while nested:
        plan = plan_of(node, nested, dropped, foreign)
        if not plan:
            break
        try:
            node = Rewrite(node, plan).function(node)
            break
        except Escapes as escape:
            dropped.add(escape.args[0])
    return node, changed_late(node)


def with_late_lambdas_named(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with `get = lambda: total` as a `def` where it is passed what it reads."""
    timeline = Timeline(node)
    late = {m.function for m in timeline.made if m.name and timeline.changed(m)}
    if not any(isinstance(f, ast.Lambda) for f in late):
        return node

    class Named(ast.NodeTransformer):
        def visit_Assign(self, s: ast.Assign) -> ast.stmt:
            target = s.targets[0]
            if s.value not in late or len(s.targets) > 1 or not isinstance(target, ast.Name):
                return s
            f = s.value
            assert isinstance(f, ast.Lambda)
            value = ast.copy_location(ast.Return(f.body), f)
            new = ast.FunctionDef(target.id, f.args, [value], [])
            return ast.copy_location(new, s)

        def visit_Expr(self, s: ast.Expr) -> ast.stmt:
            return s

        visit_Return = visit_AugAssign = visit_FunctionDef = visit_Expr  # type: ignore[assignment]

        def generic_visit(self, s: ast.AST) -> ast.AST:
            new = copy.copy(s)
            for key, value in ast.iter_fields(s):
                if isinstance(value, list):
                    setattr(
                        new, key, [self.visit(v) if isinstance(v, BLOCKS) else v for v in value]
                    )
            return new

    return Named().generic_visit(node)  # type: ignore[return-value]


def plan_of(
    node: ast.FunctionDef,
    nested: dict[str, ast.FunctionDef],
    dropped: set[str],
    foreign: set[str],
) -> dict[str, Sharing]:
    """The sharing of each nested function that can be rewritten; `dropped` cannot."""
    mine = locals_of(node) - Scope(node).outer - set(nested)
    declared = {g: declared_by(f) & mine for g, f in nested.items()}
    sets = {g: declared[g] | (contents_changed_by(f) & mine - foreign) for g, f in nested.items()}
    deep = {n for f in nested.values() for n in declared_deeper(f)}
    free = {g: free_names(f) for g, f in nested.items()}
    timeline = Timeline(node)
    late = {g: changed_between(g, timeline) & mine for g in nested}
    calls = {g: free[g] & set(nested) for g in nested}
    changed = closed(sets, calls)
    set_anew = closed(declared, calls)
    everything = set().union(*changed.values(), *late.values(), set())
    blocked = (deep | names_taken_deeper(node)) & everything
    usable = {g for g, f in nested.items() if is_simple(node, f)} - dropped
    reached = closed(calls, calls)
    while True:
        variables = everything - blocked
        passed = closed({g: free[g] & variables for g in nested}, calls)
        shares = {g for g in nested if changed[g] or passed[g]}
        bad = {g for g in shares if g not in usable or not changed[g] <= variables}
        bad |= {
            g for g in shares if (passed[g] | changed[g]) & (locals_of(nested[g]) - declared[g])
        }
        bad |= {g for g in shares if g in reached[g]}
        more = {n for g in bad for n in changed[g] | passed[g]} - blocked
        if not more:
            break
        blocked |= more
    order = [n for n in first_seen(node) if n in variables]
    return {
        g: Sharing(
            tuple(n for n in order if n in passed[g] | changed[g]),
            tuple(n for n in order if n in changed[g]),
            returns_value(nested[g]),
            frozenset(changed[g] - set_anew[g]),
        )
        for g in nested
        if g in shares - bad
    }


def closed(own: dict[str, set[str]], calls: dict[str, set[str]]) -> dict[str, set[str]]:
    """Each function's own names with those of the functions that it calls."""
    found = {g: set(names) for g, names in own.items()}
    while True:
        wider = {g: found[g].union(*[found[h] for h in calls[g]]) for g in found}
        if wider == found:
            return found
        found = wider


def declared_by(f: ast.FunctionDef) -> set[str]:
    return {n for s in own_nodes(f) if isinstance(s, ast.Nonlocal) for n in s.names}


def contents_changed_by(f: ast.FunctionDef) -> set[str]:
    """Names of the containers and arrays around a nested function that it stores into."""
    body = [s for s in f.body if not isinstance(s, ast.FunctionDef)]
    return {n for s in body for n in changed_names(s)} - locals_of(f) - declared_by(f)


def declared_deeper(f: ast.FunctionDef) -> set[str]:
    """Names that functions inside a nested one declare nonlocal and that are not its own."""
    inner = [n for n in own_nodes(f) if isinstance(n, ast.FunctionDef)]
    return {n for g in inner for n in declared_by(g) | declared_deeper(g)} - locals_of(f)


def names_taken_deeper(node: ast.FunctionDef) -> set[str]:
    """Variables that a lambda, or a function two deep, takes: no argument follows there."""
    found: set[str] = set()
    for n in own_nodes(node):
        if isinstance(n, ast.FunctionDef):
            for inner in own_nodes(n):
                if isinstance(inner, ast.FunctionDef | ast.Lambda):
                    found |= free_names(inner)
    timeline = Timeline(node)
    for m in timeline.made:
        if isinstance(m.function, ast.Lambda):
            found |= timeline.changed(m) or (free_names(m.function) if m.name or m.kept else set())
    return found


def is_simple(node: ast.FunctionDef, f: ast.FunctionDef) -> bool:
    """Whether a nested function is defined once, plainly."""
    stores = sum(
        isinstance(n, ast.FunctionDef)
        and n.name == f.name
        or isinstance(n, ast.Name)
        and n.id == f.name
        and not isinstance(n.ctx, ast.Load)
        for n in own_nodes(node)
    )
    if stores != 1 or f.decorator_list or f.name in parameters(node):
        return False
    return not any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in own_nodes(f))


def returns_value(f: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in own_nodes(f))


def first_seen(node: ast.FunctionDef) -> list[str]:
    """The function's names in the order in which they stand in its text."""
    a = node.args
    seen = [p.arg for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if p]
    seen += [n.id for n in own_nodes(node) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(seen))


class Rewrite:
    """Rewrites one function and the nested ones that share with it."""

    def __init__(self, node: ast.FunctionDef, plan: dict[str, Sharing]) -> None:
        self.plan = plan
        self.changers = {g for g, s in plan.items() if s.changed}
        self.variables = {n for s in plan.values() for n in s.passed}
        self.taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        self.taken |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        self.mine: Sharing | None = None  # of the nested function being rewritten
        self.before: Stmts = []
        self.line = node.lineno

    def new(self, stem: str) -> str:
        return new_name(stem, self.taken)

    # --- functions

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        new = copy.copy(node)
        new.body = self.block(node.body)
        return new

    def nested(self, node: ast.FunctionDef) -> ast.FunctionDef:
        sharing = self.plan.get(node.name)
        if sharing is None:
            self.refuse_mentions(node, set(self.plan))
            return node
        self.refuse_mentions(node.args, set(self.plan))
        outer, self.mine = self.mine, sharing
        new = copy.copy(node)
        new.args = copy.copy(node.args)
        extra = [ast.arg(n) for n in sharing.passed]
        if node.args.posonlyargs:
            new.args.posonlyargs = [*extra, *node.args.posonlyargs]
        else:
            new.args.args = [*extra, *node.args.args]
        new.body = self.block([s for s in node.body if not self.is_shared_declaration(s)])
        if sharing.changed and not exits.always_exits(new.body):
            new.body.append(self.at(ast.Return(self.result(ast.Constant(None))), node.body[-1]))
        self.mine = outer
        new.given_back = sharing.filled  # type: ignore[attr-defined]
        return new

    def is_shared_declaration(self, s: ast.stmt) -> bool:
        return isinstance(s, ast.Nonlocal) and set(s.names) <= self.variables

    def result(self, value: ast.expr) -> ast.expr:
        """What a nested function returns: its value, if it has any, and what it changed."""
        assert self.mine is not None
        parts: list[ast.expr] = [exits.load(n) for n in self.mine.changed]
        if self.mine.has_value:
            parts.insert(0, value)
        return parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())

    def mentions(self, node: ast.AST | None, names: set[str] | None = None) -> bool:
        names = self.changers if names is None else names
        return node is not None and any(
            isinstance(n, ast.Name) and n.id in names for n in ast.walk(node)
        )

    def refuse_mentions(self, node: ast.AST | None, names: set[str] | None = None) -> None:
        names = self.changers if names is None else names
        for n in ast.walk(node) if node is not None else ():
            if isinstance(n, ast.Name) and n.id in names:
                raise Escapes(n.id)

    # --- statements

    def at(self, s: ast.stmt, place: ast.stmt) -> ast.stmt:
        s.lineno = place.lineno
        return s

    def block(self, body: Stmts) -> Stmts:
        done: Stmts = []
        for s in body:
            outer, self.before = self.before, []
            new = self.statement(s)
            for b in self.before:
                self.at(b, s)
            done += [*self.before, *new]
            self.before = outer
        return done

    def statement(self, s: ast.stmt) -> Stmts:
        method = getattr(self, f"on_{type(s).__name__}", None)
        if method is not None:
            return method(s)
        self.refuse_mentions(s)
        return [self.read(s)]

    def replaced(self, s: ast.stmt, **fields: object) -> ast.stmt:
        new = copy.copy(s)
        for key, value in fields.items():
            setattr(new, key, value)
        return new

    def on_FunctionDef(self, s: ast.FunctionDef) -> Stmts:
        return [self.nested(s)]

    def on_Expr(self, s: ast.Expr) -> Stmts:
        call = s.value
        if isinstance(call, ast.Call) and self.callee(call) in self.changers:
            sharing = self.plan[self.callee(call)]
            self.called(call, self.new(f"{self.callee(call)}_value") if sharing.has_value else "")
            last = self.before.pop()
            return [self.at(last, s)]
        return [self.replaced(s, value=self.settled(s.value))]

    def on_Assign(self, s: ast.Assign) -> Stmts:
        call, (target, *more) = s.value, s.targets
        if isinstance(call, ast.Call) and self.callee(call) in self.changers:
            plain = isinstance(target, ast.Name) and not more
            if plain and self.plan[self.callee(call)].has_value and target.id not in self.variables:
                self.called(call, target.id)
                return [self.at(self.before.pop(), s)]
        value = self.settled(s.value)
        for t in s.targets:
            self.refuse_mentions(t)
        return [self.replaced(s, value=value, targets=[self.read(t) for t in s.targets])]

    def on_AnnAssign(self, s: ast.AnnAssign) -> Stmts:
        self.refuse_mentions(s.target)
        value = self.settled(s.value) if s.value is not None else None
        return [self.replaced(s, value=value, target=self.read(s.target))]

    def on_AugAssign(self, s: ast.AugAssign) -> Stmts:
        self.refuse_mentions(s.target)
        if not self.mentions(s.value):
            return [self.read(s)]
        if not isinstance(s.target, ast.Name):
            if self.mentions(s.target, self.variables):
                raise Escapes(self.first_changer(s.value))
            return [self.replaced(s, value=self.settled(s.value))]
        total = ast.BinOp(ast.Name(s.target.id, ast.Load()), s.op, s.value)
        return [self.at(ast.Assign([s.target], self.settled(total)), s)]

    def on_Return(self, s: ast.Return) -> Stmts:
        if self.mine is None or not self.mine.changed:
            return [self.replaced(s, value=self.settled(s.value) if s.value else None)]
        value = s.value if s.value is not None else ast.Constant(None)
        if not self.mine.has_value:
            return [self.replaced(s, value=self.result(value))]
        return [self.replaced(s, value=self.settled(self.result(value)))]

    def on_Assert(self, s: ast.Assert) -> Stmts:
        self.refuse_mentions(s.msg)
        return [self.replaced(s, test=self.settled(s.test), msg=s.msg and self.read(s.msg))]

    def on_If(self, s: ast.If) -> Stmts:
        test = self.settled(s.test)
        return [self.replaced(s, test=test, body=self.block(s.body), orelse=self.block(s.orelse))]

    def on_For(self, s: ast.For) -> Stmts:
        self.refuse_mentions(s.target)
        items = self.settled(s.iter)
        return [self.replaced(s, iter=items, body=self.block(s.body), orelse=self.block(s.orelse))]

    def on_While(self, s: ast.While) -> Stmts:
        body = self.block(s.body)
        if not self.mentions(s.test):
            return [
                self.replaced(s, test=self.read(s.test), body=body, orelse=self.block(s.orelse))
            ]
        if s.orelse:
            raise Escapes(self.first_changer(s.test))
        outer, self.before = self.before, []
        test = self.settled(s.test)
        first = [self.at(b, s) for b in self.before]
        self.before = outer
        stop = self.at(ast.Break(), s)
        leave = exits.branch(exits.negated(test), [stop], [], s)
        return [self.replaced(s, test=ast.Constant(True), body=[*first, leave, *body])]

    def on_With(self, s: ast.With) -> Stmts:
        self.refuse_mentions(s)  # it may swallow an exception on the way
        return [self.replaced(s, items=[self.read(i) for i in s.items], body=self.block(s.body))]

    def on_Try(self, s: ast.Try) -> Stmts:
        self.refuse_mentions(s)
        if self.mine is not None and self.mine.changed and s.finalbody:
            raise Escapes(self.first_shared())
        handlers = [self.replaced(h, body=self.block(h.body)) for h in s.handlers]  # type: ignore
        blocks = {k: self.block(getattr(s, k)) for k in ("body", "orelse", "finalbody")}
        return [self.replaced(s, handlers=handlers, **blocks)]

    def on_Match(self, s: ast.Match) -> Stmts:
        subject = self.settled(s.subject)
        for c in s.cases:
            self.refuse_mentions(c.guard)
        cases = [
            ast.match_case(c.pattern, c.guard and self.read(c.guard), self.block(c.body))
            for c in s.cases
        ]
        return [self.replaced(s, subject=subject, cases=cases)]

    def first_shared(self) -> str:
        return next(g for g, s in self.plan.items() if s is self.mine)

    def first_changer(self, node: ast.AST) -> str:
        return next(
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in self.changers
        )

    # --- expressions

    def callee(self, call: ast.Call) -> str:
        return call.func.id if isinstance(call.func, ast.Name) else ""

    def read(self, node):  # type: ignore[no-untyped-def]
        """A node in which only functions are called that read shared variables."""
        return (
            Readers(self).visit(copy.deepcopy(node))
            if self.mentions(node, set(self.plan))
            else node
        )

    def settled(self, node: ast.expr) -> ast.expr:
        """The expression with each changing call made before it, in the order of evaluation."""
        if not self.mentions(node):
            return self.read(node)
        self.refuse_conditional(node)
        slots = parts_of(node)
        if isinstance(node, ast.Call) and self.callee(node) in self.changers:
            return self.called(node, self.new(f"{self.callee(node)}_value"))
        if isinstance(node, ast.Name):
            raise Escapes(node.id)
        last = max(i for i, (_, _, part) in enumerate(slots) if self.mentions(part))
        new = copy.copy(node)
        for i, (key, place, part) in enumerate(slots):
            if self.mentions(part):
                part = self.settled(part)  # type: ignore[arg-type]
                if i < last:
                    part = self.held(part)
            else:
                part = self.held(self.read(part)) if i < last else self.read(part)
            if place is None:
                setattr(new, key, part)
            else:
                items = list(getattr(new, key))
                items[place] = part
                setattr(new, key, items)
        return new

    def called(self, call: ast.Call, value: str) -> ast.expr:
        """Make a changing call; `value` names what the user's function returned, if it does."""
        name = self.callee(call)
        sharing = self.plan[name]
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(call)):
            raise Escapes(name)
        inner = self.settled(ast.Call(ast.Constant(None), call.args, call.keywords))
        assert isinstance(inner, ast.Call)
        shared: list[ast.expr] = [exits.load(n) for n in sharing.passed]
        new = ast.Call(exits.load(name), [*shared, *inner.args], inner.keywords)
        outs = [value] * sharing.has_value + list(sharing.changed)
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in outs]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        made = ast.Assign([target], ast.copy_location(new, call))
        if sharing.filled:
            made.fills, made.gives_back = sharing.filled, True  # type: ignore[attr-defined]
        self.before.append(made)
        return exits.load(value) if sharing.has_value else ast.Constant(None)

    def refuse_conditional(self, node: ast.AST) -> None:
        """Refuse a changing call where it may not be evaluated, or more than once."""
        if isinstance(node, ast.BoolOp):
            later: list[ast.AST] = list(node.values[1:])
        elif isinstance(node, ast.IfExp):
            later = [node.body, node.orelse]
        elif isinstance(node, ast.Compare):
            later = list(node.comparators[1:])
        elif isinstance(node, COMPREHENSIONS | ast.Lambda):
            later = [node]
        else:
            return
        for part in later:
            self.refuse_mentions(part)

    def held(self, node: ast.AST) -> ast.AST:
        """What is evaluated before a changing call, kept as it was then."""
        if isinstance(
            node, ast.Constant | ast.Lambda | ast.operator | ast.cmpop | ast.unaryop | ast.boolop
        ):
            return node
        if isinstance(node, ast.Name) and node.id not in self.variables:
            return node
        if (
            isinstance(node, ast.Attribute)
            and is_path(node)
            and not self.mentions(node, self.variables)
        ):
            return node
        if isinstance(node, ast.keyword | ast.Starred | ast.FormattedValue):
            new = copy.copy(node)
            new.value = self.held(node.value)  # type: ignore[assignment]
            return new
        if isinstance(node, ast.Slice) or any(isinstance(n, ast.Slice) for n in ast.walk(node)):
            if self.mentions(node, self.variables):
                raise Escapes(next(iter(self.changers)))
            return node
        name = self.new("before")
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], node))  # type: ignore[arg-type]
        return exits.load(name)


class Readers(ast.NodeTransformer):
    """Calls of functions that only read shared variables, with these passed to them."""

    def __init__(self, work: Rewrite) -> None:
        self.work = work

    def visit_Call(self, node: ast.Call) -> ast.Call:
        name = self.work.callee(node)
        if name in self.work.plan and any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
            raise Escapes(name)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        if name in self.work.plan:
            node.args[:0] = [exits.load(n) for n in self.work.plan[name].passed]
        else:
            node.func = self.visit(node.func)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.work.plan:
            raise Escapes(node.id)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self.work.refuse_mentions(node, set(self.work.plan))
        return node


def parts_of(node: ast.AST) -> list[tuple[str, int | None, ast.AST]]:
    """The parts of an expression in the order in which they are evaluated, each with its place."""
    found: list[tuple[str, int | None, ast.AST]] = []
    for key, value in ast.iter_fields(node):
        if isinstance(value, ast.expr_context):
            continue
        if isinstance(value, list):
            found += [(key, i, v) for i, v in enumerate(value) if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append((key, None, value))
    return found


def is_path(node: ast.expr) -> bool:
    """Whether an expression is a dotted name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
