"""Lists, dictionaries and sets as values: what one is after a method has changed it.

Rewritten code calls these in place of `xs.append(v)` and its kin.  They give a changed copy, so
that an earlier version of the container keeps what it held.
"""

from __future__ import annotations

import collections
import copy
import functools
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.called import call_method
from overt.runtime.escape import BY_SOURCE, Escape
from overt.runtime.none_or import NoneOr, opened
from overt.runtime.parts import is_array
from overt.runtime.staging import is_known
from overt.runtime.world import is_users_object

__all__ = [
    "appended",
    "at",
    "changed",
    "is_mapping",
    "is_sequence",
    "no_deep_items",
    "no_inner_items",
    "no_items",
    "no_parts",
    "no_slices",
    "no_twins",
    "no_views",
    "no_views_in",
    "not_kept",
    "in_place",
    "popped",
    "unshared",
    "unshared_values",
]


COPIED = (list, dict, set, bytearray, collections.deque)
OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    symbol: (f"__i{name.strip('_')}__", getattr(operator, name))
    for symbol, name in {
        "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod",
        "**": "pow", "@": "matmul", "&": "and_", "|": "or_", "^": "xor", "<<": "lshift",
        ">>": "rshift",
    }.items()
}  # fmt: skip
IN_PLACE = [f"__i{n}__" for n in "add sub mul truediv floordiv pow matmul and or xor".split()]


def appended(xs: Any, item: Any) -> Any:
    """What `xs` is after `xs.append(item)`.

    >>> appended([1, 2], 3)
    [1, 2, 3]
    """
    return [*xs, item] if type(xs) is list else changed(xs, "append", item)


def changed(xs: Any, method: str, *args: Any) -> Any:
    """What `xs` is after a method that changes it.

    >>> changed([1, 3], "insert", 1, 2)
    [1, 2, 3]
    """
    if (changing := at_place(xs, method, args)) is not None:
        return changing(xs, *args)
    if method == "__delitem__" and isinstance(xs, Sequence):
        xs = copy.copy(xs) if isinstance(xs, COPIED) else xs
        del xs[args[0]]
        return xs
    return popped(xs, method, *args)[1]


def popped(xs: Any, method: str, *args: Any) -> tuple[Any, Any]:
    """What a method returns, and what `xs` is afterwards.

    >>> popped({"a": 1}, "pop", "a")
    (1, {})
    """
    if (changing := at_place(xs, method, args)) is not None:
        return changing(xs, *args)
    if any(hasattr(type(x), "__overt_truth__") for x in args) and type(xs) in (list, dict, set):
        from overt.runtime.some_of import of_all

        xs = of_all(xs)  # joined to a container of some items
    if isinstance(xs, COPIED) or hasattr(type(xs), "__overt_truth__"):
        xs = copy.copy(xs)
    elif is_users_object(xs):  # changes itself, as its method says
        return call_method(xs, method, *args), xs
    result = getattr(xs, method)(*args)
    return result, xs


def at_place(xs: Any, method: str, args: tuple[Any, ...]) -> Any:
    """A method that changes a list at a place that is known only later, as a function."""
    if type(xs) is not list or not args or not isinstance(args[0], Array) or is_known(args[0]):
        return None
    from overt.runtime.plain_builtins import AT_PLACES

    return AT_PLACES.get(method)


def in_place(x: Any, symbol: str, value: Any) -> Any:
    """What `x` is after `x += value`; an object of the user's may change itself.

    >>> in_place(2, "*", 3)
    6
    """
    name, plain = OPERATORS[symbol]
    if is_users_object(x) and hasattr(type(x), name):
        if BY_SOURCE.get():
            raise Escape(x)
        made = call_method(x, name, value)
        if made is not NotImplemented:
            return made
    return plain(x, value)


class _At:
    """Writes an index as an argument: `at[1:3]`."""

    def __getitem__(self, index: Any) -> Any:
        return index

    def __repr__(self) -> str:
        return "at"


at = _At()


def is_sequence(x: Any) -> bool:
    """Whether a `[...]` pattern of `match` may fit: a sequence, but no text."""
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | bytearray)


def is_mapping(x: Any) -> bool:
    """Whether a `{...}` pattern of `match` may fit."""
    return isinstance(x, Mapping)


def no_views(x: Any, *items: Any) -> None:
    """Check that what was read from an array is elements, not rows, before a store into it.

    In NumPy a row read before would change with the store; here it would not.

    Errors: NotImplementedError for a row of an array.

    >>> no_views([[1], [2]], [1])
    """
    if getattr(x, "ndim", 0) == 0:
        return  # an item taken out of a list stays what it is
    if any(getattr(item, "ndim", 0) > 0 for item in everything_in(items)):
        raise NotImplementedError(
            "a row of an array is read, then the array is stored into, then the row is used: "
            "in NumPy the row is a view that has changed by then. Copy it where it is read: "
            "`x[i].copy()`"
        )


def no_views_in(x: Any, holder: Any) -> None:
    """The same where a container was given items of an array; an array has copied them.

    >>> no_views_in([[1], [2]], [1])
    """
    if not is_array(holder):
        no_views(x, holder)


def no_twins(x: Any) -> None:
    """Check before a change of an item of a container that no other item is the same object.

    Errors: NotImplementedError where one is.

    >>> no_twins([[1.0], [1.0]])
    """
    items = [item for item in held_in(x) if is_changeable(item)] if isinstance(x, COPIED) else []
    if len({id(item) for item in items}) < len(items):
        raise NotImplementedError(
            "a list or dictionary holds one object in several places, and it is changed in one: "
            "in Python the change shows in all. Put a copy of the object there"
        )


