"""Transformed functions, and the ways from any callable to a Source and to a live function.

A transformed function remembers the callable it wraps and how it changes it, so that `grad(jit(f))`
can go back to the text of `f`, and `overt.source` can print what will run.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import numpy

from overt.backend.pytrees import GetAttrKey
from overt.runtime import special_methods
from overt.runtime.array import Array
from overt.runtime.asked_again import MAY_BE_CHOSEN
from overt.runtime.closures import captured, captured_leaves
from overt.runtime.handled import CATCHING
from overt.runtime.ownership import is_users
from overt.runtime.parts import Parts
from overt.runtime.places import GENERATED
from overt.runtime.plain import in_turn_twin_of, twin_of
from overt.runtime.plain_iterators import given_in_turn
from overt.runtime.primitive import GRAPH, counterpart
from overt.runtime.risks import about_to_call
from overt.runtime.staging import is_known
from overt.runtime.tree import tree_leaves
from overt.runtime.world import CONTAINERS
from overt.transformer import dependencies, rewrite
from overt.transformer.bound_arguments import refuse_changed
from overt.transformer.watch import WATCH

CACHED = type(functools.cache(len))


class Transformed:
    """Base of what `grad`, `jit`, `vmap` and the others return; on a class it is a method."""

    chain: str = ""  # the transformation and its options, as a text: part of cache keys
    suffix: str = ""  # the generated function is called `<name>_<suffix>`
    closed: bool = (
        True  # whether its source can stand in for it, so that passes can go on from there
    )

    def __init__(self, fn: Callable[..., Any]) -> None:
        if not callable(fn):
            raise TypeError(f"expected a function, got {fn!r} of type {type(fn).__name__}")
        for name in functools.WRAPPER_ASSIGNMENTS:
            try:
                setattr(self, name, getattr(fn, name))
            except AttributeError:
                continue
        self.__wrapped__ = fn

    @property
    def __signature__(self) -> inspect.Signature:
        try:
            return inspect.signature(self.__wrapped__)
        except (TypeError, ValueError):
            raise AttributeError("__signature__") from None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __overt_parts__(self) -> Parts:
        from overt.transformer.held import innermost, kinds_around, rewrapped

        return Parts(
            (type(self), kinds_around(self)), [GetAttrKey("__wrapped__")], [innermost(self)],
            lambda new: rewrapped(self, new[0]),
        )  # fmt: skip

    def wrapping(self, fn: Callable[..., Any], leading: int, count: int) -> Any:
        """The same transformation of another function, which has `leading` arguments in front.

        `count` of its own follow.  None where there is no such transformation.
        """
        if leading:
            return None
        made = copy.copy(self)
        made.__wrapped__ = fn
        return made

    def source(self) -> Any:
        """What this transformation makes of the wrapped function, in core form."""
        return source_of(self.__wrapped__)

    def printed_source(self) -> Any:
        """What `overt.source` shows: where it differs from the closed form, what runs."""
        return self.source()

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        return f"<{self.chain} of {name}>"


class Target(NamedTuple):
    """The Python function that a callable comes down to, and what is bound to it already."""

    function: types.FunctionType | None
    prefix: tuple[Any, ...]
    keywords: dict[str, Any]
    chain: str


def target_of(fn: Any) -> Target:
    """Unwrap methods, partials, callable objects and transformations."""
    if isinstance(fn, types.FunctionType):
        return Target(fn, (), {}, "")
    if isinstance(fn, Transformed):
        inner = target_of(fn.__wrapped__)
        return inner._replace(chain=f"{inner.chain}|{fn.chain}")
    if isinstance(fn, types.MethodType):
        inner = target_of(fn.__func__)
        return inner._replace(prefix=(*inner.prefix, fn.__self__))
    if isinstance(fn, functools.partial):
        inner = target_of(fn.func)
        if any(isinstance(x, CONTAINERS) for x in (*fn.args, *fn.keywords.values())):
            refuse_changed(inner[0], len(inner.prefix), fn)
        return inner._replace(
            prefix=(*inner.prefix, *fn.args), keywords={**inner.keywords, **fn.keywords}
        )
    call = call_method(fn)
    if call is not None:
        inner = target_of(call)
        return inner._replace(prefix=(*inner.prefix, fn))
    return Target(None, (), {}, "")


def call_method(fn: Any) -> Any:
    """The `__call__` that a user's class gives its objects; None for other callables."""
    call = special_methods.original(getattr(type(fn), "__call__", None))  # noqa: B004
    return (
        call if isinstance(call, types.FunctionType | Transformed) and is_users(type(fn)) else None
    )


