"""Rules: what a call means to the passes, and a rule's own text put into the generated code.

The rule of `np.exp`, `lambda g, out, x: g * out`, is looked up on the live function; its body is
read from its source file and spliced with the user's names, so the derivative of `y = np.exp(x)`
reads `y_bar * y`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import overt.runtime
import overt.runtime.cotangents  # noqa: F401  rules of containers
import overt.runtime.numpy as ours
from overt.rewrites import core
from overt.rewrites.members import members_of
from overt.rewrites.scopes import nodes_at
from overt.runtime.primitive import Primitive, Rule, counterpart, rule_of
from overt.runtime.scalars import is_a, is_false, is_true

OPERATORS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.USub: "negative",
    ast.UAdd: "positive",
}

# Attributes that say something about a value without depending on it smoothly.
STATIC_ATTRIBUTES = frozenset(
    "shape ndim size dtype itemsize nbytes weak_type sharding __name__ __class__".split()
)
ARRAY_ATTRIBUTES = {"T": "transpose", "real": "real", "imag": "imag", "mT": "matrix_transpose"}

# Methods of arrays, each the function of the same name.
ARRAY_METHODS = frozenset(
    "sum mean prod max min std var reshape transpose ravel dot cumsum cumprod squeeze swapaxes "
    "repeat take trace diagonal clip conj conjugate argmax argmin any all argsort sort "
    "round".split()
)


def as_function_of_array(
    call: ast.Call, active: Callable[[ast.expr], bool]
) -> tuple[Any, list[ast.expr]] | None:
    """A method call read as a call of the function of that name; None if that is not sure.

    The object may be a module that was passed as an argument: where others than the object depend
    on what is differentiated, only `x.dot(y)` cannot be the function itself.
    """
    import overt.runtime.numpy as ours

    f = call.func
    assert isinstance(f, ast.Attribute)
    others = [*call.args, *(k.value for k in call.keywords)]
    if any(map(active, others)) and not (f.attr == "dot" and len(others) == 1):
        return None
    args = [f.value, *call.args]
    if f.attr in ("reshape", "transpose") and len(args) > 2:
        args = [args[0], core.tuple_of(list(args[1:]))]
    return getattr(ours, f.attr, None), args


# Builtins whose value does not depend smoothly on what they are given.
DISCRETE = frozenset(
    f
    for f in (
        len, range, int, bool, str, isinstance, issubclass, type, id, hash, repr, print, callable,
        hasattr, any, all, format, slice, round, chr, ord, bin, hex, is_a, is_false, is_true,
    )
)  # fmt: skip


class Resolver:
    """Finds the live object that a callee expression names, where the text alone says it."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self.load: Callable[[Any], Any] | None = None  # a user's function in core form
        self.functions: Mapping[str, core.Function] = {}  # those that the text itself defines
        self.lists: dict[str, set[str]] = {}  # the lists that the user's functions give, once asked
        self.members: tuple[set[str], set[str]] | None = None  # of the user's classes, once asked

    def is_users_method(self, name: str) -> bool:
        """Whether a class that the module knows has a method of this name."""
        return name in self.users_members()[0]

    def is_users_attribute(self, name: str) -> bool:
        """Whether a class that the module knows has another member of this name."""
        return name in self.users_members()[1]

    def users_members(self) -> tuple[set[str], set[str]]:
        if self.members is None:
            methods, others = members_of(getattr(self.namespace, "globals", {}))
            self.members = methods | methods_inside(self.functions.values()), others
        return self.members

    def object(self, node: ast.expr) -> Any:
        """The object, or None if it is only known when the code runs."""
        if isinstance(node, ast.Name):
            if core.is_local(node.id):
                return None
            if node.id == "@np":
                return ours
            if node.id == "partial" and "partial" not in self.namespace:
                return functools.partial
            if node.id.startswith("@"):
                return getattr(overt.runtime, node.id[1:], None)
            try:
                return self.namespace[node.id]
            except KeyError:
                return None
        if isinstance(node, ast.Attribute):
            holder = self.object(node.value)
            if isinstance(holder, types.ModuleType | type):
                look = getattr(self.namespace, "attribute", None)
                return look(holder, node.attr) if look else getattr(holder, node.attr, None)
        return None


def methods_inside(functions: Iterable[core.Function]) -> set[str]:
    """The names of the methods of classes that functions define."""
    return {
        part.name
        for f in functions
        for s in core.walk(f.body)
        if isinstance(s, core.Do) and isinstance(s.node, ast.ClassDef)
        for part in s.node.body
        if isinstance(part, ast.FunctionDef)
    }


