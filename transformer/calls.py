"""Calls in derivative code whose function is known only when the code runs.

`y, pull = vjp_of(f, x)` calls f and gives its pullback: `f_bar, x_bar = pull(y_bar)`.  What f is
decides how: a function with a rule, a user's function (its pair is generated on demand), a method,
a partial, a container's method, a class, a transformed function; anything else is recorded by its
primitives' rules.
"""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.runtime.asked_again import asked_again
from overt.runtime.containers import COPIED, appended, at_place, changed, in_place, popped
from overt.runtime.cotangents import Moved, Token, move, shapes_in
from overt.runtime.custom import CustomRule
from overt.runtime.derivatives import dtype_of, is_inexact, zeros_like_tree
from overt.runtime.escape import (
    BY_SOURCE,
    KEPT,
    Escape,
    held_by,
    is_captured,
    is_kept,
    settled,
    unchanged,
)
from overt.runtime.hidden import keeps_unseen
from overt.runtime.numpy.indexing import set_item
from overt.runtime.one_of import OneOf, call_one, holds_floats, of_callables
from overt.runtime.parts import is_array, parts_of
from overt.runtime.plain import twin_of
from overt.runtime.primitive import rule_of
from overt.runtime.record import vjp_call
from overt.runtime.rollback import Before
from overt.runtime.special_methods import lifting_special_methods
from overt.runtime.tangents import class_has_operators, listed
from overt.runtime.tree import tree_leaves
from overt.runtime.world import is_users_object
from overt.transformer import transformed, where_it_stands
from overt.transformer.custom import custom_gradient
from overt.transformer.function_pairs import (
    ArrangedPull,
    FunctionPull,
    arranged,
    float_parts,
    function_pair,
    has_derivative,
    is_plain,
    namedtuple_method,
    of_floats,
)
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
from overt.transformer.pulls import (
    FieldPull,
    HeldPull,
    MovePull,
    PartialPull,
    PartialVjpPull,
    Pullback,
    PullOfPullback,
    RecomputeVjp,
    ReplacePull,
    Unchanged,
    VjpPull,
    WrapPull,
    beside_method,
    drop_function,
    drop_mapping,
    is_record,
    of_result,
    pulled_vjp,
    shifted_record,
    spread_list,
    whole_record,
)
from overt.transformer.recording import must_leave
from overt.transformer.transformed import CACHED, Transformed

MOVERS = (list, tuple, dict, zip, enumerate, reversed, popped, changed)
# On an object of the user's: a method of its own.
CHANGERS = (appended, changed, in_place, popped, set_item)
CACHES = (functools.cache, functools.lru_cache)
COPIES = (copy.copy, copy.deepcopy)
CACHE = "a function with a cache gives a list or dictionary, which all its callers share"
CHANGEABLE = (list, dict, set)
CHOSEN = "a function chosen by data holds values that are being differentiated"
RULE = "a rule for a derivative is made by a function that is differentiated itself"
TURNS = "a generator changes what the loop over it sees between its steps"
CONTAINERS = (list, tuple, dict, set, types.MappingProxyType)


