"""What rewritten code calls to keep a view and what it is a view of in step.

An item of an array is a view if it is an array itself and the index has no arrays or lists in it;
an item of a list or a dictionary is the object itself, a slice of a list is a copy.  A tuple in a
list is kept in step for the arrays it holds; an operator such as `+=` makes another, longer one.
"""

from __future__ import annotations

from typing import Any

from overt.runtime.containers import COPIED
from overt.runtime.derivatives import zeros_like_tree
from overt.runtime.numpy.indexing import erase, place, set_item, taken
from overt.runtime.numpy.movement import with_rule
from overt.runtime.parts import is_array
from overt.runtime.tables import is_open_place, item_of

__all__ = ["changed_too", "item_again", "read_again", "stored_back"]


def is_mutable(x: Any) -> bool:
    """Whether a change of a value shows under its other names."""
    return isinstance(x, COPIED) or is_array(x) and getattr(x, "ndim", 0) > 0


def is_plain(index: Any) -> bool:
    """Whether an index picks a view: no array, list or mask in it."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(
        isinstance(p, (list, bool)) or is_array(p) and getattr(p, "ndim", 0) > 0 for p in parts
    )


def is_view(x: Any, index: Any, part: Any) -> bool:
    """Whether `part`, read as `x[index]`, is a part of x and no copy."""
    if is_array(x):
        wide = getattr(part, "ndim", 0) > 0 or isinstance(index, tuple) and Ellipsis in index
        return wide and is_plain(index)
    if isinstance(part, tuple):
        held = x[index] if holds_mutable(part) else ()
        return isinstance(held, tuple) and len(held) == len(part) > 0
    return is_mutable(part) and not isinstance(index, slice)


def holds_mutable(x: tuple[Any, ...]) -> bool:
    return any(holds_mutable(y) if isinstance(y, tuple) else is_mutable(y) for y in x)


@with_rule(
    ("x", "index", "part"),
    vjp=(
        lambda g, out, x, index, part: erased_where_view(g, index, part),
        None,
        lambda g, out, x, index, part: taken_where_view(g, index, part),
    ),
    jvp=lambda dots, out, x, index, part: stored_back(dots[0], index, dots[2]),
)
def stored_back(x: Any, index: Any, part: Any) -> Any:
    """`x` after a change of `part`, which was read as `x[index]`.

    >>> stored_back([[1], [2]], 0, [5]), stored_back([1, 2], 0, 5)
    ([[5], [2]], [1, 2])
    """
    return set_item(x, index, part) if is_view(x, index, part) else x


def erased_where_view(g: Any, index: Any, part: Any) -> Any:
    """The cotangent of an array or container before its part was written."""
    return erase(g, index) if is_view(g, index, part) else g


def taken_where_view(g: Any, index: Any, part: Any) -> Any:
    """The cotangent of the part that was written; of a number, which was not, a zero."""
    written = g is not None and is_view(g, index, part)
    return taken(g, index, part) if written else zeros_like_tree(part)


@with_rule(
    ("x", "index", "part"),
    vjp=(
        lambda g, out, x, index, part: placed_where_view(g, x, index, part),
        None,
        lambda g, out, x, index, part: kept_where_copy(g, x, index, part),
    ),
    jvp=lambda dots, out, x, index, part: read_again(dots[0], index, dots[2]),
)
def read_again(x: Any, index: Any, part: Any) -> Any:
    """`part`, which was read as `x[index]`, after a change of x: of an array, what is there now.

    >>> read_again([1, 2], 0, 5)
    5
    """
    return x[index] if is_array(x) and is_view(x, index, part) else part


def placed_where_view(g: Any, x: Any, index: Any, part: Any) -> Any:
    """The cotangent of the array that a part was read from again."""
    return place(g, x, index) if is_array(x) and is_view(x, index, part) else None


def kept_where_copy(g: Any, x: Any, index: Any, part: Any) -> Any:
    """The cotangent of a part that is a value of its own."""
    # A zero, since the other side of a branch may give this cotangent a value.
    return zeros_like_tree(g) if is_array(x) and is_view(x, index, part) else g


@with_rule(
    ("x", "index", "part"),
    vjp=(
        lambda g, out, x, index, part: placed_where_item(g, x, index, part),
        None,
        lambda g, out, x, index, part: kept_where_number(g, x, index, part),
    ),
    jvp=lambda dots, out, x, index, part: item_again(dots[0], index, dots[2]),
)
def item_again(x: Any, index: Any, part: Any) -> Any:
    """`part`, which was read as `x[index]`, after this item of x was changed where it stands.

    >>> item_again([[1], 2], 0, [3]), item_again([[1], 2], 1, 5)
    ([1], 5)
    """
    if not is_view(x, index, part):
        return part
    return item_of(x, index) if is_open_place(x, index) else x[index]


def placed_where_item(g: Any, x: Any, index: Any, part: Any) -> Any:
    """The cotangent of what an item was read from again."""
    return place(g, x, index) if is_view(x, index, part) else None


def kept_where_number(g: Any, x: Any, index: Any, part: Any) -> Any:
    """The cotangent of an item that no change of its holder reaches."""
    # A zero, since the other side of a branch may give this cotangent a value.
    return zeros_like_tree(part) if is_view(x, index, part) else g


@with_rule(
    ("old", "new"),
    vjp=(
        lambda g, out, old, new: where_number(g, old, new),
        lambda g, out, old, new: where_mutable(g, old, new),
    ),
    jvp=lambda dots, out, old, new: changed_too(dots[0], dots[1]),
)
def changed_too(old: Any, new: Any) -> Any:
    """What another name of an object stands for after a change that made `new` of it.

    >>> changed_too([1], [1, 2]), changed_too(1, 2)
    ([1, 2], 1)
    """
    return new if shows(old, new) else old


def shows(old: Any, new: Any) -> bool:
    """Whether a change shows under another name: of a tuple, if an item changed where it stands."""
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new)
    return is_mutable(new)


def where_number(g: Any, old: Any, new: Any) -> Any:
    """A cotangent that belongs to a value which keeps what it was."""
    return None if shows(old, new) else g


def where_mutable(g: Any, old: Any, new: Any) -> Any:
    """A cotangent that belongs to the object after its change."""
    return g if shows(old, new) else None
