"""Local objects: an object that a function makes and keeps to itself is written as its fields.

body = Body(p, v)                body_pos, body_vel = p, v
body.kick(force, dt)      ->     body_vel = body_vel + force * dt
return body.pos                  return body_pos

The derivative of such a function has a text, as it has if the user writes it in this way.  It is
done where every use of the object is in sight: its fields, its methods, its properties.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from overt.rewrites.core import Source
from overt.rewrites.exits import assign, contains, single_exit
from overt.rewrites.program import nodes
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import (
    CHANGING,
    NESTED,
    Renamed,
    changed_names,
    free_names,
    locals_of,
    new_name,
    own_nodes,
    parameters,
    targets_of,
)
from overt.rewrites.written_out import can_be_written_out, values_given

Stmts = list[ast.stmt]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SIMPLE = (ast.Name, ast.Constant)
UNFOLLOWED = (ast.Try, ast.With, ast.Match, ast.NamedExpr, ast.Delete, ast.Await)
LARGEST = 400  # statements; beyond it the text would not be read


class Unfollowed(Exception):  # noqa: N818  it stops a rewrite, nobody sees it
    """Raised where an object is used in a way that its fields do not tell."""


Made = TypeVar("Made")


def or_by_fields(derive: Callable[..., Made]) -> Callable[..., Made]:
    """A derivative's source; of the function without its own objects where that reads better."""

    @functools.wraps(derive)
    def derived(source: Source, *args: Any, **keywords: Any) -> Made:
        made = refusal = None
        try:
            made = derive(source, *args, **keywords)
        except Refusal as raised:
            if not raised.recordable:
                raise
            refusal = raised
        other = source.without_objects()
        if other is not None and (refusal or detours(made)):
            try:
                plain = derive(other, *args, **keywords)
                if refusal or detours(plain) < detours(made):
                    return plain
            except Refusal:
                pass
        if refusal:
            raise refusal
        return made  # type: ignore[return-value]

    return derived


def detours(made: Any) -> int:
    """How often a derivative's text has a helper where a formula could be."""
    sources = made if isinstance(made, tuple) else (made,)
    return sum(
        isinstance(n, ast.Name) and n.id in ("@vjp_of", "@jvp_of", "@place_field")
        for source in sources
        for f in source.functions
        for n in nodes(f)
    )


@dataclass
class Kind:
    """A class of the user's, as far as its objects can be written as fields."""

    methods: dict[str, ast.FunctionDef]  # and `Base.method`, what `super()` finds
    getters: dict[str, ast.FunctionDef] = field(default_factory=dict)
    statics: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)  # attributes of the class
    others: set[str] = field(default_factory=set)  # members that are not followed


def objects_as_fields(
    node: ast.FunctionDef, kind_of: Callable[[ast.expr], Kind | None], around: set[str]
) -> ast.FunctionDef | None:
    """The function without the objects that are its own; None if there are none.

    `around` are names of variables of the functions around this one.
    """
    known: dict[str, Kind | None] = {}

    def kind(callee: ast.expr) -> Kind | None:
        text = ast.unparse(callee)
        if text not in known:
            known[text] = kind_of(callee)
        return known[text]

    found, again = None, True
    while again:
        again = False
        for name in candidates(node, kind):
            try:
                node = found = LocalObject(node, name, kind, around).as_fields()
            except Unfollowed:
                continue
            again = True
            break
    return found


