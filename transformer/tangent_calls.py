"""Calls in forward-mode code whose function is known only when the code runs.

`y, y_dot = jvp_of(f, (x,), (x_dot,))` calls f along tangents.  What f is decides how: a user's
function by its generated `f_jvp`, a method, partial or transformed function by what it holds;
anything else runs on values that carry their tangents.
"""

from __future__ import annotations

import builtins
import functools
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overt.rewrites.refusal import Refusal
from overt.runtime.derivatives import children_of
from overt.runtime.escape import BY_SOURCE, KEPT, Escape
from overt.runtime.one_of import OneOf, call_one, holds_floats, of_callables
from overt.runtime.parts import is_array
from overt.runtime.places import GENERATED
from overt.runtime.primitive import rule_of
from overt.runtime.tangents import (
    call_with_tangents,
    dots_of_view,
    filled,
    has_operators,
    is_moving,
    listed,
    zero_dot,
)
from overt.runtime.world import is_users_object
from overt.transformer import calls, function_pairs, transformed, where_it_stands
from overt.transformer.calls import apply_to, call_method, vjp_of
from overt.transformer.escapes import or_on_values
from overt.transformer.function_pairs import FunctionPull, arranged
from overt.transformer.held import LinearFunction, innermost, is_wrapper, rewrapped, shifted
from overt.transformer.pullbacks import VjpFunction
from overt.transformer.pulls import PartialPull, Pullback, RecomputeVjp, drop_function
from overt.transformer.transformed import Transformed

Pair = tuple[Any, Any]

ITERATING = (
    max, min, sorted, sum, list, tuple, set, frozenset, iter, map, filter, enumerate, reversed, zip,
)  # fmt: skip
FINAL = "takes a value out"  # a refusal that running on values does not help with


def jvp_at_top(f: Any, args: tuple, dots: tuple) -> Pair:
    """`jvp_of` for a call that no other derivative is around."""
    return or_on_values(
        lambda: jvp_of(f, args, dots, outside=True),
        lambda: on_values(f, args, dots, {}, {}, outermost=True),
        transformed.name_of(f),
        f, args,
    )  # fmt: skip


def jvp_of(
    f: Any,
    args: Sequence[Any],
    dots: Sequence[Any],
    keywords: Mapping[str, Any] | None = None,
    keyword_dots: Mapping[str, Any] | None = None,
    f_dot: Any = None,
    outside: bool = False,
) -> Pair:
    """Call `f`; its result and the result's tangent. A None among the tangents is a zero.

    `f_dot` is the tangent of what f itself holds: a method's object, a partial's arguments;
    `outside` says that the user calls, so that nothing reads the arguments later.
    """
    if transformed.takes_turns(getattr(f, "__func__", f)):
        raise Escape(f, calls.TURNS)
    unseen = BY_SOURCE.get() and not outside
    if unseen and where_it_stands.changed_of(f, args, keywords or {}):
        raise Escape(f, where_it_stands.CHANGES)
    dots = tuple(dots_of_view(x, d) for x, d in zip(args, dots, strict=True))
    args = tuple(map(listed, args))
    keywords, keyword_dots = dict(keywords or {}), dict(keyword_dots or {})
    if not (is_moving(f_dot) or is_moving(dots) or is_moving(keyword_dots)):
        out = in_form(f, args, keywords)(*args, **keywords)
        out = listed(out)
        return out, zero_dot(out)
    return found_jvp(f, args, dots, keywords, keyword_dots, f_dot)


