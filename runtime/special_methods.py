"""Special methods and properties of the user's classes, while programs are staged and lanes run.

Python calls them itself, for operators, `with`, `for`, `p.x = v`, from `sum` and `sorted`; no text
names them.  So for that time such a class has functions in their places that run the lifted form;
afterwards it is as it was.
"""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from overt.runtime.array import Array
from overt.runtime.levels import INSIDE
from overt.runtime.ownership import is_library, is_users, is_users_module
from overt.runtime.parts import NUMBERS, is_wrapping
from overt.runtime.primitive import GRAPH
from overt.runtime.world import all_names

__all__ = ["definitions", "lifting_special_methods", "met", "original"]

# Those that texts name, and those that make classes, tell about objects or copy them.
LEFT = frozenset(
    "__new__ __init__ __call__ __init_subclass__ __class_getitem__ __set_name__ __repr__ __str__ "
    "__format__ __hash__ __del__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __sizeof__ "
    "__dir__ __getattribute__ __getattr__ __instancecheck__ __subclasscheck__ __subclasshook__ "
    "__bytes__ __fspath__ __getnewargs__ __prepare__ __mro_entries__".split()
)
# What finds things by texts.
BY_TEXT = frozenset("globals vars locals eval exec getattr import_module modules".split())
MISSING: Any = object()  # in place of a method that a class does not define itself
MOST = 100  # items of a container that are looked at
_LOCK = threading.RLock()
_classes: dict[type, dict[str, Any]] = {}  # what they define, where something else stands now
_ours: set[Any] = set()  # what stands there now
_seen: dict[int, Any] = {}
_depth = 0


@contextmanager
def lifting_special_methods(*roots: Any) -> Iterator[None]:
    """Around code that is staged or runs on lanes; `roots` lead to the classes that it uses."""
    global _depth
    with _LOCK:
        _depth += 1
        for root in roots:
            _visit(root)
    try:
        yield
    finally:
        with _LOCK:
            _depth -= 1
            if not _depth:
                _restore()


def met(x: Any) -> None:
    """Have the classes that lead from `x` their lifted methods, if such code is running."""
    if _depth and id(x) not in _seen:
        with _LOCK:
            _visit(x)


def definitions(kind: type) -> Any:
    """What a class defines itself, as its user wrote it."""
    changed = _classes.get(kind)
    if not changed:
        return vars(kind)
    return {k: v for k, v in {**vars(kind), **changed}.items() if v is not MISSING}


def original(f: Any) -> Any:
    """The user's function behind one that stands in for it; any other as it is."""
    return getattr(f, "__overt_stands_for__", f) if type(f) is types.FunctionType else f


def _restore() -> None:
    for kind, changed in _classes.items():
        for name, value in changed.items():
            if vars(kind).get(name) not in _ours:
                continue  # the user's code has set another since
            if value is MISSING:
                type.__delattr__(kind, name)
            else:
                type.__setattr__(kind, name, value)
    for table in (_classes, _ours, _seen):
        table.clear()


def _visit(x: Any) -> None:
    if x is None or isinstance(x, (*NUMBERS, str, Array)) or id(x) in _seen:
        return
    _seen[id(x)] = x
    if isinstance(x, types.FunctionType):
        for cell in x.__closure__ or ():
            try:
                _visit(cell.cell_contents)
            except ValueError:  # not set yet
                continue
        if is_users(x):
            _named(x.__code__, x.__globals__)
    elif isinstance(x, types.ModuleType):
        if is_users_module(x):
            _namespace(vars(x))
    elif isinstance(x, type):
        for kind in (*x.__mro__, type(x)):
            if not is_library(kind.__module__):
                _class(kind)
    elif isinstance(x, dict):
        for value in itertools.islice(x.values(), MOST):
            _visit(value)
    elif isinstance(x, list | tuple | set | frozenset | collections.deque):
        for value in itertools.islice(x, MOST):
            _visit(value)
        _visit(type(x))
    elif isinstance(x, functools.partial):
        for part in (x.func, x.args, x.keywords):
            _visit(part)
    elif isinstance(x, types.MethodType):
        _visit(x.__func__)
        _visit(x.__self__)
    elif is_wrapping(x):
        _visit(getattr(x, "__wrapped__", None))
    elif not is_library(type(x).__module__):
        _visit(type(x))
        _visit(getattr(x, "__dict__", None))


def _named(code: types.CodeType, space: dict[str, Any]) -> None:
    """What a function's code names, directly or in a module; all of it where names are made."""
    names = all_names(code)
    if names & BY_TEXT:
        _namespace(space)
    for name in names:
        found = space.get(name)
        if found is None:
            found = sys.modules.get(name)
        if isinstance(found, types.ModuleType):
            if is_users_module(found):
                for inner in names & vars(found).keys():
                    _visit(vars(found)[inner])
        else:
            _visit(found)


def _namespace(space: dict[str, Any]) -> None:
    if id(space) not in _seen:
        _seen[id(space)] = space
        for value in list(space.values()):
            _visit(value)


def _class(kind: type) -> None:
    """Put what runs the lifted forms where a class defines what Python calls itself."""
    held = dict(vars(kind))
    if isinstance(held.get("__eq__"), types.FunctionType):
        held.setdefault("__ne__", MISSING)
    for name, value in held.items():
        _visit(value)
        for part in ("__func__", "fget", "fset", "func"):
            _visit(getattr(value, part, None))
        made = _standing_in(kind, name, value)
        if made is not None and value not in _ours:  # else met before, as a base of another
            _classes.setdefault(kind, {})[name] = value
            _ours.add(made)
            type.__setattr__(kind, name, made)


def _standing_in(kind: type, name: str, value: Any) -> Any:
    """What stands in for an attribute of a class; None where that may stay."""
    from overt.runtime.comparisons import comparison, differs

    if value is MISSING:
        return _only_here(differs, _not_equal)
    if (compare := comparison(kind, name, value)) is not None:
        return _only_here(compare, value)
    if type(value) is property:
        get, put, delete = map(_lifting, (value.fget, value.fset, value.fdel))
        return property(get, put, delete, value.__doc__)
    if type(value) is functools.cached_property:
        made = functools.cached_property(_lifting(value.func))
        made.attrname = value.attrname
        return made
    special = name.startswith("__") and name.endswith("__") and name not in LEFT
    return _lifting(value) if special and isinstance(value, types.FunctionType) else None


def _not_equal(self: Any, other: Any) -> Any:
    return object.__ne__(self, other)


def _only_here(ours: Any, f: Any) -> Any:
    """A function that does what `ours` does in the code that is staged or runs on lanes."""

    def call(self: Any, other: Any) -> Any:
        inside = GRAPH.get() is not None or INSIDE.get()
        return ours(self, other) if inside else f(self, other)

    setattr(call, "__overt_stands_for__", f)  # noqa: B010  functions have no such attribute
    return call


def _lifting(f: Any) -> Any:
    """A function that runs the lifted form of `f` where that is needed."""
    if not isinstance(f, types.FunctionType):
        return f
    lists = inspect.isgeneratorfunction(f)  # its lifted form gives a list

    def call(*args: Any, **kwargs: Any) -> Any:
        if GRAPH.get() is None and not INSIDE.get():  # another thread
            return f(*args, **kwargs)
        from overt.runtime import special_form

        out = special_form(f)(*args, **kwargs)
        return iter(out) if lists else out

    call.__name__, call.__qualname__, call.__module__ = f.__name__, f.__qualname__, f.__module__
    setattr(call, "__overt_stands_for__", f)  # noqa: B010  functions have no such attribute
    return call
