"""Jacobian: a function that runs the tangents, or the cotangents, of all directions at once.

def f_jacfwd(x):
    return columns_of(lambda x_dot: f_jvp(x, x_dot), x)

def f_jacrev(x):
    out, saved = f_fwd(x)
    return rows_of(lambda out_bar: f_bwd(saved, out_bar), out, x)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from overt.rewrites import core
from overt.rewrites.core import Assign, Function, Names, Param, Source, Stmt
from overt.rewrites.forward import jvp
from overt.rewrites.reverse import pullback_pair


def jacobian(source: Source, argnums: int | Sequence[int], reverse: bool, name: str) -> Source:
    """The source of the Jacobian by some positional arguments, and what it calls."""
    main = source.main
    plain = [p for p in main.params if p.kind in ("positional", "normal")]
    many = not isinstance(argnums, int)
    given = [argnums] if isinstance(argnums, int) else argnums
    places = [i % len(plain) for i in given]
    if places != sorted(places):
        raise TypeError(f"overt.source shows Jacobians by arguments in their order, not {argnums}")
    wanted = [plain[i] for i in places]
    active = [core.base(p.name) for p in wanted]
    xs: list[ast.expr] = [core.name(p.name) for p in wanted]
    x = core.tuple_of(xs) if many else xs[0]
    build = by_rows if reverse else by_columns
    made, body, result = build(source, wanted, active, x, many)
    driver = replace(main, name=name, body=body, result=result, doc="", is_lambda=False, users=None)
    functions = {f.name: f for s in made for f in s.functions}
    imports = frozenset().union(*(s.imports for s in made))
    return replace(source, functions=(*functions.values(), driver), imports=imports)


Built = tuple[list[Source], tuple[Stmt, ...], ast.expr]


def by_columns(
    source: Source, wanted: list[Param], active: list[str], x: ast.expr, many: bool
) -> Built:
    made = jvp(source, active)
    own = {core.base(p.name) for p in source.main.params}
    added = [p for p in made.main.params if core.base(p.name) not in own]
    dots = "dots" if many else core.base(added[0].name)
    if all(p.kind == "normal" for p in added):
        last: ast.expr = core.name(dots)
        args = [*arguments(source.main), ast.Starred(last, ast.Load()) if many else last]
        called = ast.Call(core.name(made.main.name), args, keywords(source.main))
    else:
        given = [
            ast.keyword(
                core.base(p.name),
                ast.Subscript(core.name(dots), core.constant(i), ast.Load())
                if many
                else core.name(dots),
            )
            for i, p in enumerate(added)
        ]
        called = ast.Call(
            core.name(made.main.name), arguments(source.main), [*keywords(source.main), *given]
        )
    return [made], (), core.call(core.name("@columns_of"), function_of(dots, called), x)


def by_rows(
    source: Source, wanted: list[Param], active: list[str], x: ast.expr, many: bool
) -> Built:
    fwd, bwd = pullback_pair(source, active, only_active=True)
    names = Names()
    names.reserve(source.main)
    out, saved = names.fresh("out"), names.fresh("saved")
    called = ast.Call(core.name(fwd.main.name), arguments(source.main), keywords(source.main))
    bars: ast.expr = ast.Call(
        core.name(bwd.main.name), [core.name(saved), core.name("out_bar")], []
    )
    if many and len(wanted) == 1:
        bars = core.tuple_of([bars])
    result = core.call(core.name("@rows_of"), function_of("out_bar", bars), core.name(out), x)
    return [fwd, bwd], (Assign((out, saved), called),), result


def function_of(param: str, body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [ast.arg(param)], None, [], [], None, []), body)


def arguments(f: Function) -> list[ast.expr]:
    """A function's own parameters as the positional arguments of a call."""
    given: list[ast.expr] = []
    for p in f.params:
        if p.kind in ("positional", "normal"):
            given.append(core.name(p.name))
        elif p.kind == "star":
            given.append(ast.Starred(core.name(p.name), ast.Load()))
    return given


def keywords(f: Function) -> list[ast.keyword]:
    """The same for those that are given by keyword."""
    return [
        ast.keyword(core.base(p.name) if p.kind == "keyword" else None, core.name(p.name))
        for p in f.params
        if p.kind in ("keyword", "double star")
    ]
