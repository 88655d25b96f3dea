"""Reverse mode: a forward sweep that keeps what is needed, then the reverse sweep under it.

def f(x):                 def f_grad(x):
    y = x * x                 # forward
    return np.sin(y)   ->     y = x * x
                              # reverse
                              y_bar = np.cos(y)
                              return 2.0 * x * y_bar
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from overt.rewrites import core
from overt.rewrites.algebra import plainer
from overt.rewrites.bars import np_call
from overt.rewrites.core import (
    Function,
    Names,
    Note,
    Param,
    Source,
    Stmt,
)
from overt.rewrites.flatten import flatten
from overt.rewrites.functional_updates import joined
from overt.rewrites.hoist import hoist
from overt.rewrites.local_objects import or_by_fields
from overt.rewrites.nesting import is_key, unchanging
from overt.rewrites.program import Program
from overt.rewrites.refusal import Refusal
from overt.rewrites.reverse_branches import is_comparison
from overt.rewrites.shapes import Shapes
from overt.rewrites.simplify import simplify
from overt.rewrites.sweep import Sweep
from overt.rewrites.unset import with_placeholders


@or_by_fields
def gradient(
    source: Source, argnums: int | Sequence[int] = 0, value: bool = False, has_aux: bool = False
) -> Source:
    """Source of a function that gives the gradient, or value and gradient, of a scalar function."""
    program = Program(hoist(source))
    main = program.main
    whole = main.result
    if has_aux and not is_pair(whole):
        main, whole = unpacked(main)
    wanted = [argnums] if isinstance(argnums, int) else list(argnums)
    places = [parameter_at(main, n) for n in wanted]
    sweep = begun(program, main, {p.name for p, _ in places})
    result, aux = sweep.function.result, None
    if has_aux:
        assert is_pair(result)
        result, aux = result.elts
    sweep.seed(result)
    forward, reverse = sweep.run()
    bars = [plainer(sweep.final(p.name, item)) for p, item in places]
    reverse = tuple(sweep.out)
    pair = program.made.get(("pair", main.name, frozenset(p.name for p, _ in places)))
    if pair and not has_aux and all(item is None for _, item in places):
        forward, reverse, result, bars = of_pair(sweep, main, pair, [p for p, _ in places])
    gradient_: ast.expr = bars[0] if isinstance(argnums, int) else core.tuple_of(bars)
    if value:
        forward = with_line(forward, result, main.result_origin)
        primal = result
        if has_aux:
            primal = sweep.function.result if is_pair(whole) else whole
        returned: ast.expr = core.tuple_of([primal, gradient_])
    elif aux is not None:
        returned = core.tuple_of([gradient_, aux])
    else:
        returned = gradient_
    name = f"{main.name}_{'value_and_grad' if value else 'grad'}"
    function = replace(
        sweep.function,
        name=name,
        body=headed(forward, reverse),
        result=returned,
        result_origin=first_line(main),
        doc="",
        is_lambda=False,
        users=(0,) if value else (1,) if has_aux else (),
    )
    return program.finished(function)


def with_line(forward: tuple[Stmt, ...], result: ast.expr, origin: core.Origin) -> tuple[Stmt, ...]:
    """The forward sweep, the statement of its result being the line in which the user returns it.

    So it stays a statement, and an error in it tells of another line than one in the reverse.
    """
    name = result.id if isinstance(result, ast.Name) else ""
    return tuple(
        replace(s, origin=origin)
        if isinstance(s, core.Assign) and s.target == name and not s.origin.line
        else s
        for s in forward
    )


def of_pair(
    sweep: Sweep, main: Function, pair: str, wanted: list[Param]
) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...], ast.expr, list[ast.expr]]:
    """The gradient of a function that calls itself, by the pair of functions that it needs anyway.

    Forward and reverse statements, the result, the cotangents of the wanted parameters.
    """
    fwd, bwd = pair.split()
    names = sweep.names
    result, saved = names.fresh("result"), names.fresh("saved")
    args: list[ast.expr] = [core.name(p.name) for p in main.params]
    forward = core.Assign((result, saved), ast.Call(core.name(fwd), args, []))
    one = np_call("ones_like", core.name(result))
    called = ast.Call(core.name(bwd), [core.name(saved), one], [])
    active = [p for p in main.params if p in wanted]
    held = {p.name: names.fresh(f"{core.base(p.name)}_bar") for p in active}
    target = held[active[0].name] if len(active) == 1 else tuple(held.values())
    reverse = core.Assign(target, called)
    bars: list[ast.expr] = [core.name(held[p.name]) for p in wanted]
    return (forward,), (reverse,), core.name(result), bars


def headed(forward: tuple[Stmt, ...], reverse: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    forward = tuple(s for s in forward if not isinstance(s, Note))
    return (Note("# forward"), *forward, Note("# reverse"), *reverse)


def begun(program: Program, function: Function, active: set[str], lasts: bool = False) -> Sweep:
    """A sweep over a function, flattened and with its shapes known.

    `lasts` says that the reverse sweep is run after the function has returned.
    """
    names = Names()
    names.reserve(function)
    function = core.map_function(function, joined)
    try:
        flat, activity = flatten(function, active, program.resolver, names, lasts)
    except Refusal as refusal:
        raise program.located(refusal, function) from None
    shapes = Shapes(program.resolver)
    shapes.function(flat, active)
    return Sweep(program, flat, activity, shapes, names)


def parameter_at(function: Function, argnum: int) -> tuple[Param, int | None]:
    """The parameter that receives a positional argument, and where in `*args` it is."""
    plain = [p for p in function.params if p.kind in ("positional", "normal")]
    star = next((p for p in function.params if p.kind == "star"), None)
    if argnum < 0:
        argnum += len(plain)
    if 0 <= argnum < len(plain):
        return plain[argnum], None
    if star is not None:
        return star, argnum - len(plain)
    raise TypeError(
        f"{function.name} takes {len(plain)} positional arguments, so argnums cannot "
        f"contain {argnum}"
    )


def is_pair(result: ast.expr) -> TypeGuard[ast.Tuple | ast.List]:
    """Whether a result is written as (value, aux)."""
    return isinstance(result, (ast.Tuple, ast.List)) and len(result.elts) == 2


def unpacked(function: Function) -> tuple[Function, ast.expr]:
    """A function that takes its result apart, as `value, aux = result`; the name of the whole."""
    names = Names()
    names.reserve(function)
    whole, body = function.result, function.body
    if not isinstance(whole, ast.Name):
        result = names.fresh("result")
        body = (*body, core.Assign(result, whole, function.result_origin))
        whole = core.name(result)
    value, aux = names.fresh("value"), names.fresh("aux")
    body = (*body, core.Assign((value, aux), whole))
    pair = core.tuple_of([core.name(value), core.name(aux)])
    return replace(function, body=body, result=pair), whole


@or_by_fields
def pullback_pair(
    source: Source, active: Sequence[str] | None = None, only_active: bool = False
) -> tuple[Source, Source]:
    """Two functions: `f_fwd(args) -> result, saved`, `f_bwd(saved, result_bar) -> args_bar`.

    `active` names the parameters with a derivative (all, if not given); the others' cotangents are
    None, or with `only_active` left out.
    """
    program = Program(hoist(source))
    program.of_pair = True
    main = program.main
    known = {core.base(p.name) for p in main.params}
    chosen = set(active) if active is not None else known
    if not chosen <= known:
        raise ValueError(f"{main.name} has no parameters {sorted(chosen - known)}")
    fwd, bwd = build_pair(
        program,
        main,
        frozenset(p.name for p in main.params if core.base(p.name) in chosen),
        only_active,
    )
    return program.finished(fwd), program.finished(bwd)


def build_pair(
    program: Program, main: Function, active: frozenset[str], only_active: bool = False
) -> tuple[Function, Function]:
    """The forward and the backward function of one function.

    The backward one gives a cotangent for every parameter, or with `only_active` for the active
    ones.
    """
    sweep = begun(program, main, set(active), lasts=True)
    out_bar = sweep.names.fresh(bar_name(main))
    sweep.shapes.known[out_bar] = sweep.shapes.of(sweep.function.result) or frozenset([out_bar])
    sweep.give(sweep.function.result, core.name(out_bar), array=False)
    forward, _ = sweep.run()
    program.arrays[main.name, active] = sweep.arrays(p.name for p in main.params)
    bars = [
        sweep.final(p.name, None) if p.name in active else core.constant(None)
        for p in main.params
        if p.name in active or not only_active
    ]
    body = tuple(sweep.out)
    returned = bars[0] if only_active and len(bars) == 1 else core.tuple_of(bars)
    draft = replace(main, params=(), body=body, result=returned, doc="", is_lambda=False)
    chosen = items_of_parameters(main, forward)
    draft = simplify(core.map_function(draft, lambda e: core.substitute(e, chosen)), program)
    defined = core.assigned(forward) | {p.name for p in main.params}
    read = core.free(draft.body) | (core.reads(draft.result) - core.assigned(draft.body))
    order = dict.fromkeys([*(p.name for p in main.params), *core.positions(forward)])
    kept = [n for n in order if n in read & defined]
    forward = with_placeholders(forward, set(kept))
    saved = sweep.names.fresh("saved")
    held: ast.expr = core.tuple_of([core.name(n) for n in kept])
    unpack: tuple[Stmt, ...] = ()
    if len(kept) == 1:
        saved, held = kept[0], core.name(kept[0])
    elif kept:
        unpack = (core.Assign(tuple(kept), core.name(saved)),)
        packed = sweep.names.fresh("saved")
        forward = (*forward, core.Assign(packed, held))
        held = core.name(packed)
    fwd = replace(
        sweep.function,
        name=program.fresh_global(f"{main.name}_fwd"),
        body=forward,
        result=core.tuple_of([sweep.function.result, held]),
        doc="",
        is_lambda=False,
        users=None,
    )
    bwd = replace(
        draft,
        name=program.fresh_global(f"{main.name}_bwd"),
        params=(Param(saved), Param(out_bar)),
        body=(*unpack, *draft.body),
        result_origin=first_line(main),
    )
    return fwd, bwd


def items_of_parameters(main: Function, forward: tuple[Stmt, ...]) -> dict[str, ast.expr]:
    """Parts of statements that only take an item out of a parameter, or compare it with a number:
    it is taken out or compared again.
    """
    found: dict[str, ast.expr] = {}
    constant = unchanging(main)
    for s in core.walk(forward):
        if isinstance(s, core.Assign) and isinstance(s.target, str) and core.is_part(s.origin):
            value = s.value
            if is_comparison(value) and core.reads(value) <= constant:
                found[s.target] = value
            if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
                same = value.value.id in constant and not getattr(value, "changing", False)
                if same and is_key(value.slice):
                    found[s.target] = value
    return found


def first_line(main: Function) -> core.Origin:
    """The origin of a gradient's result: the last to be undone is the function's first line."""
    lines = [s.origin for s in core.walk(main.body) if s.origin.line]
    return core.undoing(core.NOWHERE, lines[0] if lines else main.result_origin)


def bar_name(main: Function) -> str:
    """A name for the result's cotangent that is not among the parameters."""
    taken, name = {core.base(p.name) for p in main.params}, "out_bar"
    while name in taken:
        name += "_bar"
    return name


def build_bwd(program: Program, main: Function, active: frozenset[str]) -> Function:
    """A function of the arguments and the result's cotangent that gives the arguments' ones."""
    sweep = begun(program, main, set(active))
    out_bar = sweep.names.fresh(bar_name(main))
    sweep.shapes.known[out_bar] = sweep.shapes.of(sweep.function.result) or frozenset([out_bar])
    sweep.give(sweep.function.result, core.name(out_bar), array=False)
    forward, _ = sweep.run()
    program.arrays[main.name, active] = sweep.arrays(p.name for p in main.params)
    bars = [sweep.final(p.name, None) for p in main.params if p.name in active]
    return replace(
        sweep.function,
        name=program.fresh_global(f"{main.name}_bwd"),
        params=(*[replace(p, default=None) for p in main.params], Param(out_bar)),
        body=(*forward, *sweep.out),
        result=bars[0] if len(bars) == 1 else core.tuple_of(bars),
        result_origin=first_line(main),
        doc="",
        is_lambda=False,
    )


__all__ = ["gradient", "pullback_pair"]
