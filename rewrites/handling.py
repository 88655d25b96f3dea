"""`try` whose exceptions depend on data: branches that ask beforehand.

    try:                                  if is_zero(x):
        y = 1.0 / x                           y = 0.0
    except ZeroDivisionError:     ->      else:
        y = 0.0                               y = 1.0 / x

An explicit `raise` leaves the block (`leaving`), an operation of numbers is asked for beforehand
(`risks`), a function of the user's that does either is written into the block (`inlining`).  What
only Python can tell, such as the call of an unknown function, is caught where it stands.
"""

from __future__ import annotations

import ast
import builtins
import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from overt.rewrites.exits import EXITS, assign, branch, contains, negated
from overt.rewrites.leaving import Leave, Leaving, Stmts, Way, ends
from overt.rewrites.managers import Managers
from overt.rewrites.numpy_results import numpy_names
from overt.rewrites.refusal import Refusal
from overt.rewrites.risks import Danger, Evaluation, Risks
from overt.rewrites.scopes import (
    NESTED,
    Renamed,
    changed_names,
    free_names,
    locals_of,
    new_name,
    own_nodes,
)
from overt.rewrites.written_out import can_be_written_out, values_given

Kind = Any  # a class, or the name of one that the function defines
BROAD = (BaseException, Exception)
# What only operations of numbers raise, as far as they can be asked for.
ARITHMETIC = {ZeroDivisionError, ArithmeticError, OverflowError}


# What an exception has only once it was raised.
GIVEN_BY_RAISE = frozenset(
    "__cause__ __context__ __suppress_context__ __traceback__ with_traceback".split()
)


class Unfollowed(Exception):  # noqa: N818  it stops a rewrite, nobody sees it
    """Raised for a `try` that stays a block which catches."""


@dataclass(eq=False)
class Handler:
    """One `except`: what it handles, and what it does."""

    node: ast.ExceptHandler
    kinds: tuple[Kind, ...]
    way: Way
    told: bool  # whether it needs the exception itself


@dataclass(eq=False)
class Frame:
    """What an exception, or a jump, passes on its way out."""

    handlers: list[Handler] = field(default_factory=list)
    final: Stmts = field(default_factory=list)
    loop: bool = False
    result: Way | None = None  # of a function that is written into the block
    store: str = ""