def no_items(x: Any, *holders: Any) -> None:
    """Check before a change of an item of a container that others do not hold the item too.

    Errors: NotImplementedError for items of lists and dictionaries that can change.

    >>> no_items([1.0], [2.0])
    """
    if isinstance(x, (*COPIED, tuple)) and any(map(is_changeable, leaves(x, inner=True))):
        if any(map(is_changeable, leaves(holders, inner=True))):
            raise NotImplementedError(
                "an item of a list or dictionary is changed, which another one holds as well and "
                "which is used later: in Python the change shows there too. Put a copy of the item "
                "into one of them"
            )


def no_inner_items(x: Any, *holders: Any) -> None:
    """Check the same of a change of what the items of a container hold.

    >>> no_inner_items([[1.0]], [[1.0]])
    """
    no_items([inner for item in held_in(x) for inner in held_in(item)], *holders)


def no_deep_items(x: Any, *holders: Any) -> None:
    """Check the same of what these hold.

    >>> no_deep_items([[[1.0]]], [[[1.0]]])
    """
    no_inner_items([inner for item in held_in(x) for inner in held_in(item)], *holders)


def no_slices(x: Any, *holders: Any) -> None:
    """Check before a change of an item of x that x and others do not hold views of one array.

    Errors: NotImplementedError for arrays; a slice of a list is a list of its own.

    >>> no_slices([[1.0]], [[1.0]])
    """
    if any(getattr(item, "ndim", 0) > 0 for item in held_in(x)):
        no_items(list(held_in(x)), *holders)


def held_in(x: Any) -> Iterator[Any]:
    """What a container holds; nothing of anything else."""
    if isinstance(x, (*COPIED, tuple)):
        yield from x.values() if isinstance(x, dict) else x


def leaves(x: Any, inner: bool = False) -> Iterator[Any]:
    """What containers hold, of any depth; with `inner`, the containers in them as well."""
    for item in x.values() if isinstance(x, dict) else x:
        if isinstance(item, (*COPIED, tuple)):
            if inner and not isinstance(item, tuple):
                yield item
            yield from leaves(item, inner)
        else:
            yield item


def everything_in(values: Any, beside: Any = None) -> Iterator[Any]:
    """These values and all that they hold, each once; not the one `beside`, nor what it holds."""
    seen: set[int] = {id(beside)} if beside is not None else set()
    pending = list(values)
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        yield x
        pending += held_by(x)


def choices(x: Any) -> tuple[Any, ...]:
    """The objects of which data chooses one."""
    return x.__overt_objects__ if hasattr(type(x), "__overt_objects__") else ()


def held_by(x: Any) -> list[Any]:
    """What a container, an object or a callable holds."""
    if found := choices(x):
        return list(found)
    if type(x) is NoneOr:
        return [opened(x)[0]]
    if isinstance(x, (*COPIED, tuple)):
        return list(held_in(x))
    if isinstance(x, functools.partial):
        return [*x.args, *x.keywords.values()]
    if isinstance(x, types.MethodType):
        return [x.__self__]
    if isinstance(x, types.FunctionType):
        return [c.cell_contents for c in x.__closure__ or () if has_contents(c)]
    if not isinstance(x, types.SimpleNamespace) and not is_users_object(x):
        return []
    names = getattr(type(x), "__slots__", ())
    names = (names,) if isinstance(names, str) else names
    slots = [getattr(x, n) for n in names if n != "__dict__" and hasattr(x, n)]
    return [*getattr(x, "__dict__", {}).values(), *slots]


def has_contents(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def is_changeable(x: Any) -> bool:
    return getattr(x, "ndim", 0) > 0 or changes_in_place(x)


def unshared(*values: Any) -> None:
    """Check before `x += v` that x is nothing that changes and that another variable names too.

    Errors: NotImplementedError for an array, a list or an object with an operator of this kind:
    in Python `+=` changes it for both.

    >>> unshared(1.0)
    """
    if any(map(changes_in_place, values)):
        unshared_values(*values, always=True)
    unshared_values(*values)


def unshared_values(*values: Any, always: bool = False) -> None:
    """The same where objects of the user's change themselves, so that both show it."""
    if always or any(getattr(x, "ndim", 0) > 0 or isinstance(x, COPIED) for x in values):
        raise NotImplementedError(
            "an array, list or object is changed by an operator such as `+=` while another "
            "variable names it too and is used later: in Python both would change. Write "
            "`x = x + v`, or copy it first"
        )


def changes_in_place(x: Any) -> bool:
    """Whether an operator such as `+=` changes an object."""
    if isinstance(x, COPIED):
        return True
    return is_users_object(x) and any(hasattr(type(x), name) for name in IN_PLACE)


def no_parts(holder: Any, *values: Any) -> None:
    """Check before a store into a part of a container that these, which it was given, are numbers.

    Errors: NotImplementedError for what the store could change, while its other name is used later.

    An array has a copy of what was stored into it.

    >>> no_parts([1.0], 1.0)
    """
    if is_array(holder):
        return
    if any(map(is_changeable, values)):
        raise NotImplementedError(
            "an array, list or object is put into a container, then a part of the container is "
            "changed, then the first is used: in Python the change may show there too. Put a copy "
            "into the container"
        )


def not_kept(*holders: Any) -> None:
    """Check that a value stored into other variables was copied, before the value is changed.

    An array copies what is stored into it; a list or dictionary keeps the object, and Python would
    show the change there too.

    Errors: NotImplementedError for a list, dictionary, tuple or object of the user's.

    >>> not_kept(1.0)
    """
    if any(isinstance(x, (list, dict, tuple)) or is_users_object(x) for x in holders):
        raise NotImplementedError(
            "an object is stored in a list, dictionary or object, then changed, then that is used: "
            "in Python the change shows there too. Store a copy: `xs[i] = v.copy()`"
        )