def our_function(fn: Any) -> Any:
    """Overt's function for one of NumPy, `math` or builtins; itself if it has a rule."""
    if isinstance(getattr(fn, "rule", None), Rule):
        return fn
    try:
        return counterpart(fn)
    except TypeError:
        return None


class Application:
    """A call of a function with a rule: its array operands and its static parameters by name."""

    def __init__(self, rule: Rule, operands: list[ast.expr], static: dict[str, ast.expr]) -> None:
        self.rule, self.operands, self.static = rule, operands, static

    def derivative(self, position: int, g: ast.expr, out: ast.expr) -> ast.expr | None:
        """The text of the cotangent of one operand; None if it is zero."""
        vjp = self.rule.vjp
        if vjp is None or (isinstance(vjp, tuple) and vjp[position] is None):
            return None
        return spliced(vjp[position], [g, out, *self.operands], self.static)

    def tangent(self, dots: ast.expr, out: ast.expr) -> ast.expr:
        return spliced(self.rule.jvp, [dots, out, *self.operands], self.static)


class Written(Application):
    """A call of a function that is linear in each operand, with the text of each cotangent."""

    def __init__(self, rule: Rule, args: list[ast.expr], texts: list[str]) -> None:
        super().__init__(rule, args, {})
        self.texts = texts

    def derivative(self, position: int, g: ast.expr, out: ast.expr) -> ast.expr | None:
        """The text of the cotangent of one operand, after the constant that the rule depends on."""
        if position == 0:
            return None
        body = ast.parse(self.texts[position - 1], mode="eval").body
        table = {f"x{i}": x for i, x in enumerate(self.operands[1:])}
        for name in core.reads(body) - set(table):
            table[name] = core.name(f"@{name}")
        return core.substitute(body, {**table, "g": g})


def applied(fn: Any, args: list[ast.expr], keywords: list[ast.keyword]) -> Application | None:
    """Bind a call to the parameters of a function that has a rule; None if it has none."""
    rule = rule_of(fn)
    if rule is None or not rule.differentiable:
        return None
    if any(isinstance(a, ast.Starred) for a in args) or any(k.arg is None for k in keywords):
        return None
    if rule.written is not None:
        first = args[0].value if args and isinstance(args[0], ast.Constant) else None
        texts = rule.written(first, len(args) - 1) if not keywords else None
        return None if texts is None else Written(rule, args, texts)
    if callable(rule.vjp):
        return None
    target = our_function(fn)
    positional = isinstance(target, Primitive)  # its operands have no names in calls
    signature = None if positional else getattr(target, "__signature__", None)
    given = {k.arg: k.value for k in keywords if k.arg}
    if signature is None:
        if len(args) != len(rule.arrays):
            return None
        return Application(rule, list(args), given)
    try:
        bound = signature.bind(*args, **given)
    except TypeError:
        return None
    names = dict(bound.arguments)
    parameters = signature.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name in names for p in parameters):
        return None
    static: dict[str, ast.expr] = {}
    for p in parameters:
        if p.name in rule.arrays:
            names.setdefault(p.name, literal(p.default))
        elif p.name in names:
            static[p.name] = names[p.name]
        elif p.default is not p.empty:
            static[p.name] = literal(p.default)
    return Application(rule, [names[n] for n in rule.arrays], static)


def literal(value: Any) -> ast.expr:
    if isinstance(value, tuple):
        return core.tuple_of([literal(v) for v in value])
    if callable(value):
        return core.name(getattr(value, "__name__", "None"))
    return core.constant(value)


# --- splicing


def spliced(
    rule: Callable[..., Any], positional: list[ast.expr], static: dict[str, ast.expr]
) -> ast.expr:
    """The body of a rule with its parameters replaced by expressions."""
    params, body, globals_ = rule_text(rule)
    table = dict(zip(params.positional, positional, strict=False))
    if params.star is not None:
        table[params.star] = core.tuple_of(positional[len(params.positional) :])
    for name, default in params.keywords.items():
        value = static.get(name, default)
        if value is None:
            raise KeyError(f"a rule wants the parameter {name!r}")
        table[name] = value
    if params.double is not None:
        body = with_keywords(body, params.double, static)
    for name in core.reads(body):
        if name not in table:
            table[name] = core.name(f"@{name}" if name in globals_ else name)
    return shortened(core.substitute(body, table), globals_)