class Handling:
    """Rewrites the `try` statements of one function."""

    def __init__(
        self,
        function: Stmts,
        own: set[str],
        taken: set[str],
        managers: Managers,
        outside: Callable[[Stmts], Stmts],
        is_local: Callable[[ast.stmt], bool],
    ) -> None:
        self.function, self.taken, self.managers = function, taken, managers
        self.outside, self.is_local = outside, is_local
        self.own = own | {
            n.id
            for s in function
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.classes = {
            n.name: n for s in function for n in ast.walk(s) if isinstance(n, ast.ClassDef)
        }
        self.frames: list[Frame] = []
        self.risks = Risks(self)
        self.arrays = numpy_names(function, self.risks.meaning, set())
        self.depth = 0

    def new(self, stem: str) -> str:
        return new_name(stem, self.taken)

    # --- kinds of exceptions

    def kind(self, node: ast.expr | None) -> Kind:
        """The class of exceptions that an expression names; Unfollowed if the text does not say."""
        if isinstance(node, ast.Name) and node.id in self.classes:
            return node.id
        if node is None:
            return BaseException
        found = self.named(node)
        if is_exception(found):
            return found
        raise Unfollowed

    def named(self, node: ast.expr | None) -> Any:
        """What an expression names outside of the function."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node else set()
        return None if node is None or names & self.own else self.managers.object(node)

    def kinds(self, node: ast.expr | None) -> tuple[Kind, ...]:
        if isinstance(node, ast.Tuple):
            return tuple(k for e in node.elts for k in self.kinds(e))
        found = self.named(node)
        if isinstance(found, tuple) and all(is_exception(k) for k in found):
            return found
        return (self.kind(node),)

    def is_a(self, kind: Kind, other: Kind) -> bool:
        """Whether exceptions of a kind are of another one too."""
        if isinstance(kind, str):
            return kind == other or any(
                self.is_a(self.kind(b), other) for b in self.classes[kind].bases
            )
        return isinstance(other, type) and issubclass(kind, other)

    def handles(self, kind: Kind) -> bool:
        """Whether a `try` around the code that is rewritten handles exceptions of a kind."""
        return any(self.is_a(kind, k) for f in self.frames for h in f.handlers for k in h.kinds)

    def is_a_kind(self, name: str) -> bool:
        """Whether a class of the function's is one of exceptions."""
        try:
            return self.is_a(name, BaseException)
        except Unfollowed:
            return False

    def handled(self) -> list[Kind]:
        return [k for f in self.frames for h in f.handlers for k in h.kinds]

    # --- one `try`

    def attempt(self, s: ast.Try) -> Stmts | None:
        """The statements that stand for the handlers of a `try`; None if it is not followed."""
        if not s.handlers or self.frames:
            return None
        known = set(self.taken)
        try:
            self.frames = [Frame(self.handlers(s))]
            danger = self.risks.of_block(s.body)
            if danger is Danger.NONE and set(self.handled()) <= ARITHMETIC:
                return [*self.outside(s.body), *self.outside(s.orelse)]
            if danger is not Danger.ASKED:
                return None
            self.frames = []
            return self.do_Try(ast.copy_location(ast.Try(s.body, s.handlers, s.orelse, []), s))
        except Unfollowed:
            self.taken.intersection_update(known)
            return None
        finally:
            self.frames, self.depth = [], 0

    def handlers(self, s: ast.Try) -> list[Handler]:
        made = []
        for h in s.handlers:
            if self.kinds(h.type) == (FloatingPointError,):
                raise Refusal(
                    "arrays raise no FloatingPointError, so this handler would never run",
                    "Ask `np.isfinite(x)` with `if` instead.",
                    h,
                )
            inner = [n for b in h.body for n in nodes_of(b)]
            if any(isinstance(n, ast.Attribute) and n.attr in GIVEN_BY_RAISE for n in inner):
                raise Unfollowed
            told = any(isinstance(n, ast.Raise) and n.exc is None for n in inner)
            told = (
                told
                or bool(h.name)
                and any(isinstance(n, ast.Name) and n.id == h.name for n in inner)
            )
            made.append(Handler(h, self.kinds(h.type), Way([]), told))
        return made

    # --- raising

    def leave(self, kind: Kind, exception: ast.expr, at: ast.AST) -> Stmts | None:
        """What raising an exception comes to; None if nothing here handles it."""
        finals: Stmts = []
        for i, frame in reversed(list(enumerate(self.frames))):
            finals += copy.deepcopy(frame.final)
            for h in frame.handlers:
                if any(self.is_a(kind, k) for k in h.kinds):
                    return [ast.copy_location(self.place(h, i, kind, exception, finals), at)]
        return None

    def place(
        self, h: Handler, depth: int, kind: Kind, exception: ast.expr, finals: Stmts
    ) -> Leave:
        if not h.told:
            return Leave(h.way, finals)
        if (
            finals
            and not isinstance(exception, ast.Name | ast.Attribute)
            and any(
                isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self.own
                for n in ast.walk(exception)
            )
        ):
            raise Unfollowed  # its arguments are those before the `finally`
        outer, self.frames = self.frames, self.frames[:depth]
        exception, held = self.arguments(h, exception)
        body: Stmts = [
            Raising(exception, h.node.name or "").visit(copy.deepcopy(b)) for b in h.node.body
        ]
        if h.node.name and any(
            isinstance(n, ast.Name) and n.id == h.node.name for b in body for n in ast.walk(b)
        ):
            made = assign(h.node.name, copy.deepcopy(exception), h.node)
            body = [made, *body]
        body = [*held, *body]
        self.depth += 1
        if self.depth > 8:
            raise Unfollowed
        body = self.block(body)
        self.depth -= 1
        self.frames = outer
        return Leave(h.way, finals, body or [ast.copy_location(ast.Pass(), h.node)])

    def arguments(self, h: Handler, exception: ast.expr) -> tuple[ast.expr, Stmts]:
        """An exception whose arguments have names, where the handler reads them."""
        reads = any(
            isinstance(n, ast.Attribute) and n.attr == "args"
            for b in h.node.body
            for n in ast.walk(b)
        )
        if not reads or not isinstance(exception, ast.Call):
            return exception, []
        if not is_exception(self.named(exception.func)) or exception.keywords:
            return exception, []
        held: Stmts = []
        args: list[ast.expr] = []
        for a in exception.args:
            if isinstance(a, ast.Constant):
                args.append(a)
                continue
            name = self.new("argument")
            self.own.add(name)
            held.append(assign(name, a, h.node))
            args.append(ast.Name(name, ast.Load()))
        return ast.Call(exception.func, args, []), held

    # --- statements

    def block(self, body: Stmts) -> Stmts:
        if not self.frames:
            return self.outside(body)
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> Stmts:
        found = getattr(self, f"do_{type(s).__name__}", None)
        if isinstance(s, NESTED) or found is None:
            kept = ast.Pass | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal
            if isinstance(s, (*NESTED, kept)):
                return [s]
            raise Unfollowed
        return found(s)

    def do_Expr(self, s: ast.Expr) -> Stmts:
        if isinstance(s.value, ast.Call) and self.risks.target(s.value.func) is sys.exit:
            made = ast.Call(ast.Name("SystemExit", ast.Load()), s.value.args, [])
            return self.do_Raise(ast.copy_location(ast.Raise(made, None), s))
        return self.simple(s)

    def simple(self, s: Any) -> Stmts:
        """A statement of one value, after what its value asks for."""
        if s.value is None:
            return [s]
        evaluation = Evaluation(self, s)
        if isinstance(s, ast.AugAssign):
            if not isinstance(s.target, ast.Name):
                if self.risks.of(s) is not Danger.NONE:
                    raise Unfollowed
                return [s]
            read = ast.copy_location(ast.Name(s.target.id, ast.Load()), s)
            whole = ast.copy_location(ast.BinOp(read, s.op, s.value), s)
            after = evaluation.value(whole)
            if (
                isinstance(after, ast.BinOp)
                and isinstance(after.left, ast.Name)
                and after.left.id == s.target.id
            ):
                return [
                    *evaluation.before,
                    ast.copy_location(ast.AugAssign(s.target, s.op, after.right), s),
                ]
            return [*evaluation.before, assign(s.target.id, after, s)]
        targets = s.targets if isinstance(s, ast.Assign) else [getattr(s, "target", None)]
        for target in targets:
            if target is not None and self.risks.of(target) is not Danger.NONE:
                raise Unfollowed
        one = targets[0] if len(targets) == 1 else None
        name = one.id if isinstance(one, ast.Name) else ""
        value = evaluation.value(s.value, name, isinstance(s, ast.Expr))
        if value is None or isinstance(value, ast.Name) and value.id == name:  # it is done
            return evaluation.before
        new = copy.copy(s)
        new.value = value
        return [*evaluation.before, new]

    do_Assign = do_AugAssign = do_AnnAssign = simple

    def do_Delete(self, s: ast.Delete) -> Stmts:
        if self.risks.of(s) is not Danger.NONE:
            raise Unfollowed
        return [s]

    def do_Return(self, s: ast.Return) -> Stmts:
        value, before = s.value, []
        if value is not None:
            evaluation = Evaluation(self, s)
            store = next((f.store for f in reversed(self.frames) if f.result), "")
            value, before = evaluation.value(value, store), evaluation.before
            if value is None:
                value = ast.Name(store, ast.Load())
        finals: Stmts = []
        for frame in reversed(self.frames):
            finals += copy.deepcopy(frame.final)
            if frame.result is not None:
                is_set = isinstance(value, ast.Name) and value.id == frame.store
                if not is_set:
                    finals.insert(0, assign(frame.store, value or ast.Constant(None), s))
                return [*before, ast.copy_location(Leave(frame.result, finals), s)]
        if not finals:
            return [*before, ast.copy_location(ast.Return(value), s)]
        held = self.new("value")
        stored = assign(held, value or ast.Constant(None), s)
        last = ast.copy_location(ast.Return(ast.Name(held, ast.Load())), s)
        return [*before, stored, *finals, last]

    def do_Break(self, s: ast.Break | ast.Continue) -> Stmts:
        finals: Stmts = []
        for frame in reversed(self.frames):
            if frame.loop:
                break
            finals += copy.deepcopy(frame.final)
        return [*finals, s]

    do_Continue = do_Break

    def do_Assert(self, s: ast.Assert) -> Stmts:
        evaluation = Evaluation(self, s)
        test = evaluation.value(s.test)
        args = [] if s.msg is None else [s.msg]
        exception = ast.Call(ast.Name("AssertionError", ast.Load()), args, [])
        left = self.leave(AssertionError, exception, s)
        if left is None:
            return [*evaluation.before, ast.copy_location(ast.Assert(test, s.msg), s)]
        return [*evaluation.before, branch(negated(test), left, [], s)]

    def do_Raise(self, s: ast.Raise) -> Stmts:
        if s.exc is None:
            raise Unfollowed
        made = s.exc.func if isinstance(s.exc, ast.Call) else s.exc
        if (
            isinstance(s.exc, ast.Attribute)
            or isinstance(made, ast.Name)
            and made.id in self.own - set(self.classes)
        ):
            if self.frames and any(f.handlers for f in self.frames):
                raise Unfollowed
            return [s]
        kind = self.kind(made)
        exception = s.exc if isinstance(s.exc, ast.Call) else ast.Call(s.exc, [], [])
        left = self.leave(kind, exception, s)
        if left is not None:
            return left
        finals = [b for f in reversed(self.frames) for b in copy.deepcopy(f.final)]
        return [*finals, s]

    def do_If(self, s: ast.If) -> Stmts:
        evaluation = Evaluation(self, s)
        test = evaluation.value(s.test)
        new = ast.If(test, self.block(s.body), self.block(s.orelse))
        return [*evaluation.before, ast.copy_location(new, s)]

    # --- functions of the user's

    def definition(self, f: ast.expr) -> ast.FunctionDef | None:
        """The function of the user's that a call names, if its text can stand in its place."""
        if not isinstance(f, ast.Name):
            return None
        every = [n for s in self.function for n in nodes_of(s)]
        nested = [n for n in every if isinstance(n, ast.FunctionDef) and n.name == f.id]
        if len(nested) > 1 or f.id in self.own:
            return None
        node = nested[0] if nested else self.managers.definition(f.id)
        if node is None or node.decorator_list or not can_be_written_out(node):
            return None
        if not nested and free_names(node) & (self.own | set(self.classes)):
            return None
        return node

    def written_out(self, node: ast.FunctionDef, call: ast.Call, at: ast.AST, result: str) -> Stmts:
        """A call as the statements of the function that it calls, which set its result."""
        values = values_given(node, call)
        if values is None:
            raise Unfollowed
        stored = {n for s in node.body for n in changed_names(s)}
        table: dict[str, str] = {}
        before: Stmts = []
        for p, value in values.items():
            if isinstance(value, ast.Name) and p not in stored:
                table[p] = value.id
            else:
                table[p] = self.new(p)
                before.append(assign(table[p], value, at))
        table |= {n: self.new(n) for n in sorted(locals_of(node) - set(values))}
        self.own |= set(table.values())
        body = [Renamed(table).visit(copy.deepcopy(s)) for s in node.body]
        self.arrays = self.arrays | numpy_names([*before, *body], self.risks.meaning, self.arrays)
        way = Way([], "returned")
        frames = len(self.frames)
        self.frames.append(Frame(result=way, store=result))
        inside = self.block(body)
        del self.frames[frames:]
        tail: Stmts = [] if ends(inside) else [assign(result, ast.Constant(None), at)]
        return [*before, *Leaving([way], self.taken).run(inside, tail)]

    # --- loops and blocks

    def in_loop(self, body: Stmts) -> Stmts:
        self.frames.append(Frame(loop=True))
        done = self.block(body)
        self.frames.pop()
        return done

    def do_While(self, s: ast.While) -> Stmts:
        if self.risks.of(s.test) is Danger.NONE:
            new = ast.While(s.test, self.in_loop(s.body), self.block(s.orelse))
            return [ast.copy_location(new, s)]
        if s.orelse:
            raise Unfollowed
        stop = branch(negated(s.test), [ast.copy_location(ast.Break(), s)], [], s)
        new = ast.While(ast.Constant(True), self.in_loop([stop, *s.body]), [])
        return [ast.copy_location(new, s)]

    def do_For(self, s: ast.For) -> Stmts:
        evaluation = Evaluation(self, s)
        items = evaluation.value(s.iter)
        new = ast.For(s.target, items, self.in_loop(s.body), self.block(s.orelse))
        return [*evaluation.before, ast.copy_location(new, s)]

    def do_With(self, s: ast.With) -> Stmts:
        from overt.rewrites.attempts import suppressed

        types = suppressed(s)
        if types is not None:
            handler = ast.ExceptHandler(types, None, [ast.copy_location(ast.Pass(), s)])
            return self.do_Try(ast.copy_location(ast.Try(s.body, [handler], [], []), s))
        if not self.managers.are_plain(s) or any(
            self.risks.of(i.context_expr) is not Danger.NONE for i in s.items
        ):
            raise Unfollowed
        return [ast.copy_location(ast.With(s.items, self.block(s.body)), s)]

    def do_Try(self, s: ast.Try) -> Stmts:
        if any(contains(b, *EXITS) for b in s.finalbody):
            raise Unfollowed
        outside = list(self.frames)
        around = [*outside, Frame(final=s.finalbody)] if s.finalbody else outside
        handlers = self.handlers(s)
        self.frames = around
        for h in handlers:
            if not h.told:
                h.way.body = self.block(h.node.body)
        self.frames = [*around, Frame(handlers)]
        body = self.block(s.body)
        self.frames = around
        tail = self.block(s.orelse)
        done = Leaving([h.way for h in handlers], self.taken).run(body, tail)
        self.frames = outside
        return done if ends(done) else [*done, *copy.deepcopy(s.finalbody)]


class Raising(ast.NodeTransformer):
    """A bare `raise` of a handler, or one of its exception by name, says what it raises."""

    def __init__(self, exception: ast.expr, name: str) -> None:
        self.exception, self.name = exception, name

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if node.exc is None or isinstance(node.exc, ast.Name) and node.exc.id == self.name:
            return ast.copy_location(ast.Raise(copy.deepcopy(self.exception), None), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`e.args[0]` is the argument itself."""
        of, i = node.value, node.slice
        args = self.exception.args if isinstance(self.exception, ast.Call) else []
        if (
            isinstance(of, ast.Attribute)
            and of.attr == "args"
            and isinstance(of.value, ast.Name)
            and of.value.id == self.name
            and isinstance(i, ast.Constant)
            and isinstance(i.value, int)
            and 0 <= i.value < len(args)
            and is_builtin(self.exception)
        ):
            return copy.deepcopy(args[i.value])
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Try(self, node: ast.Try) -> ast.Try:
        return node

    visit_FunctionDef = visit_Lambda = visit_Try  # type: ignore[assignment]


def is_builtin(exception: ast.expr) -> bool:
    """Whether an exception is of a class of Python's own, which keeps its arguments as they are."""
    f = exception.func if isinstance(exception, ast.Call) else None
    return isinstance(f, ast.Name) and is_exception(getattr(builtins, f.id, None))


def is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def nodes_of(s: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement of a function, those inside of nested functions apart."""
    yield s
    if not isinstance(s, NESTED):
        yield from own_nodes(s)
