"""Scopes: which names a function binds itself, and which statements and expressions are its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from overt.runtime.changing_code import METHODS

# Methods of containers that change their object.
CHANGING = METHODS | {"fill"}  # of arrays, too

# Those that give more than None.
GIVING = frozenset("setdefault pop popitem popleft".split())

# Helpers that give a container or an array with one item set.
SET_ITEM = frozenset(("@set_item", "@put_item", "@stored_in"))

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def new_name(stem: str, taken: set[str]) -> str:
    """A name that is not taken yet, and from now on is: the stem, or the stem with a number."""
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    taken.add(name)
    return name


def is_not_in_place(node: ast.expr) -> bool:
    """Whether a call is of a function that would change its argument, and was told not to."""
    return isinstance(node, ast.Call) and any(k.arg == "inplace" for k in node.keywords)


class Scope(ast.NodeVisitor):
    """Names a function assigns, declares global or nonlocal, and lets nested functions rebind."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda) -> None:
        self.assigned: set[str] = set()
        self.outer: set[str] = set()
        self.cells: set[str] = set()
        if isinstance(node, ast.FunctionDef):
            for s in node.body:
                self.visit(s)
        else:
            self.visit(node.body)
        self.assigned -= self.outer

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            self.assigned.add(node.id)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.outer |= set(node.names)

    visit_Nonlocal = visit_Global

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.assigned.add(node.name)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Nonlocal):
                self.cells |= set(inner.names)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.assigned.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def _comprehension(self, node: ast.AST) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.assigned.add(inner.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.assigned.add(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.assigned.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.assigned.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs


def parameters(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names of a function's parameters."""
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    return {p.arg for p in every if p}


def locals_of(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that are a function's own."""
    return parameters(node) | Scope(node).assigned


def nodes_at(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """Every node of the statements of a module that a line belongs to, decorators included."""
    for s in tree.body:
        first = min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", ()))])
        if first <= line <= (s.end_lineno or s.lineno):
            yield from ast.walk(s)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node of a function that is not inside one nested in it; the nested ones too."""
    body = node.body if isinstance(node, NESTED) else [node]
    pending: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while pending:
        n = pending.pop(0)
        yield n
        if isinstance(n, NESTED):
            a = getattr(n, "args", None)
            pending[:0] = getattr(n, "decorator_list", [])
            if a is not None:
                pending[:0] = [*a.defaults, *(d for d in a.kw_defaults if d is not None)]
        else:
            pending[:0] = list(ast.iter_child_nodes(n))


def free_names(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Names that a nested function, or one inside it, takes from around it."""
    own = locals_of(node)
    found: set[str] = set()
    for n in own_nodes(node):
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, ast.Nonlocal):
            found |= set(n.names)
        elif isinstance(n, ast.FunctionDef | ast.Lambda):
            found |= free_names(n)
        elif isinstance(n, ast.ClassDef):
            found |= free_names_of_class(n)
    return found - own


def free_names_of_class(node: ast.ClassDef) -> set[str]:
    """Names that a class and its methods take from around it; its own are no names of theirs."""
    found: set[str] = set()
    for part in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords), *node.body]:
        if isinstance(part, ast.FunctionDef):  # its variables are its own
            around = [
                *part.decorator_list,
                *part.args.defaults,
                *filter(None, part.args.kw_defaults),
            ]
            found |= free_names(part) | {
                n.id for d in around for n in ast.walk(d) if isinstance(n, ast.Name)
            }
            continue
        for n in own_nodes(part) if not isinstance(part, NESTED) else [part, *own_nodes(part)]:
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                found.add(n.id)
            elif isinstance(n, ast.FunctionDef | ast.Lambda):
                found |= free_names(n)
            elif isinstance(n, ast.ClassDef):
                found |= free_names_of_class(n)
    return found


def changes_objects(node: ast.FunctionDef) -> bool:
    """Whether a method may change something that is there longer than its call."""
    return any(
        isinstance(n, ast.Global | ast.Nonlocal)
        or isinstance(n, ast.Attribute | ast.Subscript)
        and not isinstance(n.ctx, ast.Load)
        or isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in CHANGING
        for n in ast.walk(node)
    )


def given_only(
    nodes: list[ast.AST], holds: Callable[[ast.expr, set[str]], bool], by_operators: bool
) -> set[str]:
    """The names that some code only ever gives values of one kind.

    `holds` tells whether an expression is of that kind, where certain names are; `by_operators`,
    whether `x += v` keeps the kind if v has it.
    """
    given: dict[str, list[ast.expr | None]] = {}
    plain: set[int] = set()
    for n in nodes:
        if isinstance(n, ast.Assign) and len(n.targets) == 1:
            target, kept = n.targets[0], True
        elif isinstance(n, ast.AugAssign):
            target, kept = n.target, by_operators
        else:
            continue
        if isinstance(target, ast.Name):
            given.setdefault(target.id, []).append(n.value if kept else None)
            plain.add(id(target))
    for n in nodes:
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and id(n) not in plain:
            given.setdefault(n.id, []).append(None)
        elif isinstance(n, ast.arg):
            given.setdefault(n.arg, []).append(None)
    found = set(given)
    while True:
        fewer = {n for n in found if all(v is not None and holds(v, found) for v in given[n])}
        if fewer == found:
            return found
        found = fewer


def changed_names(s: ast.AST) -> set[str]:
    """Names that a statement binds or whose containers it changes."""
    found: set[str] = set()
    unused = s.value if isinstance(s, ast.Expr) else None

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            found.update(root_name(node.value))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CHANGING
        ):
            found.update(root_name(node.func.value))
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    found.add(inner.target.id)
            found.update(changed_by_steps(node, node is not unused))
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(s)
    return found


def targets_of(node: ast.AST) -> set[str]:
    """The variables that a comprehension sets."""
    generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
    return {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}


def changed_by_calls(node: ast.AST, read: bool = False) -> set[str]:
    """The names whose objects methods that are called in an expression change.

    Where the values of a comprehension are `read`, a method of its variables that would give
    nothing, if it were one of a container, is one of an object of the user's, which gives another.
    """
    found: set[str] = set()
    own = targets_of(node) if read else set()
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            if n.func.attr in CHANGING:
                names = root_name(n.func.value)
                found |= names if n.func.attr in GIVING else names - own
    return found


def changed_by_steps(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, read: bool = True
) -> set[str]:
    """Names of the function's containers that a comprehension's steps change."""
    found = changed_by_calls(node, read)
    for g in reversed(node.generators):  # what runs over a container changes the container
        own = {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        if found & own:
            found = found - own | {n.id for n in ast.walk(g.iter) if isinstance(n, ast.Name)}
    return found


def root_name(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def yields(node: ast.FunctionDef) -> bool:
    """Whether a function is a generator."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(node))


class Renamed(ast.NodeTransformer):
    """Names replaced by others, in stores too; not those that a lambda binds itself."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Name(self.env.get(node.id, node.id), node.ctx), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        own = parameters(node)
        inside = Renamed({n: new for n, new in self.env.items() if n not in own})
        made = ast.Lambda(self.visit(node.args), inside.visit(node.body))
        return ast.copy_location(made, node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        return ast.ExceptHandler(node.type, self.env.get(node.name or "", node.name), node.body)