def bound_count(fn: Any) -> int:
    """How many positional arguments a callable has bound already."""
    return len(target_of(fn).prefix)


def has_source(fn: Any) -> bool:
    """Whether a callable comes down to a function that Overt rewrites."""
    function = target_of(fn).function
    return function is not None and is_users(function) and is_closed(fn)


def is_closed(fn: Any) -> bool:
    """Whether every transformation on the way to the function has a source."""
    while True:
        if isinstance(fn, Transformed):
            if not fn.closed:
                return False
            fn = fn.__wrapped__
        elif isinstance(fn, types.MethodType):
            fn = fn.__func__
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif (call := call_method(fn)) is not None and not isinstance(fn, types.FunctionType):
            fn = call
        else:
            return True


# --- sources ------------------------------------------------------------------

_sources: weakref.WeakKeyDictionary[types.FunctionType, Any] = weakref.WeakKeyDictionary()


def source_of(fn: Any) -> Any:
    """The Source of a function or of a transformed one."""
    if isinstance(fn, types.FunctionType):
        return _function_source(fn)
    if isinstance(fn, Transformed):
        return fn.source()
    if isinstance(fn, types.MethodType):
        return source_of(fn.__func__)
    if isinstance(fn, functools.partial):
        return source_of(fn.func)
    call = call_method(fn)
    if call is not None:
        return source_of(call)
    from overt.transformer.load import load

    return load(fn)  # raises the refusal that says why


def _function_source(fn: types.FunctionType) -> Any:
    from overt.rewrites import core
    from overt.transformer import load

    found = _sources.get(fn)
    loaded = load.load(fn)
    definition = dependencies.definition(fn)
    if found is None or found[0] is not loaded.node or found[2] != definition:
        function = load.core_of(loaded)
        source = core.Source(
            (function,), loaded.namespace, file=loaded.file.name, load=_core_or_none,
            by_fields=(function, functools.partial(_source_by_fields, weakref.ref(fn))),
        )  # fmt: skip
        found = _sources[fn] = (loaded.node, source, definition)
    return found[1]


def _source_by_fields(of: weakref.ref[types.FunctionType]) -> Any:
    from overt.rewrites import core
    from overt.transformer import load
    from overt.transformer.kinds import by_fields

    fn = of()
    loaded = load.load(fn) if fn is not None else None
    other = by_fields(loaded) if loaded is not None else None
    if loaded is None or other is None:
        return None
    function = load.core_of(other, changed=True)
    return core.Source((function,), loaded.namespace, file=loaded.file.name, load=_core_or_none)


# --- live functions -----------------------------------------------------------

_alive: weakref.WeakKeyDictionary[types.FunctionType, dict[str, Any]] = weakref.WeakKeyDictionary()


def alive(fn: Any, chain: str, make: Callable[[], Any]) -> types.FunctionType:
    """The live function that a transformation makes of `fn`; one for each user function."""
    function: Any = target_of(fn).function
    if MAY_BE_CHOSEN.get():
        chain += "|asked"
    table = _alive.setdefault(function, {})
    found = table.get(chain)
    if found is None or not dependencies.unchanged(found[2], function):
        rewritten = rewrite.rewritten(function, chain, make)
        definition = dependencies.definition(function)
        if found is None or found[0] is not rewritten or found[3] != definition:
            live = rewrite.bring_to_life(rewritten, function)
        else:
            live = found[1]
        taken = dependencies.snapshot(function, rewritten.found)
        found = table[chain] = (rewritten, live, taken, definition)
    watch = WATCH.get()
    if watch is not None:
        watch.function(function, found[1])
    return found[1]


def plain(fn: Any) -> Callable[..., Any]:
    """`fn` rewritten without control flow being lifted, with its bound arguments in place."""
    return _bound(fn, "", lambda: source_of(fn))


