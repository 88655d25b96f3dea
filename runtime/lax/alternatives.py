"""Branches must give the same structure, the one that is not taken too."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Sequence
from typing import Any

from overt.runtime import dtypes
from overt.runtime.array import Array
from overt.runtime.aval import aval_of
from overt.runtime.carried import join, spec_of
from overt.runtime.closures import captured
from overt.runtime.parts import is_array
from overt.runtime.primitive import GRAPH
from overt.runtime.setbacks import Unlike, describe
from overt.runtime.staging import Graph, run_in
from overt.runtime.tree import tree_flatten

_STORES = (
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_GLOBAL",
    "STORE_DEREF",
    "DELETE_SUBSCR",
    "IMPORT_NAME",
)
_checked: dict[Any, bool] = {}


def check_index(index: Any, branches: Sequence[Callable]) -> None:
    """Errors: TypeError for an index that is no integer scalar, ValueError without branches."""
    if not branches:
        raise ValueError("lax.switch needs at least one branch")
    aval = aval_of(index)
    if aval.shape or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"lax.switch needs an integer scalar as its index, got {aval}")


def check_branches(
    name: str, branches: Sequence[Callable], operands: Sequence[Any], pred: Any = False
) -> None:
    """Compare what the branches give, where calling them has no other effect.

    Errors: TypeError naming the place where the results of two branches differ, and both types,
    and for a predicate that is no scalar.
    """
    if is_array(pred) and aval_of(pred).shape:
        raise TypeError(
            f"lax.{name}: the predicate must be a scalar, but has shape {aval_of(pred).shape}; "
            "use lax.select or np.where to choose element by element"
        )
    leaves, definition = tree_flatten(tuple(operands))
    if GRAPH.get() is not None or not all(
        is_array(x) and not getattr(x, "level", 0) for x in leaves
    ):
        return
    codes = tuple(getattr(b, "__code__", None) for b in branches)
    key = codes, definition, tuple(map(aval_of, leaves))
    if key in _checked or None in codes:
        return
    if all(map(is_simple, branches)):
        compare(name, branches, operands)
    _checked[key] = True


def compare(name: str, branches: Sequence[Callable], operands: Sequence[Any]) -> None:
    from overt.runtime import lifted

    specs = []
    for branch in branches:
        try:
            specs.append(spec_of(run_in(Graph([], None), lifted(branch), *operands), True))
        except Exception:
            return  # what it gives is not known beforehand
    for position, spec in enumerate(specs[1:], 1):
        try:
            join(specs[0], spec)
        except Unlike as unlike:
            raise TypeError(
                f"lax.{name}: branches 0 and {position} give results of different types at "
                f"result{describe(unlike.path)}: {unlike.one} (a {_kind(unlike.one)}) and "
                f"{unlike.other}"
            ) from None


def _kind(text: str) -> str:
    return "container" if text.startswith(("dict", "list", "tuple")) else "leaf"


def is_simple(branch: Any) -> bool:
    """Whether a branch is a small function of arrays that only calls functions of modules."""
    if not isinstance(branch, types.FunctionType):
        return False
    for value in captured(branch):
        if not (is_array(value) or isinstance(value, types.ModuleType) or value is None):
            return False
    for instruction in dis.get_instructions(branch.__code__):
        if instruction.opname in _STORES or instruction.opname.startswith("MAKE_"):
            return False
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = branch.__globals__.get(instruction.argval)
            if not (isinstance(value, types.ModuleType | int | float | Array)):
                return False
        if instruction.opname in ("LOAD_METHOD", "LOAD_ATTR") and instruction.argval in _CHANGING:
            return False
    return True


_CHANGING = frozenset(
    "append extend insert remove clear sort reverse update add pop popitem".split()
)
