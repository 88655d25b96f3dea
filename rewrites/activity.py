"""Activity: which names carry a derivative, that is, depend smoothly on the chosen parameters."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import types
from collections.abc import Callable
from typing import TypeGuard

from overt.rewrites import core
from overt.rewrites.attempts import caught_by
from overt.rewrites.changing import changes_unseen
from overt.rewrites.core import Assign, Do, For, If, While, With, is_local
from overt.rewrites.keeping import Keeping
from overt.rewrites.pushed_fields import PushedFields
from overt.rewrites.refusal import Refusal
from overt.rewrites.rules import ARRAY_ATTRIBUTES, DISCRETE, STATIC_ATTRIBUTES, Resolver
from overt.rewrites.scopes import GIVING, SET_ITEM, changed_names
from overt.runtime.ownership import is_library
from overt.runtime.primitive import rule_of
from overt.runtime.tangents import class_has_operators

ZIPS = (zip, enumerate, reversed)
ADVANCED = (iter, next, itertools.tee)
DISCRETE_METHODS = frozenset(
    "argmax argmin any all argsort item tolist keys index count".split()
)  # their values do not depend smoothly on the object
OF_DICTS = frozenset("items values keys get setdefault popitem".split())


class Activity:
    """The active names of one function, found by a fixpoint over its loops."""

    def __init__(self, params: set[str], resolver: Resolver) -> None:
        self.names = set(params)
        self.dicts: set[str] = set()
        self.perhaps_dicts: set[str] = set()  # names used as those of dictionaries are
        self.errors: set[str] = set()  # blocks of active values that catch exceptions
        self.exceptions: set[str] = set()  # what they caught
        self.lists: set[str] = set()  # names that surely hold lists
        self.tables: set[str] = set()  # names of dictionaries that are made here
        self.resolver = resolver
        self.keeping: Keeping | None = None  # what functions store, where that matters
        self.read: set[str] = set()
        self.pushed: PushedFields | None = None  # what records hold, in a derivative

    def watch(self, function: core.Function) -> None:
        """Refuse calls that may keep a value where the derivative does not follow them."""
        self.keeping = Keeping(self.resolver)
        self.keeping.look_at(function)
        run_over = lambda target, items: iterated(target, items, self.resolver)
        self.pushed = PushedFields(function, run_over)

        def visit(node: ast.AST) -> ast.AST:
            self.read |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            return node

        core.map_function(function, visit)

    def block(self, block: core.Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: core.Stmt) -> None:
        if isinstance(s, Assign):
            self.follow(s.value, bool(set(core.pattern_names(s.target)) & self.read))
            if isinstance(s.value, ast.Attribute) and core.reads(s.value) & self.errors:
                self.exceptions |= set(core.pattern_names(s.target))
            self.bind(s.target, s.value)
        elif isinstance(s, If):
            self.follow(s.test, False)
            self.block(s.then)
            self.block(s.orelse)
            for m in s.merges:
                if self.is_dict(m.then) or self.is_dict(m.orelse):
                    self.dicts.add(m.name)
                if self.is_table(m.then) and self.is_table(m.orelse):
                    self.tables.add(m.name)
                if self.expr(m.then) or self.expr(m.orelse):
                    self.names.add(m.name)
        elif isinstance(s, For | While):
            self.loop(s)
        elif isinstance(s, With):
            for item in s.items:
                if self.expr(item.context_expr) and not core.is_call_of(
                    item.context_expr, "@caught"
                ):
                    raise Refusal(
                        "`with` on a value that is being differentiated cannot be rewritten",
                        "Move the value out of it.",
                        ast.Pass(lineno=s.origin.line),
                        recordable=True,
                    )
            self.block(s.body)
            if (error := caught_by(s)) and core.free(s.body) & self.names:
                self.errors.add(error)
        elif isinstance(s, Do):
            self.effect(s)

    def loop(self, s: For | While) -> None:
        self.follow(s.items if isinstance(s, For) else s.test, isinstance(s, For))
        while True:
            before = len(self.names)
            for c in s.carries:
                if self.is_dict(c.init):
                    self.dicts |= {c.name, c.out}
                if self.is_table(c.init):
                    self.tables |= {c.name, c.out}
                if self.is_list(c.init):
                    self.lists |= {c.name, c.out}
                if c.name in self.names or self.expr(c.init) or self.expr(c.next):
                    self.names |= {c.name, c.out}
            if isinstance(s, For):
                for target, leaf in iterated(s.target, s.items, self.resolver):
                    if self.expr(leaf):
                        keys = self.keys(target, leaf) | self.inactive_fields(target, leaf)
                        if not self.is_list(leaf):
                            keys |= indices_in(s.body, self.is_table)
                        self.names |= set(core.pattern_names(target)) - keys
            self.block(s.body)
            if len(self.names) == before:
                return

    def inactive_fields(self, target: core.Pattern, record: ast.expr) -> set[str]:
        """The names of a loop's target that are fields of a record without a derivative."""
        rows = self.pushed.of(record.id) if self.pushed and isinstance(record, ast.Name) else []
        if not rows or any(len(row) != len(target) for row in rows):
            return set()
        return {
            t
            for place, t in enumerate(target)
            if isinstance(t, str) and not any(self.expr(row[place]) for row in rows)
        }

    def keys(self, target: core.Pattern, items: ast.expr) -> set[str]:
        """The names of a loop's target that are keys of a dictionary, which have no derivative."""
        while isinstance(items, ast.Call) and self.resolver.object(items.func) in (list, sorted):
            items = items.args[0]
        if self.is_dict(items):
            return set(core.pattern_names(target))
        method = items.func if isinstance(items, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr == "items":
            if isinstance(target, tuple) and len(target) == 2:
                return set(core.pattern_names(target[0]))
        return set()

    def is_dict(self, node: ast.expr) -> bool:
        """Whether an expression surely gives a dictionary."""
        if isinstance(node, ast.Name):
            return node.id in self.dicts
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in (*SET_ITEM, "@changed", "@merged"):
                return self.is_dict(node.args[0])
            return node.func.id == "dict"
        return isinstance(node, ast.Dict | ast.DictComp)

    def is_table(self, node: ast.expr) -> bool:
        """Whether an expression gives a dictionary that is made here: data may be its keys."""
        if isinstance(node, ast.Name):
            return node.id in self.tables
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            return node.func.id in (*SET_ITEM, "@changed") and self.is_table(node.args[0])
        return isinstance(node, ast.Dict | ast.DictComp)

    def is_list(self, node: ast.expr) -> bool:
        """Whether an expression surely gives a list, whose items may be values and no indices."""
        if isinstance(node, ast.Name):
            return node.id in self.lists
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id == "@appended" and self.is_list(node.args[0])
        return isinstance(node, ast.List | ast.Tuple | ast.ListComp)

    def bind(self, target: core.Pattern, value: ast.expr) -> None:
        if isinstance(target, str) and self.is_list(value):
            self.lists.add(target)
        if core.is_call_of(value, "@popped") and len(target) == 2 and self.is_list(value.args[0]):  # type: ignore[attr-defined]
            self.lists.add(target[1])  # type: ignore[arg-type]
        if isinstance(target, str) and self.is_dict(value):
            self.dicts.add(target)
        if isinstance(target, str) and self.is_table(value):
            self.tables.add(target)
        if isinstance(value, ast.Tuple | ast.List) and plain_tuple(target, value):
            for t, v in zip(target, value.elts, strict=True):
                self.bind(t, v)
            return
        if not self.expr(value) or isinstance(target, tuple) and self.is_dict(value):
            return
        if isinstance(value, ast.Attribute) and value.attr in GIVING:
            if not self.resolver.is_users_method(value.attr):
                raise Refusal(
                    f"the method `{value.attr}` of a container that is being differentiated gets a "
                    "name",
                    "Call it where it is named to have the derivative as source.",
                    value,
                    recordable=True,
                )
        for n in core.pattern_names(target):
            if not is_local(n):
                raise Refusal(
                    f"a value that is being differentiated is stored in {n!r}, outside the "
                    "function",
                    "Return it instead (`has_aux=True` passes on what is not differentiated).",
                    value,
                    recordable=True,
                )
            self.names.add(n)

    def effect(self, s: Do) -> None:
        node = s.node
        if isinstance(node, ast.Assert):
            self.follow(node.test, False)
        if isinstance(node, ast.Assign):
            if self.expr(node.value) or any(map(self.is_replaced, node.targets)):
                raise Refusal(
                    "a value that is being differentiated is stored in an object",
                    "Return it, or build the object from it in one expression.",
                    ast.Pass(lineno=s.origin.line),
                    recordable=True,
                )
        elif isinstance(node, ast.Expr):
            self.follow(node.value, False)
            if isinstance(node.value, ast.Call):
                self.of_Call(node.value)
            f = getattr(node.value, "func", None)
            changes = isinstance(f, ast.Attribute) and f.attr in (
                "append", "extend", "update", "add", "insert", "setdefault",
            )  # fmt: skip
            if changes and any(self.expr(a) for a in node.value.args):  # type: ignore[attr-defined]
                raise Refusal(
                    "a value that is being differentiated is put into a container of another "
                    "function",
                    "Return it instead.",
                    ast.Pass(lineno=s.origin.line),
                    recordable=True,
                )
            if self.may_keep(node.value):
                raise Refusal(
                    "a function that is called for its effect is given a value that is being "
                    "differentiated",
                    "Return what it makes of the value instead.",
                    ast.Pass(lineno=s.origin.line),
                    recordable=True,
                )
        elif not isinstance(node, ast.Assert | ast.Raise | ast.Global | ast.Nonlocal | ast.Import):
            bound = {
                n.id
                for n in ast.walk(node)
                if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
            }
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                kind = "class" if isinstance(node, ast.ClassDef) else "generator"
                raise Refusal(
                    f"the {kind} {node.name} is defined where values are being differentiated",
                    "Define it outside of the function to have the derivative as source.",
                    ast.Pass(lineno=s.origin.line),
                    recordable=True,
                )
            if (bound or changes_something(node)) and core.reads(node) & self.names:
                raise Refusal(
                    f"`{type(node).__name__.lower()}` around values that are being differentiated "
                    "cannot be rewritten",
                    "Move what is differentiated out of it.",
                    ast.Pass(lineno=s.origin.line),
                    recordable=True,
                )

    def is_replaced(self, target: ast.expr) -> bool:
        """Whether what is stored in a place may take the place of a value with a derivative."""
        return isinstance(target, ast.Subscript | ast.Attribute) and self.expr(target.value)

    def may_keep(self, node: ast.expr) -> bool:
        """Whether a call may put one of its arguments, with a derivative, into an object."""
        if not isinstance(node, ast.Call):
            return False
        f = node.func
        if isinstance(f, ast.Name) and f.id.startswith("@"):
            return False
        found = self.resolver.object(f)
        if (
            found is not None
            and found is not setattr
            and is_library(getattr(found, "__module__", None))
        ):
            return False
        given = [*node.args, *(k.value for k in node.keywords)]
        return any(self.expr(a) for a in given) or self.expr(f)

    def follow(self, node: ast.AST, followed: bool) -> None:
        """Refuse what may keep a value unseen; `followed`: results of calls here are looked at."""
        if self.keeping is None or isinstance(node, ast.Name | ast.Constant):
            return
        if isinstance(node, ast.Call):
            method = isinstance(node.func, ast.Attribute) and not self.resolver.object(node.func)
            if (not followed or method) and self.is_given(node) and self.keeping.call(node):
                raise Refusal(
                    "a function that changes an object is given a value that is being "
                    "differentiated",
                    "Return what it makes of the value instead.",
                    node,
                    recordable=True,
                )
            fn = self.resolver.object(node.func)
            own = isinstance(node.func, ast.Name) and node.func.id in self.resolver.functions
            if not own and self.stays_generator(fn) and self.is_given(node):
                raise Refusal(
                    "a generator that takes turns with its caller is given a value that is being "
                    "differentiated",
                    "Return a list of what it yields to have the derivative as source.",
                    node,
                    recordable=True,
                )
            followed = followed and not (isinstance(fn, type) or is_discrete(fn))
        elif isinstance(node, ast.Compare | ast.JoinedStr):
            followed = False
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            followed = False
        for child in ast.iter_child_nodes(node):
            aside = isinstance(node, ast.IfExp) and child is node.test
            aside = aside or isinstance(node, ast.Subscript) and child is node.slice
            self.follow(child, followed and not aside)

    def stays_generator(self, fn: object) -> bool:
        """Whether a callee is a generator that the passes do not read as one that gives a list."""
        if not isinstance(fn, types.FunctionType) or is_library(fn.__module__):
            return False
        load = self.resolver.load
        return inspect.isgeneratorfunction(fn) and load is not None and load(fn) is None

    def is_given(self, node: ast.Call) -> bool:
        """Whether a call has an active argument, or is one of an active object's method."""
        try:
            return any(map(self.expr, [*node.args, *(k.value for k in node.keywords), node.func]))
        except Refusal:
            return True

    # --- expressions

    def expr(self, node: ast.AST | None) -> bool:
        """Whether the value of an expression carries a derivative."""
        if node is None or isinstance(node, ast.Constant):
            return False
        method: Callable[..., bool] | None = getattr(self, f"of_{type(node).__name__}", None)
        if method is not None:
            return method(node)
        return any(self.expr(child) for child in ast.iter_child_nodes(node))

    def of_Name(self, node: ast.Name) -> bool:
        return node.id in self.names

    def of_Compare(self, node: ast.Compare) -> bool:
        return False

    def of_JoinedStr(self, node: ast.JoinedStr) -> bool:
        return False

    def of_UnaryOp(self, node: ast.UnaryOp) -> bool:
        return not isinstance(node.op, ast.Not | ast.Invert) and self.expr(node.operand)

    def of_BinOp(self, node: ast.BinOp) -> bool:
        bits = ast.BitAnd | ast.BitXor | ast.LShift | ast.RShift | ast.FloorDiv
        return not isinstance(node.op, bits) and (self.expr(node.left) or self.expr(node.right))

    def of_IfExp(self, node: ast.IfExp) -> bool:
        return self.expr(node.body) or self.expr(node.orelse)

    def of_Attribute(self, node: ast.Attribute) -> bool:
        if isinstance(node.value, ast.Name) and node.value.id in self.exceptions:
            raise Refusal(
                "what an exception holds may have a derivative",
                "Return it instead to have the derivative as source.",
                node,
                recordable=True,
            )
        static = node.attr in STATIC_ATTRIBUTES or node.attr in ARRAY_ATTRIBUTES
        if static and self.expr(node.value) and self.resolver.is_users_attribute(node.attr):
            raise Refusal(
                f"`.{node.attr}` may be that of an array or that of a class of yours",
                "Give it another name there to have the derivative as source.",
                node,
                recordable=True,
            )
        return node.attr not in STATIC_ATTRIBUTES and self.expr(node.value)

    def of_Subscript(self, node: ast.Subscript) -> bool:
        return self.expr(node.value)

    def of_Call(self, node: ast.Call) -> bool:
        fn = self.resolver.object(node.func)
        if changes_unseen(node, self.resolver) and any(
            self.expr(a) for a in (*node.args, *(k.value for k in node.keywords))
        ):
            raise Refusal(
                "a function that changes what it is given, by itself or through one that it calls, "
                "is given a value that is being differentiated",
                "Write the change as a statement of this function to have the derivative as "
                "source.",
                node,
                recordable=True,
            )
        if fn is not None:
            if is_discrete(fn) or of_keys(fn, node, self.is_dict):
                return False
            rule = rule_of(fn)
            if rule is not None and rule.zero:
                return False
            if fn is getattr(getattr(fn, "__self__", None), "stop_gradient", None):
                return False
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in DISCRETE_METHODS
            and not self.resolver.is_users_method(node.func.attr)
        ):
            if node.func.attr in ("item", "tolist") and self.expr(node.func.value):
                raise Refusal(
                    f"`.{node.func.attr}()` takes a value out of the derivative",
                    "Leave it out, or wrap the value in `stop_gradient` to say that this is meant.",
                    node,
                )
            return False
        arguments = [*node.args, *(k.value for k in node.keywords)]
        if any(fn is f for f in ADVANCED) and any(self.expr(a) for a in arguments):
            raise Refusal(
                "an iterator over values that are being differentiated is advanced",
                "Loop over what it iterates over, or read that by index.",
                node,
                recordable=True,
            )
        if is_plain_class(fn) and any(self.expr(a) for a in arguments):
            raise Refusal(
                f"an object of the class {fn.__name__} holds values that are being differentiated",
                "A dataclass, a named tuple, or an object that no other function is given would "
                "be differentiated as source.",
                node,
                recordable=True,
            )
        if is_users_class(fn) and class_has_operators(fn) and any(self.expr(a) for a in arguments):
            raise Refusal(
                f"an object of the class {fn.__name__}, which has operators of its own, holds "
                "values that are being differentiated",
                "Write its operators as functions to have the derivative as source.",
                node,
                recordable=True,
            )
        return self.expr(node.func) or any(self.expr(a) for a in arguments)

    def of_Lambda(self, node: ast.Lambda) -> bool:
        return bool(core.reads(node) & self.names)

    def comprehension(self, node: ast.AST) -> bool:
        inner = Activity(set(self.names), self.resolver)
        inner.dicts, inner.lists, inner.tables = self.dicts, self.lists, self.tables
        for g in node.generators:  # type: ignore[attr-defined]
            for target, leaf in iterated(pattern_of(g.target), g.iter, self.resolver):
                if inner.expr(leaf):
                    keys = inner.keys(target, leaf)
                    if not inner.is_list(leaf):
                        keys |= indices_of(node, self.is_table)
                    inner.names |= set(core.pattern_names(target)) - keys
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore
        return any(inner.expr(p) for p in parts)

    of_ListComp = of_SetComp = of_GeneratorExp = of_DictComp = comprehension


