"""`xs += items` of a list or deque, where the items are in something that is no list.

    xs = [a]                       xs = [a]
    xs += (b, c)          ->       xs += list((b, c))

    d = deque([a])                 d = deque([a])
    d += [b]              ->       d.extend([b])

In core form `xs += ys` is `xs + ys`, which Python has for two lists only.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable

from overt.rewrites.held_outside import given
from overt.rewrites.scopes import own_nodes, parameters

Known = Callable[[ast.expr], str]  # "module.name" of what an expression names outside

LISTS = ("builtins.list", "builtins.sorted")
DEQUES = ("collections.deque",)
VIEWS = frozenset("keys values items".split())
SHARING = ast.Global | ast.Nonlocal
DISPLAYS = (
    ast.Tuple, ast.Set, ast.Dict, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.JoinedStr,
)  # fmt: skip
MADE = tuple(f"builtins.{n}" for n in "range tuple set frozenset dict str".split())
OTHERS = frozenset(
    f"builtins.{n}"
    for n in "range map zip tuple filter reversed enumerate iter set frozenset dict str".split()
)


def with_added_items(node: ast.FunctionDef, known: Known) -> ast.FunctionDef:
    """A function with such statements rewritten."""
    grown = [n for n in own_nodes(node) if isinstance(n, ast.AugAssign) and grows(n)]
    if not grown:
        return node
    kinds = Kinds(node, known)
    new = {id(s): s2 for s in grown if (s2 := kinds.rewritten(s)) is not None}
    return replaced(node, new) if new else node


def grows(s: ast.AugAssign) -> bool:
    return isinstance(s.op, ast.Add) and isinstance(s.target, ast.Name)


class Kinds:
    """What kinds of containers the names of a function are given."""

    def __init__(self, node: ast.FunctionDef, known: Known) -> None:
        self.known = known
        self.values: dict[str, list[ast.expr]] = {}
        for target, value in (pair for s in node.body for pair in given(s)):
            if isinstance(target, ast.Name):
                self.values.setdefault(target.id, []).append(value)
        operated = {n.target for n in own_nodes(node) if isinstance(n, ast.AugAssign)}
        names = [n for n in own_nodes(node) if isinstance(n, ast.Name) and n not in operated]
        stores = Counter(n.id for n in names if isinstance(n.ctx, ast.Store))
        shared = {n for s in ast.walk(node) if isinstance(s, SHARING) for n in s.names}
        self.unclear = parameters(node) | shared
        self.unclear |= {n for n, v in self.values.items() if len(v) != stores[n]}

    def rewritten(self, s: ast.AugAssign) -> ast.stmt | None:
        assert isinstance(s.target, ast.Name)
        name = s.target.id
        new: ast.stmt
        to_list = self.is_every(name, self.is_list) and self.is_other(s.value)
        if to_list and self.is_made(s.value):
            items = ast.Call(ast.Name("list", ast.Load()), [s.value], [])
            new = ast.AugAssign(s.target, s.op, items)
        elif to_list or self.is_every(name, self.is_deque):
            extend = ast.Attribute(ast.Name(name, ast.Load()), "extend", ast.Load())
            new = ast.Expr(ast.Call(extend, [s.value], []))
        else:
            return None
        return ast.fix_missing_locations(ast.copy_location(new, s))

    def is_every(self, name: str, test: Callable[[ast.expr], bool]) -> bool:
        values = [] if name in self.unclear else self.values.get(name, [])
        return bool(values) and all(map(test, values))

    def is_list(self, value: ast.expr) -> bool:
        if isinstance(value, ast.BinOp):
            return isinstance(value.op, ast.Add | ast.Mult) and self.is_list(value.left)
        return isinstance(value, ast.List | ast.ListComp) or self.is_call(value, LISTS)

    def is_deque(self, value: ast.expr) -> bool:
        return self.is_call(value, DEQUES)

    def is_other(self, value: ast.expr) -> bool:
        """Whether a value that can be run over is surely no list."""
        if isinstance(value, ast.Name):
            return self.is_every(
                value.id, lambda v: not isinstance(v, ast.Name) and self.is_other(v)
            )
        if isinstance(value, ast.Constant):
            return isinstance(value.value, str | bytes)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr in VIEWS and not value.args:
                return True
        if isinstance(value, DISPLAYS) or self.is_call(value, (*OTHERS, *DEQUES)):
            return True
        called = self.known(value.func) if isinstance(value, ast.Call) else ""
        return called.startswith("itertools.")

    def is_made(self, value: ast.expr) -> bool:
        """Whether all items are there before the list grows; others may read the list meanwhile."""
        if isinstance(value, ast.Call):
            return getattr(value.func, "attr", "") in VIEWS or self.is_call(value, MADE)
        return not isinstance(value, ast.Name | ast.GeneratorExp)

    def is_call(self, value: ast.expr, names: tuple[str, ...]) -> bool:
        return isinstance(value, ast.Call) and self.known(value.func) in names


def replaced(node: ast.FunctionDef, new: dict[int, ast.stmt]) -> ast.FunctionDef:
    """A copy of a function with other statements in the place of some."""

    def visit(part: ast.AST) -> ast.AST:
        if id(part) in new:
            return new[id(part)]
        made = copy.copy(part)
        for key, value in vars(part).items():
            if isinstance(value, list):
                setattr(made, key, [visit(v) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.stmt | ast.ExceptHandler | ast.match_case):
                setattr(made, key, visit(value))
        return made

    return visit(node)  # type: ignore[return-value]
