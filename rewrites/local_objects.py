"""Local objects: an object that a function makes and keeps to itself is written as its fields.

body = Body(p, v)                body_pos, body_vel = p, v
body.kick(force, dt)      ->     body_vel = body_vel + force * dt
return body.pos                  return body_pos

The derivative of such a function has a text, as it has if the user writes it in this way.  It is
done where every use of the object is in sight: its fields, its methods, its properties.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from overt.rewrites import core
from overt.rewrites.core import Source
from overt.rewrites.method_texts import COMPREHENSIONS, Kind, Unfollowed
from overt.rewrites.object_fields import LocalObject
from overt.rewrites.object_operators import operators_as_objects
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import NESTED, locals_of, own_nodes, parameters, targets_of

Made = TypeVar("Made")


def or_by_fields(derive: Callable[..., Made]) -> Callable[..., Made]:
    """A derivative's source; of the function without its own objects where that reads better."""

    @functools.wraps(derive)
    def derived(source: Source, *args: Any, **keywords: Any) -> Made:
        made = refusal = None
        most = 0
        try:
            made = derive(source, *args, **keywords)
            most = detours(made)
            if not most:
                return made
        except Refusal as raised:
            if not raised.recordable:
                raise
            refusal = raised
        try:
            other = source.without_objects()
            plain = derive(other, *args, **keywords) if other is not None else None
            if plain is not None and (refusal or detours(plain) < most):
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
        for n in core.nodes(f)
    )


def objects_as_fields(
    node: ast.FunctionDef, kind_of: Callable[[ast.expr], Kind | None], around: set[str]
) -> ast.FunctionDef | None:
    """The function without the objects that are its own; None if there are none.

    `around` are names of variables of the functions around this one.
    """
    known: dict[str, Kind | None] = {}

    own = locals_of(node)

    def kind(callee: ast.expr) -> Kind | None:
        if any(isinstance(n, ast.Name) and n.id in own for n in ast.walk(callee)):
            return None
        text = ast.unparse(callee)
        if text not in known:
            known[text] = kind_of(callee)
        return known[text]

    node = operators_as_objects(node, kind, around)
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
        elif isinstance(n, ast.Try) and any(map(handles_missing, n.handlers)):
            apart |= {name.id for s in n.body for name in ast.walk(s) if isinstance(name, ast.Name)}
        elif isinstance(n, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
            apart.add(n.name or "")
    return [name for name, classes in made.items() if len(classes) == 1 and name not in apart]


def handles_missing(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is run where an attribute was not set."""
    if handler.type is None:
        return True
    kinds = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(handler.type)}
    return not kinds.isdisjoint(("AttributeError", "Exception", "BaseException"))
