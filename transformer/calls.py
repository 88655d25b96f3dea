"""Calls in derivative code whose function is known only when the code runs.

`y, pull = vjp_of(f, x)` calls f and gives its pullback: `f_bar, x_bar = pull(y_bar)`.  What f is
decides how: a function with a rule, a user's function (its pair is generated on demand), a method,
a partial, a container's method, a class, a transformed function; anything else is recorded by its
primitives' rules.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import inspect
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.runtime.containers import appended, changed, popped
from overt.runtime.cotangents import Moved, Token, move, shapes_in, stack_of
from overt.runtime.derivatives import add, children_of, is_inexact, zeros_like_tree
from overt.runtime.escape import KEPT, Escape, held_by, is_kept, settled, unchanged
from overt.runtime.numpy.indexing import set_item
from overt.runtime.parts import is_array, parts_of
from overt.runtime.plain_builtins import PLAIN, map_of, max_by, min_by, reduce_rest
from overt.runtime.primitive import rule_of
from overt.runtime.record import vjp_call
from overt.runtime.tangents import class_has_operators
from overt.runtime.tree_registry import register_pytree_node
from overt.runtime.world import is_users_object
from overt.transformer import dependencies, transformed
from overt.transformer.held import (
    LinearFunction,
    closed,
    cotangents,
    is_wrapper,
    opened,
    opened_bars,
    shifted,
)
from overt.transformer.pullbacks import VjpFunction
from overt.transformer.recording import must_leave, say
from overt.transformer.transformed import Transformed

MOVERS = (list, tuple, dict, zip, enumerate, reversed, popped, changed)
CHANGERS = (appended, changed, popped, set_item)  # on an object of the user's: a method of its own
CACHES = (functools.cache, functools.lru_cache)
CACHED = type(functools.cache(len))
COPIES = (copy.copy, copy.deepcopy)
CONTAINERS = (list, tuple, dict, set, types.MappingProxyType)


class Pullback:
    """What one call leaves for its reverse: the backward function and what was saved for it.

    Called with the result's cotangent it gives `(f_bar, *args_bar)`, and last a dictionary of those
    of the keyword arguments, if there were any.
    """

    __slots__ = ("bwd", "saved")

    def __init__(self, bwd: Callable[[Any, Any], Any], saved: Any) -> None:
        self.bwd, self.saved = bwd, saved

    def __call__(self, out_bar: Any) -> Any:
        return self.bwd(self.saved, out_bar)


def parts_of_pullback(p: Pullback) -> tuple[tuple[Any], Any]:
    """What was recorded cannot leave its recording: its parts are the arguments of the call."""
    if p.bwd in RECORDS:
        p = p.saved.again(p.bwd)
    return (p.saved,), p.bwd


register_pytree_node(Pullback, parts_of_pullback, lambda bwd, kids: Pullback(bwd, kids[0]))


def vjp_of(f: Any, *args: Any, **keywords: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Call `f`; its result, and the pullback from its cotangent to those of f and its arguments."""
    saved_or_none = call_pair(f, args, keywords)
    if saved_or_none is not None:
        return saved_or_none
    return recorded(f, args, keywords)


