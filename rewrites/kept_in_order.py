"""Functions of `heapq` and `bisect` that change a list, as new lists.

heapq.heappush(h, v)     ->   h.append(v)
                              h = picked(h, order_after(h, "heappush"))
v = heapq.heappop(h)     ->   v = h[0]
                              h = picked(h, order_after(h, "heappop"))
heapq.nlargest(2, xs)    ->   sorted(xs, reverse=True)[:2]
"""

from __future__ import annotations

import ast
import bisect
import copy
import heapq
from collections.abc import Callable
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import new_name, root_name

ADDING = {
    heapq.heappush: "heappush", bisect.insort_left: "insort_left",
    bisect.insort_right: "insort_right", heapq.heappushpop: "heappushpop",
}  # fmt: skip
CHANGING_LISTS = {
    **ADDING, heapq.heappop: "heappop", heapq.heapify: "heapify", heapq.heapreplace: "heapreplace",
}  # fmt: skip
FUNCTIONS = (*CHANGING_LISTS, heapq.nlargest, heapq.nsmallest)
GIVING = ("heappop", "heapreplace", "heappushpop")

Stmts = list[ast.stmt]


def lists_kept_in_order(
    body: Stmts, local: set[str], taken: set[str], resolve: Callable[[ast.expr], Any]
) -> Stmts:
    """The statements of a function with calls of such functions on its own lists replaced."""
    names = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
    found = {n: resolve(ast.Name(n)) for n in names - local}
    known = {n: m for n, m in found.items() if any(m is f for f in (heapq, bisect, *FUNCTIONS))}
    return InOrder(local, taken, known).block(body) if known else body


class InOrder(ast.NodeTransformer):
    def __init__(self, local: set[str], taken: set[str], known: dict[str, Any]) -> None:
        self.local, self.taken, self.known = local, taken, known
        self.before: Stmts = []

    def block(self, body: Stmts) -> Stmts:
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> Stmts:
        if isinstance(s, ast.FunctionDef | ast.ClassDef):
            return [s]
        s = copy.copy(s)
        for field in ("body", "orelse", "finalbody"):
            if getattr(s, field, None):
                setattr(s, field, self.block(getattr(s, field)))
        if isinstance(s, ast.Try):
            s.handlers = [
                ast.copy_location(ast.ExceptHandler(h.type, h.name, self.block(h.body)), h)
                for h in s.handlers
            ]
        outer, self.before = self.before, []
        simple = isinstance(s, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)
        if simple and s.value is not None:  # type: ignore[attr-defined]
            s.value = self.visit(s.value)  # type: ignore[attr-defined]
        elif isinstance(s, ast.If | ast.While):
            self.refuse_in(s.test)
        done, self.before = self.before, outer
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and done:
            return done
        return [*done, s]

    def callee(self, f: ast.expr) -> Any:
        """The function of these modules that an expression names."""
        if isinstance(f, ast.Name):
            return self.known.get(f.id)
        if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name):
            return getattr(self.known.get(f.value.id), f.attr, None)
        return None

    def function(self, node: ast.AST) -> str | None:
        """The name of the changing function that is called, on a list of this function."""
        if not isinstance(node, ast.Call) or node.keywords or not node.args:
            return None
        found = self.callee(node.func)
        name = next((n for g, n in CHANGING_LISTS.items() if g is found), None)
        if name is None or len(node.args) != 1 + (name not in ("heappop", "heapify")):
            return None
        return name if root_name(node.args[0]) & self.local else None

    def visit_Call(self, node: ast.Call) -> ast.expr:
        found = self.callee(node.func)
        largest = found is heapq.nlargest
        if (largest or found is heapq.nsmallest) and len(node.args) == 2:
            keywords = [*node.keywords, ast.keyword("reverse", ast.Constant(True))]
            keywords = keywords if largest else node.keywords
            ordered = ast.Call(ast.Name("sorted", ast.Load()), [self.visit(node.args[1])], keywords)
            some = ast.Slice(None, self.visit(node.args[0]), None)
            return ast.copy_location(ast.Subscript(ordered, some, ast.Load()), node)
        name = self.function(node)
        if name is None:
            return self.generic_visit(node)  # type: ignore[return-value]
        values = [self.visit(a) for a in node.args[1:]]
        heap = node.args[0]
        result: ast.expr = ast.Constant(None)
        if name == "heappushpop":
            self.add(heap, "append", values)
            self.set(heap, self.picked(heap, "heappush"), node)
            values, name = [], "heappop"
        if name in GIVING:
            held = new_name("smallest", self.taken)
            self.local.add(held)
            first = ast.Subscript(heap, ast.Constant(0), ast.Load())
            self.set(ast.Name(held, ast.Load()), first, node)
            result = ast.Name(held, ast.Load())
        if values:
            self.add(heap, "append", values)
        self.set(heap, self.picked(heap, name), node)
        return result

    def add(self, heap: ast.expr, method: str, values: list[ast.expr]) -> None:
        call = ast.Call(ast.Attribute(heap, method, ast.Load()), values, [])
        self.before.append(ast.copy_location(ast.Expr(call), heap))

    def picked(self, heap: ast.expr, name: str) -> ast.expr:
        order = ast.Call(ast.Name("@order_after", ast.Load()), [heap, ast.Constant(name)], [])
        return ast.Call(ast.Name("@picked", ast.Load()), [heap, order], [])

    def set(self, place: ast.expr, value: ast.expr, at: ast.AST) -> None:
        target = copy.copy(place)
        target.ctx = ast.Store()  # type: ignore[attr-defined]
        self.before.append(ast.copy_location(ast.Assign([target], value), at))

    def refuse_in(self, test: ast.expr) -> None:
        for node in ast.walk(test):
            if (name := self.function(node)) is not None:
                raise Refusal(
                    f"`{name}` changes a list in a condition", "Give its value a name.", node
                )

    def _skipped(self, node: Any) -> Any:
        if not isinstance(node, ast.Lambda):
            self.refuse_in(node)
        return node

    visit_IfExp = visit_BoolOp = visit_Lambda = _skipped
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skipped
