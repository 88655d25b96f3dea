"""Liveness: what a function never needs is left out.

    for row in rows:                      for row in rows:
        last = row * row          ->          total = total + row
        total = total + row               return total
    return total

A merge, a carried value or an assignment that nothing reads goes; what may have an effect stays.
"""

from __future__ import annotations

import ast
import functools
import types
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Define, Do, For, Function, If, Note, While, With
from overt.rewrites.members import members_of

# Runtime helpers with an effect of their own.
EFFECTS = frozenset("push print_ check store in_place stored_in".split())
# Helpers that give a changed container, and may do so by changing the one they are given.
CHANGES = frozenset("set_item appended changed popped".split())
PURE_MODULES = ("numpy", "math", "overt", "scipy", "operator", "cmath")
PURE_ROOTS = frozenset("np numpy jnp onp math".split())
PURE_BUILTINS = frozenset(
    "abs bool complex dict divmod enumerate float frozenset int isinstance len list max min pow "
    "range reversed round set slice str sum tuple type zip any all sorted hasattr getattr".split()
)
ITERATORS = frozenset("iter enumerate filter map reversed zip".split())
PURE_METHODS = frozenset(
    "all any argmax argmin astype clip conj copy cumprod cumsum dot flatten get items keys max "
    "mean min prod ravel repeat reshape squeeze std sum swapaxes take trace transpose values var "
    "reversed pushed format join split _replace".split()
)


def prune(function: Function, namespace: Mapping[str, Any] | None = None) -> Function:
    """The function without merges, carries and assignments that are never needed."""
    pruner = Pruner(function, namespace or {})
    body, _ = pruner.block(function.body, pruner.reads(function.result))
    return replace(function, body=body)