def lifted(fn: Any) -> Callable[..., Any]:
    """`fn` as staged and batched code calls it: the user's functions lifted, others as they are.

    >>> lifted(len) is len
    True
    """
    fn = vectorized(special_methods.original(fn))
    special_methods.met(fn)
    if isinstance(fn, type) and is_users(fn):
        from overt.transformer.lifting import constructed

        start = getattr(fn, "__init__")  # noqa: B009  mypy looks at `type.__init__` itself
        if isinstance(start, types.FunctionType):
            return functools.partial(constructed, fn) if _source_or_none(start) else fn
    if hasattr(type(fn), "__overt_each__"):  # chosen by data among several
        return fn.__overt_each__(lifted)
    if getattr(fn, "__module__", None) == "math":
        from overt.runtime.plain_builtins import TWINS

        ours = TWINS.get(fn) or counterpart(fn)
        if ours is not None:
            return functools.partial(of_numbers, fn, ours)
    if (twin := twin_of(fn)) is not None:
        return lifted(twin)
    if (twin := in_turn_twin_of(fn)) is not None:
        return functools.partial(given_in_turn, fn, lifted(twin))
    if fn is max or fn is min or fn is sorted:
        from overt.runtime import staged_builtins

        return getattr(staged_builtins, f"{fn.__name__}_")
    if isinstance(fn, CACHED):
        from overt.transformer.lifting import from_cache

        return functools.partial(from_cache, fn)
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, CACHED):
        return functools.partial(lifted(fn.__func__), fn.__self__)
    if type(getattr(fn, "__self__", None)) is numpy.ndarray:
        return functools.partial(method_of_numpys, fn)
    if isinstance(fn, Transformed) or not has_source(fn):
        return fn
    if isinstance(fn, types.FunctionType):
        if inspect.isgeneratorfunction(fn) and is_kept_generator(fn) or is_lifted(fn):
            return fn
        live = alive(fn, "|lift", lambda: lift(source_of(fn), outermost=False))
        live.__dict__["__overt_lifts__"] = weakref.ref(fn)
        from overt.transformer import where_it_stands

        return where_it_stands.form(fn, live)
    if isinstance(fn, types.MethodType):
        return functools.partial(lifted(fn.__func__), fn.__self__)
    if isinstance(fn, functools.partial):
        return functools.partial(lifted(fn.func), *fn.args, **fn.keywords)
    return functools.partial(lifted(call_method(fn)), fn)


def method_of_numpys(method: Any, *args: Any, **keywords: Any) -> Any:
    """A method of an array of NumPy's; given arrays of ours, the function of that name."""
    from overt.runtime import numpy as np

    ours = any(isinstance(x, Array) for x in (*args, *keywords.values()))
    if not ours or not hasattr(np, method.__name__):
        return method(*args, **keywords)
    return getattr(np, method.__name__)(method.__self__, *args, **keywords)


def is_lifted(fn: types.FunctionType) -> bool:
    """Whether a function was defined in one that is lifted, and so is itself."""
    if fn.__code__.co_filename not in GENERATED or "__overt__" in fn.__dict__:
        return False
    from overt.runtime import cond, for_loop, while_loop

    helpers = (cond, for_loop, lifted, while_loop)
    return any(value is helper for value in captured(fn) for helper in helpers)


def is_kept_generator(fn: types.FunctionType) -> bool:
    """Whether a generator is no list to the passes, and so runs as Python runs it."""
    from overt.rewrites.kept_whole import is_kept
    from overt.transformer.load import load

    return fn.__code__.co_filename in GENERATED or is_kept(load(fn).node)


def takes_turns(fn: Any) -> bool:
    """Whether a function is a generator that changes what others see between its steps, or a method
    of one that waits: `send`.
    """
    if isinstance(getattr(fn, "__self__", None), types.GeneratorType):
        return True
    if not isinstance(fn, types.FunctionType) or not inspect.isgeneratorfunction(fn):
        return False
    if fn.__code__.co_filename in GENERATED:  # it was left as it is for a reason
        return True
    from overt.rewrites.foreign import changes_others
    from overt.rewrites.refusal import Refusal
    from overt.transformer.load import load

    try:
        node = load(fn).node
    except Refusal:
        return False
    return isinstance(node, ast.FunctionDef) and changes_others(node)


def of_numbers(fn: Callable[..., Any], ours: Any, *args: Any, **keywords: Any) -> Any:
    """A function of `math`; of values that Python has not got, ours of `overt.numpy`."""
    if any(isinstance(x, Array) and not is_known(x) for x in tree_leaves((args, keywords))):
        if CATCHING.get():
            about_to_call(fn, *args)
        return ours(*args, **keywords)
    return fn(*args, **keywords)