def found_jvp(
    f: Any,
    args: tuple,
    dots: tuple,
    keywords: dict[str, Any],
    keyword_dots: dict[str, Any],
    f_dot: Any,
) -> Pair:
    """The jvp of a call by what is called."""
    f = of_callables(f)
    if type(f) is OneOf:
        if holds_floats(f):
            raise Escape(f, calls.CHOSEN)
        return jvp_of(call_one, (f, *args), (None, *dots), keywords, keyword_dots)
    f = transformed.unlifted(f)
    if f in ITERATING and any(isinstance(x, dict) for x in args):  # keys have no tangents
        dots = tuple(None if isinstance(x, dict) else d for x, d in zip(args, dots, strict=True))
        args = tuple(list(x) if isinstance(x, dict) else x for x in args)
    if any(f is c for c in calls.CHANGERS) and args and is_users_object(args[0]):
        raise Escape(args[0], KEPT)
    if f is functools.partial:
        out = functools.partial(args[0], *args[1:], **keywords)
        held: tuple = ()
        named: dict[str, Any] = {}
        if isinstance(args[0], functools.partial):  # Python makes one of the two
            held, named = filled(dots[0], args[0])
        own = [filled(d, x) for d, x in zip(dots[1:], args[1:], strict=True)]
        return out, (
            (*held, *own),
            {**named, **{k: filled(keyword_dots.get(k), x) for k, x in keywords.items()}},
        )
    if isinstance(f, functools.partial):
        transformed.target_of(f)  # which refuses some
        if isinstance(f_dot, functools.partial):  # one that is a container
            f_dot = f_dot.args, f_dot.keywords
        held, named = f_dot if f_dot is not None else ((None,) * len(f.args), {})
        every_dot = {**{k: v for k, v in named.items() if k not in keywords}, **keyword_dots}
        return jvp_of(
            f.func, (*f.args, *args), (*held, *dots), {**f.keywords, **keywords}, every_dot
        )
    if isinstance(f, types.MethodType):
        return jvp_of(f.__func__, (f.__self__, *args), (f_dot, *dots), keywords, keyword_dots)
    if isinstance(f, types.BuiltinMethodType) and not isinstance(
        f.__self__, types.ModuleType | type
    ):
        if f.__self__ is not None:
            return call_with_tangents(
                call_method,
                (f.__name__, f.__self__, *args),
                (None, f_dot, *dots),
                keywords,
                keyword_dots,
            )
    if isinstance(f, Pullback):
        saved_dot = f_dot.saved if f_dot is not None else None
        return of_backward(f.bwd, (f.saved, *args), (saved_dot, *dots), keywords, keyword_dots)
    if f in calls.CACHES and args and callable(args[0]):
        return args[0], dots[0]
    if f in calls.COPIES and len(args) == 1:
        return f(*args), f(dots[0])
    if isinstance(f, transformed.CACHED):
        found: Any = jvp_of(f.__wrapped__, args, dots, keywords, keyword_dots, f_dot)
        if isinstance(found[0], calls.CHANGEABLE) and BY_SOURCE.get():
            raise Escape(f, calls.CACHE)
        return found
    if is_wrapper(f):
        return f(*args, **keywords), (dots or (keyword_dots.get("fun"),))[0]
    if isinstance(f, VjpFunction | LinearFunction):
        return call_with_tangents(apply_to, (f, *args), (f_dot, *dots))
    if f is vjp_of:
        return of_vjp(args, dots, keywords, keyword_dots)
    if isinstance(f, Transformed):
        if is_moving(f_dot):
            return of_held(f, args, dots, keywords, keyword_dots, f_dot)
        return of_transformed(f, args, dots, keywords, keyword_dots)
    found = of_builtin(f, args, dots, keywords, keyword_dots)
    if found is not None:
        return found
    if rule_of(f) is None and isinstance(f, types.FunctionType):
        readable = transformed.is_users(f) or function_pairs.is_plain(f)
        if readable and not function_pairs.namedtuple_method(f):
            return of_function(f, args, dots, keywords, keyword_dots)
    call = transformed.call_method(f)
    if call is not None:
        return jvp_of(call, (f, *args), (f_dot, *dots), keywords, keyword_dots)
    if is_moving(f_dot):
        return call_with_tangents(apply_to, (f, *args), (f_dot, *dots), keywords, keyword_dots)
    return on_values(f, args, dots, keywords, keyword_dots)


def on_values(
    f: Any,
    args: tuple,
    dots: tuple,
    keywords: dict[str, Any],
    keyword_dots: dict[str, Any],
    outermost: bool = False,
) -> Pair:
    """By running the function on values that carry their tangents."""
    return call_with_tangents(transformed.lifted(f), args, dots, keywords, keyword_dots, outermost)