def call_pair(f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The ways to differentiate a call that are better than recording it; None if there is none."""
    f = transformed.unlifted(f)
    if f is vjp_of:
        return differentiated_vjp(args, keywords)
    if is_wrapper(f):
        return of_wrapper(f, args, keywords)
    if f in CACHES and args and callable(args[0]):  # what it saves is no matter of derivatives
        return args[0], Pullback(WrapPull(len(args), tuple(keywords)), ())
    if f in COPIES and len(args) == 1:
        return f(*args), Pullback(WrapPull(1, ()), ())
    if f is dataclasses.replace and not hasattr(type(args[0]), "__post_init__"):
        return f(*args, **keywords), Pullback(ReplacePull(tuple(keywords)), args[0])
    if isinstance(f, CACHED):
        return vjp_of(f.__wrapped__, *args, **keywords)
    if isinstance(f, Pullback):
        if f.bwd in RECORDS:  # the values of a recording have no derivative after it
            f = f.saved.again(f.bwd)
        out, pull = vjp_of(f.bwd, f.saved, *args)
        return out, Pullback(PullOfPullback(f.bwd), pull)
    if isinstance(f, FunctionPull) and all(slot[1] is None for slot in f.slots):
        saved, out_bar = args
        bars, pull = of_generated(f.bwd, (saved, of_floats(out_bar, f.kinds)), {})
        return arranged(bars, f.slots), Pullback(ArrangedPull(f.slots, len(bars)), pull)
    if isinstance(f, PartialPull):
        held, out_bar = args
        bars, pull = vjp_of(held, out_bar)
        return f(lambda _: bars, None), Pullback(f.joined, pull)
    if isinstance(f, VjpFunction | LinearFunction):
        out, pull = recorded_call(in_its_form, (f, *args), keywords)
        return out, Pullback(shifted_record, pull)
    if isinstance(f, functools.partial):
        return of_partial(f, args, keywords)
    if isinstance(f, types.MethodType):
        if isinstance(f.__func__, types.FunctionType | Transformed):
            return of_method(f, args, keywords)
        return None
    if isinstance(f, types.BuiltinMethodType) and isinstance(f.__self__, CONTAINERS):
        return moved(f.__self__, functools.partial(call_method, f.__name__), args, keywords)
    found = of_builtin(f, args, keywords)
    if found is not None:
        return found
    if any(f is c for c in CHANGERS) and args and is_users_object(args[0]):
        raise Escape(args[0], KEPT)
    if f is set_item and not is_array(args[0]):
        return moved(None, f, args, keywords)
    if is_mover(f) and not any(map(has_derivative, keywords.values())):
        return moved(None, f, args, keywords)
    if isinstance(f, type):
        return of_class(f, args, keywords)
    if isinstance(f, Transformed):
        return of_transformed(f, args, keywords)
    if rule_of(f) is not None:
        return None
    if isinstance(f, types.FunctionType):
        if namedtuple_method(f):
            return None
        return of_function(f, args, keywords) if transformed.is_users(f) or is_plain(f) else None
    call = transformed.call_method(f)
    if call is not None:
        return of_method(types.MethodType(call, f), args, keywords)
    return None


def is_mover(f: Any) -> bool:
    return any(f is mover for mover in MOVERS)


def is_plain(f: types.FunctionType) -> bool:
    """Whether a function of Overt's own, or made by it, is plain Python for the passes to read."""
    if f.__module__ == "overt.runtime.plain_builtins" or "__overt__" in f.__dict__:
        return True
    return getattr(f, "__overt_plain__", False)


def namedtuple_method(f: types.FunctionType) -> bool:
    return (
        f.__code__.co_filename.startswith("<string>") or "/collections/" in f.__code__.co_filename
    )


# --- the user's functions -------------------------------------------------------------------------


def of_function(
    f: Any, args: tuple[Any, ...], keywords: dict[str, Any], function: Any = None
) -> Any:
    """By the pair `f_fwd`, `f_bwd` generated from the function's source."""
    pair = function_pair(f, args, keywords, function)
    if pair is None:
        return None
    fwd, bwd, slots = pair
    out, saved = fwd(*args, **keywords)
    return out, Pullback(FunctionPull(bwd, slots, float_parts(out)), saved)


def of_generated(f: Callable, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A forward or backward function: its text is differentiated like the user's."""
    return of_function(transformed.unlifted(f), args, keywords) or recorded(f, args, keywords)


def function_pair(
    f: Any, args: tuple[Any, ...], keywords: dict[str, Any], function: Any = None
) -> tuple[Callable, Callable, tuple[Any, ...]] | None:
    """`f_fwd`, `f_bwd` and where each argument goes; None if the call is to be recorded."""
    whole, f = f, function or f
    try:
        bound = inspect.signature(f, follow_wrapped=False).bind(*args, **keywords)
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
        if out_bar is None:
            return arranged(
                (None,) * (1 + max((slot[0] for slot in self.slots), default=0)), self.slots
            )
        if self.kinds is not True:
            out_bar = of_floats(out_bar, self.kinds)
        return arranged(self.bwd(saved, out_bar), self.slots)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionPull):
            return False
        return (self.bwd, self.slots, self.kinds) == (other.bwd, other.slots, other.kinds)

    def __hash__(self) -> int:
        return hash((id(self.bwd), self.slots, self.kinds))


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
        return transformed.lift(half) if lift else half

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


# --- callables that hold a function ---------------------------------------------------------------


def of_method(f: types.MethodType, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    out, pull = vjp_of(f.__func__, f.__self__, *args, **keywords)
    return out, Pullback(drop_function, pull)


def apply_to(f: Any, *args: Any) -> Any:
    return f(*args)


def drop_function(pull: Any, out_bar: Any) -> Any:
    """`self` takes the place of the function: a method's cotangent is that of its object."""
    return pull(out_bar)[1:]


def of_partial(f: functools.partial, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    every = {**f.keywords, **keywords}
    out, pull = vjp_of(f.func, *f.args, *args, **every)
    return out, Pullback(
        PartialPull(len(f.args), len(args), tuple(f.keywords), tuple(keywords)), pull
    )


@dataclasses.dataclass(frozen=True)
class PartialPull:
    """Cotangents of a partial's own arguments, apart from those of the call."""

    held: int
    given: int
    held_names: tuple[str, ...]
    names: tuple[str, ...]

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        bars = pull(out_bar)
        named = bars[-1] if self.held_names or self.names else {}
        own = bars[1 : 1 + self.held]
        rest = bars[1 + self.held : 1 + self.held + self.given]
        kept = {k: named[k] for k in self.held_names if k not in self.names}
        mine = (tuple(own), kept)
        passed = {k: named[k] for k in self.names}
        return (mine, *rest, passed) if passed else (mine, *rest)

    def joined(self, pull: Any, out_bar: Any) -> Any:
        """The pullback of this split: its result's cotangents, put together again."""
        mine, *rest = out_bar if out_bar is not None else (None,) * (1 + self.given)
        own, kept = mine if mine is not None else ((None,) * self.held, {})
        passed = rest.pop() if self.names and len(rest) > self.given else {}
        bars = (None, *own, *rest)
        named = {**(kept or {}), **(passed or {})}
        return (None, *pull((*bars, named) if self.held_names or self.names else bars))


@dataclasses.dataclass(frozen=True)
class PullOfPullback:
    """The cotangent of a pullback is a pullback that holds that of what it saved."""

    bwd: Any

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        _, saved_bar, *bars = pull(out_bar)
        return (None if saved_bar is None else Pullback(self.bwd, saved_bar), *bars)


def differentiated_vjp(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """`vjp_of(vjp_of, f, x)`: the derivative of the forward half of a pair."""
    f, *rest = args
    f = transformed.unlifted(f)
    if getattr(f, "policy", None) is not None:  # what it keeps would have no derivative
        f = type(f)(f.__wrapped__)
    if isinstance(f, Transformed) and has_derivative(f) and not is_as_wrapped(f):
        found = shifted(f, len(rest))
        if found is not None:
            return differentiated_vjp_of_held(*found, rest, keywords)
    if isinstance(f, functools.partial):
        every = {**f.keywords, **keywords}
        (y, pull), outer = vjp_of(vjp_of, f.func, *f.args, *rest, **every)
        split = PartialPull(len(f.args), len(rest), tuple(f.keywords), tuple(keywords))
        return (y, Pullback(split, pull)), Pullback(PartialVjpPull(split), outer)
    if isinstance(f, types.FunctionType) and (transformed.is_users(f) or is_plain(f)):
        pair = function_pair(f, tuple(rest), keywords)
        if pair is not None:
            fwd, bwd, slots = pair
            (y, saved), outer = of_generated(fwd, tuple(rest), keywords)
            pull = Pullback(FunctionPull(bwd, slots, float_parts(y)), saved)
            return (y, pull), Pullback(pulled_vjp, outer)
    y, pull = vjp_of(f, *rest, **keywords)
    if not isinstance(pull, Pullback):
        return None
    if pull.saved == ():  # it only moves things about, whatever their values
        return (y, pull), Pullback(Unchanged(), pull)
    if pull.bwd in RECORDS:  # what was recorded cannot leave its recording: record it again
        again = RecomputeVjp(bool(keywords), pull.bwd is shifted_record)
        return (y, pull.saved.again(pull.bwd)), Pullback(again, pull)

    def run(opened_f: Any, opened_rest: Any, opened_named: Any) -> Any:
        return parted(vjp_of(closed(opened_f), *closed(opened_rest), **closed(opened_named)))

    (y, saved), outer = vjp_call(run, opened(f), opened(tuple(rest)), opened(keywords))
    return (y, Pullback(pull.bwd, saved)), Pullback(VjpPull(bool(keywords)), outer)


def of_wrapper(f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Wrapping a function: the result's cotangent is the function's."""
    return f(*args, **keywords), Pullback(WrapPull(len(args), tuple(keywords)), ())


def parted(result: tuple[Any, Any]) -> tuple[Any, Any]:
    y, pull = result
    return y, pull.saved


def differentiated_vjp_of_held(
    f: Any, held: tuple[Any, ...], rest: list[Any], keywords: dict[str, Any]
) -> Any:
    """`vjp_of(vjp_of, g, x)` where g holds arguments of f."""
    (y, pull), outer = vjp_of(vjp_of, f, *held, *rest, **keywords)
    split = PartialPull(len(held), len(rest), (), tuple(keywords))
    return (y, Pullback(split, pull)), Pullback(PartialVjpPull(split), outer)


@dataclasses.dataclass(frozen=True)
class Unchanged:
    """The pullback of making a pullback that holds nothing."""

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        return (None, *pull(bare(out_bar)[0]))


@dataclasses.dataclass(frozen=True)
class VjpPull:
    """The pullback of a call of `vjp_of`."""

    named: bool

    def __call__(self, outer: Any, out_bar: Any) -> Any:
        f_bar, rest_bars, named = cotangents(outer(bare(out_bar)))
        bars = (None, f_bar, *rest_bars)
        return (*bars, named) if self.named else bars


@dataclasses.dataclass(frozen=True)
class PartialVjpPull:
    """The pullback of a call of `vjp_of` with a partial."""

    split: PartialPull

    def __call__(self, outer: Any, out_bar: Any) -> Any:
        _, *bars = outer(bare(out_bar))
        return (None, *self.split(lambda _: bars, None))


@dataclasses.dataclass(frozen=True)
class RecomputeVjp:
    """The pullback of a call of `vjp_of` whose own pullback holds the arguments."""

    named: bool
    shifted: bool = False  # these arguments begin with the function

    def __call__(self, pull: Any, out_bar: Any) -> Any:
        y_bar, saved_bar = bare(out_bar)
        f_bar, *bars = pull(y_bar)
        rest_bar, named_bar = saved_bar if saved_bar is not None else ((), {})
        if self.shifted and rest_bar:
            f_bar, rest_bar = add(f_bar, rest_bar[0]), rest_bar[1:]
        if self.named:
            named = bars.pop()
            bars.append({k: add(v, (named_bar or {}).get(k)) for k, v in named.items()})
        for i, bar in enumerate(rest_bar or ()):
            bars[i] = add(bars[i], bar)
        return (None, f_bar, *bars)


def pulled_vjp(outer: Any, out_bar: Any) -> Any:
    return (None, *outer(bare(out_bar)))


def bare(out_bar: Any) -> Any:
    """The cotangent of (result, pullback) as that of (result, what the pullback saved)."""
    y_bar, pull_bar = out_bar if out_bar is not None else (None, None)
    return y_bar, pull_bar.saved if isinstance(pull_bar, Pullback) else pull_bar


def of_transformed(f: Transformed, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A transformed function, by the source of what it does."""
    from overt.transformer.batched_calls import vjp_of_vmap
    from overt.transformer.checkify import Checkified
    from overt.transformer.identity import Checkpoint, Identity
    from overt.transformer.jit import Jitted
    from overt.transformer.vectorize import Vmap

    if isinstance(f, Checkified):
        error, (out, pull) = f.running(vjp_of)(f.__wrapped__, *args, **keywords)
        return (error, out), Pullback(of_result, pull)
    if has_derivative(f) and not is_as_wrapped(f):
        return of_held(f, args, keywords)
    if isinstance(f, Checkpoint):
        from overt.transformer.checkpointing import vjp_of_checkpoint

        return vjp_of_checkpoint(f, args, keywords)
    if isinstance(f, (Jitted, Identity)):
        return vjp_of(f.__wrapped__, *args, **keywords)
    if isinstance(f, Vmap) and not keywords:
        found = vjp_of_vmap(f, args, vjp_of)
        if found is None:
            return None
        out, saved, bwd = found
        return out, Pullback(bwd, saved)
    target = transformed.target_of(f)
    if transformed.has_source(f) and not (target.prefix or target.keywords):
        return of_function(f, args, keywords)
    return None


def of_result(pull: Any, out_bar: Any) -> Any:
    """Of (error, result), the result alone has a derivative."""
    return pull(None if out_bar is None else out_bar[1])


def is_as_wrapped(f: Transformed) -> bool:
    """Whether a transformed function has the derivative of the function it wraps."""
    from overt.transformer.identity import Checkpoint, Identity
    from overt.transformer.jit import Jitted

    return isinstance(f, (Jitted, Identity)) and not isinstance(f, Checkpoint)


def of_held(f: Transformed, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A transformation of a function that holds values with a derivative."""
    found = shifted(f, len(args))
    if found is None:
        return recorded(f, args, keywords)
    function, held = found
    out, pull = vjp_of(function, *held, *args, **keywords)
    return out, Pullback(PartialPull(len(held), len(args), (), tuple(keywords)), pull)


@dataclasses.dataclass(frozen=True)
class WrapPull:
    """The cotangent of a transformed function is that of the function."""

    count: int
    names: tuple[str, ...]

    def __call__(self, _: Any, out_bar: Any) -> Any:
        named = ({"fun": out_bar} | dict.fromkeys(self.names),) if self.names else ()
        return (None, *[out_bar] * min(self.count, 1), *[None] * (self.count - 1), *named)


@dataclasses.dataclass(frozen=True)
class Recompute:
    """The pullback of a checkpointed call: it runs again from its arguments, and then back."""

    function: Any
    shifted: bool = False  # the first argument takes the place of the function

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        args, keywords = saved
        bars = vjp_of(self.function, *args, **keywords)[1](out_bar)
        return bars[1:] if self.shifted else bars


# --- builtins, containers, classes ----------------------------------------------------------------


def of_builtin(f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A builtin that is a loop or a branch: through the same in plain Python."""
    name = getattr(f, "__name__", "")
    if f is not getattr(builtins, name, None) and f is not functools.reduce:
        return None
    plain = PLAIN.get(name)
    if name in ("max", "min") and keywords:
        if "default" in keywords or len(args) != 1:
            return None
        return vjp_of(max_by if name == "max" else min_by, *args, **keywords)
    if plain is None:
        return None
    if name in ("max", "min") and len(args) > 1:
        out, pull = vjp_of(plain, list(args))
        return out, Pullback(spread_list, pull)
    if name == "map" and len(args) > 2:
        plain = map_of
    if name == "reduce" and len(args) == 2:
        plain = reduce_rest
    if name in ("sum", "max", "min") and args and not isinstance(args[0], (list, tuple, dict)):
        if not hasattr(args[0], "shape"):
            args = (list(args[0]), *args[1:])
    return vjp_of(plain, *args, **keywords)


def spread_list(pull: Any, out_bar: Any) -> Any:
    f_bar, bars = pull(out_bar)
    return (f_bar, *bars)


def call_method(name: str, x: Any, *args: Any) -> Any:
    return getattr(x, name)(*args)


def moved(holder: Any, f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A function that only moves the items of containers about."""
    if f is dict and len(args) == 1 and not keywords and not isinstance(args[0], dict):
        pairs = [tuple(pair) for pair in args[0]]
        found = {k: Token((0, i, 1)) for i, (k, _) in enumerate(pairs)}
        moves = Moved(found, (shapes_in(pairs),))
        return dict(pairs), Pullback(MovePull(moves, (False,), True, False), ())
    run = functools.partial(f, **keywords) if keywords else f
    every = args if holder is None else (holder, *args)
    every = tuple(list(x) if hasattr(x, "__next__") else x for x in every)
    if any(hasattr(x, "shape") for x in every) and f not in (list, tuple, zip, enumerate, reversed):
        if f is not popped and f is not changed and holder is None:
            return None
    rows = [
        hasattr(x, "shape") and getattr(x, "shape", ()) != () and f in MOVERS[:6] for x in every
    ]
    plain = tuple(list(x) if r else x for x, r in zip(every, rows, strict=True))
    moving = [has_derivative(x) for x in plain]
    out, pull = move(run, plain, moving)
    return out, Pullback(MovePull(pull, tuple(rows), holder is None, bool(keywords)), ())


@dataclasses.dataclass(frozen=True)
class MovePull:
    """The pullback of a move: parts of the cotangent go back to where their values came from.

    `rows` says which arguments were arrays, whose rows were moved.
    """

    moved: Moved
    rows: tuple[bool, ...]
    function: bool
    named: bool

    def __call__(self, _: Any, out_bar: Any) -> Any:
        bars = [
            stack_of(shapes, bar) if row and bar is not None else bar
            for row, shapes, bar in zip(
                self.rows, self.moved.shapes, self.moved(out_bar), strict=True
            )
        ]
        if self.named:
            bars.append({})
        return (None, *bars) if self.function else tuple(bars)


def of_class(f: type, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A container class: each argument is one field."""
    if f is functools.partial:
        held = functools.partial(args[0], *args[1:], **keywords)
        return held, Pullback(HeldPull(bool(keywords)), ())
    if f in (float, complex):
        return vjp_of(PLAIN["float"], *args)
    if not (dataclasses.is_dataclass(f) or (issubclass(f, tuple) and hasattr(f, "_fields"))):
        return None
    if dataclasses.is_dataclass(f) and hasattr(f, "__post_init__"):
        return None
    if class_has_operators(f):
        raise Escape(f, f"an object of the class {f.__name__} has operators of its own")
    out = f(*args, **keywords)
    names = (
        f._fields if hasattr(f, "_fields") else [x.name for x in dataclasses.fields(f) if x.init]
    )
    places = tuple([*names[: len(args)], *keywords])
    return out, Pullback(FieldPull(places, len(args)), ())


@dataclasses.dataclass(frozen=True)
class ReplacePull:
    """The pullback of `dataclasses.replace`: fields that were replaced get nothing."""

    names: tuple[str, ...]

    def __call__(self, before: Any, out_bar: Any) -> Any:
        if out_bar is None:
            return (None, None, dict.fromkeys(self.names))
        kept = copy.copy(out_bar)
        for name in self.names:
            object.__setattr__(kept, name, zeros_like_tree(getattr(before, name)))
        return (None, kept, {name: getattr(out_bar, name) for name in self.names})


@dataclasses.dataclass(frozen=True)
class HeldPull:
    """The pullback of making a partial: the arguments that it holds get their cotangents."""

    named: bool

    def __call__(self, _: Any, out_bar: Any) -> Any:
        held, keywords = out_bar if out_bar is not None else ((), {})
        return (None, None, *held, keywords) if self.named else (None, None, *held)


@dataclasses.dataclass(frozen=True)
class FieldPull:
    """Cotangents of a container's fields, as the arguments of its constructor."""

    names: tuple[str, ...]
    count: int

    def __call__(self, _: Any, out_bar: Any) -> Any:
        bars = {n: None if out_bar is None else getattr(out_bar, n) for n in self.names}
        given = [bars[n] for n in self.names[: self.count]]
        named = {n: bars[n] for n in self.names[self.count :]}
        return (None, *given, named) if named else (None, *given)


# --- everything else ------------------------------------------------------------------------------


def recorded(f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """By recording what the call does in primitives."""
    if must_leave() and is_library(f):  # a recording cannot
        held = types.MethodType | types.BuiltinMethodType
        method = isinstance(f, held) and f.__self__ is not None
        if not method or isinstance(f.__self__, types.ModuleType):
            return f(*args, **keywords), Pullback(RecordAgain(f), (args, keywords))
        again = RecordAgain(functools.partial(call_method, f.__name__), method=True)
        return f(*args, **keywords), Pullback(again, ((f.__self__, *args), keywords))
    if isinstance(f, types.MethodType | types.BuiltinMethodType):
        holder, name = f.__self__, f.__name__
        if parts_of(holder) is not None or is_inexact(holder):
            out, pull = recorded_call(
                functools.partial(call_method, name), (holder, *args), keywords
            )
            return out, Pullback(shifted_record, pull)
    if has_derivative(f):
        out, pull = recorded_call(in_its_form, (f, *args), keywords)
        return out, Pullback(shifted_record, pull)
    out, pull = recorded_call(f, args, keywords)
    return out, Pullback(whole_record, pull)


def is_library(f: Any) -> bool:
    """Whether a callable is a function or method of ours or of NumPy's: it has no side effects."""
    f = f.func if isinstance(f, functools.partial) else f
    holder = getattr(f, "__self__", None)
    of = f if holder is None or isinstance(holder, types.ModuleType) else type(holder)
    top = (getattr(of, "__module__", None) or "builtins").partition(".")[0]
    return top in ("overt", "numpy", "builtins", "math") and not isinstance(f, Transformed)


@dataclasses.dataclass(frozen=True)
class RecordAgain:
    """The pullback of a call that is made and recorded when its reverse runs."""

    function: Any
    method: bool = False

    def __call__(self, saved: Any, out_bar: Any) -> Any:
        bars = recorded_call(self.function, *saved)[1](out_bar)
        return bars if self.method else (None, *bars)


def recorded_whole(f: Any, args: tuple[Any, ...]) -> Any:
    """The outermost call, recorded: objects may keep its values, and have plain ones after it."""
    out, pull = recorded_call(f, args, {}, outermost=True)
    return out, Pullback(whole_record, pull)


def recorded_call(
    f: Any, args: tuple[Any, ...], keywords: dict[str, Any], outermost: bool = False
) -> Any:
    lift = transformed.needs_lifting(args, keywords)
    function = transformed.lifted(f) if lift else f
    if isinstance(f, functools.partial):
        function = f
    elif not lift and isinstance(f, types.FunctionType) and transformed.has_source(f):
        function = transformed.plain(f)

    def run(args: Any, keywords: Any) -> Any:
        args, keywords = closed(args), closed(keywords)
        if outermost:
            return opened(function(*args, **keywords))
        return opened(unchanged(function, args, keywords))

    def after(tape: Any, out: Any) -> None:
        if outermost:
            settled(tape.level, f, args, keywords)
        elif is_kept(tape.level, f, args, keywords, held_by(closed(out))):
            raise Escape(f, KEPT)

    out, pull = vjp_call(run, opened(tuple(args)), opened(keywords), after=after)
    return closed(out), RecordPull(pull, out, f, tuple(args), keywords)


def in_its_form(f: Any, *args: Any, **keywords: Any) -> Any:
    """Call a function that holds values; these values too say in which form it must run."""
    lift = transformed.needs_lifting(args, keywords, of=f)
    if isinstance(f, Transformed) or not transformed.has_source(f):
        return f(*args, **keywords)
    return (transformed.lifted if lift else transformed.plain)(f)(*args, **keywords)


class RecordPull:
    """The pullback of a recorded call: `(*args_bar)`, and the keywords' last."""

    def __init__(
        self, pull: Callable[[Any], Any], out: Any, f: Any, args: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> None:  # fmt: skip
        self.pull, self.out, self.f, self.args, self.keywords = pull, out, f, args, keywords

    def __call__(self, out_bar: Any) -> Any:
        args_bar, named = cotangents(self.pull(opened_bars(self.out, out_bar)))
        return (*args_bar, named) if self.keywords else tuple(args_bar)

    def again(self, bwd: Any) -> Pullback:
        """The same pullback, which records the call again and so depends on its arguments."""
        return Pullback(Recompute(self.f, bwd is shifted_record), (self.args, self.keywords))


def whole_record(pull: Any, out_bar: Any) -> Any:
    return (None, *pull(out_bar))


def shifted_record(pull: Any, out_bar: Any) -> Any:
    return pull(out_bar)


RECORDS = (whole_record, shifted_record)


__all__ = ["Pullback", "Refusal", "vjp_of", "zeros_like_tree"]