def changes_something(node: ast.stmt) -> bool:
    """Whether a statement that stays as it is changes a container, or calls for an effect."""
    return bool(changed_names(node)) or any(
        isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) for n in ast.walk(node)
    )


def of_keys(fn: object, node: ast.Call, is_dict: Callable[[ast.expr], bool]) -> bool:
    """Whether a builtin goes through the keys of a dictionary, which have no derivative."""
    goes_through = any(fn is f for f in (list, tuple, set, sorted, max, min, sum))
    return goes_through and len(node.args) == 1 and is_dict(node.args[0])


def used_as_dicts(function: core.Function) -> set[str]:
    """The names whose methods are called that only dictionaries have."""
    found: set[str] = set()

    def visit(node: ast.expr) -> ast.expr:
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute) and n.attr in OF_DICTS:
                if isinstance(n.value, ast.Name):
                    found.add(n.value.id)
        return node

    core.map_function(function, visit)
    return found


def indices_in(block: core.Block, is_table: Callable[[ast.expr], bool]) -> set[str]:
    """The names that statements use as an index: no values with a derivative.

    But the keys of a dictionary that is made here may be any values.
    """
    found: set[str] = set()

    def visit(node: ast.expr) -> ast.expr:
        found.update(indices_of(node, is_table))
        return node

    core.map_exprs(block, visit)
    return found


