"""Core form: the small structured language that every pass reads and writes.

A function in core form is in structured single assignment: every local name is assigned once,
branches say which values they merge, loops say which values they carry.  Expressions are plain
`ast` expressions over such names.  A local name is spelled `base·number`, so it can never be
mistaken for a global one, and printing can give it back its user's name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from overt.rewrites.scopes import free_names_of_class

SEPARATOR = "·"

Pattern = Any  # a name, or a tuple of patterns; a starred one is ("*", pattern)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a statement comes from: file, line, the comment behind it and those above it.

    One that a pass has made `undoes` a line of the user's, or is a part of it: (file, line, text).
    """

    file: str = ""
    line: int = 0
    text: str = ""
    comment: str = ""
    above: tuple[str, ...] = ()
    undoes: tuple[str, int, str] = ("", 0, "")


NOWHERE = Origin()
# What is noted on an expression, besides its fields.
KEPT = ("text", "changing", "mask", "lineno", "col_offset", "end_col_offset", "end_lineno")
PART = "part"
TANGENT = "tangent"


def part_of(user: Origin) -> Origin:
    """The origin of a part of a user's statement that was given a name."""
    return undoing(Origin(text=PART), user)


def is_part(origin: Origin) -> bool:
    return origin.text == PART and not origin.line


def tangent_of(user: Origin) -> Origin:
    """The origin of the tangent of a statement, which keeps a name if it has one of the user's."""
    return undoing(Origin(text=TANGENT) if user.line else NOWHERE, user)


def is_tangent(origin: Origin) -> bool:
    return origin.text == TANGENT and not origin.line


def undoing(origin: Origin, user: Origin) -> Origin:
    """The origin of a generated statement, with the user's line that it undoes."""
    place = (user.file, user.line, user.text.strip()) if user.line else user.undoes
    if origin.line or origin.undoes[1] or not place[1]:
        return origin
    return replace(origin, undoes=place)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`; the target may be a pattern of names."""

    target: Pattern
    value: ast.expr
    origin: Origin = NOWHERE
    in_place: bool = False  # written `x += v`, which changes a NumPy array itself


@dataclass(frozen=True, slots=True)
class Do:
    """A statement run for its effect alone: a call, an `assert`, a `raise`, an attribute store."""

    node: ast.stmt
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Merge:
    """After a branch, `name` is `then` or `orelse`."""

    name: str
    then: ast.expr
    orelse: ast.expr


@dataclass(frozen=True, slots=True)
class If:
    test: ast.expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    merges: tuple[Merge, ...]
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Carry:
    """A value carried by a loop: `name` in the body, first `init`, then `next`; `out` after it."""

    name: str
    init: ast.expr
    next: ast.expr
    out: str


@dataclass(frozen=True, slots=True)
class For:
    """`for target in items`; ends early once `until`, tested after an iteration, is true."""

    target: Pattern
    items: ast.expr
    carries: tuple[Carry, ...]
    body: tuple[Stmt, ...]
    until: ast.expr | None = None
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class While:
    """`while test`, where the test reads carried names; `until` as in `For`."""

    test: ast.expr
    carries: tuple[Carry, ...]
    body: tuple[Stmt, ...]
    until: ast.expr | None = None
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Define:
    """A nested function."""

    name: str
    function: Function
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class With:
    """A `with` block; its names flow straight through."""

    items: tuple[ast.withitem, ...]
    body: tuple[Stmt, ...]
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Note:
    """A comment line of its own."""

    text: str
    origin: Origin = NOWHERE


Stmt = Assign | Do | If | For | While | Define | With | Note
Block = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter; kind is one of "positional", "normal", "star", "keyword", "double star"."""

    name: str
    kind: str = "normal"
    default: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """One function in core form."""

    name: str
    params: tuple[Param, ...]
    body: Block
    result: ast.expr
    doc: str = ""
    is_lambda: bool = False
    origin: Origin = NOWHERE
    result_origin: Origin = NOWHERE
    cells: frozenset[str] = frozenset()  # names shared with nested functions that rebind them
    users: tuple[int, ...] | None = ()  # parts of a result tuple that are the user's own; None: all
    decorators: tuple[ast.expr, ...] = ()  # printed above it
    made: frozenset[str] = frozenset()  # names that are not the user's, such as that of the result
    foreign: frozenset[str] = frozenset()  # names of containers that others hold too


# --- building -------------------------------------------------------------------------------------


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def constant(value: Any) -> ast.Constant:
    return ast.Constant(value)


def call(function: str | ast.expr, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    callee = expression(function) if isinstance(function, str) else function
    return ast.Call(callee, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def expression(text: str) -> ast.expr:
    """Parse an expression."""
    return ast.parse(text, mode="eval").body


def tuple_of(items: list[ast.expr]) -> ast.Tuple:
    return ast.Tuple(items, ast.Load())


UNDEFINED = "Undefined"


def is_local(text: str) -> bool:
    return SEPARATOR in text


def base(text: str) -> str:
    """The user's name of a local name."""
    return text.partition(SEPARATOR)[0]


class Names:
    """Hands out fresh local names, the same ones in every run."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}

    def fresh(self, stem: str) -> str:
        stem = base(stem)
        number = self.count.get(stem, 0)
        self.count[stem] = number + 1
        return f"{stem}{SEPARATOR}{number}"

    def reserve(self, function: Function) -> None:
        """Never hand out a name that the function already has."""
        for text in all_names(function):
            stem, _, number = text.partition(SEPARATOR)
            if number:
                self.count[stem] = max(self.count.get(stem, 0), int(number) + 1)


# --- walking --------------------------------------------------------------------------------------


def pattern_names(pattern: Pattern) -> Iterator[str]:
    if isinstance(pattern, str):
        yield pattern
    else:
        for item in pattern:
            if item != "*":
                yield from pattern_names(item)


def map_pattern(function: Callable[[str], str], pattern: Pattern) -> Pattern:
    if isinstance(pattern, str):
        return function(pattern) if pattern != "*" else pattern
    return tuple(map_pattern(function, item) for item in pattern)


def reads(node: ast.AST | None) -> set[str]:
    """Names that an expression reads from around it (not those it binds itself)."""
    found: set[str] = set()
    if node is not None:
        _reads(node, found, frozenset())
    return found


def _reads(node: ast.AST, found: set[str], bound: frozenset[str]) -> None:
    if isinstance(node, ast.Name):
        if node.id not in bound:
            found.add(node.id)
        return
    if isinstance(node, ast.Lambda):
        a = node.args
        every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
        for default in [*a.defaults, *a.kw_defaults]:
            if default is not None:
                _reads(default, found, bound)
        _reads(node.body, found, bound | {p.arg for p in every if p})
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        inner = bound
        for generator in node.generators:
            _reads(generator.iter, found, inner)
            inner |= {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            for condition in generator.ifs:
                _reads(condition, found, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            _reads(part, found, inner)
        return
    for child in ast.iter_child_nodes(node):
        _reads(child, found, bound)


def substitute(node: Any, table: Mapping[str, ast.expr]) -> Any:
    """The expression (or simple statement) with names replaced; the original is left alone."""
    if not table:
        return node
    return _substitute(node, table)


def _substitute(node: Any, table: Mapping[str, ast.expr]) -> Any:
    if isinstance(node, ast.Name):
        return table.get(node.id, node)
    if isinstance(node, list):
        return [_substitute(item, table) for item in node]
    if isinstance(node, ast.Constant) or not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Lambda):
        a = node.args
        every = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
        hidden = {p.arg for p in every if p}
        table = {k: v for k, v in table.items() if k not in hidden}
    fields = {key: _substitute(value, table) for key, value in ast.iter_fields(node)}
    new = type(node)(**fields)
    for attribute in (
        "text",
        "changing",
        "mask",
        "lineno",
        "col_offset",
        "end_col_offset",
        "end_lineno",
    ):
        value = getattr(node, attribute, None)
        if value is not None:
            setattr(new, attribute, value)
    return new


def is_call_of(node: ast.AST, *helpers: str) -> bool:
    """Whether an expression calls one of these helpers by its name."""
    f = node.func if isinstance(node, ast.Call) else None
    return isinstance(f, ast.Name) and f.id in helpers


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_placeholder(node: ast.AST) -> bool:
    """Whether an expression is the placeholder of a variable that this path does not set."""
    return isinstance(node, ast.Name) and node.id == f"@{UNDEFINED}"


def with_defaults(a: ast.arguments, visit: Callable[[ast.AST], Any]) -> ast.arguments:
    """Parameters with their default values visited, which are read outside of the function."""
    keywords = [d if d is None else visit(d) for d in a.kw_defaults]
    defaults = [visit(d) for d in a.defaults]
    return ast.arguments(a.posonlyargs, a.args, a.vararg, a.kwonlyargs, keywords, a.kwarg, defaults)


def with_parts(node: Any, visit: Callable[[ast.AST], Any]) -> Any:
    """The node with its parts visited: another one if a part changed, and itself if none did."""
    fields, changed = {}, False
    for key, value in ast.iter_fields(node):
        new = value
        if isinstance(value, list):
            new = [visit(v) if isinstance(v, ast.AST) else v for v in value]
            changed = changed or any(a is not b for a, b in zip(new, value, strict=True))
        elif isinstance(value, ast.AST):
            new = visit(value)
            changed = changed or new is not value
        fields[key] = new
    return ast.copy_location(type(node)(**fields), node) if changed else node


class Renaming:
    """Replaces names in what is mapped, but not those that a nested function binds itself."""

    def __init__(self, table: Mapping[str, ast.expr]) -> None:
        self.table = table

    def __call__(self, node: Any) -> Any:
        return substitute(node, self.table)

    def within(self, function: Function) -> Renaming:
        """The renaming inside a nested function."""
        own = {p.name for p in function.params}
        return Renaming({name: new for name, new in self.table.items() if name not in own})


def map_exprs(block: Block, function: Callable[[ast.expr], ast.expr]) -> Block:
    """The block with `function` applied to every expression in it, nested blocks included."""
    return tuple(map_stmt(s, function) for s in block)


def map_stmt(s: Stmt, f: Callable[[Any], Any]) -> Stmt:
    if isinstance(s, Assign):
        return replace(s, value=f(s.value))
    if isinstance(s, Do):
        return replace(s, node=f(s.node))
    if isinstance(s, If):
        merges = tuple(Merge(m.name, f(m.then), f(m.orelse)) for m in s.merges)
        then, orelse = map_exprs(s.then, f), map_exprs(s.orelse, f)
        return replace(s, test=f(s.test), then=then, orelse=orelse, merges=merges)
    if isinstance(s, For | While):
        carries = tuple(Carry(c.name, f(c.init), f(c.next), c.out) for c in s.carries)
        until = f(s.until) if s.until is not None else None
        head = {"items": f(s.items)} if isinstance(s, For) else {"test": f(s.test)}
        return replace(s, carries=carries, body=map_exprs(s.body, f), until=until, **head)
    if isinstance(s, Define):
        inner = f.within(s.function) if isinstance(f, Renaming) else f
        return replace(s, function=map_function(s.function, inner))
    if isinstance(s, With):
        items = tuple(ast.withitem(f(i.context_expr), i.optional_vars) for i in s.items)
        return replace(s, items=items, body=map_exprs(s.body, f))
    return s


def map_function(function: Function, f: Callable[[Any], Any]) -> Function:
    params = tuple(
        replace(p, default=f(p.default) if p.default is not None else None) for p in function.params
    )
    return replace(
        function, params=params, body=map_exprs(function.body, f), result=f(function.result)
    )


def nodes(f: Function) -> list[ast.AST]:
    """Every node of the expressions of a function."""
    found: list[ast.AST] = []

    def visit(node):  # type: ignore[no-untyped-def]
        found.extend(ast.walk(node))
        return node

    map_function(f, visit)
    return found


def positions(block: Block) -> dict[str, int]:
    """The names that a block defines, those inside its nested blocks too, in the text's order."""
    found: dict[str, int] = {}
    for s in walk(block):
        merged = [m.name for m in s.merges] if isinstance(s, If) else []
        inner = assigned(tuple(t for b in blocks_of(s) for t in b))
        bound = pattern_names(s.target) if isinstance(s, Assign) and s.target else ()
        for n in (*bound, *merged, *sorted(assigned((s,)) - inner)):
            found.setdefault(n, len(found))
    return found


def assigned(block: Block) -> set[str]:
    """Names that a block defines, those inside its nested blocks included."""
    found: set[str] = set()
    for s in block:
        if isinstance(s, Assign):
            found |= set(pattern_names(s.target))
        elif isinstance(s, If):
            found |= {m.name for m in s.merges} | assigned(s.then) | assigned(s.orelse)
        elif isinstance(s, For | While):
            found |= {c.out for c in s.carries} | {c.name for c in s.carries} | assigned(s.body)
            if isinstance(s, For):
                found |= set(pattern_names(s.target))
        elif isinstance(s, Define):
            found.add(s.name)
        elif isinstance(s, With):
            for item in s.items:
                found |= reads(item.optional_vars)
            found |= assigned(s.body)
        elif isinstance(s, Do):
            found |= _stored(s.node)
    return found


def _stored(node: ast.AST) -> set[str]:
    """Names that a statement kept as it is binds."""
    stored = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return stored | {n.name for n in ast.walk(node) if isinstance(n, ast.ExceptHandler) and n.name}


def free(block: Block) -> set[str]:
    """Local names that a block reads and does not define."""
    return {n for n in _all_reads(block) if is_local(n)} - assigned(block)


def free_of_function(function: Function) -> set[str]:
    """Local names of the enclosing function that a nested one reads."""
    return {n for n in _outer_reads(function) if is_local(n)}


def _all_reads(block: Block) -> set[str]:
    found: set[str] = set()

    def visit(node: Any) -> Any:
        found.update(reads(node))
        return node

    for s in block:
        if isinstance(s, Define):
            found |= _outer_reads(s.function)
            continue
        if isinstance(s, Do) and isinstance(s.node, ast.ClassDef):
            found |= free_names_of_class(s.node)
            continue
        map_stmt(without_blocks(s), visit)
        for inner in blocks_of(s):
            found |= _all_reads(inner)
    return found


def reads_of(s: Stmt) -> set[str]:
    """Names that a statement reads by itself, its blocks apart."""
    return _all_reads((without_blocks(s),))


def without_blocks(s: Stmt) -> Stmt:
    if isinstance(s, If):
        return replace(s, then=(), orelse=())
    return replace(s, body=()) if isinstance(s, For | While | With) else s


def _outer_reads(function: Function) -> set[str]:
    """Names that a function reads and does not define, local to those around it or global."""
    inside = _all_reads(function.body) | reads(function.result)
    own = {n for n in assigned(function.body) if is_local(n)} | {p.name for p in function.params}
    found = inside - own
    for p in function.params:
        found |= reads(p.default)
    return found


def globals_of(function: Function) -> set[str]:
    """Names that a function reads from its module (or from the builtins)."""
    return {n for n in _outer_reads(function) if not is_local(n)}


def all_names(function: Function) -> set[str]:
    found = _all_reads(function.body) | reads(function.result) | assigned(function.body)
    for s in walk(function.body):
        if isinstance(s, Define):
            found |= all_names(s.function)
    return found | {p.name for p in function.params}


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement of a block, nested blocks (not nested functions) included."""
    for s in block:
        yield s
        for inner in blocks_of(s):
            yield from walk(inner)


def blocks_of(s: Stmt) -> tuple[Block, ...]:
    if isinstance(s, If):
        return (s.then, s.orelse)
    if isinstance(s, For | While | With):
        return (s.body,)
    return ()


def with_blocks(s: Stmt, blocks: Sequence[Block]) -> Stmt:
    """The statement with other blocks, in the order of `blocks_of`."""
    if isinstance(s, If):
        return replace(s, then=blocks[0], orelse=blocks[1])
    return replace(s, body=blocks[0]) if isinstance(s, For | While | With) else s


@dataclass(frozen=True)
class Source:
    """A module of functions in core form, the last one being the one asked for.

    `namespace` is where global names are looked up; `imports` are lines that the text needs.
    """

    functions: tuple[Function, ...]
    namespace: Any = field(default_factory=dict)
    imports: frozenset[str] = frozenset()
    file: str = ""
    load: Any = None  # a live function to its core form, or None if it has no source
    by_fields: Any = None  # the function it is of, and what gives its source without objects

    @property
    def main(self) -> Function:
        return self.functions[-1]

    def without_objects(self) -> Source | None:
        """The source in which objects that are the function's own are variables; None if none is.

        Only of a function as the user wrote it: what a pass has made has no such source.
        """
        if self.by_fields is None or self.by_fields[0] is not self.main:
            return None
        return self.by_fields[1]()