def vjp_of(f: Any, *args: Any, **keywords: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Call `f`; its result, and the pullback from its cotangent to those of f and its arguments."""
    saved_or_none = call_pair(f, args, keywords)
    if saved_or_none is not None:
        return saved_or_none
    return recorded(f, args, keywords)


def vjp_from_outside(f: Any, *args: Any) -> tuple[Any, Callable[[Any], Any]]:
    """`vjp_of` as the user calls it: nothing that reads the arguments later is differentiated."""
    found = call_pair(f, args, {}, outside=True)
    return found if found is not None else recorded(f, args, {})


def call_pair(
    f: Any, args: tuple[Any, ...], keywords: dict[str, Any], outside: bool = False
) -> Any:
    """The ways to differentiate a call that are better than recording it; None if there is none."""
    f = of_callables(f)
    if type(f) is OneOf:
        if holds_floats(f):
            raise Escape(f, CHOSEN)
        return of_partial(functools.partial(call_one, f), args, keywords)
    f = transformed.unlifted(f)
    if transformed.takes_turns(f):
        raise Escape(f, TURNS)
    if not outside and BY_SOURCE.get() and where_it_stands.changed_of(f, args, keywords):
        raise Escape(f, where_it_stands.CHANGES)
    if f is vjp_of:
        return differentiated_vjp(args, keywords)
    if is_wrapper(f):
        return of_wrapper(f, args, keywords)
    if f is custom_gradient:
        raise Escape(f, RULE)
    if f in CACHES and args and callable(args[0]):  # what it saves is no matter of derivatives
        return args[0], Pullback(WrapPull(len(args), tuple(keywords)), ())
    if f in COPIES and len(args) == 1:
        return f(*args), Pullback(WrapPull(1, ()), ())
    if f is dataclasses.replace and not hasattr(type(args[0]), "__post_init__"):
        return f(*args, **keywords), Pullback(ReplacePull(tuple(keywords)), args[0])
    if isinstance(f, CACHED):
        found = vjp_of(f.__wrapped__, *args, **keywords)
        if isinstance(found[0], CHANGEABLE) and BY_SOURCE.get():
            raise Escape(f, CACHE)  # the cache gives it again, with all that is stored in it
        return found
    if isinstance(f, Pullback):
        if is_record(f.bwd):  # the values of a recording have no derivative after it
            f = f.saved.again(f.bwd)
        out, pull = vjp_of(f.bwd, f.saved, *args)
        g = args[0]
        known = is_inexact(g) and not hasattr(type(g), "compacted")
        given = (getattr(g, "shape", ()), dtype_of(g)) if known else None
        return out, Pullback(PullOfPullback(f.bwd, given), pull)
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
        transformed.target_of(f)  # which refuses some
        return of_partial(f, args, keywords)
    if isinstance(f, types.MethodType):
        if isinstance(f.__func__, types.FunctionType | Transformed | CACHED):
            return of_method(f, args, keywords)
        return None
    if isinstance(f, types.BuiltinMethodType) and isinstance(f.__self__, CONTAINERS):
        return moved(f.__self__, functools.partial(call_method, f.__name__), args, keywords)
    found = of_builtin(f, args, keywords)
    if found is not None:
        return found
    if any(f is c for c in CHANGERS) and args and is_users_object(args[0]):
        raise Escape(args[0], KEPT)
    if (f is popped or f is changed) and (by_place := at_place(args[0], args[1], args[2:])):
        out, pull = vjp_of(by_place, args[0], *args[2:])
        return out, Pullback(beside_method, pull)
    if (f is popped or f is changed) and not isinstance(args[0], COPIED):  # `x.at[i]`, an array
        return None
    if f is set_item and not is_array(args[0]):
        return moved(None, f, args, keywords)
    if is_mover(f) and not any(map(has_derivative, keywords.values())):
        return moved(None, f, args, keywords)
    if is_vectorized(f) and not keywords:
        return of_vectorized(f, args)
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


# --- callables that hold a function ---------------------------------------------------------------


def of_method(f: types.MethodType, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    out, pull = vjp_of(f.__func__, f.__self__, *args, **keywords)
    return out, Pullback(drop_function, pull)


def is_vectorized(f: Any) -> bool:
    """Whether `np.vectorize` has made a function of numbers one of arrays."""
    ours = type(f).__module__ == "overt.runtime.numpy.functional"
    return ours and not (f.signature or f.excluded)


def of_vectorized(f: Any, args: tuple[Any, ...]) -> Any:
    """A function of `np.vectorize`, by the text of what maps it."""
    from overt.runtime.numpy.functional import of_each

    out, pull = vjp_of(of_each, f.pyfunc, *args)
    return out, Pullback(drop_function, pull)


def apply_to(f: Any, *args: Any) -> Any:
    return f(*args)


def of_partial(f: functools.partial, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    every = {**f.keywords, **keywords}
    out, pull = vjp_of(f.func, *f.args, *args, **every)
    return out, Pullback(
        PartialPull(len(f.args), len(args), tuple(f.keywords), tuple(keywords)), pull
    )


def differentiated_vjp(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """`vjp_of(vjp_of, f, x)`: the derivative of the forward half of a pair."""
    f, *rest = args
    f = of_callables(f)
    if type(f) is OneOf:
        if holds_floats(f):
            raise Escape(f, CHOSEN)
        f = functools.partial(call_one, f)
    f = transformed.unlifted(f)
    if isinstance(f, Transformed) and has_derivative(f) and not is_as_wrapped(f):
        found = shifted(f, len(rest))
        if found is not None:
            return differentiated_vjp_of_held(*found, rest, keywords)
    if isinstance(f, functools.partial):
        every = {**f.keywords, **keywords}
        (y, pull), outer = vjp_of(vjp_of, f.func, *f.args, *rest, **every)
        split = PartialPull(len(f.args), len(rest), tuple(f.keywords), tuple(keywords))
        return (y, Pullback(split, pull)), Pullback(PartialVjpPull(split), outer)
    if is_vectorized(f) and not keywords:
        from overt.runtime.numpy.functional import of_each

        (y, pull), outer = vjp_of(vjp_of, of_each, f.pyfunc, *rest)
        return (y, Pullback(drop_function, pull)), Pullback(drop_mapping, outer)
    if isinstance(f, types.FunctionType) and (transformed.is_users(f) or is_plain(f)):
        pair = function_pair(f, tuple(rest), keywords)
        if pair is not None:
            fwd, bwd, slots = pair
            (y, saved), outer = of_generated(fwd, tuple(rest), keywords)
            pull = Pullback(FunctionPull(bwd, slots, float_parts(y)), saved)
            return (y, pull), Pullback(pulled_vjp, outer)
    before = Before((f, rest, keywords)) if is_users_object(f) else None
    y, pull = vjp_of(f, *rest, **keywords)
    if not isinstance(pull, Pullback):
        return None
    if pull.saved == ():  # it only moves things about, whatever their values
        return (y, pull), Pullback(Unchanged(), pull)
    if is_record(pull.bwd):  # what was recorded cannot leave its recording: record it again
        again = RecomputeVjp(bool(keywords), pull.bwd is shifted_record)
        return (y, pull.saved.again(pull.bwd)), Pullback(again, pull)
    if type(pull.bwd) is RecordAgain:  # it holds the arguments, and its cotangent theirs
        return (y, pull), Pullback(RecomputeVjp(bool(keywords), pull.bwd.method), pull)

    held = opened(f), opened(tuple(rest)), opened(keywords)
    if must_leave():  # what was recorded cannot: it is recorded when the reverse runs
        return (y, pull), Pullback(VjpAgain(bool(keywords)), held)
    if before is not None:  # the object runs again
        before.set_back()
    (y, saved), outer = recorded_vjp(*held)
    record = VjpRecord(outer, (f, *rest), keywords)
    return (y, Pullback(pull.bwd, saved)), Pullback(VjpPull(bool(keywords)), record)


def recorded_vjp(*held: Any) -> Any:
    """Value and saved values of `vjp_of(f, x)`, recorded, and the pullback of both."""

    def run(opened_f: Any, opened_rest: Any, opened_named: Any) -> Any:
        found = vjp_of(closed(opened_f), *closed(opened_rest), **closed(opened_named))
        return opened(parted(found))

    out, outer = vjp_call(run, *held)
    return closed(out), lambda out_bar: outer(opened_bars(out, out_bar))


@dataclasses.dataclass(frozen=True)
class VjpAgain:
    """The pullback of a call of `vjp_of` that is recorded when it is asked for."""

    named: bool

    def __call__(self, held: Any, out_bar: Any) -> Any:
        _, outer = recorded_vjp(*held)
        return VjpPull(self.named)(outer, out_bar)


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
        found = asked_again(lambda: vjp_of_vmap(f, args, vjp_of))
        if found is None:
            return None
        out, saved, bwd = found
        return out, Pullback(bwd, saved)
    target = transformed.target_of(f)
    if transformed.has_source(f) and not (target.prefix or target.keywords):
        return of_function(f, args, keywords)
    return None


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
    if f is complex or getattr(f, "__module__", "") == "math":
        from overt.runtime.plain_builtins import TWINS

        return vjp_of(TWINS[f], *args, **keywords) if f in TWINS else None
    if (twin := twin_of(f)) is not None:
        return vjp_of(twin, *args, **keywords)
    if f is not getattr(builtins, name, None) and f is not functools.reduce:
        return None
    from overt.runtime.plain_builtins import PLAIN, joined_of, map_of, max_by, min_by, reduce_rest

    plain = PLAIN.get(name)
    if name in ("max", "min") and keywords:
        if len(args) != 1:
            return None
        return vjp_of(max_by if name == "max" else min_by, *args, **keywords)
    if plain is None:
        return None
    if name in ("max", "min") and len(args) > 1:
        out, pull = vjp_of(plain, list(args))
        return out, Pullback(spread_list, pull)
    if name == "map" and len(args) > 2:
        plain = map_of
    if name == "sum" and len(args) == 2 and isinstance(args[1], list):
        plain = joined_of
    if name == "reduce" and len(args) == 2:
        plain = reduce_rest
    if name in ("sum", "max", "min") and args and not isinstance(args[0], (list, tuple, dict)):
        if isinstance(args[0], collections.deque) and args[0].maxlen is not None:
            raise Escape(args[0], "a deque of limited length is read as a whole")
        if not hasattr(args[0], "shape"):
            args = (list(args[0]), *args[1:])
    return vjp_of(plain, *args, **keywords)


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


def of_class(f: type, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A container class: each argument is one field."""
    if f is functools.partial:
        held = functools.partial(args[0], *args[1:], **keywords)
        inner = args[0]
        if isinstance(inner, functools.partial):
            pull = HeldPull(tuple(keywords), len(inner.args), tuple(inner.keywords))
        else:
            pull = HeldPull(tuple(keywords))
        return held, Pullback(pull, ())
    if f is float:
        from overt.runtime.plain_builtins import float_of

        return vjp_of(float_of, *args)
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


# --- everything else ------------------------------------------------------------------------------


def recorded(f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """By recording what the call does in primitives."""
    if must_leave() and is_library(f):  # a recording cannot
        held = types.MethodType | types.BuiltinMethodType
        method = isinstance(f, held) and f.__self__ is not None
        if not method and has_derivative(f):
            again = RecordAgain(in_its_form, method=True)
            return f(*args, **keywords), Pullback(again, ((f, *args), keywords))
        if not method or isinstance(f.__self__, types.ModuleType):
            return listed(f(*args, **keywords)), Pullback(RecordAgain(f), (args, keywords))
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
    function = f if isinstance(f, functools.partial) else transformed.lifted(f)

    def run(args: Any, keywords: Any) -> Any:
        args, keywords = closed(args), closed(keywords)
        if outermost:
            return opened(listed(function(*args, **keywords)))
        return opened(listed(unchanged(function, args, keywords)))

    def after(tape: Any, out: Any) -> None:
        if outermost:
            settled(tape.level, f, args, keywords)
            return
        if any(isinstance(x, CustomRule) and x.has_captured(tape.owns) for x in tree_leaves(out)):
            raise Escape(f, RULE)
        objects = held_by(out)
        kept = is_kept(tape.level, f, args, keywords, objects) or is_captured(tape.level, objects)
        if kept or keeps_unseen(tape.level, f, *held_by(args), *objects):
            raise Escape(f, KEPT)

    with lifting_special_methods(f, args, keywords):
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


@dataclasses.dataclass(frozen=True)
class VjpRecord:
    """The pullback of a recorded call of `vjp_of`."""

    pull: Callable[[Any], Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any]

    def __call__(self, out_bar: Any) -> Any:
        return self.pull(out_bar)

    def again(self, bwd: Any) -> Pullback:
        """The same pullback, which records the call again and so depends on its arguments."""
        return Pullback(Recompute(vjp_of), (self.args, self.keywords))


__all__ = ["Pullback", "Refusal", "vjp_of", "zeros_like_tree"]
