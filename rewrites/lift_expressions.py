"""Lifting of expressions: operators that ask for a truth value, and calls.

x > 0 and y < 0           ->   and_(x > 0, lambda: y < 0)
0 < x < 1                 ->   and_(0 < x, lambda: x < 1)
a if x > 0 else b         ->   if_else(x > 0, lambda: a, lambda: b)
f(max(x, y))              ->   lifted(f)(max_(x, y))
"""

from __future__ import annotations

import ast
import copy
import functools
import types
from typing import TYPE_CHECKING, Any

import numpy

from overt.rewrites import core
from overt.rewrites.callees import (
    APPLYING,
    AT_METHODS,
    METHODS,
    STAGED_BUILTINS,
    is_library,
    is_ours,
)
from overt.rewrites.conditions import asked_for_none, without_filter
from overt.rewrites.instances import is_object
from overt.rewrites.listed import array_operands
from overt.rewrites.number_kinds import refuse_kind
from overt.rewrites.numpy_receivers import TAKING
from overt.rewrites.scopes import changes_objects, locals_of
from overt.rewrites.selections import is_selection
from overt.runtime.asked_again import MAY_BE_CHOSEN
from overt.runtime.changing_code import may_change
from overt.runtime.plain import in_turn_twin_of, twin_of

if TYPE_CHECKING:
    from overt.rewrites.lift_functions import FunctionLifter

PLAIN_ATTRIBUTES = frozenset("shape ndim size dtype __name__ __class__".split())
PLAIN_BUILTINS = (isinstance, len, hasattr, callable, issubclass, type, id, range)
TEXTS = (str, repr, format, ascii)
SIMPLE = (max, min, abs, int, float, bool, round, tuple, list, *TEXTS)
PLAIN_METHODS = frozenset("startswith endswith isdigit lower upper keys".split())
SEARCHES = {"index": "place_in", "count": "count_in"}  # methods of lists
MAKERS = ("__new__", "__init__", "__post_init__")  # methods of objects that nobody else has yet
TABLES = (list, tuple, dict, numpy.ndarray)
# Builtins that ask an object for its attributes or which one it is.
OF_OBJECTS = (getattr, hasattr, setattr, delattr, vars, id, type, isinstance, repr, hash)
LITERALS = ast.List | ast.Tuple | ast.Set | ast.Dict


