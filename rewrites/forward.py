"""Derivative, forward mode: under each statement the one that carries its tangent along.

def f(x):                 def f_jvp(x, x_dot):
    y = x * x                 y = x * x
    return np.sin(y)   ->     y_dot = 2.0 * x * x_dot
                              return np.sin(y), np.cos(y) * y_dot
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.core import Assign, Block, For, Function, If, Names, Param, Source, While, With
from overt.rewrites.effects import changes_contents
from overt.rewrites.flatten import flatten
from overt.rewrites.hoist import hoist
from overt.rewrites.liveness import uses_of
from overt.rewrites.local_objects import or_by_fields
from overt.rewrites.program import Program
from overt.rewrites.refusal import Refusal
from overt.rewrites.scopes import SET_ITEM
from overt.rewrites.shapes import Shapes
from overt.rewrites.tangents import Tangents
from overt.rewrites.zeroed import zeroed_names


@or_by_fields
def jvp(source: Source, active: Sequence[str] | None = None, number_keys: bool = False) -> Source:
    """The source of `f_jvp(x, y, x_dot, y_dot) -> (result, result_dot)`.

    `active` names the parameters with a tangent (all, if not given). With `number_keys`, what they
    hold are dictionaries whose keys are numbers: iterating gives keys, which have no tangents.
    """
    program = Program(hoist(source))
    program.number_keys = number_keys or any(map(makes_number_keys, source.functions))
    main = program.main
    chosen = [core.base(p.name) for p in main.params] if active is None else list(active)
    places = tuple(i for i, p in enumerate(main.params) if core.base(p.name) in chosen)
    name = f"{main.name}_jvp"
    program.generated[name] = main  # keeps the name
    if is_plain(main.params):
        program.made["jvp", main.name, frozenset(main.params[i].name for i in places)] = name
    built = Forward(program).function(main, places, name, inner=False)
    done = program.finished(built)
    functions = tuple(replace(f, body=ordered(f.body)) for f in done.functions)
    return replace(done, functions=functions)


def makes_number_keys(f: Function) -> bool:
    """Whether a function makes dictionaries with keys that may be numbers."""
    found = stores = False

    def look(node: ast.expr) -> ast.expr:
        nonlocal found, stores
        for n in ast.walk(node):
            if isinstance(n, ast.Dict):
                stores |= not n.keys
                found |= any(k is not None and not is_text(k) for k in n.keys)
            elif isinstance(n, ast.Call) and core.is_call_of(n, *SET_ITEM) and len(n.args) > 1:
                stored.append(n.args[1])
        return node

    stored: list[ast.expr] = []
    core.map_function(f, look)
    return found or stores and not all(map(is_text, stored))


def is_text(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def tangent_names(params: Sequence[str], active: Sequence[str]) -> dict[str, str]:
    """The tangent parameter of each active one.

    >>> tangent_names(["x", "x_dot"], ["x"])
    {'x': 'x_dot_2'}
    """
    taken, found = set(params), {}
    for p in params:
        if p in active:
            name, number = f"{p}_dot", 2
            while name in taken:
                name, number = f"{p}_dot_{number}", number + 1
            taken.add(name)
            found[p] = name
    return found


def changes_parameters(f: Function) -> bool:
    """Whether a function that stood in another one changes containers that it had from there."""
    names = {p.name for p in f.params}
    for s in core.walk(f.body):
        node = s.node if isinstance(s, core.Do) else None
        changed: list[ast.expr] = []
        if isinstance(node, ast.Expr) and changes_contents(node):
            changed = [node.value.func.value]  # type: ignore[attr-defined]
        elif isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
            changed = [t.value for t in targets if isinstance(t, ast.Subscript | ast.Attribute)]
        if any(core.reads(c) & names for c in changed):
            return True
    return False


class Forward:
    """Builds the tangent functions of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.refused: set[str] = set()

    def callee(self, inner: Function, active: tuple[int, ...]) -> str | None:
        """The name of the tangent function of one that the text calls; None if it has none."""
        if any(p.kind not in ("positional", "normal") for p in inner.params) or inner.cells:
            return None
        key = ("jvp", inner.name, frozenset(inner.params[i].name for i in active))
        if inner.name in self.refused:
            return None
        made = self.program.made
        if key not in made:
            made[key] = self.program.fresh_global(f"{inner.name}_jvp")
            self.program.generated[made[key]] = inner  # keeps the name
            try:
                built = self.function(inner, active, made[key], inner=True)
            except Refusal as refusal:
                if changes_parameters(inner) or getattr(refusal, "of_whole", False):
                    refusal.of_whole = True  # type: ignore[attr-defined]
                    raise  # its text alone would not change what it has from around it
                del self.program.generated[made.pop(key)]
                self.refused.add(inner.name)
                return None
            self.program.generated[made[key]] = built
            if self.program.is_straight(inner):
                self.program.pure |= {made[key], inner.name}
        return made[key]

    def function(self, f: Function, active: tuple[int, ...], name: str, inner: bool) -> Function:
        names = Names()
        names.reserve(f)
        moving = [f.params[i] for i in active]
        try:
            flat, activity = flatten(f, {p.name for p in moving}, self.program.resolver, names)
            shapes = Shapes(self.program.resolver)
            shapes.function(flat)
            walk = Tangents(self.program, activity, shapes, names, uses_of(flat), self.callee)
            walk.zeroed = zeroed_names(flat) if self.program.given_selects else None
            walk.leaves = f.name.endswith("_fwd")
            stems = tangent_names(
                [core.base(p.name) for p in f.params], [core.base(p.name) for p in moving]
            )
            added = []
            for p in moving:
                dot = names.fresh(stems[core.base(p.name)])
                shapes.known[dot] = shapes.known[p.name]
                walk.dots[p.name] = core.name(dot)
                added.append(Param(dot))
            body = walk.block(flat.body)
            result = core.tuple_of([flat.result, walk.full(flat.result)])
        except Refusal as refusal:
            raise self.program.located(refusal, f) from None
        return replace(
            flat,
            name=name,
            params=parameters(flat.params, tuple(added), inner),
            body=body,
            result=result,
            doc="",
            is_lambda=False,
            users=(0,),
        )


