"""Text of values that only the running program knows: made when it is printed or raised."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy

from overt.runtime.arranging import is_open
from overt.runtime.array import Array
from overt.runtime.errors import StagingError
from overt.runtime.tree import tree_leaves, tree_map

__all__ = ["Text", "completed", "formatted", "open_values", "shown", "text"]


class Text:
    """What `make` will give for the values in `parts`."""

    def __init__(self, make: Callable[..., str], parts: tuple[Any, ...]):
        self.make, self.parts = make, parts

    def __add__(self, other: Any) -> Text:
        return Text(operator.add, (self, other))

    def __radd__(self, other: Any) -> Text:
        return Text(operator.add, (other, self))

    def refuse(self, *args: Any) -> NoReturn:
        raise StagingError(
            "a text is used as a value, but only the running program knows what it shows; print "
            "it, raise it, or return the values and make the text outside the function"
        )

    __len__ = __iter__ = __contains__ = __getitem__ = __repr__ = __format__ = refuse  # type: ignore[assignment]
    __eq__ = __ne__ = __lt__ = __gt__ = __hash__ = __bool__ = __mod__ = __mul__ = refuse  # type: ignore[assignment]

    def __str__(self) -> str:
        """What an error raised while the program is made says."""
        unknown = map(Unknown, open_values(self.parts))
        try:
            return self.make(*completed(self.parts, unknown))
        except TypeError:  # a format for numbers
            return "a text of values that only the running program knows"

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(str, name) and not name.startswith("_"):
            self.refuse()
        raise AttributeError(name)


class Unknown:
    """A value in the text of an error that is raised before the program runs."""

    def __init__(self, x: Any):
        self.x = x

    def __format__(self, spec: str) -> str:
        return repr(self.x)

    def __repr__(self) -> str:
        return repr(self.x)


def text(make: Callable[..., str], *parts: Any) -> Any:
    """`make(*parts)`, a text, once its parts are known.

    >>> text(str, 3), text(", ".join, ["a", "b"])
    ('3', 'a, b')
    """
    parts = tuple(map(said, parts))
    if open_values(parts):
        return Text(make, parts)
    return make(*parts)


def formatted(pattern: str, *values: Any) -> Any:
    """The text of an f-string, once its values are known.

    >>> formatted("x = {:.2f}", 1.0)
    'x = 1.00'
    """
    values = tuple(map(said, values))
    if open_values(values):
        return Text(pattern.format, values)
    return pattern.format(*map(shown, values))


def said(x: Any) -> Any:
    """What an exception says, where only the running program knows it."""
    if not isinstance(x, BaseException) or not open_values(x.args):
        return x
    if type(x).__str__ is not BaseException.__str__:
        Text(str, x.args).refuse()
    return x.args[0] if len(x.args) == 1 else x.args


def shown(x: Any) -> Any:
    """A scalar array as the number it is, so that formats like `.2f` work; a text as it is."""
    if getattr(x, "is_text", False):
        return x.functions[int(x.index)]
    if isinstance(x, Array | numpy.ndarray) and not x.shape:
        return numpy.asarray(x).item()
    return x


def open_values(tree: Any) -> list[Any]:
    """The values in a tree, and in its texts, that are not known now."""
    found = []
    for x in tree_leaves(tree):
        if type(x) is Text:
            found += open_values(x.parts)
        elif is_open(x):
            found.append(x)
    return found


def completed(tree: Any, found: Iterator[Any]) -> Any:
    """The tree with `found` in their place, in that order, and texts as they read then."""

    def known(x: Any) -> Any:
        if type(x) is Text:
            return x.make(*map(shown, completed(x.parts, found)))
        return next(found) if is_open(x) else x

    return tree_map(known, tree)
