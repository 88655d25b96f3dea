"""Method texts: the statements or the formula of a method, where a function calls it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from overt.rewrites.exits import assign, contains, single_exit
from overt.rewrites.scopes import (
    Renamed,
    changed_names,
    free_names,
    locals_of,
    new_name,
    targets_of,
)
from overt.rewrites.written_out import can_be_written_out, values_given

Stmts = list[ast.stmt]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
APART = (ast.IfExp, ast.BoolOp, *COMPREHENSIONS)  # whose parts are not evaluated once
SIMPLE = (ast.Name, ast.Constant)
UNFOLLOWED = (ast.Try, ast.With, ast.Match, ast.NamedExpr, ast.Delete, ast.Await)
LARGEST = 400  # statements; beyond it the text would not be read


class Unfollowed(Exception):  # noqa: N818  it stops a rewrite, nobody sees it
    """Raised where an object is used in a way that its fields do not tell."""


@dataclass
class Kind:
    """A class of the user's, as far as its objects can be written as fields."""

    methods: dict[str, ast.FunctionDef]  # and `Base.method`, what `super()` finds
    getters: dict[str, ast.FunctionDef] = field(default_factory=dict)
    statics: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)  # attributes of the class
    others: set[str] = field(default_factory=set)  # members that are not followed


class Writer:
    """Writes the text of methods where a function calls them."""

    def __init__(self, node: ast.FunctionDef, around: set[str]) -> None:
        self.node = copy.deepcopy(node)
        self.own = locals_of(node) | around
        self.taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | self.own
        self.size = 0  # of what was written out, in statements

    def written_out(
        self,
        method: ast.FunctionDef,
        call: ast.Call,
        at: ast.AST,
        itself: str,
        first: Sequence[ast.stmt] = (),
    ) -> tuple[Stmts, ast.expr]:
        """A call as the statements of the method, and the expression that it returns.

        The statements `first` come when the arguments are there.
        """
        values = self.values(method, call, itself)
        stored = {n for s in method.body for n in changed_names(s)}
        table: dict[str, str] = {}
        constants: dict[str, ast.expr] = {}
        before: Stmts = []
        for p, value in values.items():
            if isinstance(value, ast.Name) and p not in stored:
                table[p] = value.id
            elif isinstance(value, ast.Constant) and p not in stored:
                constants[p] = value
            else:
                table[p] = self.new(p)
                before.append(ast.copy_location(assign(table[p], value, at), value))
        text = [Given(constants).visit(s) for s in self.text(method, values)]
        body, value = single_exit(self.renamed(text, table, method, values), self.taken)
        return [*before, *first, *body], value

    def new(self, stem: str) -> str:
        name = new_name(stem, self.taken)
        self.own.add(name)
        return name

    def values(self, method: ast.FunctionDef, call: ast.Call, itself: str) -> dict[str, ast.expr]:
        """What the parameters of a method are given, the object itself first; "" is for none."""
        if not can_be_written_out(method, comprehensions=True) or returns_in_loop(method):
            raise Unfollowed
        if any(isinstance(n, UNFOLLOWED) for n in ast.walk(method)):
            raise Unfollowed
        if free_names(method) & (self.own - {"super"}):
            raise Unfollowed
        first = [ast.copy_location(ast.Name(itself, ast.Load()), call)] if itself else []
        values = values_given(method, ast.Call(call.func, [*first, *call.args], call.keywords))
        if values is None:
            raise Unfollowed
        if itself and next(iter(values)) in {n for s in method.body for n in changed_names(s)}:
            raise Unfollowed
        return values

    def text(self, method: ast.FunctionDef, values: dict[str, ast.expr]) -> Stmts:
        """The statements of a method, as a tree of their own."""
        self.size += sum(isinstance(n, ast.stmt) for n in ast.walk(method))
        if self.size > LARGEST:
            raise Unfollowed
        above = Above(getattr(method, "above", ""), next(iter(values), ""))
        return [above.visit(copy.deepcopy(s)) for s in without_doc(method)]

    def renamed(
        self, body: Stmts, table: dict[str, str], method: ast.FunctionDef, given: Iterable[str]
    ) -> Stmts:
        """Statements of a method over the names of the function."""
        own = locals_of(method) - set(given)
        for n in ast.walk(method):
            if isinstance(n, COMPREHENSIONS):
                own |= targets_of(n)
        work = Renamed(table | {n: self.new(n) for n in sorted(own)})
        return [work.visit(s) for s in body]

    def in_place(self, method: ast.FunctionDef, values: dict[str, ast.expr]) -> ast.expr:
        """The formula that a method is, in the place of its call."""
        made = self.with_values(method, values)[-1]
        assert isinstance(made, ast.Return) and made.value is not None
        return made.value

    def with_values(self, method: ast.FunctionDef, values: dict[str, ast.expr]) -> Stmts:
        """The statements of a method, with what it is given in the place of its parameters."""
        given = {p: v for p, v in values.items() if not isinstance(v, ast.Name)}
        table = {p: v.id for p, v in values.items() if isinstance(v, ast.Name)}
        table |= {p: f"{p}·given" for p in given}
        made = self.renamed(self.text(method, values), table, method, values)
        put = Given({f"{p}·given": v for p, v in given.items()})
        return [put.visit(s) for s in made]


