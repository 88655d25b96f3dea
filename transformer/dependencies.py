"""What a rewriting looked up: a generated text is used again only while those names mean the same.

A pass may ask what `np.sin` or a helper function is; the answers shape its text.  They are recorded
as (path, fingerprint), where the path leads from the rewritten function through the names it sees.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from overt.rewrites.memory import ANSWERS
from overt.runtime.special_methods import original
from overt.runtime.undefined import UndefinedValue
from overt.transformer import cache

Path = tuple[
    str, ...
]  # names, each looked up in what the one before means; ".name" is an attribute
MISSING: Any = type("Missing", (), {"__name__": "missing"})()
ATOMS = (bool, int, float, complex, str, bytes, type(None))


class Record:
    """The names looked up while one function was rewritten."""

    def __init__(self, root: types.FunctionType) -> None:
        self.paths: dict[int, Path] = {id(root.__code__): ()}  # of functions, by their code
        self.holders: dict[int, Path] = {}  # of modules and classes
        self.found: dict[Path, str] = {}
        self.complete = True  # whether every namespace used could be reached from the root

    def note(self, code: types.CodeType, name: str, value: Any) -> None:
        """A name of the function with this code was looked up."""
        owner = self.paths.get(id(code))
        if owner is None:
            self.complete = False
            return
        self.keep((*owner, name), value)

    def note_attribute(self, holder: Any, name: str, value: Any) -> None:
        """An attribute of a module or class was looked up."""
        if isinstance(holder, types.ModuleType) and not is_changeable(holder):
            return
        owner = self.holders.get(id(holder))
        if owner is not None:
            self.keep((*owner, f".{name}"), behind(value))

    def join(self, other: Record) -> None:
        """What another record of the same root found counts here too."""
        self.paths.update(other.paths)
        self.holders.update(other.holders)
        self.found.update(other.found)
        self.complete = self.complete and other.complete

    def keep(self, path: Path, value: Any) -> None:
        self.found[path] = fingerprint(value)
        if isinstance(value, types.ModuleType | type):
            self.holders.setdefault(id(value), path)
        for function in functions_in(value):
            self.paths.setdefault(id(function.__code__), path)


def is_changeable(module: types.ModuleType) -> bool:
    """Whether a module is the user's own; others are taken to stay as they are."""
    from overt.runtime.ownership import is_users_module

    return is_users_module(module)


RECORD: ContextVar[Record | None] = ContextVar("overt_record", default=None)


@contextmanager
def recording(root: types.FunctionType) -> Iterator[Record]:
    """Record what is looked up inside the block."""
    record = Record(root)
    token = RECORD.set(record)
    answers = ANSWERS.set({})
    try:
        yield record
    finally:
        ANSWERS.reset(answers)
        RECORD.reset(token)


def shared(make: Callable[[], Any]) -> Callable[[], Any]:
    """Makes a thing once; everyone who takes it depends on what was looked up for it."""
    kept: list[Any] = []

    def take() -> Any:
        record = RECORD.get()
        if kept:
            made, before = kept
            if record is not None and before is not None and record is not before:
                record.join(before)
            return made
        kept[:] = make(), record
        return kept[0]

    return take


def functions_in(value: Any) -> Iterator[types.FunctionType]:
    """The Python function that a callable runs in the end."""
    for _ in range(20):
        if isinstance(value, types.FunctionType):
            yield value
            return
        value = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None)
        if value is None:
            return


def fingerprint(value: Any) -> str:
    """A text that changes when a value would be rewritten differently."""
    if value is MISSING or type(value) is UndefinedValue:
        return "missing"
    chain = getattr(value, "chain", None)
    if isinstance(chain, str):
        return f"{chain} {_function_print(value)}"
    if isinstance(value, types.FunctionType | types.MethodType):
        return _function_print(value)
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    return f"{type(value).__module__}.{type(value).__qualname__} {name}"


def _function_print(value: Any) -> str:
    for function in functions_in(value):
        code = function.__code__
        place = f"{function.__qualname__} {code.co_firstlineno} {file_digest(code)}"
        return f"function {place} {defaults_print(function)}"
    return f"{type(value).__qualname__}"