def indices_of(node: ast.AST, is_table: Callable[[ast.expr], bool]) -> set[str]:
    found: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Name):
            if not is_table(n.value):
                found.add(n.slice.id)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
            if n.func.id in SET_ITEM and isinstance(n.args[1], ast.Name):
                if not is_table(n.args[0]):
                    found.add(n.args[1].id)
    return found


def is_discrete(fn: object) -> bool:
    """Whether the value of a function does not depend smoothly on what it is given."""
    try:
        return fn in DISCRETE
    except TypeError:
        return False


def is_users_class(fn: object) -> TypeGuard[type]:
    """Whether a callee is a class, and not of a library."""
    return isinstance(fn, type) and fn.__module__.partition(".")[0] not in (
        "builtins", "functools", "overt", "numpy",
    )  # fmt: skip


def is_plain_class(fn: object) -> TypeGuard[type]:
    """Whether a callee is a user's class whose objects are no containers of fields."""
    return (
        is_users_class(fn)
        and not dataclasses.is_dataclass(fn)
        and not (issubclass(fn, tuple) and hasattr(fn, "_fields"))
    )


def plain_tuple(target: core.Pattern, value: ast.Tuple | ast.List) -> bool:
    """Whether `target = value` pairs names and values one to one."""
    return (
        not isinstance(target, str)
        and len(target) == len(value.elts)
        and not any(t == "*" or (isinstance(t, tuple) and t[:1] == ("*",)) for t in target)
        and not any(isinstance(v, ast.Starred) for v in value.elts)
    )


