"""The things that code may change: attributes of objects, shared variables, globals.

A `World` finds those that can be reached from some values, tells what they hold, and puts them
back.  Lists and dictionaries count as a part of the value that holds them.
"""

from __future__ import annotations

import collections
import dataclasses
import dis
import functools
import gc
import inspect
import threading
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from overt.runtime.array import Array
from overt.runtime.bare import library_kind, put_all_bare, refill_bare
from overt.runtime.left_behind import is_left_behind, leave_behind
from overt.runtime.ownership import is_library, is_users_module
from overt.runtime.parts import BY_REFERENCE, NUMBERS, is_array
from overt.runtime.tree_registry import register_pytree_node
from overt.runtime.undefined import UndefinedValue

__all__ = ["MISSING", "Slot", "World", "is_users_object"]

CONTAINERS = (list, dict, set, collections.deque)
# Classes of Python's own whose objects programs keep values in.
KEEPERS = (
    types.SimpleNamespace, collections.UserDict, collections.UserList, collections.ChainMap,
    threading.local,
)  # fmt: skip
CACHED = functools._lru_cache_wrapper
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
STORE_ATTR = dis.opmap["STORE_ATTR"]
NAMESPACES = frozenset(("setattr", "vars", "__dict__"))
MOST = 20_000  # things looked at
LONG = 64  # items, from where it pays to ask first whether they are plain
PLAIN = {*NUMBERS, str, bytes, type(None)}
LONG_KINDS: tuple[type, ...] = (list, tuple, set, frozenset, type({}.values()))

Slot = tuple[int, str]  # of which holder, and the name there


def is_users_object(x: Any) -> bool:
    """Whether a value is an object of a class of the user's, rather than a function or a type."""
    kind = type(x)
    if isinstance(x, KEEPERS):
        return True
    return not (isinstance(x, (type, Array)) or is_library(kind.__module__) or is_array(x))


def is_container(x: Any) -> bool:
    """Whether a value is a list, dictionary or set, or one that the running program knows."""
    return isinstance(x, CONTAINERS) or hasattr(type(x), "__overt_snapshot__")


class Queue:
    """What a deque, or a list of a class of the user's, holds, as a tree."""

    def __init__(
        self, items: list[Any], most: int | None, kind: type = collections.deque
    ) -> None:  # fmt: skip
        self.items, self.most, self.kind = items, most, kind

    def holding(self, items: list[Any]) -> Queue:
        """One of the same kind."""
        return Queue(items, self.most, self.kind)

    def empty(self) -> Any:
        if issubclass(self.kind, collections.deque):
            return collections.deque(maxlen=self.most)
        return self.kind.__new__(self.kind)


register_pytree_node(
    Queue,
    lambda q: (tuple(q.items), (q.most, q.kind)),
    lambda data, items: Queue(list(items), *data),
)


