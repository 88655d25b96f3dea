"""Generators without an end, as a state and the step from one state to the next.

    def powers(x):                          def powers(x):
        p = 1.0                                 p = 1.0
        while True:                             value = p
            yield p                 ->          return (p, x, value, value)
            p = p * x
                                            def powers_next(state):
    g = powers(x)                               p, x, value, last = state
    a = next(g)                                 last = value
                                                p = p * x
                                                value = p
                                                return (p, x, value, last)

                                            g = powers(x)
                                            a = (g := powers_next(g))[-1]

The next value is computed one step ahead.  `for`, `zip`, `islice` and `takewhile` take as many as
they need; other uses stay as they are, and are refused.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass

from overt.rewrites.endless_over import (
    Plainly,
    endless_over,
    is_stored,
    load,
    of_expression,
    place_run_over,
    source_of,
    used_once,
)
from overt.rewrites.foreign import changes_others
from overt.rewrites.iterators import search
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import NESTED, Scope, new_name, own_nodes, parameters
from overt.rewrites.statement_walk import StatementWalk

Known = Callable[[ast.expr], str]  # "module.name" of what an expression names outside
Definition = Callable[[str], ast.FunctionDef | None]

TAKING = ("itertools.islice", "itertools.takewhile")

# The library's own, as a user would write them.
LIBRARY = {
    "itertools.count": """
def count(start=0, step=1):
    n = start
    while True:
        yield n
        n = n + step
""",
    "itertools.cycle": """
def cycle(items):
    again = list(items)
    i = 0
    while True:
        yield again[i % len(again)]
        i = i + 1
""",
    "itertools.repeat": """
def repeat(value):
    while True:
        yield value
