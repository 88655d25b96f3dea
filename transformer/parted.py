"""What a value consists of: the parts that may be changed behind the name that holds it."""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import itertools
import os
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy

from overt.runtime.array import Array
from overt.runtime.bare import get_bare, library_kind, pop_bare, put_bare
from overt.runtime.ownership import is_users
from overt.runtime.special_methods import definitions

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
OPAQUE = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, Array)
Pairs = list[tuple[Any, Any]]


def contents_of(cell: types.CellType) -> Any:
    """What a variable of an outer function holds; MISSING until it is set."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


class Attribute(str):
    """The key of an attribute of an object that has items too."""


class Definition:
    """A function as something that can be changed: its defaults and its attributes."""

    __slots__ = ("function",)

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function

    def pairs(self) -> Pairs:
        f = self.function
        own = {k: v for k, v in vars(f).items() if not k.startswith("__")}
        return [
            ("__defaults__", f.__defaults__),
            ("__kwdefaults__", f.__kwdefaults__),
            *((Attribute(name), value) for name, value in own.items()),
        ]


def _fields(x: Any) -> Pairs:
    return list(vars(x).items())


# Containers of the standard library, which nobody registers.
STANDARD: dict[type, Callable[[Any], Pairs]] = {
    Definition: Definition.pairs,
    functools.partial: lambda x: [("func", x.func), ("args", x.args), ("keywords", x.keywords)],
    types.MethodType: lambda x: [("__func__", x.__func__), ("__self__", x.__self__)],
    types.MappingProxyType: lambda x: list(x.items()),
    types.SimpleNamespace: _fields,
    collections.UserDict: _fields,
    collections.UserList: _fields,
    collections.ChainMap: _fields,
    weakref.ref: lambda x: [("()", x())],
    contextvars.ContextVar: lambda x: [("get", x.get(MISSING))],
    threading.local: _fields,
    type(os.environ): lambda x: list(x.items()),
    numpy.ndarray: lambda x: [(x.shape, None), *enumerate(x.ravel().tolist())],  # of objects
}


def pairs_of(x: Any) -> Pairs | None:
    """The parts of a container or of an object of the user's, by index, key or attribute.

    >>> pairs_of({"a": 1}), pairs_of("text")
    ([('a', 1)], None)
    """
    kind = type(x)
    if kind in (list, tuple):
        return list(enumerate(x))
    if kind is dict:
        return list(x.items())
    if kind in STANDARD:
        return STANDARD[kind](x)
    if isinstance(x, OPAQUE):
        return None
    if isinstance(x, (list, tuple, collections.deque)):
        return [*enumerate(library_kind(kind).__iter__(x)), *_attributes(x)]
    if isinstance(x, dict):
        return [*library_kind(kind).items(x), *_attributes(x)]
    if isinstance(x, (set, frozenset)):
        return [(item, item) for item in x]
    if is_transformed(x) or not is_users(kind):
        return None
    found = list(getattr(x, "__dict__", {}).items())
    for c in kind.__mro__:
        slots = c.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                found.append((name, getattr(x, name)))
    return found


def is_transformed(x: Any) -> bool:
    """Whether a value is a function that `grad`, `jit` or the like made."""
    return hasattr(type(x), "__overt_parts__")


def _attributes(x: Any) -> Pairs:
    """Attributes beside items, of containers whose class is the user's."""
    own = getattr(x, "__dict__", None)
    return [(Attribute(name), value) for name, value in own.items()] if own else []


UNIMPORTANT = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __annotations__ __qualname__ __firstlineno__ "
    "__static_attributes__ __abstractmethods__ _abc_impl __match_args__ "
    "__dataclass_fields__ __dataclass_params__ __annotate_func__ __annotations_cache__".split()
)


def pairs_of_class(kind: type) -> Pairs:
    """What a class defines itself."""
    return [(name, x) for name, x in definitions(kind).items() if name not in UNIMPORTANT]


def part_of(holder: Any, step: Any) -> Any:
    """One part of a container or an object."""
    if type(holder) is Definition:
        return getattr(holder.function, step)
    if isinstance(holder, weakref.ref):
        return holder()
    if isinstance(holder, type):
        return definitions(holder).get(step, MISSING)
    if type(step) is not Attribute and isinstance(
        holder, (dict, list, tuple, collections.deque, types.MappingProxyType)
    ):
        return holder[step] if type(holder) in STANDARD else get_bare(holder, step)
    return getattr(holder, step)


def put_part(holder: Any, step: Any, value: Any) -> None:
    """Set one part of a container or an object, or take it away."""
    if type(holder) is Definition:
        holder = holder.function
    elif isinstance(holder, dict) and type(step) is not Attribute:
        if value is MISSING:
            pop_bare(holder, step)
        else:
            put_bare(holder, step, value)
        return
    elif isinstance(holder, (list, collections.deque)) and type(step) is not Attribute:
        put_bare(holder, step, value)
        return
    elif isinstance(holder, contextvars.ContextVar):
        if value is MISSING:
            raise NotImplementedError(
                f"a compiled function sets the context variable {holder.name!r}, which has no "
                "value yet: it cannot be set back while the program is made. Set it to something "
                "before the first call"
            )
        holder.set(value)
        return
    elif not isinstance(holder, type):
        kind = library_kind(type(holder))
        kind.__delattr__(holder, step) if value is MISSING else kind.__setattr__(
            holder, step, value
        )
        return
    delattr(holder, step) if value is MISSING else setattr(holder, step, value)


# --- what has no parts but a state ------------------------------------------------------------


def snapshot_of(x: Any) -> Any:
    """The state of something that changes when it is used; None for what does not.

    >>> numbers = iter([1, 2])
    >>> before = snapshot_of(numbers)
    >>> next(numbers), snapshot_of(numbers) == before
    (1, False)
    """
    if isinstance(x, (bytearray, array.array)):
        return bytes(x)
    if isinstance(x, random.Random):
        return None if isinstance(x, random.SystemRandom) else x.getstate()
    if isinstance(x, types.GeneratorType):
        frame = x.gi_frame
        return ("ended",) if frame is None else (frame.f_lasti, *map(id, frame.f_locals.values()))
    if isinstance(x, itertools.count):
        return repr(x)
    if "numpy.random" in sys.modules:
        made = sys.modules["numpy.random"]
        if isinstance(x, (made.Generator, made.RandomState)):
            return state_of_bits(x)
    if type(x).__name__.endswith("_iterator") and type(x).__module__ == "builtins":
        return getattr(x, "__length_hint__", int)()
    return None


def state_of_bits(x: Any) -> Any:
    """The state of one of NumPy's generators of random numbers."""
    holder = x if hasattr(x, "get_state") else x.bit_generator
    state = holder.get_state(legacy=False) if holder is x else holder.state
    return {k: v.tobytes() if hasattr(v, "tobytes") else v for k, v in _flat(state)}


def _flat(state: dict[str, Any]) -> Pairs:
    found: Pairs = []
    for name, value in state.items():
        found += _flat(value) if isinstance(value, dict) else [(name, value)]
    return found
