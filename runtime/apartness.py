"""Checks before a change that no other name, read later, stands for what is changed.

Generated code makes them where the text does not tell: an object that was given an array, what a
function unknown to the text has returned.  One array that two names stand for is one object here,
unless both came into a branch or loop of a compiled program, where nothing tells.
"""

from __future__ import annotations

import functools
import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

from overt.runtime.array import Array
from overt.runtime.containers import (
    COPIED,
    choices,
    everything_in,
    held_by,
    held_in,
    is_changeable,
)
from overt.runtime.joined_values import chosen_from, is_copy
from overt.runtime.lanes import has_lanes
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import is_array
from overt.runtime.staging import is_known
from overt.runtime.world import CONTAINERS

__all__ = [
    "apart",
    "apart_arrays",
    "apart_arrays_in",
    "apart_containers",
    "apart_held",
    "apart_inside",
    "apart_items",
    "apart_values",
    "apart_views",
    "apart_views_in",
    "held_at",
    "held_once",
    "item_once",
    "items_once",
    "no_copies",
    "not_chosen",
    "not_one_of",
    "own_array",
    "unshared_item",
    "unshared_parts",
]

VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class Several(list[Any]):
    """What each of several objects holds under one name."""


def held_at(x: Any, *names: str) -> Any:
    """`x.a.b`, as far as it is there; of each item, where there is a list on the way.

    >>> held_at("text", "imag"), held_at([1 + 2j], "imag")
    (None, 2.0)
    """
    found = [x]
    for name in names:
        each = [y for x in found for y in objects_in(x)]
        reached = [getattr(x, name, x if is_array(x) else None) for x in each]
        found = [x for x in reached if x is not None]
    return Several(found) if len(found) > 1 else found[0] if found else None


def objects_in(x: Any) -> list[Any]:
    """The objects that have the attributes: those in a list, or of which data chooses one."""
    if type(x) is NoneOr:
        return objects_in(opened(x)[0])
    if isinstance(x, (*COPIED, tuple)) and not hasattr(x, "_fields"):
        return list(held_in(x))
    return list(choices(x)) or [x]


def of_each(check: Callable[..., None]) -> Callable[..., None]:
    """A check of one value, also of several."""

    @functools.wraps(check)
    def checked(x: Any, *others: Any, **options: Any) -> None:
        for each in x if type(x) is Several else (x,):
            check(each, *others, **options)

    return checked


@of_each
def apart(x: Any, *others: Any, beside: Any = None) -> None:
    """Check before x is changed that none of the others is x, or holds it, `beside` an object.

    Errors: NotImplementedError where one does, or may.

    >>> apart([1.0], [1.0])
    """
    x = opened(x)[0] if type(x) is NoneOr else x
    if not is_changeable(x) and not is_array(x):
        return
    perhaps = (x, *chosen_from(x))
    for other in everything_in(others, beside):
        met = any(other is y or may_be(y, other) for y in perhaps)
        if met or shows_keys(other, x) or may_be_copy(x, other):
            raise NotImplementedError(
                "an array or list is changed that another variable, which is used later, stands "
                "for or holds as well: in Python the change shows there too. Change a copy, or "
                "give the other one a copy: `x.copy()`"
            )


def shows_keys(view: Any, x: Any) -> bool:
    """Whether a value is `x.keys()`, `x.values()` or `x.items()` of a dictionary, which shows what
    is in it later.
    """
    return isinstance(view, VIEWS) and any(held is x for held in gc.get_referents(view))


@of_each
def apart_arrays(x: Any, *others: Any, beside: Any = None, made: bool = False) -> None:
    """The same of an array; a list that an object holds changes where it stands.

    An array without axes stands for a number, which `+=` gives a new value, unless one of NumPy's
    functions has `made` it.

    >>> apart_arrays([1.0], [1.0])
    """
    for candidate in choices(beside):
        for held in held_by(candidate):  # data chooses whose attribute changes
            apart_arrays(held, *others, beside=candidate, made=made)
    if has_memory(x, made):
        apart(x, *others, beside=beside)


def has_memory(x: Any, made: bool = False) -> bool:
    """Whether a value is an array with axes or, where NumPy has `made` it, of any kind."""
    return getattr(x, "ndim", -1) >= (0 if made else 1)