""",
}


def without_endless(node: ast.FunctionDef, definition: Definition, known: Known) -> ast.FunctionDef:
    """The function, and those nested in it, with what it takes of endless generators as values."""
    if not might_have_some(node, definition, known):
        return node
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | parameters(node)
    taken |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
    work = Endless(definition, known, taken)
    body = work.function(node, {})
    made = ast.copy_location(
        ast.FunctionDef(node.name, node.args, [*work.added, *body], node.decorator_list), node
    )
    return ast.fix_missing_locations(made)


def might_have_some(node: ast.FunctionDef, definition: Definition, known: Known) -> bool:
    """Whether an endless generator is called or defined somewhere in the function."""
    for n in ast.walk(node):
        if isinstance(n, ast.FunctionDef) and n is not node and Steps.of(n) is not None:
            return True
        if isinstance(n, ast.Call):
            if known(n.func) in LIBRARY:
                return True
            found = definition(n.func.id) if isinstance(n.func, ast.Name) else None
            if found is not None and Steps.of(found) is not None:
                return True
    return False


class Steps:
    """An endless generator taken apart: what comes before its loop, before and after its yield."""

    def __init__(
        self, node: ast.FunctionDef, start: list[ast.stmt], before: list[ast.stmt],
        value: ast.expr, after: list[ast.stmt],
    ) -> None:  # fmt: skip
        self.node, self.start, self.before = node, start, before
        self.value, self.after = value, after

    @staticmethod
    def of(node: ast.FunctionDef) -> Steps | None:
        """None for a function that is not a generator, or not of this form."""
        loop = node.body[-1]
        endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
        if not endless or not loop.test.value or node.decorator_list:  # type: ignore[attr-defined]
            return None
        nodes = [n for s in node.body for n in own_nodes(s) if not isinstance(s, NESTED)]
        yields = [n for n in nodes if isinstance(n, ast.Yield | ast.YieldFrom)]
        leaving = ast.Return | ast.Break | ast.Try | ast.Global | ast.Nonlocal
        body = loop.body  # type: ignore[attr-defined]
        places = [
            i
            for i, s in enumerate(body)
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield) and s.value.value
        ]
        if len(yields) != 1 or len(places) != 1:
            return None
        if any(isinstance(n, leaving | ast.Continue) for s in body for n in own_nodes(s)):
            return None
        if any(isinstance(n, leaving) for n in nodes):
            return None
        if getattr(node, "interleaved", False) or changes_others(node):
            return None
        (i,) = places
        plainly = Plainly(node)
        body = [plainly.visit(copy.deepcopy(s)) if s is not body[i] else s for s in body]
        return Steps(node, node.body[:-1], body[:i], body[i].value.value, body[i + 1 :])

    def functions(self, name: str, taken: set[str]) -> tuple[list[ast.stmt], str]:
        """The function that starts, and the one that goes on, with the name of the latter."""
        following = new_name(f"{name}_next", taken)
        value, last, state = (new_name(n, taken) for n in ("value", "last", "state"))
        every = ast.Tuple([load(n) for n in [*self.carried(), value, last]], ast.Load())
        targets = ast.Tuple([ast.Name(e.id, ast.Store()) for e in every.elts], ast.Store())  # type: ignore
        here = [*self.before, store(value, self.value)]
        yielded, result = store(last, load(value)), ast.Return(every)
        first = function(name, self.node.args, [*self.start, *here, yielded, result])
        arguments = ast.arguments([], [ast.arg(state)], None, [], [], None, [])
        unpacked = ast.Assign([targets], load(state))
        more = function(following, arguments, [unpacked, yielded, *self.after, *here, result])
        return [ast.copy_location(s, self.node) for s in (first, more)], following

    def carried(self) -> list[str]:
        """The variables that an iteration takes from the one before."""
        found: set[str] = set()
        surely: set[str] = set()
        own = Scope(self.node).assigned | parameters(self.node)
        for s in [*self.after, *self.before, ast.Expr(self.value)]:
            read = {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}
            if isinstance(s, ast.Assign):
                targets = {n.id for t in s.targets for n in ast.walk(t) if is_stored(n)}
                read = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and not is_stored(n)}
            found |= read & own - surely
            surely |= targets if isinstance(s, ast.Assign) else set()
        return sorted(found)


@dataclass
class Over:
    """A generator that runs over an endless one, and the functions that it becomes."""

    node: ast.expr
    start: str
    following: str
    source: ast.expr
    place: int  # of the source among the arguments
    functions: list[ast.stmt]


class Endless(StatementWalk):
    """Rewrites the statements of one function; `steps` are the generators known in it."""

    def __init__(self, definition: Definition, known: Known, taken: set[str]) -> None:
        self.definition, self.known, self.taken = definition, known, taken
        self.steps: dict[str, str] = {}  # the function that goes on, by that which starts
        self.library: dict[str, str] = {}
        self.added: list[ast.stmt] = []
        self.held: dict[str, str] = {}  # variables that hold a state, and what goes on from it
        self.ahead: list[ast.stmt] = []  # what has to be done before the statement
        self.over: dict[int, Over] = {}  # by the expressions that run over an endless one
        self.nested: dict[str, ast.FunctionDef] = {}
        self.once: set[str] = set()  # variables that are read once
        self.holding: dict[str, str | None] = {}

    def function(self, node: ast.FunctionDef, held: dict[str, str]) -> list[ast.stmt]:
        self.once = used_once(node)
        self.nested |= {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
        for s in node.body:
            if isinstance(s, ast.FunctionDef) and (found := Steps.of(s)) is not None:
                made, following = found.functions(s.name, self.taken)
                self.steps[s.name] = following
                s.__dict__["made"] = made
        self.held = held | self.holders(node)
        return self.block(node.body)

    def holders(self, node: ast.FunctionDef) -> dict[str, str]:
        """Variables that are only ever set to an endless generator."""
        found: dict[str, str | None] = {}
        self.holding = found
        for s in node.body:
            for n in own_nodes(s) if not isinstance(s, NESTED) else ():
                if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name):
                    name, following = n.targets[0].id, self.following(n.value)
                    same = found.get(name, following) == following and len(n.targets) == 1
                    found[name] = following if same else None
        return {name: f for name, f in found.items() if f is not None}

    def following(self, node: ast.expr) -> str | None:
        """The function that goes on from the state that a call of a generator is."""
        if (over := self.run_over(node)) is not None:
            return over.following
        if not isinstance(node, ast.Call):
            return None
        name = self.known(node.func)
        if name in LIBRARY and not (name.endswith("repeat") and len(node.args) != 1):
            return self.from_library(name)
        if not isinstance(node.func, ast.Name):
            return None
        if node.func.id not in self.steps:
            found = self.definition(node.func.id)
            steps = Steps.of(found) if found is not None else None
            if steps is None:
                return None
            made, following = steps.functions(node.func.id, self.taken)
            self.added += made
            self.steps[node.func.id] = following
        return self.steps[node.func.id]

    def run_over(self, node: ast.expr) -> Over | None:
        """A generator, or an expression like one, that runs over an endless one."""
        if id(node) in self.over:
            return self.over[id(node)]
        call = node if isinstance(node, ast.Call) else None
        source = source_of(node, self.known(call.func) if call else "")
        made: ast.FunctionDef | None = None
        place = 0
        if source is None and call is not None and isinstance(call.func, ast.Name):
            name = call.func.id
            made = self.nested.get(name) or self.definition(name)
            at = place_run_over(made) if made is not None else None
            if at is None or at >= len(call.args) or Steps.of(made) is not None:  # type: ignore
                return None
            source, place = call.args[at], at
        if source is None or isinstance(source, ast.Starred):
            return None
        inner = self.following(source) if not isinstance(source, ast.Name) else None
        if isinstance(source, ast.Name) and source.id in self.once:
            inner = self.held.get(source.id) or self.holding.get(source.id)
        if inner is None:
            return None
        made = made or of_expression(node, self.taken)
        steps = Steps.of(endless_over(made, inner, new_name(f"{made.name}_over", self.taken)))
        if steps is None:
            return None
        functions, following = steps.functions(steps.node.name, self.taken)
        self.over[id(node)] = Over(node, steps.node.name, following, source, place, functions)
        return self.over[id(node)]

    def from_library(self, name: str) -> str:
        if name not in self.library:
            node = ast.parse(LIBRARY[name]).body[0]
            assert isinstance(node, ast.FunctionDef)
            node.name = new_name(node.name, self.taken)
            steps = Steps.of(node)
            assert steps is not None
            made, self.steps[node.name] = steps.functions(node.name, self.taken)
            self.added += made
            self.library[name] = node.name
        return self.steps[self.library[name]]

    # --- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for s in body:
            if "made" in s.__dict__:
                done += s.__dict__["made"]
                continue
            outer, self.ahead = self.ahead, []
            new = self.statement(s)
            done += [*self.ahead, *new]
            self.ahead = outer
        return done

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.FunctionDef):
            held = self.held
            s.body = self.function(s, {n: f for n, f in held.items() if n not in parameters(s)})
            self.held = held
            return [s]
        if isinstance(s, ast.ClassDef):
            return [s]
        if isinstance(s, ast.For):
            counted = self.known(s.iter.func) if isinstance(s.iter, ast.Call) else ""
            source = s.iter.args[0] if counted == "builtins.enumerate" else s.iter  # type: ignore
            state = self.state(source)
            if state is not None:
                return self.loop(s, *state, counted == "builtins.enumerate")
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            if s.targets[0].id in self.held:
                s.value = self.called(s.value)
                return [s]
            taken = isinstance(s.value, ast.Call) and self.known(s.value.func) in TAKING
            self.walk(s)
            if taken and isinstance(s.value, ast.Name | ast.Subscript):  # a list by now
                s.value = ast.Call(load("iter"), [s.value], [])
            return [s]
        self.walk(s)
        return [s]

    def state(self, node: ast.expr) -> tuple[str, str] | None:
        """A variable with the state of an endless generator, and what goes on from it."""
        if isinstance(node, ast.Name) and node.id in self.held:
            return node.id, self.held[node.id]
        following = self.following(node)
        if following is None:
            return None
        self.can_be_ahead(node)
        name = new_name("state", self.taken)
        self.held[name] = following
        self.ahead.append(store(name, self.called(node)))
        return name, following

    def can_be_ahead(self, node: ast.AST) -> None:
        if self.fixed:
            raise Refusal(
                "an endless generator is used inside a part of an expression",
                "Take what is needed of it in a statement of its own.",
                node,
            )

    def called(self, node: ast.expr) -> ast.expr:
        """The call of a generator as that of the function that starts."""
        over = self.run_over(node)
        if over is not None:
            self.can_be_ahead(node)
            self.ahead += over.functions
            over.functions = []
            inner = over.source if isinstance(over.source, ast.Name) else self.called(over.source)
            plain = source_of(node, self.known(node.func) if isinstance(node, ast.Call) else "")
            if plain is not None:
                node = ast.copy_location(ast.Call(load(over.start), [inner], []), node)
                return node
            assert isinstance(node, ast.Call)
            node.args = [
                inner if i == over.place else self.visit(a) for i, a in enumerate(node.args)
            ]
            for k in node.keywords:
                k.value = self.visit(k.value)
            node.func = load(over.start)
            return node
        assert isinstance(node, ast.Call)
        name = self.library.get(self.known(node.func))
        node.args = [self.visit(a) for a in node.args]
        for k in node.keywords:
            k.value = self.visit(k.value)
        if name:
            node.func = load(name)
        return node

    def loop(self, s: ast.For, name: str, following: str, counted: bool) -> list[ast.stmt]:
        """`for v in g: ...` as `while True: ...`"""
        step: list[ast.stmt] = [store(name, goes_on(name, following))]
        start: list[ast.stmt] = []
        value: ast.expr = last_of(name)
        if counted:
            number = new_name("number", self.taken)
            given = s.iter.args[1:] + [k.value for k in s.iter.keywords]  # type: ignore
            first = given[0] if given else ast.Constant(0)
            start = [store(number, ast.BinOp(first, ast.Sub(), ast.Constant(1)))]
            step.append(store(number, ast.BinOp(load(number), ast.Add(), ast.Constant(1))))
            value = ast.Tuple([load(number), value], ast.Load())
        step.append(ast.Assign([s.target], value))
        body = [*step, *self.block(s.body)]
        made = ast.While(ast.Constant(True), body, [])
        return [ast.copy_location(n, s) for n in (*start, made)]

    # --- expressions

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self.known(node.func)
        if name == "builtins.next" and isinstance(node.args[0], ast.Name):
            following = self.held.get(node.args[0].id)
            if following is not None:
                held = node.args[0].id
                step = ast.NamedExpr(ast.Name(held, ast.Store()), goes_on(held, following))
                return ast.copy_location(ast.Subscript(step, ast.Constant(-1), ast.Load()), node)
        if name == "builtins.next" and (first := self.first(node.args)) is not None:
            return ast.copy_location(first, node)
        if name == "builtins.zip":
            return self.zipped(node)
        if name == "itertools.islice" and (state := self.state(node.args[0])) is not None:
            stop = node.args[1] if len(node.args) == 2 else node.args[2]
            count = ast.Call(load("range"), [self.visit(stop)], [])
            found: ast.expr = self.listed(*state, count)
            if len(node.args) > 2:
                bounds = [node.args[1], None, *node.args[3:4]]
                part = ast.Slice(*(bounds + [None])[:3])
                found = ast.Subscript(found, part, ast.Load())
            return ast.copy_location(found, node)
        if name == "itertools.takewhile" and (state := self.state(node.args[1])) is not None:
            return ast.copy_location(self.while_true(node.args[0], *state), node)
        if name not in LIBRARY and self.following(node) is not None:
            self.unclear(node)
        return self.generic_visit(node)  # type: ignore[return-value]

    def first(self, args: list[ast.expr]) -> ast.expr | None:
        """`next(g(...))`, `next(islice(g(...), n, None))` and `next(v for v in g(...) if ...)`."""
        source = args[0]
        if isinstance(source, ast.GeneratorExp) and len(source.generators) == 1:
            items = source.generators[0].iter
            if self.known(getattr(items, "func", items)) == "builtins.enumerate":
                items = items.args[0]  # type: ignore[attr-defined]
            if self.following(items) is None:
                return None
            self.can_be_ahead(source)
            found, loop = search(source, [self.visit(d) for d in args[1:]], self.taken)
            outer = self.ahead
            loop = self.block([ast.copy_location(s, source) for s in loop])
            self.ahead = [*outer, *loop]
            return found
        if not isinstance(source, ast.Call):
            return None
        if self.known(source.func) == "itertools.islice" and len(source.args) == 3:
            count, stop = source.args[1:]
            unbounded = isinstance(stop, ast.Constant) and stop.value is None
            if not unbounded or (state := self.state(source.args[0])) is None:
                return None
            enough = ast.BinOp(self.visit(count), ast.Add(), ast.Constant(1))
            values = self.listed(*state, ast.Call(load("range"), [enough], []))
            return ast.Subscript(values, ast.Constant(-1), ast.Load())
        if (state := self.state(source)) is None:
            return None
        held, following = state
        step = ast.NamedExpr(ast.Name(held, ast.Store()), goes_on(held, following))
        return ast.Subscript(step, ast.Constant(-1), ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if isinstance(node.ctx, ast.Load) and (node.id in self.held or node.id in self.steps):
            self.unclear(node)
        return node

    def unclear(self, node: ast.AST) -> None:
        raise Refusal(
            "an endless generator is used in a way that does not say how much of it is needed",
            "Use it in `for`, `next`, `zip`, `islice` or `takewhile`.",
            node,
        )

    def zipped(self, node: ast.Call) -> ast.expr:
        """`zip` of endless and other things: as many as the others have."""
        states = [self.state(a) for a in node.args]
        if not any(states) or all(states):
            return self.generic_visit(node)  # type: ignore[return-value]
        finite: list[ast.expr] = []
        parts: list[ast.expr] = []
        for a, state in zip(node.args, states, strict=True):
            if state is None:
                held = new_name("items", self.taken)
                self.ahead.append(store(held, ast.Call(load("list"), [self.visit(a)], [])))
                finite.append(load(held))
            parts.append(finite[-1] if state is None else a)
        count = finite[0]
        if len(finite) > 1:
            count = ast.Call(load("list"), [ast.Call(load("zip"), list(finite), [])], [])
        for i, state in enumerate(states):
            if state is not None:
                parts[i] = self.listed(*state, count)
        return ast.copy_location(ast.Call(node.func, parts, node.keywords), node)

    def listed(self, name: str, following: str, items: ast.expr) -> ast.expr:
        """The values that come next, one for each of some items."""
        self.can_be_ahead(items)
        held, one = new_name("taken", self.taken), new_name("item", self.taken)
        step = [
            store(name, goes_on(name, following)),
            ast.Expr(
                ast.Call(ast.Attribute(load(held), "append", ast.Load()), [last_of(name)], [])
            ),
        ]
        self.ahead.append(store(held, ast.List([], ast.Load())))
        self.ahead.append(ast.For(ast.Name(one, ast.Store()), items, step, []))
        return load(held)

    def while_true(self, test: ast.expr, name: str, following: str) -> ast.expr:
        """The values that come next as long as a test of them holds."""
        self.can_be_ahead(test)
        held = new_name("taken", self.taken)
        holds = ast.Call(self.visit(test), [last_of(name)], [])
        step = [
            store(name, goes_on(name, following)),
            ast.If(ast.UnaryOp(ast.Not(), holds), [ast.Break()], []),
            ast.Expr(
                ast.Call(ast.Attribute(load(held), "append", ast.Load()), [last_of(name)], [])
            ),
        ]
        self.ahead.append(store(held, ast.List([], ast.Load())))
        self.ahead.append(ast.While(ast.Constant(True), step, []))
        return load(held)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.body = self.inside(node.body)
        return node


def store(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def goes_on(state: str, following: str) -> ast.expr:
    return ast.Call(load(following), [load(state)], [])


def last_of(state: str) -> ast.expr:
    return ast.Subscript(load(state), ast.Constant(-1), ast.Load())


def function(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    return ast.FunctionDef(name, arguments, body, [])
