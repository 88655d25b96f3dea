"""Expressions in core form: names to versions, what changes something hoisted in front."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overt.rewrites import core, exits
from overt.rewrites.conditions import changed_roots, sets_variables
from overt.rewrites.filters import unfiltered
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import (
    CHANGING,
    changed_by_calls,
    changed_by_steps,
    parameters,
    root_name,
    targets_of,
)

if TYPE_CHECKING:
    from overt.rewrites.building import Building

NOT_SUPPORTED = {
    ast.Yield: "a generator",
    ast.YieldFrom: "a generator",
    ast.Await: "`await`",
    ast.AsyncFunctionDef: "an async function",
    ast.AsyncFor: "`async for`",
    ast.AsyncWith: "`async with`",
}

# They read all that they are given before they return.
WHOLE = frozenset(("sum", "list", "tuple", "max", "min", "sorted", "dict", "set"))

# They call their first argument on one item after the other.
ASKING = frozenset(("map", "filter"))


class Expressions(ast.NodeTransformer):
    """Names to versions; walrus, changing methods and lambdas hoisted in front of the statement."""

    def __init__(self, builder: Building, hidden: frozenset[str] = frozenset()) -> None:
        self.builder, self.hidden = builder, hidden
        self.conditional = False

    def generic(self, node: ast.AST) -> ast.AST:
        fields: dict[str, Any] = {}
        done: list[tuple[Any, Any]] = []  # where the parts are that were evaluated already
        for key, value in ast.iter_fields(node):
            fields[key] = value
            if isinstance(value, list):
                fields[key] = value = list(value)
            places = enumerate(value) if isinstance(value, list) else [(key, value)]
            holder: Any = value if isinstance(value, list) else fields
            for place, part in list(places):
                if isinstance(part, ast.AST):
                    self.keep(done, part)
                    holder[place] = self.visit(part)
                    done.append((holder, place))
        new = type(node)(**fields)
        if hasattr(node, "text"):
            new.text = node.text  # type: ignore[attr-defined]
        return ast.copy_location(new, node)

    generic_visit = generic  # type: ignore[assignment]

    def keep(self, done: list[tuple[Any, Any]], part: ast.AST) -> None:
        """Give names to what was read from a container that the next part changes."""
        b = self.builder
        roots = changed_roots(part) & b.local - b.cells if done and not self.hidden else set()
        versions = {b.env.get(r) for r in roots}
        for holder, place in done if roots else ():
            old = holder[place]
            value = old.value if isinstance(old, ast.keyword) else old
            plain = ast.Name | ast.Starred | ast.Slice
            if isinstance(value, ast.expr) and not isinstance(value, plain):
                if core.reads(value) & versions:
                    held = b.names.fresh("before")
                    b.assign(held, value)
                    named = core.name(held)
                    holder[place] = ast.keyword(old.arg, named) if value is not old else named

    def stepwise(self, node: ast.BoolOp | ast.IfExp) -> ast.expr:
        """The value of a condition whose parts do more than ask, by statements."""
        b, held = self.builder, "holds"
        while held in b.local | b.enclosing:
            held += "_"
        steps: list[ast.stmt]
        if isinstance(node, ast.IfExp):
            body, orelse = ([exits.assign(held, v, node)] for v in (node.body, node.orelse))
            steps = [exits.branch(node.test, [*body], [*orelse], node)]
        else:
            steps = []
            for value in reversed(node.values):
                test: ast.expr = exits.load(held)
                if isinstance(node.op, ast.Or):
                    test = exits.negated(test)
                steps = [exits.branch(test, steps, [], node)] if steps else []
                steps.insert(0, exits.assign(held, value, node))
        b.local.add(held)
        b.block(steps)
        b.local.discard(held)
        return core.name(b.env.pop(held))

    def does_more(self, parts: Sequence[ast.expr]) -> bool:
        """Whether some parts set variables or change containers, and may be made statements."""
        if self.hidden or self.conditional:
            return False
        local = self.builder.local
        return any(sets_variables(p) or calls_lambda(p) or changed_roots(p) & local for p in parts)

    def visit(self, node: ast.AST) -> Any:
        kind = NOT_SUPPORTED.get(type(node))
        if kind:
            way_out = "Move it out of the function."
            generator = isinstance(node, ast.Yield | ast.YieldFrom)
            raise Refusal(f"{kind} cannot be rewritten", way_out, node, recordable=generator)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        b = self.builder
        if node.id in self.hidden or node.id in b.cells:
            return ast.copy_location(ast.Name(node.id, ast.Load()), node)
        held = b.env.get(node.id)
        if held is None and (node.id in b.local or node.id in b.enclosing):
            raise Refusal(
                f"the variable {node.id!r} is read before it is set",
                "Give it a value first, on every path.",
                node,
            )
        return ast.copy_location(ast.Name(held or node.id, ast.Load()), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.unconditional(node, "`:=`")
        b = self.builder
        value = self.visit(node.value)
        held = b.bind(node.target.id)
        b.assign(held, value)
        return core.name(held)

    def unconditional(self, node: ast.AST, what: str) -> None:
        if self.conditional or self.hidden:
            raise Refusal(
                f"{what} in a part of an expression that may not be evaluated",
                "Make it a statement of its own.",
                node,
            )

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.does_more([node.body, node.orelse]):
            return self.stepwise(node)
        test = self.visit(node.test)
        outer, self.conditional = self.conditional, True
        body, orelse = self.visit(node.body), self.visit(node.orelse)
        self.conditional = outer
        return ast.copy_location(ast.IfExp(test, body, orelse), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if self.does_more(node.values[1:]):
            return self.stepwise(node)
        first = self.visit(node.values[0])
        outer, self.conditional = self.conditional, True
        rest = [self.visit(v) for v in node.values[1:]]
        self.conditional = outer
        return ast.copy_location(ast.BoolOp(node.op, [first, *rest]), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        b = self.builder
        f = node.func
        if isinstance(f, ast.Attribute) and f.attr in CHANGING and root_name(f.value) & b.local:
            if not node.keywords and not self.hidden:
                args = [self.visit(a) for a in node.args]
                taken = node is not b.unused or f.attr in ("pop", "popitem", "popleft")
                value = b.change(f.value, f.attr, args, f.attr if taken else "ignored")
                if value is not None:
                    self.unconditional(node, f"`.{f.attr}(...)`")
                    return value
            elif node is not b.unused:
                pass
            elif f.attr == "sort" and not self.hidden and all(k.arg for k in node.keywords):
                keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
                value = b.change(f.value, f.attr, [], "ignored", keywords)
                if value is not None:
                    return value
            elif f.attr == "update" and not self.hidden:
                args = [self.visit(a) for a in node.args]
                args.append(
                    ast.Dict(
                        [core.constant(k.arg) if k.arg else None for k in node.keywords],
                        [self.visit(k.value) for k in node.keywords],
                    )
                )
                if len(args) == 1:
                    value = b.change(f.value, f.attr, args, "ignored")
                    if value is not None:
                        return value
        node = reading_functions(node, b.local)
        if isinstance(f, ast.Name) and f.id not in b.local | self.hidden:
            node = unfiltered(node)
            if f.id in WHOLE and node.args:
                if self.changes_local(node.args[0]) or sets_variables(node.args[0]):
                    node = of_list(node)
            if f.id in ("any", "all") and len(node.args) == 1 and not node.keywords:
                items = node.args[0]
                if isinstance(items, ast.GeneratorExp) and (
                    sets_variables(items) or self.changes_local(items)
                ):
                    if len(items.generators) == 1 and not (self.hidden or self.conditional):
                        return b.searched(items, f.id == "any")
        if isinstance(f, ast.Name) and f.id == "super" and not node.args and f.id not in b.local:
            first = b.env.get(b.first)
            if first is None or self.hidden:
                raise Refusal("`super()` needs a method with a first parameter", "", node)
            node = ast.copy_location(
                ast.Call(node.func, [ast.Name("__class__"), ast.Name(b.first)], []), node
            )
        if isinstance(f, ast.Name) and f.id == "isinstance" and len(node.args) == 2:
            if "isinstance" not in b.local and names_numbers(node.args[1]):
                node = ast.copy_location(ast.Call(ast.Name("@is_a"), node.args, []), node)
        return self.generic(node)  # type: ignore[return-value]

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        """`*(f(v) for v in xs)` reads all at once, as a list does."""
        value = node.value
        if isinstance(value, ast.GeneratorExp):
            value = ast.copy_location(ast.ListComp(value.elt, value.generators), value)
        return ast.copy_location(ast.Starred(self.visit(value), node.ctx), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        flag = getattr(node.comparators[0], "value", None)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            if isinstance(node.comparators[0], ast.Constant) and isinstance(flag, bool):
                helper = ast.Name("@is_true" if flag else "@is_false")
                asked: ast.expr = ast.Call(helper, [node.left], [])
                if isinstance(node.ops[0], ast.IsNot):
                    asked = ast.UnaryOp(ast.Not(), asked)
                return self.visit(ast.copy_location(asked, node))
        return self.generic(node)  # type: ignore[return-value]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        if self.hidden or self.conditional:
            a = node.args
            every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
            inner = Expressions(self.builder, self.hidden | {p.arg for p in every if p})
            arguments = core.with_defaults(a, self.visit)
            return ast.copy_location(ast.Lambda(arguments, inner.visit(node.body)), node)
        b = self.builder
        held = b.names.fresh("function")
        function = b.nested(node)
        b.emit(core.Define(held, core.replace(function, name=core.base(held)), b.origin))
        return core.name(held)

    def comprehension(self, node: ast.AST) -> ast.AST:
        hidden = self.hidden
        if self.changes_local(node) and changes_targets(node, node is not self.builder.unused):
            raise Refusal(
                "a comprehension changes what it runs over",
                "Write it as a loop.",
                node,
                recordable=True,
            )
        if not hidden and not self.conditional and not isinstance(node, ast.GeneratorExp):
            made = [node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore
            functions = any(isinstance(n, ast.Lambda) for n in made)
            # One that reads the variable of the comprehension would see the last value of it.
            if (
                functions
                and not reads_targets(node)
                or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
                or self.changes_local(node)
            ):
                return self.builder.looped(node)  # type: ignore[arg-type]
        generators = []
        for g in node.generators:  # type: ignore[attr-defined]
            around = Expressions(self.builder, hidden) if hidden else self
            items = around.visit(g.iter)
            hidden |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            inner = Expressions(self.builder, hidden)
            conditions = [inner.visit(c) for c in g.ifs]
            generators.append(ast.comprehension(g.target, items, conditions, g.is_async))
        inner = Expressions(self.builder, hidden)
        if isinstance(node, ast.DictComp):
            new: ast.AST = ast.DictComp(inner.visit(node.key), inner.visit(node.value), generators)
        else:
            new = type(node)(inner.visit(node.elt), generators)  # type: ignore
        return ast.copy_location(new, node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def changes_local(self, node: ast.AST) -> bool:
        """Whether each step of a comprehension changes a container of the function."""
        if not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return False
        read = node is not self.builder.unused
        return bool(changed_by_steps(node, read) & self.builder.local)


def changes_targets(node: ast.AST, read: bool) -> bool:
    """Whether the steps of a comprehension change its own variables: parts of its containers."""
    return bool(changed_by_calls(node, read) & targets_of(node))


def of_list(node: ast.Call) -> ast.Call:
    """A call that reads a whole generator expression, as one of the list of its values."""
    first = node.args[0]
    if not isinstance(first, ast.GeneratorExp):
        return node
    items = ast.copy_location(ast.ListComp(first.elt, first.generators), first)
    return ast.copy_location(ast.Call(node.func, [items, *node.args[1:]], node.keywords), node)


def reading_functions(node: ast.Call, local: set[str]) -> ast.Call:
    """A call that is given `d.__getitem__` or `d.get`, with a function of a key in its place."""
    asks = isinstance(node.func, ast.Name) and node.func.id in ASKING
    args = [reading_function(a, local, asks) for a in node.args]
    keywords = [reading_function(k.value, local, k.arg == "key") for k in node.keywords]
    old = [*node.args, *(k.value for k in node.keywords)]
    if all(a is b for a, b in zip(old, [*args, *keywords], strict=True)):
        return node
    named = [ast.keyword(k.arg, v) for k, v in zip(node.keywords, keywords, strict=True)]
    return ast.copy_location(ast.Call(node.func, args, named), node)


def reading_function(node: ast.expr, local: set[str], asked: bool) -> ast.expr:
    """`d.__getitem__` as `lambda key: d[key]`; `d.get` too, where one key is given."""
    holder = node.value if isinstance(node, ast.Attribute) else None
    if not isinstance(holder, ast.Name) or holder.id not in local:
        return node
    shown = "key" if holder.id != "key" else "name"
    key = ast.Name(shown, ast.Load())
    assert isinstance(node, ast.Attribute)
    if node.attr == "__getitem__":
        value: ast.expr = ast.Subscript(holder, key, ast.Load())
    elif node.attr == "__contains__":
        value = ast.Compare(key, [ast.In()], [holder])
    elif node.attr == "get" and asked:
        value = ast.Call(node, [key], [])
    else:
        return node
    parameters = ast.arguments([], [ast.arg(shown)], None, [], [], None, [])
    made = ast.copy_location(ast.Lambda(parameters, value), node)
    return ast.fix_missing_locations(made)


def calls_lambda(node: ast.AST) -> bool:
    """Whether a lambda is called where it stands, so that it may have a derivative."""
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Lambda) for n in ast.walk(node))


def reads_targets(node: ast.AST) -> bool:
    """Whether a function in a comprehension reads a variable that the comprehension sets."""
    targets = targets_of(node)
    return any(
        isinstance(n, ast.Name) and n.id in targets - parameters(function)
        for function in ast.walk(node)
        if isinstance(function, ast.Lambda)
        for n in ast.walk(function.body)
    )


def names_numbers(kinds: ast.expr) -> bool:
    """Whether the second argument of `isinstance` names kinds of Python numbers."""
    return any(
        isinstance(n, ast.Name)
        and n.id in ("bool", "int", "float", "complex")
        or isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == "numbers"
        for n in ast.walk(kinds)
    )
