"""Branches and loops in core form: what they change is merged or carried."""

from __future__ import annotations

import ast

from overt.rewrites import core, exits
from overt.rewrites.core import Origin
from overt.rewrites.scopes import Renamed, changed_names
from overt.rewrites.storing import Stores
from overt.rewrites.views import assigned_names


class Flows(Stores):
    """Branches, loops, and comprehensions that are loops."""

    def do_If(self, s: ast.If) -> None:
        test = self.expr(s.test)
        before, origin = dict(self.env), self.origin
        then = self.inner(s.body)
        after_then, self.env = self.env, dict(before)
        orelse = self.inner(s.orelse)
        after_else, self.env = self.env, dict(before)
        merges = []
        for n in sorted({*after_then, *after_else}):
            a, b = after_then.get(n), after_else.get(n)
            if a == b:
                continue
            merges.append(core.Merge(self.bind(n), version(a), version(b)))
        self.emit(core.If(test, then, orelse, tuple(merges), origin))

    def loop_names(self, s: ast.For | ast.While) -> list[str]:
        found = {n for b in s.body for n in changed_names(b)}
        # What others hold is changed where it stands, and each iteration finds it there.
        found -= self.foreign - {n for b in s.body for n in assigned_names(b)}
        if isinstance(s, ast.For):
            found |= {n.id for n in ast.walk(s.target) if isinstance(n, ast.Name)}
        # A container of an outer function that changes is no variable of this one.
        return sorted((found & self.local) - self.cells)

    def do_For(self, s: ast.For) -> None:
        items = self.expr(s.iter)
        origin, carried = self.origin, self.loop_names(s)
        before = dict(self.env)
        inside = {n: self.bind(n) for n in carried}
        extra: list[tuple[ast.expr, str]] = []
        target = self.target(s.target, extra)
        body = [*[ast.Assign([place], core.name(held)) for place, held in extra], *s.body]
        block = self.inner(body)
        self.finish(s, before, inside, block, origin, target, items)

    def target(self, target: ast.expr, extra: list[tuple[ast.expr, str]]) -> core.Pattern:
        if isinstance(target, ast.Subscript | ast.Attribute):
            held = self.names.fresh("item")
            self.env[held] = held
            self.local.add(held)
            extra.append((target, held))
            return held
        if isinstance(target, ast.Tuple | ast.List):
            return tuple(self.target(t, extra) for t in target.elts)
        return self.pattern(target)

    def do_While(self, s: ast.While) -> None:
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(s.test)):
            self.rotated(s)
            return
        origin, carried = self.origin, self.loop_names(s)
        before = dict(self.env)
        inside = {n: self.bind(n) for n in carried}
        test = self.expr(s.test)
        block = self.inner(s.body)
        self.finish(s, before, inside, block, origin, None, test)

    def rotated(self, s: ast.While) -> None:
        """`while (n := f()) > 0` sets n before the loop and at the end of its body."""
        first, test = split_walrus(s.test)
        again: list[ast.stmt] = list(first)
        until = getattr(s, "until", None)
        if until is not None:
            again = [exits.branch(exits.negated(until), again, [], s)]
        loop = ast.While(test, [*s.body, *again], [])
        loop.lineno, loop.until = s.lineno, until  # type: ignore[attr-defined]
        self.block([*first, loop])

    def finish(
        self,
        s: ast.For | ast.While,
        before: dict[str, str],
        inside: dict[str, str],
        block: core.Block,
        origin: Origin,
        target: core.Pattern,
        head: ast.expr,
    ) -> None:
        until = getattr(s, "until", None)
        until = self.expr(until) if until is not None else None
        after = self.env
        self.env = dict(before)
        carries = []
        for n, held in inside.items():
            init, last = version(before.get(n)), version(after.get(n))
            carries.append(core.Carry(held, init, last, self.bind(n)))
        for n in after:  # names first set inside, not seen as changed (walrus in a test)
            if n not in self.env and n not in inside:
                self.env.pop(n, None)
        if target is not None:
            self.emit(core.For(target, head, tuple(carries), block, until, origin))
        else:
            self.emit(core.While(head, tuple(carries), block, until, origin))

    def searched(self, node: ast.GeneratorExp, wanted: bool) -> ast.expr:
        """`any` or `all` of a generator that sets variables: a loop that ends as it does."""
        (g,), held = node.generators, "holds"
        while held in self.local | self.enclosing:
            held += "_"
        own: dict[str, str] = {}
        for n in ast.walk(g.target):
            if isinstance(n, ast.Name):
                own[n.id] = f"{n.id}_"
                while own[n.id] in self.local | self.enclosing:
                    own[n.id] += "_"
        node = Renamed(own).visit(node)
        (g,) = node.generators
        flag = ast.Call(ast.Name("bool", ast.Load()), [node.elt], [])
        value = node.elt if isinstance(node.elt, ast.Compare) else flag
        step: ast.stmt = exits.assign(held, value, node)
        for condition in reversed(g.ifs):
            step = exits.branch(condition, [step], [], node)
        loop = ast.copy_location(ast.For(g.target, g.iter, [step], []), node)
        found = exits.load(held)
        loop.until = found if wanted else exits.negated(found)  # type: ignore[attr-defined]
        self.local |= {held, *own.values()}
        self.block([exits.assign(held, ast.Constant(not wanted), node), loop])
        return core.name(self.env[held])

    def looped(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> ast.expr:
        """A comprehension that sets variables of the function, as a loop."""
        own = {
            n.id: f"{n.id}_"
            for g in node.generators
            for n in ast.walk(g.target)
            if isinstance(n, ast.Name)
        }
        held = "items"
        while held in self.local | self.enclosing:
            held += "_"
        for n in own:
            while own[n] in self.local | self.enclosing:
                own[n] += "_"
        node = Renamed(own).visit(node)
        place = ast.Name(held, ast.Load())
        step: ast.stmt
        if isinstance(node, ast.DictComp):
            step = ast.Assign([ast.Subscript(place, node.key, ast.Store())], node.value)
            empty: ast.expr = ast.Dict([], [])
        else:
            method = "append" if isinstance(node, ast.ListComp) else "add"
            step = ast.Expr(ast.Call(ast.Attribute(place, method, ast.Load()), [node.elt], []))
            empty = ast.List([], ast.Load())
            if isinstance(node, ast.SetComp):
                empty = ast.Call(ast.Name("set", ast.Load()), [], [])
        for g in reversed(node.generators):
            for condition in reversed(g.ifs):
                step = exits.branch(condition, [step], [], node)
            step = ast.copy_location(ast.For(g.target, g.iter, [step], []), node)
        self.local |= {held, *own.values()}
        self.block([exits.assign(held, empty, node), step])
        return core.name(self.env[held])


def version(name: str | None) -> ast.expr:
    return core.name(name if name is not None else core.UNDEFINED)


def split_walrus(test: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    found: list[ast.stmt] = []

    class Hoist(ast.NodeTransformer):
        def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
            value = self.visit(node.value)
            found.append(exits.assign(node.target.id, value, node))
            return ast.Name(node.target.id, ast.Load())

    return found, Hoist().visit(test)
