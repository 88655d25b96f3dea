"""Object operators: those of a class of the user's, as the new objects that they make.

z = z * z + k       ->     product = Complex(z.re * z.re - z.im * z.im, 2 * z.re * z.im)
                           z = Complex(product.re + k.re, product.im + k.im)

Only of methods that do nothing but return a new object.  What is not followed stays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from overt.rewrites.exits import assign
from overt.rewrites.method_calls import changes
from overt.rewrites.method_texts import (
    COMPREHENSIONS,
    SIMPLE,
    Kind,
    Stmts,
    Unfollowed,
    Writer,
    fits,
    formula,
)
from overt.rewrites.scopes import NESTED, own_nodes, parameters

KindOf = Callable[[ast.expr], Kind | None]
BINARY = {
    ast.Add: ("__add__", "__radd__", "__iadd__", "total"),
    ast.Sub: ("__sub__", "__rsub__", "__isub__", "difference"),
    ast.Mult: ("__mul__", "__rmul__", "__imul__", "product"),
    ast.Div: ("__truediv__", "__rtruediv__", "__itruediv__", "ratio"),
    ast.MatMult: ("__matmul__", "__rmatmul__", "__imatmul__", "product"),
    ast.Pow: ("__pow__", "__rpow__", "__ipow__", "power"),
}
UNARY = {ast.USub: ("__neg__", "negative"), ast.UAdd: ("__pos__", "positive")}
OPAQUE = (ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Lambda, ast.Await, ast.Yield, *COMPREHENSIONS)


def operators_as_objects(node: ast.FunctionDef, kind: KindOf, around: set[str]) -> ast.FunctionDef:
    """The function with new objects in the place of such operators and methods."""
    made = classes_of(node, kind)
    if not made:
        return node
    work = Operators(node, kind, around, made)
    try:
        work.node.body = work.block(work.node.body)
    except Unfollowed:
        return node
    return ast.fix_missing_locations(work.node)


def classes_of(node: ast.FunctionDef, kind: KindOf) -> dict[str, str]:
    """The names that are only ever given new objects of one class, by whatever expression."""
    stores: dict[str, list[ast.expr]] = {}
    single: set[int] = set()
    apart: set[str] = set()
    for s in own_nodes(node):
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            target = s.targets[0]
        elif isinstance(s, ast.AugAssign):
            target = s.target
        else:
            if isinstance(s, NESTED):
                apart |= {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}
            continue
        if isinstance(target, ast.Name):
            stores.setdefault(target.id, []).append(new_value(s))
            single.add(id(target))
    for n in own_nodes(node):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and id(n) not in single:
            apart.add(n.id)
    apart |= parameters(node)
    known: dict[str, str] = {}
    look = Classes(kind, known)
    while True:  # what may be
        before = len(known)
        for name, values in stores.items():
            found = {c for c in map(look.of, values) if c}
            if name not in apart and name not in known and len(found) == 1:
                known[name] = found.pop()
        if len(known) == before:
            break
    while True:  # what surely is
        wrong = [n for n in known if any(look.of(v) != known[n] for v in stores[n])]
        if not wrong:
            return known
        for name in wrong:
            del known[name]


def new_value(s: ast.Assign | ast.AugAssign) -> ast.expr:
    """What a statement gives its target; `x += y` as `x + y`."""
    if isinstance(s, ast.Assign):
        return s.value
    assert isinstance(s.target, ast.Name)
    old = ast.copy_location(ast.Name(s.target.id, ast.Load()), s.target)
    made = ast.copy_location(ast.BinOp(old, s.op, s.value), s)
    made.in_place = True  # type: ignore[attr-defined]
    return made


class Classes:
    """The classes of expressions, where those of names are known."""

    def __init__(self, kind: KindOf, known: dict[str, str]) -> None:
        self.kind, self.known = kind, known
        self.kinds: dict[str, Kind] = {}

    def of(self, node: ast.expr) -> str:
        """The class of a new object that an expression makes, as the text names it; or ""."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            found = self.kind(node.func)
            if found is not None:
                text = ast.unparse(node.func)
                self.kinds[text] = found
                return text
        method = self.method(node)
        value = formula(method[0]) if method is not None else None
        return self.of(value) if isinstance(value, ast.Call) else ""

    def held(self, node: ast.expr) -> Kind | None:
        """The class of what an expression gives, also if it is no new object."""
        text = self.known.get(node.id, "") if isinstance(node, ast.Name) else self.of(node)
        return self.kinds.get(text)

    def method(
        self, node: ast.expr
    ) -> tuple[ast.FunctionDef, ast.expr, list[ast.expr], str] | None:
        """The method that an operator or call runs, the object, the arguments and a name."""
        found: list[tuple[Kind | None, str, ast.expr, list[ast.expr], str]] = []
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            name, reflected, changing, stem = BINARY[type(node.op)]
            left, right = self.held(node.left), self.held(node.right)
            if left is not None and hasattr(node, "in_place") and knows(left, changing):
                return None
            if left is not None:
                found.append((left, name, node.left, [node.right], stem))
            elif right is not None and isinstance(node.left, ast.Constant):
                found.append((right, reflected, node.right, [node.left], stem))
        elif isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            name, stem = UNARY[type(node.op)]
            found.append((self.held(node.operand), name, node.operand, [], stem))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not node.keywords:
                f = node.func
                found.append((self.held(f.value), f.attr, f.value, node.args, f.attr))
        for kind, name, itself, args, stem in found:
            if kind is not None and name in kind.methods:
                return kind.methods[name], itself, args, stem
        return None


