"""The forward and backward functions generated for a user's function, and calls of them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.runtime.closures import captured
from overt.runtime.derivatives import children_of, is_inexact
from overt.runtime.parts import is_array
from overt.transformer import dependencies, transformed
from overt.transformer.pulls import Pullback
from overt.transformer.recording import say
from overt.transformer.transformed import Transformed


def function_pair(
    f: Any, args: tuple[Any, ...], keywords: dict[str, Any], function: Any = None
) -> tuple[Callable, Callable, tuple[Any, ...]] | None:
    """`f_fwd`, `f_bwd` and where each argument goes; None if the call is to be recorded."""
    whole, f = f, function or f
    try:
        bound = transformed.signature_of(f).bind(*args, **keywords)
    except (TypeError, ValueError):
        f(*args, **keywords)  # raises what Python raises
        raise
    active = tuple(
        name
        for name in bound.signature.parameters
        if name in bound.arguments and has_derivative(bound.arguments[name])
    )
    lift = transformed.needs_lifting(args, keywords)
    try:
        fwd, bwd = pair_of(whole, active, lift)
    except Refusal as refusal:
        if not refusal.recordable:
            raise
        say(transformed.name_of(whole), refusal)
        return None
    return fwd, bwd, layout(bound, len(args), keywords)


class FunctionPull:
    """Cotangents by parameter, laid out as the call gave its arguments.

    `kinds` says which parts of the result are floats: only those have a cotangent.
    """

    __slots__ = ("bwd", "slots", "kinds")

    def __init__(self, bwd: Callable[..., Any], slots: tuple[Any, ...], kinds: Any = True) -> None:
        self.bwd, self.slots, self.kinds = bwd, slots, kinds

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        if self.kinds is not True:
            out_bar = of_floats(out_bar, self.kinds)
        if out_bar is None:
            return arranged(
                (None,) * (1 + max((slot[0] for slot in self.slots), default=0)), self.slots
            )
        return arranged(self.bwd(saved, out_bar), self.slots)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionPull):
            return False
        alike = (self.slots, self.kinds) == (other.slots, other.kinds)
        return alike and same_function(self.bwd, other.bwd)

    def __hash__(self) -> int:
        return hash((self.slots, self.kinds))


def same_function(f: Any, g: Any, seen: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Whether two functions have one text and have captured the same: a loop copies functions."""
    if f is g or (id(f), id(g)) in seen:
        return True
    if not (isinstance(f, types.FunctionType) and isinstance(g, types.FunctionType)):
        return False
    if f.__code__ != g.__code__ or f.__globals__ is not g.__globals__:
        return False
    seen |= {(id(f), id(g))}
    pairs = zip(captured(f), captured(g), strict=True)
    return all(same_function(x, y, seen) for x, y in pairs)


def float_parts(out: Any) -> Any:
    """Which parts of a result are floats, as nested tuples; True if all are."""
    parts = children_of(out)
    if parts is None:
        return is_inexact(out) or not is_array(out)
    kinds = tuple(map(float_parts, parts[0]))
    return True if all(kind is True for kind in kinds) else kinds


def of_floats(out_bar: Any, kinds: Any) -> Any:
    """A cotangent without what integers of the result were given."""
    if kinds is True or out_bar is None:
        return out_bar
    parts = children_of(out_bar)
    if kinds is False or parts is None or len(parts[0]) != len(kinds):
        return None if kinds is False else out_bar
    return parts[1]([of_floats(b, k) for b, k in zip(parts[0], kinds, strict=True)])


def layout(
    bound: inspect.BoundArguments, count: int, keywords: dict[str, Any]
) -> tuple[tuple[int, Any], ...]:
    """For each argument of a call, its parameter and where in `*args` or `**kwargs` it is."""
    parameters = list(bound.signature.parameters.values())
    slots: list[tuple[Any, ...]] = []
    plain = [
        i
        for i, p in enumerate(parameters)
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    star = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), None)
    double = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_KEYWORD), None)
    for n in range(count):
        slots.append((plain[n], None) if n < len(plain) else (star, n - len(plain)))
    names = {p.name: i for i, p in enumerate(parameters)}
    for k in keywords:
        known = k in names and parameters[names[k]].kind is not inspect.Parameter.VAR_KEYWORD
        slots.append((names[k], None, k) if known else (double, k, k))
    return tuple(slots)