class Held:
    """An object that counts by its identity, whatever it holds."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Held and other.value is self.value

    __hash__ = None  # type: ignore[assignment]


class Holder:
    """One thing with named places: an object, a class, a variable that functions share."""

    __slots__ = ("thing", "names")

    def __init__(self, thing: Any, names: tuple[str, ...] | None = None) -> None:
        self.thing, self.names = thing, names  # the names that matter; None for all

    def read(self) -> dict[str, Any]:
        thing = self.thing
        if isinstance(thing, types.CellType):
            try:
                return {self.names[0]: thing.cell_contents}  # type: ignore[index]
            except ValueError:
                return {}
        if self.names is not None:
            found = thing if isinstance(thing, dict) else vars(thing)
            return {n: found[n] for n in self.names if n in found}
        return attributes_of(thing)

    def write(self, name: str, value: Any) -> None:
        thing = self.thing
        if isinstance(thing, types.CellType):
            if value is MISSING:
                del thing.cell_contents
            else:
                thing.cell_contents = value
        elif isinstance(thing, dict):
            if value is MISSING:
                thing.pop(name, None)
            else:
                thing[name] = value
        elif isinstance(thing, type):
            delattr(thing, name) if value is MISSING else setattr(thing, name, value)
        elif value is MISSING:
            library_kind(type(thing)).__delattr__(thing, name)
        else:
            library_kind(type(thing)).__setattr__(thing, name, value)


def attributes_of(x: Any) -> dict[str, Any]:
    """The attributes that an object has of its own."""
    found = dict(getattr(x, "__dict__", {}))
    if type(x) is types.FunctionType:
        return {name: value for name, value in found.items() if not name.startswith("__")}
    for kind in type(x).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                found[name] = getattr(x, name)
    return found


class World:
    """What can be reached from some values, and changed."""

    def __init__(self, *roots: Any, most: int = MOST, caches: bool = True) -> None:
        self.most, self.caches = most, caches
        self.holders: list[Holder] = []
        self.known: dict[int, int] = {}  # positions of holders that are objects
        self.seen: set[Any] = set()
        self.kept: list[Any] = []  # so that no other thing gets the identity of one seen
        self.renewed: set[Slot] = set()  # places that got a new list in place of theirs
        self.apart: set[int] = set()  # dataclasses that are changed in place
        self.complete = True  # whether everything was looked at
        self.has_values = False  # whether there are dataclasses
        self.captured: list[Any] = []  # what functions read of the functions around them
        for root in roots:
            self.visit(root)
        self.originals: dict[Slot, Any] = {
            slot: value for slot, value in self.slots() if is_container(value)
        }
        self.placed: dict[Slot, Any] = {}  # what was put there last

    # --- finding

    def visit(self, x: Any) -> None:
        if x is None or type(x) in NUMBERS or type(x) is str or isinstance(x, Array):
            return
        if id(x) in self.seen:
            return
        if len(self.seen) > self.most:
            self.complete = False
            return
        self.seen.add(id(x))
        self.kept.append(x)
        if isinstance(x, types.FunctionType):
            self.function(x)
        elif isinstance(x, (list, tuple, set, frozenset, collections.deque)):
            for item in () if is_long_plain(x) else x:
                self.visit(item)
        elif isinstance(x, dict):
            for item in () if is_long_plain(x.values()) else x.values():
                self.visit(item)
        elif isinstance(x, functools.partial):
            self.visit(x.func)
            numbered = {f"argument {i}": v for i, v in enumerate(x.args)}
            self.fixed({**numbered, **x.keywords})
        elif isinstance(x, types.MethodType):
            self.visit(x.__func__)
            self.visit(x.__self__)
        elif isinstance(x, types.BuiltinMethodType) and isinstance(x.__self__, CONTAINERS):
            self.fixed({"argument 0": x.__self__})
        elif isinstance(x, type):
            if not is_library(x.__module__):
                self.users_class(x)
        elif type(x) is Held:
            self.visit(x.value)
        elif hasattr(type(x), "__overt_there__"):  # or None, as data says
            self.visit(x.__overt_value__)
        elif hasattr(type(x), "__overt_objects__"):  # chosen by data among these
            for each in x.__overt_objects__:
                self.visit(each)
        elif is_users_object(x):
            self.object(x)
        elif isinstance(x, CACHED) and not is_library(x.__module__):
            self.complete = False  # a call may keep more
            kept = results_kept(x) if self.caches else []
            self.fixed({f"result {i}": found for i, found in enumerate(kept)})
        else:
            self.visit(getattr(x, "__wrapped__", None))

    def object(self, x: Any) -> None:
        held = attributes_of(x)
        self.has_values = self.has_values or is_value(x)
        if not is_frozen(x) and is_users_object(x):
            self.known[id(x)] = len(self.holders)
            self.holders.append(Holder(x))
        for value in held.values():
            self.visit(value)
        self.visit(type(x))

    def users_class(self, kind: type) -> None:
        for c in kind.__mro__:
            if is_library(c.__module__):
                continue
            data = []
            for name, value in vars(c).items():
                plain = value is None or isinstance(value, NUMBERS) or is_container(value)
                plain = plain or is_array(value) or is_users_object(value)
                if plain and not (name.startswith("__") and name.endswith("__")):
                    data.append(name)
                    if isinstance(value, CONTAINERS):
                        self.visit(value)
                for f in (value, *(getattr(value, n, None) for n in ("fget", "fset", "__func__"))):
                    if isinstance(f, types.FunctionType | CACHED) or is_users_object(f):
                        self.visit(f)
            if data:
                self.holders.append(Holder(c, tuple(data)))

    def function(self, f: types.FunctionType) -> None:
        if is_library(f.__module__) and not f.__closure__:
            return
        stored, globals_stored, read = names_in(f.__code__)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                value = None
            changes = name in stored or is_container(value)
            if changes and id(cell) not in self.seen:
                self.seen.add(id(cell))
                self.kept.append(cell)
                self.holders.append(Holder(cell, (name,)))
            self.captured.append(value)
            self.visit(value)
        named = f.__code__.co_varnames[: f.__code__.co_argcount]
        defaults = dict(zip(reversed(named), reversed(f.__defaults__ or ()), strict=False))
        self.fixed({**defaults, **(f.__kwdefaults__ or {})})
        if is_library(f.__module__):
            return
        if any(not name.startswith("__") for name in vars(f)):
            self.attributes(f)
        space = f.__globals__
        sets = sets_attributes(f.__code__)
        for name in (*globals_stored, *read):
            value = space.get(name, MISSING)
            if sets and isinstance(value, types.FunctionType) and not is_library(value.__module__):
                self.attributes(value)  # it may have none yet
            elif sets and isinstance(value, type) and not is_library(value.__module__):
                new = attributes_set(f.__code__) - vars(value).keys()
                mark = "set", id(value), f.__code__
                if new and mark not in self.seen:
                    self.seen.add(mark)
                    self.holders.append(Holder(value, tuple(sorted(new))))
            if isinstance(value, types.ModuleType) and is_users_module(value):
                self.module(value, f.__code__)
                continue
            if name in globals_stored or is_container(value):
                self.place(space, name)
            if value is not MISSING:
                self.visit(value)

    def attributes(self, f: types.FunctionType) -> None:
        """The attributes of a function, as places."""
        mark = "attributes", id(f)
        if mark not in self.seen:
            self.seen.add(mark)
            self.kept.append(f)
            self.holders.append(Holder(f))
            for value in vars(f).values():
                self.visit(value)

    def module(self, module: types.ModuleType, code: types.CodeType) -> None:
        """What a function's code names of a module of the user's."""
        names = all_names(code)
        mark = id(module), code
        if mark not in self.seen:
            self.seen.add(mark)
            held = vars(module)
            data = {n for n in names if not isinstance(held.get(n), (type, types.FunctionType))}
            self.holders.append(Holder(held, tuple(sorted(data))))
            for name in names & held.keys():
                self.visit(held[name])

    def fixed(self, values: dict[str, Any]) -> None:
        """Values that keep their names: what the containers among them hold may change."""
        names = tuple(n for n, value in values.items() if is_container(value))
        if names and not self.seen.issuperset(id(values[n]) for n in names):
            self.holders.append(Holder(values, names))
        for value in values.values():
            self.visit(value)

    def place(self, space: dict[str, Any], name: str) -> None:
        mark = id(space), name
        if mark not in self.seen:
            self.seen.add(mark)
            self.holders.append(Holder(space, (name,)))

    # --- what is there

    def values(self) -> list[Any]:
        """The dataclasses whose fields may be set."""
        return [h.thing for h in self.holders if is_value(h.thing)]

    def set_back(self) -> list[Any]:
        """The variables, dataclasses, lists and dictionaries that stay what they are."""
        cells = [h.thing for h in self.holders if isinstance(h.thing, types.CellType)]
        return [*cells, *self.values(), *self.originals.values()]

    def slots(self) -> Iterator[tuple[Slot, Any]]:
        for i, holder in enumerate(self.holders):
            for name, value in holder.read().items():
                yield (i, name), value

    def take(self) -> dict[Slot, Any]:
        """What every place holds now, in copies of lists and dictionaries."""
        return {slot: self.packed(value) for slot, value in self.slots()}

    def packed(self, x: Any, depth: int = 0) -> Any:
        if depth > 16:
            return Held(x)
        if type(x) is list:
            return x.copy() if is_long_plain(x) else [self.packed(v, depth + 1) for v in x]
        if isinstance(x, dict):
            if is_long_plain(x.values()):
                return copy_of(x, dict(x))
            pairs = library_kind(type(x)).items(x)
            return copy_of(x, {k: self.packed(v, depth + 1) for k, v in pairs})
        if isinstance(x, (list, collections.deque)):
            items = [self.packed(v, depth + 1) for v in library_kind(type(x)).__iter__(x)]
            return Queue(items, getattr(x, "maxlen", None), type(x))
        if type(x) is set:
            return set(x)
        if is_plain_tuple(x):
            values = [self.packed(v, depth + 1) for v in x]
            return x if all(a is b for a, b in zip(values, x, strict=True)) else like(x, values)
        if hasattr(type(x), "__overt_snapshot__"):
            return x.__overt_snapshot__()
        return Held(x) if id(x) in self.apart else x

    def put(self, values: dict[Slot, Any], final: bool = False) -> None:
        """Make every place hold what it held; `final`: with lists that were replaced, new ones."""
        found = {}
        left: list[Any] = []
        for slot, packed in values.items():
            place = None if final and slot in self.renewed else self.originals.get(slot)
            found[slot] = unpacked(packed, place, left if final else None)
        self.set_places(found)
        self.placed = found
        for former in left:
            if not any(value is former for value in found.values()):
                leave_behind(former)

    def set_places(self, values: dict[Slot, Any]) -> None:
        """Let every place hold the value given for it, and those not given nothing."""
        for i, holder in enumerate(self.holders):
            held = holder.read()
            for name in held:
                if (i, name) not in values:
                    holder.write(name, MISSING)
        for (i, name), value in values.items():
            if self.holders[i].read().get(name, MISSING) is not value:
                self.holders[i].write(name, value)

    def note_renewed(self, among: Sequence[Slot]) -> None:
        """Note which of these places have another list or dictionary than the one they had."""
        for i, name in among:
            value = self.holders[i].read().get(name, MISSING)
            former = self.placed.get((i, name), value)
            if value is not former and not is_left_behind(former):
                self.renewed.add((i, name))

    def name_of(self, slot: Slot) -> str:
        """A place as the user would write it."""
        holder = self.holders[slot[0]]
        if holder.names is not None and not isinstance(holder.thing, type):
            return slot[1]
        kind = holder.thing if isinstance(holder.thing, type) else type(holder.thing)
        return f"{kind.__name__}.{slot[1]}"

    def absent(self, slot: Slot) -> Any:
        """What a place is read as that holds nothing: a number that the class has for it."""
        holder = self.holders[slot[0]]
        kind = type(holder.thing)
        if holder.names is None and not is_library(kind.__module__):
            value = inspect.getattr_static(kind, slot[1], None)
            if type(value) in NUMBERS:
                return value
        return UndefinedValue(self.name_of(slot))

    # --- values under transformation

    def leaves(self) -> Iterator[Any]:
        """The arrays and numbers in all places."""
        for _, value in self.slots():
            yield from leaves_of(value)

    def settle(self, below: Callable[[Any], Any]) -> None:
        """Leave in every place what `below` makes of the values there."""
        for i, holder in enumerate(self.holders):
            for name, value in holder.read().items():
                if any(below(x) is not x for x in leaves_of(value)):
                    place = value if isinstance(value, CONTAINERS) else None
                    holder = self.holders[i]
                    holder.write(name, unpacked(mapped(below, self.packed(value)), place))


@functools.lru_cache(maxsize=4096)
def all_names(code: types.CodeType) -> frozenset[str]:
    """All names in a function's code: of globals, attributes and imports."""
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= all_names(inner)
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def sets_attributes(code: types.CodeType) -> bool:
    """Whether a function, or one inside it, may set an attribute of something."""
    if STORE_ATTR in code.co_code[::2] or not NAMESPACES.isdisjoint(code.co_names):
        return True
    return any(sets_attributes(c) for c in code.co_consts if isinstance(c, types.CodeType))