def knows(kind: Kind, name: str) -> bool:
    return name in kind.methods or name in kind.others


class Operators(Writer):
    """Writes the operators of one function as new objects."""

    def __init__(
        self, node: ast.FunctionDef, kind: KindOf, around: set[str], known: dict[str, str]
    ) -> None:
        super().__init__(node, around)
        self.classes = Classes(kind, known)
        for s in own_nodes(node):  # the classes that are named
            if isinstance(s, ast.expr):
                self.classes.of(s)

    def block(self, body: Stmts) -> Stmts:
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> Stmts:
        if isinstance(s, NESTED):
            return [s]
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            if s.target.id in self.classes.known:
                s = ast.copy_location(ast.Assign([s.target], new_value(s)), s)
                s.targets[0] = ast.copy_location(ast.Name(s.targets[0].id, ast.Store()), s)  # type: ignore
        before: Stmts = []
        work = Parts(self, s, before)
        if isinstance(s, ast.Assign):
            s.value = work.whole(s.value)
        elif isinstance(s, ast.Return | ast.Expr | ast.AugAssign | ast.AnnAssign) and s.value:
            s.value = work.visit(s.value)
        elif isinstance(s, ast.If):
            s.test = work.visit(s.test)
        elif isinstance(s, ast.For):
            s.iter = work.visit(s.iter)
        for part in ("body", "orelse", "finalbody"):
            if getattr(s, part, None):
                setattr(s, part, self.block(getattr(s, part)))
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            part.body = self.block(part.body)
        return [*before, s]


class Parts(ast.NodeTransformer):
    """The operators in one statement, innermost first, each in a statement of its own."""

    def __init__(self, work: Operators, at: ast.stmt, before: Stmts) -> None:
        self.work, self.at, self.before = work, at, before
        self.seen = False  # whether a call was evaluated, which may change objects

    def visit(self, node: Any) -> Any:
        if isinstance(node, OPAQUE):
            self.seen = True
            return node
        if isinstance(node, ast.expr) and self.work.classes.of(node):
            return self.named(self.whole(node), node)
        node = self.generic_visit(node)
        self.seen = self.seen or isinstance(node, ast.Call) and self.may_change(node)
        return node

    def may_change(self, call: ast.Call) -> bool:
        """Whether a call may change an object."""
        found = self.work.classes.method(call)
        kind = self.work.classes.held(found[1]) if found is not None else None
        return found is None or kind is None or changes(found[0], kind)

    def whole(self, node: ast.expr) -> ast.expr:
        """An expression that makes an object as the call of its class."""
        found = self.work.classes.method(node)
        if found is None or not self.work.classes.of(node):
            self.generic_visit(node)
            return node
        method, itself, args, _ = found
        itself = self.visit(itself)
        if not isinstance(itself, ast.Name):
            raise Unfollowed
        values = self.work.values(
            method, ast.Call(itself, list(map(self.visit, args)), []), itself.id
        )
        for p, value in values.items():
            if not isinstance(value, SIMPLE):
                values[p] = self.named(value, node, p)
        if not fits(formula(method), values):
            raise Unfollowed
        made = self.whole(self.work.in_place(method, values))
        return ast.copy_location(made, node)

    def named(self, value: ast.expr, node: ast.expr, stem: str = "") -> ast.expr:
        """A value in a variable of its own."""
        if self.seen:
            raise Unfollowed
        found = self.work.classes.method(node)
        name = self.work.new(stem or (found[3] if found else "made"))
        text = self.work.classes.of(value)
        if text:
            self.work.classes.known[name] = text
        self.before.append(ast.copy_location(assign(name, value, self.at), self.at))
        return ast.copy_location(ast.Name(name, ast.Load()), node)