def parameters(
    params: tuple[Param, ...], added: tuple[Param, ...], inner: bool
) -> tuple[Param, ...]:
    """The parameters with those of the tangents; by keyword where they cannot stand behind."""
    if inner:
        return (*(replace(p, default=None) for p in params), *added)
    if is_plain(params):
        return (*params, *added)
    named = tuple(replace(p, kind="keyword") for p in added)
    if params and params[-1].kind == "double star":
        return (*params[:-1], *named, params[-1])
    return (*params, *named)


def is_plain(params: tuple[Param, ...]) -> bool:
    return all(p.kind in ("positional", "normal") and p.default is None for p in params)


# --- order ---------------------------------------------------------------------------------------


def ordered(block: Block) -> Block:
    """Tangents that read the former value of a name come before the statement that changes it."""
    done = [within(s) for s in block]
    for i in range(len(done) - 1):
        value, tangent = done[i], done[i + 1]
        if (
            isinstance(value, Assign)
            and isinstance(tangent, Assign)
            and value.origin.line
            and core.is_tangent(tangent.origin)
            and value.origin.line == tangent.origin.undoes[1]
            and not has_call(tangent.value, "@jvp_of")
        ):
            targets = set(core.pattern_names(value.target))
            seen = core.reads(tangent.value)
            former = {core.base(t) for t in targets} & {
                core.base(n) for n in seen - targets if core.is_local(n)
            }
            if former and not seen & targets:
                done[i], done[i + 1] = with_comments(tangent, value), silent(value)
    return tuple(done)


def with_comments(first: Assign, second: Assign) -> Assign:
    return replace(first, origin=replace(first.origin, above=second.origin.above))


def silent(s: Assign) -> Assign:
    return replace(s, origin=replace(s.origin, above=()))


def has_call(node: ast.expr, helper: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == helper for n in ast.walk(node))


def within(s: core.Stmt) -> core.Stmt:
    if isinstance(s, If):
        return replace(s, then=ordered(s.then), orelse=ordered(s.orelse))
    if isinstance(s, For | While | With):
        return replace(s, body=ordered(s.body))
    return s


__all__ = ["jvp", "tangent_names"]
