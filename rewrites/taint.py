"""Taint: which names of a function may differ between the lanes of a `vmap`.

def f(x, n):                      # x: batch on axis 0
    size = x.shape[0] * n         # size, n: the same in every lane
    return x * size               # what is made of x differs
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from overt.rewrites import core
from overt.rewrites.conditions import asked_for_none
from overt.rewrites.core import Assign, Define, Do, For, Function, If, While, With

ALIKE_ATTRIBUTES = frozenset("shape ndim size dtype".split())
ALIKE_CALLS = frozenset("len isinstance type hasattr callable".split())


def tainted_names(function: Function, params: Iterable[str]) -> set[str]:
    """Names that may hold a batched value if these parameters do."""
    taint = Taint(set(params))
    while taint.grows:
        taint.grows = False
        taint.block(function.body)
    return taint.names


class Taint:
    def __init__(self, names: set[str]) -> None:
        self.names, self.grows = names, True

    def add(self, names: Iterable[str]) -> None:
        new = set(names) - self.names
        self.grows = self.grows or bool(new)
        self.names |= new

    def differs(self, *nodes: ast.AST | None) -> bool:
        """Whether a value may differ between lanes."""
        return any(_reads_of(node) & self.names for node in nodes if node is not None)

    def block(self, block: core.Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: core.Stmt) -> None:
        if isinstance(s, Assign):
            if self.differs(s.value):
                self.add(core.pattern_names(s.target))
        elif isinstance(s, If):
            self.block(s.then)
            self.block(s.orelse)
            for m in s.merges:
                if self.differs(s.test, m.then, m.orelse):
                    self.add([m.name])
        elif isinstance(s, For | While):
            self.loop(s)
        elif isinstance(s, Define):
            self.add(p.name for p in s.function.params)
            self.block(s.function.body)
            if core.free_of_function(s.function) & self.names:
                self.add([s.name])
        elif isinstance(s, With):
            if self.differs(*[i.context_expr for i in s.items]):
                self.add(n for i in s.items for n in core.reads(i.optional_vars))
            self.block(s.body)
        elif isinstance(s, Do) and self.differs(s.node):
            self.add(core.assigned((s,)))

    def loop(self, s: For | While) -> None:
        # A loop that ends at a different time in each lane makes all that it changes differ.
        head = s.test if isinstance(s, While) else s.items
        if isinstance(s, For) and self.differs(s.items):
            self.add(core.pattern_names(s.target))
        ends = self.differs(s.until) or (self.differs(head) and differs_in_length(head))
        for c in s.carries:
            if ends or self.differs(c.init, c.next) or {c.name, c.out} & self.names:
                self.add([c.name, c.out])
        self.block(s.body)


def differs_in_length(head: ast.expr) -> bool:
    """Whether a loop over (or while) a batched value may end at another time in each lane."""
    return not isinstance(head, ast.Name | ast.Attribute | ast.Subscript)


def _reads_of(node: ast.AST) -> set[str]:
    """Names whose lanes a value may depend on: those asked for their shape alone left out."""
    if isinstance(node, ast.Attribute) and node.attr in ALIKE_ATTRIBUTES:
        return set()
    if isinstance(node, ast.Compare) and all(isinstance(o, ast.Is | ast.IsNot) for o in node.ops):
        asked = asked_for_none(node)
        return set() if asked is None else _reads_of(asked)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ALIKE_CALLS:
            return set()
    if isinstance(node, ast.Name):
        return {node.id}
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        found |= _reads_of(child)
    return found
