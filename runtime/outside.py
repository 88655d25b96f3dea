"""Stores into lists and dictionaries that others hold too: they are done where these stand."""

from __future__ import annotations

import inspect
import operator
from typing import Any, NoReturn

from overt.runtime.changes import refuse_unless_carried
from overt.runtime.changing_code import may_view, stores
from overt.runtime.containers import COPIED, in_place
from overt.runtime.derivatives import is_inexact
from overt.runtime.escape import BY_SOURCE, KEPT, Escape
from overt.runtime.masks import active_lanes
from overt.runtime.numpy.indexing import erase, set_item, taken
from overt.runtime.numpy.movement import with_rule
from overt.runtime.outer_effects import about_to_change
from overt.runtime.parts import is_array
from overt.runtime.primitive import GRAPH
from overt.runtime.special_methods import original
from overt.runtime.tree import tree_leaves
from overt.runtime.viewing import is_mutable
from overt.runtime.world import MISSING, attributes_of, is_users_object

__all__ = [
    "change_there",
    "containers_only",
    "keep_array_in",
    "keep_in",
    "no_container",
    "not_of_tuple",
    "put_contents",
    "put_item",
    "stored_in",
]


IN_PLACE: dict[str, Any] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul,
    "&": operator.iand, "|": operator.ior, "^": operator.ixor,
}  # fmt: skip
AS_SET_ITEM: dict[str, Any] = {
    "arrays": ("x", "index", "value"),
    "vjp": (
        lambda g, out, x, index, value: erase(g, index),
        None,
        lambda g, out, x, index, value: taken(g, index, value),
    ),
    "jvp": lambda dots, out, x, index, value: set_item(dots[0], index, dots[2]),
}


@with_rule(**AS_SET_ITEM)
def put_item(x: Any, index: Any, value: Any) -> Any:
    """What `x` is after `x[index] = value`: a list or dictionary itself, of an array a changed one.

    >>> table = {"a": 1}
    >>> put_item(table, "b", 2) is table
    True
    """
    if not isinstance(x, COPIED):
        return set_item(x, index, value)
    may_change(x, value)
    x[index] = value  # type: ignore[index]
    return x


@with_rule(**AS_SET_ITEM)
def stored_in(x: Any, index: Any, value: Any) -> Any:
    """`put_item` where `x` is a local name of what may be a global or an attribute.

    Errors: NotImplementedError for a list or dictionary in a branch or loop of a program.

    >>> stored_in([1, 2], 0, 5)
    [5, 2]
    """
    if isinstance(x, COPIED) and in_region():
        raise NotImplementedError(
            "a list or dictionary that is a global variable or an attribute is changed under a "
            "local name, in a branch or loop of a compiled program or in some lanes of a vmap. "
            "Store into it by its own name"
        )
    return put_item(x, index, value)


def in_region() -> bool:
    """Whether code runs in a branch or loop of a compiled program, or for some lanes."""
    graph = GRAPH.get()
    return graph is not None and graph.parent is not None or active_lanes() is not None


def put_contents(x: Any, new: Any) -> None:
    """Let a list, dictionary or set hold what `new` holds.

    Errors: NotImplementedError for an array, which cannot change where it stands.

    >>> numbers = [1]
    >>> put_contents(numbers, [1, 2])
    >>> numbers
    [1, 2]
    """
    if x is new:
        return
    if not isinstance(x, COPIED):
        refuse_array()
    may_change(x, new)
    if isinstance(x, list):
        x[:] = new
        return
    x.clear()
    x.extend(new) if hasattr(x, "extend") else x.update(new)


def change_there(x: Any, symbol: str, value: Any) -> None:
    """`x += value` of a list, dictionary or set that others hold, too.

    Errors: NotImplementedError for anything else, of which a name is given a new value.

    >>> numbers = [1, 2]
    >>> change_there(numbers, "*", 2)
    >>> numbers
    [1, 2, 1, 2]
    """
    if not isinstance(x, COPIED):
        raise NotImplementedError(
            f"an operator such as `+=` changes a {type(x).__name__} where the code was written for "
            "a list, dictionary or set. Write `x = x + v`"
        )
    may_change(x, value)
    if is_users_object(x):
        in_place(x, symbol, value)
    else:
        IN_PLACE[symbol](x, value)


def containers_only(x: Any) -> None:
    """Refuse an array, which cannot change where it stands.

    >>> containers_only([1])
    """
    if is_array(x):
        refuse_array()


