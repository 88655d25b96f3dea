"""What the result of a call shares with what the call is given, as far as the callee tells."""

from __future__ import annotations

import ast
import copy
import dataclasses
import sys
import types

import numpy as np

from overt.rewrites.callees import METHODS, is_library
from overt.rewrites.rules import Resolver
from overt.rewrites.sharing import SPLITS, VIEW_CALLS
from overt.rewrites.sites import (
    CHANGES,
    COPYING,
    DERIVING,
    FRESH,
    HOLDING,
    MAKING,
    PASSING,
    UNKNOWN,
    VIEWING,
)
from overt.runtime.primitive import Composite, Primitive

PASSING_HELPERS = frozenset("@changed_too @read_again @item_again @popped".split())
PASSING_BUILTINS = frozenset("max min next iter sorted getattr vars".split())
PASSING_MODULES = frozenset(
    "operator _operator itertools functools _functools copy collections dataclasses types".split()
)
NEW_VALUES = frozenset(
    "deepcopy add sub mul truediv floordiv mod pow neg pos matmul eq ne lt le gt ge not_ "
    "asdict astuple namedtuple fields".split()
)
TAKING_METHODS = frozenset(
    "pop popitem popleft get setdefault items values keys __getitem__".split()
)
IN_PLACE = frozenset(
    "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor iconcat".split()
)
DERIVATIVES = frozenset("grad value_and_grad jacfwd jacrev jacobian hessian".split())
MAY_COPY = frozenset("array astype meshgrid nan_to_num".split())


def kind_of_call(resolver: Resolver, call: ast.Call) -> str:
    """Whether what a call gives is new, or may be or hold what it is given."""
    f = call.func
    found = resolver.object(f)
    if found is None:
        if isinstance(f, ast.Name) and f.id in ("@changed_too", "@read_again", "@item_again"):
            return PASSING
        if isinstance(f, ast.Name) and f.id.startswith("@"):
            return FRESH
        owner = resolver.object(f.value) if isinstance(f, ast.Attribute) else None
        if isinstance(owner, np.ufunc | Primitive | Composite):  # `np.add.at(...)`
            return FRESH
        if not isinstance(f, ast.Attribute) or resolver.is_users_method(f.attr):
            return UNKNOWN
        return kind_of_method(call, f)
    if isinstance(f, ast.Name) and f.id.startswith("@"):
        return PASSING if f.id in PASSING_HELPERS else FRESH
    if isinstance(found, type):
        if found in (list, tuple, dict, set, frozenset):
            return HOLDING
        if found in (zip, enumerate, reversed, map, filter):
            return PASSING
        if found.__module__ == "itertools":
            return PASSING
        return FRESH if found.__module__ in ("builtins", "numpy") else MAKING
    name = getattr(found, "__name__", "")
    home = (getattr(found, "__module__", "") or "").partition(".")[0]
    if name == "fromkeys":
        return PASSING
    if name in DERIVATIVES and home == "overt":
        return FRESH if any(k.arg == "has_aux" for k in call.keywords) else DERIVING
    if isinstance(found, np.ufunc) or home in ("numpy", "overt"):
        return kind_of_array_function(call, name)
    if home == "builtins":
        if name in ("max", "min") and len(call.args) > 1 and not call.keywords:
            return FRESH  # of numbers
        return PASSING if name in PASSING_BUILTINS else FRESH
    if found is copy.copy or found is dataclasses.replace:
        return COPYING
    if home in ("operator", "_operator") and (name in IN_PLACE or name in ("setitem", "delitem")):
        return CHANGES
    if home in PASSING_MODULES:
        return FRESH if name in NEW_VALUES else PASSING
    if isinstance(found, types.FunctionType) and not is_library(found):
        return UNKNOWN
    return FRESH if home in sys.stdlib_module_names or is_library(found) else UNKNOWN


def kind_of_method(call: ast.Call, f: ast.Attribute) -> str:
    """The same of a method that no class of the user's has."""
    if f.attr in VIEW_CALLS or f.attr in SPLITS or f.attr == "diagonal":
        return VIEWING
    if f.attr == "astype" and any(k.arg == "copy" for k in call.keywords):
        return VIEWING
    if f.attr in ("_replace", "copy"):
        return COPYING
    if f.attr in TAKING_METHODS:
        return PASSING
    return FRESH if f.attr in METHODS or is_text(f.value) else UNKNOWN


def kind_of_array_function(call: ast.Call, name: str) -> str:
    """The same of a function on arrays."""
    given = {k.arg for k in call.keywords}
    if name in VIEW_CALLS or name in SPLITS or name in ("diag", "diagonal"):
        return VIEWING
    if name == "einsum" and len(call.args) == 2:
        return VIEWING
    return VIEWING if name in MAY_COPY and "copy" in given else FRESH


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.JoinedStr)
