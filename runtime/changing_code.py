"""Code that may change what it is given, as far as its instructions tell."""

from __future__ import annotations

import dis
import functools
import opcode
import types

# Methods of lists, dictionaries and sets that change their object.
METHODS = frozenset(
    "append extend insert remove clear sort reverse update add discard setdefault pop popitem "
    "popleft appendleft extendleft rotate difference_update intersection_update "
    "symmetric_difference_update".split()
)
# How compiled code stores into what it is given.
STORES = {
    opcode.opmap[n] for n in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") if n in opcode.opmap
}
VIEWING = frozenset(
    "T mT real imag flat reshape ravel squeeze transpose swapaxes view diagonal asarray".split()
)
OPERATOR, ADDED_TO = opcode.opmap["BINARY_OP"], 13  # `+=`


@functools.cache
def may_change(code: types.CodeType) -> bool:
    """Whether a function perhaps changes what one of its parameters holds."""
    if not code.co_argcount + code.co_kwonlyargcount:
        return False
    if not METHODS.isdisjoint(code.co_names):
        return True
    ops = code.co_code
    return any(
        ops[i] in STORES or ops[i] == OPERATOR and ops[i + 1] == ADDED_TO
        for i in range(0, len(ops), 2)
    )


@functools.cache
def stores(code: types.CodeType) -> bool:
    """Whether a function stores into an object, as far as its instructions tell."""
    names = {i.opname for i in dis.get_instructions(code)}
    return bool(names & {"STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL"}) or may_change(code)


@functools.cache
def may_view(code: types.CodeType) -> bool:
    """Whether a function may give a part or another shape of an array that an object holds."""
    picks = any(i.opname in ("BINARY_SUBSCR", "BINARY_SLICE") for i in dis.get_instructions(code))
    return picks or not VIEWING.isdisjoint(code.co_names)