def no_container(x: Any) -> None:
    """Refuse a list, dictionary or set that others hold, given to a function that changes it.

    Errors: NotImplementedError, since the function changes a version of its own.

    >>> no_container(1.0)
    """
    if isinstance(x, COPIED):
        raise NotImplementedError(
            f"a {type(x).__name__} that a global variable or an object holds is given to a "
            "function that changes it, and which is not followed there: the change would be lost. "
            "Call the function by its own name, or have it return what it makes and store that"
        )


def refuse_array() -> NoReturn:
    raise NotImplementedError(
        "a function stores into an array that is a global variable or an attribute: arrays "
        "here do not change where they stand. Give the function a local name, and use that"
    )


def keep_in(holder: Any, name: str, value: Any, old: Any = MISSING, *, read: bool = False) -> None:
    """Let an attribute of an object hold what a change of the array there has made of it.

    A named tuple stays as it is, as arguments do, unless it is `read` again; so does one that holds
    this already, as `old`.

    >>> import types
    >>> box = types.SimpleNamespace(w=1)
    >>> keep_in(box, "w", 2)
    >>> box.w
    2
    """
    if old is value and isinstance(holder, tuple) and in_region():
        raise NotImplementedError(
            f"what a named tuple holds as {name!r} is changed in a branch or loop of a compiled "
            f"program or in some lanes of a vmap: make a new one, `s._replace({name}=...)`"
        )
    if old is value or isinstance(holder, tuple) and old is MISSING and not read:
        return
    if isinstance(holder, tuple):
        refuse_tuple(name)
    if old is MISSING and not is_computed(holder, name) and getattr(holder, name, None) is value:
        return
    may_change(holder, value)
    place = where_held(holder, name, old) if is_computed(holder, name) else name
    if place is not None:
        object.__setattr__(holder, place, value)


def keep_array_in(holder: Any, name: str, value: Any, *, read: bool = False) -> None:
    """`keep_in` after an operator such as `+=`, which gives what is no array or list a new value.

    >>> import types
    >>> box = types.SimpleNamespace(w=1)
    >>> keep_array_in(box, "w", 2)
    >>> box.w
    1
    """
    if is_mutable(value):
        keep_in(holder, name, value, read=read)


def not_of_tuple(x: Any, holder: Any) -> None:
    """Check before a function changes what an object holds that it is no array of a named tuple.

    >>> not_of_tuple([1.0], (1.0,))
    """
    if isinstance(holder, tuple) and is_array(x) and getattr(x, "ndim", 0) > 0:
        names = getattr(holder, "_fields", ())
        refuse_tuple(next((n for n in names if getattr(holder, n) is x), ""))


def refuse_tuple(name: str) -> NoReturn:
    raise NotImplementedError(
        f"an array that a named tuple holds as {name!r} is changed: make a new one, "
        f"`s._replace({name}=...)`, or a dataclass of it"
    )


def is_computed(holder: Any, name: str) -> bool:
    """Whether an object of the user's has no attribute of its own by this name, or a property."""
    if not is_users_object(holder):
        return False
    found = inspect.getattr_static(type(holder), name, None)
    return isinstance(found, property) or name not in attributes_of(holder)


def where_held(holder: Any, name: str, x: Any = MISSING) -> str | None:
    """The attribute that holds what a property gives; None if it makes a new value of it.

    Errors: NotImplementedError where that is not sure.
    """
    found = inspect.getattr_static(type(holder), name, None)
    getter = original(getattr(found, "fget", None))
    code = getattr(getter, "__code__", None)
    if code is not None and (x is not MISSING or not stores(code)):
        if x is MISSING:
            x = getattr(holder, name)
        places = [key for key, held in attributes_of(holder).items() if held is x]
        if len(places) == 1:
            return places[0]
        if not places and not may_view(code):
            return None
    raise NotImplementedError(
        f"what the property {name!r} of an object of the class {type(holder).__name__} gives is "
        "changed, and it is not what one attribute of the object holds; store into that instead"
        if getter is not None
        else f"an array that an object of the class {type(holder).__name__} has as {name!r} is "
        "changed under a local name, and it is no attribute of the object itself; change a copy, "
        "or store into it where it is held"
    )


def may_change(x: Any, value: Any) -> None:
    """Errors: Escape where a derivative would be lost; Changes in a branch not prepared for it."""
    if BY_SOURCE.get() and any(map(is_inexact, tree_leaves(value))):
        raise Escape(x, KEPT)
    about_to_change()
    refuse_unless_carried()
