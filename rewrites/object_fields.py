"""Object fields: one object of a function becomes variables, its methods statements."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable

from overt.rewrites.method_calls import Calls
from overt.rewrites.method_texts import (
    SIMPLE,
    Kind,
    Stmts,
    Unfollowed,
    Writer,
    pairs,
    stores_arguments,
)
from overt.rewrites.scopes import NESTED, new_name, own_nodes, parameters


class LocalObject(Writer):
    """Writes one object of a function as its fields."""

    def __init__(
        self,
        node: ast.FunctionDef,
        name: str,
        kind: Callable[[ast.expr], Kind | None],
        around: set[str],
    ) -> None:
        super().__init__(node, around)
        self.name, self.kind_of = name, kind
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
        own, others = self.stored_attributes()
        if own & others & self.kind.constants:  # which of both holds is not followed
            raise Unfollowed
        for attr in sorted(self.kind.constants & own):
            value = ast.Attribute(copy.deepcopy(call.func), attr, ast.Load())
            target = ast.Attribute(ast.Name(self.name, ast.Load()), attr, ast.Store())
            out.append(ast.copy_location(ast.Assign([target], value), s))
        if start is not None:
            out = self.started(start, call, s, out)
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

    def started(
        self, start: ast.FunctionDef, call: ast.Call, s: ast.Assign, constants: Stmts
    ) -> Stmts:
        """The statements of `__init__`, after those of the attributes that the class has."""
        values = self.values(start, call, self.name)
        if constants or not stores_arguments(start, values):
            return self.written_out(start, call, s, self.name, constants)[0]
        body = self.with_values(start, values)
        stores = [p for b in body for p in pairs(b.targets[0], b.value)]  # type: ignore[attr-defined]
        if self.made_once or len(stores) < 2:
            return body
        targets, given = zip(*stores, strict=True)  # an earlier object may be read
        made = ast.Assign(
            [ast.Tuple(list(targets), ast.Store())], ast.Tuple(list(given), ast.Load())
        )
        return [ast.copy_location(made, s)]

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

    def stored_attributes(self) -> tuple[set[str], set[str]]:
        """The attributes that the methods of the class, or the function, store: into the object,
        and into anything else, which may be its class.
        """
        own, others = set[str](), set[str]()
        kind = self.kind
        for node in (self.node, *kind.methods.values(), *kind.getters.values()):
            first = [p.arg for p in (*node.args.posonlyargs, *node.args.args)][:1]
            itself = [self.name] if node is self.node else first
            for n in ast.walk(node):
                if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store):
                    (own if [ast.unparse(n.value)] == itself else others).add(n.attr)
        return own, others

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