class Pruner:
    """Walks one function backwards; `alive` are the names that what follows needs."""

    def __init__(self, function: Function, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self.captured: dict[str, set[str]] = {}
        for s in core.walk(function.body):
            if isinstance(s, Define):
                self.captured[s.name] = core.free_of_function(s.function)
        self.shared = shared_names(function)
        self.iterators = iterators_in(function)
        self.catching = False  # whether an exception would be handled

    def reads(self, *nodes: ast.AST | None) -> set[str]:
        """Local names that these need, those that nested functions capture included."""
        found: set[str] = set()
        pending = [n for node in nodes for n in core.reads(node) if core.is_local(n)]
        while pending:
            n = pending.pop()
            if n not in found:
                found.add(n)
                pending += self.captured.get(n, ())
        return found

    # --- statements

    def block(self, block: core.Block, alive: set[str]) -> tuple[core.Block, set[str]]:
        """The needed statements, and the names needed before them."""
        kept: list[core.Stmt] = []
        for s in reversed(block):
            new, alive = self.statement(s, alive)
            kept[:0] = new
        if all(isinstance(s, Note) for s in kept):
            kept = []
        return tuple(kept), alive

    def statement(self, s: core.Stmt, alive: set[str]) -> tuple[list[core.Stmt], set[str]]:
        if isinstance(s, Assign):
            return self.assign(s, alive)
        if isinstance(s, Define):
            if s.name not in alive and core.is_local(s.name):
                return [], alive
            inner = self.nested(s.function)
            return [replace(s, function=inner)], (alive - {s.name}) | core.free_of_function(inner)
        if isinstance(s, If):
            return self.branch(s, alive)
        if isinstance(s, For | While):
            return self.loop(s, alive)
        if isinstance(s, With):
            outer, self.catching = self.catching, self.catching or catches(s)
            body, alive = self.block(s.body, alive)
            self.catching = outer
            for item in s.items:
                alive = alive - core.reads(item.optional_vars)
            alive = alive | self.reads(*[item.context_expr for item in s.items])
            return [replace(s, body=body)], alive
        if isinstance(s, Do):
            return [s], alive | self.reads(s.node)
        return [s], alive

    def nested(self, function: Function) -> Function:
        return prune(function, self.namespace)

    def assign(self, s: Assign, alive: set[str]) -> tuple[list[core.Stmt], set[str]]:
        targets = set(core.pattern_names(s.target))
        outer = any(not core.is_local(t) for t in targets)
        if not (outer or targets & alive) and self.is_pure(s.value):
            return [], alive
        return [s], (alive - targets) | self.reads(s.value)

    def branch(self, s: If, alive: set[str]) -> tuple[list[core.Stmt], set[str]]:
        merges = tuple(m for m in s.merges if m.name in alive)
        rest = alive - {m.name for m in s.merges}
        then, before_then = self.block(s.then, rest | self.reads(*[m.then for m in merges]))
        orelse, before_else = self.block(s.orelse, rest | self.reads(*[m.orelse for m in merges]))
        if not (then or orelse or merges):
            if self.is_pure(s.test):
                return [], alive
            return [Do(ast.Expr(s.test), s.origin)], alive | self.reads(s.test)
        new = replace(s, then=then, orelse=orelse, merges=merges)
        return [new], before_then | before_else | self.reads(s.test)

    def loop(self, s: For | While, alive: set[str]) -> tuple[list[core.Stmt], set[str]]:
        head = [s.test] if isinstance(s, While) else []
        items = [s.items] if isinstance(s, For) else []
        rest = alive - {c.out for c in s.carries}
        kept = {c.name for c in s.carries if c.out in alive}
        if not kept and not self.block(s.body, set())[0] and self.is_pure(*head, *items):
            if not self.takes_items(*items):
                return [], alive
        while True:
            ends = [c.next for c in s.carries if c.name in kept]
            body, start = self.block(s.body, rest | self.reads(*ends, s.until))
            needed = start | self.reads(*head, *ends)
            more = {c.name for c in s.carries if c.name in needed} - kept
            if not more:
                break
            kept |= more
        carries = tuple(c for c in s.carries if c.name in kept)
        inside = {c.name for c in s.carries}
        if isinstance(s, For):
            inside |= set(core.pattern_names(s.target))
        before = (needed - inside) | self.reads(*items, *[c.init for c in carries])
        return [replace(s, carries=carries, body=body)], before | rest

    # --- effects

    def is_pure(self, *nodes: ast.AST) -> bool:
        """Whether evaluating these surely has no effect."""
        if self.catching:
            return all(isinstance(node, ast.Name | ast.Constant) for node in nodes)
        return not any(
            isinstance(n, ast.Call) and (self.takes_items(*n.args) or not self.is_pure_call(n))
            for node in nodes
            for n in ast.walk(node)
        )

    def takes_items(self, *nodes: ast.AST) -> bool:
        """Whether these are iterators, of which a loop or a call such as `list` leaves nothing."""
        return any(isinstance(n, ast.Name) and core.base(n.id) in self.iterators for n in nodes)

    def is_pure_call(self, node: ast.Call) -> bool:
        f = node.func
        if isinstance(f, ast.Name):
            if f.id.startswith("@"):
                helper = f.id[1:]
                return helper not in EFFECTS and not (helper in CHANGES and self.is_shared(node))
            if f.id == core.UNDEFINED:
                return True
            if core.is_local(f.id):
                return False
            return f.id in PURE_BUILTINS or self.is_known(self.namespace.get(f.id))
        if isinstance(f, ast.Attribute):
            root = f.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and not core.is_local(root.id):
                module = self.namespace.get(root.id)
                if isinstance(module, types.ModuleType):
                    return module.__name__.partition(".")[0] in PURE_MODULES
                if module is None and root.id in PURE_ROOTS:
                    return True
            return f.attr in PURE_METHODS and f.attr not in self.users_methods
        return False

    @functools.cached_property
    def users_methods(self) -> set[str]:
        return members_of(getattr(self.namespace, "globals", self.namespace))[0]

    def is_known(self, value: Any) -> bool:
        return (getattr(value, "__module__", None) or "").partition(".")[0] in PURE_MODULES

    def is_shared(self, node: ast.Call) -> bool:
        root = node.args[0]
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        return not isinstance(root, ast.Name) or core.base(root.id) in self.shared


def uses_in(block: core.Block) -> Counter[str]:
    """How often names are read; those that nested functions capture count too."""
    found: Counter[str] = Counter()

    def visit(node: Any) -> Any:
        found.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return node

    for s in block:
        core.map_stmt(s, visit)
    for s in core.walk(block):
        if isinstance(s, Define):
            found.update(core.free_of_function(s.function))
    return found


def uses_of(function: Function) -> Counter[str]:
    """How often names are read in a function, its result included."""
    found = uses_in(function.body)
    found.update(core.reads(function.result))
    return found


def catches(s: With) -> bool:
    """Whether exceptions inside a block are handled, so that raising one is an effect."""
    return any("@caught" in core.reads(item.context_expr) for item in s.items)


def iterators_in(function: Function) -> set[str]:
    """User's names for iterators that are read more than once, so that each use leaves less."""
    assigned = [s for s in core.walk(function.body) if isinstance(s, Assign)]
    found = {
        core.base(s.target)
        for s in assigned
        if isinstance(s.target, str) and makes_iterator(s.value)
    }
    if not found:
        return found
    reads: Counter[str] = Counter()
    for name, count in uses_of(function).items():
        reads[core.base(name)] += count
    return {name for name in found if reads[name] > 1}


def makes_iterator(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ITERATORS
    return isinstance(value, ast.GeneratorExp)


def shared_names(function: Function) -> set[str]:
    """User's names whose containers something outside the function may hold too."""
    found = {core.base(p.name) for p in function.params}
    for s in core.walk(function.body):
        if isinstance(s, Assign):
            if not (isinstance(s.target, str) and is_new(s.value)):
                found |= {core.base(n) for n in core.pattern_names(s.target)}
        elif isinstance(s, For):
            found |= {core.base(n) for n in core.pattern_names(s.target)}
        elif isinstance(s, If):
            found |= escaping((m.name, v) for m in s.merges for v in (m.then, m.orelse))
        elif isinstance(s, With):
            found |= {core.base(n) for i in s.items for n in core.reads(i.optional_vars)}
        if isinstance(s, For | While):
            found |= escaping((c.name, v) for c in s.carries for v in (c.init, c.next))
    return found


def escaping(pairs: Iterable[tuple[str, ast.expr]]) -> set[str]:
    """Names joined with a value of another name."""
    return {
        core.base(n)
        for n, v in pairs
        if not (
            is_new(v) or isinstance(v, ast.Name) and core.base(v.id) in (core.base(n), "Undefined")
        )
    }


def is_new(value: ast.expr) -> bool:
    """Whether an expression gives an object that nobody else holds."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id.startswith("@"):
            return value.func.id[1:] in CHANGES  # as new as what it changes
        return value.func.id in ("list", "dict", "set", "sorted")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        root = value.func.value
        return value.func.attr == "copy" or isinstance(root, ast.Name) and root.id in PURE_ROOTS
    kinds = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    return isinstance(value, kinds | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Constant)