def attributes_set(code: types.CodeType) -> set[str]:
    """The names of attributes that a function sets."""
    return {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}


def names_in(code: types.CodeType) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Shared variables and globals that a function sets, and globals that it reads."""
    return _names_in(code)


@functools.lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    stored: set[str] = set()
    globals_stored: set[str] = set()
    read: set[str] = set()
    for i in dis.get_instructions(code):
        if i.opname in ("STORE_DEREF", "DELETE_DEREF"):
            stored.add(i.argval)
        elif i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            globals_stored.add(i.argval)
        elif i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(i.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            for mine, theirs in zip((stored, globals_stored, read), _names_in(inner), strict=True):
                mine |= theirs
    return frozenset(stored), frozenset(globals_stored), frozenset(read)


def is_long_plain(items: Collection[Any]) -> bool:
    """Whether these are many numbers and texts, and nothing else."""
    return type(items) in LONG_KINDS and len(items) > LONG and PLAIN.issuperset(map(type, items))


def is_frozen(x: Any) -> bool:
    """Whether an object surely does not change: a tuple, a frozen dataclass."""
    parameters = getattr(type(x), "__dataclass_params__", None)
    return isinstance(x, tuple) or bool(parameters and parameters.frozen)


def is_value(x: Any) -> bool:
    """Whether an object counts by what it holds wherever values are: a dataclass."""
    return dataclasses.is_dataclass(x) and not isinstance(x, type) and not is_apart(x)


def is_apart(x: Any) -> bool:
    """Whether a dataclass counts by its identity nevertheless."""
    return type(x) in BY_REFERENCE.get()


def copy_of(x: dict[Any, Any], items: dict[Any, Any]) -> Any:
    """A dictionary of the same kind with other items."""
    if type(x) is dict:
        return items
    if is_library(type(x).__module__):
        made: Any = x.copy()
    else:
        made = type(x).__new__(type(x))
        vars(made).update(vars(x)) if hasattr(x, "__dict__") else None
        if isinstance(x, collections.defaultdict):
            made.default_factory = x.default_factory
    put_all_bare(made, items)
    return made


def unpacked(packed: Any, place: Any = None, left: list[Any] | None = None) -> Any:
    """The value again; in `place`, the list or dictionary that it was, if it still is one.

    Those that others have taken the place of are added to `left`.
    """
    if hasattr(type(packed), "__overt_snapshot__"):
        if left is not None and is_container(place):
            left.append(place)
        return packed.__overt_snapshot__()
    if type(packed) is Held:
        return packed.value
    if type(packed) is Queue:
        made = place if isinstance(place, (list, collections.deque)) else packed.empty()
        refill_bare(made, [unpacked(v) for v in packed.items])
        return made
    if type(packed) is list and is_long_plain(packed):
        if type(place) is not list:
            return packed.copy()
        place[:] = packed
        return place
    if type(packed) is list:
        fits = type(place) is list and len(place) == len(packed)
        inside = place if fits else [None] * len(packed)
        items = [unpacked(v, old, left) for v, old in zip(packed, inside, strict=True)]
        if type(place) is list:
            place[:] = items
            return place
        return items
    if isinstance(packed, dict):
        former = place if isinstance(place, dict) else {}
        found = {k: unpacked(v, former.get(k), left) for k, v in packed.items()}
        if isinstance(place, dict):
            put_all_bare(place, found)
            return place
        return copy_of(packed, found)
    if type(packed) is set:
        if type(place) is set:
            place.clear()
            place.update(packed)
            return place
        return set(packed)
    if is_plain_tuple(packed):
        values = list(map(unpacked, packed))
        if all(a is b for a, b in zip(values, packed, strict=True)):
            return packed
        return like(packed, values)
    return packed


def results_kept(f: Any) -> list[Any]:
    """The containers and objects that a function with a cache of results keeps there.

    >>> @functools.cache
    ... def row(n):
    ...     return [n]
    >>> row(1), results_kept(row)
    ([1], [[1]])
    """
    held = gc.get_referents(f)
    end = next((i for i, x in enumerate(held) if x is f.__wrapped__), 1)
    table, results = held[end - 1], held[: end - 1]
    if type(table) is dict:
        results += table.values()
    return [x for x in results if isinstance(x, CONTAINERS) or is_users_object(x) and x is not None]


def is_plain_tuple(x: Any) -> bool:
    """Whether a value is a tuple or a named one."""
    return type(x) is tuple or isinstance(x, tuple) and hasattr(x, "_make")


def like(x: Any, values: list[Any]) -> Any:
    """A tuple of the same kind."""
    return x._make(values) if hasattr(x, "_make") else tuple(values)


def mapped(f: Callable[[Any], Any], packed: Any) -> Any:
    """A packed value with `f` applied to its leaves."""
    if isinstance(packed, (list, tuple)):
        items = [mapped(f, v) for v in packed]
        return packed._make(items) if hasattr(packed, "_make") else type(packed)(items)
    if isinstance(packed, dict):
        return copy_of(packed, {k: mapped(f, v) for k, v in packed.items()})
    if type(packed) is Queue:
        return packed.holding([mapped(f, v) for v in packed.items])
    return f(packed)


def leaves_of(x: Any, depth: int = 0) -> Iterator[Any]:
    """What a value holds that is no container."""
    if depth > 16:
        return
    if isinstance(x, (list, tuple, collections.deque)):
        for item in x:
            yield from leaves_of(item, depth + 1)
    elif isinstance(x, dict):
        for item in x.values():
            yield from leaves_of(item, depth + 1)
    elif hasattr(type(x), "__overt_objects__"):
        yield x.__overt_index__
    else:
        yield x
