"""Items of lists and dictionaries by a number that only the running program knows."""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Collection
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.carried import (
    Unlike,
)
from overt.runtime.chosen_objects import is_chosen
from overt.runtime.derivatives import BY_KEY, with_keys
from overt.runtime.errors import StagingError
from overt.runtime.index_range import range_of
from overt.runtime.joined_values import is_object, note, note_chosen
from overt.runtime.lanes import Lanes
from overt.runtime.one_of import OneOf, place_among
from overt.runtime.predicates import negated
from overt.runtime.staging import is_known
from overt.runtime.unrolling import unroll_if_shorter
from overt.runtime.world import CONTAINERS

__all__ = ["is_open_place", "item_of", "key_of", "with_item"]


def item_of(table: Any, index: Any) -> Any:
    """`table[index]`; of a list or an array of NumPy's also by what is known only later.

    Errors: TypeError, if it is not known and the items are of different types.

    >>> item_of({"a": len}, "a") is len
    True
    """
    if isinstance(table, numpy.ndarray) and holds_open(index):
        from overt.runtime import numpy as np

        return np.asarray(table)[index]
    if is_named(index) and is_open_place(table, index):
        return item_of(list(table.values()), place_of(index, list(table)))
    if not is_open_place(table, index):
        return table[key_of(table, index)]
    if isinstance(table, dict):
        return value_of(table, index)
    from overt.runtime import numpy as np

    if all(map(is_object, table)):
        return chosen_object(np.clip(counted(index, table), 0, len(table) - 1), table)
    if all(map(callable, table)):
        return OneOf(np.clip(counted(index, table), 0, len(table) - 1), table)
    unroll_if_shorter(table, index)
    place, found = counted(index, table), table[-1]
    for i in reversed(range(len(table) - 1)):
        found = chosen_item(place <= i if i == 0 else place == i, table[i], found)
    return noted(found, table)


def holds_open(index: Any) -> bool:
    """Whether an index has numbers in it that are known only later."""
    if isinstance(index, tuple):
        return any(map(holds_open, index))
    if isinstance(index, slice):
        return any(map(holds_open, (index.start, index.stop, index.step)))
    return isinstance(index, Array) and not is_known(index)


def chosen_object(index: Any, table: Any) -> Any:
    from overt.runtime.arranging import chosen_item as item

    return item(table, index)


def key_of(table: Any, index: Any) -> Any:
    """An array that is known as the number that a dictionary has for a key.

    Errors: TypeError for a number with a fraction, since a key has no derivative.
    """
    if isinstance(table, dict) and isinstance(index, Array) and not index.shape:
        refuse_data(index)
        return index.item()
    if isinstance(table, dict) and type(index) is tuple:
        return tuple(key_of(table, part) for part in index)
    return index


def refuse_data(key: Array) -> None:
    """Errors: TypeError for a number with a fraction, since a key keeps no derivative."""
    if key.dtype.kind in "fcV":
        raise TypeError(
            f"unhashable type: an array of {key.dtype} as the key of a dictionary, which keeps no "
            "derivative; use its position as the key, or float(key) of a number that Python knows"
        )


def value_of(table: dict[Any, Any], key: Any) -> Any:
    """`table[key]` of a dictionary, by a number that is known only later.

    Errors: KeyError when the program runs; a `Counter` counts 0.
    """
    keys = number_keys(table, key, missing=isinstance(table, collections.Counter))
    values = [table[k] for k in keys]
    if isinstance(table, collections.Counter):
        found: Any = 0
    else:
        found = values.pop()
    for k, value in reversed([*zip(keys, values, strict=False)]):
        found = chosen_item(key == k, value, found)
    return noted(found, table.values())


def noted(found: Any, items: Collection[Any]) -> Any:
    """An item chosen by data; of a list or dictionary a copy, which must stay as it is.

    Of an array the others may stand for what was chosen.
    """
    if isinstance(found, CONTAINERS) and not any(found is x for x in items):
        note(found)
    elif isinstance(found, Array):
        note_chosen(found, items)
    return found


def number_keys(table: dict[Any, Any], key: Any, missing: bool = False) -> list[Any]:
    """The keys that a number may be.

    Errors: KeyError when the program runs, for another one, if none may be `missing`.
    """
    from overt.runtime.staged_builtins import raise_if
    from overt.runtime.truth import or_

    keys = [k for k in table if isinstance(k, bool | int | float)]
    if not keys and not missing:
        raise KeyError(f"a number that data decides, of a dictionary with the keys {list(table)}")
    held: Any = False
    for k in keys:
        held = or_(held, functools.partial(operator.eq, key, k))
    if not missing:
        raise_if(negated(held), KeyError, lambda: (key,))
        origin = symbolic_of(key)
        if origin is not None:  # a store by this key finds it
            origin.graph.root.learned["key", id(origin)] = origin, keys
    return keys