def candidates(node: ast.FunctionDef, kind: Callable[[ast.expr], Kind | None]) -> list[str]:
    """Names that are only ever given new objects of one class, and only used in this function."""
    own = list(own_nodes(node))
    made: dict[str, set[str]] = {}
    plain: set[int] = set()
    for s in own:
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and len(s.targets) == 1:
            target, callee = s.targets[0], s.value.func
            if isinstance(target, ast.Name) and isinstance(callee, ast.Name | ast.Attribute):
                if kind(callee) is not None:
                    made.setdefault(target.id, set()).add(ast.unparse(callee))
                    plain.add(id(target))
    apart = parameters(node)
    for n in own:
        if isinstance(n, NESTED):
            apart |= {name.id for name in ast.walk(n) if isinstance(name, ast.Name)}
        elif isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and id(n) not in plain:
            apart.add(n.id)
        elif isinstance(n, ast.Global | ast.Nonlocal):
            apart |= set(n.names)
        elif isinstance(n, COMPREHENSIONS):
            apart |= targets_of(n)
        elif isinstance(n, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
            apart.add(n.name or "")
    return [name for name, classes in made.items() if len(classes) == 1 and name not in apart]


class LocalObject:
    """Writes one object of a function as its fields."""

    def __init__(
        self,
        node: ast.FunctionDef,
        name: str,
        kind: Callable[[ast.expr], Kind | None],
        around: set[str],
    ) -> None:
        self.node, self.name, self.kind_of = copy.deepcopy(node), name, kind
        self.own = locals_of(node) | around
        self.taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | self.own
        self.size = 0  # of what was written out, in statements
        self.again = False  # whether methods may be left

    def as_fields(self) -> ast.FunctionDef:
        node = self.node
        self.fields: set[str] = set()
        self.always: set[str] | None = None  # the fields that every object has from the start
        self.made_once = sum(map(self.makes, ast.walk(node))) == 1
        self.callee: ast.expr | None = None
        for s in ast.walk(node):
            if self.makes(s):
                self.callee = s.value.func  # type: ignore[attr-defined]
        assert self.callee is not None
        kind = self.kind_of(self.callee)
        assert kind is not None
        self.kind = kind
        self.again = True
        while self.again:  # methods call methods
            self.again = False
            node.body = self.block(node.body)
        self.as_names()
        return ast.fix_missing_locations(node)

    def makes(self, s: ast.AST) -> bool:
        """Whether a statement gives the name a new object."""
        return (
            isinstance(s, ast.Assign)
            and isinstance(s.targets[0], ast.Name)
            and s.targets[0].id == self.name
        )

    # --- statements

    def block(self, body: Stmts) -> Stmts:
        done = [new for s in body for new in self.statement(s)]
        return done or [ast.copy_location(ast.Pass(), body[0])] if body else []

    def statement(self, s: ast.stmt) -> Stmts:
        if isinstance(s, NESTED):
            return [s]
        if self.makes(s):
            return self.made(s)  # type: ignore[arg-type]
        calls = Calls(self, s)
        match s:
            case ast.For():
                s.iter = calls.visit(s.iter)
            case ast.While():
                calls.may_move = False
                s.test = calls.visit(s.test)
            case ast.If():
                s.test = calls.visit(s.test)
            case ast.With():
                for item in s.items:
                    item.context_expr = calls.visit(item.context_expr)
            case ast.Match():
                s.subject = calls.visit(s.subject)
                if any(case.guard and self.is_used(case.guard) for case in s.cases):
                    raise Unfollowed
            case ast.Try():
                pass
            case ast.Assert():
                s.test = calls.visit(s.test)
                calls.parts(said := [s.msg] if s.msg else [])
                s.msg = said[0] if said else None
            case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.Expr() if s.value:
                s.value = calls.whole(s.value)
                calls.seen = True
                for target in getattr(s, "targets", None) or [getattr(s, "target", None)]:
                    if target is not None:
                        calls.visit(target)
            case ast.AugAssign():
                calls.seen = not isinstance(s.target, ast.Name)
                calls.visit(s.target)
                s.value = calls.visit(s.value)
            case _:
                calls.generic_visit(s)
        for part in ("body", "orelse", "finalbody"):
            if getattr(s, part, None):
                setattr(s, part, self.block(getattr(s, part)))
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            part.body = self.block(part.body)
        if isinstance(s, ast.Expr) and calls.before and isinstance(s.value, SIMPLE):
            return calls.before
        return [*calls.before, s]

    def is_used(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id == self.name for n in ast.walk(node))

    def made(self, s: ast.Assign) -> Stmts:
        """The statements of `__init__` in the place of a new object."""
        self.again = True
        call, out = s.value, list[ast.stmt]()
        assert isinstance(call, ast.Call)
        calls = Calls(self, s)
        calls.generic_visit(call)
        start = self.kind.methods.get("__init__")
        for attr in sorted(self.kind.constants):
            if attr in self.stored_somewhere():
                value = ast.Attribute(copy.deepcopy(call.func), attr, ast.Load())
                target = ast.Attribute(ast.Name(self.name, ast.Load()), attr, ast.Store())
                out.append(ast.copy_location(ast.Assign([target], value), s))
        if start is not None:
            out += self.written_out(start, call, s, bound=True)[0]
            for n in (n for made in out for n in ast.walk(made)):
                if "lineno" in n._attributes and "lineno" not in vars(n):
                    ast.copy_location(n, s)  # a dataclass stores its fields itself
        elif call.args or call.keywords:
            raise Unfollowed
        self.again = True
        while self.again:
            self.again = False
            out = self.block(out)
        self.again = True
        always = {a for made in out for a in self.stored(self.surely(made))}
        self.always = always if self.always is None else self.always & always
        return [*calls.before, *out]

    def surely(self, s: ast.stmt) -> Iterable[ast.AST]:
        return [] if isinstance(s, ast.If | ast.For | ast.While) else ast.walk(s)

    def stored(self, nodes: Iterable[ast.AST]) -> set[str]:
        """The fields that some nodes store."""
        return {
            n.attr
            for n in nodes
            if isinstance(n, ast.Attribute)
            and isinstance(n.value, ast.Name)
            and n.value.id == self.name
            and isinstance(n.ctx, ast.Store)
        }

    def stored_somewhere(self) -> set[str]:
        """The names of all attributes that the methods of the class, or the function, store."""
        kind = self.kind
        nodes = [self.node, *kind.methods.values(), *kind.getters.values()]
        return {
            n.attr
            for node in nodes
            for n in ast.walk(node)
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
        }

    # --- methods

    def written_out(
        self, method: ast.FunctionDef, call: ast.Call, at: ast.AST, bound: bool
    ) -> tuple[Stmts, ast.expr]:
        """A call as the statements of the method, and the expression that it returns."""
        values = self.values(method, call, bound)
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
        return [*before, *body], value

    def new(self, stem: str) -> str:
        name = new_name(stem, self.taken)
        self.own.add(name)
        return name

    def values(self, method: ast.FunctionDef, call: ast.Call, bound: bool) -> dict[str, ast.expr]:
        """What the parameters of a method are given, the object itself first."""
        if not can_be_written_out(method, comprehensions=True) or returns_in_loop(method):
            raise Unfollowed
        if any(isinstance(n, UNFOLLOWED) for n in ast.walk(method)):
            raise Unfollowed
        if free_names(method) & (self.own - {"super"}):
            raise Unfollowed
        itself = [ast.copy_location(ast.Name(self.name, ast.Load()), call)] if bound else []
        values = values_given(method, ast.Call(call.func, [*itself, *call.args], call.keywords))
        if values is None:
            raise Unfollowed
        if bound and next(iter(values)) in {n for s in method.body for n in changed_names(s)}:
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

    # --- fields

    def as_names(self) -> None:
        """The fields of the object become variables."""
        kind, name = self.kind, self.name
        held = {id(n.value) for n in ast.walk(self.node) if isinstance(n, ast.Attribute)}
        for n in ast.walk(self.node):
            if isinstance(n, ast.Name) and n.id == name and id(n) not in held:
                raise Unfollowed  # the object itself is asked for
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Del):
                raise Unfollowed
        fields = self.stored(ast.walk(self.node))
        in_loop = any(
            self.stored(ast.walk(s)) - (self.always or set())
            for s in ast.walk(self.node)
            if isinstance(s, ast.For | ast.While)
        )
        if fields - (self.always or set()) and (in_loop or not self.made_once):
            raise Unfollowed  # an object made later would have fields of an earlier one
        if fields & (kind.methods.keys() | kind.getters.keys() | kind.statics.keys() | kind.others):
            raise Unfollowed
        names = {f: self.name_of(f) or new_name(f"{name}_{f}", self.taken) for f in sorted(fields)}
        assert self.callee is not None
        self.node = Named(name, names, kind.constants, self.callee).visit(self.node)

    def name_of(self, attr: str) -> str:
        """The variable of the function that a field is, if it never is anything else; or ""."""
        stores = [n for n in ast.walk(self.node) if self.stored([n]) == {attr}]
        if len(stores) > 1 or not self.made_once:
            return ""
        given = [
            value
            for s in own_nodes(self.node)
            if isinstance(s, ast.Assign) and len(s.targets) == 1
            for target, value in pairs(s.targets[0], s.value)
            if target is stores[0] and isinstance(value, ast.Name)
        ]
        for value in given:
            if self.is_fixed(value.id):
                return value.id
        return ""

    def is_fixed(self, name: str) -> bool:
        """Whether a variable has one value from its first use to the end."""
        stores = [
            n
            for n in ast.walk(self.node)
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        ]
        if not stores:
            return name in self.own
        in_loop = any(
            n is stores[0]
            for s in ast.walk(self.node)
            if isinstance(s, ast.For | ast.While)
            for n in ast.walk(s)
        )
        return len(stores) == 1 and name not in parameters(self.node) and not in_loop


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What each part of the target of an assignment is given, as far as the text says it."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
        return []
    return list(zip(target.elts, value.elts, strict=True))


