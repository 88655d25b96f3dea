"""Normalize: a function's syntax tree to core form, all desugaring done once.

x[i] += v                  x·1 = set_item(x·0, i·0, x·0[i·0] + v·0)
if (n := f(x)) > 0:   ->   n·0 = f(x·1); if n·0 > 0:
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from overt.rewrites import core, exits
from overt.rewrites.attempts import attempts_to_blocks, caught_by
from overt.rewrites.chosen_receivers import choices_outside
from overt.rewrites.conditions import changed_roots, loops_that_ask_inside, sets_variables
from overt.rewrites.core import NOWHERE, Names, Origin
from overt.rewrites.endless import without_endless
from overt.rewrites.filters import unfiltered
from overt.rewrites.foreign import foreign_names, grows
from overt.rewrites.generators import listed
from overt.rewrites.iterators import iterators_as_lists
from overt.rewrites.kept_in_order import lists_kept_in_order
from overt.rewrites.kept_whole import is_kept, shared_with_kept
from overt.rewrites.nonlocals import shared_by_argument
from overt.rewrites.outputs import outputs_returned
from overt.rewrites.patterns import match_to_branches
from overt.rewrites.pushes import pushes_as_values
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import CHANGING, Scope, changed_names, locals_of, parameters, root_name
from overt.rewrites.views import assigned_names, written_through

NOT_SUPPORTED = {
    ast.Yield: "a generator",
    ast.YieldFrom: "a generator",
    ast.Await: "`await`",
    ast.AsyncFunctionDef: "an async function",
    ast.AsyncFor: "`async for`",
    ast.AsyncWith: "`async with`",
}


@dataclass(frozen=True)
class Text:
    """What is known of the file around a function: each line's origin, and which called names are
    the class of records.
    """

    origin: Callable[[int], Origin]
    is_saved: Callable[[ast.expr], bool] = lambda callee: False
    definition: Callable[[str], ast.FunctionDef | None] = lambda name: None
    object: Callable[[ast.expr], Any] = lambda node: None
    known: Callable[[ast.expr], str] = lambda node: ""  # "module.name" of a builtin or the like

    def generator(self, name: str) -> ast.FunctionDef | None:
        """The definition of a generator; None for other functions, which are not looked for."""
        found = self.object(core.name(name))
        if not isinstance(found, types.FunctionType):
            return None
        return self.definition(name) if found.__code__.co_flags & inspect.CO_GENERATOR else None


def normalize(node: ast.FunctionDef | ast.Lambda, text: Text) -> core.Function:
    """The function in core form; the tree itself is left as it is, to be read again."""
    node = pushes_as_values(copied(node), text.is_saved)
    if isinstance(node, ast.FunctionDef):
        node = without_endless(node, text.generator, text.known)
    return Builder(Names(), text).function(node, {})


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


class Builder:
    """Builds one function (and those nested in it)."""

    def __init__(self, names: Names, text: Text) -> None:
        self.names, self.text = names, text
        self.env: dict[str, str] = {}
        self.ahead: dict[str, str] = {}  # nested functions defined further down in a block
        self.out: list[core.Stmt] = []
        self.origin = NOWHERE
        self.enclosing: set[str] = set()  # local names of the functions around this one
        self.local: set[str] = set()
        self.made: set[str] = set()  # names that removing exits needed
        self.through: frozenset[str] = frozenset()  # names kept in step with what is stored
        self.fills: frozenset[str] = frozenset()  # names whose objects the statement writes into
        self.unused: ast.expr | None = None  # the expression whose value nothing reads
        self.gives_back = False  # whether the statement's call returns what it changes
        self.foreign: set[str] = set()  # names of containers that others hold too
        self.unsure: set[str] = set()  # names of such containers or of arrays

    # --- functions

    def function(self, node: ast.FunctionDef | ast.Lambda, outer: dict[str, str]) -> core.Function:
        a = node.args
        if isinstance(node, ast.FunctionDef):
            taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            node = listed(node, taken)
            node = iterators_as_lists(node, self.text.known, self.text.generator, taken)
            sure, unsure = foreign_names(node, locals_of(node), self.text.definition)
            self.foreign |= sure
            self.unsure |= unsure
            node, stays = shared_by_argument(node, self.foreign)
            scope = Scope(node)
            scope.cells |= stays | shared_with_kept(node)
        else:
            scope = Scope(node)
        self.cells = scope.cells | scope.outer
        refuse_changed_defaults(node)
        without_default = len(a.posonlyargs) + len(a.args) - len(a.defaults)
        defaults: list[ast.expr | None] = [*[None] * without_default, *a.defaults]
        kinds = [(p, "positional") for p in a.posonlyargs] + [(p, "normal") for p in a.args]
        self.env = dict(outer)
        self.outer = outer
        shown = [self.expr(d) if d is not None else None for d in defaults]
        shown_keywords = [self.expr(d) if d is not None else None for d in a.kw_defaults]
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
            body = [choices_outside(s) for s in body]
            own = self.own(body, scope) - self.foreign
            body = lists_kept_in_order(body, own, names, self.text.object)
            own = self.own(body, scope) - self.foreign
            body = outputs_returned(body, own, names, self.text.definition, self.foreign)
            own = self.own(body, scope) - self.foreign
            body = written_through(body, own, names)
            self.local |= self.own(body, scope)
            taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | self.local
            last, known = body[-1] if body else None, set(taken)
            held = parameters(node) | self.enclosing | self.cells
            body = [loops_that_ask_inside(match_to_branches(s)) for s in body]
            body = attempts_to_blocks(body, held, taken)
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
        inner.enclosing = self.enclosing | (self.local - self.cells)
        inner.foreign = set(self.foreign)
        return inner.function(node, self.env)

    # --- names

    def bind(self, name: str) -> str:
        """A new version of a name of the user's."""
        if name in self.cells:
            self.env.pop(name, None)
            return name
        self.env[name] = self.names.fresh(name)
        return self.env[name]

    def pattern(self, target: ast.expr) -> core.Pattern:
        if isinstance(target, ast.Name):
            return self.bind(target.id)
        if isinstance(target, ast.Starred):
            return ("*", self.pattern(target.value))
        if isinstance(target, ast.Tuple | ast.List):
            return tuple(self.pattern(t) for t in target.elts)
        raise Refusal("this target of an assignment is not supported", node=target)

    def emit(self, s: core.Stmt) -> None:
        self.out.append(s)

    def assign(self, target: core.Pattern, value: ast.expr) -> None:
        if isinstance(value, ast.Call):
            value.through = self.through  # type: ignore[attr-defined]
            value.fills = self.fills  # type: ignore[attr-defined]
            value.gives_back = self.gives_back  # type: ignore[attr-defined]
        self.emit(core.Assign(target, value, self.origin))

    # --- expressions

    def expr(self, node: ast.expr) -> ast.expr:
        """The expression over core names; what it assigns on the way is emitted first."""
        return Expressions(self).visit(node)

    # --- statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for s in body:  # nested functions may call one another
            if isinstance(s, ast.FunctionDef) and s.name not in self.cells:
                self.ahead[s.name] = self.env[s.name] = self.names.fresh(s.name)
        for s in body:
            kind = NOT_SUPPORTED.get(type(s))
            if kind:
                raise Refusal(f"{kind} cannot be rewritten", "Move it out of the function.", s)
            if getattr(s, "lineno", 0):
                self.origin = self.text.origin(s.lineno)
            self.through = getattr(s, "through", frozenset())
            self.fills = getattr(s, "fills", frozenset())
            self.gives_back = getattr(s, "gives_back", False)
            getattr(self, f"do_{type(s).__name__}", self.opaque)(s)

    def inner(self, body: Sequence[ast.stmt]) -> core.Block:
        """A nested block, built in the current environment."""
        outer, self.out = self.out, []
        origin = self.origin
        self.block(body)
        block, self.out, self.origin = tuple(self.out), outer, origin
        self.through = self.fills = frozenset()
        return block

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

    def do_Delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.env.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                index = self.expr(index_of(target.slice))
                if self.change(target.value, "__delitem__", [index], "ignored") is None:
                    index = self.expr(target.slice)
                    place = ast.Subscript(self.expr(target.value), index, ast.Del())
                    self.emit(core.Do(ast.Delete([place]), self.origin))
            else:
                self.emit(core.Do(ast.Delete([self.expr(target)]), self.origin))

    def do_Assign(self, s: ast.Assign) -> None:
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            name = s.targets[0].id
            if isinstance(s.value, ast.Lambda):
                self.define(name, s.value)
                return
            value = self.expr(s.value)
            self.assign(self.bind(name), value)
            return
        value = self.expr(s.value)
        if len(s.targets) > 1 and not isinstance(value, ast.Name | ast.Constant):
            first = next((t.id for t in s.targets if isinstance(t, ast.Name)), "value")
            shared = self.names.fresh(first)
            self.assign(shared, value)
            value = core.name(shared)
        for target in s.targets:
            self.store(target, value)

    def do_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.store(s.target, self.expr(s.value))

    def do_AugAssign(self, s: ast.AugAssign) -> None:
        target = s.target
        if grows(s) and not (isinstance(target, ast.Name) and self.is_own(target.id)):
            extend = ast.Attribute(reading(target), "extend", ast.Load())
            self.emit(core.Do(ast.Expr(self.expr(ast.Call(extend, [s.value], []))), self.origin))
            return
        if isinstance(target, ast.Name):
            old = self.expr(ast.Name(target.id, ast.Load()))
            value = ast.BinOp(old, s.op, self.expr(s.value))
            value.through = self.through  # type: ignore[attr-defined]
            self.emit(core.Assign(self.bind(target.id), value, self.origin, in_place=True))
            return
        place = self.settled(target)
        self.store(place, ast.BinOp(self.expr(reading(place)), s.op, self.expr(s.value)))

    def settled(self, target: ast.expr) -> ast.expr:
        """The target with an index that does something replaced by a name, so that it runs once."""
        if isinstance(target, ast.Subscript) and any(
            isinstance(n, ast.Call | ast.Compare) for n in ast.walk(target.slice)
        ):
            index = self.names.fresh("index")
            self.assign(index, index_of(self.expr(target.slice)))
            self.env[index] = index
            self.local.add(index)
            return ast.Subscript(target.value, ast.Name(index, ast.Load()), ast.Store())
        return target

    def store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assign(self.bind(target.id), value)
        elif isinstance(target, ast.Attribute):
            place = ast.Attribute(self.expr(target.value), target.attr, ast.Store())
            self.emit(core.Do(ast.Assign([place], value), self.origin))
        elif isinstance(target, ast.Subscript):
            self.store_item(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value)
        else:
            raise Refusal("this target of an assignment is not supported", node=target)

    def store_item(self, target: ast.Subscript, value: ast.expr) -> None:
        holder, root = target.value, target.value
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        ours = isinstance(root, ast.Name) and self.is_own(root.id)
        if not ours and not isinstance(holder, ast.Attribute):
            place = ast.Subscript(self.expr(holder), self.expr(target.slice), ast.Store())
            self.emit(core.Do(ast.Assign([place], value), self.origin))
            return
        old = self.expr(reading(holder))
        new = core.call("set_item", old, index_of(self.expr(target.slice)), value)
        if isinstance(holder, ast.Attribute):
            new.func = core.name("@put_item")
        elif isinstance(root, ast.Name) and root.id in self.unsure:
            new.func = core.name("@stored_in")
        else:
            new.func = core.name("@set_item")
        self.replaced(holder, new)

    def is_own(self, name: str) -> bool:
        """Whether a name is a local one, of something that only this function holds."""
        return name in self.local and name not in self.cells and name not in self.foreign

    def replaced(self, holder: ast.expr, new: ast.expr) -> None:
        """A container, or an item of one, becomes `new`."""
        if isinstance(holder, ast.Name):
            self.assign(self.bind(holder.id), new)
        else:
            self.store(holder, new)

    def unpack(self, target: ast.Tuple | ast.List, value: ast.expr) -> None:
        later: list[tuple[ast.expr, str]] = []

        def plain(t: ast.expr) -> core.Pattern:
            if isinstance(t, ast.Name):
                return self.bind(t.id)
            if isinstance(t, ast.Starred):
                return ("*", plain(t.value))
            if isinstance(t, ast.Tuple | ast.List):
                return tuple(plain(e) for e in t.elts)
            held = self.names.fresh("value")
            later.append((t, held))
            return held

        self.assign(plain(target), value)
        for place, held in later:
            self.store(place, core.name(held))

    def change(
        self, holder: ast.expr, method: str, args: list[ast.expr], result: str,
        keywords: Sequence[ast.keyword] = (),
    ) -> ast.expr | None:  # fmt: skip
        """Call a changing method on a local container; gives the method's own value."""
        root = holder
        while isinstance(root, ast.Subscript):
            root = root.value
        if not (isinstance(root, ast.Name) and self.is_own(root.id)):
            return None
        old = self.expr(reading(holder))
        if result == "ignored":
            changed = changed_container(old, method, args)
            if method == "sort" and not args:
                changed = ast.Call(core.name("@in_order"), [old], list(keywords))
            self.replaced(holder, changed)
            return core.name("ignored")
        changed = ast.Call(core.name("@popped"), [old, core.constant(method), *args], [])
        value = self.names.fresh(result)
        if isinstance(holder, ast.Name):
            new = self.bind(holder.id)
            self.assign((value, new), changed)
        else:
            new = self.names.fresh("holder")
            self.assign((value, new), changed)
            self.store(holder, core.name(new))
        return core.name(value)

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


