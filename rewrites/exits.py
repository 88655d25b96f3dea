"""Single exit: `return`, `break`, `continue`, loop `else` become branches, flags where they must.

for x in xs:                      stopped = False
    if x < 0:                     for x in xs:               # until stopped
        break              ->         stopped = x < 0
    total += x                        if not stopped:
                                          total += x
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from overt.rewrites import core
from overt.rewrites.scopes import new_name

Stmts = list[ast.stmt]

LOOPS = (ast.For, ast.While)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def single_exit(body: Stmts, taken: set[str]) -> tuple[Stmts, ast.expr]:
    """The statements of a function without any exit, and the expression that it returns."""
    if not body or not always_exits(body):
        body = [*body, ast.Return(ast.Constant(None))]
    head, last = body[:-1], body[-1]
    if isinstance(last, ast.Return) and not any(contains(s, ast.Return) for s in head):
        plan = Plan(taken)
        return plan.sequence(head), last.value or ast.Constant(None)
    plan = Plan(taken)
    statements = plan.sequence(body)
    if plan.uses_returned:
        statements.insert(0, assign(plan.returned, ast.Constant(False)))
    return statements, load(plan.result)


def contains(node: ast.AST, *kinds: type) -> bool:
    """Whether an exit of these kinds leaves `node` (break and continue of inner loops do not)."""
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, kinds):
        return True
    if isinstance(node, LOOPS):
        kinds = tuple(k for k in kinds if k is ast.Return)
        if not kinds:
            return any(contains(s, ast.Break, ast.Continue) for s in node.orelse)
    return any(contains(child, *kinds) for child in ast.iter_child_nodes(node))


EXITS = (ast.Return, ast.Break, ast.Continue)


def always_exits(body: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of `body`."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (*EXITS, ast.Raise)):
        return True
    if isinstance(last, ast.If) and is_true(last.test):
        return always_exits(last.body)
    if isinstance(last, ast.If):
        return always_exits(last.body) and always_exits(last.orelse)
    if isinstance(last, ast.With):
        return always_exits(last.body) and not catches(last)
    if isinstance(last, ast.Match):
        return any(is_wildcard(c) for c in last.cases) and all(
            always_exits(c.body) for c in last.cases
        )
    if isinstance(last, ast.While) and is_true(last.test):
        return not any(contains(s, ast.Break) for s in last.body)
    return False


def catches(s: ast.With) -> bool:
    """Whether an exception may end a block, and what comes after it still runs."""
    return any(core.is_call_of(i.context_expr, "@caught") for i in s.items)


def is_wildcard(case: ast.match_case) -> bool:
    return (
        case.guard is None
        and isinstance(case.pattern, ast.MatchAs)
        and case.pattern.pattern is None
    )


def is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr, at: ast.AST | None = None) -> ast.Assign:
    statement = ast.Assign([ast.Name(name, ast.Store())], value)
    statement.lineno = getattr(at, "lineno", 0)
    return statement


FLIPPED = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is}


def negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in FLIPPED:
        return ast.Compare(test.left, [FLIPPED[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def branch(test: ast.expr, body: Stmts, orelse: Stmts, at: ast.AST) -> ast.If:
    if orelse and not body:
        test, body, orelse = negated(test), orelse, []
    statement = ast.If(test, body or [ast.Pass()], orelse)
    statement.lineno = getattr(at, "lineno", 0)
    return statement


class Plan:
    """Removes the exits of one function, choosing names for its flags."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.result = self.new("result")
        self.returned = self.new("returned")
        self.uses_returned = False
        self.in_loop = False
        self.stopped: str | None = None  # the flag of the innermost loop
        self.flagged = False  # whether a return must also set its flag
        self.native = False  # within a `try` that stays one, whose loops stay as they are

    def new(self, stem: str) -> str:
        return new_name(stem, self.taken)

    def sequence(self, body: Sequence[ast.stmt]) -> Stmts:
        done: Stmts = []
        for position, s in enumerate(body):
            rest = list(body[position + 1 :])
            if isinstance(s, ast.Return):
                done.append(assign(self.result, s.value or ast.Constant(None), s))
                if self.in_loop or self.flagged:
                    self.uses_returned = True
                    done.append(assign(self.returned, ast.Constant(True), s))
                return done
            if isinstance(s, ast.Break):
                assert self.stopped is not None
                done.append(assign(self.stopped, ast.Constant(True), s))
                return done
            if isinstance(s, ast.Continue):
                return done
            if isinstance(s, ast.Raise):
                return [*done, s]
            if isinstance(s, ast.If) and is_true(s.test):
                return done + self.sequence([*s.body, *rest])
            if isinstance(s, ast.If) and contains(s, *EXITS):
                return done + self.branching(s, rest)
            if isinstance(s, LOOPS):
                return done + self.loop(s, rest)
            if isinstance(s, ast.With) and contains(s, *EXITS):
                return done + self.block(s, rest)
            if isinstance(s, ast.Try) and contains(s, *EXITS):
                return done + self.attempt(s, rest)
            if isinstance(s, ast.If):
                s = branch(s.test, self.sequence(s.body), self.sequence(s.orelse), s)
            elif isinstance(s, ast.With):
                s = ast.copy_location(ast.With(s.items, self.sequence(s.body)), s)
            done.append(s)
        return done

    def branching(self, s: ast.If, rest: Stmts) -> Stmts:
        then_leaves, else_leaves = always_exits(s.body), always_exits(s.orelse)
        if then_leaves or else_leaves or not rest:
            then = self.sequence(s.body if then_leaves else [*s.body, *rest])
            orelse = self.sequence(s.orelse if else_leaves else [*s.orelse, *rest])
            return self.flag_only(branch(s.test, then, orelse, s))
        flagged, self.flagged = self.flagged, True
        start, skip = self.skipping(s)
        then, orelse = (
            self.sequence([_Continues(skip).visit(b) for b in side] if skip else side)
            for side in (s.body, s.orelse)
        )
        self.flagged = flagged
        flags = [skip] if skip else []
        if contains(s, ast.Break) and self.stopped:
            flags.append(self.stopped)
        if contains(s, ast.Return):
            flags.append(self.returned)
        return [*start, branch(s.test, then, orelse, s), *self.unless(flags, rest, s)]

    def unless(self, flags: list[str], rest: Stmts, at: ast.AST) -> Stmts:
        """`rest`, run only if no flag is up."""
        tail = self.sequence(rest)
        if not flags or not tail:
            return tail
        return [branch(negated(any_up(flags)), tail, [], at)]

    def flag_only(self, s: ast.If) -> Stmts:
        """`if p: flag = True` is `flag = p`; with a rest, `flag = p; if not flag: rest`."""
        only = s.body[0] if len(s.body) == 1 else None
        if (
            isinstance(only, ast.Assign)
            and isinstance(only.value, ast.Constant)
            and only.value.value is True
            and isinstance(only.targets[0], ast.Name)
            and only.targets[0].id == self.stopped
        ):
            flag = assign(only.targets[0].id, s.test, s)
            flag.is_flag = True  # type: ignore[attr-defined]
            if not s.orelse:
                return [flag]
            return [flag, branch(negated(load(self.stopped or "")), s.orelse, [], s)]
        return [s]

    def loop(self, s: ast.For | ast.While, rest: Stmts) -> Stmts:
        flag_test = ends_by_flag(s.body)
        if flag_test is not None and not self.native:
            body = Plan(self.taken).sequence(s.body[:-1])
            new = (
                ast.For(s.target, s.iter, body, [])
                if isinstance(s, ast.For)
                else ast.While(s.test, body, [])
            )
            new.lineno, new.until = s.lineno, flag_test  # type: ignore[union-attr]
            done: Stmts = [new]
            if s.orelse:
                done += self.sequence([branch(negated(flag_test), list(s.orelse), [], s), *rest])
                return done
            return done + self.sequence(rest)
        breaks = any(contains(b, ast.Break) for b in s.body)
        returns = any(contains(b, ast.Return) for b in s.body)
        outer = (self.in_loop, self.stopped, self.flagged)
        self.in_loop, self.flagged = True, False
        self.stopped = self.new("stopped") if breaks else None
        body = self.sequence(s.body)
        flag, (self.in_loop, self.stopped, self.flagged) = self.stopped, outer
        new = (
            ast.For(s.target, s.iter, body, [])
            if isinstance(s, ast.For)
            else ast.While(s.test, body, [])
        )
        new.lineno = s.lineno
        flags = ([flag] if flag else []) + ([self.returned] if returns else [])
        until = any_up(flags) if flags else None
        if until is not None and self.native:
            new.body.append(branch(until, [ast.Break()], [], s))
        else:
            new.until = until  # type: ignore[union-attr]
        start: Stmts = [assign(flag, ast.Constant(False), s)] if flag else []
        if s.orelse:
            rest = self.otherwise(s.orelse, flag, rest, s)
        if returns:
            self.uses_returned = True
            if isinstance(s, ast.While) and is_true(s.test) and not breaks:
                return [*start, new]
            return [*start, new, *self.unless([self.returned], rest, s)]
        return [*start, new, *self.sequence(rest)]

    def otherwise(self, orelse: Stmts, flag: str | None, rest: Stmts, at: ast.AST) -> Stmts:
        if flag is None:
            return [*orelse, *rest]
        return [branch(negated(load(flag)), orelse, [], at), *rest]

    def block(self, s: ast.With, rest: Stmts) -> Stmts:
        always = getattr(s, "always", 0)  # statements of a `finally` come first, whatever happened
        final, rest = rest[:always], rest[always:]
        leaves = always_exits(s.body) and not catches(s)
        outer, self.flagged = self.flagged, self.flagged or bool(final or rest and not leaves)
        start, skip = self.skipping(s)
        body = self.sequence([_Continues(skip).visit(b) for b in s.body] if skip else s.body)
        self.flagged = outer
        new = ast.With(s.items, body)
        new.lineno = s.lineno
        if leaves and not final:
            return [*start, new]
        rest = [] if leaves else rest
        tail = self.unless([*([skip] if skip else []), *self.raised(s)], rest, s)
        return [*start, new, *self.sequence(final), *tail]

    def skipping(self, s: ast.stmt) -> tuple[Stmts, str]:
        """A flag for each `continue` in a statement, and where it starts."""
        if not self.in_loop or not contains(s, ast.Continue):
            return [], ""
        skip = self.new("skipped")
        return [assign(skip, ast.Constant(False), s)], skip

    def attempt(self, s: ast.Try, rest: Stmts) -> Stmts:
        outer = self.flagged, self.native
        self.flagged = self.native = True
        start, skip = self.skipping(s)
        if skip:
            _Continues(skip).generic_visit(s)
        flags = [*([skip] if skip else []), *self.raised(s)]
        handlers = [
            ast.ExceptHandler(h.type, h.name, self.sequence(h.body) or [ast.Pass()])
            for h in s.handlers
        ]
        body, orelse = self.sequence(s.body) or [ast.Pass()], self.unless(flags, s.orelse, s)
        new = ast.copy_location(ast.Try(body, handlers, orelse, self.sequence(s.finalbody)), s)
        self.flagged, self.native = outer
        return [*start, new, *self.unless(flags, rest, s)]

    def raised(self, s: ast.stmt) -> list[str]:
        flags = [self.stopped] if self.stopped and contains(s, ast.Break) else []
        return flags + ([self.returned] if contains(s, ast.Return) else [])


def any_up(flags: list[str]) -> ast.expr:
    names: list[ast.expr] = [load(f) for f in flags]
    return names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)


def ends_by_flag(body: Stmts) -> ast.expr | None:
    """The test of a last `if flag: break`, where nothing else leaves the loop."""
    last = body[-1]
    if not (isinstance(last, ast.If) and not last.orelse and len(last.body) == 1):
        return None
    if not isinstance(last.body[0], ast.Break) or any(contains(b, *EXITS) for b in body[:-1]):
        return None
    names = last.test.values if isinstance(last.test, ast.BoolOp) else [last.test]
    simple = all(isinstance(n, ast.Name) for n in names)
    return last.test if simple and not isinstance(getattr(last.test, "op", None), ast.And) else None


class _Continues(ast.NodeTransformer):
    """Before each `continue` of this loop, raise a flag."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        return [assign(self.flag, ast.Constant(True), node), node]

    def visit_For(self, node: ast.For) -> ast.For:
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node
