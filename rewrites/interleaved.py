"""Loops over generators that share something with the loop.

    def halves():                       # `scale` is another one at each step: the generator stays
        while scale > 1.0:              # as it is, and the two share the variable
            yield 1.0 / scale

    for v in halves():
        scale = scale * v

A generator that is a list has computed all its values before the loop begins.  Where the loop
changes what the generator reads, that would be wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import (
    CHANGING,
    changed_names,
    free_names,
    own_nodes,
    root_name,
    yields,
)

Definition = Callable[[str], ast.FunctionDef | None]
Methods = Callable[[str], list[ast.FunctionDef]]


def keep_interleaved(node: ast.FunctionDef, generator: Definition, methods: Methods) -> None:
    """Note which nested generators have to stay as they are; refuse what no way is known for."""
    loops = [n for n in own_nodes(node) if isinstance(n, ast.For)]
    if not loops:
        return
    nested = {n.name: n for n in own_nodes(node) if isinstance(n, ast.FunctionDef) and yields(n)}
    for loop in loops:
        body = loop.body
        rebound = {n for s in body for n in changed_names(s)}
        changes = list(changed_places(body, methods))
        if not (rebound if nested else changes):
            continue
        for call in (n for n in ast.walk(loop.iter) if isinstance(n, ast.Call | ast.Name)):
            f = call.func if isinstance(call, ast.Call) else None
            if isinstance(f, ast.Name) and f.id in nested and free_names(nested[f.id]) & rebound:
                nested[f.id].interleaved = True  # type: ignore[attr-defined]
            if isinstance(f, ast.Name) and changes:
                found = nested.get(f.id) or generator(f.id)
                for name, attribute in changes if found is not None else ():
                    if not attribute and any(name in argument_roots(a) for a in call.args):  # type: ignore[union-attr]
                        raise refused(name, loop)
            for name, attribute in changes:
                reads = attributes_read(call, name, methods)
                if attribute and attribute in reads:
                    raise refused(f"{name}.{attribute}", loop)


def argument_roots(node: ast.expr) -> set[str]:
    """The name whose object, or a part of it, an argument is."""
    while isinstance(node, ast.Attribute | ast.Starred):
        node = node.value
    return root_name(node)


def changed_places(body: list[ast.stmt], methods: Methods) -> Iterator[tuple[str, str]]:
    """What statements change in place: the name of a container, or an object and its attribute."""
    for s in body:
        for n in own_nodes(s):
            place: ast.expr | None = None
            if isinstance(n, ast.Subscript | ast.Attribute):
                if isinstance(n.ctx, ast.Store | ast.Del):
                    place = n.value if isinstance(n, ast.Subscript) else n
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
                if n.func.attr in CHANGING:
                    place = n.func.value
                elif isinstance(n.func.value, ast.Name):
                    for method in methods(n.func.attr):
                        for attribute in attributes(method, ast.Store):
                            yield n.func.value.id, attribute
            if place is not None:
                found = place_of(place)
                if found is not None:
                    yield found


def place_of(node: ast.expr) -> tuple[str, str] | None:
    """The name at the root of a place, and the first attribute on the way to it."""
    attribute = ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            attribute = node.attr
        node = node.value
    return (node.id, attribute) if isinstance(node, ast.Name) else None


def attributes_read(node: ast.Call | ast.Name, name: str, methods: Methods) -> set[str]:
    """The attributes of an object that a loop over one of its generators reads."""
    if isinstance(node, ast.Name):
        found = methods("__iter__") if node.id == name else []
    elif isinstance(node.func, ast.Attribute) and place_of(node.func.value) == (name, ""):
        found = methods(node.func.attr)
    else:
        found = []
    return {a for f in found if yields(f) for a in attributes(f, ast.Load)}


def attributes(node: ast.FunctionDef, way: type[ast.expr_context]) -> set[str]:
    """The attributes of its first parameter that a method reads, or stores into."""
    first = node.args.args[0].arg if node.args.args else ""
    return {
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute)
        and isinstance(n.ctx, way)
        and isinstance(n.value, ast.Name)
        and n.value.id == first
    }


def refused(what: str, loop: ast.For) -> Refusal:
    return Refusal(
        f"the loop changes {what!r}, which the generator that it runs over reads between its steps",
        "Make a list of the generator before the loop, or change something else in it.",
        loop,
        recordable=True,
    )
