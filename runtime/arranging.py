"""Lists in another order, or repeated: what `sorted`, `max(key=...)` and `xs * n` come down to.

Where the order is known only when the program runs, items are trees of arrays of one structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.chosen_objects import chosen_value, of_objects
from overt.runtime.derivatives import add, materialize, zeros_like_tree
from overt.runtime.joined_values import by_reference, is_object, note
from overt.runtime.numpy.movement import with_rule
from overt.runtime.ordering import is_open_key, positions
from overt.runtime.parts import is_array, parts_of
from overt.runtime.primitive import Rule
from overt.runtime.staging import is_known
from overt.runtime.tree import tree_map
from overt.runtime.world import CONTAINERS

__all__ = [
    "chosen_item", "count_in", "order_but", "order_of", "order_with",
    "order_without", "picked", "place_from_start", "place_in", "place_of",
    "repetition", "set_all",
]  # fmt: skip


def is_open(x: Any) -> bool:
    """Whether Python cannot have the value of `x` now."""
    return isinstance(x, Array) and not is_known(x)


def keys_of(items: Sequence[Any], key: Callable | None) -> list[Any]:
    """What items are compared by."""
    return list(items) if key is None else [key(x) for x in items]


def order_of(items: Any, key: Callable | None = None, reverse: bool = False) -> Any:
    """The positions of items in the order of `sorted`; an array where they are known only later.

    >>> order_of([3, 1, 2])
    [1, 2, 0]
    """
    keys = keys_of(items, key)
    if not any(map(is_open_key, keys)):
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    from overt.runtime import numpy as np

    if not all(map(is_array, keys)):
        return np.argsort(positions(keys, reverse))
    numbers = np.stack(keys)
    return np.argsort(-numbers if reverse else numbers, stable=True)


def place_of(items: Any, key: Callable | None, largest: bool) -> Any:
    """The position of the first item that `max` or `min` finds."""
    keys = keys_of(items, key)
    if not any(map(is_open_key, keys)):
        found = (max if largest else min)(range(len(keys)), key=keys.__getitem__)
        return found
    from overt.runtime import numpy as np

    if not all(map(is_array, keys)):
        return np.argmin(positions(keys, largest))
    return (np.argmax if largest else np.argmin)(np.stack(keys))


def hits_in(items: Sequence[Any], value: Any, start: int = 0, stop: int | None = None) -> Any:
    """Which items equal a value, where that is known only later; an array of booleans."""
    from overt.runtime import numpy as np
    from overt.runtime.predicates import predicate

    among = range(len(items))[start:stop]
    hits = [
        i in among and (x is value or is_array(x) and is_array(value) and predicate(x == value))
        for i, x in enumerate(items)
    ]
    return np.stack(hits)


def is_open_search(items: Any, value: Any) -> bool:
    """Whether only the running program knows which items of a list equal a value."""
    return type(items) in (list, tuple) and bool(items) and any(map(is_open, (value, *items)))


def place_in(items: Any, value: Any, *bounds: int) -> Any:
    """`items.index(value, *bounds)`.

    Errors: ValueError, when the program runs, if no item equals the value.

    >>> place_in([3, 1, 2], 2)
    2
    """
    if not is_open_search(items, value):
        return items.index(value, *bounds)
    from overt.runtime import numpy as np

    hits = hits_in(items, value, *bounds)
    found_somewhere(hits, f"{type(items).__name__}.index(x): x not in {type(items).__name__}")
    return np.argmax(hits)


def count_in(items: Any, value: Any) -> Any:
    """`items.count(value)`.

    >>> count_in([1, 2, 1], 1)
    2
    """
    return hits_in(items, value).sum() if is_open_search(items, value) else items.count(value)


def order_without(items: Any, value: Any) -> Any:
    """The positions of the items that stay when the first that equals a value is removed.

    Errors: ValueError, when the program runs, if there is none.

    >>> order_without([3, 1, 2, 1], 1)
    [0, 2, 3]
    """
    if not is_open_search(items, value):
        if value not in items:
            raise ValueError("list.remove(x): x not in list")
        place = items.index(value)
        return [i for i in range(len(items)) if i != place]
    from overt.runtime import numpy as np

    hits = hits_in(items, value)
    found_somewhere(hits, "list.remove(x): x not in list")
    kept = np.arange(len(items) - 1)
    return kept + (kept >= np.argmax(hits))


def order_but(items: Sequence[Any], place: Any) -> Any:
    """The positions of the items but for that at a place, which is known only later."""
    from overt.runtime import numpy as np

    kept = np.arange(len(items) - 1)
    return kept + (kept >= np.where(place < 0, place + len(items), place))


def order_with(items: Sequence[Any], place: Any) -> Any:
    """The positions of items of which the last is to be moved to a place known only later."""
    from overt.runtime import numpy as np

    last = len(items) - 1
    place = np.clip(np.where(place < 0, place + last, place), 0, last)
    spread = np.arange(last + 1)
    return np.where(spread == place, last, spread - (spread > place))


def place_from_start(items: Sequence[Any], place: Any) -> Any:
    """A place known only later, counted from the start."""
    return place + len(items) * (place < 0)


def found_somewhere(hits: Any, message: str) -> None:
    from overt.runtime.staged_builtins import raise_if

    raise_if(~hits.any(), ValueError, lambda: (message,))


order_without.rule = Rule("order_without", ("items", "value"), zero=True)  # type: ignore[attr-defined]
place_in.rule = Rule("place_in", ("items", "value"), zero=True)  # type: ignore[attr-defined]
count_in.rule = Rule("count_in", ("items", "value"), zero=True)  # type: ignore[attr-defined]
order_of.rule = Rule("order_of", ("items",), zero=True)  # type: ignore[attr-defined]
for _of_place in (order_but, order_with, place_from_start):
    _of_place.rule = Rule(_of_place.__name__, ("items", "place"), zero=True)  # type: ignore[attr-defined]
place_of.rule = Rule("place_of", ("items",), zero=True)  # type: ignore[attr-defined]


@with_rule(
    ("items", "order"),
    vjp=(lambda g, out, items, order: put_in_place(g, items, order), None),
    jvp=lambda dots, out, items, order: picked(dots[0], order),
)
def picked(items: Sequence[Any], order: Any) -> list[Any]:
    """Items in another order.

    >>> picked(["a", "b", "c"], [2, 0, 1])
    ['c', 'a', 'b']
    """
    if not isinstance(order, Array):
        return [items[i] for i in order]
    return [chosen_item(items, i) for i in order]


def put_in_place(g: Any, items: Sequence[Any], order: Any) -> Any:
    """The cotangent of items before they were put in another order."""
    from overt.runtime import numpy as np

    if g is None:
        return None
    if isinstance(order, Array):
        g = [materialize(bar, items[0]) for bar in g]
        if len(g) == len(items):
            return picked(g, np.argsort(order))
        back = [zeros_like_tree(x) for x in items]  # some were left out
        for k, bar in enumerate(g):
            chosen = spread_item(bar, items, order[k])
            back = [add(one, other) for one, other in zip(back, chosen, strict=True)]
        return back
    bars: list[Any] = [None] * len(items)
    for i, bar in zip(order, g, strict=True):
        bars[i] = materialize(bar, items[i])
    return bars


@with_rule(
    ("items", "i"),
    vjp=(lambda g, out, items, i: spread_item(g, items, i), None),
    jvp=lambda dots, out, items, i: chosen_item(dots[0], i),
)
def chosen_item(items: Sequence[Any], i: Any) -> Any:
    """`items[i]`, also where i is known only later."""
    if not is_open(i):
        return items[int(i)]
    if all(map(is_object, items)):
        if all(map(by_reference, items)):
            return of_objects(i, items)
        made = chosen_value(i, items)
        note(made, *items)
        return made
    made = tree_map(lambda *leaves: chosen_leaf(leaves, i), *items)
    if isinstance(made, CONTAINERS):
        note(made)
    return made


def chosen_leaf(leaves: tuple[Any, ...], i: Any) -> Any:
    """One of some numbers, arrays or texts."""
    from overt.runtime import numpy as np
    from overt.runtime.one_of import OneOf

    return OneOf(i, leaves) if type(leaves[0]) is str else np.stack(leaves)[i]


def spread_item(g: Any, items: Sequence[Any], i: Any) -> Any:
    """The cotangent of items of which one was chosen."""
    if g is None:
        return None
    if not is_open(i):
        return [g if k == int(i) else zeros_like_tree(x) for k, x in enumerate(items)]
    return [where_chosen(i == k, g) for k in range(len(items))]


def where_chosen(hit: Any, g: Any) -> Any:
    """A cotangent, or a zero where the item it belongs to is another one."""
    from overt.runtime import numpy as np

    parts = parts_of(g)
    if parts is not None:
        return parts.rebuild([where_chosen(hit, x) for x in parts.values])
    return np.where(hit, g, 0 * g) if is_array(g) else g


@with_rule(
    ("items", "n"),
    vjp=(lambda g, out, items, n: folded(g, items, n), None),
    jvp=lambda dots, out, items, n: repetition(dots[0], n),
)
def repetition(items: Any, n: Any) -> Any:
    """`items * n`, of a list as of numbers.

    >>> repetition([1, 2], 2)
    [1, 2, 1, 2]
    """
    return items * n


def folded(g: Any, items: Any, n: Any) -> Any:
    """The cotangent of a list that was repeated."""
    if g is None or not isinstance(items, list | tuple):
        return None if g is None else g * n
    bars = [zeros_like_tree(x) for x in items]
    for k, bar in enumerate(g):
        bars[k % len(items)] = add(bars[k % len(items)], bar)
    return type(items)(bars)


@with_rule(
    ("x", "value"),
    vjp=(
        lambda g, out, x, value: unfilled(g, x),
        lambda g, out, x, value: all_taken(g, x, value),
    ),
    jvp=lambda dots, out, x, value: set_all(dots[0], dots[1]),
)
def set_all(x: Any, value: Any) -> Any:
    """What `x` is after `x.fill(value)`.

    >>> from overt.runtime import numpy as np
    >>> print(set_all(np.zeros(2), 3.0))
    [3. 3.]
    """
    if is_array(x):
        from overt.runtime import numpy as np

        return np.full_like(x, value)
    x.fill(value)
    return x


def unfilled(g: Any, x: Any) -> Any:
    """The cotangent of what was there before: nothing comes back of an array's elements."""
    return None if is_array(x) else g


def all_taken(g: Any, x: Any, value: Any) -> Any:
    """The cotangent of what an array was filled with."""
    from overt.runtime.derivatives import sum_to

    return sum_to(g, value) if is_array(x) and g is not None else None