def has_key(table: dict[Any, Any], key: Any) -> bool:
    """Whether a dictionary surely has a key into which is stored.

    Errors: StagingError in a loop where it may be a new one.
    """
    around, origin = range_of(key), symbolic_of(key)
    if around is not None and around[1] - around[0] < len(table):
        if all(k in table for k in range(around[0], around[1] + 1)):
            return True
    graph = None if origin is None else origin.graph
    read = graph and graph.root.learned.get(("key", id(origin)))
    if read and set(read[1]) <= set(table):
        return True
    while graph is not None:
        if graph.repeats:
            raise StagingError(
                "a loop stores into a dictionary by a number that only the running program knows, "
                "and it may be a new key; set all keys before the loop, and read `d[k]` before it "
                "is stored into"
            )
        graph = graph.parent
    return False


def symbolic_of(x: Any) -> Any:
    """The value of the program being staged that lanes and tangents wrap."""
    from overt.runtime.staging import Symbolic

    while isinstance(x, Array) and (x.transparent or type(x) is Lanes):
        x = x.value if type(x) is Lanes else x.primal  # type: ignore[attr-defined]
    return x if type(x) is Symbolic else None


def with_item(table: Any, index: Any, value: Any) -> Any:
    """The items of a list with one replaced, by a number that is known only later."""
    if is_named(index):
        items = with_item(list(table.values()), place_of(index, list(table)), value)
        return with_keys(table, dict(zip(table, items, strict=True)))
    if isinstance(table, dict):
        if index.transparent:  # it is being differentiated
            refuse_data(index)
        keys = number_keys(table, index, missing=has_key(table, index))
        items = {k: chosen_item(index == k, value, table[k]) for k in keys}
        return with_keys(table, {**table, **items})
    unroll_if_shorter(table, index)
    place = counted(index, table, "assignment ")
    return [chosen_item(place == i, value, item) for i, item in enumerate(table)]


def is_open_place(table: Any, index: Any) -> bool:
    """Whether an index of a list, or a key of a dictionary, is known only later."""
    if is_named(index):
        return isinstance(table, dict) and bool(table)
    if not isinstance(index, Array) or index.shape:
        return False
    if type(table) not in BY_KEY:
        if type(table) is not list and type(table) is not tuple or not table:
            return False
        if index.dtype.kind not in "iub":
            return False
    return not is_known(index)


def is_named(index: Any) -> bool:
    """Whether a key is a text or object that data chooses, or a tuple with numbers of data."""
    if type(index) is tuple:
        return any(isinstance(part, Array) and not is_known(part) for part in index)
    return is_chosen(index) or type(index) is OneOf and index.is_text


def place_of(key: Any, keys: list[Any]) -> Any:
    """The place of such a key among the keys of a dictionary.

    Errors: KeyError when the program runs, for one that is no key.
    """
    if is_chosen(key):
        return place_among(key.__overt_index__, key.__overt_objects__, keys)
    if type(key) is OneOf:
        return place_among(key.index, key.functions, keys)
    from overt.runtime import numpy as np
    from overt.runtime.staged_builtins import raise_if

    for part in key:
        if isinstance(part, Array):
            refuse_data(part)
    alike = [np.asarray(is_key(key, k)) for k in keys]
    raise_if(negated(functools.reduce(operator.or_, alike)), KeyError, lambda: key)
    return np.argmax(np.stack(alike), axis=0)


def is_key(key: tuple[Any, ...], k: Any) -> Any:
    """Whether a tuple with numbers of data is this key."""
    if type(k) is not tuple or len(k) != len(key):
        return False
    same: Any = True
    for part, other in zip(key, k, strict=True):
        if not isinstance(part, Array):
            same = same & (part == other)
        elif isinstance(other, bool | int | float):
            same = same & (part == other)
        else:
            return False
    return same


def counted(index: Any, table: Any, what: str = "") -> Any:
    """An index of a list as an integer counted from the front.

    Errors: IndexError when the program runs, as of Python's lists.
    """
    from overt.runtime import numpy as np
    from overt.runtime.staged_builtins import raise_if

    length, around = len(table), range_of(index)
    index = index.astype(int)
    if around is None or around[0] < -length or around[1] >= length:
        message = f"{type(table).__name__} {what}index out of range"
        raise_if((index < -length) | (index >= length), IndexError, lambda: (message,))
    if around is not None and around[0] >= 0:
        return index
    return np.where(index < 0, index + length, index)


def chosen_item(mask: Any, a: Any, b: Any) -> Any:
    from overt.runtime.choice import choose

    try:
        return choose(mask, a, b)
    except Unlike as unlike:
        raise TypeError(
            f"the items of a list are of different types: {unlike.one} and {unlike.other}; which "
            "of them is meant is known only when the program runs"
        ) from None
