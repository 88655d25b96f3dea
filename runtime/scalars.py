"""What Python asks of a number, answered also for an array that stands for one.

`isinstance(x, float)` holds for a Python number and for what NumPy computes with one; in a
transformed function a scalar array stands in their place.  `flag is True` likewise.
"""

from __future__ import annotations

from typing import Any

from overt.runtime.array import Array
from overt.runtime.predicates import negated, predicate
from overt.runtime.unsure import settled

__all__ = ["is_a", "is_false", "is_true"]

NUMBER_OF = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def is_a(x: Any, kinds: Any) -> bool:
    """`isinstance(x, kinds)`, where `x` may stand for a Python number.

    >>> is_a(1.5, (int, float))
    True
    """
    x = settled(x)
    if isinstance(x, kinds):
        return True
    if not isinstance(x, Array) or x.shape != ():
        return False
    number = NUMBER_OF.get(x.dtype.kind)
    return number is not None and issubclass(number, kinds)


def is_true(x: Any) -> Any:
    """`x is True`, where `x` may stand for a bool.

    >>> is_true(2 > 1), is_true(1)
    (True, False)
    """
    x = settled(x)
    return predicate(x) if _is_flag(x) else x is True


def is_false(x: Any) -> Any:
    """`x is False`, where `x` may stand for a bool.

    >>> is_false(1 > 2), is_false(0)
    (True, False)
    """
    x = settled(x)
    return negated(predicate(x)) if _is_flag(x) else x is False


def _is_flag(x: Any) -> bool:
    return isinstance(x, Array) and x.shape == () and x.dtype == bool