@of_each
def apart_containers(x: Any, *others: Any, beside: Any = None) -> None:
    """The same before a function of the user's changes x; a number is given a new value there.

    >>> apart_containers(1.0, 1.0)
    """
    if getattr(x, "ndim", 0) > 0 or is_changeable(x):
        apart(x, *others, beside=beside)


def apart_items(x: Any, *others: Any, beside: Any = None) -> None:
    """The same before a change of what x holds.

    >>> apart_items([[1.0]], [[1.0]])
    """
    if is_array(x):
        apart_views(x, *others, beside=beside)
        return
    for item in everything_in([x]):
        if item is not x and is_changeable(item):
            apart(item, *(other for other in others if other is not x), beside=beside)


def apart_inside(x: Any, *others: Any, beside: Any = None) -> None:
    """The same where the others are made anew from x, if that is an array.

    >>> apart_inside([[1.0]], [[1.0]])
    """
    if not is_array(x):
        apart_items(x, *others, beside=beside)


@of_each
def apart_values(x: Any, *others: Any, beside: Any = None) -> None:
    """The same before an operator such as `+=`, which gives a number a new value.

    >>> apart_values(1.0, 1.0)
    """
    if is_changeable(x):
        apart(x, *others, beside=beside)


def apart_views(x: Any, *others: Any, beside: Any = None) -> None:
    """Check before a change of an array that the others hold no arrays, which may be views of it.

    >>> apart_views([1.0], [1.0])
    """
    if getattr(x, "ndim", 0) == 0:
        return
    for other in everything_in(others, beside):
        if getattr(other, "ndim", 0) > 0 and other.dtype == x.dtype:
            raise NotImplementedError(
                "an array is changed while another variable, which is used later, holds what may "
                "be a view of it: in NumPy the change shows there too. Copy the view where it is "
                "made: `x[1:].copy()`"
            )


def apart_held(x: Any, *holders: Any, beside: Any = None) -> None:
    """The same of what the others hold, if they are no arrays, which copy what they are given.

    >>> apart_held([1.0], [1.0])
    """
    for holder in holders:
        if not is_array(holder):
            held = (y for y in everything_in([holder], beside) if y is not holder)
            apart_views(x, *held, beside=beside)


def apart_arrays_in(x: Any, *others: Any) -> None:
    """Check before a change of arrays that x holds that nothing but x, and what it holds, has them.

    >>> apart_arrays_in([1.0], 1.0)
    """
    inner = list(everything_in([x]))
    inside = {id(y) for y in inner if not is_array(y)}
    beside = [other for other in others if id(other) not in inside]
    while beside:
        held = [y for other in beside for y in held_by(other) if id(y) not in inside]
        found = [y for y in beside if is_array(y)]
        for array in filter(has_memory, inner):
            apart(array, *found)
        beside = held


def apart_views_in(x: Any, *others: Any) -> None:
    """The same of views of such arrays.

    >>> apart_views_in([1.0], 1.0)
    """
    for array in filter(has_memory, everything_in([x])):
        apart_views(array, *others, beside=x)


def no_copies(x: Any, *others: Any) -> None:
    """Check before a list, dictionary or set changes that others are no copies of it.

    Errors: NotImplementedError for what data chose in a program: it may have been this one.

    >>> no_copies([1.0], [1.0])
    """
    if any(may_be_copy(x, other) for other in others):
        raise NotImplementedError(
            "a list or dictionary is changed that data may have chosen before, and what was chosen "
            "is used later: in Python the change shows there, in a compiled program it is a copy. "
            "Change it first, or use what was chosen before the change"
        )


def not_chosen(x: Any, *others: Any) -> None:
    """Check the same before an array changes that a global variable holds.

    >>> not_chosen([1.0], 1.0)
    """
    same = (y for y in others if isinstance(y, Array) and not is_known(y))
    if has_memory(x) and any(y.shape == x.shape for y in same):
        raise NotImplementedError(
            "an array is changed that data may have chosen before, and what was chosen is used "
            "later: in NumPy the change shows there. Choose a copy: `x.copy()`"
        )