def vectorized(fn: Any) -> Any:
    """What NumPy's `vectorize` has made, as what ours makes; anything else as it is."""
    if type(fn) is not numpy.vectorize or not callable(fn.pyfunc):
        return fn
    if fn.otypes is not None and set(fn.otypes) - {"d"}:  # numbers of another kind
        return fn
    from overt.runtime.numpy.functional import vectorize

    return vectorize(fn.pyfunc, excluded=fn.excluded or (), signature=fn.signature)


def unlifted(fn: Any) -> Any:
    """The function that `lifted` made this one of; any other as it is."""
    fn = vectorized(special_methods.original(fn))
    made_of = fn.__dict__.get("__overt_lifts__") if isinstance(fn, types.FunctionType) else None
    original = made_of() if made_of is not None else None
    return fn if original is None else original


def lifted_form(fn: Any) -> Callable[..., Any]:
    """The lifted form of any callable, the source of a transformed one included."""
    if not has_source(fn):
        return fn
    return _bound(fn, "|lift", lambda: lift(source_of(fn), outermost=False))


def lift(source: Any, outermost: bool = True) -> Any:
    """Control flow as calls of `cond`, `while_loop` and `for_loop`."""
    from overt.rewrites import lift as passes

    return passes.lift(source, _source_or_none, outermost)


def _core_or_none(fn: types.FunctionType) -> Any:
    source = _source_or_none(fn)
    return source.main if source is not None else None


def _source_or_none(fn: types.FunctionType) -> Any:
    """The Source of a function that rewritten code calls; None where it has none."""
    from overt.rewrites.refusal import Refusal

    if not is_users(fn) or "__overt__" in fn.__dict__:
        return None
    try:
        return source_of(fn)
    except Refusal:
        return None


def _bound(fn: Any, step: str, make: Callable[[], Any]) -> Callable[..., Any]:
    target = target_of(fn)
    return with_bound(alive(fn, target.chain + step, make), target)


def with_bound(function: Callable[..., Any], target: Target) -> Callable[..., Any]:
    """A live function with the arguments that its callable had bound."""
    if target.prefix or target.keywords:
        return functools.partial(function, *target.prefix, **target.keywords)
    return function


def name_of(fn: Any) -> str:
    """A callable's name, for messages."""
    fn = getattr(fn, "__wrapped__", fn)
    return getattr(fn, "__qualname__", None) or repr(fn)


# --- calling ------------------------------------------------------------------


HOLDERS = (types.FunctionType, types.MethodType, functools.partial)


def signature_of(fn: Callable) -> inspect.Signature:
    """The parameters that a callable's own text has, whatever it says that it wraps.

    >>> def power(base, exponent): ...
    >>> signature_of(functools.wraps(power)(lambda x, n: x**n))
    <Signature (x, n)>
    """
    while isinstance(fn, Transformed):
        fn = fn.__wrapped__
    if isinstance(fn, types.FunctionType) and "__signature__" in fn.__dict__:
        own = types.FunctionType(fn.__code__, {}, fn.__name__, fn.__defaults__, fn.__closure__)
        own.__kwdefaults__ = fn.__kwdefaults__
        fn = own
    return inspect.signature(fn, follow_wrapped=False)


def needs_lifting(*trees: Any, of: Any = None) -> bool:
    """Whether code must run in its lifted form: something is staged, or a value has lanes.

    `of` is the function to be run, whose closure counts too.
    """
    if GRAPH.get() is not None:
        return True
    leaves = tree_leaves(trees)
    if any(map(has_level, leaves)) or of is not None and holds_level(of):
        return True
    return any((isinstance(x, HOLDERS) or is_dataclass(x)) and holds_level(x) for x in leaves)


def has_level(x: Any) -> bool:
    """Whether a value has lanes or is under differentiation."""
    return isinstance(x, Array) and bool(x.level)


def holds_level(fn: Any) -> bool:
    """Whether a function has captured, or is bound to, such a value."""
    while isinstance(fn, Transformed):
        fn = fn.__wrapped__
    if isinstance(fn, types.MethodType):
        fn = (fn.__func__, fn.__self__)
    elif isinstance(fn, types.FunctionType) and not fn.__closure__:
        return False
    return bool(captured_leaves(fn, has_level))


@contextmanager
def noted() -> Iterator[None]:
    """Exceptions that leave the block get a note with the user's own line."""
    try:
        yield
    except RecursionError as error:
        from overt.transformer.recursion import endless

        found = endless(error)
        if found is None:
            raise
        raise found from None
    except Exception as error:
        rewrite.note_place(error)
        raise