class Calls(ast.NodeTransformer):
    """The calls of an object's methods in one statement, written out before it or in place."""

    def __init__(self, work: LocalObject, at: ast.stmt) -> None:
        self.work, self.at = work, at
        self.before: Stmts = []
        self.may_move = True
        self.seen = False  # whether something was evaluated that a method may change
        if any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(at)):
            self.may_move = False

    def whole(self, value: ast.expr) -> ast.expr:
        """All of what a statement evaluates: a result needs no name of its own."""
        method, bound = self.method(value)
        if method is None:
            return self.visit(value)
        return self.result(value, method, bound, named=False)

    def method(self, node: ast.AST) -> tuple[ast.FunctionDef | None, bool]:
        """The method that an expression calls, and whether it is given the object."""
        kind, name = self.work.kind, self.work.name
        if isinstance(node, ast.Call):
            f = node.func
            if isinstance(f, ast.Name) and f.id == name:
                return kind.methods.get("__call__"), True
            if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name):
                if f.value.id == name:
                    found = kind.methods.get(f.attr)
                    return (found, True) if found else (kind.statics.get(f.attr), False)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id == name:
                return kind.getters.get(node.attr), True
        return None, False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        method, bound = self.method(node)
        if method is not None:
            return self.result(node, method, bound, named=True)
        self.generic_visit(node)
        self.seen = True
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        method, bound = self.method(node)
        if method is not None:
            return self.result(node, method, bound, named=True)
        self.generic_visit(node)
        self.seen = self.seen or self.work.is_used(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        self.seen = True
        return node

    def result(self, node: ast.expr, method: ast.FunctionDef, bound: bool, named: bool) -> ast.expr:
        work, before, moves = self.work, self.seen, self.may_move
        work.again = True
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        for i, a in enumerate(call.args):
            call.args[i] = self.visit(a)
        for k in call.keywords:
            k.value = self.visit(k.value)
        values = work.values(method, call, bound)
        value = formula(method)
        if value is not None and fits(value, values):
            given = {p: v for p, v in values.items() if not isinstance(v, ast.Name)}
            table = {p: v.id for p, v in values.items() if isinstance(v, ast.Name)}
            table |= {p: f"{p}·given" for p in given}
            body = work.renamed(work.text(method, values), table, method, values)
            assert isinstance(body[-1], ast.Return) and body[-1].value is not None
            self.seen = True
            return Given({f"{p}·given": v for p, v in given.items()}).visit(body[-1].value)
        if not moves or before and (changes(method, work.kind) or has_calls(values)):
            raise Unfollowed
        body, value = work.written_out(method, call, self.at, bound)
        self.before += body
        if named and not isinstance(value, SIMPLE):
            name = work.new(method.name.strip("_") if method.name != "__call__" else "result")
            self.before.append(ast.copy_location(assign(name, value, self.at), self.at))
            value = ast.Name(name, ast.Load())
        self.seen = True
        return ast.copy_location(value, node)

    def parts(self, items: list[ast.expr], first: int = 0) -> None:
        """Expressions of which only the first ones are evaluated for sure."""
        for i, item in enumerate(items):
            moves, self.may_move = self.may_move, self.may_move and i < first
            items[i] = self.visit(item)
            self.may_move = moves

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.parts(node.values, 1)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left = self.visit(node.left)
        self.parts(node.comparators, 1)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.visit(node.test)
        sides = [node.body, node.orelse]
        self.parts(sides)
        node.body, node.orelse = sides
        return node

    def comprehension(self, node: ast.AST) -> ast.AST:
        first = node.generators[0]  # type: ignore[attr-defined]
        first.iter = self.visit(first.iter)
        moves, self.may_move = self.may_move, False
        iterated, first.iter = first.iter, ast.Constant(None)
        self.generic_visit(node)
        first.iter, self.may_move = iterated, moves
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension


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


class Named(ast.NodeTransformer):
    """Fields of an object as variables; what would be given itself is left out."""

    def __init__(
        self, name: str, fields: dict[str, str], constants: set[str], callee: ast.expr
    ) -> None:
        self.name, self.fields, self.constants, self.callee = name, fields, constants, callee

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not (isinstance(node.value, ast.Name) and node.value.id == self.name):
            self.generic_visit(node)
            return node
        if node.attr in self.fields:
            return ast.copy_location(ast.Name(self.fields[node.attr], node.ctx), node)
        if node.attr not in self.constants:
            raise Unfollowed
        value = ast.Attribute(copy.deepcopy(self.callee), node.attr, node.ctx)
        return ast.copy_location(value, node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        if len(node.targets) > 1:
            return node
        found = pairs(node.targets[0], node.value)
        left = [p for p in found if ast.unparse(p[0]) != ast.unparse(p[1])]
        if not left and found:
            return ast.copy_location(ast.Pass(), node)
        if len(left) < len(found):
            targets, values = zip(*left, strict=True)
            one = len(left) == 1
            node.targets = [targets[0] if one else ast.Tuple(list(targets), ast.Store())]
            node.value = values[0] if one else ast.Tuple(list(values), ast.Load())
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        attribute = isinstance(node.target, ast.Attribute)
        self.generic_visit(node)
        if not attribute or not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def formula(method: ast.FunctionDef) -> ast.expr | None:
    """The expression that is all of a method."""
    body = without_doc(method)
    last = body[0] if len(body) == 1 else None
    return last.value if isinstance(last, ast.Return) else None


def without_doc(method: ast.FunctionDef) -> Stmts:
    return method.body[1:] if ast.get_docstring(method) is not None else method.body


def fits(formula: ast.expr, values: dict[str, ast.expr]) -> bool:
    """Whether what the parameters are given can stand in a formula in their place."""
    apart = (ast.IfExp, ast.BoolOp, *COMPREHENSIONS)
    conditional = any(isinstance(n, apart) for n in ast.walk(formula))
    for p, value in values.items():
        count = sum(isinstance(n, ast.Name) and n.id == p for n in ast.walk(formula))
        if not isinstance(value, SIMPLE) and (count != 1 or conditional):
            return False
    return True


def has_calls(values: dict[str, ast.expr]) -> bool:
    return any(isinstance(n, ast.Call) for v in values.values() for n in ast.walk(v))


def changes(method: ast.FunctionDef, kind: Kind, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a method may change the object or have another effect."""
    for n in ast.walk(method):
        if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load):
            return True
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            return True
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING or isinstance(n.func.value, ast.Call):
                return True
            other = kind.methods.get(n.func.attr)
            if other is not None and n.func.attr not in seen:
                if changes(other, kind, seen | {n.func.attr}):
                    return True
    return False


def returns_in_loop(method: ast.FunctionDef) -> bool:
    return any(
        contains(s, ast.Return) for s in ast.walk(method) if isinstance(s, ast.For | ast.While)
    )
