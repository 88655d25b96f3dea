"""Lists given to functions of arrays: they are made arrays first, as NumPy does itself.

    np.max(lengths)  ->  np.max(np.array(lengths))

The rule of `np.max` is of an array; where one is made of the list, its cotangent is taken apart.
"""

from __future__ import annotations

import ast
import functools
import inspect
from typing import Any

from overt.rewrites.bars import np_call
from overt.rewrites.rules import our_function
from overt.runtime.primitive import Rule, counterpart, rule_of

# Operands that are sequences themselves: those of `array`, of `concatenate` and `stack`.
SEQUENCES = frozenset(("object", "arrays"))
OF_ARRAYS = ("overt.runtime.numpy", "overt.runtime.scipy", "overt.runtime.nn")
OF_CONTAINERS = "overt.runtime.numpy.indexing"  # whose functions leave a list a list


def joins_items(rule: Rule) -> bool:
    """Whether a function joins the items of a list, so that the list has a cotangent of its own."""
    return not SEQUENCES.isdisjoint(rule.arrays)


def takes_arrays(fn: Any) -> bool:
    """Whether a function's rule is one of arrays, of each of its operands."""
    rule = None if fn is None else rule_of(fn)
    if rule is None or rule.zero or joins_items(rule):
        return False
    module = getattr(our_function(fn), "__module__", None) or ""
    if module == OF_CONTAINERS:
        return False
    return rule.elementwise or module.startswith(OF_ARRAYS)


# What NumPy's functions call operands that it makes arrays of.
OPERANDS = frozenset("a b x x1 x2 xp fp y m v ary arr p condition weights".split())


@functools.cache
def array_operands(fn: Any) -> tuple[bool, ...]:
    """Which operands NumPy would make arrays of, if they were lists, of a function of its own."""
    ours = counterpart(fn)
    if ours is None or ours is fn or getattr(fn, "__name__", "") == "array":
        return ()
    try:
        return tuple(name in OPERANDS for name in inspect.signature(ours).parameters)
    except (TypeError, ValueError):
        return ()


def as_array(items: ast.expr) -> ast.expr:
    """A list as the array of its items."""
    return np_call("array", items)


__all__ = ["array_operands", "as_array", "joins_items", "takes_arrays"]
