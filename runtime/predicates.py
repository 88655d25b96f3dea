"""What an `if` or `while` tests, as a Python bool, one symbolic bool, or one bool a lane."""

from __future__ import annotations

import types
from typing import Any

from overt.runtime.array import Array
from overt.runtime.staging import is_known
from overt.runtime.unsure import Unsure

__all__ = ["Truth", "both", "either", "is_asked", "negated", "predicate"]


def predicate(x: Any) -> Any:
    """The truth of a value: a bool where Python can know it, else a boolean scalar array.

    Errors: ValueError for arrays of more than one element, as in NumPy.
    """
    if type(x) is bool:
        return x
    if type(x) is Truth:
        return x.flag
    while type(x) is Unsure:
        if x.none:  # None is false
            return both(predicate(x.flag), predicate(x.value))
        x.check()
        x = x.value
    while isinstance(x, Array) and x.transparent:
        x = x.primal  # type: ignore[attr-defined]
    if hasattr(type(x), "__overt_truth__"):
        return x.__overt_truth__()
    if not isinstance(x, Array) or is_known(x):
        return _truth_of_object(x) if _is_asked(x) else bool(x)
    if x.size != 1:
        raise ValueError(
            f"the truth value of an array of shape {x.shape} is ambiguous; use .any() or .all()"
        )
    if x.shape:
        x = x.reshape(())
    return x if x.dtype == bool else x != 0


class Truth:
    """What `obj and x > 0` gives, where data decides which of them: its truth alone is known."""

    def __init__(self, flag: Any) -> None:
        self.flag = flag


def is_asked(x: Any) -> bool:
    """Whether an object of the user's says itself whether it is true."""
    return not isinstance(x, Array) and _is_asked(x)


def _is_asked(x: Any) -> bool:
    """Whether an object of the user's says itself whether it is true, or is chosen by data."""
    kind = type(x)
    return isinstance(getattr(kind, "__bool__", None), types.FunctionType)


def _truth_of_object(x: Any) -> Any:
    from overt.runtime.chosen_objects import Chosen, applied

    if type(x) is not Chosen:
        return predicate(type(x).__bool__(x))
    if any(hasattr(type(each), "__bool__") for each in x.__overt_objects__):
        return predicate(applied(x, predicate, ()))
    return all(map(bool, x.__overt_objects__)) or predicate(applied(x, bool, ()))


def both(a: Any, b: Any) -> Any:
    """`a and b` of two predicates."""
    if type(a) is bool:
        return b if a else False
    if type(b) is bool:
        return a if b else False
    return a & b


def negated(a: Any) -> Any:
    """`not a` of a predicate."""
    return not a if type(a) is bool else ~a


def either(a: Any, b: Any) -> Any:
    """`a or b` of two predicates."""
    return negated(both(negated(a), negated(b)))