def in_form(f: Any, args: Any, keywords: Any) -> Callable[..., Any]:
    """A function in the form that these arguments need."""
    if isinstance(f, Transformed) or not transformed.has_source(f):
        return f
    lift = transformed.needs_lifting(args, keywords, of=f)
    return transformed.lifted(f) if lift else transformed.plain(f)


# --- the user's functions ------------------------------------------------------------------------


def of_function(
    f: Any, args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair:
    """By `f_jvp`, generated from the function's source."""
    try:
        return by_source(
            f, "", lambda: transformed.source_of(f), args, dots, keywords, keyword_dots
        )
    except Refusal as refusal:
        if getattr(refusal, "while_running", False) or FINAL in refusal.reason:
            raise
        if BY_SOURCE.get() and f.__code__.co_filename in GENERATED:
            raise Escape(f, refusal.reason) from None
        return on_values(f, args, dots, keywords, keyword_dots)


def by_source(
    f: types.FunctionType,
    chain: str,
    source: Callable[[], Any],
    args: tuple,
    dots: tuple,
    keywords: dict[str, Any],
    keyword_dots: dict[str, Any],
) -> Pair:
    """The jvp of a source made of `f`, which has the parameters of `f`."""
    from overt.rewrites.forward import jvp, tangent_names

    signature = transformed.signature_of(f)
    try:
        bound = signature.bind(*args, **keywords).arguments
    except TypeError:
        f(*args, **keywords)  # raises what Python raises
        raise
    beside = signature.bind(*dots, **{k: keyword_dots.get(k) for k in keywords}).arguments
    active = tuple(
        name
        for name in signature.parameters
        if name in bound and is_moving(beside[name]) and function_pairs.has_derivative(bound[name])
    )
    if not active:
        out = in_form(f, args, keywords)(*args, **keywords)
        return out, zero_dot(out)
    if any(has_operators(bound[n]) for n in active):
        return on_values(f, args, dots, keywords, keyword_dots)
    lift = transformed.needs_lifting(args, dots, keywords, keyword_dots)
    keys = any(has_number_keys(bound[n]) for n in active)
    step = f"{chain}|jvp({','.join(active)}{';keys' if keys else ''}){'|lift' if lift else ''}"

    def make() -> Any:
        made = jvp(source(), active, keys)
        return transformed.lift(made, outermost=False) if lift else made

    function = transformed.alive(f, step, make)
    names = tangent_names(list(signature.parameters), active)
    given = {names[n]: filled(beside[n], bound[n]) for n in active}
    try:
        return function(*args, **keywords, **given)
    except Refusal as refusal:
        refusal.while_running = True  # type: ignore[attr-defined]
        raise


def has_number_keys(x: Any) -> bool:
    """Whether a container holds a dictionary with keys that are numbers."""
    if is_array(x):
        return False
    if isinstance(x, dict) and any(is_array(key) for key in x):
        return True
    parts = children_of(x)
    return parts is not None and any(map(has_number_keys, parts[0]))


# --- what reverse mode leaves --------------------------------------------------------------------

# The backward function as it was generated, for one that staged code calls in its lifted form.
_unlifted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def of_vjp(
    args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair:
    """`vjp_of(f, x)` along tangents: the value, and the pullback with what it saved."""

    f, *rest = args
    if isinstance(f, functools.partial):
        return of_vjp_of_partial(f, rest, dots, keywords, keyword_dots)
    if isinstance(f, types.FunctionType) and rule_of(f) is None and transformed.is_users(f):
        found = by_pair(f, tuple(rest), dots[1:], keywords, keyword_dots)
        if found is not None:
            return found
    bound = isinstance(f, types.MethodType)
    method, held = (f.__func__, f.__self__) if bound else (transformed.call_method(f), f)
    if isinstance(method, types.FunctionType):
        (y, pull), (y_dot, pull_dot) = of_vjp(
            (method, held, *rest), (None, *dots), keywords, keyword_dots
        )
        return (y, Pullback(drop_function, pull)), (y_dot, Pullback(drop_function, pull_dot))
    y, y_dot = jvp_of(f, rest, dots[1:], keywords, keyword_dots, dots[0])
    return (y, Pullback(again, (args, keywords))), (y_dot, Pullback(again, (dots, keyword_dots)))


def of_vjp_of_partial(
    f: functools.partial, rest: list[Any], dots: tuple, keywords: dict, keyword_dots: dict
) -> Pair:
    """The same of a partial: what it holds are arguments of what it calls."""
    held, named = dots[0] if dots[0] is not None else ((None,) * len(f.args), {})
    (y, pull), (y_dot, pull_dot) = of_vjp(
        (f.func, *f.args, *rest), (None, *held, *dots[1:]), {**f.keywords, **keywords},
        {**named, **keyword_dots},
    )  # fmt: skip
    split = PartialPull(len(f.args), len(rest), tuple(f.keywords), tuple(keywords))
    return (y, Pullback(split, pull)), (y_dot, Pullback(split, pull_dot))


def again(saved: Any, out_bar: Any) -> Any:
    """The pullback of a call that is made again, so that the call's own tangents count."""
    args, keywords = saved
    pull_bar = out_bar[1] if args[0] is vjp_of and out_bar is not None else None
    if isinstance(pull_bar, Pullback) and pull_bar.bwd is again:  # it holds a call's arguments
        call = functools.partial(again, (args[1:], keywords))
        return RecomputeVjp(bool(keywords), shifted=True)(call, out_bar)
    return vjp_of(*args, **keywords)[1](out_bar)


def by_pair(
    f: Any, args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair | None:
    """By the jvp of the forward function of the pair."""
    bound = transformed.signature_of(f).bind(*args, **keywords)
    active = tuple(n for n, x in bound.arguments.items() if function_pairs.has_derivative(x))
    lift = transformed.needs_lifting(args, dots, keywords, keyword_dots)
    moving = any(map(is_moving, (*dots, *keyword_dots.values())))
    try:
        pair = function_pairs.pair_of(f, active, lift) if active and moving else None
    except Refusal as refusal:
        if not refusal.recordable:
            raise
        return None
    if pair is None:
        return None

    def forward_half() -> Any:
        from overt.rewrites.reverse import pullback_pair

        return pullback_pair(transformed.source_of(f), active)[0]

    chain = f"|pair({','.join(active)})|fwd"
    try:
        found = by_source(f, chain, forward_half, args, dots, keywords, keyword_dots)
    except Refusal:
        return None
    (y, saved), (y_dot, saved_dot) = found
    if lift:
        _unlifted[pair[1]] = function_pairs.pair_of(f, active, False)[1]  # type: ignore[index]
    pull = FunctionPull(pair[1], function_pairs.layout(bound, len(args), keywords))
    return (y, Pullback(pull, saved)), (y_dot, Pullback(pull, saved_dot))


def of_backward(
    bwd: Any, args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair:
    """The backward half of a pullback along tangents."""
    if isinstance(bwd, FunctionPull):
        plain = _unlifted.get(bwd.bwd, bwd.bwd)
        out, out_dot = of_backward(plain, args, dots, keywords, keyword_dots)
        return arranged(out, bwd.slots), arranged(out_dot, bwd.slots)
    if isinstance(bwd, PartialPull):
        bars, bars_dot = jvp_of(args[0], args[1:], dots[1:], keywords, keyword_dots, dots[0])
        return bwd(lambda _: bars, None), bwd(lambda _: bars_dot, None)
    return jvp_of(bwd, args, dots, keywords, keyword_dots)


# --- transformed functions, builtins -------------------------------------------------------------


def of_transformed(
    f: Transformed, args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair:
    """A transformed function, by the source of what it does."""
    from overt.transformer.checkify import Checkified
    from overt.transformer.gradients import Gradient
    from overt.transformer.identity import Identity
    from overt.transformer.jit import Jitted

    if isinstance(f, Checkified):
        along = f.running(jvp_of)
        error, (out, out_dot) = along(f.__wrapped__, args, dots, keywords, keyword_dots)
        return (error, out), (zero_dot(error), out_dot)
    if isinstance(f, Jitted | Identity):
        return jvp_of(f.__wrapped__, args, dots, keywords, keyword_dots)
    if isinstance(f, Gradient) and transformed.has_source(f):
        try:
            return of_gradient(f, args, dots, keywords, keyword_dots)
        except Refusal as refusal:
            if getattr(refusal, "while_running", False):
                raise
    return on_values(f, args, dots, keywords, keyword_dots)


def of_held(
    f: Transformed,
    args: tuple,
    dots: tuple,
    keywords: dict[str, Any],
    keyword_dots: dict[str, Any],
    f_dot: Any,
) -> Pair:
    """A transformation of a function that holds values with tangents."""
    from overt.transformer.identity import Identity
    from overt.transformer.jit import Jitted

    if isinstance(f, Jitted | Identity):
        return jvp_of(f.__wrapped__, args, dots, keywords, keyword_dots, f_dot)
    found = shifted(f, len(args))
    if found is not None:
        function, held = found
        return jvp_of(function, (*held, *args), (*f_dot[0], *dots), keywords, keyword_dots)

    def run(inner: Any, *args: Any, **keywords: Any) -> Any:
        return rewrapped(f, inner)(*args, **keywords)

    every = ((innermost(f), *args), (f_dot, *dots))
    return call_with_tangents(run, *every, keywords, keyword_dots)


def of_gradient(
    f: Any, args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair:
    """The jvp of the generated gradient; results and tangents as the gradient itself gives them."""
    positions = f.argument_positions(len(args))
    given = list(args)
    for i in positions:
        given[i] = f.prepared(args[i])
    inner = transformed.target_of(f.__wrapped__)
    held = tuple(None for _ in inner.prefix)
    aux = ", aux" if f.has_aux else ""
    assert isinstance(inner.function, types.FunctionType)
    result, result_dot = by_source(
        inner.function,
        f"{inner.chain}|value_and_grad({f.argnums}{aux})",
        lambda: f.derived(True),
        (*inner.prefix, *given),
        (*held, *dots),
        {**inner.keywords, **keywords},
        keyword_dots,
    )
    f.check_output(result[0][0] if f.has_aux else result[0])
    chosen = [given[i] for i in positions]
    return shown(f, result, chosen), shown(f, result_dot, chosen)


def shown(f: Any, result: Any, chosen: list[Any]) -> Any:
    value, grads = result
    grads = f.finished(grads, chosen)
    if f.value:
        return value, grads
    return (grads, value[1]) if f.has_aux else grads


def of_builtin(
    f: Any, args: tuple, dots: tuple, keywords: dict[str, Any], keyword_dots: dict[str, Any]
) -> Pair | None:
    """A builtin that is a loop or a branch: through the same in plain Python."""
    name = getattr(f, "__name__", "")
    if f is complex or getattr(f, "__module__", "") == "math":
        from overt.runtime.plain_builtins import TWINS

        return jvp_of(TWINS[f], args, dots, keywords, keyword_dots) if f in TWINS else None
    if f is not getattr(builtins, name, None) and f is not functools.reduce:
        return None
    from overt.runtime.plain_builtins import PLAIN, joined_of, map_of, max_by, min_by, reduce_rest

    plain = PLAIN.get(name)
    if name in ("max", "min") and keywords:
        if len(args) != 1:
            return None
        by = max_by if name == "max" else min_by
        return jvp_of(by, args, dots, keywords, keyword_dots)
    if plain is None:
        return None
    if name in ("max", "min") and len(args) > 1:
        return jvp_of(
            plain, (list(args),), ([filled(d, x) for d, x in zip(dots, args, strict=True)],)
        )
    if name == "map" and len(args) > 2:
        plain = map_of
    if name == "sum" and len(args) == 2 and isinstance(args[1], list):
        plain = joined_of
    if name == "reduce" and len(args) == 2:
        plain = reduce_rest
    return jvp_of(plain, args, dots, keywords, keyword_dots)


__all__ = ["jvp_of"]
