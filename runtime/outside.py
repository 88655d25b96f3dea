"""Stores into lists and dictionaries that others hold too: they are done where these stand."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

from overt.runtime.changes import refuse_unless_carried
from overt.runtime.containers import COPIED, in_place
from overt.runtime.derivatives import is_inexact
from overt.runtime.escape import BY_SOURCE, KEPT, Escape
from overt.runtime.masks import active_lanes
from overt.runtime.numpy.indexing import erase, set_item, taken
from overt.runtime.numpy.movement import with_rule
from overt.runtime.outer_effects import about_to_change
from overt.runtime.parts import is_array
from overt.runtime.primitive import GRAPH
from overt.runtime.tree import tree_leaves
from overt.runtime.world import MISSING, attributes_of, is_users_object

__all__ = [
    "change_there",
    "containers_only",
    "keep_in",
    "no_container",
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
    graph = GRAPH.get()
    staged = graph is not None and graph.parent is not None
    if isinstance(x, COPIED) and (staged or active_lanes() is not None):
        raise NotImplementedError(
            "a list or dictionary that is a global variable or an attribute is changed under a "
            "local name, in a branch or loop of a compiled program or in some lanes of a vmap. "
            "Store into it by its own name"
        )
    return put_item(x, index, value)


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


def keep_in(holder: Any, name: str, value: Any, old: Any = MISSING) -> None:
    """Let an attribute of an object hold what a change of the array there has made of it.

    A named tuple stays as it is, as arguments do; so does one that holds this already, as `old`.

    >>> import types
    >>> box = types.SimpleNamespace(w=1)
    >>> keep_in(box, "w", 2)
    >>> box.w
    2
    """
    if old is value or isinstance(holder, tuple) and old is MISSING:
        return
    if isinstance(holder, tuple):
        raise NotImplementedError(
            f"an array that a named tuple holds as {name!r} is changed: make a new one, "
            f"`s._replace({name}=...)`, or a dataclass of it"
        )
    if old is MISSING and getattr(holder, name, None) is value:
        return
    may_change(holder, value)
    computed = getattr(type(holder), name, None)
    if isinstance(computed, property) and computed.fset is None:
        name = where_held(holder, name, old)
    object.__setattr__(holder, name, value)


def where_held(holder: Any, name: str, x: Any) -> str:
    """The attribute that holds what a property without setter gives.

    Errors: NotImplementedError where none does, or several.
    """
    found = [key for key, held in attributes_of(holder).items() if held is x]
    if len(found) == 1:
        return found[0]
    raise NotImplementedError(
        f"what the property {name!r} of an object of the class {type(holder).__name__} gives is "
        "changed, and it is not what one attribute of the object holds; store into that instead"
    )


def may_change(x: Any, value: Any) -> None:
    """Errors: Escape where a derivative would be lost; Changes in a branch not prepared for it."""
    if BY_SOURCE.get() and any(map(is_inexact, tree_leaves(value))):
        raise Escape(x, KEPT)
    about_to_change()
    refuse_unless_carried()