class Above(ast.NodeTransformer):
    """`super().f(...)` of a method as a call of what the class above it has under that name."""

    def __init__(self, above: str, itself: str) -> None:
        self.above, self.itself = above, itself

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        found = node.value
        if isinstance(found, ast.Call) and isinstance(found.func, ast.Name):
            if found.func.id == "super":
                if found.args or not self.above:
                    raise Unfollowed
                itself = ast.Name(self.itself, ast.Load())
                new = ast.Attribute(itself, f"{self.above}.{node.attr}", node.ctx)
                return ast.copy_location(new, node)
        return node


class Given(ast.NodeTransformer):
    """Parameters replaced by what a call gives them."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def formula(method: ast.FunctionDef) -> ast.expr | None:
    """The expression that is all of a method."""
    body = without_doc(method)
    last = body[0] if len(body) == 1 else None
    return last.value if isinstance(last, ast.Return) else None


def without_doc(method: ast.FunctionDef) -> Stmts:
    return method.body[1:] if ast.get_docstring(method) is not None else method.body


def fits(formula: ast.expr | None, values: dict[str, ast.expr]) -> bool:
    """Whether what the parameters are given can stand in a formula in their place."""
    if formula is None:
        return False
    conditional = any(isinstance(n, APART) for n in ast.walk(formula))
    for p, value in values.items():
        count = sum(isinstance(n, ast.Name) and n.id == p for n in ast.walk(formula))
        if not isinstance(value, SIMPLE) and (count != 1 or conditional):
            return False
    return True


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What each part of the target of an assignment is given, as far as the text says it."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
        return []
    return list(zip(target.elts, value.elts, strict=True))


def stores_arguments(start: ast.FunctionDef, values: dict[str, ast.expr]) -> bool:
    """Whether an `__init__` stores its arguments, in their order, and does nothing else."""
    itself = next(iter(values))
    used: list[str] = []
    for s in without_doc(start):
        found = pairs(s.targets[0], s.value) if isinstance(s, ast.Assign) else []
        if not found or not isinstance(s, ast.Assign) or len(s.targets) > 1:
            return False
        for target, value in found:
            names = [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                return False
            if target.value.id != itself or itself in names:
                return False
            if any(isinstance(n, APART) for n in ast.walk(value)):
                return False
            used += [n for n in names if n in values]
    once = [p for p, v in values.items() if not isinstance(v, SIMPLE)]
    return [p for p in used if p in once] == once


def returns_in_loop(method: ast.FunctionDef) -> bool:
    return any(
        contains(s, ast.Return) for s in ast.walk(method) if isinstance(s, ast.For | ast.While)
    )