def changed_container(old: ast.expr, method: str, args: list[ast.expr]) -> ast.expr:
    if method == "append" and len(args) == 1:
        return ast.Call(core.name("@appended"), [old, *args], [])
    if method == "fill" and len(args) == 1:
        return ast.Call(core.name("@set_all"), [old, *args], [])
    return ast.Call(core.name("@changed"), [old, core.constant(method), *args], [])


def reads_targets(node: ast.AST) -> bool:
    """Whether a function in a comprehension reads a variable that the comprehension sets."""
    targets = {
        n.id
        for g in node.generators  # type: ignore[attr-defined]
        for n in ast.walk(g.target)
        if isinstance(n, ast.Name)
    }
    return any(
        isinstance(n, ast.Name) and n.id in targets - parameters(function)
        for function in ast.walk(node)
        if isinstance(function, ast.Lambda)
        for n in ast.walk(function.body)
    )


def version(name: str | None) -> ast.expr:
    return core.name(name if name is not None else core.UNDEFINED)


def reading(node: ast.expr) -> ast.expr:
    """A target as an expression that reads it."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    return node


def index_of(index: ast.expr) -> ast.expr:
    """An index as an argument: one with slices is written `at[1:3]`."""
    if any(isinstance(n, ast.Slice) for n in ast.walk(index)):
        return ast.Subscript(core.name("@at"), index, ast.Load())
    return index


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


def split_walrus(test: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    found: list[ast.stmt] = []

    class Hoist(ast.NodeTransformer):
        def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
            value = self.visit(node.value)
            found.append(exits.assign(node.target.id, value, node))
            return ast.Name(node.target.id, ast.Load())

    return found, Hoist().visit(test)


class Renamed(ast.NodeTransformer):
    """Names replaced by their current versions, in stores too."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self.env.get(node.id, node.id), node.ctx)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        own = parameters(node)
        inside = Renamed({n: new for n, new in self.env.items() if n not in own})
        made = ast.Lambda(self.visit(node.args), inside.visit(node.body))
        return ast.copy_location(made, node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        return ast.ExceptHandler(node.type, self.env.get(node.name or "", node.name), node.body)


def refuse_changed_defaults(node: ast.FunctionDef | ast.Lambda) -> None:
    """Refuse `def f(v, seen=[]): seen.append(v)`, where all calls change one list.

    An empty dictionary may be a table of values found before, which need not outlive a call.
    """
    a = node.args
    named = [*a.posonlyargs, *a.args]
    pairs = [*zip(reversed(named), reversed(a.defaults), strict=False)]
    pairs += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
    shared = {
        p.arg: d for p, d in pairs if isinstance(d, ast.List) or isinstance(d, ast.Dict) and d.keys
    }
    if not shared or isinstance(node, ast.Lambda):
        return
    set_again = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for s in node.body:
        for name in changed_names(s) & shared.keys() - set_again:
            raise Refusal(
                f"the default value of {name!r} is changed, which all calls of the function share",
                f"Write `{name}=None`, and make a new one in the function.",
                shared[name],
            )


def names_numbers(kinds: ast.expr) -> bool:
    """Whether the second argument of `isinstance` names kinds of Python numbers."""
    return any(
        isinstance(n, ast.Name)
        and n.id in ("bool", "int", "float", "complex")
        or isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == "numbers"
        for n in ast.walk(kinds)
    )


class Expressions(ast.NodeTransformer):
    """Names to versions; walrus, changing methods and lambdas hoisted in front of the statement."""

    def __init__(self, builder: Builder, hidden: frozenset[str] = frozenset()) -> None:
        self.builder, self.hidden = builder, hidden
        self.conditional = False

    def generic(self, node: ast.AST) -> ast.AST:
        fields: dict[str, Any] = {}
        done: list[tuple[Any, Any]] = []  # where the parts are that were evaluated already
        for key, value in ast.iter_fields(node):
            fields[key] = value
            if isinstance(value, list):
                fields[key] = value = list(value)
            places = enumerate(value) if isinstance(value, list) else [(key, value)]
            holder: Any = value if isinstance(value, list) else fields
            for place, part in list(places):
                if isinstance(part, ast.AST):
                    self.keep(done, part)
                    holder[place] = self.visit(part)
                    done.append((holder, place))
        new = type(node)(**fields)
        if hasattr(node, "text"):
            new.text = node.text  # type: ignore[attr-defined]
        return ast.copy_location(new, node)

    generic_visit = generic  # type: ignore[assignment]

    def keep(self, done: list[tuple[Any, Any]], part: ast.AST) -> None:
        """Give names to what was read from a container that the next part changes."""
        b = self.builder
        roots = changed_roots(part) & b.local - b.cells if done and not self.hidden else set()
        versions = {b.env.get(r) for r in roots}
        for holder, place in done if roots else ():
            old = holder[place]
            value = old.value if isinstance(old, ast.keyword) else old
            plain = ast.Name | ast.Starred | ast.Slice
            if isinstance(value, ast.expr) and not isinstance(value, plain):
                if core.reads(value) & versions:
                    held = b.names.fresh("before")
                    b.assign(held, value)
                    named = core.name(held)
                    holder[place] = ast.keyword(old.arg, named) if value is not old else named

    def stepwise(self, node: ast.BoolOp | ast.IfExp) -> ast.expr:
        """The value of a condition whose parts do more than ask, by statements."""
        b, held = self.builder, "holds"
        while held in b.local | b.enclosing:
            held += "_"
        steps: list[ast.stmt]
        if isinstance(node, ast.IfExp):
            body, orelse = ([exits.assign(held, v, node)] for v in (node.body, node.orelse))
            steps = [exits.branch(node.test, [*body], [*orelse], node)]
        else:
            steps = []
            for value in reversed(node.values):
                test: ast.expr = exits.load(held)
                if isinstance(node.op, ast.Or):
                    test = exits.negated(test)
                steps = [exits.branch(test, steps, [], node)] if steps else []
                steps.insert(0, exits.assign(held, value, node))
        b.local.add(held)
        b.block(steps)
        b.local.discard(held)
        return core.name(b.env.pop(held))

    def does_more(self, parts: Sequence[ast.expr]) -> bool:
        """Whether some parts set variables or change containers, and may be made statements."""
        if self.hidden or self.conditional:
            return False
        return any(sets_variables(p) or changed_roots(p) & self.builder.local for p in parts)

    def visit(self, node: ast.AST) -> Any:
        kind = NOT_SUPPORTED.get(type(node))
        if kind:
            raise Refusal(f"{kind} cannot be rewritten", "Move it out of the function.", node)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        b = self.builder
        if node.id in self.hidden or node.id in b.cells:
            return ast.copy_location(ast.Name(node.id, ast.Load()), node)
        held = b.env.get(node.id)
        if held is None and (node.id in b.local or node.id in b.enclosing):
            raise Refusal(
                f"the variable {node.id!r} is read before it is set",
                "Give it a value first, on every path.",
                node,
            )
        return ast.copy_location(ast.Name(held or node.id, ast.Load()), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.unconditional(node, "`:=`")
        b = self.builder
        value = self.visit(node.value)
        held = b.bind(node.target.id)
        b.assign(held, value)
        return core.name(held)

    def unconditional(self, node: ast.AST, what: str) -> None:
        if self.conditional or self.hidden:
            raise Refusal(
                f"{what} in a part of an expression that may not be evaluated",
                "Make it a statement of its own.",
                node,
            )

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.does_more([node.body, node.orelse]):
            return self.stepwise(node)
        test = self.visit(node.test)
        outer, self.conditional = self.conditional, True
        body, orelse = self.visit(node.body), self.visit(node.orelse)
        self.conditional = outer
        return ast.copy_location(ast.IfExp(test, body, orelse), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if self.does_more(node.values[1:]):
            return self.stepwise(node)
        first = self.visit(node.values[0])
        outer, self.conditional = self.conditional, True
        rest = [self.visit(v) for v in node.values[1:]]
        self.conditional = outer
        return ast.copy_location(ast.BoolOp(node.op, [first, *rest]), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        b = self.builder
        f = node.func
        if isinstance(f, ast.Attribute) and f.attr in CHANGING and root_name(f.value) & b.local:
            if not node.keywords and not self.hidden:
                args = [self.visit(a) for a in node.args]
                taken = node is not b.unused or f.attr in ("pop", "popitem", "popleft")
                value = b.change(f.value, f.attr, args, f.attr if taken else "ignored")
                if value is not None:
                    self.unconditional(node, f"`.{f.attr}(...)`")
                    return value
            elif node is not b.unused:
                pass
            elif f.attr == "sort" and not self.hidden and all(k.arg for k in node.keywords):
                keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
                value = b.change(f.value, f.attr, [], "ignored", keywords)
                if value is not None:
                    return value
            elif f.attr == "update" and not self.hidden:
                args = [self.visit(a) for a in node.args]
                args.append(
                    ast.Dict(
                        [core.constant(k.arg) if k.arg else None for k in node.keywords],
                        [self.visit(k.value) for k in node.keywords],
                    )
                )
                if len(args) == 1:
                    value = b.change(f.value, f.attr, args, "ignored")
                    if value is not None:
                        return value
        if isinstance(f, ast.Name) and f.id not in b.local | self.hidden:
            node = unfiltered(node)
        if isinstance(f, ast.Name) and f.id == "super" and not node.args and f.id not in b.local:
            first = b.env.get(b.first)
            if first is None or self.hidden:
                raise Refusal("`super()` needs a method with a first parameter", "", node)
            node = ast.copy_location(
                ast.Call(node.func, [ast.Name("__class__"), ast.Name(b.first)], []), node
            )
        if isinstance(f, ast.Name) and f.id == "isinstance" and len(node.args) == 2:
            if "isinstance" not in b.local and names_numbers(node.args[1]):
                node = ast.copy_location(ast.Call(ast.Name("@is_a"), node.args, []), node)
        return self.generic(node)  # type: ignore[return-value]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        flag = getattr(node.comparators[0], "value", None)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            if isinstance(node.comparators[0], ast.Constant) and isinstance(flag, bool):
                helper = ast.Name("@is_true" if flag else "@is_false")
                asked: ast.expr = ast.Call(helper, [node.left], [])
                if isinstance(node.ops[0], ast.IsNot):
                    asked = ast.UnaryOp(ast.Not(), asked)
                return self.visit(ast.copy_location(asked, node))
        return self.generic(node)  # type: ignore[return-value]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        if self.hidden or self.conditional:
            a = node.args
            every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
            inner = Expressions(self.builder, self.hidden | {p.arg for p in every if p})
            return ast.copy_location(ast.Lambda(node.args, inner.visit(node.body)), node)
        b = self.builder
        held = b.names.fresh("function")
        function = b.nested(node)
        b.emit(core.Define(held, core.replace(function, name=core.base(held)), b.origin))
        return core.name(held)

    def comprehension(self, node: ast.AST) -> ast.AST:
        hidden = self.hidden
        if not hidden and not self.conditional and not isinstance(node, ast.GeneratorExp):
            made = [node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore
            functions = any(isinstance(n, ast.Lambda) for n in made)
            # One that reads the variable of the comprehension would see the last value of it.
            if (
                functions
                and not reads_targets(node)
                or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
            ):
                return self.builder.looped(node)  # type: ignore[arg-type]
        generators = []
        for g in node.generators:  # type: ignore[attr-defined]
            around = Expressions(self.builder, hidden) if hidden else self
            items = around.visit(g.iter)
            hidden |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            inner = Expressions(self.builder, hidden)
            conditions = [inner.visit(c) for c in g.ifs]
            generators.append(ast.comprehension(g.target, items, conditions, g.is_async))
        inner = Expressions(self.builder, hidden)
        if isinstance(node, ast.DictComp):
            new: ast.AST = ast.DictComp(inner.visit(node.key), inner.visit(node.value), generators)
        else:
            new = type(node)(inner.visit(node.elt), generators)  # type: ignore
        return ast.copy_location(new, node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension
