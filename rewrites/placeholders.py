"""Names that are read where they may mean nothing yet, so that the text has a placeholder."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from overt.rewrites import core
from overt.rewrites.core import Assign, Define, Do, For, Function, If, While, With


def joins(block: core.Block) -> Iterator[tuple[str, ast.expr]]:
    """Names that branches and loops set, with the values that they take."""
    for s in core.walk(block):
        if isinstance(s, If):
            for m in s.merges:
                yield m.name, m.then
                yield m.name, m.orelse
        elif isinstance(s, For | While):
            for c in s.carries:
                yield c.name, c.init
                yield c.name, c.next
                yield c.out, core.name(c.name)


def records_of(function: Function) -> set[str]:
    """Names that the passes put into records or check, whether or not they are set."""
    found: set[str] = set()
    for s in core.walk(function.body):
        if isinstance(s, Do) and isinstance(s.node, ast.Expr) and is_check(s.node.value):
            found |= core.reads(s.node)
        value = s.value if isinstance(s, Assign) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr == "pushed":
                found |= core.reads(value)

    def zeros(node: ast.AST) -> ast.AST:
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                if n.func.id == "@zeros_like_tree":
                    found.update(core.reads(n))
        return node

    core.map_exprs(function.body, zeros)  # type: ignore[arg-type]
    if function.name.endswith("_fwd") and isinstance(function.result, ast.Tuple):
        saved = function.result.elts[-1]
        found |= core.reads(saved)
        for s in function.body:
            if isinstance(s, Assign) and s.target == getattr(saved, "id", ""):
                found |= core.reads(s.value)
    return found


def is_check(node: ast.expr) -> bool:
    """Whether an expression asks that nothing else holds what is changed."""
    f = node.func if isinstance(node, ast.Call) else None
    return isinstance(f, ast.Name) and f.id.startswith(("@apart", "@no_"))


def recorded_names(function: Function) -> set[str]:
    """Names set on one side of a branch only that are read elsewhere too, so need a placeholder."""
    homes: dict[str, frozenset[tuple[str, str]]] = {}  # on which sides a name is set
    passed: dict[str, set[str]] = {}  # names that it is handed on to, out of a branch around it

    def set_in(block: core.Block) -> None:
        for s in block:
            for inner in core.blocks_of(s):
                set_in(inner)
            for m in s.merges if isinstance(s, If) else ():
                for side, value, other in (
                    ("then", m.then, m.orelse), ("orelse", m.orelse, m.then)
                ):  # fmt: skip
                    if core.is_placeholder(other):
                        home = frozenset({(ast.dump(s.test), side)})  # type: ignore[union-attr]
                        if isinstance(value, ast.Name) and value.id in homes:
                            home |= homes[value.id]
                            passed.setdefault(value.id, set()).add(m.name)
                        homes[m.name] = home

    set_in(function.body)
    if not homes:
        return set()
    found: set[str] = set()

    def see(names: set[str], context: frozenset[tuple[str, str]]) -> None:
        found.update(n for n in names & set(homes) if not homes[n] <= context)

    def visit(block: core.Block, context: frozenset[tuple[str, str]]) -> None:
        for s in block:
            if isinstance(s, If):
                see(core.reads(s.test), context)
                for side in ("then", "orelse"):
                    inner = context | {(ast.dump(s.test), side)}
                    visit(getattr(s, side), inner)
                    for m in s.merges:
                        end = core.reads(getattr(m, side))
                        see({n for n in end if m.name not in passed.get(n, ())}, inner)
            else:
                see(own_reads(s), context)
                for inner_block in core.blocks_of(s):
                    visit(inner_block, context)

    visit(function.body, frozenset())
    see(core.reads(function.result), frozenset())
    while True:
        more = {n for n, names in passed.items() if names & found} - found
        if not more:
            return found
        found |= more


def own_reads(s: core.Stmt) -> set[str]:
    """What a statement itself reads, its nested blocks apart."""
    if isinstance(s, Assign):
        return core.reads(s.value)
    if isinstance(s, Do):
        return core.reads(s.node)
    if isinstance(s, For | While):
        found = core.reads(s.items if isinstance(s, For) else s.test) | core.reads(s.until)
        for c in s.carries:
            found |= core.reads(c.init) | core.reads(c.next)
        return found
    if isinstance(s, With):
        return set().union(*[core.reads(i.context_expr) for i in s.items], set())
    if isinstance(s, Define):
        return core.free_of_function(s.function)
    return set()