def shortened(node: ast.expr, globals_: Mapping[str, Any]) -> ast.expr:
    """Constant arguments of helpers by name, and left out where they are the default."""

    class Shorten(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            self.generic_visit(node)
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name.startswith("@") and name[1:] in globals_:
                return by_name(node, globals_[name[1:]])
            ours_ = of_ours(node.func)
            return node if ours_ is None else by_name(node, ours_)

    return Shorten().visit(core.substitute(node, {"": core.constant(None)}))


def of_ours(node: ast.expr) -> Any:
    """The function of our NumPy that `np.fft.fft` in a rule names."""
    if isinstance(node, ast.Name):
        return ours if node.id == "@np" else None
    if isinstance(node, ast.Attribute):
        holder = of_ours(node.value)
        return None if holder is None else getattr(holder, node.attr, None)
    return None


def by_name(node: ast.Call, function: Any) -> ast.Call:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return node
    args = list(node.args)
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    keywords = [
        k
        for k in node.keywords
        if not (
            isinstance(k.value, ast.Constant)
            and k.arg in defaults
            and k.value.value is defaults[k.arg]
        )
    ]
    while args and len(args) <= len(parameters):
        p, value = parameters[len(args) - 1], args[-1]
        if p.kind is not p.POSITIONAL_OR_KEYWORD or p.default is p.empty:
            break
        if not isinstance(value, ast.Constant | ast.Tuple | ast.UnaryOp):
            break
        args.pop()
        if not (isinstance(value, ast.Constant) and value.value is p.default):
            keywords.insert(0, ast.keyword(p.name, value))
    return ast.Call(node.func, args, keywords)


def with_keywords(body: ast.expr, double: str, static: dict[str, ast.expr]) -> ast.expr:
    """`**how` in a rule's call replaced by the keyword arguments that it stands for."""

    class Spread(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            self.generic_visit(node)
            keywords: list[ast.keyword] = []
            for k in node.keywords:
                if k.arg is None and isinstance(k.value, ast.Name) and k.value.id == double:
                    keywords += [ast.keyword(n, v) for n, v in static.items()]
                else:
                    keywords.append(k)
            return ast.Call(node.func, node.args, keywords)

    return Spread().visit(core.substitute(body, {"": core.constant(None)}))


class Parameters:
    def __init__(self, a: ast.arguments) -> None:
        self.positional = [p.arg for p in [*a.posonlyargs, *a.args]]
        self.star = a.vararg.arg if a.vararg else None
        self.double = a.kwarg.arg if a.kwarg else None
        self.keywords = {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)}


@functools.cache
def rule_text(rule: Callable[..., Any]) -> tuple[Parameters, ast.expr, Mapping[str, Any]]:
    """Parameters and body of a rule: a lambda or a function of one `return`."""
    code = rule.__code__
    for node in nodes_at(parsed(code.co_filename), code.co_firstlineno):
        if not isinstance(node, ast.Lambda | ast.FunctionDef):
            continue
        if node.lineno != code.co_firstlineno and not isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and is_code(node, code):
            return Parameters(node.args), node.body, rule.__globals__
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            break
    names = [p.name for p in inspect.signature(rule).parameters.values()]
    call = ast.Call(
        core.name(f"@{code.co_name}"),
        [core.name(n) for n in names[: code.co_argcount]],
        [ast.keyword(n, core.name(n)) for n in names[code.co_argcount :]],
    )
    a = ast.arguments(
        [], [ast.arg(n) for n in names[: code.co_argcount]], None,
        [ast.arg(n) for n in names[code.co_argcount :]], [None] * (len(names) - code.co_argcount),
        None, [],
    )  # fmt: skip
    return Parameters(a), call, rule.__globals__


@functools.cache
def parsed(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def is_code(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda in the right line is the compiled one, by where its body stands."""
    spans = [p for p in code.co_positions() if p[0] is not None and p[2] is not None]
    inside = [p for p in spans if (p[0], p[2]) >= (node.body.lineno, node.body.col_offset)]
    end = (node.body.end_lineno, node.body.end_col_offset)
    return (
        bool(inside)
        and all((p[1], p[3]) <= end for p in inside)
        and (
            (node.body.lineno, node.body.col_offset) == min((p[0], p[2]) for p in inside)
            or len(inside) == len(spans)
        )
    )
