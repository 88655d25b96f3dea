"""What a rewriting looked up: a generated text is used again only while those names mean the same.

A pass may ask what `np.sin` or a helper function is; the answers shape its text.  They are recorded
as (path, fingerprint), where the path leads from the rewritten function through the names it sees.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from overt.transformer import cache

Path = tuple[str, ...]


class Record:
    """The names looked up while one function was rewritten."""

    def __init__(self, root: types.FunctionType) -> None:
        self.paths: dict[int, Path] = {id(root.__code__): ()}
        self.found: dict[Path, str] = {}
        self.complete = True  # whether every namespace used could be reached from the root

    def note(self, code: types.CodeType, name: str, value: Any) -> None:
        """A name of the function with this code was looked up."""
        owner = self.paths.get(id(code))
        if owner is None:
            self.complete = False
            return
        path = (*owner, name)
        self.found[path] = fingerprint(value)
        for function in functions_in(value):
            self.paths.setdefault(id(function.__code__), path)


RECORD: ContextVar[Record | None] = ContextVar("overt_record", default=None)


@contextmanager
def recording(root: types.FunctionType) -> Iterator[Record]:
    """Record what is looked up inside the block."""
    record = Record(root)
    token = RECORD.set(record)
    try:
        yield record
    finally:
        RECORD.reset(token)


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
        return f"function {function.__qualname__} {code.co_firstlineno} {file_digest(code)}"
    return f"{type(value).__qualname__}"


_digests: dict[str, tuple[int, str]] = {}


def file_digest(code: types.CodeType) -> str:
    """A hash of the text of the file that a code object comes from."""
    name = code.co_filename
    lines = linecache.getlines(name)
    known = _digests.get(name)
    if known is None or known[0] != id(lines):
        _digests[name] = known = (id(lines), cache.digest(name, "".join(lines)))
    return known[1]


def still_holds(root: types.FunctionType, found: dict[Path, str]) -> bool:
    """Whether every recorded name still means what it meant."""
    known: dict[Path, types.FunctionType] = {(): root}
    for path, expected in found.items():
        owner = known.get(path[:-1])
        if owner is None:
            return False
        try:
            value = look_up(owner, path[-1])
        except KeyError:
            return False
        if fingerprint(value) != expected:
            return False
        for function in functions_in(value):
            known[path] = function
    return True


def look_up(function: types.FunctionType, name: str) -> Any:
    """What a name means in a function's closure, module or the builtins."""
    code = function.__code__
    if name in code.co_freevars:
        try:
            return (function.__closure__ or ())[code.co_freevars.index(name)].cell_contents
        except ValueError:
            raise KeyError(name) from None
    if name in function.__globals__:
        return function.__globals__[name]
    builtins = function.__globals__.get("__builtins__", {})
    return (builtins if isinstance(builtins, dict) else vars(builtins))[name]