def defaults_print(function: types.FunctionType) -> str:
    """Default values as far as they may stand in a text."""
    given = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return " ".join(repr(x) if isinstance(x, ATOMS) else type(x).__name__ for x in given)


_digests: dict[str, tuple[list[str], str]] = {}


def file_digest(code: types.CodeType) -> str:
    """A hash of the text of the file that a code object comes from."""
    name = code.co_filename
    linecache.checkcache(name)
    lines = linecache.getlines(name)
    known = _digests.get(name)
    if known is None or known[0] is not lines:
        _digests[name] = known = (lines, cache.digest(name, "".join(lines)))
    return known[1]


def still_holds(root: types.FunctionType, found: dict[Path, str]) -> bool:
    """Whether every recorded name still means what it meant."""
    known: dict[Path, Any] = {(): root}
    for path, expected in found.items():
        owner, name = known.get(path[:-1]), path[-1]
        if name.startswith("."):
            value = behind(getattr(owner, name[1:], None))
        else:
            function = next(functions_in(owner), None)
            value = MISSING if function is None else look_up(function, name)
        if fingerprint(value) != expected:
            return False
        known[path] = value
    return True


ROOT: Any = type("Root", (), {})()
Snapshot = list[tuple[Any, str, Any]]  # (dict, cell, module or class; name; value)


def snapshot(root: types.FunctionType, found: dict[Path, str]) -> Snapshot:
    """The recorded names with what they mean now: to see quickly that nothing changed.

    The function itself does not occur: it lives no longer because it was rewritten.
    """
    known: dict[Path, Any] = {(): root}
    taken: Snapshot = [(ROOT if x is root else x, n, v) for x, n, v in as_defined(root)]
    for path in found:
        owner, name = known.get(path[:-1]), path[-1]
        if name.startswith("."):
            known[path] = value = behind(getattr(owner, name[1:], None))
            taken.append((owner, name[1:], value))
            if isinstance(value, types.FunctionType):
                taken += as_defined(value)
            continue
        function = next(functions_in(owner), None)
        if function is None:
            continue
        known[path] = look_up(function, name)
        free = function.__code__.co_freevars
        if name in free:
            cell = (function.__closure__ or ())[free.index(name)]
            taken.append((cell, "cell_contents", known[path]))
        else:
            value = function.__globals__.get(name, MISSING)
            taken.append((function.__globals__, name, value))
        if isinstance(known[path], types.FunctionType):
            taken += as_defined(known[path])
    return taken


def as_defined(function: types.FunctionType) -> Snapshot:
    """The code and the defaults of a function."""
    named = function.__kwdefaults__
    taken = [(function, n, getattr(function, n)) for n in ("__code__", "__defaults__")]
    taken.append((function, "__kwdefaults__", named))
    return [*taken, *((named, name, value) for name, value in (named or {}).items())]


def definition(root: types.FunctionType) -> tuple[Any, ...]:
    """What of a function its rewritten form copies, by identity: the values of its defaults."""
    named = root.__kwdefaults__ or {}
    return (*map(id, root.__defaults__ or ()), *named, *map(id, named.values()))


def unchanged(taken: Snapshot, root: types.FunctionType) -> bool:
    """Whether every name of the snapshot of a function still means the same object."""
    for holder, name, value in taken:
        if holder is ROOT:
            holder = root
        if type(holder) is dict:
            if holder.get(name, MISSING) is not value:
                return False
        elif held(holder, name) is not value:
            return False
    return True


def held(holder: Any, name: str) -> Any:
    """What an object or a cell holds under a name; MISSING for a cell that is not set."""
    try:
        return behind(getattr(holder, name, MISSING))
    except ValueError:
        if isinstance(holder, types.CellType):
            return MISSING
        raise


def behind(member: Any) -> Any:
    """The user's function that a member of a class is, also while another stands in for it."""
    return original(member.fget if type(member) is property else member)


def look_up(function: types.FunctionType, name: str) -> Any:
    """What a name means in a function's closure, module or the builtins; else MISSING."""
    code = function.__code__
    if name in code.co_freevars:
        try:
            return (function.__closure__ or ())[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    builtins = function.__globals__.get("__builtins__", {})
    table = builtins if isinstance(builtins, dict) else vars(builtins)
    return table.get(name, MISSING)