def not_one_of(x: Any, *holders: Any) -> None:
    """Check before an array changes that data has not chosen it among those that holders hold.

    >>> not_one_of(1.0, [1.0])
    """
    if not has_memory(x) or is_known(x) and not has_lanes(x):
        return
    if any(has_memory(y) and y.shape == x.shape for y in everything_in(list(holders))):
        raise NotImplementedError(
            "an array is changed that data has chosen, and that may be one which a container of a "
            "module holds: in NumPy the change shows there, too. Change a copy: `x.copy()`"
        )


def may_be(x: Any, other: Any) -> bool:
    """Whether two values may be one object that came into or out of a branch or loop twice."""
    x, other = symbol(x), symbol(other)
    if x is None or other is None or x.aval != other.aval:
        return False
    graph, around = x.graph, other.graph
    if x.node is other.node and x.node.regions:  # both come out of a branch or loop
        return True
    if graph.parent is None or x.node is not graph.source:
        return False
    return around is not graph or other.node is graph.source


def may_be_copy(x: Any, other: Any) -> bool:
    """Whether one of two containers is what data chose, and may so have been the other one."""
    kind = other.kind if hasattr(type(other), "__overt_snapshot__") else type(other)
    return isinstance(x, CONTAINERS) and kind is type(x) and (is_copy(x) or is_copy(other))


def symbol(x: Any) -> Any:
    """The value of a program's graph under an array's tangents, lanes and records, if it is one."""
    while isinstance(x, Array) and not hasattr(x, "graph"):
        x = getattr(x, "value", None) if hasattr(x, "value") else getattr(x, "primal", None)
    return x if isinstance(x, Array) else None


@of_each
def held_once(x: Any, holder: Any, made: bool = False) -> None:
    """Check before an array is changed that an object holds it in one place only.

    >>> held_once([1.0], [[1.0]])
    """
    if not has_memory(x, made):
        return
    if sum(item is x for item in places_in(holder)) > 1:
        raise NotImplementedError(
            "an array is changed that an object holds in several places: in Python this changes "
            "them all. Give each place a copy: `x.copy()`"
        )


def item_once(x: Any, holder: Any) -> None:
    """Check before an item of a container is changed that the container holds it in one place only.

    >>> item_once(1.0, [1.0])
    """
    if is_changeable(x):
        refuse_twice([x], places_in(holder))


def items_once(holder: Any) -> None:
    """The same before a function changes what a container holds.

    >>> items_once([1.0, 1.0])
    """
    places = places_in(holder)
    refuse_twice(list(filter(is_changeable, places)), places)


def places_in(holder: Any) -> list[Any]:
    """What stands in each place of a container and of all that it holds."""
    return [item for holding in everything_in([holder]) for item in held_by(holding)]


def refuse_twice(items: list[Any], places: list[Any]) -> None:
    """Errors: NotImplementedError if one of the items is, or may be, in two of the places."""
    found = Counter(map(id, places))
    symbols = [item for item in places if symbol(item) is not None]
    if any(
        found[id(x)] + sum(item is not x and may_be(x, item) for item in symbols) > 1 for x in items
    ):
        raise NotImplementedError(
            "a list, dictionary or object holds one array or list in several places, and it is "
            "changed in one: in Python the change shows in all. Put a copy there: `x.copy()`"
        )


def own_array(x: Any) -> None:
    """Check before a change that a local name of what a global or an object holds is no array.

    >>> own_array([1.0])
    """
    if getattr(x, "ndim", 0) > 0:
        raise NotImplementedError(
            "an array that a container of a module or of an object holds is changed under a local "
            "name: in NumPy the change shows there, too. Change a copy, `x.copy()`, and put that "
            "back if this is meant"
        )


def unshared_parts(x: Any, *whole: Any) -> None:
    """Check before a function changes what x holds by operators that these are numbers.

    With x given a second time, x itself as well.

    >>> unshared_parts([1.0])
    """
    most = 0 if whole else 1
    if getattr(x, "ndim", 0) > most or any(
        getattr(y, "ndim", 0) > 0 for y in everything_in([x]) if y is not x
    ):
        raise NotImplementedError(
            "a function changes an array that it is given, which another variable, used later, "
            "stands for or holds: in NumPy the change shows there. Return the changed value from "
            "the function and use that"
        )


def unshared_item(x: Any) -> None:
    """Check before a function changes what it is given by operators that this is a number.

    >>> unshared_item(1.0)
    """
    unshared_parts(x, x)
