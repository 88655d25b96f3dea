"""Taking one container apart: registered tree nodes, plain dataclasses and partials alike."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy

from overt.backend.pytrees import GetAttrKey
from overt.runtime.array import Array
from overt.runtime.aval import Aval
from overt.runtime.kinds import is_key
from overt.runtime.tree_registry import LENIENT
from overt.runtime.undefined import UndefinedValue

__all__ = ["NUMBERS", "Parts", "blank", "is_array", "is_wrapping", "parts_of", "with_aux"]

NUMBERS = (bool, int, float, complex)
_ARRAYS = (Array, *NUMBERS, numpy.ndarray, numpy.generic)
_CONTAINERS = (list, tuple, dict)
# Dataclasses whose objects count by their identity, since they are changed once data chose one.
BY_REFERENCE: ContextVar[frozenset[type]] = ContextVar("overt_by_reference", default=frozenset())


def is_array(x: Any) -> bool:
    """Whether a value is a number or an array of any kind."""
    if isinstance(x, _ARRAYS):
        return True
    kind = type(x)
    if (
        kind is Aval
        or kind is UndefinedValue
        or not hasattr(kind, "dtype")
        and "__getattr__" in vars(kind)
    ):
        return False  # what a user's `__getattr__` makes up is none of an array's
    if not hasattr(x, "dtype"):
        return False
    if hasattr(kind, "__overt_sparse__") or is_key(x):  # containers of arrays
        return False
    return isinstance(getattr(x, "shape", None), tuple)


def with_aux(out: Any) -> tuple[Any, Any]:
    """What a function returned as (value, aux), which is what has_aux=True means.

    Errors: TypeError for anything else.
    """
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        alone = "an array" if is_array(out) else type(out).__name__
        found = f"{len(out)} values" if isinstance(out, (tuple, list)) else alone
        raise TypeError(
            "has_aux=True is for a function that returns a pair (value, aux), but it returned "
            f"{found}; return such a pair, or leave has_aux out"
        )
    return out[0], out[1]


class Parts(NamedTuple):
    """A container: what it is, its parts with their keys, and how to build one like it."""

    kind: Any  # equal for containers that hold the same parts in the same places
    keys: list[Any]
    values: list[Any]
    rebuild: Callable[[list[Any]], Any]


def is_wrapping(x: Any) -> bool:
    """Whether a value is a transformed function; its derivative is that of what it wraps."""
    return hasattr(type(x), "__overt_parts__")


def parts_of(x: Any) -> Parts | None:
    """The parts of a container; None for a leaf, None among them.

    >>> parts_of({"b": 1, "a": 2}).values
    [2, 1]
    """
    kind = type(x)
    if kind in _CONTAINERS:
        return _parts_of_node(x)
    if x is None or kind in NUMBERS or kind is UndefinedValue or kind is str or is_array(x):
        return None
    if kind is functools.partial:
        values = [x.args, x.keywords]
        keys = [GetAttrKey("args"), GetAttrKey("keywords")]
        return Parts(
            (kind, x.func), keys, values, lambda new: functools.partial(x.func, *new[0], **new[1])
        )
    if is_wrapping(x):
        return x.__overt_parts__()
    if kind in BY_REFERENCE.get():
        return None
    if LENIENT.is_node(kind) or isinstance(x, tuple):
        return _parts_of_node(x)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [field.name for field in dataclasses.fields(x) if hasattr(x, field.name)]
        names += [name for name in getattr(x, "__dict__", ()) if name not in names]
        values = [getattr(x, name) for name in names]
        return Parts(
            (kind, tuple(names)),
            [GetAttrKey(name) for name in names],
            values,
            functools.partial(_dataclass_of, kind, names),
        )
    return None


def _parts_of_node(x: Any) -> Parts:
    pairs, definition = LENIENT.flatten_with_path(x, lambda _, part: part is not x)
    keys = [path[0] for path, _ in pairs]
    return Parts((type(x), definition), keys, [v for _, v in pairs], definition.unflatten)


def blank(kind: type) -> Any:
    """An object of a class without any attribute: its constructor is not run."""
    makers = (base.__dict__.get("__new__") for base in kind.__mro__)
    return next(new for new in makers if isinstance(new, types.BuiltinFunctionType))(kind)


def _dataclass_of(kind: type, names: list[str], values: list[Any]) -> Any:
    made = blank(kind)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made
