"""Functions that change a list that they are given, where the text does not say which function
is called: a parameter, an entry of a table, what a decorator has wrapped.

    def apply(f, xs, x):
        f(xs, x)                 # `push` appends to the list itself, as Python does
        return len(xs) * x
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from overt.runtime.changing_code import may_change
from overt.runtime.outside import no_container
from overt.runtime.ownership import is_users
from overt.runtime.places import GENERATED
from overt.runtime.world import CONTAINERS
from overt.transformer import transformed
from overt.transformer.bound_arguments import changed_parameters

CHANGES = (
    "a function that the text does not name changes a list, dictionary or set that it is given; "
    "write the change as a statement of the function that makes it"
)


def changed_of(f: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of a function whose containers it changes in a call."""
    if not any(isinstance(x, CONTAINERS) for x in (*args, *keywords.values())):
        return ()
    bound = 1 if isinstance(f, types.MethodType) else 0
    f = getattr(f, "__func__", f)
    if not isinstance(f, types.FunctionType) or not is_users(f) or not may_change(f.__code__):
        return ()
    if f.__code__.co_filename in GENERATED:
        return ()
    names = f.__code__.co_varnames[bound : f.__code__.co_argcount]
    given = {**dict(zip(names, args, strict=False)), **keywords}
    found = {n for n, x in given.items() if isinstance(x, CONTAINERS)}
    return tuple(sorted(found & changed_parameters(f)))


def form(fn: types.FunctionType, live: types.FunctionType) -> Callable[..., Any]:
    """The lifted form of a function, which changes containers that it is given themselves."""
    if not may_change(fn.__code__):
        return live
    known = live.__dict__.get("__overt_where_it_stands__")
    if known is not None:
        return known

    def call(*args: Any, **keywords: Any) -> Any:
        names = changed_of(fn, args, keywords)
        return (in_place(fn, names) if names else live)(*args, **keywords)

    call.__name__, call.__qualname__ = fn.__name__, fn.__qualname__
    call.__dict__["__overt_lifts__"] = live.__dict__["__overt_lifts__"]
    call.__dict__["__overt_live__"] = live
    live.__dict__["__overt_where_it_stands__"] = call
    return call


def from_outside(form: Callable[..., Any]) -> Callable[..., Any]:
    """The lifted form that the user calls directly, of whose arguments nothing is read later."""
    return getattr(form, "__overt_live__", form)


def in_place(fn: types.FunctionType, names: tuple[str, ...]) -> Callable[..., Any]:
    """The form that changes what these parameters are given where it stands."""

    def make() -> Any:
        import ast

        from overt.rewrites import core
        from overt.rewrites.in_place import copy_in_place
        from overt.transformer import load

        loaded = load.load(fn)
        assert isinstance(loaded.node, ast.FunctionDef)
        name = f"{loaded.node.name}_in_place"
        node = copy_in_place(loaded.node, name, list(names), {})
        function = load.core_of(replace(loaded, node=node), changed=True)
        source = core.Source(
            (function,), loaded.namespace, file=loaded.file.name, load=transformed._core_or_none
        )
        return transformed.lift(source, outermost=False)

    if fn.__name__ == "<lambda>":
        return refused
    return transformed.alive(fn, f"|in place({','.join(names)})|lift", make)


def refused(*args: Any, **keywords: Any) -> None:
    for x in (*args, *keywords.values()):
        no_container(x)
