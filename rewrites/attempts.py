"""`try` becomes a block that catches, and branches on what it caught.

    try:                                  with caught(ValueError) as error:
        y = parse(text)                       y = parse(text)
    except ValueError:            ->      if error:
        y = 0.0                               y = 0.0
    finally:                              log.append(y)
        log.append(y)

Only where each variable's value after an exception is certain; other `try` statements stay as they
are.
"""

from __future__ import annotations

import ast

from overt.rewrites import core
from overt.rewrites.exits import EXITS, always_exits, contains
from overt.rewrites.handling import Handling
from overt.rewrites.managers import Managers
from overt.rewrites.scopes import CHANGING, changed_names, new_name, root_name

Stmts = list[ast.stmt]


def attempts_to_blocks(
    body: Stmts, shared: set[str], taken: set[str], managers: Managers | None = None
) -> Stmts:
    """Statements with every `try` replaced that can be; `shared` are names that others may hold."""
    kinds = ast.Try | ast.With
    if not any(isinstance(n, kinds) for s in body for n in ast.walk(s)):
        return body
    return Attempts(body, shared, taken, managers or Managers()).block(body)


class Attempts:
    def __init__(self, body: Stmts, shared: set[str], taken: set[str], managers: Managers) -> None:
        self.shared, self.taken = shared, taken
        self.function, self.managers = body, managers
        self.handling = Handling(body, shared, taken, managers, self.block, self.is_local)

    def new(self, stem: str) -> str:
        return new_name(stem, self.taken)

    def block(self, body: Stmts) -> Stmts:
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> Stmts:
        if isinstance(s, ast.FunctionDef | ast.ClassDef):
            return [s]
        if isinstance(s, ast.With) and (types := suppressed(s)) is not None:
            handler = ast.ExceptHandler(types, None, [self.at(ast.Pass(), s)])
            s = self.at(ast.Try(s.body, [handler], [], []), s)
        if isinstance(s, ast.With) and (ending := self.managers.ends(s)) is not None:
            if ending and len(s.items) == 1 and not any(contains(b, *EXITS) for b in s.body):
                return self.block(self.managed(s))
            s = self.managers.watched(s)
        if isinstance(s, ast.Try):
            return self.attempt(s)
        fields = {}
        for key in ("body", "orelse"):
            if isinstance(getattr(s, key, None), list):
                fields[key] = self.block(getattr(s, key))
        if not fields:
            return [s]
        new = type(s)(**{**dict(ast.iter_fields(s)), **fields})
        return [ast.copy_location(new, s)]

    def managed(self, s: ast.With) -> Stmts:
        """A block whose manager may end exceptions, as the `try` that it stands for."""
        manager, failure = self.new("manager"), self.new("failure")

        def method(name: str, *args: ast.expr) -> ast.expr:
            f = ast.Attribute(ast.Name(manager, ast.Load()), name, ast.Load())
            return ast.Call(f, list(args), [])

        item, nothing = s.items[0], [ast.Constant(None)] * 3
        start = ast.Assign([ast.Name(manager, ast.Store())], item.context_expr)
        entered: ast.stmt = ast.Expr(method("__enter__"))
        if item.optional_vars is not None:
            entered = ast.Assign([item.optional_vars], method("__enter__"))
        given: list[ast.expr] = [ast.Name(manager, ast.Load()), ast.Name(failure, ast.Load())]
        ended = ast.Call(ast.Name("@is_ended", ast.Load()), given, [])
        again = ast.If(ast.UnaryOp(ast.Not(), ended), [self.at(ast.Raise(), s)], [])
        handler = ast.ExceptHandler(
            ast.Name("BaseException", ast.Load()), failure, [self.at(again, s)]
        )
        last = [self.at(ast.Expr(method("__exit__", *nothing)), s)]
        attempt = ast.Try(s.body, [handler], last, [])
        return [self.at(part, s) for part in (start, entered, attempt)]

    def attempt(self, s: ast.Try) -> Stmts:
        followed = self.handling.attempt(s)
        if followed is not None:
            if not s.finalbody:
                return followed
            s = ast.copy_location(ast.Try(followed, [], [], s.finalbody), s)
            return self.plain_attempt(s)
        return self.plain_attempt(s)

    def plain_attempt(self, s: ast.Try) -> Stmts:
        """A `try` as a block that catches what Python raises."""
        body, orelse = self.with_return_last(s)
        if not self.is_certain(s, body, orelse):
            blocks = [self.block(part) for part in (s.body, s.orelse, s.finalbody)]
            handlers = [
                ast.copy_location(ast.ExceptHandler(h.type, h.name, self.block(h.body)), h)
                for h in s.handlers
            ]
            return [ast.copy_location(ast.Try(blocks[0], handlers, *blocks[1:]), s)]
        done = self.catching(s, body, orelse) if s.handlers else self.block(body)
        if not s.finalbody:
            return done
        last: Stmts = self.block(s.finalbody)
        if not s.handlers and orelse:
            last, orelse = [*last, *orelse], []
        exits = any(contains(b, *EXITS) for b in done)
        if not exits and all(self.is_local(f) for f in s.finalbody):
            return [*done, *last]
        failure = self.new("failure")
        again = ast.Attribute(ast.Name(failure, ast.Load()), "raise_again", ast.Load())
        block = self.caught(done, [], failure, s)
        block.always = len(s.finalbody) + 1  # type: ignore[attr-defined]
        return [
            block,
            *last[: len(s.finalbody)],
            self.at(ast.Expr(ast.Call(again, [], [])), s),
            *last[len(s.finalbody) :],
        ]

    def with_return_last(self, s: ast.Try) -> tuple[Stmts, Stmts]:
        """The body without the `return` that ends it, and what comes after it went well."""
        last = s.body[-1]
        if not isinstance(last, ast.Return) or s.orelse:
            return s.body, s.orelse
        if last.value is None or isinstance(last.value, ast.Constant):
            return [*s.body[:-1], self.at(ast.Pass(), last)], [last]
        held = self.new("value")
        stored = self.at(ast.Assign([ast.Name(held, ast.Store())], last.value), last)
        return [*s.body[:-1], stored], [self.at(ast.Return(ast.Name(held, ast.Load())), last)]

    def at(self, s: ast.stmt, place: ast.AST) -> ast.stmt:
        return ast.copy_location(s, place)

    # --- what an exception leaves behind

    def is_certain(self, s: ast.Try, body: Stmts, orelse: Stmts) -> bool:
        """Whether every variable that is read later has a known value on each path."""
        blocks = [*body, *orelse, *(b for h in s.handlers for b in h.body)]
        if any(contains(b, *EXITS) for b in s.finalbody):
            return False
        unsure = self.unsure(body)
        for h in s.handlers:
            left = unsure if always_exits(h.body) else unsure - set_surely(h.body)
            if loads(h.body) & unsure or left & self.loaded_beside(body):
                return False
        changed = {n for b in blocks for n in changed_names(b)}
        if not any(contains(b, *EXITS) for b in blocks) and all(map(self.is_local, s.finalbody)):
            return True
        return not loads(s.finalbody) & changed and not changed_in(s.finalbody) & changed

    def unsure(self, body: Stmts) -> set[str]:
        """Names that an exception may find changed or not."""
        names = {n for b in body for n in changed_names(b)}
        last = body[-1]
        if isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            names -= changed_names(last) - {n for b in body[:-1] for n in changed_names(b)}
        return names

    def loaded_beside(self, body: Stmts) -> set[str]:
        """Names that are read anywhere but in the body itself."""
        inside = {id(n) for b in body for n in ast.walk(b)}
        return {
            n.id
            for b in self.function
            for n in ast.walk(b)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in inside
        }

    def is_local(self, s: ast.stmt) -> bool:
        """Whether a statement surely matters to nobody once an exception leaves the function."""
        if isinstance(s, ast.Pass):
            return True
        if isinstance(s, ast.Assign | ast.AugAssign):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            plain = all(isinstance(t, ast.Name) and t.id not in self.shared for t in targets)
            return plain and not any(isinstance(n, ast.Call) for n in ast.walk(s.value))
        call = s.value if isinstance(s, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            names = root_name(call.func.value)
            inner = [n for a in call.args for n in ast.walk(a)]
            return (
                call.func.attr in CHANGING
                and bool(names)
                and not names & self.shared
                and not any(isinstance(n, ast.Call) for n in inner)
            )
        return False

    # --- the blocks

    def caught(self, body: Stmts, types: list[ast.expr], name: str, s: ast.stmt) -> ast.stmt:
        call = ast.Call(ast.Name("@caught", ast.Load()), types, [])
        item = ast.withitem(call, ast.Name(name, ast.Store()))
        return self.at(ast.With([item], body), s)

    def catching(self, s: ast.Try, body: Stmts, orelse: Stmts) -> Stmts:
        error = self.new("error")
        chain = self.block(orelse)
        types = [h.type or ast.Name("BaseException", ast.Load()) for h in s.handlers]
        for position, h in reversed(list(enumerate(s.handlers))):
            test: ast.expr = ast.Name(error, ast.Load())
            if len(s.handlers) > 1:
                matches = ast.Attribute(test, "was", ast.Load())
                test = ast.Call(matches, [ast.Constant(position)], [])
            exception = ast.Attribute(ast.Name(error, ast.Load()), "value", ast.Load())
            inner = [Reraising(exception).visit(b) for b in self.block(h.body)]
            if h.name:
                inner.insert(0, self.at(ast.Assign([ast.Name(h.name, ast.Store())], exception), h))
            chain = [self.at(ast.If(test, inner, chain), h)]
        return [self.caught(self.block(body), types, error, s), *chain]


def suppressed(s: ast.With) -> ast.expr | None:
    """The types of exceptions that `with contextlib.suppress(...)` ends a block at."""
    call = s.items[0].context_expr
    if len(s.items) > 1 or not isinstance(call, ast.Call) or not call.args:
        return None
    if ast.unparse(call.func) not in ("contextlib.suppress", "suppress"):
        return None
    return call.args[0] if len(call.args) == 1 else ast.Tuple(call.args, ast.Load())


def caught_by(s: ast.With | core.With) -> str | None:
    """The name that tells whether a block caught an exception after which the function goes on."""
    for i in s.items:
        if isinstance(i.context_expr, ast.Call) and isinstance(i.optional_vars, ast.Name):
            callee, types = i.context_expr.func, i.context_expr.args
            if isinstance(callee, ast.Name) and callee.id == "@caught" and types:
                return i.optional_vars.id
    return None


class Reraising(ast.NodeTransformer):
    """A bare `raise` of a handler names what it raises."""

    def __init__(self, exception: ast.expr) -> None:
        self.exception = exception

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if node.exc is not None:
            return node
        return ast.copy_location(ast.Raise(self.exception, None), node)

    def visit_Try(self, node: ast.Try) -> ast.Try:
        return node

    visit_FunctionDef = visit_Try  # type: ignore[assignment]


def loads(body: Stmts) -> set[str]:
    return {
        n.id
        for b in body
        for n in ast.walk(b)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def changed_in(body: Stmts) -> set[str]:
    return {n for b in body for n in changed_names(b)}


def set_surely(body: Stmts) -> set[str]:
    """Names that a block sets whatever happens in it."""
    return {
        n.id
        for b in body
        if isinstance(b, ast.Assign | ast.AnnAssign)
        for n in ast.walk(b)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