def arranged(bars: Sequence[Any], slots: tuple[Any, ...]) -> tuple[Any, ...]:
    positional: list[Any] = [None]
    named: dict[str, Any] = {}
    for slot in slots:
        bar = bars[slot[0]]
        if slot[1] is not None and bar is not None:
            bar = bar[slot[1]]
        if len(slot) == 3:
            named[slot[2]] = bar
        else:
            positional.append(bar)
    return (*positional, named) if named else tuple(positional)


@dataclasses.dataclass(frozen=True)
class ArrangedPull:
    """The pullback of a backward function's call: its results go back to their parameters."""

    slots: tuple[tuple[Any, ...], ...]
    count: int

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        bars: list[Any] = [None] * self.count
        positional = list(out_bar)[1:] if out_bar is not None else []
        for slot in self.slots:
            if out_bar is None:
                break
            if len(slot) == 3:
                bars[slot[0]] = out_bar[-1] and out_bar[-1].get(slot[2])
            else:
                bars[slot[0]] = positional.pop(0)
        _, saved_bar, bar_bar = pull(tuple(bars))
        return None, saved_bar, bar_bar


def pair_of(f: Any, active: tuple[str, ...], lift: bool) -> tuple[Callable, Callable]:
    """The live forward and backward function of a user's function."""
    step = f"{transformed.target_of(f).chain}|pair({','.join(active)})"
    ending = "|lift" if lift else ""

    def halves() -> Any:
        from overt.rewrites.reverse import pullback_pair

        return pullback_pair(transformed.source_of(f), active)

    pair = dependencies.shared(halves)

    def make(which: int) -> Any:
        half = pair()[which]
        return transformed.lift(half, outermost=False) if lift else half

    fwd = transformed.alive(f, f"{step}|fwd{ending}", lambda: make(0))
    bwd = transformed.alive(f, f"{step}|bwd{ending}", lambda: make(1))
    if lift:  # where they are differentiated once more, their plain form is
        for which, half in enumerate((fwd, bwd)):
            half.__dict__["__overt_lifts__"] = functools.partial(
                plain_half, weakref.ref(f), active, which
            )
    return fwd, bwd


def plain_half(f: weakref.ref, active: tuple[str, ...], which: int) -> Any:
    """One function of a pair in its plain form; None if what it was made of is gone."""
    function = f()
    return None if function is None else pair_of(function, active, lift=False)[which]


def has_derivative(x: Any) -> bool:
    """Whether some part of an argument is a float, so that a derivative may flow through it."""
    if is_inexact(x):
        return True
    if isinstance(x, (types.FunctionType, types.ModuleType, type, str, bytes)):
        return False
    if isinstance(x, functools.partial):
        return any(map(has_derivative, [*x.args, *x.keywords.values()]))
    if isinstance(x, Transformed):
        return has_derivative(x.__wrapped__)
    if isinstance(x, types.MethodType):
        return has_derivative(x.__self__)
    if isinstance(x, Pullback):
        return True
    parts = children_of(x)
    return parts is not None and any(map(has_derivative, parts[0]))


def is_plain(f: types.FunctionType) -> bool:
    """Whether a function of Overt's own, or made by it, is plain Python for the passes to read."""
    if f.__module__ == "overt.runtime.plain_builtins" or "__overt__" in f.__dict__:
        return True
    return getattr(f, "__overt_plain__", False)


def namedtuple_method(f: types.FunctionType) -> bool:
    return (
        f.__code__.co_filename.startswith("<string>") or "/collections/" in f.__code__.co_filename
    )
