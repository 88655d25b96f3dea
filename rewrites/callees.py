"""Callees: what a call in lifted code should call.

A function that surely needs no lifting is called as it is, one of the same module in its lifted
form, and whatever is only known when the code runs through `lifted(f)`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

from overt.rewrites import core
from overt.rewrites.core import Source
from overt.rewrites.rules import Resolver
from overt.runtime import ownership
from overt.runtime.special_methods import definitions

# Builtins that ask their arguments for a truth value or a Python number, and so have a form of
# ours.
STAGED_BUILTINS = {
    f: f"{f.__name__}_"
    for f in (
        max,
        min,
        any,
        all,
        sorted,
        float,
        int,
        bool,
        complex,
        round,
        print,
    )
}
# Functions whose first argument is a function that they call.
APPLYING = ("map", "filter", "reduce", "sorted", "max", "min")
# Methods of arrays, containers and strings, which need no lifting whatever they belong to.
METHODS = frozenset(
    "all any argmax argmin argsort astype block_until_ready clip conj conjugate copy cumprod "
    "cumsum diagonal dot flatten item max mean min nonzero prod ravel real repeat reshape round "
    "searchsorted sort squeeze std sum swapaxes take tobytes tolist trace transpose var view "
    "append extend insert remove clear reverse update add discard setdefault pop popitem popleft "
    "get items keys values index count union intersection difference _replace _asdict "
    "split join strip lower upper startswith endswith replace format encode rsplit partition title "
    "push pushed reversed".split()
)
AT_METHODS = frozenset("set add subtract multiply divide power min max apply get mul sub".split())

SourceOf = Callable[[Any], Source | None]


def module_of(value: Any) -> str:
    return getattr(value, "__module__", None) or ""


def is_ours(value: Any, part: str = "") -> bool:
    """Whether an object belongs to Overt (or to one part of it)."""
    return f"{module_of(value)}.".startswith(f"overt.{part}." if part else "overt.")


def is_library(value: Any) -> bool:
    """Whether a function is of the standard library or installed, and so is not rewritten."""
    code = getattr(value, "__code__", None)
    if code is None:
        return ownership.is_library(module_of(value)) and not is_ours(value)
    return not ownership.is_users_file(code.co_filename) and not is_ours(value)


class Callees:
    """Resolves callees for one module; `source_of` reads the functions that they name."""

    def __init__(self, namespace: Mapping[str, Any], source_of: SourceOf | None) -> None:
        self.namespace, self.source_of = namespace, source_of
        self.resolver = Resolver(namespace)
        self.known: dict[types.CodeType, bool] = {}

    def object(self, node: ast.expr) -> Any:
        return self.resolver.object(node)

    def is_builtin(self, node: ast.expr, *functions: Any) -> bool:
        """Whether a name means one of these builtins."""
        if not isinstance(node, ast.Name) or core.is_local(node.id):
            return False
        try:
            found = self.namespace[node.id]
        except KeyError:
            found = getattr(builtins, node.id, None)
        return any(found is f for f in functions)

    def is_known(self, value: Any) -> bool:
        """Whether calling an object is right as it stands: nothing in it has to be lifted."""
        if isinstance(value, type):
            return not self.decides(value)
        if isinstance(value, types.BuiltinFunctionType | types.ModuleType):
            return True
        if type(value).__module__ == "numpy" and type(value).__name__ == "vectorize":
            return False  # of a user's function
        if type(value).__module__ == "numpy" or is_ours(type(value)):
            return True
        if isinstance(value, types.FunctionType):
            if is_ours(value) or is_library(value):
                return not getattr(value, "__overt_plain__", False)
            return self.source_of is not None and not self.needs_lifting(value)
        return False

    def decides(self, cls: type) -> bool:
        """Whether making an object of a user's class runs something that has to be lifted."""
        init = getattr(cls, "__init__", None)
        if not isinstance(init, types.FunctionType) or is_ours(init) or is_library(init):
            return False
        readable = self.source_of is not None and self.source_of(init) is not None
        return readable and self.needs_lifting(init)

    @functools.cached_property
    def properties(self) -> dict[str, bool]:
        """Properties of the module's own classes, and whether one of that name has to be lifted."""
        found: dict[str, bool] = {}
        module = getattr(self.namespace, "globals", self.namespace)
        for cls in [v for v in module.values() if isinstance(v, type) and not is_library(v)]:
            for name, value in definitions(cls).items():
                getter = getattr(value, "fget", None) or getattr(value, "func", None)
                if not isinstance(value, property | functools.cached_property):
                    getter = None
                if isinstance(getter, types.FunctionType) and self.source_of is not None:
                    readable = self.source_of(getter) is not None
                    found[name] = found.get(name, False) or (
                        readable and self.needs_lifting(getter)
                    )
        return found

    def needs_lifting(self, function: types.FunctionType) -> bool:
        """Whether a user's function, or one that it calls, has something to lift."""
        from overt.rewrites.lift import survey

        known = self.known.get(function.__code__)
        if known is not None:
            return known
        pending, seen = [function], {function.__code__: function}
        needed = False
        while pending and not needed:
            f = pending.pop()
            source = self.source_of(f) if self.source_of else None
            if source is None:
                needed = True
                break
            changed, called = survey(source)
            needed = changed
            for g in called:
                if g.__code__ not in seen:
                    seen[g.__code__] = g
                    pending.append(g)
        if needed:
            self.known[function.__code__] = True
        else:
            self.known.update(dict.fromkeys(seen, False))
        return needed

    def has_sibling(self, value: Any) -> bool:
        """Whether a lifted form of a function can stand in the same module."""
        mine = getattr(self.namespace, "globals", self.namespace)
        return (
            isinstance(value, types.FunctionType)
            and self.source_of is not None
            and value.__globals__ is mine
            and value.__closure__ is None
            and not hasattr(value, "__wrapped__")
            and value.__name__.isidentifier()
            and not (value.__defaults__ or value.__kwdefaults__)
        )
