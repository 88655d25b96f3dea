"""Closures: what a nested function shares with the function around it is passed in, and returned if it is set.

    def add(x):                       def add(x, *, total):
        nonlocal total                    total = total + x
        total = total + x     ->          return total

    add(2)                            total = add(2, total=total)

So each value has one place where it is made.  A variable that only stays as it was when the nested
function was defined is captured as before.  Works on the syntax tree, before anything else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from overt.rewrites import exits

FUNCTIONS = (ast.FunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Where an expression may be evaluated never, or more than once.
UNSURE = (ast.IfExp, ast.BoolOp, ast.Lambda, *COMPREHENSIONS)


@dataclass
class Nested:
    """One nested function and what is known of it."""

    name: str
    node: ast.FunctionDef | ast.Lambda
    start: int
    end: int
    loops: tuple[int, ...]
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    extent: int = 0  # up to where it may be called
    movable: bool = True  # every use is a plain call

    @property
    def shared(self) -> list[str]:
        return sorted(self.reads | self.writes)


def explicit(node: ast.FunctionDef, local: set[str]) -> set[str]:
    """Pass shared variables explicitly, changing the tree; gives those that have to stay shared."""
    plan = Plan(node, local)
    if not plan.functions:
        return set()
    plan.look()
    plan.settle()
    moved = {f.name: f for f in plan.functions.values() if f.movable and f.shared}
    kept = {n for f in plan.functions.values() if not f.movable for n in f.shared}
    while True:  # a variable is either passed everywhere or shared everywhere
        stuck = {name for name, f in moved.items() if kept & set(f.shared)}
        if not stuck:
            break
        for name in stuck:
            kept |= set(moved.pop(name).shared)
    if moved:
        Rewrite(moved).function(node)
    return kept


def parameters(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    return {p.arg for p in every if p is not None}


def own_names(node: ast.FunctionDef | ast.Lambda) -> tuple[set[str], set[str]]:
    """Names that belong to a function, and those that it sets in the functions around it."""
    from overt.rewrites.normalize import Scope

    scope = Scope(node)
    return (scope.assigned | parameters(node)) - scope.outer, scope.outer


def free_names(node: ast.AST) -> tuple[set[str], set[str]]:
    """Names of the functions around it that a nested function reads, and those that it sets."""
    reads: set[str] = set()
    writes: set[str] = set()
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]  # type: ignore
    for part in body:
        for n in ast.walk(part):
            if isinstance(n, ast.Name):
                reads.add(n.id)
            elif isinstance(n, ast.Nonlocal):
                writes |= set(n.names)
    own, _ = own_names(node)  # type: ignore[arg-type]
    return reads - own, writes - own


class Plan:
    """Looks at one function: where its variables are set, where its nested functions are used."""

    def __init__(self, node: ast.FunctionDef, local: set[str]) -> None:
        self.node, self.local = node, local
        self.functions: dict[str, Nested] = {}
        self.bindings: dict[str, list[int]] = {}
        self.uses: list[tuple[str, int, tuple[int, ...], str]] = []  # name, place, loops, inside
        self.ends: dict[int, int] = {}
        self.clock = 0
        self.loops: tuple[int, ...] = ()
        self.inside = ""
        self.double: set[str] = set()
        for s in node.body:
            self.find(s)

    def find(self, s: ast.AST) -> None:
        """Find the nested functions before anything else."""
        if isinstance(s, ast.FunctionDef):
            if s.name in self.functions or s.decorator_list:
                self.double.add(s.name)
            self.functions[s.name] = Nested(s.name, s, 0, 0, ())
            return
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Lambda) and len(s.targets) == 1:
            target = s.targets[0]
            if isinstance(target, ast.Name):
                if target.id in self.functions:
                    self.double.add(target.id)
                self.functions[target.id] = Nested(target.id, s.value, 0, 0, ())
            return
        for child in ast.iter_child_nodes(s):
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                self.find(child)

    # --- one pass in the order of the text

    def look(self) -> None:
        from overt.rewrites.normalize import changed_names

        self.changed = changed_names
        for s in self.node.body:
            self.statement(s)

    def statement(self, s: ast.AST) -> None:
        self.clock += 1
        if isinstance(s, ast.FunctionDef):
            self.define(s.name, s)
            return
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Lambda) and len(s.targets) == 1:
            if isinstance(s.targets[0], ast.Name):
                self.define(s.targets[0].id, s.value)
                return
        blocks = [c for c in ast.iter_child_nodes(s) if is_block(c)]
        looping = isinstance(s, ast.For | ast.While)
        outer = self.loops
        if looping:
            self.loops = (*outer, self.clock)
            mark = self.clock
        for c in ast.iter_child_nodes(s):
            if not is_block(c):
                self.expression(c, isinstance(s, ast.Expr | ast.Assign | ast.Return))
        self.clock += 1
        bound = {n for n in shallow(s, self.changed)}
        for n in bound:
            self.bindings.setdefault(n, []).append(self.clock)
        for c in blocks:
            self.statement(c)
        if looping:
            self.ends[mark] = self.clock
            for n in bound:
                self.bindings[n].append(self.clock)
        self.loops = outer

    def define(self, name: str, node: ast.FunctionDef | ast.Lambda) -> None:
        f = self.functions[name]
        reads, writes = free_names(node)
        f.node, f.start, f.loops = node, self.clock, self.loops
        f.reads, f.writes = reads, writes & self.local
        outer, self.inside = self.inside, name
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                n.func.is_callee = True  # type: ignore[attr-defined]
        body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
        for part in body:
            for n in ast.walk(part):
                if isinstance(n, ast.Name) and n.id in self.functions:
                    self.use(n, getattr(n, "is_callee", False))
        self.inside = outer

    def expression(self, node: ast.AST, whole: bool) -> None:
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                n.func.is_callee = True  # type: ignore[attr-defined]
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self.functions:
                self.use(n, getattr(n, "is_callee", False))

    def use(self, node: ast.Name, called: bool) -> None:
        f = self.functions[node.id]
        self.uses.append((node.id, self.clock, self.loops, self.inside))
        f.movable = f.movable and called

    # --- what follows

    def settle(self) -> None:
        for name in self.double:
            self.functions[name].movable = False
        while True:
            before = [(f.extent, f.movable, len(f.reads), len(f.writes)) for f in self.values()]
            for name, place, loops, inside in self.uses:
                f = self.functions[name]
                repeated = [self.ends[k] for k in loops if k not in f.loops]
                f.extent = max([f.extent, place, *repeated])
                if inside and inside != name:
                    caller = self.functions[inside]
                    f.extent = max(f.extent, caller.extent)
                    caller.reads |= f.reads
                    caller.writes |= f.writes
            for f in self.values():
                if not f.movable:
                    f.extent = self.clock + 1  # it may be called at any time
            if before == [(f.extent, f.movable, len(f.reads), len(f.writes)) for f in self.values()]:
                break
        set_inside = {n for f in self.values() for n in f.writes}
        for f in self.values():
            own, _ = own_names(f.node)
            late = {
                n
                for n in f.reads & self.local - set(self.functions)
                if n in set_inside or self.changes(n, f)
            }
            f.reads = late - own
            if f.writes and not self.callable_plainly(f):
                f.movable = False

    def values(self) -> list[Nested]:
        return list(self.functions.values())

    def changes(self, name: str, f: Nested) -> bool:
        """Whether a variable gets another value while the function may still be called."""
        return any(f.start < place <= f.extent for place in self.bindings.get(name, ()))

    def callable_plainly(self, f: Nested) -> bool:
        """Whether every call stands where its results can be unpacked."""
        if isinstance(f.node, ast.Lambda):
            return False
        if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(f.node)):
            return False
        return all(plain_calls(self.node, f.name))


def is_block(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)


def shallow(s: ast.AST, changed) -> set[str]:  # type: ignore[no-untyped-def]
    """Names that a statement sets itself, its blocks apart."""
    if isinstance(s, ast.For):
        return {n.id for n in ast.walk(s.target) if isinstance(n, ast.Name)}
    found: set[str] = set()
    if isinstance(s, ast.ExceptHandler) and s.name:
        found.add(s.name)
    for child in ast.iter_child_nodes(s):
        if not is_block(child):
            found |= changed(child)
    if not any(is_block(c) for c in ast.iter_child_nodes(s)):
        found |= changed(s)
    return found


def plain_calls(node: ast.AST, name: str) -> Iterator[bool]:
    """For each statement with calls of a function: whether their results can be unpacked before it."""
    for s in ast.walk(node):
        if not isinstance(s, ast.stmt) or isinstance(s, ast.FunctionDef):
            continue
        parts = [c for c in ast.iter_child_nodes(s) if not is_block(c)]
        calls = [n for p in parts for n in ast.walk(p) if is_call_of(n, name)]
        if not calls:
            continue
        value = getattr(s, "value", None)
        if isinstance(s, ast.Expr | ast.Assign | ast.Return) and value is calls[0]:
            yield len(calls) == 1
        else:
            yield False


def is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


class Rewrite(ast.NodeTransformer):
    """Adds the parameters, the arguments and the returned values."""

    def __init__(self, moved: dict[str, Nested]) -> None:
        self.moved = moved

    def function(self, node: ast.FunctionDef) -> None:
        node.body = [r for s in node.body for r in many(self.visit(s))]

    # --- definitions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        f = self.moved.get(node.name)
        node.body = [r for s in node.body for r in many(self.visit(s))]
        if f is None or f.node is not node:
            return node
        self.add_parameters(node.args, f)
        node.body = [s for s in (without(s, f.writes) for s in node.body) if s is not None]
        if f.writes:
            writes = sorted(f.writes)
            valued = gives_value(node)
            body = [r for s in node.body for r in many(Returns(writes, valued).visit(s))]
            if not exits.always_exits(body):
                body.append(ast.Return(result(writes, valued, ast.Constant(None)), lineno=0))
            node.body = body
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        for f in self.moved.values():
            if f.node is node:
                self.add_parameters(node.args, f)
        return node

    def add_parameters(self, a: ast.arguments, f: Nested) -> None:
        for n in f.shared:
            a.kwonlyargs.append(ast.arg(n))
            a.kw_defaults.append(None)

    # --- calls

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        f = self.moved.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if f is not None:
            node.keywords += [ast.keyword(n, ast.Name(n, ast.Load())) for n in f.shared]
        return node

    def unpacked(self, s: ast.stmt, value: ast.expr | None) -> Nested | None:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            f = self.moved.get(value.func.id)
            return f if f is not None and f.writes else None
        return None

    def visit_Expr(self, s: ast.Expr) -> ast.AST:
        self.generic_visit(s)
        f = self.unpacked(s, s.value)
        if f is None:
            return s
        valued = gives_value(f.node)
        first: list[ast.expr] = [ast.Name("ignored", ast.Store())] if valued else []
        return self.assign(first, f, s.value, s)

    def visit_Assign(self, s: ast.Assign) -> ast.AST:
        self.generic_visit(s)
        f = self.unpacked(s, s.value)
        if f is None:
            return s
        return self.assign(list(s.targets), f, s.value, s)

    def visit_Return(self, s: ast.Return) -> ast.AST | list[ast.stmt]:
        self.generic_visit(s)
        f = self.unpacked(s, s.value)
        if f is None:
            return s
        assert s.value is not None
        held = f"{f.name}_result"
        first = self.assign([ast.Name(held, ast.Store())], f, s.value, s)
        return [first, ast.copy_location(ast.Return(ast.Name(held, ast.Load())), s)]

    def assign(
        self, first: list[ast.expr], f: Nested, value: ast.expr, at: ast.stmt
    ) -> ast.Assign:
        writes = [ast.Name(n, ast.Store()) for n in sorted(f.writes)]
        if first and not gives_value(f.node):
            f.node.gives_value = True  # type: ignore[union-attr]
        targets: list[ast.expr] = [*first, *writes]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        return ast.copy_location(ast.Assign([target], value), at)


def many(node: Any) -> list[ast.stmt]:
    return node if isinstance(node, list) else [] if node is None else [node]


def without(s: ast.stmt, names: set[str]) -> ast.stmt | None:
    """A `nonlocal` statement without names that are parameters now."""
    if isinstance(s, ast.Nonlocal):
        s.names = [n for n in s.names if n not in names]
        return s if s.names else None
    return s


def gives_value(node: ast.AST) -> bool:
    """Whether a function returns something."""
    if not hasattr(node, "gives_value"):
        node.gives_value = any(  # type: ignore[attr-defined]
            isinstance(n, ast.Return) and n.value is not None for n in within(node)
        )
    return node.gives_value  # type: ignore[attr-defined]


def within(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, those of functions nested in it apart."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from within(child)


def result(writes: list[str], valued: bool, value: ast.expr) -> ast.expr:
    parts = ([value] if valued else []) + [ast.Name(n, ast.Load()) for n in writes]
    return parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())


class Returns(ast.NodeTransformer):
    """Every `return` gives the variables as well."""

    def __init__(self, writes: list[str], valued: bool) -> None:
        self.writes, self.valued = writes, valued

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Return(self, s: ast.Return) -> ast.AST:
        value = result(self.writes, self.valued, s.value or ast.Constant(None))
        return ast.copy_location(ast.Return(value), s)
