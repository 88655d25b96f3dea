"""Values under differentiation that are held where no container shows them.

An object's attributes, a closure, the variables of a generator that waits, what a cache keeps.
"""

from __future__ import annotations

import functools
import gc
import itertools
import types
from typing import Any

from overt.runtime.closures import captured
from overt.runtime.derivatives import children_of
from overt.runtime.escape import below
from overt.runtime.parts import is_array
from overt.runtime.undefined import UndefinedValue

__all__ = ["hides", "is_object", "keeps_unseen"]

LIBRARIES = ("builtins", "overt", "numpy", "jaxlib", "collections", "functools", "types")
# Things of Python's own that keep what they were given, and whose inside only Python sees.
CLOSED = (
    types.GeneratorType,
    type(functools.lru_cache(len)),
    itertools.accumulate,
    itertools.chain,
    itertools.groupby,
    itertools.starmap,
    filter,
    map,
)
MOST = 2000  # things that are looked at


def is_object(x: Any) -> bool:
    """Whether a value is an object of a class that is not a library's."""
    module = getattr(type(x), "__module__", None)  # compiled functions have a property there
    library = module.partition(".")[0] if isinstance(module, str) else "builtins"
    return library not in LIBRARIES and not isinstance(x, type)


def keeps_unseen(level: int, *things: Any) -> bool:
    """Whether a generator, a cache or another iterator among these holds a value of this level."""
    return any(hides(level, x) for x in map(_holder, things) if isinstance(x, CLOSED))


def _holder(x: Any) -> Any:
    return x.__self__ if type(x) is types.BuiltinMethodType else x


def hides(level: int, x: Any) -> bool:
    """Whether an object or a closure that is no container holds a value of this level."""
    if is_array(x):
        return False
    waiting, seen = _inside(x), {id(x)}
    while waiting and len(seen) < MOST:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_array(part):
            if below(level, part) is not part:
                return True
            continue
        found = children_of(part)
        waiting += _inside(part) if found is None else found[0]
    return False


def _inside(x: Any) -> list[Any]:
    """What something that is no container holds."""
    if type(x) is UndefinedValue:
        return []
    if isinstance(x, types.FunctionType):
        return captured(x)
    if isinstance(x, types.MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, CLOSED):
        kept = (types.CodeType, types.ModuleType, type, str)
        return [part for part in gc.get_referents(x) if not isinstance(part, kept)]
    if is_object(x) or str(type(x).__module__).startswith("overt."):
        slots = [n for c in type(x).__mro__ for n in getattr(c, "__slots__", ())]
        held = [getattr(x, n) for n in slots if hasattr(x, n)]
        return [*getattr(x, "__dict__", {}).values(), *held]
    return []