class Expressions(ast.NodeTransformer):
    """Lifts one expression; `hidden` are the names that it binds itself."""

    def __init__(self, lifter: FunctionLifter, hidden: frozenset[str] = frozenset()) -> None:
        self.lifter, self.hidden = lifter, hidden
        self.callees = lifter.callees

    def helper(self, name: str, *args: ast.expr) -> ast.Call:
        self.lifter.module.changed = True
        return core.call(core.name(f"@{name}"), *args)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        fields: dict[str, Any] = {}
        for key, value in ast.iter_fields(node):
            if isinstance(value, list):
                value = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST):
                value = self.visit(value)
            fields[key] = value
        new = type(node)(**fields)
        if hasattr(node, "text"):
            new.text = node.text  # type: ignore[attr-defined]
        return ast.copy_location(new, node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def object(self, node: ast.expr) -> Any:
        """What an expression names in the user's module, if it is not a name of its own."""
        if self.hidden | self.lifter.cells and core.reads(node) & (self.hidden | self.lifter.cells):
            return None
        return self.callees.object(node)

    # --- truth values

    def plain(self, node: ast.expr | None) -> bool:
        """Whether a value is certainly plain Python: never an array."""
        if node is None or isinstance(node, ast.Constant | ast.Lambda):
            return True
        if isinstance(node, ast.JoinedStr):
            return all(self.plain(v) for v in node.values)
        if isinstance(node, ast.FormattedValue):
            return self.plain(node.value)
        if isinstance(node, ast.Name):
            return self.plain_name(node.id)
        if isinstance(node, ast.Attribute):
            if node.attr == "__class__" and self.may_be_of_any_kind(node.value):
                return False
            return node.attr in PLAIN_ATTRIBUTES and not self.is_selection(node.value)
        if isinstance(node, ast.Subscript):
            return self.plain(node.value) and self.plain(node.slice)
        if isinstance(node, ast.Slice):
            return all(self.plain(e) for e in (node.lower, node.upper, node.step))
        if isinstance(node, ast.BinOp):
            return self.plain(node.left) and self.plain(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.plain(node.operand)
        if isinstance(node, ast.BoolOp):
            return all(self.plain(v) for v in node.values)
        if isinstance(node, ast.IfExp):
            return all(self.plain(v) for v in (node.test, node.body, node.orelse))
        if isinstance(node, LITERALS):
            parts = node.values if isinstance(node, ast.Dict) else node.elts
            return all(self.plain(v) for v in parts)
        if isinstance(node, ast.Compare):
            return self.plain_comparison(node)
        return isinstance(node, ast.Call) and self.plain_call(node)

    def plain_name(self, name: str) -> bool:
        if name in self.hidden:
            return False
        if core.is_local(name):
            return name in self.lifter.plain
        if name in self.lifter.cells:
            return False
        value = self.object(core.name(name))
        return isinstance(value, str | bool | types.ModuleType)

    def plain_comparison(self, node: ast.Compare) -> bool:
        parts = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, parts, parts[1:], strict=False):
            if isinstance(op, ast.Is | ast.IsNot):
                asked = asked_for_none(node)
                if self.asks_for_kind(left) or self.asks_for_kind(right):
                    return False
                if self.may_be_chosen(left) and self.may_be_chosen(right):
                    return False  # `f is np.sin`, where `f` may be chosen by data
                if asked is None or self.plain(asked) or self.is_given(asked):
                    continue
                return False
            texts = [
                isinstance(p, ast.Constant) and isinstance(p.value, str) for p in (left, right)
            ]
            may_be_chosen = MAY_BE_CHOSEN.get()
            if isinstance(op, ast.Eq | ast.NotEq) and any(texts) and not may_be_chosen:
                continue
            if (
                isinstance(op, ast.In | ast.NotIn)
                and (texts[0] or self.plain(left))
                and not may_be_chosen
            ):
                if self.is_grown(right) or self.callees.resolver.is_users_method("__contains__"):
                    return False
                continue
            if not (self.plain(left) and self.plain(right)):
                return False
        return True

    def may_be_of_any_kind(self, node: ast.expr) -> bool:
        """Whether data may decide of which class a value is."""
        return MAY_BE_CHOSEN.get() and not self.plain(node)

    def asks_for_kind(self, node: ast.expr) -> bool:
        """Whether an expression is `type(x)` or `x.__class__` of what data may decide."""
        if isinstance(node, ast.Call) and len(node.args) == 1:
            asked = self.callees.is_builtin(node.func, type)
            return asked and self.may_be_of_any_kind(node.args[0])
        of_class = isinstance(node, ast.Attribute) and node.attr == "__class__"
        return of_class and self.may_be_of_any_kind(node.value)  # type: ignore[attr-defined]

    def may_be_chosen(self, node: ast.expr) -> bool:
        """Whether a value may be an object or a function, of which data chose one among several."""
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or self.plain(node):
            return False
        found = self.object(node)
        return found is None or callable(found) or is_object(found)

    def is_selection(self, node: ast.expr) -> bool:
        """Whether a value is `x[mask]`, whose length only the running program may know."""
        return is_selection(node, self.lifter.selections, self.lifter.masks)

    def is_grown(self, node: ast.expr) -> bool:
        """Whether a value is a container whose length only the running program may know."""
        if isinstance(node, ast.Attribute):
            return self.lifter.grown.is_grown(node)
        grown = self.lifter.grown
        return not core.reads(node) & (self.hidden - grown.inner) and grown.is_grown(node)

    def is_given(self, node: ast.expr) -> bool:
        """Whether a value is an argument as the user gave it."""
        return isinstance(node, ast.Name) and node.id in self.lifter.given

    def plain_call(self, node: ast.Call) -> bool:
        f = node.func
        if isinstance(f, ast.Name):
            if f.id in ("@is_sequence", "@is_mapping", "@is_a"):
                return True
            if self.callees.is_builtin(f, *PLAIN_BUILTINS):
                if self.callees.is_builtin(f, isinstance, type) and node.args:
                    return not self.may_be_of_any_kind(node.args[0])
                asked = self.callees.is_builtin(f, len) and node.args
                if self.asks_for_attribute(node):
                    return False
                return not (asked and (self.is_selection(asked[0]) or self.is_grown(asked[0])))
            simple = self.callees.is_builtin(f, *SIMPLE)
            return simple and not has_key(node) and all(self.plain(a) for a in node.args)
        if isinstance(f, ast.Attribute) and f.attr == "was" and self.plain(f.value):
            return True  # of what `caught` caught
        if not isinstance(f, ast.Attribute) or f.attr not in PLAIN_METHODS:
            return False
        return not MAY_BE_CHOSEN.get() or self.plain(f.value)

    def asks_for_attribute(self, node: ast.Call) -> bool:
        """Whether a call asks for an attribute that a function may set where data says."""
        asks = self.callees.is_builtin(node.func, hasattr) and len(node.args) == 2
        name = getattr(node.args[1], "value", "") if asks else "__"
        return asks and not (name in PLAIN_ATTRIBUTES or str(name).startswith("__"))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        values = [self.visit(v) for v in node.values]
        if all(self.plain(v) for v in node.values[:-1]):
            return ast.copy_location(ast.BoolOp(node.op, values), node)
        word = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.helper(word, values[0], *[later(v) for v in values[1:]])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        subject = asked_for_none(node)
        if subject is not None and not self.plain_comparison(node):
            asked = self.helper("is_none", self.visit(subject))
            return asked if isinstance(node.ops[0], ast.Is) else self.helper("not_", asked)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            if not asked_for_none(node) and not self.plain_comparison(node):
                same = self.helper("is_same", *map(self.visit, (node.left, *node.comparators)))
                return same if isinstance(node.ops[0], ast.Is) else self.helper("not_", same)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            if not self.plain_comparison(node):
                held = self.helper("holds", self.visit(node.comparators[0]), self.visit(node.left))
                return held if isinstance(node.ops[0], ast.In) else self.helper("not_", held)
        if len(node.ops) == 1 or self.plain_comparison(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        parts = [self.visit(v) for v in (node.left, *node.comparators)]
        bound: list[tuple[str, ast.expr]] = []
        for i in range(1, len(parts) - 1):  # a middle part is evaluated once
            if any(isinstance(n, ast.Call) for n in ast.walk(parts[i])):
                bound.append((f"middle_{len(bound) + 1}" if bound else "middle", parts[i]))
                parts[i] = core.name(bound[-1][0])
        each = [
            ast.Compare(left, [op], [right])
            for left, op, right in zip(parts, node.ops, parts[1:], strict=False)
        ]
        value: ast.expr = self.helper("and_", each[0], *[later(c) for c in each[1:]])
        if bound:
            arguments = ast.arguments([], [ast.arg(n) for n, _ in bound], None, [], [], None, [])
            value = ast.Call(ast.Lambda(arguments, value), [v for _, v in bound], [])
        return value

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not) and not self.plain(node.operand):
            return self.helper("not_", self.visit(node.operand))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.plain(node.test):
            return self.generic_visit(node)  # type: ignore[return-value]
        sides = [later(self.visit(v)) for v in (node.body, node.orelse)]
        return self.helper("if_else", self.visit(node.test), *sides)

    # --- scopes

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        a = node.args
        every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
        inner = Expressions(self.lifter, self.hidden | {p.arg for p in every if p})
        arguments = core.with_defaults(a, self.visit)
        return ast.copy_location(ast.Lambda(arguments, inner.visit(node.body)), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A function that stays as it is, or a method: its own names mean what they mean there."""
        inner = Expressions(self.lifter, self.hidden | locals_of(node))
        new = copy.copy(node)
        new.decorator_list = [self.visit(d) for d in node.decorator_list]
        new.args = core.with_defaults(node.args, self.visit)
        new.body = [inner.visit(s) for s in node.body]
        return new

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        new = self.generic_visit(node)
        for s in new.body:  # type: ignore[attr-defined]
            if isinstance(s, ast.FunctionDef) and s.name not in MAKERS and changes_objects(s):
                s.body.insert(0, ast.Expr(self.helper("once_a_call")))
        return new

    def comprehension(self, node: Any) -> ast.AST:
        found = self.collected(node) if self.lifter.grown.is_grown(node) else None
        if found is not None:
            return found
        hidden, generators = self.hidden, []
        for g in node.generators:
            items = Expressions(self.lifter, hidden).visit(g.iter)
            hidden |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            inner = Expressions(self.lifter, hidden)
            generators.append(
                ast.comprehension(g.target, items, [inner.visit(c) for c in g.ifs], g.is_async)
            )
        inner = Expressions(self.lifter, hidden)
        if isinstance(node, ast.DictComp):
            return ast.DictComp(inner.visit(node.key), inner.visit(node.value), generators)
        return type(node)(inner.visit(node.elt), generators)

    def collected(self, node: Any) -> ast.expr | None:
        """A comprehension of which only the running program may know the items, as a call."""
        if len(node.generators) != 1:
            return None
        (g,) = node.generators
        names = [g.target] if isinstance(g.target, ast.Name) else getattr(g.target, "elts", [])
        if not names or not all(isinstance(n, ast.Name) for n in names) or g.is_async:
            return None
        params = [n.id for n in names]
        inner = Expressions(self.lifter, self.hidden | set(params))
        made: ast.expr
        if isinstance(node, ast.DictComp):
            kind, made = "dict", ast.Tuple([node.key, node.value], ast.Load())
        else:
            kind, made = "set" if isinstance(node, ast.SetComp) else "", node.elt
        plain = ast.arguments([], [ast.arg(n) for n in params], None, [], [], None, [])
        args = [self.lifter.items(g.iter, self), ast.Lambda(plain, inner.visit(made))]
        if g.ifs:
            test = g.ifs[0] if len(g.ifs) == 1 else ast.BoolOp(ast.And(), g.ifs)
            args.append(ast.Lambda(plain, inner.visit(test)))
        call = self.helper("collected", *args)
        if kind:
            call.keywords.append(ast.keyword("kind", core.name(kind)))
        return call

    def visit_List(self, node: ast.List) -> ast.expr:
        """`[*xs, 1]` is `xs + [1]`, if only the running program may know the items of `xs`."""
        if not self.is_grown(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        parts: list[ast.expr] = []
        for e in node.elts:
            if isinstance(e, ast.Starred) and self.is_grown(e.value):
                parts.append(self.helper("of_kind", core.name("list"), self.visit(e.value)))
            elif parts and isinstance(parts[-1], ast.List):
                parts[-1].elts.append(self.visit(e))
            else:
                parts.append(ast.List([self.visit(e)], ast.Load()))
        return functools.reduce(lambda a, b: ast.BinOp(a, ast.Add(), b), parts)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        """`{**d, k: v}` is `d | {k: v}`, if only the running program may know the keys of `d`."""
        if not self.is_grown(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        parts: list[ast.expr] = []
        for k, v in zip(node.keys, node.values, strict=True):
            key, value = k if k is None else self.visit(k), self.visit(v)
            if k is None and self.is_grown(v):
                parts.append(value)
            elif parts and isinstance(parts[-1], ast.Dict):
                parts[-1].keys.append(key)
                parts[-1].values.append(value)
            else:
                parts.append(ast.Dict([key], [value]))
        return functools.reduce(lambda a, b: ast.BinOp(a, ast.BitOr(), b), parts)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        if node.attr == "__class__" and self.may_be_of_any_kind(node.value):
            return self.helper("kind_of", value)
        if isinstance(node.ctx, ast.Load) and self.callees.properties.get(node.attr):
            return self.helper("lifted_attribute", value, core.constant(node.attr))
        return ast.copy_location(ast.Attribute(value, node.attr, node.ctx), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        root: ast.expr = node.value
        while isinstance(root, ast.Subscript):
            root = root.value
        if isinstance(node.ctx, ast.Load) and isinstance(root, ast.Name | ast.Attribute | LITERALS):
            found = self.item_of(node) if self.may_be_container(root) else None
            if found is not None:
                return found
        return self.generic_visit(node)  # type: ignore[return-value]

    def may_be_container(self, root: ast.expr) -> bool:
        """Whether a value may be a list, a dictionary or an array of NumPy's, as the text shows."""
        if isinstance(root, ast.Attribute):
            return root.attr not in PLAIN_ATTRIBUTES and self.is_held(root)
        if not isinstance(root, ast.Name):
            return True
        if root.id in self.hidden:
            return False
        if MAY_BE_CHOSEN.get() and core.is_local(root.id):
            return True
        if root.id in self.lifter.lists or isinstance(self.object(root), TABLES):
            return True
        # A tangent is what its value is, and so is a value that a loop has recorded.
        value = core.base(root.id).removesuffix("_dot")
        return core.is_local(root.id) and value in map(core.base, self.lifter.lists)

    # --- calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        made = self.text(node)
        if made is not None:
            return made
        node = without_filter(node, self.object(node.func), self.plain)
        if (search := self.search(node)) is not None:
            return search
        if self.asks_kind_of_chosen(node):
            refuse_kind(node, self.lifter.file)
        callee = self.callee(node)
        args = [self.visit(a) for a in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if core.is_call_of(node, "@vjp_of", "@jvp_of"):
            args[:2] = [self.item_of(a) or b for a, b in zip(node.args[:2], args, strict=False)]
        target = self.object(node.func)
        name = getattr(target, "__name__", "")
        if target is len and len(args) == 1 and self.is_selection(node.args[0]):
            return self.helper("length", *args)
        if (
            (target is len or target is sum)
            and args
            and not keywords
            and self.is_grown(node.args[0])
        ):
            return self.helper("length" if target is len else "sum_", *args)
        if self.callees.is_builtin(node.func, list, set, dict) and len(args) == 1 and not keywords:
            if self.is_grown(node.args[0]):
                return self.helper("of_kind", node.func, *args)
        if target is type and len(args) == 1 and not self.plain(node.args[0]):
            return self.helper("kind_of", *args)
        if self.asks_for_attribute(node):
            return self.helper("has_attribute", *args)
        if target is isinstance and len(args) == 2:
            if may_be_container(node.args[1]) or self.may_be_of_any_kind(node.args[0]):
                return self.helper("is_kind", *args)
        if name in APPLYING and args and isinstance(node.args[0], ast.Name | ast.Attribute):
            if self.callees.is_builtin(node.args[0], *TEXTS):
                x = ast.arguments([], [ast.arg("x")], None, [], [], None, [])
                args[0] = ast.Lambda(x, self.helper("text", node.args[0], core.name("x")))
            elif name in ("map", "filter", "reduce"):
                args[0] = self.builtin_given(node.args[0], node) or self.as_lifted(node.args[0])
        elif self.callees.is_builtin(node.func, *OF_OBJECTS):
            pass  # they ask the function itself, not the form of it that runs
        elif is_ours(target, "runtime") or is_library(target):
            args = [self.passed(old, new, node) for old, new in zip(node.args, args, strict=True)]
            args = self.arrays_of_lists(node, target, args)
        for k in keywords:
            if k.arg == "key" and isinstance(k.value, ast.Name | ast.Attribute):
                k.value = self.builtin_given(k.value, node) or self.as_lifted(k.value)
        return ast.copy_location(ast.Call(callee, args, keywords), node)

    def arrays_of_lists(self, node: ast.Call, target: Any, args: list[ast.expr]) -> list[ast.expr]:
        """The arguments of a function of NumPy's, which makes no arrays of lists of ours itself."""
        if not isinstance(node.func, ast.Attribute) or not any(map(self.is_list, node.args)):
            return args
        root = node.func.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if getattr(self.object(root), "__name__", "") != "numpy":
            return args
        self.lifter.module.changed = True
        made = ast.Attribute(root, "array", ast.Load())
        wanted = array_operands(target)
        return [
            core.call(made, new) if takes and self.is_list(old) and not self.plain(old) else new
            for old, new, takes in zip(node.args, args, wanted, strict=False)
        ] + args[len(wanted) :]

    def is_list(self, node: ast.expr) -> bool:
        """Whether a value surely is a list."""
        if isinstance(node, ast.Name):
            return node.id in self.lifter.lists and node.id not in self.hidden
        if isinstance(node, ast.Call):
            return self.callees.is_builtin(node.func, list, sorted)
        return isinstance(node, ast.List | ast.ListComp | ast.Tuple)

    def search(self, node: ast.Call) -> ast.expr | None:
        """`xs.index(x)` and `xs.count(x)`, which ask whether items equal x."""
        f = node.func
        if not isinstance(f, ast.Attribute) or f.attr not in SEARCHES or node.keywords:
            return None
        texts = any(isinstance(a, ast.Constant) and isinstance(a.value, str) for a in node.args)
        if texts or all(map(self.plain, (f.value, *node.args))):
            return None
        if self.callees.resolver.is_users_method(f.attr):
            return None
        return self.helper(SEARCHES[f.attr], *map(self.visit, (f.value, *node.args)))

    def callee(self, node: ast.Call) -> ast.expr:
        f = node.func
        if getattr(self.object(f), "__module__", "") == "math":
            return f if all(map(self.plain, node.args)) else self.helper("lifted", self.visit(f))
        twin = twin_of(self.object(f)) or in_turn_twin_of(self.object(f))
        if twin and (node.keywords or len(node.args) > 1):
            return f if all(map(self.plain, node.args)) else self.helper("lifted", self.visit(f))
        staged = self.staged_builtin(node)
        if staged:
            self.lifter.module.changed = True
            return core.name(f"@{staged}")
        if isinstance(f, ast.Name) and (f.id.startswith("@") or f.id == core.UNDEFINED):
            return f
        if self.may_be_numpys(f):
            return self.helper("lifted", self.visit(f))
        if isinstance(f, ast.Attribute) and self.object(f) is None:
            users = self.callees.resolver.is_users_method(f.attr)
            if f.attr in METHODS and not users or is_at(f):
                return ast.Attribute(self.visit(f.value), f.attr, ast.Load())
            if f.attr.startswith("__") and not (users and f.attr == "__setitem__"):
                return ast.Attribute(self.visit(f.value), f.attr, ast.Load())
            if isinstance(self.object(f.value), types.ModuleType):
                return f
        return self.as_lifted(f)

    def may_be_numpys(self, f: ast.expr) -> bool:
        """Whether what an object holds may be an array of NumPy's, whose method takes another."""
        if not isinstance(f, ast.Attribute) or f.attr not in TAKING:
            return False
        holder = f.value
        while isinstance(holder, ast.Attribute) and holder.attr in ("T", "real", "imag"):
            holder = holder.value
        return isinstance(holder, ast.Attribute) and self.object(holder) is None

    def staged_builtin(self, node: ast.Call) -> str:
        for builtin, name in STAGED_BUILTINS.items():
            if self.callees.is_builtin(node.func, builtin):
                kept = builtin is not print and all(self.plain(a) for a in node.args)
                return "" if kept and not has_key(node) else name
        return ""

    def as_lifted(self, f: ast.expr) -> ast.expr:
        """The function to call in place of `f`."""
        if isinstance(f, ast.Name):
            if f.id in self.lifter.lifted_here:
                return f
            if not core.is_local(f.id) and f.id not in self.hidden | self.lifter.cells:
                sibling = self.lifter.module.sibling(f.id)
                if sibling is not None:
                    return core.name(sibling)
        if isinstance(f, ast.Lambda):
            return self.visit(f)
        value = self.object(f)
        if isinstance(f, ast.Name) and f.id in getattr(
            self.callees.resolver.namespace, "cells", ()
        ):
            if isinstance(value, types.FunctionType) and may_change(value.__code__):
                return self.helper("lifted", self.visit(f))  # others give it what it changes
        if value is not None:
            if self.callees.is_known(value) or not callable(value):
                return f
            if self.lifter.module.surveying and isinstance(value, types.FunctionType):
                self.lifter.module.called.append(value)
                return f
            other = self.lifter.module.lifted_sibling(f, value)
            if other is not None:
                return core.name(other)
        elif isinstance(f, ast.Name) and self.is_unknown_global(f.id):
            return f
        return self.helper("lifted", self.item_of(f) or self.visit(f))

    def item_of(self, node: ast.expr) -> ast.expr | None:
        """`table[i]` as a call, if the index may be known only later."""
        if not isinstance(node, ast.Subscript) or self.plain(node.slice):
            return None
        index = self.visit(node.slice)
        if any(isinstance(n, ast.Slice) for n in ast.walk(node.slice)):
            held = isinstance(node.value, ast.Attribute)
            if not held and not isinstance(self.object(node.value), numpy.ndarray):
                return None
            index = ast.Subscript(core.name("@at"), index, ast.Load())
        return self.helper("item_of", self.visit(node.value), index)

    def is_held(self, node: ast.Attribute) -> bool:
        """Whether an attribute may be one of an object, rather than one that arrays have."""
        place: ast.expr = node
        while isinstance(place, ast.Attribute):
            if place.attr in ("at", "T", "mT", "real", "imag", "flat"):
                return False
            place = place.value
        found = self.object(node)
        return isinstance(place, ast.Name) and (found is None or isinstance(found, TABLES))

    def is_unknown_global(self, name: str) -> bool:
        hidden = self.hidden | self.lifter.cells
        return not core.is_local(name) and name not in hidden and name not in self.callees.namespace

    def asks_kind_of_chosen(self, node: ast.Call) -> bool:
        """Whether a call asks of which kind a number is, where data has chosen that."""
        asks = core.is_call_of(node, "@is_a", "@is_kind") or self.callees.is_builtin(
            node.func, isinstance, type
        )
        asked = node.args[0] if asks and node.args else None
        test = self.lifter.chosen.get(asked.id) if isinstance(asked, ast.Name) else None
        return test is not None and not self.plain(test)

    def builtin_given(self, f: ast.expr, call: ast.Call) -> ast.expr | None:
        """Our form of `max`, given to a function that calls it: `map(max, rows)`."""
        if all(self.plain(a) for a in call.args if a is not f):
            return None
        for builtin, name in STAGED_BUILTINS.items():
            if builtin is not print and self.callees.is_builtin(f, builtin):
                return core.name(f"@{name}")
        return None

    def passed(self, old: ast.expr, new: ast.expr, call: ast.Call) -> ast.expr:
        """An argument of a function that is not lifted: a user's function goes in lifted form."""
        if isinstance(old, ast.Name | ast.Attribute):
            value = self.object(old)
            if not isinstance(value, type) and (ours := self.builtin_given(old, call)) is not None:
                return ours  # a type says of which kind something is
            if isinstance(value, types.FunctionType):
                return self.as_lifted(old)
        return new

    # --- texts

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """An f-string becomes a format and its values, which may be known only later."""
        if self.plain(node):
            return node
        values: list[ast.expr] = []
        return self.helper("formatted", core.constant(self.pattern(node, values)), *values)

    def pattern(self, node: ast.JoinedStr, values: list[ast.expr], nested: bool = False) -> str:
        """The format of an f-string; adds to `values` what it shows."""
        found = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text = str(part.value)
                found += text if nested else text.replace("{", "{{").replace("}", "}}")
                continue
            assert isinstance(part, ast.FormattedValue)
            values.append(self.visit(part.value))
            found += "{" + (f"!{chr(part.conversion)}" if part.conversion > 0 else "")
            if isinstance(part.format_spec, ast.JoinedStr):
                found += ":" + self.pattern(part.format_spec, values, nested=True)
            found += "}"
        return found

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Mod) and is_text(node.left) and not self.plain(node.right):
            made = ast.Attribute(node.left, "__mod__", ast.Load())
            return self.helper("text", made, self.visit(node.right))
        return self.generic_visit(node)  # type: ignore[return-value]

    def text(self, node: ast.Call) -> ast.expr | None:
        """A call that makes a text of values that may be known only later; None for others."""
        f = node.func
        method = isinstance(f, ast.Attribute) and f.attr in ("format", "join") and is_text(f.value)
        if not (method or self.callees.is_builtin(f, *TEXTS)) or all(map(self.plain, node.args)):
            return None
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        args = list(node.args)
        if isinstance(f, ast.Attribute) and f.attr == "join":
            args = [listed(a) for a in args]
        return self.helper("text", f, *map(self.visit, args))


def is_at(f: ast.Attribute) -> bool:
    """Whether a method is that of `x.at[index]`."""
    place = f.value
    return (
        f.attr in AT_METHODS
        and isinstance(place, ast.Subscript)
        and isinstance(place.value, ast.Attribute)
        and place.value.attr == "at"
    )


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def listed(items: ast.expr) -> ast.expr:
    """Items as a list, which can be gone through twice."""
    if isinstance(items, ast.GeneratorExp):
        return ast.ListComp(items.elt, items.generators)
    return (
        items if isinstance(items, ast.List | ast.ListComp) else core.call(core.name("list"), items)
    )


def later(value: ast.expr) -> ast.Lambda:
    """`lambda: value`"""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)


def may_be_container(kinds: ast.expr) -> bool:
    """Whether `isinstance` asks for a list, a set or a dictionary."""
    names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return any(isinstance(n, ast.Name) and n.id in ("list", "set", "dict") for n in names)


def has_key(node: ast.Call) -> bool:
    """Whether a call of `min`, `max` or `sorted` asks a function, which may ask data."""
    return any(k.arg == "key" for k in node.keywords)
