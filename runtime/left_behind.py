"""Lists and dictionaries that a branch or loop has changed, and that one holder has anew.

xs = G
if x > 0.0:
    xs.append(x)      # how many items `xs` has is known to the running program only:
sum(G)                # it is another object from here on, and the list that `G` holds is not used

What the former object held is replaced by a mark: whatever looks at it refuses.
"""

from __future__ import annotations

import collections
from typing import Any, NoReturn

from overt.runtime.bare import library_kind, put_all_bare, refill_bare
from overt.runtime.errors import StagingError
from overt.runtime.undefined import USES

__all__ = ["LeftBehind", "is_left_behind", "leave_behind", "refuse_left_behind"]

WHY = (
    "a {} is changed in a branch or loop of a compiled program, or in some lanes of a vmap, so "
    "that only the running program knows what it holds, and another variable, an object or a "
    "container holds it, too. Change it by that name, or give each of them one of its own"
)


class LeftBehind:
    """Stands for the items of such a list; any use of it raises StagingError."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        object.__setattr__(self, "kind", kind)

    def __repr__(self) -> str:
        return "LeftBehind"


def refuse(self: LeftBehind, *_: Any, **__: Any) -> NoReturn:
    kind = object.__getattribute__(self, "kind")
    raise StagingError(WHY.format(kind.__name__))


def refuse_attribute(self: LeftBehind, name: str) -> Any:
    if name in ("__class__", "__repr__", "__dir__"):
        return object.__getattribute__(self, name)
    return refuse(self)


for _use in (*USES, "call", "overt_spec"):
    setattr(LeftBehind, f"__{_use}__" if _use != "overt_spec" else "__overt_spec__", refuse)
setattr(LeftBehind, "__getattribute__", refuse_attribute)  # noqa: B010
setattr(LeftBehind, "__hash__", object.__hash__)  # noqa: B010


def is_left_behind(x: Any) -> bool:
    """Whether a value is such a mark, or a container of them."""
    if isinstance(x, (list, dict, set, collections.deque)) and len(x) > 0:
        kind = library_kind(type(x))
        x = next(iter(kind.values(x) if isinstance(x, dict) else kind.__iter__(x)))
    elif hasattr(type(x), "__overt_snapshot__") and len(x.contents) == 1:
        x = x.contents[0]
    return type(x) is LeftBehind


def refuse_left_behind(x: Any) -> None:
    """Errors: StagingError for such a mark, or a container of them, that is to be given back."""
    if is_left_behind(x):
        refuse(x if type(x) is LeftBehind else LeftBehind(type(x)))


def leave_behind(x: Any) -> None:
    """Mark a list or dictionary that is not the one its holder has any longer.

    >>> numbers = [1.0, 2.0]
    >>> leave_behind(numbers)
    >>> numbers[0] + 1.0  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    overt.runtime.errors.StagingError: a list is changed in a branch or loop ...
    """
    mark = LeftBehind(type(x))
    if hasattr(type(x), "__overt_snapshot__"):
        x.labels, x.contents, x.flags = x.labels and [mark], [mark], [True]
    elif isinstance(x, dict):
        put_all_bare(x, dict.fromkeys([*x, mark], mark))
    else:
        refill_bare(x, [mark] * max(1, len(x)))