def pattern_of(target: ast.expr) -> core.Pattern:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Tuple | ast.List):
        return tuple(pattern_of(t) for t in target.elts)
    if isinstance(target, ast.Starred):
        return ("*", pattern_of(target.value))
    raise Refusal("this loop target is not supported", node=target)


def iterated(
    target: core.Pattern, items: ast.expr, resolver: Resolver
) -> list[tuple[core.Pattern, ast.expr]]:
    """What each part of a loop's target runs over: `i, (x, y) in enumerate(zip(a, b))`: a and b."""
    return [(t, leaf) for t, leaf, _ in iterated_ways(target, items, resolver)]


def iterated_ways(
    target: core.Pattern, items: ast.expr, resolver: Resolver, backwards: bool = False
) -> list[tuple[core.Pattern, ast.expr, bool]]:
    """`iterated`, and whether each is run over from its end: b in `zip(a, reversed(b))`."""
    if is_reversed_record(items):
        return [(target, items.func.value, not backwards)]  # type: ignore[attr-defined]
    fn = resolver.object(items.func) if isinstance(items, ast.Call) else None
    if fn in ZIPS and isinstance(items, ast.Call):
        if fn is reversed:
            return iterated_ways(target, items.args[0], resolver, not backwards)
        if isinstance(target, tuple) and "*" not in target[:1]:
            if fn is enumerate and len(target) == 2:
                return iterated_ways(target[1], items.args[0], resolver, backwards)
            starred = any(isinstance(a, ast.Starred) for a in items.args)
            if fn is zip and len(target) == len(items.args) and not starred:
                return [
                    way
                    for t, part in zip(target, items.args, strict=True)
                    for way in iterated_ways(t, part, resolver, backwards)
                ]
    return [(target, items, backwards)]


def is_reversed_record(items: ast.expr) -> bool:
    """Whether a loop runs over `saved.reversed()`."""
    return (
        isinstance(items, ast.Call)
        and isinstance(items.func, ast.Attribute)
        and items.func.attr == "reversed"
        and isinstance(items.func.value, ast.Name)
        and not items.args
    )
